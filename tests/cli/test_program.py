"""Whole runs: a .cu built and started, its own input, output and status untouched, the report beside them."""
import csv
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WARPGRIND = os.path.abspath(sys.argv[1])
DIR = tempfile.mkdtemp()
SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <sys/wait.h>
__global__ void stride(float *p, int s) { p[(blockIdx.x * blockDim.x + threadIdx.x) * s] += 1; }
__global__ void spin(volatile int *p) { while (*p == 0) p[1]++; }
int main(int argc, char **argv)
{
    char line[64] = "";
    float *d;
    int status = 0;
    if (getenv("KEEP"))
        status = system("cp /proc/$PPID/exe kept");
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    if (argc > 1 && !strcmp(argv[1], "read") && fgets(line, sizeof line, stdin))
        printf("read %s", line);
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
    if (argc > 1 && !strcmp(argv[1], "fork") && fork())
        return wait(&status), WEXITSTATUS(status);
    cudaMalloc(&d, 1 << 20);
    if (argc > 1 && !strcmp(argv[1], "spin")) {
        printf("ready\n");
        fflush(stdout);
        spin<<<1, 1>>>((int *)d);
    } else if (argc > 1 && !strcmp(argv[1], "crash")) {
        stride<<<2, 64>>>(d, 8);
        cudaDeviceSynchronize();
        abort();
    } else {
        stride<<<2, 64>>>(d, 8);
    }
    return cudaDeviceSynchronize() ? 99 : argc > 2 ? atoi(argv[2]) : 0;
}
"""


def run(*words, **more):
    r = subprocess.run([WARPGRIND, *words], capture_output=True, text=True, cwd=DIR, timeout=60, **more)
    return r.returncode, r.stdout, r.stderr


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(DIR, "p.cu"), "w") as f:
            f.write(SOURCE)
        # the built program, kept, so that the other tests need not build again
        code, out, err = run("--compiler=clang", "-o", "first.wgprof", "p.cu", "-v", "7", env={**os.environ, "KEEP": "1"})
        if "clang" in err and "not found" in err:
            raise unittest.SkipTest("clang is not installed")
        cls.first = code, out, err

    def test_source_to_report(self):
        code, out, err = self.first
        self.assertEqual((code, out), (7, "[-v][7]"), err)
        own, report = err.split("warpgrind 0", 1)
        self.assertEqual(own, "to stderr\n")
        self.assertIn("p.cu -v 7", report.split("\n")[0])
        # 4 warps load and store 32 sectors each where 4 would do
        self.assertRegex(report, r"global loads +4 requests +32\.0 sectors each, ideal 4\.0: 88 % extra +exact")
        self.assertIn("224 of 256; most in p.cu:7", report)
        self.assertIn("PTX by clang", report)
        again = run("report", "first.wgprof")
        self.assertEqual((again[0], "warpgrind 0" + report), (0, again[1]))

    def test_quiet_keeps_the_streams_apart(self):
        code, out, err = run("-q", "./kept", "read", input="hello\n")
        self.assertEqual((code, out, err), (0, "[read]read hello\n", "to stderr\n"))

    def test_log_file_and_no_counters(self):
        code, out, err = run("--no-counters", "--log-file=log", "kept")
        self.assertEqual((code, err), (0, "to stderr\n"))
        with open(os.path.join(DIR, "log")) as f:
            self.assertIn("counting was off", f.read())

    def test_pages_as_nsight_compute_has_them(self):
        code, out, err = run("--metrics", "launch__grid_size,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "--page", "raw",
                             "--csv", "--print-units", "base", "-o", "ncu.wgprof", "./kept", "hello")
        self.assertEqual((code, err), (0, "to stderr\n"))
        self.assertTrue(out.startswith("[hello]"))  # the program's own output, then the table
        rows = list(csv.reader(out[len("[hello]"):].split("\n")))
        self.assertEqual(rows[0][-2:], ["launch__grid_size", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"])
        self.assertEqual((rows[2][0], rows[2][2], rows[2][-2:]), ("0", "kept", ["2", "4"]))
        code, again, err = run("-i", "ncu.wgprof", "--csv", "--metrics", "launch__grid_size")
        self.assertEqual((code, err), (0, ""))
        self.assertIn('"launch__grid_size","","2"', again)

    def test_a_device_of_ones_own(self):
        with open(os.path.join(DIR, "mine.gpu"), "w") as f:
            f.write("base = H200\nname = mine\nsms = 3\n")
        code, out, err = run("--device", "mine.gpu", "-o", "mine.wgprof", "--metrics", "launch__sm_count", "--csv", "./kept")
        self.assertEqual(code, 0, err)
        self.assertIn('"launch__sm_count","SM","3"', out)
        os.remove(os.path.join(DIR, "mine.gpu"))  # the profile holds what it needs
        self.assertIn('"launch__sm_count","SM","3"', run("-i", "mine.wgprof", "--metrics", "launch__sm_count", "--csv")[1])
        code, out, err = run("--device", "mine.gpu", "./kept")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("cannot read device file mine.gpu", err)
        with open(os.path.join(DIR, "bad.gpu"), "w") as f:
            f.write("base = H200\nsmss = 3\n")
        code, out, err = run("--device", "bad.gpu", "./kept")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("did you mean sms", err)

    def test_a_process_of_a_process(self):
        code, out, err = run("-o", "f.%p.wgprof", "./kept", "fork", "5")
        self.assertEqual(code, 5)
        self.assertEqual(len(glob.glob(os.path.join(DIR, "f.*.wgprof"))), 1, err)
        self.assertIn("stride", err)

    def test_children_are_followed_on_request(self):
        with open(os.path.join(DIR, "twice.sh"), "w") as f:
            f.write("#!/bin/sh\necho from the script\n./kept && ./kept x 6\n")
        os.chmod(os.path.join(DIR, "twice.sh"), 0o755)
        code, out, err = run("twice.sh")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--trace-children=yes", err)
        code, out, err = run("--trace-children=yes", "-o", "c.%p.wgprof", "twice.sh")
        self.assertEqual((code, out), (6, "from the script\n[x][6]"), err)
        self.assertEqual(len(glob.glob(os.path.join(DIR, "c.*.wgprof"))), 2, err)
        code, out, err = run("--trace-children=yes", "sh", "-c", "./kept")  # found in PATH
        self.assertEqual(code, 0, err)
        self.assertIn("stride", err)

    def test_several_sources_make_one_program(self):
        with open(os.path.join(DIR, "a.cu"), "w") as f:
            f.write("#include <cstdio>\nint twice(int);\nint main() { printf(\"%d\\n\", twice(21)); }\n")
        with open(os.path.join(DIR, "b.cpp"), "w") as f:
            f.write("int twice(int v) { return 2 * v; }\n")
        code, out, err = run("--compiler=clang", "--build-arg=b.cpp", "a.cu")
        self.assertEqual((code, out), (0, "42\n"), err)

    def test_a_crash_keeps_what_was_counted(self):
        code, out, err = run("./kept", "crash")
        self.assertEqual(code, 128 + signal.SIGABRT)
        self.assertIn("ended by signal 6", err)
        self.assertIn("stride", err)

    def test_interrupt(self):
        p = subprocess.Popen([WARPGRIND, "-o", "i.wgprof", "./kept", "spin"], cwd=DIR, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        while "ready" not in p.stdout.readline():
            self.assertIsNone(p.poll())
        time.sleep(0.5)
        os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("stopped", err)
        with open(os.path.join(DIR, "i.wgprof")) as f:
            self.assertEqual(json.load(f)["launches"][0]["status"], "CANCELLED")

    def test_what_cannot_be_run(self):
        code, out, err = run("--compiler=clang", "missing.cu")
        self.assertEqual((code, out, err), (2, "", "warpgrind: cannot read missing.cu: No such file or directory\n"))
        with open(os.path.join(DIR, "broken.cu"), "w") as f:
            f.write("int main( {\n")
        code, out, err = run("--compiler=clang", "broken.cu")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("broken.cu:1", err)
        self.assertEqual(err.strip().split("\n")[-1][:10], "warpgrind:")
        code, out, err = run("/bin/true")
        self.assertEqual((code, out), (0, ""))
        self.assertIn("nothing to report", err)
        os.chmod(os.path.join(DIR, "broken.cu"), 0o644)
        shutil.copy(os.path.join(DIR, "broken.cu"), os.path.join(DIR, "text"))
        self.assertEqual(run("./text")[0], 2)

    def test_nothing_is_left_in_tmp(self):
        mine = tempfile.mkdtemp()
        r = subprocess.run([WARPGRIND, "--compiler=clang", "-q", os.path.join(DIR, "p.cu")], capture_output=True,
                           env={**os.environ, "TMPDIR": mine})
        self.assertEqual((r.returncode, os.listdir(mine)), (0, []))


class Ptx(unittest.TestCase):
    """`warpgrind run` on a kernel of four parameters: y[i] = a * x[i] for i < n."""
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(DIR, "k.ptx"), "w") as f:
            f.write(""".version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %rd<6>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra END;
    ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a];
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f2, %f2, %f1;
    add.s64 %rd5, %rd1, %rd3;
    st.global.f32 [%rd5], %f2;
