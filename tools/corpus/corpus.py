#!/usr/bin/env python3
"""corpus.py - builds and runs public CUDA programs under warpgrind and records which of them work.

    corpus.py run LIST... --root DIR [--only TEXT] [--compiler clang|nvcc] [--limit SECONDS] [--results FILE]
    corpus.py table [--results FILE] [--out docs/compatibility.md]
    corpus.py scan DIR      drafts a list from the Makefiles of a folder of programs

A list (tools/corpus/*.list) names one collection; see README.md there for its lines. DIR holds a checkout of each
collection under the name that its list gives. Nothing of theirs is kept: programs are built in temporary folders.
"""
import argparse
import fcntl
import glob
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

SLOW = 30  # seconds
# What a program's outcome is called, in the order of the table's totals, and what it means.
STATES = [
    ("pass", "its own check says it is right"),
    ("ran", "ended without error; it has no check of its own"),
    ("slow", f"right, but took more than {SLOW} s of processor time, compiling included"),
    ("flawed", "its own check says it is wrong, and `warpgrind check` finds the error in it: a GPU may give any result"),
    ("wrong", "its own check says it is wrong, or it ended with an error code"),
    ("unsupported", "warpgrind refused something by name"),
    ("build", "did not compile or link"),
    ("needs", "wants a library or a data file that is not there"),
    ("crash", "ended by a signal"),
    ("timeout", "did not end within the time limit"),
]

NEEDS = re.compile(r"""['"<]?(\bcublas\w*|curand\w*|cufft\w*|cusparse\w*|cusolver\w*|nccl|nvToolsExt|cudnn\w*|npp\w*|
    mpi|gflags/\S+|GL/\S+|nvrtc|nvml|opencv\S*|boost/\S+|cutlass/\S+|cute/\S+|torch/\S+|FreeImage|omp|nvtx3/\S+)(\.h(pp)?)?\b
    .*file\ not\ found|cannot\ find\ -l(\S+)|fatal\ error:\ (\S+\.h\S*):\ No\ such""", re.X)


class Collection:
    """One list: its head lines (key: value) and its programs, one a line with ' | ' between columns."""

    def __init__(self, path):
        self.path, self.head, self.programs = path, {}, []
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                m = re.match(r"(\w+):\s*(.*)$", line)
                if m and not self.programs:
                    self.head[m[1]] = m[2]
                    continue
                cols = [c.strip() for c in re.split(r"(?<=\s)\|(?=\s|$)", line)] + [""] * 5
                if len(cols) > 10:
                    raise SystemExit(f"{path}:{number}: more than five columns")
                self.programs.append(dict(zip(("name", "sources", "build", "args", "check"), cols)))
        for key in ("name", "source", "folder"):
            if key not in self.head:
                raise SystemExit(f"{path}: no line '{key}:'")

    def get(self, key):
        return self.head.get(key, "")


def expand(folder, words):
    """Source names and globs of a program, relative to its folder."""
    out = []
    for w in words:
        found = sorted(os.path.relpath(p, folder) for p in glob.glob(os.path.join(folder, w)))
        out += found or ([] if "*" in w else [w])
    return out


