#!/usr/bin/env python3
"""peers.py - warpgrind, PoCL and Oclgrind on the same kernels, in paired rounds; run through bench/peers.

Each round runs every program once, one after the other, so that a busy machine slows all alike. One worker thread each;
CPU time of all of a program's threads is what counts.
Oclgrind gets smaller sizes: it needs microseconds where the others need less than one nanosecond; all figures are per
multiply-add or per element, so that sizes may differ."""
import argparse
import os
import re
import statistics
import subprocess
import sys

BENCH = os.environ.get("BENCH_BUILD", "build") + "/bench"


def lines(command, env=None):
    """Runs command; the words of each line of its output. Exits with its message when it fails."""
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if run.returncode:
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}\n{run.stderr.strip()}")
    return [line.split() for line in run.stdout.splitlines()]


def ours(kernel, n):
    """{"counters": ns, "no counters": ns} of one paired run."""
    out = {}
    for name, size, counters, workers, ns, _ in lines(
            [f"{BENCH}/bench_engine", "-t", "-r", "1", "-j", "1", "-k", kernel, "-n", str(n),
             f"{BENCH}/kernels.ptx"]):
        if (name, int(size), int(workers)) == (kernel, n, 1):
            out["counters" if counters == "1" else "no counters"] = float(ns)
    return out


def opencl(prefix, platform, kernel, n, env=None):
    command = prefix + [f"{BENCH}/bench_opencl", "-r", "1", "-k", kernel, "-n", str(n), "-p", platform,
                        "bench/kernels.cl"]
    found = [float(w[2]) for w in lines(command, env)
             if len(w) == 4 and w[0] == kernel and re.fullmatch(r"[0-9.e+-]+", w[2])]
    if not found:
        sys.exit(f"{' '.join(command)}: printed no time")
    return found[-1]


def main():
    p = argparse.ArgumentParser(description="warpgrind beside Oclgrind and PoCL")
    p.add_argument("-r", "--rounds", type=int, default=5)
    p.add_argument("-k", "--kernel", action="append", help="default: all six")
    p.add_argument("-n", "--size", type=int, default=512, help="matrix order, or thousands of elements (default 512)")
    p.add_argument("--oclgrind-size", type=int, default=128, help="the same for Oclgrind (default 128)")
    args = p.parse_args()
    kernels = args.kernel or ["sgemm_naive", "sgemm_tiled", "transpose", "reduce", "histogram", "divergent"]
    programs = ["warpgrind, counters", "warpgrind, no counters", "PoCL", "Oclgrind --inst-counts"]
    print(f"{args.rounds} paired rounds; median CPU nanoseconds per multiply-add (sgemm) or element, with range;")
    print(f"size {args.size} for warpgrind and PoCL, {args.oclgrind_size} for Oclgrind; one worker thread each; "
          "a first run, which compiles, is not counted\n")
    for kernel in kernels:
        times = {name: [] for name in programs}
        for _ in range(args.rounds):
            mine = ours(kernel, args.size)
            times["warpgrind, counters"].append(mine["counters"])
            times["warpgrind, no counters"].append(mine["no counters"])
            times["PoCL"].append(opencl([], "Portable", kernel, args.size, {"POCL_MAX_PTHREAD_COUNT": "1"}))
            times["Oclgrind --inst-counts"].append(
                opencl(["oclgrind", "--inst-counts"], "Oclgrind", kernel, args.oclgrind_size))
        print(kernel)
        for name in programs:
            t = times[name]
            ratio = [x / y for x, y in zip(t, times["warpgrind, counters"])]
            print(f"    {name:24} {statistics.median(t):12.4f}  ({min(t):.4f} to {max(t):.4f})"
                  f"   {statistics.median(ratio):10.2f} times warpgrind with counters")
        print(flush=True)


if __name__ == "__main__":
    main()
