"""Each kernel file says by marks which lines a finding must name; the checks find those and nothing else.

!id: a finding of that kind names the line. ?id: it may."""
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, FOLDER = sys.argv[1], os.path.dirname(os.path.abspath(__file__))


def compilers():
    found = [c for c in ("nvcc",) if shutil.which(c) or os.path.exists("/usr/local/cuda/bin/" + c)]
    return found + (["clang"] if shutil.which("clang-19") or shutil.which("clang") else [])


def marks(path):
    must, may = set(), set()
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            for kind, name in re.findall(r"([!?])([a-z][a-z-]+)", line.partition("//")[2]):
                {"!": must, "?": may}[kind].add((name, n))
    return must, may


def sound(path):
    """Kernels, with their template arguments, that a comment `sound: a<1>, b` names: nothing may be found in them."""
    with open(path, encoding="utf-8") as f:
        return [k.strip() for line in re.findall(r"// sound: (.*)", f.read()) for k in line.split(",")]


def findings(path, compiler, *options, quiet=True):
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "x.wgprof")
        r = subprocess.run([WARPGRIND, "check", "--compiler", compiler, *(["-q"] if quiet else []), "-o", out, *options, path],
                           capture_output=True, text=True, timeout=300)
        if not os.path.exists(out):
            raise AssertionError(r.stderr)
        t = subprocess.run([WARPGRIND, "findings", out, "--csv"], capture_output=True, text=True, check=True)
        return r, list(csv.DictReader(io.StringIO(t.stdout)))


class Checks(unittest.TestCase):
    def one(self, name, *options):
        path = os.path.join(FOLDER, name + ".cu")
        must, may = marks(path)
        self.assertTrue(must)
        for compiler in compilers()[-1:] if options else compilers():
            with self.subTest(compiler=compiler, options=options):
                _, rows = findings(path, compiler, *options)
                got = {(r["id"], int(r[line])) for r in rows for line in ("line", "other_line") if int(r[line])}
                self.assertEqual(got - may, must, "\n".join(str(list(r.values())) for r in rows))
                for r in rows: # the program's own lines, never those of a header that came with a compiler
                    self.assertIn(os.path.basename(r["file"]), ("", name + ".cu"))
                    for k in sound(path):
                        self.assertNotRegex(r["kernel"], r"\b%s\(" % re.escape(k))

    def test_memory(self):
        self.one("memory")

    def test_races_between_warps(self):
        self.one("race_shared")

    def test_races_are_found_under_any_schedule(self):
        self.one("race_shared", "--schedule", "random:3")
        self.one("race_shared", "--schedule", "adversarial")

    def test_races_within_a_warp(self):
        self.one("race_warp")

    def test_races_between_blocks(self):
        self.one("race_global")

    def test_races_with_asynchronous_copies(self):
        self.one("race_async")

    def test_races_with_bulk_copies(self):
        self.one("race_bulk")

    def test_places(self):
        for compiler in compilers():
            with self.subTest(compiler=compiler):
                r, rows = findings(os.path.join(FOLDER, "places.cu"), compiler, quiet=False)
                self.assertEqual({(x["id"], x["line"], x["other_line"]) for x in rows},
                                 {("race-shared", "10", "12"), ("out-of-bounds", "4", "0")})
                self.assertIn("__shared__ tile[2][5]\n", r.stderr)
                self.assertRegex(r.stderr, r"Device Frame: places.cu:18\n")
                self.assertRegex(r.stderr, r"Allocated by\n.*Host Frame: .*\n")

    def test_unwritten_memory(self):
        self.one("init")

    def test_synchronisation(self):
        self.one("sync")

    def test_barriers_in_memory(self):
        self.one("mbarrier")
        _, rows = findings(os.path.join(FOLDER, "mbarrier.cu"), compilers()[0])
        self.assertEqual([(r["id"], r["count"]) for r in rows if r["id"] == "mbarrier-incomplete"], [("mbarrier-incomplete", "1")])

    def test_host_calls(self):
        self.one("host")

    def test_leaks(self):
        path = os.path.join(FOLDER, "host.cu")
        r, rows = findings(path, compilers()[-1], "--leak-check", "full")
        self.assertEqual([r["message"].split(" at ")[0] for r in rows if r["id"] == "leak"], ["Leaked 8192 bytes"])
        self.assertIn("common.h", [os.path.basename(r["file"]) for r in rows if r["id"] == "leak"])

    def test_nothing_to_find(self):
        for compiler in compilers():
            r, rows = findings(os.path.join(FOLDER, "silent.cu"), compiler)
            self.assertEqual((r.returncode, rows), (0, []))

    def test_values_that_differ_between_schedules(self):
        self.one("order", "--runs", "3")


class Command(unittest.TestCase):
    def run_check(self, *args):
        return subprocess.run([WARPGRIND, "check", "--compiler", compilers()[-1], *args,
                               os.path.join(FOLDER, "memory.cu")], capture_output=True, text=True, timeout=300)

    def test_sanitizer_form_and_exit_code(self):
        r = self.run_check("--error-exitcode", "9")
        self.assertEqual(r.returncode, 9)
        self.assertIn("========= Invalid __global__ read of size 4 bytes\n", r.stderr)
        self.assertRegex(r.stderr, r"and is 1 bytes after the nearest allocation at 0x[0-9a-f]+ of size 256 bytes")
        self.assertRegex(r.stderr, r"ERROR SUMMARY: \d+ errors")

    def test_one_tool(self):
        r = self.run_check("--tool", "racecheck,synccheck", "--error-exitcode", "9")
        self.assertNotIn("Uninitialized", r.stderr)
        self.assertIn("=========", r.stderr)

    def test_suppressions(self):
        with tempfile.TemporaryDirectory() as d:
            f = os.path.join(d, "list")
            self.run_check("--gen-suppressions", f)
            r = self.run_check("--suppressions", f, "--error-exitcode", "9")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("ERROR SUMMARY: 0 errors", r.stderr)

    def test_unknown_tool(self):
        r = self.run_check("--tool", "memchekc")
        self.assertEqual(r.returncode, 1)
        self.assertIn("memchekc", r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
