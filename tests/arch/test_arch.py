"""The layers: includes point only left, and no library keeps mutable data at file scope."""
import os
import re
import subprocess
import sys
import unittest

SRC, LIBS = sys.argv[1], sys.argv[2:]

# What each folder may include besides itself and the public headers. One line a folder: this is the picture in
# docs/architecture.md, and a change here is a change of the architecture.
MAY = {
    "base": set(),
    "isa": {"base"},
    "ptx": {"base", "isa"},
    "model": {"base", "isa", "ptx"},
    "profile": {"base"},
    "check": {"base"},
    "exec": {"base", "isa", "ptx", "model", "profile", "check"},
    "report": {"base", "model", "check/findings.def"},
    "cli": {"base", "isa", "model", "report", "shim/env.h", "shim/inspect.h", "ptx/fatbin.h"},
    "shim": {"base", "model", "report", "ptx/fatbin.h"},
    "lib": {"model", "report/headline.def"},
}


def includes():
    """(folder, file, what it includes) for every quoted include."""
    for folder, _, names in os.walk(SRC):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def", ".inc")):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    text = f.read()
                rel = os.path.relpath(os.path.join(folder, name), SRC)
                for what in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                    yield rel.split(os.sep)[0], rel, what


class Layers(unittest.TestCase):
    def test_every_folder_has_a_rule(self):
        folders = {d for d in os.listdir(SRC) if os.path.isdir(os.path.join(SRC, d))}
        self.assertEqual(folders - set(MAY), set())

    def test_includes_point_left(self):
        wrong = []
        for folder, rel, what in includes():
            layer = what.split("/")[0]
            if what.endswith(".h") or "/" in what:
                if layer != folder and layer not in MAY[folder] and what not in MAY[folder]:
                    wrong.append(f"src/{rel} includes {what}")
        self.assertEqual(wrong, [])

    def test_no_cycles(self):
        seen = set()
        def visit(layer, path):
            self.assertNotIn(layer, path)
            for other in MAY[layer] if layer not in seen else ():
                visit(other.split("/")[0], path + [layer])
            seen.add(layer)
        for layer in MAY:
            visit(layer, [])

    def test_the_test_sees_includes(self):
        self.assertGreater(len(list(includes())), 20)


class Data(unittest.TestCase):
    def test_no_mutable_data(self):
        """Constants that hold addresses lie in .data.rel.ro; per-thread data has its own sections."""
        wrong, objects = [], 0
        for lib in LIBS:
            out = subprocess.run(["objdump", "-t", lib], capture_output=True, text=True, check=True).stdout
            member = lib
            for line in out.split("\n"):
                if line.endswith("file format elf64-x86-64") or "file format elf" in line:
                    member = line.split(":")[0]
                    objects += 1
                m = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+) (?:\.hidden )?(\S+)$", line)
                if not m or "d" in m[1] or not int(m[3], 16):
                    continue
                if re.match(r"(\.bss|\.data|\*COM\*)", m[2]) and not m[2].startswith(".data.rel.ro"):
                    wrong.append(f"{member}: {m[4]} in {m[2]}")
        self.assertEqual(wrong, [])
        self.assertGreater(objects, 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
