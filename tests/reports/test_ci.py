"""Gates, baselines, comparisons and the formats for continuous integration, on profiles written by hand."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

WARPGRIND, DATA = map(os.path.abspath, sys.argv[1:3])
DIR = tempfile.mkdtemp()
with open(os.path.join(DATA, "transpose.wgprof")) as f:
    TRANSPOSE = json.load(f)
N = {name: i + 1 for i, name in enumerate(TRANSPOSE["counters"])}
REQUESTS = 64 * 64 * 8 * 4  # grid, warps of a block, rows a warp
EXTRA = REQUESTS * 31       # a column of the tile lies in one bank: 32 wavefronts for 1
LD_GLOBAL, LD_SHARED = 1, 4
HOSTILE = "</script><b>x|y`$(z)'\"\x1b[31m\u202e&amp;%0A::error::\r"


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


def run(*words, env=None):
    r = subprocess.run([WARPGRIND, *words], capture_output=True, cwd=DIR,
                       env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **(env or {})})
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def gate(profile, *conditions):
    words = [w for c in conditions for w in ("--fail-if", c)]
    return run("report", "--log-file", "/dev/null", save(profile), *words)


def scaled(site, counter, factor):
    def change(p, l):
        r = counts(l, site)
        r[N[counter]] = round(r[N[counter]] * factor)
    return variant(change)


def finding(**more):
    return {"id": "race-shared", "tool": "racecheck", "severity": "error", "at": [0, 12], "other_at": [0, 8], "count": 3,
            "thread": [1, 2, 3], "block": [4, 5, 6], "message": "race in shared memory\nsecond line", **more}


class Gate(unittest.TestCase):
    def test_conditions_and_what_they_say(self):
        met = {
            "bank_conflicts > 0": f"{EXTRA:,} ",
            f"derived__memory_l1_wavefronts_shared_excessive >= {EXTRA}": f"{EXTRA:,} ",
            f"bank_conflicts == {EXTRA}": "",
            f"bank_conflicts != {EXTRA + 1}": "",
            "lanes <= 32": " is 32 ",
            "kernel:transpose:bank_conflicts>0": "",
            "kernel:transpose(float*, float const*, int): bank_conflicts > 0": "",
            "kernel:_Z9transposePfPKfi:bank_conflicts > 0": "",
            "kernel:tr*:bank_conflicts > 0": "",
            "transpose.cu:12:bank_conflicts > 0": "transpose.cu:12: ",
            "*.cu:10-12:bank_conflicts > 0": "transpose.cu:12: ",
            "/home/user/transpose.cu:*:bank_conflicts > 0": "transpose.cu:12: ",
            "user/transpose.cu:12:bank_conflicts > 0": "transpose.cu:12: ",
            "launch__grid_size > 4095": "4,096",
            "occupancy < 100.5%": "100 %",
        }
        for condition, says in met.items():
            code, out, err = gate(TRANSPOSE, condition)
            self.assertEqual((code, out), (100, ""), (condition, err))
            self.assertEqual(err.count("\n"), 1)
            self.assertIn(says, err)
            self.assertIn(condition, err)
            self.assertRegex(err, r"\((exact|modelled|estimated)\)")
        for condition in (f"bank_conflicts > {EXTRA}", "uncoalesced_sectors > 0", "transpose.cu:8:bank_conflicts > 0", "errors > 0",
                          "kernel:transpose:lanes < 32", "findings > 0", "sectors_per_load > 4"):
            self.assertEqual(gate(TRANSPOSE, condition), (0, "", ""), condition)

    def test_kernels_of_templates_by_their_bare_names(self):
        p = variant(lambda p, l: l.update(kernel="void n::reduce<(Step)1, 256, true>(float const*, float*, int)", mangled="_ZN1n6reduceE"))
        for name in ("reduce*", "reduce", "n::reduce<*", "n::reduce<(Step)1, 256, true>", "_ZN1n6reduceE"):
            self.assertEqual(gate(p, f"kernel:{name}:bank_conflicts > 0")[0], 100, name)
        self.assertEqual(gate(p, "kernel:educe*:bank_conflicts > 0")[0], 2)

    def test_findings_as_metrics(self):
        p = variant(lambda p, l: l.update(findings=[finding(), finding(severity="warning", at=[0, 8])]))
        for condition, code in {"errors > 0": 100, "errors > 1": 0, "warnings >= 2": 100, "findings == 2": 100,
                                "transpose.cu:12:errors > 0": 100, "transpose.cu:9:errors > 0": 0}.items():
            self.assertEqual(gate(p, condition)[0], code, condition)

    def test_the_worst_of_several_launches(self):
        def change(p, l):
            p["launches"].append(copy.deepcopy(l))
            p["launches"][1]["index"] = 1
            counts(p["launches"][1], LD_SHARED)[N["wavefronts"]] += 100
        code, _, err = gate(variant(change), "bank_conflicts > 0")
        self.assertEqual(code, 100)
        self.assertIn(f"{EXTRA + 100:,} ", err)
        self.assertIn("worst of 2 launches, number 1", err)

    def test_what_cannot_be_judged_is_no_pass(self):
        for condition, code, says in (("nonsense > 0", 1, "no metric is named"), ("bank_conflict > 0", 1, "no metric"),
                                      ("bank_conflicts", 1, "METRIC OP VALUE"), ("bank_conflicts > x", 1, "no number"),
                                      ("bank_conflicts => 1", 1, ""), ("kernel:none:bank_conflicts > 0", 2, "kernel named none"),
                                      ("other.cu:3:bank_conflicts > 0", 2, "line of other.cu"),
                                      ("x:bank_conflicts > 0", 1, "no place"), ("transpose.cu:12:occupancy < 5", 2, "line")):
            got, out, err = gate(TRANSPOSE, condition)
            self.assertEqual((got, out), (code, ""), (condition, err))
            self.assertIn(says, err)
        unknown = variant(lambda p, l: l.update(device="a card of tomorrow"))
        self.assertEqual(gate(unknown, "occupancy < 50")[0], 2)
        nothing = variant(lambda p, l: l.pop("counts"))
        self.assertEqual(gate(nothing, "bank_conflicts > 0")[0], 2)

    def test_baseline_and_its_tolerance(self):
        old = save(TRANSPOSE, "old.wgprof")
        def against(new, *more):
            return run("report", "--log-file", "/dev/null", save(new), "--baseline", old, *more)
        self.assertEqual(against(TRANSPOSE), (0, "", ""))
        worse = scaled(LD_GLOBAL, "sectors", 1.5)  # 8 sectors a warp of the grid's loads and stores become 10
        code, _, err = against(worse)
        self.assertEqual(code, 100)
        self.assertIn(f"{REQUESTS * 8:,} -> {REQUESTS * 10:,}, +25 % worse", err)
        self.assertIn("transpose.cu:8: ", err)
        self.assertRegex(err, r"uncoalesced|above the ideal .* 0 -> " + f"{REQUESTS * 2:,}" + ", from 0 worse")
        little = scaled(LD_SHARED, "wavefronts", 1.015)
        self.assertEqual(against(little)[0], 0)
        self.assertEqual(against(little, "--tolerance", "1%")[0], 100)
        self.assertEqual(against(scaled(LD_SHARED, "wavefronts", 0.5))[0], 0)  # better
        code, _, err = against(variant(lambda p, l: l.update(findings=[finding()])))
        self.assertEqual((code, "race in shared memory" in err), (100, True))
        code, _, err = against(variant(lambda p, l: l.update(mangled="other", kernel="other")))
        self.assertEqual((code, "nothing was compared" in err), (2, True))
        self.assertEqual(run("report", save(TRANSPOSE), "--baseline", "none.wgprof")[0], 2)
        self.assertEqual(run("report", save(TRANSPOSE), "--tolerance", "x")[0], 1)


def moved():
    """The same kernel, three lines further down, one line changed, and the padding that removes the conflicts."""
    def change(p, l):
        s = p["sources"][0]
        lines = s["text"].split("\n")
        lines[11] = lines[11].replace("t[threadIdx.x][threadIdx.y", "t [threadIdx.x][threadIdx.y")
        s["text"] = "\n".join(["// one", "// two", "// three"] + lines)
        for site in p["code"][0]:
            site["at"][1] += 3
        counts(l, LD_SHARED)[N["wavefronts"]] = REQUESTS
    return variant(change)


class Diff(unittest.TestCase):
    def test_lines_that_moved(self):
        old, new = save(TRANSPOSE, "a.wgprof"), save(moved(), "b.wgprof")
        code, out, err = run("diff", old, new)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, rf"shared-memory wavefronts above the ideal +{EXTRA:,} +-> +0 +-100 % +better +exact")
        self.assertIn("transpose.cu:15 (was 12)   o[", out)
        self.assertNotIn("transpose.cu:11", out)  # nothing else changed
        self.assertNotIn("(new)", out)
        self.assertNotIn("(gone)", out)
        code, out, err = run("diff", "--format=markdown", old, new)
        self.assertEqual(code, 0)
        self.assertIn("(was 12)", out)
        self.assertIn(f"| {EXTRA:,} | 0 | -100 %, better | exact |", out)
        self.assertEqual(run("diff", new, old)[1].count("worse"), 4)  # wavefronts and conflicts, of kernel and line

    def test_equal_profiles_and_other_kernels(self):
        old = save(TRANSPOSE, "a.wgprof")
        self.assertEqual(run("diff", old, old), (0, "\n1 kernel is the same\n", ""))
        other = save(variant(lambda p, l: l.update(mangled="other", kernel="other(int)")), "b.wgprof")
        out = run("diff", old, other)[1]
        self.assertRegex(out, r"other\(int\).*only after")
        self.assertRegex(out, r"transpose\(.*only before")
        reshaped = save(variant(lambda p, l: l.update(grid=[32, 64, 1])), "b.wgprof")
        self.assertIn("was <<<(64,64), (32,8)>>>", run("diff", "-v", old, reshaped)[1])
        self.assertEqual(run("diff", old)[0], 1)
        self.assertEqual(run("diff", old, "none.wgprof")[0], 2)
        self.assertEqual(run("diff", old, old, "--format=x")[0], 1)


def hostile():
    def change(p, l):
        p["program"] = p["tool_version"] = HOSTILE
        p["sources"][0]["path"] = "/tmp/" + HOSTILE + "/a.cu"
        p["sources"][0]["text"] = (HOSTILE + "\n") * 20
        l.update(kernel=HOSTILE + "(int)", mangled=HOSTILE, module=HOSTILE, compiler=HOSTILE, device=HOSTILE, status_text=HOSTILE,
                 findings=[finding(message=HOSTILE + "\n" + HOSTILE, id=HOSTILE)])
        p["host_findings"] = [finding(message=HOSTILE)]
        for site in p["code"][0]:
            site["text"] = site["opcode"] = HOSTILE
    return variant(change)


def written(profile, *formats):
    words = [w for f in formats for w in ("--write", f"{f}=out.{f}")]
    code, out, err = run("report", "--log-file", "/dev/null", save(profile), *words, "--fail-if", "bank_conflicts > 0")
    assert code == 100, err
    texts = {}
    for name in formats:
        with open(os.path.join(DIR, "out." + name)) as f:
            texts[name] = f.read()
    return texts


class Formats(unittest.TestCase):
    ALL = ["sarif", "gitlab", "junit", "github", "markdown", "text"]

    def test_sarif(self):
        for p in (variant(lambda p, l: l.update(findings=[finding()])), hostile()):
            s = json.loads(written(p, "sarif")["sarif"])
            self.assertEqual(s["version"], "2.1.0")
            (r,) = s["runs"]
            rules = r["tool"]["driver"]["rules"]
            self.assertEqual(len({x["id"] for x in rules}), len(rules))
            self.assertTrue(r["results"])
            for x in r["results"]:
                self.assertEqual(rules[x["ruleIndex"]]["id"], x["ruleId"])
                self.assertIn(x["level"], ("error", "warning", "note"))
                self.assertTrue(x["message"]["text"])
                for place in x["locations"]:
                    if "physicalLocation" in place:
                        self.assertGreaterEqual(place["physicalLocation"]["region"]["startLine"], 1)
                        self.assertRegex(place["physicalLocation"]["artifactLocation"]["uri"], r"^(file://)?[A-Za-z0-9._~/%-]+$")
            schema = os.environ.get("SARIF_SCHEMA")
            if not schema:
                print("skipped: SARIF against its schema; set SARIF_SCHEMA to a copy of sarif-schema-2.1.0.json")
                continue
            import jsonschema
            with open(schema) as f:
                jsonschema.validate(s, json.load(f))
        s = json.loads(written(variant(lambda p, l: l.update(findings=[finding()])), "sarif")["sarif"])
        race = next(x for x in s["runs"][0]["results"] if x["ruleId"] == "race-shared")
        self.assertEqual(race["locations"][0]["physicalLocation"]["region"]["startLine"], 12)
        self.assertEqual(race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 8)

    def test_fingerprints_survive_moved_lines(self):
        def prints(p):
            counts(p["launches"][0], LD_SHARED)[N["wavefronts"]] = REQUESTS * 32
            p = copy.deepcopy(p)
            p["launches"][0].pop("total")
            return {x["check_name"]: x["fingerprint"] for x in json.loads(written(p, "gitlab")["gitlab"])}
        self.assertEqual(prints(copy.deepcopy(TRANSPOSE)), prints(moved()))

    def test_gitlab(self):
        for p in (TRANSPOSE, hostile()):
            for x in json.loads(written(p, "gitlab")["gitlab"]):
                self.assertEqual(set(x), {"description", "check_name", "fingerprint", "severity", "location"})
                self.assertIn(x["severity"], ("info", "minor", "major", "critical", "blocker"))
                self.assertGreaterEqual(x["location"]["lines"]["begin"], 1)

    def test_junit(self):
        for p in (variant(lambda p, l: l.update(findings=[finding()])), hostile()):
            t = ET.fromstring(written(p, "junit")["junit"])
            cases = t.findall("testsuite/testcase")
            self.assertEqual(int(t.get("tests")), len(cases))
            self.assertEqual(int(t.get("failures")), len(t.findall("testsuite/testcase/failure")))
            self.assertIn("bank_conflicts > 0", [c.get("name") for c in cases])
        self.assertEqual(int(t.get("failures")), 3)  # the kernel's finding, the program's, the gate

    def test_github(self):
        for p in (variant(lambda p, l: l.update(findings=[finding()])), hostile()):
            lines = written(p, "github")["github"].rstrip("\n").split("\n")
            for line in lines:
                self.assertRegex(line, r"^::(error|warning|notice) (file=[^,:]+,line=\d+,)?title=[^,:]*::[^\r\n]+$")
        self.assertEqual(len(lines), 4)

    def test_markdown(self):
        m = written(TRANSPOSE, "markdown")["markdown"]
        self.assertIn("1 gate failure, 0 errors, 0 warnings", m)
        self.assertIn(f" {EXTRA:,} |", m)
        m = written(hostile(), "markdown")["markdown"]
        tables = [l for l in m.split("\n") if l.startswith("|")]
        heads = iter(tables)
        for row in re.split(r"\n\n", m):
            rows = [l for l in row.split("\n") if l.startswith("|")]
            self.assertLessEqual(len({l.count("|") for l in rows}), 1, row)

    def test_hostile_text_stays_text(self):
        for name, text in written(hostile(), *self.ALL).items():
            self.assertNotIn("\x1b", text, name)
            self.assertNotIn("\u202e", text, name)
            if name in ("junit", "markdown"):
                self.assertNotIn("<b>", text)
                self.assertNotIn("</script>", text)
            if name == "markdown":
                self.assertNotIn("`", text.replace("`warpgrind report`", ""))
                self.assertNotIn("$(", text)
        a, b = save(hostile(), "a.wgprof"), save(TRANSPOSE, "b.wgprof")
        for words in (["diff", a, b], ["diff", "--format=markdown", a, b], ["diff", b, a], ["report", a], ["findings", a],
                      ["findings", "--csv", a], ["roofline", a]):
            code, out, err = run(*words)
            self.assertEqual(code, 0, (words, err))
            for text in (out, err):
                self.assertNotIn("\x1b", text, words)
                self.assertNotIn("\u202e", text, words)
        code, out, err = gate(hostile(), "bank_conflicts > 0")
        self.assertEqual((code, "\x1b" in err, "\u202e" in err), (100, False, False))

    def test_paths_are_relative_to_where_it_runs(self):
        p = variant(lambda p, l: p["sources"][0].update(path=os.path.join(os.path.realpath(DIR), "src/a b.cu")))
        self.assertIn('"uri": "src/a%20b.cu"', written(p, "sarif")["sarif"])
        self.assertIn("file=src/a b.cu,line=12,", written(p, "github")["github"])

    def test_summary_is_added_to(self):
        page = os.path.join(DIR, "page.md")
        with open(page, "w") as f:
            f.write("before\n")
        run("report", save(TRANSPOSE), "--write", "markdown=" + page, env={"GITHUB_STEP_SUMMARY": page})
        with open(page) as f:
            self.assertRegex(f.read(), r"^before\n## warpgrind")

    def test_refusals(self):
        self.assertEqual(run("report", save(TRANSPOSE), "--write", "pdf=x")[0], 1)
        self.assertEqual(run("report", save(TRANSPOSE), "--write", "sarif")[0], 1)
        self.assertEqual(run("report", save(TRANSPOSE), "--write", "sarif=/nonexistent/x")[0], 4)


unittest.main(argv=sys.argv[:1])
