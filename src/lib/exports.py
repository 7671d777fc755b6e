"""Writes the linker's version script of libwarpgrind: the functions that the public headers declare, and nothing else.

Usage: exports.py OUTPUT HEADER..."""
import re
import sys

names = set()
for header in sys.argv[2:]:
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    names |= set(re.findall(r"^[\w *]*?\**\b((?:wg_|ptx_)\w+)\(", text, flags=re.M))
if not names:
    sys.exit("exports.py: no function found")
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("{\n    global:\n" + "".join(f"        {n};\n" for n in sorted(names)) + "    local: *;\n};\n")
