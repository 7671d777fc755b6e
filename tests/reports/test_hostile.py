"""Names, paths, source and messages that hold markup and terminal escapes: no output of any command obeys them."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, DATA = map(os.path.abspath, sys.argv[1:3])
DIR = tempfile.mkdtemp()
EVIL = "</script><img src=x onerror=alert(1)>\x1b]0;t\x07\x1b[2J\u009b31m\u202e\u2066`$(z)'\"|x\r&amp;%0A::error::y\x7f"
# what a terminal or a viewer obeys: controls other than line ends and tabs, and what turns the direction of text
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def profile(name):
    with open(os.path.join(DATA, "transpose.wgprof")) as f:
        p = json.load(f)
    l = p["launches"][0]
    f = {"id": EVIL, "tool": EVIL, "severity": "error", "at": [0, 12], "other_at": [0, 9], "count": 2, "message": EVIL + "\n" + EVIL}
    p["program"] = p["tool_version"] = EVIL
    p["sources"][0].update(path="/tmp/" + EVIL + "/a.cu", text=(EVIL + "\n") * 20)
    p["host_findings"] = [f]
    for site in p["code"][0]:
        site["text"] = site["opcode"] = EVIL
    l.update(kernel=EVIL + "(int)", mangled=EVIL, module=EVIL, compiler=EVIL, ptxas=EVIL, findings=[f], merged_sites=1,
             worst=[{"site": 4, "block": 3, "warp": 2, "mask": 0xffffffff, "space": "shared", "bytes": 4, "cost": 32, "ideal": 1,
                     "offsets": [128 * i for i in range(32)]}])
    stopped = dict(copy.deepcopy(l), index=1, status="HANG", status_text=EVIL, blocks_done=3, device=EVIL)
    p["launches"].append(stopped)
    path = os.path.join(DIR, name)
    with open(path, "w") as out:
        json.dump(p, out)
    return path


A, B = profile("a.wgprof"), profile("b.wgprof")
COMMANDS = [
    ["report", A], ["report", A, "--verbose"], ["report", A, "--verbose", "--color", "never"],
    *[["report", A, "--page", page, *form] for page in ("details", "raw", "source", "session") for form in ([], ["--csv"])],
    ["report", A, "--set", "full"], ["report", A, "--metrics", "smsp__inst_executed.sum"],
    ["report", A, "-k", EVIL], ["report", A, "-k", "no" + EVIL], ["report", A, "--fail-if", "kernel:" + EVIL + ":errors > 0"],
    ["report", A, "--fail-if", "bank_conflicts > 0", "--fail-if", "errors > 0"], ["report", A, "--baseline", B],
    *[["report", A, "--fail-if", "errors > 0", "--write", f"{form}=-"] for form in ("sarif", "junit", "gitlab", "github", "markdown", "html", "text")],
    ["findings", A], ["findings", A, "--csv"], ["advise", A], ["html", A, "-o", "-"], ["html", A, "-o", "-", "--baseline", B],
    *[["diff", A, B, "--format", form] for form in ("text", "markdown", "html")],
    # what is typed is said again in messages
    ["report", os.path.join(DIR, EVIL)], [EVIL], ["--" + EVIL], ["help", EVIL], ["run", os.path.join(DIR, "x" + EVIL.replace("/", "") + ".ptx")],
    ["report", A, "--page", EVIL], ["report", A, "--metrics", EVIL], ["diff", A, B, "--format", EVIL], ["occupancy", "--device", EVIL], ["banks", "--expr", EVIL], ["coalesce", "--expr", EVIL],
    ["report", A, "--fail-if", EVIL], ["report", A, "--write", EVIL], ["html", A, "-o", os.path.join(DIR, "none/" + EVIL)],
]


class Hostile(unittest.TestCase):
    def harmless(self, data, what):
        text = data.decode("utf-8")  # strictly: half a character is no output either
        found = OBEYED.search(text)
        self.assertIsNone(found, (what, found and text[max(0, found.start() - 80):found.end() + 20]))

    def test_every_command(self):
        for words in COMMANDS:
            r = subprocess.run([WARPGRIND, *words], capture_output=True, cwd=DIR)
            self.assertIn(r.returncode, (0, 1, 2, 3, 4, 99, 100), words)
            self.assertTrue(r.stdout or r.stderr, words)
            self.harmless(r.stdout, words)
            self.harmless(r.stderr, words)

    def test_files(self):
        out = os.path.join(DIR, "plots")
        subprocess.run([WARPGRIND, "plot", A, "-o", out], check=True, capture_output=True)
        subprocess.run([WARPGRIND, "report", A, "--log-file", os.path.join(out, "log")], check=True, capture_output=True)
        self.assertGreater(len(os.listdir(out)), 4)
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as f:
                self.harmless(f.read(), name)

    def test_saving_again_keeps_the_text(self):
        """Escaping is for those who show: the profile itself holds the text as it is."""
        r = subprocess.run([WARPGRIND, "report", A, "--write", "sarif=-"], capture_output=True, cwd=DIR)
        start = r.stdout.index(b"{")
        json.JSONDecoder().raw_decode(r.stdout[start:].decode())


unittest.main(argv=sys.argv[:1])
