"""promise.py WARPGRIND PROFILE... - what `warpgrind advise` promises each pair of pairs.cu, as CSV: pair, elements, low, high.

Profiles are of `warpgrind --model -o PROFILE pairs.cu BITS [PAIR]...`. promised.csv beside this was made so, with nvcc's
PTX, at the sizes that run.sh times: 22 bits, smaller 24. `promise.py docs` fills the table of docs/advice.md from it."""
import csv
import json
import os
import re
import subprocess
import sys


KIND = {"bounds": "registers"}  # where the advice is not called as the pair is


def promises(warpgrind, path):
    with open(path, encoding="utf-8") as f:
        bits = int(json.load(f)["program"].split(".cu")[1].split()[0])
    text = subprocess.run([warpgrind, "advise", path], check=True, capture_output=True, text=True).stdout
    for part in text.split("\n\n"):
        name = re.match(r"bad_(\w+)\(", part)
        item = name and re.search(r"\d\. %s\b.*?gain +the kernel (?:up to ([\d.]+)|([\d.]+) to ([\d.]+)) times" % KIND.get(name[1], name[1]), part, re.S)
        if item:
            yield name[1], 1 << bits, item[2] or "1", item[1] or item[3]


HERE = os.path.dirname(os.path.abspath(__file__))


def rows(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def table():
    took = {(r["pair"], r["elements"]): r for r in rows("h200.csv")}
    out = ["| pair | elements | bad, us | good, us | gained, times | promised |", "|---|---|---|---|---|---|"]
    for r in rows("promised.csv"):
        t = took[r["pair"], r["elements"]]
        out.append("| %s | 2^%d | %s | %s | %.2f | %s |" % (
            r["pair"], int(r["elements"]).bit_length() - 1, t["bad_us"], t["good_us"], float(t["bad_us"]) / float(t["good_us"]),
            "up to " + r["high"] if r["low"] == "1" else r["low"] + " to " + r["high"]))
    return "\n".join(out)


def fill(text):
    return re.sub(r"(<!-- promised -->\n).*?(<!-- end -->)", lambda m: m[1] + table() + "\n" + m[2], text, flags=re.S)


if __name__ == "__main__" and sys.argv[1:] == ["docs"]:
    page = os.path.join(HERE, "..", "..", "docs", "advice.md")
    with open(page, encoding="utf-8") as f:
        text = fill(f.read())
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)
elif __name__ == "__main__":
    print("pair,elements,low,high")
    for p in sys.argv[2:]:
        for row in promises(sys.argv[1], p):
            print(",".join(map(str, row)))
