"""An example passes, its good ways silently, and each bug is found: test_examples.py WARPGRIND COMPILER PROGRAM

All ways run in one process; a finding's kernel says whose it is."""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, COMPILER, PROGRAM = sys.argv[1:4]
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")

# name: (n with ragged edges where they are allowed, {bug: (the finding it must give, text in its kernel's name)})
EXAMPLES = {
    "saxpy": (1000, {}),
    "histogram": (50000, {"bug-no-barrier": ("race-shared", "<false, true>"),
                          "bug-plain": ("race-shared", "<true, false>")}),
    "row_march": (100, {"bug-edge": ("out-of-bounds", "row_march_good<1>")}),
    "aos_soa": (1000, {"bug-edge": ("out-of-bounds", "move_soa<1>")}),
    "divergence": (5000, {}),
    "stencil": (1000, {"bug-no-halo": ("uninitialized", "(Bug)1"), "bug-no-barrier": ("race-shared", "(Bug)2"),
                       "bug-edge": ("out-of-bounds", "(Bug)3")}),
    "scan": (70000, {"bug-no-barrier": ("race-shared", "scan_doubling<false>"),
                     "bug-edge": ("out-of-bounds", "scan_tree<1>")}),
    "softmax": (20, {"bug-no-barrier": ("race-shared", "softmax_block<false>")}),
    "layernorm": (20, {"bug-no-barrier": ("race-shared", "layernorm_passes<false>")}),
    "transpose": (100, {"bug-no-barrier": ("race-shared", "transpose_no_barrier"),
                        "bug-edge": ("out-of-bounds", "transpose_no_guard")}),
    "reduce": (10000, {"bug-block-32": ("out-of-bounds", "<(Step)4, 32,"), "bug-block-96": (None, "<(Step)4, 96,"),
                       "bug-no-barrier": ("race-shared", "<(Step)2, 256, false>")}),
    "matmul_naive": (50, {"bug-edge": ("out-of-bounds", "matmul_edge")}),
    "matmul_tiled": (50, {"bug-no-first-barrier": ("race-shared", "(Bug)1"),
                          "bug-no-second-barrier": ("race-shared", "(Bug)2"), "bug-edge": ("out-of-bounds", "(Bug)3")}),
    "matmul_registers": (128, {"bug-no-second-barrier": ("race-shared", "matmul_vector<4, false>")}),
    "matmul_pipeline": (256, {"bug-wait-short": ("race-shared", "matmul_async<2, 3, 1, true>"),
                              "bug-no-barrier": ("race-shared", "matmul_async<2, 3, 0, false>")}),
    "matmul_half": (256, {"bug-wait-short": ("race-shared", "matmul_mma<1, true>")}),
}


class Example(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.n, cls.bugs = EXAMPLES[PROGRAM]
        source = os.path.join(FOLDER, PROGRAM + ".cu")
        with open(source, encoding="utf-8") as f:
            listed = re.search(r'Example e\("\w+",\s*\{([^}]*)\}', f.read())
        cls.ways = re.findall(r'"([^"]+)"', listed[1]) if listed else []
        with tempfile.TemporaryDirectory() as d:
            profile = os.path.join(d, "x.wgprof")
            r = subprocess.run([WARPGRIND, "check", "-q", "--compiler", COMPILER, "-o", profile, source, str(cls.n),
                                *cls.ways], capture_output=True, text=True, timeout=900)
            cls.out, cls.err = r.stdout, r.stderr
            t = subprocess.run([WARPGRIND, "findings", profile, "--csv"], capture_output=True, text=True)
            cls.found = list(csv.DictReader(io.StringIO(t.stdout)))

    def test_every_bug_is_listed(self):
        self.assertEqual({w for w in self.ways if w.startswith("bug-")}, set(self.bugs))

    def test_good_ways_pass(self):
        for way in [w for w in self.ways if not w.startswith("bug-")] or [None]:
            verdict = rf"{re.escape(way)} n={self.n}: error \S+" if way else f"n={self.n}"
            line = rf"^{PROGRAM} {verdict}: PASS$"
            self.assertRegex(self.out, re.compile(line, re.M), self.err)

    def test_good_ways_are_silent(self):
        self.assertNotEqual(self.out, "", self.err)
        for row in self.found:
            self.assertTrue(any(text in row["kernel"] for _, text in self.bugs.values()), str(list(row.values())))

    def test_bugs_are_found(self):
        for bug, (finding, text) in self.bugs.items():
            with self.subTest(bug=bug):
                ids = {row["id"] for row in self.found if text in row["kernel"] and row["severity"] == "error"}
                if finding:
                    self.assertIn(finding, ids, self.err)
                else:  # no access is wrong, only the sum: the example's own check must say so
                    self.assertEqual(ids, set())
                    self.assertRegex(self.out, rf"{PROGRAM} {bug} n={self.n}: error \S+: FAIL")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
