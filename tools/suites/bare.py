"""Kernels without a host program: each is launched as its comments say, on buffers of small numbers (structures: zeros).

gpuverify: `//pass` is sound, `//xfail` is not; `--gridDim=[..] --blockDim=[..]` is the launch, made smaller where it has
more than THREADS threads. `--only-intra-group` promises nothing between blocks: one block is launched. `--warp-sync=32`
promises order within a warp that CUDA has not given since Volta: races of one warp, which are warnings, are not held
against us there. `__requires(name == value)` gives a parameter its value, else a number is the number of threads.
faial: racy-* and drf-*; one block unless the comments say more."""
import os
import re
import tempfile
from checker import told

THREADS, GROUP, HERE = 2048, 60, os.path.dirname(os.path.abspath(__file__))
GLOBAL = re.compile(r"(template\s*<[^>]*>\s*)?(?:extern\s+\"C\"\s*)?(?:static\s+)?(?:__global__|void\s+__global__)\s+"
                    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:static\s+|inline\s+|void\s+)*"
                    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*(\{|;)")
MADE = re.compile(r"template\s+__global__\s+void\s+(\w+)\s*(<[^;(]*>)\s*\(")


def bare(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def kernels(text):
    """[(name with template arguments, parameters)]"""
    code, out = bare(text), []
    made = {m.group(1): m.group(2) for m in MADE.finditer(code)}
    for m in GLOBAL.finditer(code):
        if m.group(4) == ";" or any(k[0].split("<")[0] == m.group(2) for k in out):
            continue
        if m.group(1) and m.group(2) not in made:
            continue
        names = [re.sub(r"\[[^]]*\]|=.*", "", p).strip() for p in m.group(3).split(",") if p.strip() not in ("", "void")]
        out.append((m.group(2) + made.get(m.group(2), ""), [re.findall(r"\w+", n)[-1] for n in names]))
    return out


def shape(head, option, standard):
    m = re.search("--%s=(\\[[^]]*\\]|\\d+)" % option, head)
    v = [int(x) for x in re.findall(r"\d+", m.group(1))] if m else list(standard)
    return v + [1] * (3 - len(v))


def launch(head, standard):
    grid, block = shape(head, "gridDim", standard), shape(head, "blockDim", (128,))
    while block[0] * block[1] * block[2] > 1024:
        block[block.index(max(block))] //= 2
    if "--only-intra-group" in head:
        grid = [1, 1, 1]
    while grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2] > THREADS and max(grid) > 1:
        grid[grid.index(max(grid))] //= 2
    return grid, block


def values(text, params):
    """A C++ expression for each parameter; of pointers and structures it is not used."""
    out = []
    for p in params:
        m = re.search(r"__(?:requires|assume)\(\s*(?:immutable_)?%s\s*==\s*([^;]*?)\)\s*;" % re.escape(p), bare(text))
        plain = m and not re.search(r"\b(?!gridDim|blockDim|[xyz]\b)[a-z]\w*", m.group(1))  # numbers, sizes and macros
        out.append("(double)(%s)" % m.group(1) if plain else "(double)(gridDim.x * blockDim.x)")
    return out or ["0"]


def macros(path):
    """What a file and the headers beside it define."""
    names, folder = set(), os.path.dirname(path)
    for f in [path] + [os.path.join(folder, x) for x in os.listdir(folder) if x.endswith(".h")]:
        with open(f, encoding="utf-8", errors="replace") as x:
            names |= set(re.findall(r"^\s*#\s*define\s+(\w+)", x.read(), re.M))
    return names


def program(part):
    """Each file in a namespace of its own, with what launches its kernels: {line: number of the file}, text."""
    lines, whose = ['#include "%s/bare.h"' % HERE], {}
    for k, (_, path, text, head, _, standard) in part:
        first = len(lines)
        grid, block = launch(head, standard)
        defined = re.findall(r"-D(\w+)", head.split("ALTERNATIVELY")[0])
        lines += ["#define %s" % x for x in defined]
        lines += ["namespace kk%d_ {" % k, '#include "%s"' % path, "void launch_all()", "{",
                  "    const dim3 gridDim(%d, %d, %d), blockDim(%d, %d, %d);" % (*grid, *block)]
        for n, (name, params) in enumerate(kernels(text)):
            lines += ["    const double v%d[] = {%s};" % (n, ", ".join(values(text, params))),
                      "    bare::launch(%s, gridDim, blockDim, 16384, v%d);" % (name, n)]
        lines += ["}", "}"] + ["#undef %s" % x for x in sorted(macros(path) | set(defined))]
        whose.update((n + 1, k) for n in range(first, len(lines)))
    return whose, "\n".join([*lines, "int main()", "{", *('    puts("at kk%d_"), fflush(stdout), kk%d_::launch_all();' % (k, k) for k, _ in part), "}", ""])


def refused(log, part, whose):
    """Numbers of the files that a compiler complained about."""
    bad = {os.path.realpath(m) for m in re.findall(r"^(/[^:\n]*):\d+:\d+: (?:fatal )?error", log, re.M)}
    inside = {k for k, c in part for b, own in [(b, os.path.realpath(c[1])) for b in bad]
              if b == own or (b.endswith(".h") and os.path.dirname(b) == os.path.dirname(own))}
    for block in re.split(r"^(?=\S+: (?:fatal )?error)", log, flags=re.M):  # an error in bare.h: who asked for it
        m = re.search(r"/main\.cu:(\d+):\d+: note: in instantiation", block) if ": error" in block else None
        if m and "/bare.h:" in block.split("error", 1)[0]:
            inside |= {whose[int(m.group(1))]} if int(m.group(1)) in whose else set()
    return inside | {whose[int(n)] for n in re.findall(r"/main\.cu:(\d+):\d+: error", log) if int(n) in whose}


def launched(runner, part):
    """{number: (profile, its launches)} of those that compile and run, {number: why} of the others."""
    done, why = {}, {}
    while part:
        with tempfile.TemporaryDirectory() as d:
            source = os.path.join(d, "main.cu")
            whose, body = program(part)
            with open(source, "w", encoding="utf-8") as f:
                f.write(body)
            profile, log = runner.check(source, build=["-w", "-std=c++17", "-ferror-limit=0"])
        if profile:
            for l in profile["launches"]:
                m = re.search(r"kk(\d+)_", l["mangled"])
                if m:
                    done.setdefault(int(m.group(1)), (profile, []))[1].append(l)
            left = [p for p in part if p[0] not in done]
            if len(left) == len(part):
                why.update((p[0], "not launched") for p in left)
                break
            part = left  # a kernel that stops keeps those behind it from running
            continue
        ran = re.findall(r"at kk(\d+)_", runner.stdout)
        bad = refused(log, part, whose) & {k for k, _ in part}
        for k in [int(ran[-1])] if ran else bad or {k for k, _ in part}:
            why[k] = "took too long" if ran else "is not accepted by the compiler" if bad else log[:160]
        part = [p for p in part if p[0] not in why]
    return done, why


def judged(profile, l, lockstep):
    rows = [r for r in told(profile, l) if r[0] in ("racecheck", "synccheck") and not (r[1] == "race-warp" and lockstep)]
    if "ssert" in l.get("status_text", ""):
        rows.append(("assert", "assertion", 0, 0))
    return rows


def cases(folder, o):
    for root, _, files in sorted(os.walk(folder)):
        for f in sorted(files):
            if not f.endswith(".cu"):
                continue
            path = os.path.join(root, f)
            with open(path, encoding="utf-8", errors="replace") as x:
                text = x.read()
            head = "\n".join(line for line in text.splitlines()[:4] if line.startswith("//"))
            if o.suite == "faial":
                if f.startswith(("racy-", "drf-")):
                    yield f, path, text, head, {"racecheck"} if f.startswith("racy-") else set(), (1,)
            elif re.match(r"//\s*(pass|xfail)", head):
                yield os.path.relpath(path, folder), path, text, head, {"assert"} if "xfail" in head else set(), (4,)


def run(runner, folder, o):
    """Yields (name, launch, tools that must speak, findings or None, why)."""
    todo = list(enumerate([c for c in cases(folder, o) if o.wanted(c[0])][::o.every]))
    for at in range(0, len(todo), GROUP):
        part = todo[at:at + GROUP]
        done, why = launched(runner, [p for p in part if kernels(p[1][2])])
        for k, (name, _, text, head, want, standard) in part:
            grid, block = launch(head, standard)
            given = "<<<%s, %s>>>" % ("x".join(map(str, grid)), "x".join(map(str, block)))
            if not kernels(text):
                yield name, given, want, None, "no kernel that could be launched"
            elif k not in done:
                yield name, given, want, None, why.get(k, "not launched")
            else:
                rows, stopped = [], ""
                for l in done[k][1]:
                    rows += judged(done[k][0], l, "--warp-sync" in head)
                    if l["status"] != "OK" and "ssert" not in l["status_text"]:
                        stopped = l["status_text"]
                yield name, given, want, None if stopped and not rows else rows, stopped
