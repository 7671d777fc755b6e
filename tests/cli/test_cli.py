"""The command line: what is understood, what is refused and how, exit codes, the texts made from the tables."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WARPGRIND, DATA = map(os.path.abspath, sys.argv[1:3])
PROFILE = os.path.join(DATA, "transpose.wgprof")
DIR = tempfile.mkdtemp()


def run(*words, stdin=None):
    r = subprocess.run([WARPGRIND, *words], capture_output=True, text=True, input=stdin, cwd=DIR)
    return r.returncode, r.stdout, r.stderr


class Options(unittest.TestCase):
    def refused(self, code, says, *words):
        got, out, err = run(*words)
        self.assertEqual((got, out), (code, ""), words)
        self.assertTrue(err.startswith("warpgrind: "), err)
        self.assertIn(says, err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_unknown_words_name_their_neighbours(self):
        self.refused(1, "did you mean --verbose?", "--verbos", "x")
        self.refused(1, "did you mean --no-counters?", "--nocounters", "x")
        self.refused(1, "did you mean `warpgrind report`?", "reprot")
        self.refused(1, "did you mean verbose?", "help", "verbos")
        self.refused(1, "unknown option -z", "-z", "x")
        self.refused(1, "--help", "--zzzzzzzzzzzz")
        self.refused(1, "warpgrind --help", "zzzzzzzzzzzzzzz")

    def test_values(self):
        self.refused(1, "needs a number, not \"x\"", "--jobs", "x", "./a")
        self.refused(1, "from 1 to 4096", "--jobs=0", "./a")
        self.refused(1, "--jobs needs N", "--jobs")
        self.refused(1, "-j needs N", "-j")
        self.refused(1, "takes no value", "--verbose=1", "./a")
        self.refused(1, "auto, always or never", "--color=red", "./a")
        self.refused(1, "has no meaning here", "report", "--jobs", "2", PROFILE)
        self.refused(1, "no program", "--verbose")

    def test_forms_of_an_option(self):
        plain = run("report", PROFILE)
        self.assertEqual(plain[0], 0)
        verbose = run("report", "--verbose", PROFILE)
        self.assertNotEqual(plain, verbose)
        for words in (["report", "-v", PROFILE], ["report", PROFILE, "-v"], ["-v", "report", PROFILE],
                      ["report", "-vs0", PROFILE], ["report", "-vs", "0", PROFILE], ["report", "-v", "--", PROFILE]):
            self.assertEqual(run(*words), verbose, words)

    def test_report_needs_one_file(self):
        self.refused(1, "one file", "report")
        self.refused(1, "one file", "report", "a", "b")
        self.refused(2, "No such file", "report", "no.wgprof")
        self.refused(1, "none of the 1 launches", "report", "-k", "nothing", PROFILE)
        with open(os.path.join(DIR, "bad.wgprof"), "w") as f:
            f.write("{\"format\": \"warpgrind-profile\", \"version\": 999}")
        self.refused(2, "version 999", "report", "bad.wgprof")

    def test_control_characters_in_messages_are_escaped(self):
        self.refused(2, "\\x1b[31m", "report", "\x1b[31m")

    def test_reports_that_cannot_be_written(self):
        self.refused(4, "No such file", "report", "--log-file=no/such/file", PROFILE)
        with open("/dev/full", "w") as full:
            r = subprocess.run([WARPGRIND, "report", PROFILE], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 4)
        self.assertIn("No space", r.stderr)

    def test_log_file(self):
        want = run("report", PROFILE)[1]
        self.assertEqual(run("report", "--log-file", "log.txt", PROFILE), (0, "", ""))
        with open(os.path.join(DIR, "log.txt")) as f:
            self.assertEqual(f.read(), want)


class Help(unittest.TestCase):
    def test_a_launch_told_to_end_still_reports(self):
        """As timeout(1) tells: twice in a row."""
        with open(os.path.join(DIR, "spin.ptx"), "w") as f:
            f.write(""".version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 p) {
    .reg .b64 %a; .reg .b32 %v;
    ld.param.u64 %a, [p];
    mov.u32 %v, 0;
loop:
    add.u32 %v, %v, 1;
    st.volatile.global.u32 [%a], %v;
    bra loop;
}
""")
        p = subprocess.Popen([WARPGRIND, "run", os.path.join(DIR, "spin.ptx"), "--grid", "1", "--block", "32", "--arg",
                              "zeros:u32:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while True: # until it has started to run
            with open(f"/proc/{p.pid}/status") as f:
                caught = [line.split()[1] for line in f if line.startswith("SigCgt")][0]
            if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
                break
            time.sleep(0.01)
        p.terminate()
        p.terminate()
        out, err = p.communicate(timeout=30)
        self.assertEqual((p.returncode, out), (130, ""), err)
        self.assertIn("0 of 1 blocks were done", err)

    def test_help_fits_a_screen(self):
        code, out, err = run("--help")
        self.assertEqual((code, err), (0, ""))
        lines = out.split("\n")
        self.assertLess(len(lines), 45)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(run("-h")[1], out)
        code, out2, err = run()
        self.assertEqual((code, out2, err), (1, "", out))

    def test_every_command_and_option_explains_itself(self):
        commands = [l.split()[0] for l in run("--help")[1].split("commands:\n")[1].split("Running:")[0].strip().split("\n")]
        self.assertIn("report", commands)
        for c in commands:
            self.assertEqual(run("help", c)[0], 0, c)
        options = [w for l in run("help", "options")[1].split("\n") for w in l.split() if l.startswith("  ") and w.startswith("--")]
        self.assertIn("--jobs", options)
        for o in options:
            self.assertEqual(run("help", o)[0], 0, o)

    def test_version(self):
        code, out, err = run("--version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^warpgrind \d+\.\d+\.\d+\n$")

    def test_completion_is_bash(self):
        script = run("help", "bash-completion")[1] + "\nCOMP_WORDS=(warpgrind --verb); COMP_CWORD=1; _warpgrind; echo ${COMPREPLY[@]}\n"
        r = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual((r.stdout.strip(), r.stderr), ("--verbose", ""))

    def test_completion_is_zsh_and_fish(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = run("help", shell + "-completion")[1]
            self.assertIn("--verbose" if shell == "zsh" else "-l verbose", script)
            if not shutil.which(shell):
                print(f"skipped: {shell} is not installed")
                continue
            r = subprocess.run([*check, "/dev/stdin"], input=script, capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))

    def test_completion_in_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        def ask(line):
            script = run("help", "fish-completion")[1] + f"\ncomplete -C '{line}'\n"
            r = subprocess.run(["fish", "--no-config"], input=script, capture_output=True, text=True)
            return [l.split("\t")[0] for l in r.stdout.splitlines()]
        self.assertIn("occupancy", ask("warpgrind occ"))
        self.assertIn("--verbose", ask("warpgrind report --verb"))
        self.assertEqual([w for w in ask("warpgrind report --job") if w == "--jobs"], [])

    def test_man_page(self):
        if not shutil.which("scdoc"):
            self.skipTest("scdoc is not installed")
        r = subprocess.run(["scdoc"], input=run("help", "man-page")[1], capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("--jobs", r.stdout.replace("\\-", "-"))

    def test_ops_lists_the_table(self):
        code, out, err = run("ops", "ldmatrix")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("ldmatrix", out)
        self.assertEqual(run("ops", "nosuchop")[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
