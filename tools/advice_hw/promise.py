"""promise.py WARPGRIND PROFILE... - what `warpgrind advise` promises each pair of pairs.cu, as CSV: pair, elements, low, high.

Profiles are of `warpgrind --model -o PROFILE pairs.cu BITS [PAIR]...`. promised.csv beside this was made so, with nvcc's
PTX, at the sizes that run.sh times: 22 bits, smaller 24."""
import json
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


if __name__ == "__main__":
    print("pair,elements,low,high")
    for p in sys.argv[2:]:
        for row in promises(sys.argv[1], p):
            print(",".join(map(str, row)))
