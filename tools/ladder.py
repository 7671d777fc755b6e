#!/usr/bin/env python3
"""ladder.py - fills the tables of docs/ladder.md from data, and gathers that data.

    tools/ladder.py count WARPGRIND [PROGRAM...]   runs the examples with --model, writes what was counted and predicted
                                                   to bench/ladder.csv
    tools/ladder.py write                          rewrites the tables of docs/ladder.md from the two CSV files
    tools/ladder.py check                          says whether they are as `write` would leave them

bench/gpu_h200.csv is what bench/gpu wrote on an H200. A table stands between "<!-- steps PROGRAM N: WAY WAY ... -->"
and "<!-- end -->"; N is the size that was timed, the gains are over the first way. A table of plain times stands after
"<!-- beside N: PROGRAM/WAY PROGRAM/WAY/OTHER-N ... -->", one of the shapes that tools/sgemm timed after
"<!-- shapes COUNT -->", all predictions in a few figures after "<!-- predictions -->"."""
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNTED, TIMED, SHAPES, PAGE = (os.path.join(ROOT, p) for p in (
    "bench/ladder.csv", "bench/gpu_h200.csv", "tools/sgemm/h200.csv", "docs/ladder.md"))
FIELDS = ["program", "way", "n", "compiler", "inst", "lanes", "requests", "sectors", "tags", "shared_requests",
          "wavefronts", "line", "line_text", "line_inst", "line_sectors_per_request", "line_wavefronts_per_request",
          "predicted_ns", "predicted_low_ns", "predicted_high_ns"]

# The examples: the size to count and predict at, which is timed too; the work of a size, the bytes it must move, and
# the kernels of each way.
cube, square, linear = lambda n: n ** 3, lambda n: n * n, lambda n: n
product = lambda n: 12 * n * n
EXAMPLES = {
    "matmul_naive": (512, cube, product, {"naive": "matmul_naive(", "swapped": "matmul_swapped("}),
    "matmul_tiled": (512, cube, product, {"16": "<16, (Bug)0>", "32": "<32, (Bug)0>", "column": "matmul_column<0>",
                                          "padded": "matmul_column<1>"}),
    "matmul_registers": (512, cube, product, {"2x2": "registers<2>", "4x4": "registers<4>", "8x8": "registers<8>",
                                              "unpadded": "vector<0, true>", "vector": "vector<4, true>"}),
    "matmul_pipeline": (512, cube, product, {"registers": "double<2>", "wide": "double<4>", "2": "async<2, 2, 0, true>",
                                             "3": "async<2, 3, 0, true>", "4": "async<2, 4, 0, true>",
                                             "wide-2": "async<4, 2, 0, true>", "wide-3": "async<4, 3, 0, true>",
                                             "both": "both<true>"}),
    "transpose": (2048, square, lambda n: 8 * n * n, {w: "transpose_%s(" % w for w in
                                                     ("copy", "naive", "shared", "padded", "swizzled", "vector")}),
    "reduce": (1 << 22, linear, lambda n: 4 * n,
               {"interleaved": "<(Step)0,", "strided": "<(Step)1,", "sequential": "<(Step)2,", "first-add": "<(Step)3,",
                "unrolled": "<(Step)4,", "shuffle": "<(Step)5,", "multiple": "<(Step)6,", "vector": "reduce_vector"}),
    "scan": (1 << 22, linear, lambda n: 8 * n, {w: "scan_" + w for w in ("doubling", "tree", "shuffle")}),
    "histogram": (1 << 23, linear, lambda n: n, {"global": "histogram_global", "shared": "histogram_shared"}),
    "row_march": (1 << 16, linear, lambda n: 1024 * n, {"bad": "row_march_bad", "good": "row_march_good"}),
    "aos_soa": (1 << 21, linear, lambda n: 12 * n, {"aos": "move_aos", "soa": "move_soa"}),
    "stencil": (1 << 22, linear, lambda n: 8 * n, {"global": "stencil_global", "shared": "stencil_shared"}),
    "divergence": (1 << 22, linear, lambda n: 9 * n, {"mixed": 0, "sorted": 1}),
    "softmax": (4096, linear, lambda n: 8192 * n,
                {w: "softmax_" + w for w in ("thread", "block", "online", "registers")}),
    "layernorm": (4096, linear, lambda n: 8192 * n, {w: "layernorm_" + w for w in ("passes", "moments", "registers")}),
}
# Where memory must move whole sectors for a few bytes each, also those of the stores.
SECTORS_NEEDED = {("aos_soa", "aos"): lambda n: 64 * n}
# Of an H200: SMs and boost clock (NVIDIA's data sheet and deviceQuery); a warp instruction a cycle for each of four
# schedulers, a 128-byte line and a shared-memory pass a cycle for an SM (CUDA programming guide).
SMS, HERTZ, SCHEDULERS, SECTORS_A_CYCLE = 132, 1.98e9, 4, 4


