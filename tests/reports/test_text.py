"""The text report of profiles written by hand: each expected figure is computed here from the launch's shape."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, DATA, SCHEMA = sys.argv[1:4]
DIR = tempfile.mkdtemp()
with open(os.path.join(DATA, "transpose.wgprof")) as f:
    TRANSPOSE = json.load(f)
N = {name: i + 1 for i, name in enumerate(TRANSPOSE["counters"])}  # column in a row of counts
WARPS = 64 * 64 * 8  # grid times warps of a block
REQUESTS = WARPS * 4  # each warp moves four rows
LD_GLOBAL, ST_SHARED, LD_SHARED, ST_GLOBAL = 1, 2, 4, 5  # sites


def render(profile, *options, env=None):
    path = os.path.join(DIR, "p.wgprof")
    with open(path, "w") as f:
        json.dump(profile, f)
    r = subprocess.run([WARPGRIND, "report", *options, path], capture_output=True,
                       env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **(env or {})})
    assert r.returncode == 0, r.stderr
    assert r.stderr == b""
    return r.stdout.decode()


def row(text, label):
    """The row of the table that starts with this label, without it."""
    found = [l for l in text.split("\n") if l.startswith("  " + label)]
    assert len(found) == 1, (label, found)
    return found[0][2 + len(label):].strip()


def variant(change):
    p = copy.deepcopy(TRANSPOSE)
    change(p, p["launches"][0])
    for launch in p["launches"]:  # keep the sums right, as a writer would
        total = {}
        for r in launch.get("counts", []):
            for name, i in N.items():
                total[name] = total.get(name, 0) + (r[i] if i < len(r) else 0)
        launch["total"] = {k: v for k, v in total.items() if v}
    return p


def counts(launch, site):
    r = next(r for r in launch["counts"] if r[0] == site)
    r += [0] * (len(N) + 1 - len(r))
    return r


class Text(unittest.TestCase):
    def test_transpose_figures(self):
        t = render(TRANSPOSE)
        self.assertIn("no findings, 1 thing to fix", t)
        self.assertRegex(row(t, "global loads"), rf"^{REQUESTS:,} requests +4\.0 sectors each, ideal 4\.0 +exact$")
        self.assertRegex(row(t, "shared stores"), rf"^{REQUESTS:,} requests +1\.0 wavefronts each, ideal 1\.0 +exact$")
        # a column of a 32-wide tile lies in one bank: 32 wavefronts, 31 of them extra, which is 97 %
        self.assertRegex(row(t, "shared loads"), rf"^{REQUESTS:,} requests +32\.0 wavefronts each, ideal 1\.0: 97 % extra +exact$")
        self.assertIn(f"{REQUESTS * 31:,} of {REQUESTS * 33:,}; most in transpose.cu:12", t)
        self.assertRegex(row(t, "barriers"), rf"^{WARPS:,} executed by warps +exact$")
        self.assertRegex(row(t, "shared memory"), r"^4,096 bytes a block")
        self.assertRegex(row(t, "registers"), r"^28 a thread \(ptxas\) +exact$")
        # three sites run once a warp, five once a row
        self.assertIn(f"launch 0: {WARPS * 3 + REQUESTS * 5:,} warp instructions", t)

    def test_occupancy_of_the_launch(self):
        t = render(TRANSPOSE)
        # cc 9.0: 2,048 threads an SM hold 8 blocks of 256; 28 registers take 32 a thread, 8,192 a block: 8 blocks too
        self.assertRegex(row(t, "occupancy"), r"^8 blocks, 64 of 64 warps \(100 %\); limit: warps and registers +exact$")
        self.assertRegex(row(t, "grid"), r"^4,096 blocks on 132 SMs: 3\.9 waves of 1,056 ")  # 4096 / (8 * 132)
        t = render(variant(lambda p, l: l.update(grid=[100, 1, 1], registers=40, registers_exact=False)))
        self.assertRegex(row(t, "occupancy"), r"^6 blocks, 48 of 64 warps \(75 %\); limit: registers +estimated$")
        self.assertRegex(row(t, "grid"), r"^100 blocks on 132 SMs: 32 of them get none")
        for change in ({"device": "a card of tomorrow"}, {"registers": 0}, {"block": [4096, 4096, 4096]}):
            self.assertNotIn("\n  occupancy", render(variant(lambda p, l: l.update(**change))))

    def test_only_the_guilty_line_is_marked(self):
        t = render(TRANSPOSE)
        marked = [l for l in t.split("\n") if l.startswith(">")]
        self.assertEqual(len(marked), 1)
        self.assertRegex(marked[0], rf"^> +12 +{REQUESTS * 2:,} +4\.0 +32\.0 !! +o\[")
        self.assertIn(f"shared loads, 4 bytes a lane: 32.0 wavefronts a request, 1.0 without conflicts: {REQUESTS * 31:,} extra", t)

    def test_lines_fit_and_source_is_beside_its_counts(self):
        t = render(TRANSPOSE)
        for line in t.split("\n"):
            if "extra" not in line or line[0] != " ":
                self.assertLessEqual(len(line), 100, line)
        self.assertRegex(t, rf"\n +9 +{WARPS:,} +__syncthreads\(\);\n")

    def test_colour_adds_nothing_but_colour(self):
        plain, color = render(TRANSPOSE), render(TRANSPOSE, "--color=always")
        self.assertNotIn("\x1b", plain)
        self.assertNotIn("\x1b", render(TRANSPOSE, env={"NO_COLOR": "1"}))
        self.assertIn("\x1b[", color)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", color), plain)

    def test_verbose_shows_ptx_and_lines_never_run(self):
        t = render(TRANSPOSE, "--verbose")
        self.assertRegex(t, rf"ptx +{REQUESTS:,} +32\.0 +ld\.shared\.f32 %f2, \[%r12\]")
        self.assertRegex(t, r"ptx +0 +trap")
        self.assertIn("/home/user/transpose.cu", t)

    def test_launches_alike_are_added_up(self):
        def twice(p, l):
            p["launches"] += [copy.deepcopy(l), copy.deepcopy(l)]
            p["launches"][1]["index"] = 1
            p["launches"][2].update(index=2, grid=[32, 64, 1])
            counts(p["launches"][1], 0)[N["inst_executed"]] += 1000
        p = variant(twice)
        t = render(p)
        self.assertIn("1 kernel, 3 launches", t)
        one = WARPS * 3 + REQUESTS * 5
        self.assertIn(f"2 launches alike, the figures are their sums: {one:,} to {one + 1000:,} warp instructions each", t)
        self.assertIn(f"{2 * REQUESTS:,} requests", t)
        self.assertEqual(t.count("<<<(64,64), (32,8)>>>"), 1)
        self.assertEqual(t.count("<<<(32,64), (32,8)>>>"), 1)
        self.assertEqual(render(p, "-v").count("<<<(64,64), (32,8)>>>"), 2)

    def test_many_small_kernels_are_brief(self):
        def many(p, l):
            for r in l["counts"]:
                r[1:] = [v * 10000 for v in r[1:]]
            for i in range(20):
                x = copy.deepcopy(l)
                x.update(index=i + 1, kernel=f"small{i}()", mangled=f"small{i}", counts=[[0, 7, 224, 224]])
                p["launches"].append(x)
            p["launches"][9]["findings"] = [{"id": "x", "message": "Wrong."}]
        p = variant(many)
        t = render(p)
        self.assertEqual(t.count("lanes   "), 2)  # the large one and the one with a finding
        self.assertEqual(len(re.findall(r"small\d+\(\)", t)), 20)
        self.assertEqual(render(p, "-v").count("lanes   "), 21)

    def test_selection(self):
        def three(p, l):
            p["launches"] = [copy.deepcopy(l) for _ in range(3)]
            for i, x in enumerate(p["launches"]):
                x.update(index=i, kernel=f"k{i}(int)", mangled=f"k{i}")
        p = variant(three)
        self.assertNotIn("k0(int)", render(p, "-k", "k1"))
        self.assertIn("k1(int)", render(p, "-k", "k1"))
        t = render(p, "--launch-skip", "1", "--launch-count=1")
        self.assertTrue("k1(int)" in t and "k0(int)" not in t and "k2(int)" not in t)

    def test_uncoalesced(self):
        def scatter(p, l):
            r = counts(l, LD_GLOBAL)
            r[N["sectors"]] = r[N["inst_executed"]] * 32
        t = render(variant(scatter))
        # loads 32 sectors, stores 4: 28 of 36 sectors are extra, 78 %
        self.assertIn("uncoalesced global memory: 78 % of the sectors are extra", t)
        self.assertIn(f"{REQUESTS * 28:,} of {REQUESTS * 36:,}; most in transpose.cu:8", t)
        self.assertRegex(row(t, "global loads"), r"32\.0 sectors each, ideal 4\.0: 88 % extra")
        self.assertRegex(t, r"\n> +8 .*32\.0 .*!!")
        self.assertLess(t.index("shared-memory bank conflicts"), t.index("uncoalesced"))  # 94 % before 78 %

    def test_shifted_by_one_is_marked_once(self):
        def shift(p, l):
            r = counts(l, LD_GLOBAL)
            r[N["sectors"]] = r[N["inst_executed"]] * 5
        t = render(variant(shift))
        self.assertRegex(t, r"\n> +8 .* 5\.0 .* !  ")
        self.assertRegex(row(t, "global loads"), "ideal 4.0: 20 % extra")

    def test_broadcast_hides_no_waste_elsewhere(self):
        def mixed(p, l):
            counts(l, LD_GLOBAL)[N["sectors"]] = REQUESTS  # all lanes one sector: better than packed
            counts(l, ST_GLOBAL)[N["sectors"]] = REQUESTS * 7
        t = render(variant(mixed))
        self.assertIn(f"{REQUESTS * 3:,} of {REQUESTS * 8:,}", t)

    def test_divergence(self):
        def half(p, l):
            for r in l["counts"]:
                r[N["thread_inst_executed_true"]] = r[N["thread_inst_executed"]] = r[N["inst_executed"]] * 16
            r = counts(l, 6)  # at a branch the guard only says where a lane goes
            r[N["thread_inst_executed_true"]] = 0
            r[N["branch_divergent"]], r[N["branch_uniform"]] = REQUESTS // 4, REQUESTS - REQUESTS // 4
        t = render(variant(half))
        self.assertIn("divergence: 50 % of the lanes are idle", t)
        self.assertRegex(row(t, "lanes"), "^16.0 of 32")
        self.assertRegex(row(t, "branches"), "25 % divergent")
        self.assertRegex(t, r"\n +9 +[0-9,]+ +16\.0 +__sync")

    def test_small_blocks_are_not_called_divergence(self):
        def small(p, l):
            l["block"] = [8, 1, 1]
            for r in l["counts"]:
                r[N["thread_inst_executed_true"]] = r[N["thread_inst_executed"]] = r[N["inst_executed"]] * 8
        t = render(variant(small))
        self.assertIn("warps that are not full: 75 % of the lanes are idle", t)
        self.assertNotIn("divergence", t)

    def test_findings_come_first_and_are_joined(self):
        finding = {"id": "out-of-bounds", "tool": "memcheck", "severity": "error", "at": [0, 12], "count": 3,
                   "thread": [5, 1, 0], "block": [2, 0, 0], "address": 4096, "message": "Read past the end.\nBy 4 bytes."}
        def add(p, l):
            l["findings"] = [dict(finding, severity="warning", message="Minor."), finding, dict(finding, count=4)]
            p["host_findings"] = [dict(finding, id="leak", at=[0, 1], message="Never freed.")]
        t = render(variant(add))
        self.assertIn("2 errors, 1 warning", t.split("\n")[1])
        self.assertIn("Read past the end.   (7 times)", t)
        self.assertIn("By 4 bytes.", t)
        self.assertIn("thread (5,1,0) of block (2,0,0)", t)
        self.assertIn("address 0x1000", t)
        self.assertIn("transpose.cu:12  o[(y + j)", t)
        self.assertTrue(t.index("Never freed") < t.index("Read past") < t.index("Minor.") < t.index("\n  to fix") <
                        t.index("global loads") < t.index("warp  sectors"))

    def test_a_stopped_launch_says_so(self):
        t = render(variant(lambda p, l: l.update(status="KERNEL_FAULT", status_text="trap executed", blocks_done=7)))
        self.assertIn("trap executed; 7 of 4,096 blocks were done", t)

    def test_no_counts(self):
        t = render(variant(lambda p, l: l.update(counts=[])))
        self.assertIn("counting was off", t)
        self.assertNotIn("to fix", t.replace("thing", "").replace("things", "").split("\n", 2)[2])

    def test_fidelity(self):
        t = render(variant(lambda p, l: l.update(merged_sites=3, registers_exact=False)))
        self.assertRegex(row(t, "shared loads"), "modelled$")
        self.assertRegex(row(t, "barriers"), "exact$")
        self.assertRegex(row(t, "registers"), "^28 a thread +estimated$")
        self.assertIn("3 neighbouring accesses", t)
        self.assertIn("one after another", render(variant(lambda p, l: l.update(one_worker=True))))

    def test_source_that_is_not_there(self):
        t = render(variant(lambda p, l: p["sources"][0].pop("text")))
        self.assertIn("its text was not readable", t)
        self.assertRegex(t, r"> +12 .*ld\.shared\.f32, st\.global\.f32")
        def no_lines(p, l):
            for s in p["code"][0]:
                s.pop("at")
        t = render(variant(no_lines))
        self.assertIn("PTX without line numbers", t)
        self.assertRegex(t, r"> +60 .*ld\.shared\.f32 %f2")

    def test_library_code_counts_at_the_line_that_called_it(self):
        def inline(p, l):
            p["sources"].append({"path": "/usr/lib/llvm-19/lib/clang/19/include/x.h", "text": "a\nb\n"})
            p["code"][0][LD_SHARED].update(at=[1, 2], inlined_at=[0, 12])
        self.assertRegex(render(variant(inline)), rf"\n> +12 +{REQUESTS * 2:,} ")

        def clang(p, l):  # clang names no call site: then the line before it in the PTX
            inline(p, l)
            p["code"][0][LD_SHARED].pop("inlined_at")
        t = render(variant(clang))
        self.assertRegex(t, rf"\n> +9 +{WARPS + REQUESTS:,} .*__syncthreads")
        self.assertNotIn("x.h", t)

    def test_instructions_without_a_line_are_one_row(self):
        def some(p, l):
            p["code"][0][0].pop("at")
            p["code"][0][7].pop("at")
        t = render(variant(some))
        self.assertRegex(t, rf"\n +- +{WARPS * 2:,} +\(instructions that the compiler gave no line\)\n")
        self.assertNotIn("PTX without", t)
        self.assertIn("mov.u32 %r1, %ctaid.x", render(variant(some), "-v"))

    def test_hostile_text_is_shown_not_obeyed(self):
        evil = "\x1b]0;x\x07\u202e<b>\x9b31m\u200b\r\x7f"
        def spoil(p, l):
            p["program"] = p["tool_version"] = evil
            l.update(kernel=evil, mangled=evil, device=evil, compiler=evil, status="HANG", status_text=evil)
            p["sources"][0]["path"] = "/x/" + evil
            p["sources"][0]["text"] = p["sources"][0]["text"].replace("float t", evil + "float t").replace("o[", evil + "o[")
            for s in p["code"][0]:
                s["text"] = s["opcode"] = evil
            l["findings"] = [{"id": evil, "tool": evil, "at": [0, 12], "message": evil + "\n" + evil}]
        for options in ([], ["-v"]):
            t = render(variant(spoil), *options)
            self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", t), [])
            self.assertIn(r"\x1b]0;x\x07\u202e<b>\x9b31m\u200b", t)

    def test_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(SCHEMA) as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(TRANSPOSE, schema)
        worst = {"site": 4, "block": 3, "mask": 255, "space": "shared", "bytes": 4, "cost": 8, "ideal": 1, "offsets": [0] * 32}
        jsonschema.validate(variant(lambda p, l: l.update(worst=[worst])), schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(variant(lambda p, l: l.update(grid=[1, 2])), schema)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
