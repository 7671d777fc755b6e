#!/usr/bin/env python3
"""Runs the checks over a public suite of right and wrong CUDA programs and writes the table.

run.py SUITE FOLDER [options]     FOLDER: a checkout of the suite, which stays as it is. SUITE:
  indigo      JohnJacobsonIII/HiRace-Artifact-SC24, its folder indigo
  samples     NVIDIA/compute-sanitizer-samples
  gpuverify   mc-imperial/GPUVerifyBenchmarks, its CUDA kernels
  faial       elliotsayes/faial, its folder examples/drf
The label of a program says which tool must report a warning or an error; where there is no label none may. The last
two suites are kernels without a host program: see bare.py for how they are launched, and only racecheck and synccheck are
asked. A program and input is a row of --csv; the summary on standard output is in Markdown."""
import argparse
import csv
import importlib
import os
import re
import sys
import time
from checker import Runner

SUITES = {"indigo": "indigo", "samples": "samples", "gpuverify": "bare", "faial": "bare"}


def judge(want, rows):
    """found, missed, clean or accused; for the tool that the label speaks of."""
    tools = {r[0] for r in rows}
    if not want:
        return "accused" if rows else "clean"
    if "racecheck" in want:  # an access out of bounds beside it does not count as the race
        return "found" if "racecheck" in tools else "missed"
    if "racecheck" in tools:
        return "accused"
    return "found" if want & tools else "missed"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("suite", choices=sorted(SUITES))
    a.add_argument("folder")
    a.add_argument("--warpgrind", default="warpgrind")
    a.add_argument("--compiler")
    a.add_argument("--graph", action="append", help="indigo: an input; all of FOLDER/input unless given")
    a.add_argument("--threads", default="64", help="indigo: of a block")
    a.add_argument("--blocks", default="4", help="indigo")
    a.add_argument("--only", default="", help="names that match this expression")
    a.add_argument("--every", type=int, default=1, help="each N-th of them")
    a.add_argument("--timeout", type=int, default=120, help="seconds of processor time for one process")
    a.add_argument("--csv", help="write a row for each program here")
    o = a.parse_args()
    o.folder = os.path.abspath(o.folder)
    o.wanted = lambda name: re.search(o.only, name)
    table, kinds, begun = [], {}, time.time()
    for name, given, want, rows, why in importlib.import_module(SUITES[o.suite]).run(Runner(o), o.folder, o):
        verdict = "not run" if rows is None else judge(want, rows)
        found = "" if rows is None else " ".join(sorted({"%s:%d%s" % (r[1], r[2], ":%d" % r[3] if r[3] else "") for r in rows}))
        label = "+".join(sorted(want)) or "sound"
        why = next((x for x in why.splitlines() if "error" in x), why)[:160]
        table.append((name, given, label, verdict, found or why))
        kinds.setdefault((label, given if o.suite == "indigo" else "all"), {}).setdefault(verdict, 0)
        kinds[label, given if o.suite == "indigo" else "all"][verdict] += 1
        if verdict in ("missed", "accused", "not run"):
            print("%s %s: %s (%s) %s" % (name, given, verdict, label, found or why), file=sys.stderr, flush=True)
    if o.csv:
        with open(o.csv, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([("program", "input", "label", "verdict", "findings"), *table])
    print("| label | input | programs | found | missed | clean | accused | not run |\n|---|---|---|---|---|---|---|---|")
    for (label, given), k in sorted(kinds.items()):
        print("| %s | %s | %d | %s |" % (label, given, sum(k.values()), " | ".join(
            str(k.get(v, 0)) for v in ("found", "missed", "clean", "accused", "not run"))))
    print("\n%d runs in %.0f s" % (len(table), time.time() - begun))


if __name__ == "__main__":
    main()
