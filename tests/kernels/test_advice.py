"""Advice that was applied keeps its promise: what `warpgrind advise` says a line would cost is what its good twin costs."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, SOURCE, COMPILER = sys.argv[1:4]
FIXES = {"arrays": "array of its own", "align": "multiples of 32", "swap": "contiguous index", "widen": "32 threads", "pad": "pad rows"}


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "x.wgprof")
            subprocess.run([WARPGRIND, "-q", "--compiler", COMPILER, "-o", path, SOURCE], check=True, capture_output=True)
            cls.text = subprocess.run([WARPGRIND, "advise", path], check=True, capture_output=True, text=True).stdout
            with open(path, encoding="utf-8") as f:
                cls.profile = json.load(f)
        cls.parts = {p.split("(")[0]: p for p in cls.text.split("\n\n")}

    def cost(self, kernel, name):
        """Of the line in question: it holds all global accesses of its kernel, or all shared loads."""
        for launch in self.profile["launches"]:
            if launch["kernel"].startswith(kernel + "("):
                code = self.profile["code"][launch["code"]]
                column = 1 + self.profile["counters"].index(name)
                wanted = [("load", "shared")] if name == "wavefronts" else [("load", "global"), ("store", "global")]
                return sum(row[column] for row in launch["counts"] if len(row) > column
                           and (code[row[0]].get("kind"), code[row[0]].get("space")) in wanted)
        self.fail(kernel + " not launched")

    def test_promises_hold(self):
        for fix, words in FIXES.items():
            with self.subTest(fix):
                part = self.parts["bad_" + fix]
                self.assertIn(words, part)
                was, becomes = (int(n.replace(",", "")) for n in re.search(r"the line's ([\d,]+) would be ([\d,]+) ", part).groups())
                name = "wavefronts" if fix == "pad" else "sectors"
                self.assertEqual(self.cost("bad_" + fix, name), was)
                self.assertEqual(self.cost("good_" + fix, name), becomes)

    def test_good_twins_get_no_advice(self):
        for fix in FIXES:
            self.assertIn("nothing to change", self.parts["good_" + fix])

    def test_without_a_pattern_nothing_is_promised(self):
        self.assertIn("follow no pattern", self.parts["bad_none"])
        self.assertNotIn("would be", self.parts["bad_none"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
