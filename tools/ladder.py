#!/usr/bin/env python3
"""ladder.py - fills the tables of docs/ladder.md from data, and gathers that data.

    tools/ladder.py count WARPGRIND [PROGRAM...]   runs the examples, writes what was counted to bench/ladder.csv
    tools/ladder.py write                          rewrites the tables of docs/ladder.md from the two CSV files
    tools/ladder.py check                          says whether they are as `write` would leave them

bench/gpu_h200.csv is what bench/gpu wrote on an H200. A table stands between "<!-- steps PROGRAM N: WAY WAY ... -->"
and "<!-- end -->"; N is the size that was timed, the gains are over the first way. A table of plain times stands after
"<!-- beside N: PROGRAM/WAY PROGRAM/WAY/OTHER-N ... -->"."""
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNTED, TIMED, PAGE = (os.path.join(ROOT, p) for p in ("bench/ladder.csv", "bench/gpu_h200.csv", "docs/ladder.md"))
FIELDS = ["program", "way", "n", "compiler", "inst", "lanes", "requests", "sectors", "tags", "shared_requests",
          "wavefronts", "line", "line_text", "line_sectors_per_request", "line_wavefronts_per_request"]

# The examples: the size to count at, the work of a size, the bytes it must move, and the kernels of each way.
cube, square, linear = lambda n: n ** 3, lambda n: n * n, lambda n: n
product = lambda n: 12 * n * n
EXAMPLES = {
    "matmul_naive": (256, cube, product, {"naive": "matmul_naive(", "swapped": "matmul_swapped("}),
    "matmul_tiled": (256, cube, product, {"16": "<16, (Bug)0>", "32": "<32, (Bug)0>", "column": "matmul_column<0>",
                                          "padded": "matmul_column<1>"}),
    "matmul_registers": (256, cube, product, {"2x2": "registers<2>", "4x4": "registers<4>", "8x8": "registers<8>",
                                              "unpadded": "vector<0, true>", "vector": "vector<4, true>"}),
    "matmul_pipeline": (256, cube, product, {"registers": "double<2>", "wide": "double<4>", "2": "async<2, 2, 0, true>",
                                             "3": "async<2, 3, 0, true>", "4": "async<2, 4, 0, true>",
                                             "wide-2": "async<4, 2, 0, true>", "wide-3": "async<4, 3, 0, true>"}),
    "transpose": (512, square, lambda n: 8 * n * n, {w: "transpose_%s(" % w for w in
                                                     ("copy", "naive", "shared", "padded", "swizzled", "vector")}),
    "reduce": (1 << 18, linear, lambda n: 4 * n,
               {"interleaved": "<(Step)0,", "strided": "<(Step)1,", "sequential": "<(Step)2,", "first-add": "<(Step)3,",
                "unrolled": "<(Step)4,", "shuffle": "<(Step)5,", "multiple": "<(Step)6,", "vector": "reduce_vector"}),
    "scan": (1 << 18, linear, lambda n: 8 * n, {w: "scan_" + w for w in ("doubling", "tree", "shuffle")}),
    "histogram": (1 << 19, linear, lambda n: n, {"global": "histogram_global", "shared": "histogram_shared"}),
    "row_march": (2048, linear, lambda n: 1024 * n, {"bad": "row_march_bad", "good": "row_march_good"}),
    "aos_soa": (1 << 18, linear, lambda n: 12 * n, {"aos": "move_aos", "soa": "move_soa"}),
    "stencil": (1 << 18, linear, lambda n: 8 * n, {"global": "stencil_global", "shared": "stencil_shared"}),
    "divergence": (1 << 18, linear, lambda n: 9 * n, {"mixed": 0, "sorted": 1}),
    "softmax": (256, linear, lambda n: 8192 * n,
                {w: "softmax_" + w for w in ("thread", "block", "online", "registers")}),
    "layernorm": (256, linear, lambda n: 8192 * n, {w: "layernorm_" + w for w in ("passes", "moments", "registers")}),
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
            threads += c["thread_inst_executed"]
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
    total["line_text"] = profile["sources"][source]["text"].splitlines()[number - 1].strip() if number else ""
    for what, per in (("sectors", "requests"), ("wavefronts", "shared_requests")):
        some = lines[worst][per]
        total["line_%s_per_request" % what] = round(lines[worst][what] / some, 2) if some else ""
    return total


def count(tool, programs):
    rows = [r for r in read(COUNTED) if r["program"] not in programs]
    for program in programs:
        n, _, _, ways = EXAMPLES[program]
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.wgprof")
            source = os.path.join(ROOT, "examples", program + ".cu")
            subprocess.run([tool, "-q", "-o", path, source, str(n)], check=True)
            with open(path, encoding="utf-8") as f:
                profile = json.load(f)
        for way, text in ways.items():
            launches = [k for i, k in enumerate(profile["launches"])
                        if (text == i if isinstance(text, int) else text in k["kernel"])]
            if not launches:
                sys.exit("ladder.py: no kernel of %s is called %s" % (program, text))
            rows.append({"program": program, "way": way, "n": n, "compiler": launches[0]["compiler"],
                         **count_way(profile, launches)})
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
    out.append("")
    for way in ways:
        r = seen[way]
        said = ["%s %s a request" % (number(r["line_%s_per_request" % w]), w) for w in ("sectors", "wavefronts")
                if r["line_%s_per_request" % w]]
        if said:
            out.append("- %s: line %s, `%s`: %s" % (way, r["line"], r["line_text"], ", ".join(said)))
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
                n = int(words[1] if kind == "steps" else words[0])
                if kind == "steps":
                    out += ["", *table(words[0], n, words[2:], counted, timed), ""]
                elif kind == "beside":
                    out += ["", *beside(n, words[1:], timed), ""]
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
