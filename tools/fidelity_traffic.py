#!/usr/bin/env python3
"""Compares modelled caches, traffic and time with what a GPU's counters said, launch by launch.

    warpgrind --model -o p.wgprof PROGRAM; tools/fidelity_traffic.py p.wgprof launches.csv [--all] [--kernel TEXT]

launches.csv: one row a launch under Nsight Compute's metric names, a second line of units. Launches are paired in order.
Prints hits of the L1, sectors at the L2, bytes of memory and, where the profile has them, durations; then the limits
that count as equal: L1 hits 3 points, L2 sectors 5 %, memory 5 % where more than 1 MB moved, durations 15 % in the mean
over launches above 3 us and 20 % in the mean of each group. Exits with 1 when one is exceeded."""
import argparse
import csv
import json
import sys

# what holds a kernel back, by what the hardware said of it: the first rule that fits names the group
GROUPS = [
    ("atomics", lambda h: h("lts__t_sectors_op_red.sum") + h("lts__t_sectors_op_atom.sum") > h("lts__t_sectors_srcunit_tex.sum") / 4),
    ("latency-bound", lambda h: h("sm__warps_active.avg.pct_of_peak_sustained_active") < 8 or h("launch__waves_per_multiprocessor") < 0.3),
    ("divergent", lambda h: h("smsp__thread_inst_executed.sum") < 28 * h("smsp__inst_executed.sum")),
    ("streaming", lambda h: 32 * h("lts__t_sectors_srcunit_tex_lookup_miss.sum") > 40e9 * h("gpu__time_duration.sum") * 1e-9 * 20),
    ("shared-bound", lambda h: h("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") > 0.4 * h("l1tex__data_pipe_lsu_wavefronts.sum") > 0),
    ("compute-bound", lambda h: h("smsp__issue_active.avg.pct_of_peak_sustained_active") > 60),
    ("cache-bound", lambda h: True),
]


def read_truth(path):
    with open(path, newline="") as f:
        rows = list(csv.reader(f))
    names = rows[0]
    out = []
    for r in rows[2:]:
        d = dict(zip(names, r))
        out.append(d)
    return out


def number(d, name):
    try:
        return float(d[name])
    except (KeyError, ValueError):
        return 0.0


def pct(ours, theirs):
    return (ours / theirs - 1) * 100 if theirs else (0.0 if not ours else float("inf"))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("profile")
    ap.add_argument("truth")
    ap.add_argument("--all", action="store_true", help="every launch, not only those above 3 us")
    ap.add_argument("--first", type=int, default=0, help="the profile's first launch is row N of launches.csv")
    ap.add_argument("--kernel", default="", help="only launches whose kernel contains TEXT")
    a = ap.parse_args()
    with open(a.profile) as f:
        launches = json.load(f)["launches"]
    truth = read_truth(a.truth)[a.first:]
    if a.first:
        truth = truth[:len(launches)]
    if len(launches) != len(truth):
        sys.exit(f"{len(launches)} launches in the profile, {len(truth)} in the truth")
    bad = {"l1": 0, "l2": 0, "dram": 0}
    seen = dict.fromkeys(bad, 0)
    times, by_kernel = [], {}
    print(f"{'':3} {'kernel':22} {'L1 hit %':>15} {'L2 sectors':>19} {'err %':>7} {'DRAM MB':>15} {'err %':>7} {'us':>17} {'err %':>7}  group")
    for k, (l, t) in enumerate(zip(launches, truth)):
        name = l["mangled"]
        if not (name == t["kernel"] or t["kernel"] in name):
            sys.exit(f"launch {k}: {name} here, {t['kernel']} there")
        if "model" not in l:
            sys.exit("this profile has no model: run with --model")
        m = l["model"]
        h = lambda n: number(t, n)
        ld, hit = h("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), h("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum")
        hw_rate = 100 * hit / ld if ld else None
        our_rate = 100 * m["l1_global_ld_hit"] / m["l1_global_ld"] if m["l1_global_ld"] else None
        hw_l2 = h("lts__t_sectors_srcunit_tex.sum")
        our_l2 = m["l2_read"] + m["l2_write"] + m["l2_atom"] + m["l2_red"]
        hw_dram = h("dram__bytes_read.sum") + h("dram__bytes_write.sum")
        our_dram = m["dram_read"] + m["dram_write"]
        us, ours_us = h("gpu__time_duration.sum") / 1e3, m.get("duration", 0) / 1e3
        marks = ""
        if hw_rate is not None and our_rate is not None:
            seen["l1"] += 1
            if abs(our_rate - hw_rate) > 3:
                bad["l1"] += 1
                marks += " L1"
        seen["l2"] += 1
        if abs(pct(our_l2, hw_l2)) > 5:
            bad["l2"] += 1
            marks += " L2"
        if hw_dram > 1e6:
            seen["dram"] += 1
            if abs(pct(our_dram, hw_dram)) > 5:
                bad["dram"] += 1
                marks += " DRAM"
        group = next(n for n, f in GROUPS if f(h))
        if us > 3 and ours_us:
            times.append((group, t["kernel"], ours_us, us))
            by_kernel.setdefault(k, (t["kernel"], ours_us, us))
        if (us > 3 or a.all) and a.kernel in name:
            r = lambda v: "-" if v is None else f"{v:.1f}"
            print(f"{k + a.first:3} {t['kernel'][:22]:22} {r(our_rate):>7} {r(hw_rate):>7} {our_l2:9.0f} {hw_l2:9.0f} {pct(our_l2, hw_l2):7.1f} "
                  f"{our_dram/1e6:7.2f} {hw_dram/1e6:7.2f} {pct(our_dram, hw_dram):7.1f} {ours_us:8.1f} {us:8.1f} {pct(ours_us, us):7.1f}  {group}{marks}")
    print()
    for key, what in (("l1", "L1 hits within 3 points"), ("l2", "L2 sectors within 5 %"), ("dram", "memory bytes within 5 % where above 1 MB")):
        print(f"{what}: {seen[key] - bad[key]} of {seen[key]} launches")
    failed = any(bad.values())
    if times:
        err = lambda v: sum(abs(pct(x[2], x[3])) for x in v) / len(v)
        print(f"duration: mean absolute error {err(times):.1f} % over {len(times)} launches above 3 us")
        failed |= err(times) > 15
        for g, _ in GROUPS:
            v = [x for x in times if x[0] == g]
            if v:
                rest = [x for x in times if x[0] != g]
                print(f"  {g:14} {err(v):6.1f} % over {len(v)}; all others {err(rest):.1f} %" if rest else f"  {g:14} {err(v):6.1f} %")
                failed |= err(v) > 20
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