END:
    ret;
}
""")

    def test_launch_and_dump(self):
        code, out, err = run("run", "k.ptx", "--grid", "2", "--block=32", "-a", "zeros:f32:40", "-a", "iota:f32:40",
                             "-a", "f32:0.5", "-a", "u32:40", "--dump", "0=-", "--dump=1=x.bin")
        self.assertEqual(code, 0, err)
        self.assertEqual([float(x) for x in out.split()], [i / 2 for i in range(40)])
        self.assertEqual(os.path.getsize(os.path.join(DIR, "x.bin")), 160)
        # two warps; the second has 8 lanes on: 4 + 1 sectors
        self.assertRegex(err, r"global loads +2 requests +2\.5 sectors each, ideal 2\.5 +exact")
        self.assertIn("PTX without line numbers", err)

    def test_refusals(self):
        good = ["-a", "zeros:f32:40", "-a", "iota:f32:40", "-a", "f32:0.5", "-a", "u32:40"]
        for says, words in (("takes 4 arguments", good[2:]), ("has 8 bytes; parameter 3", good[:6] + ["-a", "u64:1"]),
                            ("no kernel scaly; did you mean scale?", good + ["--kernel", "scaly"]),
                            ("--dump 2=x", good + ["--dump", "2=x"]), ("--grid is", good + ["--grid", "0"]),
                            ("no type", ["-a", "zeros:f33:40"] + good[2:])):
            code, out, err = run("run", "k.ptx", *words)
            self.assertEqual((code, out), (1, ""), words)
            self.assertIn(says, err)
            self.assertEqual(err.count("\n"), 1, err)
        code, out, err = run("run", "k.ptx", *good, "--block", "2000")
        self.assertEqual((code, out), (3, ""), err)
        self.assertEqual(run("run", "none.ptx")[0], 2)
        self.assertEqual(run("run", "p.cu")[0], 2)
        self.assertEqual(run("run", "k.ptx", "--device", "nosuch", *good)[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