def run_limited(argv, cwd, limit):
    """Output, exit status (negative: signal; None: timed out) and seconds of wall and processor time. The limit is of
    processor time for each process, so that a busy machine changes no outcome; a program that waits gets sixty times that."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                             start_new_session=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20)))
        late = threading.Event()

        def stop(sig):
            late.set()
            try:
                os.killpg(p.pid, sig)
            except ProcessLookupError:
                pass

        timers = [threading.Timer(60 * limit, stop, [signal.SIGTERM]), threading.Timer(60 * limit + 15, stop, [signal.SIGKILL])]
        for t in timers:
            t.start()
        _, ended, used = os.wait4(p.pid, 0)
        for t in timers:
            t.cancel()
        p.returncode = status = os.waitstatus_to_exitcode(ended)
        if late.is_set() or status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            status = None
        out.seek(0, 2)
        size = out.tell()
        out.seek(max(0, size - 400000))
        text = out.read().decode("utf-8", "replace")
    return text, status, time.monotonic() - start, used.ru_utime + used.ru_stime


def first(pattern, text, flags=re.M):
    m = re.search(pattern, text, flags)
    return m[0].strip() if m else None


def shorten(line, n=150):
    line = re.sub(r"/tmp/\S*?/([^/\s]+)", r"\1", line)
    line = re.sub(r"(?:/[\w.+-]+){2,}/([\w.+-]+)", r"\1", line)
    line = re.sub(r"\s+", " ", line).replace("|", "\\|")
    return line if len(line) <= n else line[:n - 3] + "..."


def judge(c, prog, text, status, cpu, limit):
    """State and reason."""
    refused = first(r"^warpgrind: .*(?:not supported|unsupported|cannot run|not known|does not support).*$", text)
    built = not re.search(r"^warpgrind: .*could not build", text, re.M)
    if not built:
        m = NEEDS.search(text)
        if m:
            return "needs", shorten(first(r"^.*(?:file not found|cannot find -l|No such).*$", text) or m[0])
        why = first(r"^.*?(?:fatal )?error:? .*$", text) or first(r"^.*undefined reference.*$", text)
        return "build", shorten(why or first(r"^warpgrind: .*$", text) or "?")
    if status is None:
        return "timeout", f"more than {limit} s of processor time"
    if refused:
        return "unsupported", shorten(refused[len("warpgrind: "):])
    if status < 0 or status in (128 + signal.SIGSEGV, 128 + signal.SIGABRT, 128 + signal.SIGFPE):
        sig = -status if status < 0 else status - 128
        return "crash", shorten(f"{signal.Signals(sig).name}: " + (text.strip().splitlines() or [""])[-1])
    check = prog["check"] or c.get("check")
    fail = c.get("fail")
    if fail and (line := first(rf"^.*(?:{fail}).*$", text)):
        return "wrong", shorten(line)
    if status != 0 and (line := first(r"^.*(?:[Ff]ailed to open|cannot (?:be )?open|[Cc]ould not open|[Ee]rror opening|"
                                      r"[Uu]nable to open|was not opened|[Cc]an't open|No such file).*$", text)):
        return "needs", shorten(line)
    if status != 0:
        return "wrong", shorten(f"exit code {status}: " + (text.strip().splitlines() or [""])[-1])
    if check in ("", "-"):
        return "ran", ""
    if check != "exit" and not re.search(check, text, re.M):
        return "wrong", f"no line matches '{shorten(check)}'"
    return ("slow", f"{cpu:.0f} s") if cpu > SLOW else ("pass", "")


def run_one(c, prog, o):
    folder = os.path.join(o.root, c.get("folder"), c.get("under"), prog["name"] if not c.get("flat") else
                          os.path.dirname(prog["name"]))
    sources = expand(folder, shlex.split(prog["sources"] or c.get("sources") or "*.cu"))
    words = shlex.split(c.get("build")) + shlex.split(prog["build"])
    argv = [o.warpgrind, "-q", "-j", str(o.jobs), f"--compiler={o.compiler}"]
    if o.device:
        argv.append(f"--device={o.device}")
    for w in words + sources[1:]:
        argv.append(f"--build-arg={w}")
    argv += [sources[0]] + shlex.split(prog["args"])
    limit = o.limit
    text, status, wall, cpu = run_limited(argv, folder, limit)
    state, reason = judge(c, prog, text, status, cpu, limit)
    if state == "wrong":
        found = run_limited([argv[0], "check"] + [a for a in argv[1:] if a != "-q"], folder, 3 * limit)[0]
        if line := first(r"^========= Error: .*(?:\n=========     and .*)?", found):
            state, reason = "flawed", shorten(line.replace("=========", "").replace(" Error: ", ""), 220)
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
        with open(os.path.join(o.keep, f"{c.get('name')}-{prog['name'].replace('/', '-')}-{o.compiler}.log"), "w") as f:
            f.write(shlex.join(argv) + "\n" + text)
    return {"state": state, "reason": reason, "seconds": round(wall, 1), "cpu": round(cpu, 1), "args": prog["args"]}


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def save(path, results):
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1, sort_keys=True)
    os.replace(path + ".new", path)


def wanted(results, key, o):
    old = results.get(key, {}).get(o.compiler)
    return not ((o.only and not re.search(o.only, key)) or (o.missing and old) or
                (o.state and not (old and old["state"] in o.state.split(","))))


def record(c, prog, o):
    key = f"{c.get('name')}/{prog['name']}"
    r = run_one(c, prog, o)
    with open(o.results + ".lock", "w", encoding="utf-8") as lock:  # several may write to one file
        fcntl.flock(lock, fcntl.LOCK_EX)
        results = load(o.results)
        results.setdefault(key, {})[o.compiler] = r
        save(o.results, results)
    print(f"{r['state']:12}{r['seconds']:7.1f} s {r['cpu']:7.1f} cpu  {key}  {r['reason']}", flush=True)


def cmd_run(o):
    results = load(o.results)
    with ThreadPoolExecutor(o.parallel) as pool:
        waiting = []
        for path in o.lists:
            c = Collection(path)
            waiting += [pool.submit(record, c, prog, o) for prog in c.programs
                        if wanted(results, f"{c.get('name')}/{prog['name']}", o)]
        for w in waiting:
            w.result()


def best(entry):
    """The better of the two compilers' outcomes: what a user gets who has both."""
    order = [s for s, _ in STATES]
    return min(entry.values(), key=lambda r: order.index(r["state"]))


