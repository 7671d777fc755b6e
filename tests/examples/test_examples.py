"""An example passes, its good ways silently, and each bug is found: test_examples.py WARPGRIND COMPILER PROGRAM

All ways run in one process; a finding's kernel says whose it is."""
import csv
import io
import json
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
                              "bug-no-barrier": ("race-shared", "matmul_async<2, 3, 0, false>"),
                              "bug-both-no-wait": ("race-shared", "matmul_both<false>")}),
    "matmul_half": (256, {"bug-wait-short": ("race-shared", "matmul_mma<1, true>")}),
    "matmul_hopper": (512, {"bug-lost-arrival": ("hang", "matmul_tma<1, false>")}),
}
# Text in a kernel's name: whether its shared memory has bank conflicts. Slow is no error: the counters must tell.
CONFLICTS = {
    "transpose": {"transpose_shared": True, "transpose_padded": False, "transpose_swizzled": False},
    "reduce": {"<(Step)0, 256, true": False, "<(Step)1, 256, true": True, "<(Step)2, 256, true": False},
    "matmul_tiled": {"matmul_column<0>": True, "matmul_column<1>": False},
    "matmul_registers": {"matmul_vector<0, true>": True, "matmul_vector<4, true>": False},
    "matmul_half": {"matmul_mma<0, false>": True, "matmul_mma<0, true>": False},
}
# What nvcc must be told: wgmma is of sm_90a alone.
BUILD = {"matmul_hopper": ["-b", "-gencode=arch=compute_90a,code=compute_90a"]}


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
            build = BUILD.get(PROGRAM, []) if COMPILER == "nvcc" else []
            r = subprocess.run([WARPGRIND, "check", "-q", "--compiler", COMPILER, *build, "-o", profile, source,
                                str(cls.n), *cls.ways], capture_output=True, text=True, timeout=900)
            cls.out, cls.err = r.stdout, r.stderr
            t = subprocess.run([WARPGRIND, "findings", profile, "--csv"], capture_output=True, text=True)
            cls.found = list(csv.DictReader(io.StringIO(t.stdout)))
            with open(profile, encoding="utf-8") as f:
                cls.profile = json.load(f)

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

    def counts(self, text):
        """The sum of each counter over the launches of a kernel, and their blocks."""
        launches = [k for k in self.profile["launches"] if text in k["kernel"]]
        self.assertNotEqual(launches, [], text)
        sums = [0] * len(self.profile["counters"])
        for k in launches:
            rows = self.profile["launches"][k["counts_of"]]["counts"] if "counts_of" in k else k["counts"]
            for row in rows:
                for at, value in enumerate(row[1:]):  # zeros at the end are left out
                    sums[at] += value
        return dict(zip(self.profile["counters"], sums)), sum(k["blocks_done"] for k in launches)

    def test_bank_conflicts_are_counted(self):
        for text, expected in CONFLICTS.get(PROGRAM, {}).items():
            with self.subTest(kernel=text):
                c, _ = self.counts(text)
                self.assertEqual(c["wavefronts"] > c["wavefronts_ideal"], expected, c)

    if PROGRAM == "reduce":
        def test_lanes_of_the_reduction(self):
            interleaved, _ = self.counts("<(Step)0, 256, true")
            sequential, blocks = self.counts("<(Step)2, 256, true")
            # Most lanes idle from the first step: every warp comes to shared memory in five steps of eight, where whole
            # warps could rest.
            self.assertGreater(interleaved["access_inst"], 2 * sequential["access_inst"])
            # Of eight steps the last five are one warp's, whose lanes part; then one lane writes the sum. The last
            # block's edge may part one warp more.
            self.assertLessEqual(sequential["branch_divergent"], 6 * blocks + 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
