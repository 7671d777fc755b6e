"""The Indigo suite as in HiRace's artifact: the names of the programs say which bugs are in them.

atomicBug, guardBug, raceBug and syncBug are races; boundsBug reads or writes out of bounds; without any the program is
sound. Many programs are built as one, each in a namespace of its own, and run over every graph: building is what takes
the time."""
import os
import tempfile
from checker import told

GROUP = 40
BUGS = {"racecheck": ("atomicBug", "guardBug", "raceBug", "syncBug"), "memcheck": ("boundsBug",)}


def programs(folder):
    for root, _, files in sorted(os.walk(os.path.join(folder, "indigo_sources"))):
        for f in sorted(files):
            if f.endswith(".cu"):
                yield f[:-3], os.path.join(root, f)


def write(path, sources, graphs, shape):
    with open(path, "w", encoding="utf-8") as f:
        f.write("#include <cstdlib>\n#include <cstdio>\n#include <cuda_runtime.h>\n#define main program\n")
        for k, s in enumerate(sources):
            f.write('namespace p%d {\n#include "%s"\n}\n' % (k, s))
        f.write("#undef main\nint main()\n{\n    char graph[4096], *v[] = {graph, graph, (char *)\"%s\", (char *)\"%s\", nullptr};\n"
                % tuple(shape))
        for k in range(len(sources)):
            for g in graphs:
                f.write('    snprintf(graph, sizeof graph, "%%s", "%s");\n    p%d::program(4, v);\n' % (g, k))
        f.write("}\n")


def run(runner, folder, o):
    """Yields (name, tools that must speak, findings or None, why)."""
    graphs = o.graph or [os.path.join(folder, "input", g) for g in sorted(os.listdir(os.path.join(folder, "input")))]
    todo = [p for p in programs(folder) if o.wanted(p[0])][::o.every]
    for at in range(0, len(todo), GROUP):
        part = todo[at:at + GROUP]
        with tempfile.TemporaryDirectory() as d:
            source = os.path.join(d, "group.cu")
            write(source, [p[1] for p in part], [os.path.abspath(g) for g in graphs], [o.threads, o.blocks])
            profile, why = runner.check(source, build=["-I" + os.path.join(folder, "indigo_include"), "-w"])
        launches = profile["launches"] if profile else []
        if len(launches) != len(part) * len(graphs):
            why = why or "%d launches instead of %d" % (len(launches), len(part) * len(graphs))
            launches = [None] * (len(part) * len(graphs))
        for k, l in enumerate(launches):
            name, graph = part[k // len(graphs)][0], os.path.basename(graphs[k % len(graphs)])
            want = {tool for tool, bugs in BUGS.items() if any(b in name for b in bugs)}
            yield name, graph, want, told(profile, l) if l else None, why
