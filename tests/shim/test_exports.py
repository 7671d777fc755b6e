"""Every call of calls.def and driver.def is exported, with its other names, under the version node of the real library, and nothing else."""
import re
import subprocess
import sys

TABLE, DRIVER, LIB, MAJOR, NODE = sys.argv[1:6]


def main():
    want, states = set(), {"DONE": 0, "PARTIAL": 0, "REFUSED": 0}
    with open(TABLE, encoding="utf-8") as f:
        for m in re.finditer(r'^WG_CALL\((\w+), (\d+), (\d+), (\w+), (\w+), "(.*)"\)$', f.read(), re.M):
            name, _, _, names, state, note = m.groups()
            states[state] += 1
            want.add(name)
            if names != "ONE":
                want.add(f"{name}_{names.lower()}")
            if state != "DONE" and not note:
                print(f"{name}: {state} without a reason")
                return 1
    with open(DRIVER, encoding="utf-8") as f:
        for m in re.finditer(r'^WG_CALL\((\w+), (\w+), (\w+), "(.*)"\)$', f.read(), re.M):
            name, names, state, note = m.groups()
            states[state] += 1
            want.add(name)
            if names != "ONE":
                want.add(f"{name}_{names.lower()}")
            if state != "DONE" and not note:
                print(f"{name}: {state} without a reason")
                return 1
    out = subprocess.run(["nm", "-D", "--defined-only", LIB], capture_output=True, text=True, check=True).stdout
    have = set()
    for line in out.splitlines():
        name = line.split()[-1]
        if name.split("@")[0] == NODE:
            continue
        have.add(name.split("@")[0])
        if not name.endswith("@@" + NODE):
            print(name, "is not under version node", NODE)
            return 1
    print(len(want), "names;", ", ".join(f"{n} {s.lower()}" for s, n in states.items()))
    for what, names in ("missing", want - have), ("not in the tables", have - want):
        for name in sorted(names):
            print(f"{what}: {name}")
    return 1 if want != have or len(want) < 400 else 0


sys.exit(main())