def sites(profile, launch):
    """(site, counts by name) of a launch."""
    rows = profile["launches"][launch["counts_of"]]["counts"] if "counts_of" in launch else launch["counts"]
    for row in rows:
        yield profile["code"][launch["code"]][row[0]], dict(zip(profile["counters"], row[1:]))


def count_way(profile, launches):
    total, lines, threads = dict.fromkeys(FIELDS[4:11], 0), {}, 0
    for launch in launches:
        for site, c in sites(profile, launch):
            shared = site.get("space") == "shared"
            add = {"inst": c["inst_executed"], "tags": c.get("tag_requests", 0), "wavefronts": c.get("wavefronts", 0),
                   "requests": 0 if shared or not c.get("sectors") else c["access_inst"],
                   "sectors": c.get("sectors", 0),
                   "shared_requests": c["access_inst"] if shared and c.get("wavefronts") else 0}
            branch = c.get("branch_uniform", 0) + c.get("branch_divergent", 0)  # its guard is no mask
            threads += c["thread_inst_executed"] if branch else c.get("thread_inst_executed_true", 0)
            at = site.get("at", (0, 0))
            if "/examples/" not in profile["sources"][at[0]]["path"]:  # a function of the toolkit's headers
                at = site.get("inlined_at", at)
            line = lines.setdefault(tuple(at), dict.fromkeys(list(add) + ["excess"], 0))
            for k, v in add.items():
                total[k] += v
                line[k] += v
            line["excess"] += c.get("sectors", 0) - c.get("sectors_ideal", 0)
            line["excess"] += c.get("wavefronts", 0) - c.get("wavefronts_ideal", 0)
    total["lanes"] = round(threads / total["inst"], 2)
    worst = max(lines, key=lambda at: (lines[at]["excess"], lines[at]["sectors"] + lines[at]["wavefronts"]))
    source, number = worst
    total["line"] = number
    total["line_inst"] = lines[worst]["inst"]
    total["line_text"] = profile["sources"][source]["text"].splitlines()[number - 1].strip() if number else ""
    for what, per in (("sectors", "requests"), ("wavefronts", "shared_requests")):
        some = lines[worst][per]
        total["line_%s_per_request" % what] = round(lines[worst][what] / some, 2) if some else ""
    for end in ("", "_low", "_high"):
        total["predicted%s_ns" % end] = round(sum(k["model"]["duration" + end] for k in launches))
    return total


def rows_of(program, profile):
    """A row for each way, from what a run of all of them left."""
    n, _, _, ways = EXAMPLES[program]
    for way, text in ways.items():
        launches = [k for i, k in enumerate(profile["launches"])
                    if (text == i if isinstance(text, int) else text in k["kernel"])]
        if not launches:
            sys.exit("ladder.py: no kernel of %s is called %s" % (program, text))
        yield {"program": program, "way": way, "n": n, "compiler": launches[0]["compiler"],
               **count_way(profile, launches)}


