#!/usr/bin/env python3
"""Runs warpgrind check over a public suite of right and wrong CUDA programs and writes the table.

run.py SUITE FOLDER [options]     SUITE: indigo or samples; FOLDER: a checkout of the suite, which stays as it is
  indigo   the programs of the Indigo suite as in JohnJacobsonIII/HiRace-Artifact-SC24 (FOLDER: its folder indigo).
           The names say which bugs are in them: atomicBug, guardBug, raceBug, syncBug are races, boundsBug reads or
           writes out of bounds; without any the program is sound and no error or warning may be reported.
  samples  NVIDIA/compute-sanitizer-samples: each demonstration, and the tool that must speak up
A program is one row of --csv; the summary on standard output is in Markdown."""
import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import time

SAMPLES = {"Memcheck/memcheck_demo.cu": "memcheck", "Racecheck/block_error.cu": "racecheck",
           "Racecheck/warp_error.cu": "racecheck", "Initcheck/memset_error.cu": "initcheck",
           "Synccheck/divergent_threads.cu": "synccheck", "Synccheck/illegal_syncwarp.cu": "synccheck",
           "Suppressions/suppressions_demo.cu": "memcheck", "Suppressions/suppressions_initcheck_demo.cu": "initcheck"}


class Case:
    def __init__(self, name, source, want, arguments=(), build=()):
        self.name, self.source, self.want, self.arguments, self.build = name, source, want, arguments, build


def indigo(folder, graphs, shape):
    for root, _, files in sorted(os.walk(os.path.join(folder, "indigo_sources"))):
        for f in sorted(files):
            if not f.endswith(".cu"):
                continue
            want = {tool for tool, bugs in (("racecheck", ("atomicBug", "guardBug", "raceBug", "syncBug")),
                                            ("memcheck", ("boundsBug",))) if any(b in f for b in bugs)}
            for g in graphs:
                yield Case(f[:-3] + " " + os.path.basename(g), os.path.join(root, f), want, [g, *shape],
                           ["-I" + os.path.join(folder, "indigo_include")])


def samples(folder):
    for f, tool in SAMPLES.items():
        yield Case(f, os.path.join(folder, f), {tool})


def check(options, case):
    """Findings of warnings and errors, or None where the program did not run."""
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "x.wgprof")
        command = [options.warpgrind, "check", "-q", "-o", out]
        if options.compiler:
            command += ["--compiler", options.compiler]
        for b in case.build:
            command += ["-b", b]
        try:
            r = subprocess.run([*command, case.source, *case.arguments], capture_output=True, text=True,
                               timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return None, "timeout"
        if not os.path.exists(out):
            return None, (r.stderr.strip().splitlines() or ["no profile"])[-1][:120]
        t = subprocess.run([options.warpgrind, "findings", out, "--csv"], capture_output=True, text=True, check=True)
        rows = [x for x in csv.DictReader(io.StringIO(t.stdout)) if x["severity"] != "info"]
        return rows, ""


def judge(case, rows):
    """found, missed, clean or accused; for the tool that the label speaks of."""
    tools = {r["tool"] for r in rows}
    if not case.want:
        return "accused" if rows else "clean"
    if "racecheck" in case.want: # an access out of bounds beside it does not count as the race
        return "found" if "racecheck" in tools else "missed"
    return "found" if case.want & tools else "missed"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("suite", choices=("indigo", "samples"))
    a.add_argument("folder")
    a.add_argument("--warpgrind", default="warpgrind")
    a.add_argument("--compiler")
    a.add_argument("--graph", action="append", help="indigo: an input; all of FOLDER/input unless given")
    a.add_argument("--threads", default="64", help="indigo: of a block")
    a.add_argument("--blocks", default="4", help="indigo")
    a.add_argument("--only", default="", help="names that match this expression")
    a.add_argument("--every", type=int, default=1, help="each N-th of them")
    a.add_argument("--timeout", type=float, default=300)
    a.add_argument("--csv", help="write a row for each program here")
    o = a.parse_args()
    if o.suite == "indigo":
        graphs = o.graph or [os.path.join(o.folder, "input", g) for g in sorted(os.listdir(os.path.join(o.folder, "input")))]
        cases = indigo(o.folder, graphs, [o.threads, o.blocks])
    else:
        cases = samples(o.folder)
    cases = [c for c in cases if re.search(o.only, c.name)][::o.every]
    table, kinds, begun = [], {}, time.time()
    for c in cases:
        rows, why = check(o, c)
        verdict = "not run" if rows is None else judge(c, rows)
        found = "" if rows is None else " ".join(sorted({"%s:%s" % (r["id"], r["line"]) for r in rows}))
        label = "+".join(sorted(c.want)) or "sound"
        table.append((c.name, label, verdict, found or why))
        kinds.setdefault(label, {}).setdefault(verdict, 0)
        kinds[label][verdict] += 1
        if verdict in ("missed", "accused", "not run"):
            print("%s: %s (%s) %s" % (c.name, verdict, label, found or why), file=sys.stderr, flush=True)
    if o.csv:
        with open(o.csv, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([("program", "label", "verdict", "findings"), *table])
    print("| label | programs | found | missed | clean | accused | not run |\n|---|---|---|---|---|---|---|")
    for label, k in sorted(kinds.items()):
        print("| %s | %d | %s |" % (label, sum(k.values()), " | ".join(
            str(k.get(v, 0)) for v in ("found", "missed", "clean", "accused", "not run"))))
    print("\n%d runs in %.0f s" % (len(table), time.time() - begun))


if __name__ == "__main__":
    main()
