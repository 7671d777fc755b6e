"""The exercises of `warpgrind learn` that run a program are answered as they say: test_learn.py WARPGRIND COMPILER SOURCE"""
import os
import shlex
import subprocess
import sys
import unittest

WARPGRIND, COMPILER, SOURCE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]


class Learn(unittest.TestCase):
    def test_programs_answer(self):
        rows = subprocess.run([WARPGRIND, "learn", "--checks"], check=True, capture_output=True, text=True).stdout.splitlines()
        rows = [r.split("\t") for r in rows if ".cu" in r]
        self.assertEqual([r[0] for r in rows], "R1 R2 R3 R4 S1 S2 S3".split())
        for name, command, parts in rows:
            words = shlex.split(command)
            at = next(i for i, w in enumerate(words) if w.endswith(".cu"))
            with self.subTest(name):
                r = subprocess.run([WARPGRIND, *words[:at], "--compiler", COMPILER, *words[at:]], cwd=SOURCE, capture_output=True,
                                   text=True, timeout=800)
                for part in parts.split("|"):
                    self.assertIn(part, r.stdout + r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
