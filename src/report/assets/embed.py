"""Turns the page's style sheets and script into one C file of strings, and the script's hash for its security policy."""
import base64
import hashlib
import sys

out, *paths = sys.argv[1:]


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def literal(name, text):
    lines = "".join('    "' + l.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n' for l in text.split("\n")[:-1])
    return "const char " + name + "[] =\n" + lines.rstrip("\n") + ";\n"


names = {"chart.css": "wg_svg_style", "page.css": "wg_html_style", "page.js": "wg_html_script"}
with open(out, "w", encoding="utf-8") as f:
    f.write("/* Made by src/report/assets/embed.py. */\n#include \"report/html.h\"\n#include \"report/svg_parts.h\"\n")
    for path in paths:
        name = names[path.split("/")[-1]]
        text = text_of(path)
        f.write(literal(name, text))
        if name == "wg_html_script":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            f.write(literal("wg_html_script_hash", "sha256-" + digest + "\n").replace('\\n";', '";'))
