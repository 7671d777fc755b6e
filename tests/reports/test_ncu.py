"""Pages in Nsight Compute's form: header rows, columns and units as ncu documents them, numbers as the profile holds them,
guided rules at the profiler's thresholds."""
import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPGRIND, DATA = map(os.path.abspath, sys.argv[1:3])
DIR = tempfile.mkdtemp()
with open(os.path.join(DATA, "transpose.wgprof")) as f:
    TRANSPOSE = json.load(f)
N = {name: i + 1 for i, name in enumerate(TRANSPOSE["counters"])}  # column in a row of counts
SITES = TRANSPOSE["code"][0]
LD_GLOBAL, ST_SHARED, LD_SHARED, ST_GLOBAL = 1, 2, 4, 5
# What every launch's row begins with, and what the details page adds (facts documented for ncu's CSV).
LAUNCH = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
          "Device", "CC"]
METRIC = ["Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULE = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def save(profile, name="p.wgprof"):
    path = os.path.join(DIR, name)
    with open(path, "w") as f:
        json.dump(profile, f)
    return path


def run(*words):
    r = subprocess.run([WARPGRIND, *words], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr


def show(profile, *options):
    code, out, err = run("-i", save(profile), *options)
    assert (code, err) == (0, ""), (code, err)
    return out


def table(profile, *options):
    return list(csv.reader(io.StringIO(show(profile, "--csv", *options)), strict=True))


def raw(profile, *options):
    """One dict a launch, keyed by metric, and the units."""
    rows = table(profile, "--page", "raw", "--print-units", "base", *options)
    return [dict(zip(rows[0], r)) for r in rows[2:]], dict(zip(rows[0], rows[1]))


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


def count(launch, site, name, value=None):
    r = next(r for r in launch["counts"] if r[0] == site)
    r += [0] * (len(N) + 1 - len(r))
    if value is not None:
        r[N[name]] = value
    return r[N[name]]


def summed(launch, name, *sites):
    return sum(count(launch, s, name) for s in sites or range(len(launch["counts"])))


def three(p, l):
    p["launches"] = [copy.deepcopy(l) for _ in range(3)]
    for i, (x, name) in enumerate(zip(p["launches"], ["void ns::saxpy<int>(float*, int)", "scale(float*)", "saxpy_b(int)"])):
        x.update(index=i, kernel=name, mangled=f"_Zk{i}", grid=[i + 1, 2, 3])


class Raw(unittest.TestCase):
    def test_a_row_a_launch_in_order_under_names_and_units(self):
        rows = table(variant(three), "--page", "raw", "--metrics", "launch__grid_size,smsp__inst_executed.sum")
        self.assertEqual(rows[0], LAUNCH + ["launch__grid_size", "smsp__inst_executed.sum"])
        self.assertEqual(rows[1], [""] * len(LAUNCH) + ["", "inst"])
        self.assertEqual([r[0] for r in rows[2:]], ["0", "1", "2"])
        self.assertEqual([r[LAUNCH.index("Grid Size")] for r in rows[2:]], ["(1, 2, 3)", "(2, 2, 3)", "(3, 2, 3)"])
        self.assertEqual([r[len(LAUNCH)] for r in rows[2:]], ["6", "12", "18"])
        self.assertEqual(rows[2][LAUNCH.index("Block Size")], "(32, 8, 1)")
        self.assertEqual(rows[2][LAUNCH.index("Kernel Name")], "void ns::saxpy<int>(float*, int)")
        self.assertEqual((rows[2][3], rows[2][10]), ("127.0.0.1", "9.0"))

    def test_numbers_are_the_profiles(self):
        (row,), unit = raw(TRANSPOSE)
        l = copy.deepcopy(TRANSPOSE["launches"][0])
        want = {
            "smsp__inst_executed.sum": summed(l, "inst_executed"),
            "smsp__thread_inst_executed.sum": summed(l, "thread_inst_executed"),
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": count(l, LD_GLOBAL, "access_inst"),
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": count(l, LD_GLOBAL, "sectors"),
            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": count(l, ST_GLOBAL, "sectors"),
            "memory_l1_tag_requests_global": summed(l, "tag_requests"),
            "memory_l1_wavefronts_shared": summed(l, "wavefronts"),
            "memory_l1_wavefronts_shared_ideal": summed(l, "wavefronts_ideal"),
            "derived__memory_l1_wavefronts_shared_excessive": summed(l, "wavefronts") - summed(l, "wavefronts_ideal"),
            "smsp__inst_executed_op_shared_ld.sum": count(l, LD_SHARED, "inst_executed"),
            "smsp__inst_executed_op_branch.sum": summed(l, "branch_uniform"),
            "launch__registers_per_thread": 28,
            "launch__registers_per_thread_allocated": 32,  # a warp's come in units of 256, 8 a thread
            "launch__shared_mem_per_block": 4096 + 1024,
            "launch__sm_count": 132,
            "launch__occupancy_limit_registers": 65536 // (32 * 256),
            "launch__occupancy_limit_warps": 64 // 8,
            "launch__occupancy_limit_blocks": 32,
            "sm__maximum_warps_per_active_cycle_pct": 100,
            "launch__block_dim_x": 32, "launch__grid_dim_y": 64, "launch__cluster_size": 0,
        }
        self.assertEqual({k: row[k] for k in want}, {k: str(v) for k, v in want.items()})
        self.assertEqual(row["launch__waves_per_multiprocessor"], f"{4096 / (8 * 132):.2f}")
        for name, u in {"launch__registers_per_thread": "register/thread", "launch__shared_mem_config_size": "byte",
                        "launch__shared_mem_per_block_static": "byte/block", "gpu__time_duration.sum": "ns",
                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sector", "launch__sm_count": "SM",
                        "smsp__inst_executed.sum": "inst", "sm__maximum_warps_per_active_cycle_pct": "%"}.items():
            self.assertEqual(unit[name], u, name)

    def test_units_scale_unless_base(self):
        rows = table(TRANSPOSE, "--page", "raw", "--metrics", "launch__shared_mem_per_block_static,launch__block_size")
        self.assertEqual(rows[1][-2:], ["Kbyte/block", ""])
        self.assertEqual(rows[2][-2:], ["4.10", "256"])
        (row,), unit = raw(TRANSPOSE, "--metrics", "launch__shared_mem_per_block_static")
        self.assertEqual((row["launch__shared_mem_per_block_static"], unit["launch__shared_mem_per_block_static"]),
                         ("4096", "byte/block"))

    def test_a_known_metric_without_a_value_is_na_and_query_says_why(self):
        names = ["gpu__time_duration.sum", "smsp__inst_executed.max", "smsp__inst_executed.sum.per_second",
                 "sm__warps_active.avg.pct_of_peak_sustained_active"]
        (row,), _ = raw(TRANSPOSE, "--metrics", ",".join(names))
        why = run("--query-metrics", "--csv", "--metrics", ",".join(names))[1]
        told = {r["Metric Name"]: r for r in csv.DictReader(io.StringIO(why))}
        for name in names:
            self.assertEqual(row[name], "n/a")
            if told[name]["Fidelity"] != "n/a":  # only with --model, which this profile was made without
                self.assertEqual(told[name]["Fidelity"], "estimated")
                continue
            self.assertRegex(told[name]["Metric Description"], "needs")
        self.assertEqual(row["smsp__inst_executed.max"], "n/a")

    def test_averages_are_over_all_units(self):
        l = copy.deepcopy(TRANSPOSE["launches"][0])
        (row,), _ = raw(TRANSPOSE, "--metrics", "smsp__inst_executed,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.avg")
        self.assertEqual(list(row)[len(LAUNCH):], ["smsp__inst_executed.avg", "smsp__inst_executed.max", "smsp__inst_executed.min",
                                                   "smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.avg"])
        self.assertEqual(row["smsp__inst_executed.avg"], f"{summed(l, 'inst_executed') / (132 * 4):.2f}")
        self.assertEqual(row["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.avg"], f"{count(l, LD_GLOBAL, 'sectors') / 132:.2f}")

    def test_expressions_and_groups(self):
        def columns(word):
            return table(TRANSPOSE, "--page", "raw", "--metrics", word)[0][len(LAUNCH):]
        shared = columns("group:memory__shared_table")
        self.assertIn("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", shared)
        found = columns("regex:^launch__occupancy_limit_")
        self.assertEqual({n[len("launch__occupancy_limit_"):] for n in found}, {"blocks", "registers", "shared_mem", "warps", "barriers"})
        self.assertEqual(columns(r"regex:^launch__block_dim_[xy]{1,1}$,launch__grid_size"),
                         ["launch__block_dim_x", "launch__block_dim_y", "launch__grid_size"])
        self.assertEqual(columns(r"regex:^smsp__inst_executed\.avg$"), ["smsp__inst_executed.avg"])
        self.assertEqual(columns("launch__grid_size,launch__grid_size"), ["launch__grid_size"])

    def test_registers_that_nobody_knows_make_no_occupancy(self):
        def without(p, l):
            del l["registers"]
        (row,), _ = raw(variant(without))
        for name in ("launch__registers_per_thread", "launch__occupancy_limit_registers", "sm__maximum_warps_per_active_cycle_pct"):
            self.assertEqual(row[name], "n/a")
        self.assertEqual(row["launch__occupancy_limit_warps"], "8")

    def test_what_was_not_counted_is_no_zero(self):
        def old(p, l):  # a file from before the counter was there
            p["counters"][N["sectors"] - 1] = "something else"
        p = variant(old)
        del p["launches"][0]["total"]["sectors"]
        (row,), _ = raw(p)
        self.assertEqual(row["memory_l2_theoretical_sectors_global"], "n/a")
        self.assertEqual(row["memory_l1_wavefronts_shared"], "4325376")

        def off(p, l):  # --no-counters
            for key in ("code", "counts"):
                l.pop(key)
        (row,), _ = raw(variant(off))
        self.assertEqual((row["smsp__inst_executed.sum"], row["launch__grid_size"]), ("n/a", "4096"))

    def test_text_says_how_far_to_trust(self):
        t = show(TRANSPOSE, "--page", "raw", "--metrics", "smsp__inst_executed.sum,memory_l1_wavefronts_shared")
        self.assertRegex(t, r"smsp__inst_executed\.sum +inst +753,664 estimated\n")
        self.assertRegex(t, r"memory_l1_wavefronts_shared +sectors +4,325,376 exact\n")
        t = show(variant(lambda p, l: l.update(merged_sites=3)), "--page", "raw", "--metrics", "memory_l1_wavefronts_shared")
        self.assertRegex(t, "4,325,376 modelled\n")

    def test_hostile_names_stay_in_their_cell(self):
        def evil(p, l):
            l["kernel"] = 'k"a",\n\x1b[31m(int)'
            p["program"] = '/tmp/a"b.cu x'
        rows = table(variant(evil), "--page", "raw", "--metrics", "launch__grid_size")
        self.assertEqual([len(r) for r in rows], [len(LAUNCH) + 1] * 3)
        self.assertEqual(rows[2][2], 'a"b.cu')
        self.assertTrue(rows[2][4].startswith('k"a",'))
        self.assertNotIn("\x1b", rows[2][4])


class Details(unittest.TestCase):
    def test_by_name_only(self):
        rows = table(TRANSPOSE, "--metrics", "launch__grid_size,gpu__time_duration.sum")
        self.assertEqual(rows[0], LAUNCH + METRIC)
        self.assertEqual(rows[1][len(LAUNCH):], ["Command line profiler metrics", "launch__grid_size", "", "4096"])

    def test_sections(self):
        rows = table(TRANSPOSE, "--section", "LaunchStats", "--section", "regex:^Occup")
        self.assertEqual(rows[0], LAUNCH + METRIC + RULE)
        self.assertEqual({len(r) for r in rows}, {len(LAUNCH + METRIC + RULE)})
        got = {(r["Section Name"], r["Metric Name"]): (r["Metric Unit"], r["Metric Value"])
               for r in (dict(zip(rows[0], r)) for r in rows[1:]) if r["Metric Name"]}
        self.assertEqual(got["Launch Statistics", "Registers Per Thread"], ("register/thread", "28"))
        self.assertEqual(got["Launch Statistics", "Static Shared Memory Per Block"], ("Kbyte/block", "4.10"))
        self.assertEqual(got["Launch Statistics", "# SMs"], ("SM", "132"))
        self.assertEqual(got["Occupancy", "Block Limit Registers"], ("block", "8"))
        self.assertEqual(got["Occupancy", "Theoretical Occupancy"], ("%", "100"))

    def test_default_is_the_basic_set(self):
        sections = {r[len(LAUNCH)] for r in table(TRANSPOSE)[1:]}
        self.assertLessEqual({"GPU Speed Of Light Throughput", "Launch Statistics", "Occupancy",
                              "GPU and Memory Workload Distribution"}, sections)
        self.assertNotIn("Source Counters", sections)
        self.assertIn("Source Counters", {r[len(LAUNCH)] for r in table(TRANSPOSE, "--set", "full")[1:]})

    def test_names_of_metrics(self):
        def names(how):
            return [r[len(LAUNCH) + 1] for r in table(TRANSPOSE, "--section", "LaunchStats", "--print-metric-name", how)[1:]]
        self.assertIn("Grid Size", names("label"))
        self.assertIn("launch__grid_size", names("name"))
        self.assertIn("Grid Size launch__grid_size", names("label-name"))

    def test_text(self):
        t = show(TRANSPOSE, "--section", "Occupancy").split("\n")
        self.assertEqual(t[1], "  transpose(float*, float const*, int) (64, 64, 1)x(32, 8, 1), Context 1, Stream 7, Device 0, CC 9.0")
        self.assertEqual(t[2], "    Section: Occupancy")
        self.assertRegex(t[3], r"^    -+ -+ -+ -+$")
        self.assertEqual(t[4].split("  ")[2].strip(), "Metric Name")
        self.assertIn("Metric Unit Metric Value", t[4])
        self.assertRegex("\n".join(t), r"\n    Theoretical Occupancy +% +100 exact\n")

    def test_names_of_kernels(self):
        def name(how):
            return table(variant(three), "--metrics", "launch__grid_size", "--print-kernel-base", how)[1][4]
        self.assertEqual(name("function"), "saxpy")
        self.assertEqual(name("mangled"), "_Zk0")
        self.assertEqual(name("demangled"), "void ns::saxpy<int>(float*, int)")


class Source(unittest.TestCase):
    def test_a_row_a_launch_and_line(self):
        rows = table(variant(three), "--page", "source")
        head = rows[0]
        self.assertEqual(head[:2], ["File", "Line"])
        for name in ("inst_executed", "thread_inst_executed", "thread_inst_executed_true", "derived__avg_thread_executed",
                     "smsp__branch_targets_threads_divergent", "memory_type", "memory_access_type", "memory_access_size_type",
                     "memory_l1_tag_requests_global", "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
                     "derived__memory_l1_wavefronts_shared_excessive", "derived__memory_l1_conflicts_shared_nway",
                     "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
                     "derived__memory_l2_theoretical_sectors_global_excessive", "memory_l2_theoretical_sectors_local"):
            self.assertEqual(head.count(name), 1, name)
        lines = sorted({s["at"][1] for s in SITES if s["opcode"] != "trap"} | {s["at"][1] for s in SITES})
        self.assertEqual([(r[2], r[1]) for r in rows[1:]], [(str(i), str(n)) for i in range(3) for n in lines])

    def test_lines_sum_up_to_the_launch(self):
        l = copy.deepcopy(TRANSPOSE["launches"][0])
        rows = table(TRANSPOSE, "--page", "source")
        by_line = {int(r[1]): dict(zip(rows[0], r)) for r in rows[1:]}
        for column, counter in {"inst_executed": "inst_executed", "memory_l1_wavefronts_shared": "wavefronts",
                                "memory_l2_theoretical_sectors_global": "sectors", "memory_l1_tag_requests_global": "tag_requests"}.items():
            for line, row in by_line.items():
                own = [r[0] for r in l["counts"] if SITES[r[0]]["at"][1] == line]
                self.assertEqual(int(row[column]), summed(l, counter, *own) if own else 0, (column, line))
        self.assertEqual(by_line[12]["memory_type"], "Global,Shared")
        self.assertEqual(by_line[12]["memory_access_type"], "Load,Store")
        self.assertEqual(by_line[12]["memory_access_size_type"], "32(2)")
        self.assertEqual(by_line[12]["derived__memory_l1_conflicts_shared_nway"], "32")
        self.assertEqual(by_line[9]["memory_type"], "-")

    def test_chosen_columns_and_labels(self):
        rows = table(TRANSPOSE, "--page", "source", "--metrics", "inst_executed,smsp__pcsamp_sample_count,launch__grid_size")
        self.assertEqual(rows[0][5:], ["inst_executed", "smsp__pcsamp_sample_count", "launch__grid_size"])
        self.assertEqual(rows[1][6:], ["n/a", "n/a"])  # no line has a grid
        head = table(TRANSPOSE, "--page", "source", "--print-metric-name", "label")[0]
        self.assertIn("L2 Theoretical Sectors Global", head)
        self.assertIn("Address Space", head)

    def test_text(self):
        t = show(TRANSPOSE, "--page", "source")
        self.assertRegex(t, r"\n +12 .* 4,325,376 .*262,144 .*|\n +12 .*4,194,304")
        self.assertNotIn("Divergent", t)  # a column of zeros is left out

    def test_code_without_lines(self):
        def bare(p, l):
            for s in p["code"][0]:
                del s["at"]
        rows = table(variant(bare), "--page", "source")
        self.assertEqual((rows[1][0], rows[1][1]), ("transpose.cu", str(SITES[0]["ptx_line"])))
        self.assertEqual(rows[1][4], SITES[0]["text"])


class Launches(unittest.TestCase):
    def ids(self, *options):
        rows = table(variant(three), "--metrics", "launch__grid_size", *options)
        return "".join(r[0] for r in rows[1:])

    def test_selection(self):
        self.assertEqual(self.ids("-k", "saxpy"), "0")  # the function's whole name
        self.assertEqual(self.ids("-k", "regex:saxpy"), "02")
        self.assertEqual(self.ids("-k", "regex:^saxpy$"), "0")
        self.assertEqual(self.ids("--kernel-name", "_Zk1", "--kernel-name-base", "mangled"), "1")
        self.assertEqual(self.ids("--kernel-name", r"regex:<int>|\d\(", "--kernel-name-base", "demangled"), "0")
        self.assertEqual(self.ids("-k", "regex:saxpy", "-s", "1"), "2")  # only those that match are skipped
        self.assertEqual(self.ids("-k", "regex:saxpy", "--launch-skip-before-match", "1"), "2")
        self.assertEqual(self.ids("-c", "2"), "01")
        self.assertEqual(self.ids("-s", "1", "-c", "1"), "1")

    def test_nothing_selected_names_the_kernels(self):
        code, out, err = run("-i", save(variant(three)), "-k", "saxp", "--csv")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("none of the 3 launches is selected; there are kernels saxpy", err)


class Rules(unittest.TestCase):
    def said(self, change, rule, *options):
        rows = table(variant(change), "--set", "full", *options)
        return [dict(zip(rows[0], r)) for r in rows[1:] if r[rows[0].index("Rule Name")] == rule]

    def shape(self, grid, block, registers=28, shared=4096):
        def change(p, l):
            l.update(grid=[grid, 1, 1], block=[block, 1, 1], registers=registers, static_shared=shared)
        return change

    def test_uncoalesced(self):
        for rule, site, counter, unit in (("UncoalescedGlobalAccess", LD_GLOBAL, "sectors", "sectors"),
                                          ("UncoalescedSharedAccess", ST_SHARED, "wavefronts", "wavefronts")):
            def ideal(p, l):
                count(l, LD_SHARED, "wavefronts", count(l, LD_SHARED, "wavefronts_ideal"))
            self.assertEqual(self.said(ideal, rule), [])

            def one_more(p, l):
                ideal(p, l)
                count(l, site, counter, count(l, site, counter) + 1)
            (r,) = self.said(one_more, rule)
            self.assertEqual((r["Section Name"], r["Rule Type"], r["Estimated Speedup"]), ("SourceCounters", "OPT", ""))
            self.assertTrue(r["Rule Description"].startswith("1 of the "), r)
            self.assertIn("transpose.cu:8", r["Rule Description"])

    def test_bank_conflicts_from_a_tenth(self):
        def share(extra):
            def change(p, l):
                for site in (LD_SHARED, ST_SHARED):
                    ideal = count(l, site, "wavefronts_ideal", 9000)
                    count(l, site, "access_inst", 9000)
                    count(l, site, "wavefronts", ideal + (extra if site == LD_SHARED else 0))
            return change
        self.assertEqual(self.said(share(999), "SharedMemoryConflicts"), [])  # 9.99 %
        (r,) = self.said(share(1000), "SharedMemoryConflicts")
        self.assertIn("1.1-way", r["Rule Description"])
        self.assertEqual(r["Estimated Speedup"], "10")

    def test_divergence_below_24_lanes(self):
        def lanes(n):
            def change(p, l):
                for r in l["counts"]:
                    r[N["thread_inst_executed_true"]] = r[N["inst_executed"]] * n
            return change
        self.assertEqual(self.said(lanes(24), "ThreadDivergence"), [])
        (r,) = self.said(lanes(16), "ThreadDivergence")
        self.assertEqual((r["Estimated Speedup Type"], r["Estimated Speedup"]), ("local", "50"))

    def test_theoretical_occupancy_below_80_names_every_limit(self):
        rule = "TheoreticalOccupancy"
        self.assertEqual(self.said(self.shape(4096, 256, 32, 0), rule), [])      # 8 blocks: 100 %
        (r,) = self.said(self.shape(4096, 256, 40, 0), rule)                     # 6 blocks: 48 of 64 warps
        self.assertEqual(r["Estimated Speedup"], "25")
        self.assertIn("48 of the 64 warps", r["Rule Description"])
        self.assertIn("the limit is the registers each thread takes.", r["Rule Description"])
        (r,) = self.said(self.shape(4096, 768, 40, 0), rule)                     # 2 blocks by registers and by warps: 75 %
        self.assertIn("the registers each thread takes and the number of warps in each block", r["Rule Description"])

    def test_block_size(self):
        wave = 132 * 16  # four warps a block, 28 registers
        self.assertEqual(self.said(self.shape(wave, 128), "LaunchConfiguration"), [])
        (r,) = self.said(self.shape(wave, 100), "LaunchConfiguration")  # 4 warps, 4 lanes in the last: 1/4 of 28/32
        self.assertEqual(r["Estimated Speedup"], "21.88")
        self.assertIn("28 lanes", r["Rule Description"])

    def test_small_grid(self):
        rule = "LaunchConfiguration"
        (r,) = self.said(self.shape(33, 128), rule)
        self.assertEqual((r["Rule Type"], r["Estimated Speedup"]), ("OPT", "75"))
        (r,) = self.said(self.shape(132, 128), rule)
        self.assertEqual((r["Rule Type"], r["Estimated Speedup"]), ("INF", ""))
        self.assertEqual(self.said(self.shape(264, 128), rule), [])

    def test_tail(self):
        rule = "LaunchConfiguration"
        wave = 132 * 8  # 256 threads, 28 registers: 8 blocks an SM
        self.assertEqual(self.said(self.shape(wave, 256), rule), [])       # no partial wave
        self.assertEqual(self.said(self.shape(wave - 1, 256), rule), [])   # no full one
        (r,) = self.said(self.shape(wave + 5, 256), rule)
        self.assertEqual((r["Estimated Speedup Type"], r["Estimated Speedup"]), ("global", "50"))
        self.assertIn("5 blocks", r["Rule Description"])
        (r,) = self.said(self.shape(4 * wave + 1, 256), rule)              # 1/5 is just enough
        self.assertEqual(r["Estimated Speedup"], "20")
        self.assertEqual(self.said(self.shape(5 * wave + 1, 256), rule), [])

    def test_floating_point(self):
        def ops(*codes):
            def change(p, l):
                for site, code in enumerate(codes):
                    p["code"][0][site * 7]["opcode"] = code  # sites 0 and 7 count equally often
            return change
        self.assertEqual(self.said(ops("fma.rn.f32"), "FPInstructions"), [])
        (r,) = self.said(ops("add.f32"), "FPInstructions")
        self.assertEqual(r["Estimated Speedup"], "50")
        (r,) = self.said(ops("add.f32", "fma.rn.f32"), "FPInstructions")
        self.assertEqual(r["Estimated Speedup"], "25")

    def test_text_form(self):
        t = show(variant(self.shape(33, 128)), "--section", "LaunchStats")
        self.assertRegex(t, r"\n    OPT   Est\. Speedup: 75% \(exact\)\n          A grid of 33 blocks leaves 99 of the 132 SMs")

    def test_the_report_says_it_too(self):
        path = save(variant(self.shape(132 * 8 + 5, 256)))
        self.assertRegex(run("report", path)[1], r"\n  tail effect +The grid fills the device 1 time ")


class Devices(unittest.TestCase):
    def test_a_profile_brings_its_own_device(self):
        def own(p, l):
            p["device_file"] = "base = H200\nname = my card\nsms = 10\nwarps_per_sm = 16\n"
            l["device"] = "my card"
        (row,), _ = raw(variant(own))
        self.assertEqual((row["launch__sm_count"], row["launch__occupancy_limit_warps"], row["CC"]), ("10", "2", "9.0"))
        (row,), _ = raw(variant(lambda p, l: l.update(device="a card nobody described")))
        self.assertEqual((row["launch__sm_count"], row["launch__grid_size"], row["CC"]), ("n/a", "4096", ""))


class Refused(unittest.TestCase):
    def refused(self, says, *words):
        code, out, err = run(*words)
        self.assertEqual((code, out), (1, ""), words)
        self.assertTrue(err.startswith("warpgrind: ") and err.count("\n") == 1, err)
        self.assertIn(says, err)

    def test_wrong_names_before_anything_runs(self):
        path = save(TRANSPOSE)
        touch = os.path.join(DIR, "touched")
        script = os.path.join(DIR, "prog")
        with open(script, "w") as f:
            f.write(f"#!/bin/sh\ntouch {touch}\n")
        os.chmod(script, 0o755)
        for words in (["-i", path], ["report", path], [script], ["run", "no.ptx"]):
            def both(says, *options):
                self.refused(says, *(options + tuple(words) if words == [script] else tuple(words) + options))
            both("did you mean smsp__inst_executed.sum", "--metrics", "smsp__inst_executd.sum")
            both("unknown metric", "--metrics", "zzzzzzzzzzzzzz")
            both("did you mean Occupancy", "--section", "Ocupancy")
            both("did you mean full", "--set", "ful")
            both("no metric's name matches", "--metrics", "regex:^$")
            both("did you mean memory__shared_table", "--metrics", "group:memory__shard_table")
            both("no regular expression", "--metrics", "regex:(")
            both("no regular expression", "--kernel-name", "regex:*[")
            both("details, raw or source", "--page", "detail")
            both("auto or base", "--print-units", "si")
            both("function, demangled or mangled", "--kernel-name-base", "x", "-k", "y")
        self.refused("did you mean H200", "--device", "H2000", script)
        self.refused("--import shows a saved profile", "-i", path, script)
        self.refused("needs no program", "--query-metrics", script)
        self.refused("has no meaning here", "-i", path, "--jobs", "2")
        self.assertFalse(os.path.exists(touch))

    def test_lists(self):
        for option, some in (("--query-metrics", "gpu__time_duration.sum"), ("--list-sections", "SpeedOfLight"),
                             ("--list-sets", "detailed"), ("--list-rules", "TheoreticalOccupancy")):
            code, out, err = run(option)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(some, out)

    def test_every_metric_can_be_asked_for_and_tells_its_trust(self):
        told = list(csv.DictReader(io.StringIO(run("--query-metrics", "--csv")[1])))
        self.assertGreater(len(told), 150)
        (row,), _ = raw(TRANSPOSE, "--metrics", ",".join(r["Metric Name"] for r in told))
        for r in told:
            self.assertTrue(r["Metric Description"], r)
            self.assertIn(r["Fidelity"], ("exact", "modelled", "estimated", "exact or estimated", "n/a"))
            if r["Fidelity"] == "n/a":
                self.assertEqual(row[r["Metric Name"]], "n/a")
            else:
                self.assertRegex(row[r["Metric Name"]], r"^(-?[0-9]+(\.[0-9]+)?|n/a)$")

    def test_log_file(self):
        path, log = save(TRANSPOSE), os.path.join(DIR, "log.csv")
        want = run("-i", path, "--page", "raw", "--csv")[1]
        self.assertEqual(run("-i", path, "--page", "raw", "--csv", "--log-file", log), (0, "", ""))
        with open(log) as f:
            self.assertEqual(f.read(), want)
        self.assertEqual(run("report", path, "--page", "raw", "--csv")[1], want)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
