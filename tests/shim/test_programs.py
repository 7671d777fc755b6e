"""Executables as they come: what inspection says of each, and that our library takes the runtime's place in it.

Arguments: folder with the libraries and test programs, the preload library, folder for what is built here, nvcc or "none".
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

BUILD, PRELOAD, WORK, NVCC = sys.argv[1:5]
SOURCE = r"""
#include <cstdio>
__device__ int counter[4];
#ifdef NO_MANAGED
static int shared_count = 5;
#else
__managed__ int shared_count = 5;
#endif
__global__ void twice(float *out, const float *in, int n) { int i = threadIdx.x; if (i < n) out[i] = 2 * in[i]; }
int main() {
    float *d = nullptr; int n = 7;
    std::printf("malloc %d\n", (int)cudaMalloc(&d, 64));
    twice<<<dim3(3, 2), 64, 128>>>(d, d, n);
    std::printf("launch %d managed %d\n", (int)cudaGetLastError(), shared_count);
    cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e);
    std::printf("symbol %d sync %d\n", (int)cudaMemcpyToSymbol(counter, &n, 4), (int)cudaDeviceSynchronize());
    return 0;
}
"""
EXPECTED = ["malloc 0", "launch _Z5twicePfPKfi <<<(3,2,1),(64,1,1),128>>> 20 bytes of arguments",
            "launch 0 managed 5", "symbol 0 sync 0"]


def run(exe, **env):
    full = dict(os.environ, WG_DOUBLE_SAY="1", **env)
    return subprocess.run([exe], env=full, capture_output=True, text=True, timeout=60)


def inspect(path):
    return subprocess.run([os.path.join(BUILD, "show_inspect"), path], capture_output=True, text=True,
                          check=True).stdout.strip()


class Here(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(WORK, exist_ok=True)
        cls.preload = os.path.join(WORK, os.path.basename(PRELOAD))  # beside the libraries with the double
        for f in [PRELOAD] + [os.path.join(BUILD, "libcudart.so." + v) for v in ("11.0", "12", "13")]:
            f = os.path.abspath(f)
            link = os.path.join(WORK, os.path.basename(f))
            if os.path.lexists(link):
                os.remove(link)
            os.symlink(f, link)


class Linked(Here):
    def test_public_functions_are_led_to_ours_and_the_programs_own_are_left(self):
        for name in "linked_in", "linked_in_nopie":
            r = run(os.path.join(BUILD, name), LD_PRELOAD=self.preload)
            self.assertEqual(r.stdout, "early 1 version 12080 new 801 own 77 sync 0\n", r.stderr)
            self.assertIn("cudaBrandNewCall is not supported", r.stderr)

    def test_without_preloading_nothing_changes(self):
        self.assertEqual(run(os.path.join(BUILD, "linked_in")).stdout, "early -1 version 12345 new 2 own 77 sync 12345\n")

    def test_other_programs_are_left_alone(self):
        r = run("/bin/true", LD_PRELOAD=self.preload)
        self.assertEqual((r.returncode, r.stderr), (0, ""))


class Inspection(Here):
    def check(self, path, *words):
        said = inspect(path)
        for w in words:
            self.assertIn(w, said)

    def test_runtime_linked_in(self):
        self.check(os.path.join(BUILD, "linked_in"), "redirect runtime=libcudart.so.12 inside=1", "ptx=1 machine=0")

    def test_stripped(self):
        stripped = os.path.join(WORK, "stripped")
        subprocess.run(["strip", "-o", stripped, os.path.join(BUILD, "linked_in")], check=True)
        self.check(stripped, "none", "stripped=1", "symbol table was stripped", "-cudart shared")

    def test_machine_code_only(self):
        self.check(os.path.join(BUILD, "linked_in_machine"), "none", "ptx=0 machine=1", "no PTX",
                   "arch=compute_80,code=compute_80")

    def test_shared_runtime(self):
        self.check(os.path.join(BUILD, "shim_quiet"), "shared runtime=libcudart.so.13 inside=0")

    def test_no_cuda(self):
        self.check("/bin/true", "plain")

    def test_no_program(self):
        self.check(os.path.abspath(__file__), "none", "not an ELF executable")
        self.check("/nonexistent/file", "error", "No such file")
        truncated = os.path.join(WORK, "truncated")
        with open(os.path.join(BUILD, "linked_in"), "rb") as f, open(truncated, "wb") as out:
            out.write(f.read(3000))
        self.check(truncated, "none")


@unittest.skipIf(NVCC == "none", "there is no nvcc")
class Nvcc(Here):
    def build(self, name, *flags):
        exe, source = os.path.join(WORK, name), os.path.join(WORK, "program.cu")
        if not os.path.exists(source) or pathlib.Path(source).read_text() != SOURCE:
            pathlib.Path(source).write_text(SOURCE)
        if not os.path.exists(exe) or os.path.getmtime(exe) < os.path.getmtime(source):
            subprocess.run([NVCC, "-w", "-o", exe, source, *flags], check=True)
        return exe

    def check(self, exe, **env):
        r = run(exe, **env)
        self.assertEqual(sorted(r.stdout.splitlines()), sorted(EXPECTED), r.stderr)

    def test_shared(self):
        exe = self.build("shared", "-arch=sm_80", "-cudart", "shared")
        self.assertIn("shared runtime=libcudart.so.13", inspect(exe))
        self.check(exe, LD_PRELOAD=os.path.join(WORK, "libcudart.so.13"))
        self.check(exe, LD_LIBRARY_PATH=WORK)

    def test_static(self):
        exe = self.build("static", "-arch=sm_80")
        self.assertIn("redirect runtime=libcudart.so.13 inside=1", inspect(exe))
        self.check(exe, LD_PRELOAD=self.preload)

    def test_static_at_a_fixed_address(self):
        exe = self.build("fixed", "-arch=sm_80", "-Xcompiler", "-no-pie", "-Xlinker", "-no-pie")
        self.check(exe, LD_PRELOAD=self.preload)

    def test_relocatable_device_code(self):
        exe = self.build("rdc", "-arch=sm_80", "-rdc=true")
        self.check(exe, LD_PRELOAD=self.preload)

    def test_machine_code_only(self):
        exe = self.build("machine", "-gencode", "arch=compute_80,code=sm_80", "-cudart", "shared", "-DNO_MANAGED")
        self.assertIn("no PTX", inspect(exe))
        r = run(exe, LD_LIBRARY_PATH=WORK)
        self.assertIn("launch 209", r.stdout)
        self.assertIn("code=compute_", r.stderr)

    def test_stripped(self):
        exe, stripped = self.build("static", "-arch=sm_80"), os.path.join(WORK, "static_stripped")
        subprocess.run(["strip", "-o", stripped, exe], check=True)
        self.assertIn("-cudart shared", inspect(stripped))


if not shutil.which("strip"):
    print("skipped: there is no strip")
    sys.exit(77)
unittest.main(argv=sys.argv[:1], verbosity=1)
