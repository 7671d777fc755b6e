"""Products of random operands by wgmma, bit by bit, against an H200's: wgmma_bits.py WGMMA_TEST DATA.

DATA is what tools/hopper/run.sh wrote there. Types of OPEN round in a way that is not known yet; the rest must be equal."""
import subprocess
import sys

OPEN = {"f16.f16"}
ours = subprocess.run([sys.argv[1], "--bits"], capture_output=True, text=True, check=True).stdout.split("\n")
with open(sys.argv[2], encoding="utf-8") as f:
    theirs = f.read().split("\n")
assert len(ours) == len(theirs) > 8, (len(ours), len(theirs))
wrong = 0
for a, b in zip(ours, theirs):
    name = (b.split() or [""])[0]
    if a != b and name in OPEN:
        print(name, "differs in its last bits, as known")
    elif a != b:
        wrong += 1
        print("ours  ", a, "\nH200's", b)
sys.exit(wrong != 0)
