"""The page and the charts: complete without scripts, equal to the profile's figures, safe with any text, small and quick."""
import copy
import html.parser
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

WARPGRIND, DATA = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome  # noqa: E402

DIR = tempfile.mkdtemp()
with open(os.path.join(DATA, "transpose.wgprof")) as f:
    TRANSPOSE = json.load(f)
N = {name: i + 1 for i, name in enumerate(TRANSPOSE["counters"])}
REQUESTS = 64 * 64 * 8 * 4
HOSTILE = "</script></td><b onclick=\"alert(1)\">x|y`'\"\x1b[31m\u202e&lt;&amp;<!--"
LD_GLOBAL, LD_SHARED = 1, 4


def variant(change):
    p = copy.deepcopy(TRANSPOSE)
    change(p, p["launches"][0])
    for launch in p["launches"]:
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


def save(profile, name="p.wgprof"):
    path = os.path.join(DIR, name)
    with open(path, "w") as f:
        json.dump(profile, f)
    return path


def run(*words):
    r = subprocess.run([WARPGRIND, *words], capture_output=True, cwd=DIR)
    assert r.returncode == 0, (words, r.stderr)
    return r.stdout.decode()


VOID = {"meta", "br", "link", "img", "input"}
OPTIONAL = {"tr", "td", "th", "li"}  # their end may be left out


class Page(html.parser.HTMLParser):
    """Checks that tags nest, and collects ids, links, tags and the text a reader sees."""
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.links, self.tags, self.text, self.cells = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.stack == [], self.stack

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tags.append((tag, a))
        if "id" in a:
            self.ids.append(a["id"])
        if "href" in a:
            self.links.append(a["href"])
        if tag in VOID:
            return
        if tag in ("td", "th", "tr"):
            while self.stack and self.stack[-1] in (("td", "th") if tag != "tr" else ("td", "th", "tr")):
                self.stack.pop()
        if tag in ("td", "th"):
            self.cells.append("")
        self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.stack and self.stack[-1] != tag and self.stack[-1] in OPTIONAL:
            self.stack.pop()
        assert self.stack and self.stack.pop() == tag, (tag, self.stack, self.getpos())

    def handle_data(self, data):
        if self.stack and self.stack[-1] in ("style", "script"):
            return
        self.text.append(data)
        if {"td", "th"} & set(self.stack):
            self.cells[-1] += data


def page(profile, *options):
    return run("html", save(profile), "-o", "-", *options)


def worst(site, space, offsets, cost, ideal):
    return {"site": site, "block": 3, "warp": 2, "mask": 0xffffffff, "space": space, "bytes": 4, "cost": cost, "ideal": ideal,
            "offsets": offsets}


COLUMN = worst(LD_SHARED, "shared", [128 * l for l in range(32)], 32, 1)


