#!/usr/bin/env python3
"""checks.py - what warpgrind's checks cost, beside its counters alone and beside Oclgrind --data-races, in paired rounds; run
through bench/checks.

Each round runs every configuration once, one after the other, so that a busy machine slows all alike. One worker thread;
CPU time. Oclgrind gets a smaller size: all figures are per multiply-add or per element. A finding in one of the kernels,
which are right, ends the run."""
import argparse
import statistics
import sys

import peers

RACES = "Oclgrind --data-races"


def ours(kernel, n):
    """{configuration: (nanoseconds, G lane instructions a second)} of one paired run."""
    out = {}
    for name, size, check, ns, rate in peers.lines([f"{peers.BENCH}/bench_engine", "-c", "-t", "-r", "1", "-k", kernel, "-n", str(n),
                                                    f"{peers.BENCH}/kernels.ptx"]):
        if (name, int(size)) == (kernel, n):
            out[check] = float(ns), float(rate)
    return out


def main():
    p = argparse.ArgumentParser(description="what the checks cost")
    p.add_argument("-r", "--rounds", type=int, default=5)
    p.add_argument("-k", "--kernel", action="append", help="default: sgemm_tiled and histogram")
    p.add_argument("-n", "--size", type=int, default=512, help="matrix order, or thousands of elements (default 512)")
    p.add_argument("--oclgrind-size", type=int, default=64, help="the same for Oclgrind (default 64); 0: leave it out")
    args = p.parse_args()
    print(f"{args.rounds} paired rounds, size {args.size}" +
          (f", {args.oclgrind_size} for Oclgrind" if args.oclgrind_size else "") +
          "; medians with range, CPU time of one worker; a first run is not counted")
    for kernel in args.kernel or ["sgemm_tiled", "histogram"]:
        rounds = []
        for _ in range(args.rounds):
            rounds.append(ours(kernel, args.size))
            if args.oclgrind_size:
                ns = peers.opencl(["oclgrind", "--data-races"], "Oclgrind", kernel, args.oclgrind_size)
                rounds[-1][RACES] = ns, None
            if "all" not in rounds[-1]:
                sys.exit("bench_engine printed no time")
        print(f"\n{kernel}, per " + ("multiply-add" if kernel.startswith("sgemm") else "element"))
        print(f"    {'':22} {'ns':>10} {'range':>22} {'G lane inst/s':>14} {'times counters':>15} {'times all':>10}")
        for name in rounds[0]:
            ns = [r[name][0] for r in rounds]
            rate = "" if rounds[0][name][1] is None else f"{statistics.median(r[name][1] for r in rounds):.2f}"
            over = statistics.median(r[name][0] / r["counters"][0] for r in rounds)
            every = statistics.median(r[name][0] / r["all"][0] for r in rounds)
            spread = f"({min(ns):.3f} to {max(ns):.3f})"
            print(f"    {name:22} {statistics.median(ns):10.3f} {spread:>22} {rate:>14} {over:15.2f} {every:10.2f}", flush=True)


if __name__ == "__main__":
    main()
