"""NVIDIA/compute-sanitizer-samples: each demonstration, and the tool that must speak up."""
import os
from checker import told

SAMPLES = {"Memcheck/memcheck_demo.cu": "memcheck", "Racecheck/block_error.cu": "racecheck",
           "Racecheck/warp_error.cu": "racecheck", "Initcheck/memset_error.cu": "initcheck",
           "Synccheck/divergent_threads.cu": "synccheck", "Synccheck/illegal_syncwarp.cu": "synccheck",
           "Suppressions/suppressions_demo.cu": "memcheck", "Suppressions/suppressions_initcheck_demo.cu": "initcheck"}


def run(runner, folder, o):
    for f, tool in SAMPLES.items():
        if not o.wanted(f):
            continue
        p, why = runner.check(os.path.join(folder, f))
        yield f, "all", {tool}, sum([told(p, l) for l in [*p["launches"], None]], []) if p else None, why
