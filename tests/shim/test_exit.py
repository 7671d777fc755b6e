"""However a program ends, the profile of what ran before is there, and the exit status is the program's own."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBS = sys.argv[1:3]


class Exit(unittest.TestCase):
    def run_it(self, how, options=None, send=None):
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "out.wgprof")
            env = dict(os.environ, LD_LIBRARY_PATH=LIBS)
            if options is None:
                env["WARPGRIND_OPTIONS"] = "profile=" + path
            elif options:
                env["WARPGRIND_OPTIONS"] = options.replace("PATH", path)
            p = subprocess.Popen([PROGRAM, how], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out = p.stdout.readline() if send else ""
            for sig in [send] if isinstance(send, int) else send or []:
                p.send_signal(sig)
            rest, err = p.communicate(timeout=20)
            files = {f.name: f.read_text() for f in pathlib.Path(where).iterdir()}
            return p.returncode, out + rest, err, files

    def check(self, how, code, launches=2, send=None):
        rc, out, err, files = self.run_it(how, send=send)
        self.assertEqual(rc, code, err)
        self.assertEqual(files, {"out.wgprof": f"{launches} launches of {PROGRAM} {how}\n"}, err)
        self.assertNotIn("not reached", out)

    def test_return(self):
        self.check("return", 0)

    def test_exit(self):
        self.check("exit", 3)

    def test_reset_loses_nothing(self):
        self.check("reset", 0)

    def test_abort(self):
        self.check("abort", -signal.SIGABRT)

    def test_crash(self):
        self.check("crash", -signal.SIGSEGV)

    def test_interrupt(self):
        self.check("interrupt", -signal.SIGINT, send=signal.SIGINT)

    def test_terminate(self):
        self.check("interrupt", -signal.SIGTERM, send=signal.SIGTERM)

    def test_a_signal_delivered_more_than_once(self):
        """As timeout(1) does: to the program, to its group, and passed on by its parent."""
        self.check("interrupt", -signal.SIGTERM, send=[signal.SIGTERM] * 3)
        self.check("launch", -signal.SIGTERM, launches=3, send=[signal.SIGTERM, signal.SIGHUP, signal.SIGTERM])

    def test_interrupt_inside_a_launch(self):
        self.check("launch", -signal.SIGINT, launches=3, send=signal.SIGINT)

    def test_a_forked_child_writes_nothing(self):
        self.check("fork", 0)

    def test_silent_without_options(self):
        self.assertEqual(self.run_it("return", options=""), (0, "ready\n", "", {}))

    def test_bad_options_are_named(self):
        rc, _, err, _ = self.run_it("return", options="volume=11")
        self.assertEqual(rc, 9)
        self.assertIn('unknown key in "volume=11"', err)

    def test_unknown_devices_are_named(self):
        rc, _, err, _ = self.run_it("return", options="device=H2000")
        self.assertEqual(rc, 9)
        self.assertIn("H2000", err)

    def test_the_path_can_hold_the_process_number(self):
        rc, _, err, files = self.run_it("return", options="profile=PATH.%p")
        self.assertEqual(rc, 0, err)
        self.assertRegex(list(files)[0], r"out\.wgprof\.\d+$")

    def test_a_path_that_cannot_be_written_is_said(self):
        rc, _, err, _ = self.run_it("return", options="profile=/nonexistent/x.wgprof")
        self.assertEqual(rc, 0)
        self.assertIn("the profile was not written", err)


unittest.main(argv=sys.argv[:1])
