"""Advice that was applied keeps its promise: what `warpgrind advise` says of the bad kernel of a pair is what its good twin,
the same with the advice applied, counts; the good twin gets no advice; an H200 gained what was promised.
test_advice.py WARPGRIND PAIRS.cu COMPILER"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, SOURCE, COMPILER = sys.argv[1:4]
MEASURED = os.path.join(os.path.dirname(SOURCE), "h200.csv")
PROMISED = os.path.join(os.path.dirname(SOURCE), "promised.csv")
# Of what the clocks of a GPU and a median leave uncertain.
SLACK = 1.1


class Run:
    """Pairs that ran, with the models of caches and time: their advice and what was counted."""

    def __init__(self, bits, pairs, *options):
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "x.wgprof")
            subprocess.run([WARPGRIND, "-q", "--model", "--compiler", COMPILER, "-o", path, *options, SOURCE, str(bits), *pairs],
                           check=True, capture_output=True)
            self.text = subprocess.run([WARPGRIND, "advise", path], check=True, capture_output=True, text=True).stdout
            self.report = subprocess.run([WARPGRIND, "report", path], check=True, capture_output=True, text=True).stdout
            self.whatif = {}
            for what in ("--pad t=1", "--swizzle t=15"):
                r = subprocess.run([WARPGRIND, "whatif", path, *what.split()], capture_output=True, text=True)
                self.whatif[what] = {p.split("(")[0]: p for p in r.stdout.split("\n\n")}
            with open(path, encoding="utf-8") as f:
                self.profile = json.load(f)
        self.parts = {p.split("(")[0]: p for p in self.text.split("\n\n")}

    def launch(self, kernel):
        return next(x for x in self.profile["launches"] if x["kernel"].startswith(kernel + "("))

    def rows(self, kernel, counter):
        """(site, value) of a kernel."""
        x = self.launch(kernel)
        code, column = self.profile["code"][x["code"]], 1 + self.profile["counters"].index(counter)
        return [(code[row[0]], row[column]) for row in x["counts"] if len(row) > column]

    def total(self, kernel, counter, **site):
        return sum(v for s, v in self.rows(kernel, counter) if all(s.get(k) == w for k, w in site.items()))

    def of_line(self, kernel, counter, line=None):
        """The sum of one line; without its number of the line with most."""
        lines = {}
        for s, v in self.rows(kernel, counter):
            lines[tuple(s.get("at", ()))[1:]] = lines.get(tuple(s.get("at", ()))[1:], 0) + v
        return max(lines.values()) if line is None else lines.get((line,), 0)

    def occupancy(self, kernel):
        part = self.report[self.report.index("\n" + kernel + "("):]
        return float(re.search(r"occupancy .*?\((\d+) %\)", part)[1])

    def item(self, kernel, kind):
        m = re.search(r"\d\. %s\b.*?\n     gain[^\n]*" % kind, self.parts[kernel], re.S)
        return m[0] if m else None


def numbers(pattern, text):
    return [float(n.replace(",", "")) for n in re.search(pattern, text).groups()]


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run(18, ["arrays", "align", "swap", "widen", "vector", "pad", "swizzle", "bounds", "block", "sort", "barrier",
                            "stages", "none"])

    def given(self, pair, kind=None, run=None):
        run = run or self.run_
        text = run.item("bad_" + pair, kind or pair)
        self.assertIsNotNone(text, f"{pair}: no advice in\n" + run.parts["bad_" + pair])
        return text

    def test_sectors_of_the_line_become_what_was_promised(self):
        for pair in ("arrays", "swap", "widen", "vector"):
            with self.subTest(pair):
                text = self.given(pair)
                was, becomes = numbers(r"the line's ([\d,]+)(?: sectors)? would be ([\d,]+) ", text)
                line = int(re.search(r"pairs\.cu:(\d+)", text)[1])
                self.assertEqual(self.run_.of_line("bad_" + pair, "sectors", line), was)
                self.assertEqual(self.run_.of_line("good_" + pair, "sectors"), becomes)

    def test_wavefronts_of_the_array_become_what_was_promised(self):
        for pair, what in (("pad", "--pad t=1"), ("swizzle", "--swizzle t=15")):
            with self.subTest(pair):
                was, becomes = numbers(r"wavefronts of t ([\d,]+) -> ([\d,]+) ", self.given(pair))
                self.assertEqual(self.run_.total("bad_" + pair, "wavefronts"), was)
                self.assertEqual(self.run_.total("good_" + pair, "wavefronts"), becomes)
                asked = numbers(r"wavefronts ([\d,]+) -> ([\d,]+),", self.run_.whatif[what]["bad_" + pair])
                self.assertEqual(asked, [was, becomes])

    def test_padding_is_known_not_to_be_enough_where_a_swizzle_is_advised(self):
        was, becomes = numbers(r"wavefronts ([\d,]+) -> ([\d,]+),", self.run_.whatif["--pad t=1"]["bad_swizzle"])
        self.assertGreater(becomes, self.run_.total("good_swizzle", "wavefronts"))

    def test_occupancy_becomes_what_was_promised(self):
        small = Run(20, ["smaller"], "--device", "Orin")
        for pair, kind, run in (("bounds", "registers", self.run_), ("block", "block", self.run_), ("smaller", "smaller", small)):
            with self.subTest(pair):
                was, becomes = numbers(r"occupancy ([\d.]+) % -> ([\d.]+) %", self.given(pair, kind, run))
                self.assertAlmostEqual(run.occupancy("bad_" + pair), was, delta=1)
                self.assertAlmostEqual(run.occupancy("good_" + pair), becomes, delta=1)

    def test_sorted_data_take_the_instructions_that_were_promised(self):
        was, becomes = numbers(r"warp instructions ([\d,]+) -> ([\d,]+) ", self.given("sort"))
        self.assertEqual(self.run_.total("bad_sort", "inst_executed"), was)
        self.assertAlmostEqual(self.run_.total("good_sort", "inst_executed"), becomes, delta=becomes * 0.1)

    def test_the_barrier_that_orders_nothing_goes(self):
        spare, all_ = numbers(r"([\d,]+) of the ([\d,]+) barriers", self.given("barrier"))
        self.assertEqual(self.run_.total("bad_barrier", "inst_executed", kind="barrier"), all_)
        self.assertEqual(self.run_.total("good_barrier", "inst_executed", kind="barrier"), all_ - spare)
        with open(SOURCE, encoding="utf-8") as f:
            before = f.read().splitlines()[int(re.search(r"barrier +pairs\.cu:(\d+)", self.given("barrier"))[1]) - 2]
        self.assertIn("Spare", before)

    def test_a_rectangle_reads_no_more_of_shared_memory_than_promised(self):
        run = Run(20, ["larger"])
        was, becomes = numbers(r"wavefronts of shared loads ([\d,]+) -> ([\d,]+) ", self.given("larger", run=run))
        self.assertEqual(run.total("bad_larger", "wavefronts", kind="load", space="shared"), was)
        self.assertLessEqual(run.total("good_larger", "wavefronts", kind="load", space="shared"), becomes)
        self.assertIn("nothing to change", run.parts["good_larger"])

    def test_a_tile_that_is_waited_for_gets_stages(self):
        self.assertIn("cp.async", self.given("stages"))

    def test_good_twins_get_no_advice(self):
        for kernel, part in self.run_.parts.items():
            if kernel.startswith("good_"):
                self.assertNotRegex(part, r"\n  \d\. ")

    def test_no_advice_where_nothing_is_gained(self):
        for kernel in ("bad_align", "bad_none"):
            self.assertNotRegex(self.run_.parts[kernel], r"\n  \d\. ")

    def test_an_h200_gained_what_was_promised(self):
        with open(MEASURED, encoding="utf-8") as f:
            took = {(r["pair"], r["elements"]): float(r["bad_us"]) / float(r["good_us"]) for r in csv.DictReader(f)}
        with open(PROMISED, encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["pair"] for r in rows}, {p for p, _ in took} - {"align", "none"})
        for r in rows:
            with self.subTest(r["pair"]):
                gained = took[r["pair"], r["elements"]]
                self.assertGreaterEqual(gained * SLACK, float(r["low"]))
                self.assertLessEqual(gained, float(r["high"]) * SLACK)
        sys.path.insert(0, os.path.dirname(SOURCE))
        sys.dont_write_bytecode = True
        import promise  # tools/advice_hw
        with open(os.path.join(os.path.dirname(SOURCE), "..", "..", "docs", "advice.md"), encoding="utf-8") as f:
            page = f.read()
        self.assertEqual(promise.fill(page), page, "run tools/advice_hw/promise.py docs")
        for pair in ("align",):  # no promise, and nothing to gain
            self.assertLess(max(v for (p, _), v in took.items() if p == pair), 1.05)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
