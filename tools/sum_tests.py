"""Adds up the test logs of several builds: why tests were skipped, which failed, and a last line of three numbers."""
import json
import os
import re
import sys

broken, logs = int(sys.argv[1]), sys.argv[2:]
passed = failed = skipped = 0
for log in logs:
    build = log.split("/")[0]
    if not os.path.exists(log):
        print(f"{build}: no tests were run")
        continue
    with open(log) as f:
        for line in f:
            t = json.loads(line)
            out = t.get("stdout", "") + t.get("stderr", "")
            if t["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
                whys = re.findall(r"skipped ['\"](.*)['\"]", out) or re.findall(r"\(skipped=\d+\)", out)
                for why in whys:
                    print(f"{build}: part of {t['name']} skipped: {why.strip('()')}")
            elif t["result"] == "SKIP":
                skipped += 1
                last = [l for l in out.strip().split("\n") if l.strip()]
                print(f"{build}: {t['name']} skipped: {last[-1].strip() if last else 'no reason given'}")
            else:
                failed += 1
                print(f"{build}: {t['name']} FAILED ({t['result'].lower()})")
if broken:
    print("a build failed; its tests count as one failure")
print(f"{passed} passed, {failed + broken} failed, {skipped} skipped")
sys.exit(1 if failed or broken or not passed else 0)