class Content(unittest.TestCase):
    def test_figures_are_the_profiles(self):
        text = page(TRANSPOSE)
        p = Page(text)
        for figure in (f"{REQUESTS * 31:,}", f"{REQUESTS * 33:,}", f"{REQUESTS * 8:,}", f"{64 * 64 * 8 * 3 + REQUESTS * 5:,}", "100 %"):
            self.assertIn(figure, [c.strip().rstrip("em") for c in p.cells], figure)
        seen = " ".join(p.text)
        self.assertIn("shared-memory bank conflicts: 94 % of the wavefronts are extra", seen)
        self.assertIn("8 blocks, 64 of 64 warps (100 %, exact); what limits:", seen)
        self.assertIn("3.9 waves of 1,056", seen)
        self.assertIn("o[(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];", seen)
        self.assertIn("ld.shared.f32 %f2, [%r12]", seen)
        self.assertRegex(text, r'class="mark" id="k0s0l12"')

    def test_every_figure_says_how_far_to_trust_it(self):
        p = Page(page(variant(lambda p, l: l.update(merged_sites=2, registers_exact=False))))
        table = [c for c in p.cells if c in ("exact", "modelled", "estimated")]
        self.assertGreater(len(table), 8)
        self.assertIn("modelled", table)
        self.assertIn("estimated", table)

    def test_links_lead_somewhere_and_nothing_is_loaded(self):
        for text in (page(TRANSPOSE), page(variant(lambda p, l: l.update(worst=[COLUMN])))):
            p = Page(text)
            self.assertEqual(len(set(p.ids)), len(p.ids))
            for link in p.links:
                self.assertTrue(link.startswith("#") and link[1:] in p.ids, link)
            for tag, a in p.tags:
                self.assertFalse({"src", "srcset", "action", "data", "poster", "xlink:href"} & set(a), (tag, a))
                self.assertFalse([k for k in a if k.startswith("on")], (tag, a))
            self.assertNotIn("url(", text)
            self.assertNotIn("@import", text)

    def test_lanes_are_drawn_from_their_addresses(self):
        p = page(variant(lambda p, l: l.update(worst=[COLUMN])))
        self.assertIn("32 lanes of 4 bytes meet 1 of 32 banks, up to 32 words in one: 32 wavefronts (ideal 1)", p)
        self.assertIn("Warp 2 of block 3.", p)
        shifted = worst(LD_GLOBAL, "global", [4 + 4 * l for l in range(32)], 5, 4)
        run("plot", save(variant(lambda p, l: l.update(worst=[COLUMN, shifted]))), "-o", "plots")
        with open(os.path.join(DIR, "plots/kernel0-ptx40-lanes.svg")) as f:
            text = f.read()
        self.assertIn("touch 5 sectors in 2 lines of 128 bytes (ideal 4): 128 of 160 bytes moved are asked for", text)
        ns = "{http://www.w3.org/2000/svg}"
        t = ET.fromstring(text)
        self.assertEqual(len(t.findall(ns + "line")), 32)
        self.assertEqual(len([r for r in t.findall(ns + "rect") if r.get("class") == "unit"]), 5)
        with open(os.path.join(DIR, "plots/kernel0-ptx60-lanes.svg")) as f:
            t = ET.fromstring(f.read())
        ends = {l.get("x2") for l in t.findall(ns + "line")}
        self.assertEqual(len(ends), 1)  # all lanes meet in one bank
        half = worst(LD_SHARED, "shared", [132 * l for l in range(32)], 2, 1)
        half["mask"] = 0xffff
        self.assertIn("16 lanes of 4 bytes meet 16 of 32 banks, up to 1 words", page(variant(lambda p, l: l.update(worst=[half]))))

    def test_occupancy_curves_pass_through_the_launch(self):
        run("plot", save(variant(lambda p, l: l.update(registers=40, grid=[4, 1, 1]))), "-o", "curves")
        # cc 9.0, 256 threads: 40 registers allow 6 blocks of 8 warps
        for name in ("block-size", "registers", "shared-memory"):
            with open(os.path.join(DIR, f"curves/kernel0-occupancy-{name}.svg")) as f:
                t = ET.fromstring(f.read())
            self.assertIn(" 48 of 64 warps", t.find("{http://www.w3.org/2000/svg}desc").text)

    def test_text_and_page_say_the_same(self):
        """Every row that both show has one value and one fidelity, also where machine code differs from the PTX."""
        def change(p, l):
            l.update(merged_sites=3, machine="ptxas")
            for site in p["code"][0]:
                site["machine"] = 170  # the profiler's counters then differ from those of the PTX
            for i in (LD_SHARED, LD_GLOBAL):
                counts(l, i)[N["inst_executed"]] = REQUESTS
                counts(l, i)[N["thread_inst_executed"]] = 32 * REQUESTS
                counts(l, i)[N["thread_inst_executed_true"]] = 8 * REQUESTS
        path = save(variant(change))
        text, html = run("report", path), run("html", path, "-o", "-")
        shown = dict(re.findall(r'data-m="(\w+)" data-v="([^"]*)"', html))
        lanes = re.search(r"lanes +([\d.]+) of 32 at work.* (\w+)$", text, re.M)
        self.assertEqual(f"{float(shown['lanes']):.1f}", lanes.group(1))
        self.assertLess(float(lanes.group(1)), 31)
        self.assertEqual(f"{int(float(shown['instructions'])):,}", re.search(r"([\d,]+) warp instructions", text).group(1))
        for row, name in (("global loads", "sectors_per_load"), ("global stores", "sectors_per_store")):
            mine = re.search(rf"^  {row} .* ([\d.]+) sectors each.* (\w+)$", text, re.M)
            self.assertEqual(mine.group(1), f"{float(shown[name]):.1f}")
            theirs = re.search(rf'data-m="{name}".*?<td class="l dim">(\w+)<', html).group(1)
            self.assertEqual(mine.group(2), theirs)
            self.assertRegex(html, rf'<tr><th scope="row">{row}</th>.*<td class="l dim">{theirs}</td></tr>')

    def test_a_device_that_the_profile_describes(self):
        def change(p, l):
            p["device_file"] = "base = H200\nname = my card\nsms = 10\nwarps_per_sm = 16\n"
            l["device"] = "my card"
        path = save(variant(change))
        seen = " ".join(Page(run("html", path, "-o", "-")).text)
        self.assertIn("16 of 16 warps", seen)
        self.assertIn("waves of 20", seen)  # two blocks of 8 warps on each of 10 SMs
        run("plot", path, "-o", "mine")
        with open(os.path.join(DIR, "mine/kernel0-occupancy-registers.svg")) as f:
            self.assertIn("16 of 16 warps", f.read())
        r = subprocess.run([WARPGRIND, "report", path, "--fail-if", "launch__waves_per_multiprocessor > 200"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 100, r.stderr)  # 4,096 blocks in waves of 20

    def test_predicted_time_is_broken_down(self):
        model = {"clock": 1785, "cycles": 8925, "duration": 6000, "duration_low": 4200, "duration_high": 7800, "sm_active": 4462.5,
                 "issue_busy": 0.215, "lsu_busy": 0.715, "l2_port_busy": 0.105, "dram_busy": 0.055, "stall_memory": 0.405,
                 "stall_barrier": 0.125, "stall_pipe": 0.255, "l1_global_ld": 1000, "l1_global_ld_hit": 250, "l2_read": 750,
                 "l2_read_hit": 300, "dram_read": 14400, "followed": 1, "warps_active": 31.5}
        path = save(variant(lambda p, l: l.update(model=model)))
        page_ = run("html", path, "-o", "-")
        seen = " ".join(" ".join(Page(page_).text).split())
        self.assertIn("6 us , from 4.2 us to 7.8 us (estimated)", seen)
        self.assertIn("the load/store units, shared memory included", seen)
        for share in ("21.5 %", "71.5 %", "10.5 %", "5.5 %", "40.5 %", "12.5 %", "25.5 %"):
            self.assertIn(share, seen)
        self.assertIn("L1: loaded sectors that it held 25 % modelled", seen)  # of the sectors loaded hit the L1
        text = run("report", path)
        self.assertIn("held back by the load/store units", " ".join(text.split()))
        run("plot", path, "-o", "timed")
        t = ET.parse(os.path.join(DIR, "timed/kernel0-time.svg")).getroot()
        bars = [float(r.get("width")) for r in t.iter("{http://www.w3.org/2000/svg}rect") if r.get("class") == "bar"]
        self.assertAlmostEqual(bars[1] / bars[0], 0.215 / 0.715, 2)  # busiest first
        none = " ".join(Page(page(TRANSPOSE)).text)
        self.assertIn("--model", none)
        self.assertNotIn("stall", none)

    def test_a_fix_that_was_tried_is_told(self):
        p = " ".join(Page(page(variant(lambda p, l: l.update(worst=[COLUMN])))).text)
        self.assertRegex(p, r"tried on these addresses.*32 wavefronts become 1 \(modelled")

    def test_registers_between_bounds(self):
        p = " ".join(Page(page(variant(lambda p, l: l.update(registers=40, registers_low=32, registers_high=64, registers_exact=False)))).text)
        # cc 9.0, 256 threads: 64 registers allow 4 blocks, 32 allow 8
        self.assertIn("an SM holds 4 to 8 blocks, 50 to 100 % of its warps (estimated)", p)

    def test_launches_can_be_chosen(self):
        two = variant(lambda p, l: p["launches"].append(dict(copy.deepcopy(l), index=1, kernel="other(int)", mangled="other")))
        self.assertIn("2 kernels", page(two))
        self.assertIn("1 kernel,", page(two, "-k", "other"))

    def test_what_changed(self):
        old = save(variant(lambda p, l: counts(l, LD_SHARED).__setitem__(N["wavefronts"], REQUESTS)), "old.wgprof")
        for text in (page(TRANSPOSE, "--baseline", old), run("diff", old, save(TRANSPOSE), "--format=html")):
            p = Page(text)
            self.assertIn("from 0, worse", p.cells)
            self.assertIn(f"{REQUESTS * 31:,}", p.cells)


class Untrusted(unittest.TestCase):
    def test_hostile_text_stays_text(self):
        def change(p, l):
            p["program"] = p["tool_version"] = HOSTILE
            p["sources"][0].update(path="/tmp/" + HOSTILE, text=(HOSTILE + "\n") * 20)
            f = {"id": HOSTILE, "tool": HOSTILE, "severity": "error", "at": [0, 12], "other_at": [0, 9], "count": 2, "message": HOSTILE}
            l.update(kernel=HOSTILE + "(int)", mangled=HOSTILE, module=HOSTILE, compiler=HOSTILE, status_text=HOSTILE, findings=[f],
                     worst=[COLUMN])
            p["host_findings"] = [f]
            for site in p["code"][0]:
                site["text"] = site["opcode"] = HOSTILE
        evil = variant(change)
        for text in (page(evil), run("diff", save(evil, "e.wgprof"), save(TRANSPOSE), "--format=html"), page(evil, "--baseline", save(TRANSPOSE, "t.wgprof"))):
            p = Page(text)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\u202e", text)
            self.assertEqual([a for _, a in p.tags if any(k.startswith("on") for k in a)], [])
            self.assertEqual(len([t for t, _ in p.tags if t == "script"]), 1)
            self.assertNotIn("<!--", text)
            self.assertIn(HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e"), "".join(p.text))
        run("plot", save(evil), "-o", "evil")
        for name in os.listdir(os.path.join(DIR, "evil")):
            ET.parse(os.path.join(DIR, "evil", name))

    def test_odd_profiles(self):
        for change in (dict(counts=[]), dict(grid=[1, 1, 1]), dict(block=[4096, 4096, 1]), dict(registers=0), dict(device="?"),
                       dict(status="HANG", blocks_done=3), dict(kernel="", mangled="x")):
            Page(page(variant(lambda p, l: l.update(change))))
        Page(page(variant(lambda p, l: p["sources"][0].pop("text"))))
        Page(page(variant(lambda p, l: p.update(launches=[], code=[]))))
        def lineless(p, l):
            for s in p["code"][0]:
                s.pop("at")
        Page(page(variant(lineless)))
        edge = worst(LD_GLOBAL, "global", [(1 << 40) * l for l in range(32)], 64, 4)
        edge.update(bytes=128)
        Page(page(variant(lambda p, l: l.update(worst=[edge]))))
        for wrong in (dict(bytes=129), dict(bytes=0), dict(mask=0), dict(space="shared", bytes=3), dict(site=99), dict(offsets=[1]),
                      dict(offsets=["0xffffffffffffffff"] * 32)):
            path = save(variant(lambda p, l: l.update(worst=[dict(edge, **wrong)])))
            r = subprocess.run([WARPGRIND, "html", path, "-o", "-"], capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), wrong)


class Size(unittest.TestCase):
    def test_200_launches_and_2000_lines(self):
        """200 launches, all different, of 10 kernels that have 200 lines and 600 instructions each."""
        def change(p, l):
            text = "".join(f"    float x{i} = a[{i}] + b[threadIdx.x * {i}];  // a line of the usual length\n" for i in range(2000))
            p["sources"][0]["text"] = text
            load, alu = p["code"][0][LD_GLOBAL], {"text": "add.s64 %rd5, %rd4, %rd3", "opcode": "add.s64"}
            p["code"] = [[dict(s, at=[0, 200 * k + i + 1], ptx_line=3 * i + 1) for i in range(200) for s in (load, alu, alu)] for k in range(10)]
            p["launches"] = []
            for k in range(200):
                rows = [[i, 1000 + k, 32000, 32000] + ([1000, 8000, 32000 if i % 60 == 0 else 4000, 4000] if i % 3 == 0 else []) for i in range(600)]
                p["launches"].append(dict(l, index=k, code=k % 10, counts=rows, grid=[k // 20 + 1, 1, 1], kernel=f"kernel{k % 10}(int)", mangled=f"k{k % 10}"))
        path = save(variant(change))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run("html", path, "-o", "big.html")
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        size = os.path.getsize(os.path.join(DIR, "big.html"))
        print(f"200 launches, 2,000 lines: {took:.2f} s of processor, {size:,} bytes")
        self.assertLess(size, 2e6)
        if not os.environ.get("WG_SLOW"):  # sanitizers
            self.assertLess(took, 2)  # 1 s alone; half of that is the share of a busy machine
        with open(os.path.join(DIR, "big.html")) as f:
            Page(f.read())


@unittest.skipUnless(chrome.find(), "no Chromium here: layout and script are not tried")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.c = chrome.Chrome()
        def change(p, l):
            l.update(worst=[COLUMN], kernel="transpose_of_a_very_long_name_that_goes_on<float, 32, 8>(float*, float const*, int)")
            p["launches"].append(dict(copy.deepcopy(l), index=1, kernel="second(int)", mangled="second", grid=[32, 64, 1]))
            l["counts"] = copy.deepcopy(l["counts"])
            counts(p["launches"][1], LD_SHARED)[N["wavefronts"]] = REQUESTS
        cls.path = os.path.join(DIR, "browser.html")
        run("html", save(variant(change)), "-o", cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.c.close()

    def test_layout_without_complaints(self):
        for script in (True, False):
            for width in (1600, 1000, 480):
                self.c.open(self.path, width, script)
                self.assertEqual(self.c.complaints(), [])
                self.assertEqual([u for u in self.c.requests() if not u.startswith("file://" + self.path)], [])
                wide = self.c.evaluate("document.documentElement.scrollWidth") if script else width
                self.assertLessEqual(wide, width, f"the page is wider than {width}")

    def test_sorting_filtering_comparing(self):
        self.c.open(self.path)
        names = "[...document.querySelectorAll('#launches tbody tr:not([hidden]) a')].map(a => a.textContent[0]).join('')"
        self.assertEqual(self.c.evaluate(names), "ts")
        click = "[...document.querySelectorAll('#launches thead button')].find(b => b.textContent == 'extra wavefronts').click()"
        self.c.evaluate(click)
        self.assertEqual(self.c.evaluate(names), "ts")
        self.c.evaluate(click)
        self.assertEqual(self.c.evaluate(names), "st")
        self.c.evaluate("{const i = document.querySelector('input[type=search]'); i.value = 'second'; i.dispatchEvent(new Event('input'))}")
        self.assertEqual(self.c.evaluate(names), "s")
        self.assertEqual(self.c.evaluate("[...document.querySelectorAll('section.kernel')].map(s => s.hidden).join()"), "true,false")
        self.c.evaluate("{const i = document.querySelector('input[type=search]'); i.value = ''; i.dispatchEvent(new Event('input'))}")
        self.c.evaluate("document.querySelectorAll('#launches input[type=checkbox]').forEach(b => b.click())")
        self.assertIn(f"{REQUESTS * 31:,}", self.c.evaluate("document.querySelector('#compared').textContent"))

    def test_a_line_lights_up_with_its_ptx(self):
        self.c.open(self.path)
        self.c.evaluate("document.querySelector('#k0s0l12').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")
        lit = self.c.evaluate("[...document.querySelectorAll('#k0 .ptx tr.on .s')].map(s => s.textContent.trim()).join('|')")
        self.assertEqual(lit, "ld.shared.f32 %f2, [%r12]|st.global.f32 [%rd9], %f2")

    def test_keyboard_reaches_everything(self):
        self.c.open(self.path)
        self.assertEqual(self.c.evaluate("[...document.querySelectorAll('.pane, .wide')].every(p => p.tabIndex == 0)"), True)
        self.assertEqual(self.c.evaluate("[...document.querySelectorAll('thead button')].every(b => b.tabIndex == 0)"), True)


unittest.main(argv=sys.argv[:1])
