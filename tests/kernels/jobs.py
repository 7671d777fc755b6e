"""Profiles are equal byte for byte, timings aside, whatever the number of workers: jobs.py WARPGRIND COMPILER SOURCE [ARG..]"""
import json, os, subprocess, sys, tempfile

tool, compiler, source, *args = sys.argv[1:]
profiles = []
with tempfile.TemporaryDirectory() as folder:
    for jobs in "1", "2", "3":
        path = os.path.join(folder, jobs + ".wgprof")
        subprocess.run([tool, "-q", "-j", jobs, "--compiler", compiler, "-o", path, source, *args], check=True,
                       stdout=subprocess.DEVNULL)
        with open(path) as f:
            profile = json.load(f)
        for launch in profile["launches"]:
            launch.pop("host_seconds", None)
            launch.pop("module", None)  # the name of the temporary program
        profile.pop("program", None)
        profiles.append(json.dumps(profile, sort_keys=True))
if len(set(profiles)) != 1:
    sys.exit("the profile depends on the number of workers")
print("equal for 1, 2 and 3 workers")
