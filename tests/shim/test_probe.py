"""Our library must answer the calls of probe.cu as NVIDIA's runtime did on an H200 (truth/)."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBS, WORK, NVCC, MAJOR = sys.argv[1:5]
SONAME = {"11": "libcudart.so.11.0", "13": "libcudart.so.13"}[MAJOR]
# Objects that nvcc 13 makes call these, which a runtime of CUDA 11 lacks.
COMPAT = """
struct d3 { unsigned x, y, z; };
int cudaLaunchKernel(const void *, struct d3, struct d3, void **, unsigned long, void *);
int __cudaGetKernel(const void **k, const void *f) { *k = f; return 0; }
int __cudaLaunchKernel(const void *k, struct d3 g, struct d3 b, void **a, unsigned long s, void *t)
{ return cudaLaunchKernel(k, g, b, a, s, t); }
"""


def read(text):
    """Answers by (group, call, how often that call came before)."""
    answers, seen = {}, {}
    for line in text.splitlines():
        if line.startswith("#") or line.count(" | ") < 2:
            continue
        group, call, answer = line.split(" | ", 2)
        n = seen[group, call] = seen.get((group, call), 0) + 1
        answers[group, call, n] = answer
    return answers


def build():
    os.makedirs(WORK, exist_ok=True)
    obj, exe = os.path.join(WORK, f"probe{MAJOR}.o"), os.path.join(WORK, f"probe{MAJOR}")
    source = os.path.join(HERE, "probe.cu")
    flags = ["-DOLD"] if MAJOR == "11" else []
    if not os.path.exists(obj) or os.path.getmtime(obj) < os.path.getmtime(source):
        subprocess.run([NVCC, "-std=c++17", "-arch=sm_80", "-w", *flags, "-c", "-o", obj, source], check=True)
    link = ["c++", "-o", exe, obj, "-L" + LIBS, "-l:" + SONAME]
    if MAJOR == "11":
        subprocess.run(["cc", "-x", "c", "-w", "-c", "-o", exe + "_compat.o", "-"], input=COMPAT, text=True, check=True)
        link.insert(4, exe + "_compat.o")
    subprocess.run(link, check=True)
    return exe


def main():
    if NVCC == "none":
        print("skipped: there is no nvcc")
        return 77
    env = dict(os.environ, LD_LIBRARY_PATH=LIBS)
    run = subprocess.run([build()], env=env, capture_output=True, text=True, timeout=100)
    with open(os.path.join(HERE, "truth", f"h200_cuda{MAJOR}.txt"), encoding="utf-8") as f:
        truth = read(f.read())
    with open(os.path.join(HERE, "truth", "exceptions.txt"), encoding="utf-8") as f:
        double = os.path.basename(LIBS) == "shim" and os.path.basename(os.path.dirname(LIBS)) == "tests"
        excepted = {key[:2] for key, why in read(f.read()).items() if double or not why.startswith("the double: ")}
    ours, wrong, used = read(run.stdout), 0, set()
    for key, answer in truth.items():
        if ours.get(key) == answer:
            continue
        if key[:2] in excepted:
            used.add(key[:2])
        else:
            wrong += 1
            print(f"{key[0]} | {key[1]} (#{key[2]}): a GPU answers {answer}, ours {ours.get(key)}")
    for key in excepted if MAJOR == "13" else ():
        if key not in used and key in {k[:2] for k in truth}:
            print("needless exception:", " | ".join(key))
            wrong += 1
    print(f"{len(truth)} answers compared, {wrong} wrong, {len(used)} differ on purpose")
    if len(truth) < 700 or run.returncode:
        print("the probe did not run through:", run.returncode, run.stderr[-2000:])
        return 1
    return 1 if wrong else 0


sys.exit(main())