def cmd_table(o):
    results = load(o.results)
    collections = [Collection(p) for p in sorted(glob.glob(os.path.join(HERE, "*.list")))]
    out = ["# Programs nobody here wrote", "",
           "Written by `tools/corpus/corpus.py table`. Each program is built as it is published, with clang-19 and our own "
           "CUDA headers (no toolkit) and, where that column is filled, with nvcc; then run with the arguments given under "
           "`warpgrind -q`, counters on, one worker thread. Inputs are scaled down by the programs' own options. A "
           "program's own check decides; `ran` is a program that has none.", ""]
    out += ["| outcome | meaning |", "|---|---|"]
    out += [f"| {s} | {meaning} |" for s, meaning in STATES]
    out += ["", "| collection | programs | " + " | ".join(s for s, _ in STATES) + " |", "|---|---|" + "---|" * len(STATES)]
    total = {}
    for c in collections:
        count = {}
        for prog in c.programs:
            e = results.get(f"{c.get('name')}/{prog['name']}")
            if e:
                s = best(e)["state"]
                count[s] = count.get(s, 0) + 1
                total[s] = total.get(s, 0) + 1
        if count:
            out.append(f"| {c.get('name')} | {sum(count.values())} | " +
                       " | ".join(str(count.get(s, "")) for s, _ in STATES) + " |")
    out.append(f"| total | {sum(total.values())} | " + " | ".join(str(total.get(s, "")) for s, _ in STATES) + " |")
    for c in collections:
        rows = []
        for prog in c.programs:
            e = results.get(f"{c.get('name')}/{prog['name']}")
            if not e:
                continue
            b = best(e)
            cell = {k: e[k]["state"] if k in e else "" for k in ("clang", "nvcc")}
            reason = b["reason"] or "; ".join(f"{k}: {e[k]['reason']}" for k in e if e[k]["reason"] and e[k] is not b)
            rows.append(f"| {prog['name']} | {prog['args'].replace('|', ' ')} | {cell['clang']} | {cell['nvcc']} | "
                        f"{b['seconds']:.0f} | {reason} |")
        if rows:
            out += ["", f"## {c.get('name')}", "", f"{c.get('source')}. {c.get('about')}".strip(), "",
                    "| program | arguments | clang | nvcc | s | reason |", "|---|---|---|---|---|---|"] + rows
    with open(o.out, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
    print(f"{o.out}: " + ", ".join(f"{total[s]} {s}" for s, _ in STATES if s in total))


def make_value(text, name):
    m = re.search(rf"^\s*{name}\s*[:+]?=\s*((?:.*\\\n)*.*)$", text, re.M)
    return re.sub(r"\\\n", " ", m[1]).strip() if m else ""


def cmd_scan(o):
    for path in sorted(glob.glob(os.path.join(o.dir, "*", "Makefile"))):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        sources = make_value(text, "source") or "*.cu"
        flags = [w for w in re.findall(r"-(?:I|D)\s*\S+|-std=\S+|-fopenmp|-l\S+", make_value(text, "CFLAGS") + " " +
                                       make_value(text, "LDFLAGS") + " " + " ".join(re.findall(r"^CFLAGS\s*\+=.*$", text, re.M)))
                 if w != "-I." and "$" not in w]
        m = re.search(r"^run:.*\n\t.*?\./\S+[ \t]*(.*)$", text, re.M)
        args = re.sub(r"\$\(\w+\)", "", m[1]).strip() if m else ""
        print(f"{os.path.basename(os.path.dirname(path))} | {sources} | {' '.join(dict.fromkeys(flags))} | {args}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    r = sub.add_parser("run")
    r.add_argument("lists", nargs="+")
    r.add_argument("--root", required=True)
    r.add_argument("--only")
    r.add_argument("--state", help="only those whose last outcome is one of these")
    r.add_argument("--missing", action="store_true", help="only those without an outcome")
    r.add_argument("--compiler", default="clang")
    r.add_argument("--device", default="")
    r.add_argument("--limit", type=int, default=60)
    r.add_argument("--jobs", type=int, default=1, help="worker threads of each program")
    r.add_argument("--parallel", type=int, default=1, help="programs at a time")
    r.add_argument("--keep", help="folder for what the programs print")
    r.add_argument("--warpgrind", default=os.path.join(TOP, "build/src/cli/warpgrind"))
    r.add_argument("--results", default=os.path.join(TOP, "build/corpus.json"))
    t = sub.add_parser("table")
    t.add_argument("--results", default=os.path.join(TOP, "build/corpus.json"))
    t.add_argument("--out", default=os.path.join(TOP, "docs/compatibility.md"))
    s = sub.add_parser("scan")
    s.add_argument("dir")
    o = p.parse_args()
    if o.command == "run":
        o.root, o.warpgrind = os.path.abspath(o.root), os.path.abspath(o.warpgrind)
    {"run": cmd_run, "table": cmd_table, "scan": cmd_scan}[o.command](o)


if __name__ == "__main__":
    sys.exit(main())