def count(tool, programs):
    rows = [r for r in read(COUNTED) if r["program"] not in programs]
    for program in programs:
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.wgprof")
            source = os.path.join(ROOT, "examples", program + ".cu")
            subprocess.run([tool, "-q", "--model", "-o", path, source, str(EXAMPLES[program][0])], check=True)
            with open(path, encoding="utf-8") as f:
                rows += rows_of(program, json.load(f))
    order = list(EXAMPLES)
    rows.sort(key=lambda r: order.index(r["program"]))
    with open(COUNTED, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def bounds(row, n, copy_rate):
    """Seconds that each resource needs for size n, by what was counted at a smaller one."""
    counted_at, work, needed, _ = EXAMPLES[row["program"]]
    needed = SECTORS_NEEDED.get((row["program"], row["way"]), needed)
    scale = work(n) / work(counted_at) / SMS / HERTZ
    return {"instructions": float(row["inst"]) / SCHEDULERS * scale,
            "global accesses": max(float(row["tags"]), float(row["sectors"]) / SECTORS_A_CYCLE) * scale,
            "shared memory": float(row["wavefronts"]) * scale,
            "DRAM": needed(n) / copy_rate}


def number(x, digits=3):
    return "" if x in ("", None) else f"{float(x):,.{digits}g}" if abs(float(x)) < 1000 else f"{float(x):,.0f}"


def table(program, n, ways, counted, timed):
    copies = [t for t in timed if t["way"] == "copy" and t["program"] == "library"]
    copy_rate = max(8 * int(t["n"]) / float(t["milliseconds"]) * 1e3 for t in copies)
    ms = {t["way"]: float(t["milliseconds"]) for t in timed if t["program"] == program and int(t["n"]) == n}
    seen = {r["way"]: r for r in counted if r["program"] == program}
    out = ["| way | sectors a request | wavefronts a request | lanes on | bound by | bound, ms | measured, ms | "
           "gain, bound | gain, measured | ratio |", "|---|---|---|---|---|---|---|---|---|---|"]
    first = None
    for way in ways:
        r = seen[way]
        limits = bounds(r, n, copy_rate)
        most = max(limits, key=limits.get)
        first = first or (limits[most], ms[way])
        gains = first[0] / limits[most], first[1] / ms[way]
        per = lambda a, b: number(float(r[a]) / float(r[b])) if float(r[b]) else ""
        out.append("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            way, per("sectors", "requests"), per("wavefronts", "shared_requests"), number(r["lanes"]), most,
            number(limits[most] * 1e3), number(ms[way]), number(gains[0]), number(gains[1]),
            number(gains[0] / gains[1], 2)))
    out += ["", "The line of each that wastes the most, as the report shows it:", "", "```",
            "%-12s %5s %14s %8s %11s" % ("", "", "warp", "sectors", "wavefronts"),
            "%-12s %5s %14s %8s %11s" % ("way", "line", "instructions", "/req", "/req")]
    for way in ways:
        r = seen[way]
        per = ["%.1f" % float(r[f]) if r[f] else "" for f in ("line_sectors_per_request",
                                                              "line_wavefronts_per_request")]
        out.append("%-12s %5s %14s %8s %11s  %s" % (way, r["line"], f"{int(r['line_inst']):,}", *per, r["line_text"]))
    return out + ["```", "", *predicted(program, ways, seen, timed)]


def steps_of(program, ways, seen, timed):
    """(way, predicted ns, low, high, measured ns) at the size that was predicted."""
    n = EXAMPLES[program][0]
    ns = {t["way"]: float(t["milliseconds"]) * 1e6 for t in timed if t["program"] == program and int(t["n"]) == n}
    return [(w, *(float(seen[w]["predicted%s_ns" % end]) for end in ("", "_low", "_high")), ns[w]) for w in ways]


def predicted(program, ways, seen, timed):
    out = ["Predicted with `--model`, and measured, at n = %s:" % f"{EXAMPLES[program][0]:,}", "",
           "| way | predicted, us | its band | measured, us | predicted of measured | gain, predicted | "
           "gain, measured | ratio |", "|---|---|---|---|---|---|---|---|"]
    rows = steps_of(program, ways, seen, timed)
    for way, ns, low, high, real in rows:
        gains = rows[0][1] / ns, rows[0][4] / real
        out.append("| %s | %s | %s to %s | %s | %s | %s | %s | %s |" % (
            way, number(ns / 1e3), number(low / 1e3), number(high / 1e3), number(real / 1e3), number(ns / real, 2),
            number(gains[0]), number(gains[1]), number(gains[0] / gains[1], 2)))
    return out


