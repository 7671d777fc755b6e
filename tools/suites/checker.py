"""Runs warpgrind with its checks and hands back what the profile says: findings, launch by launch."""
import json
import os
import resource
import subprocess
import tempfile


class Runner:
    def __init__(self, options):
        self.warpgrind, self.compiler, self.timeout = options.warpgrind, options.compiler, options.timeout

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CPU, (self.timeout, self.timeout + 5))

    def profile(self, command, folder):
        """The profile as data, or None and why there is none."""
        out = os.path.join(folder, "x.wgprof")
        if os.path.exists(out):
            os.remove(out)
        # The limit is of processor time, so that a busy machine changes nothing.
        r = subprocess.run([self.warpgrind, *command[:1], "-q", "-o", out, "--ptxas", "none", *command[1:]],
                           capture_output=True, text=True, errors="replace", preexec_fn=self.limit)
        self.stdout = r.stdout
        if not os.path.exists(out):
            return None, r.stderr or "no profile"
        with open(out, encoding="utf-8") as f:
            return json.load(f), ""

    def check(self, source, arguments=(), build=()):
        """Builds and runs a whole program."""
        command = ["check"] + (["--compiler", self.compiler] if self.compiler else [])
        for b in build:
            command += ["-b", b]
        with tempfile.TemporaryDirectory() as d:
            return self.profile([*command, source, *arguments], d)


def told(profile, launch):
    """The findings of a launch (None: those of the host) but notes, and why it stopped if it did: [(tool, id, line, other line)]."""
    rows = launch.get("findings", []) if launch else profile.get("host_findings", [])
    return [(r["tool"], r["id"], r.get("at", [0, 0])[1], r.get("other_at", [0, 0])[1]) for r in rows
            if r.get("severity", "info") != "info"]