def predictions(counted, timed):
    """How good the predictions on this page are, all in all."""
    off, gains, inside = [], [], 0
    for program, (_, _, _, ways) in EXAMPLES.items():
        rows = steps_of(program, list(ways), {r["way"]: r for r in counted if r["program"] == program}, timed)
        off += [ns / real for _, ns, _, _, real in rows]
        inside += sum(low <= real <= high for _, _, low, high, real in rows)
        gains += [rows[0][1] / ns / (rows[0][4] / real) for _, ns, _, _, real in rows[1:]]
    middle = lambda v: math.exp(statistics.median(abs(math.log(x)) for x in v))
    say = lambda v: "%s to %s, half of them within a factor of %.2f" % (number(min(v), 2), number(max(v), 2), middle(v))
    return ["| of all ways on this page | %d |" % len(off), "|---|---|",
            "| predicted time of measured time | %s |" % say(off),
            "| measured time inside the predicted band | %d of %d |" % (inside, len(off)),
            "| predicted gain of measured gain | %s |" % say(gains)]


def shapes(most):
    """The best of tools/sgemm's shapes for each way in which A comes to shared memory, then the best of the others."""
    rows = [r for r in csv.reader(open(SHAPES, encoding="utf-8")) if r[0] == "warm"]
    out = ["| block | deep | warp | thread | buffers | A comes | measured, ms | of cuBLAS |",
           "|---|---|---|---|---|---|---|---|"]
    best, seen = [], set()
    for r in rows:
        words = r[2].replace(",", "").split()
        how = words[10] if len(words) > 10 else words[0]
        shape = tuple(words[1:9])  # but for the order of lanes, of blocks and of reads
        if (how not in seen or len(best) < most) and (not shape or shape not in seen):
            best.append((words, how, r))
        seen |= {how, shape}
    names = {"Turned": "through registers", "Words": "word by word, asynchronously", "Along": "in rows, asynchronously"}
    for words, how, r in best:
        if len(words) > 10:
            _, bm, bn, bk, wm, wn, tm, tn, stages = words[:9]
            out.append("| %sx%s | %s | %sx%s | %sx%s | %s | %s | %s | %.1f %% |" % (
                bm, bn, bk, wm, wn, tm, tn, stages, names[how], number(r[3], 4), 100 * float(r[4])))
        else:
            out.append("| %s | | | | | | %s | %.1f %% |" % (
                {"cublas": "cuBLAS", "multiply-adds": "multiply-adds alone"}[how], number(r[3], 4), 100 * float(r[4])))
    return out


def beside(n, ways, timed):
    """Ways of several programs, PROGRAM/WAY or PROGRAM/WAY/SIZE, beside the first of them."""
    out = ["| program | way | measured, ms | speed, of the first |", "|---|---|---|---|"]
    ms = {(t["program"], t["way"], int(t["n"])): float(t["milliseconds"]) for t in timed}
    keys = [(w[0], w[1], int(w[2]) if len(w) > 2 else n) for w in (w.split("/") for w in ways)]
    for k in keys:
        out.append("| %s | %s | %s | %.1f %% |" % (k[0], k[1], number(ms[k], 4), 100 * ms[keys[0]] / ms[k]))
    return out


def page():
    counted, timed, out, skip = read(COUNTED), [t for t in read(TIMED) if t["verdict"] == "PASS"], [], False
    with open(PAGE, encoding="utf-8") as f:
        for text in f.read().splitlines():
            if text == "<!-- end -->":
                skip = False
            if not skip:
                out.append(text)
            if text.startswith("<!-- ") and text != "<!-- end -->":
                kind, *words = text[5:-4].replace(":", "").split()
                n = int((words + [0])[1 if kind == "steps" else 0])
                if kind == "steps":
                    out += ["", *table(words[0], n, words[2:], counted, timed), ""]
                elif kind == "beside":
                    out += ["", *beside(n, words[1:], timed), ""]
                elif kind == "shapes":
                    out += ["", *shapes(n), ""]
                elif kind == "predictions":
                    out += ["", *predictions(counted, timed), ""]
                else:
                    sys.exit("ladder.py: what is %s?" % text)
                skip = True
    return "\n".join(out) + "\n"


def main(args):
    if args[:1] == ["count"] and len(args) >= 2:
        count(os.path.abspath(args[1]), args[2:] or list(EXAMPLES))
    elif args in (["write"], ["check"]):
        new = page()
        with open(PAGE, encoding="utf-8") as f:
            same = f.read() == new
        if args == ["check"]:
            sys.exit(None if same else "docs/ladder.md is not what its data say: run tools/ladder.py write")
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(new)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
