"""What `meson install` puts into a prefix works from there: program, man page, completion, pkg-config, CMake, Python."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
ROOT = tempfile.mkdtemp()
CU = """#include <cstdio>
__global__ void column(const float *a, float *o) { __shared__ float t[32][32]; int y = threadIdx.y, x = threadIdx.x;
    t[y][x] = a[y * 32 + x]; __syncthreads(); o[y * 32 + x] = t[x][y]; }
int main() { float *a, *o; cudaMalloc(&a, 4096); cudaMalloc(&o, 4096); cudaMemset(a, 0, 4096);
    column<<<1, dim3(32, 32)>>>(a, o); puts(cudaGetErrorString(cudaDeviceSynchronize())); }
"""


def run(*words, cwd=None, env=None, status=0):
    r = subprocess.run(words, capture_output=True, text=True, cwd=cwd or ROOT, env={**os.environ, **(env or {})})
    assert r.returncode == status, (words, r.returncode, r.stdout[-2000:], r.stderr[-2000:])
    return r.stdout + r.stderr


def find(pattern):
    found = glob.glob(os.path.join(ROOT, "**", pattern), recursive=True)
    assert found, pattern
    return found[0]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", ROOT)
        cls.program = find("bin/warpgrind")
        with open(os.path.join(ROOT, "p.cu"), "w") as f:
            f.write(CU)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(ROOT, ignore_errors=True)

    def test_program_builds_and_runs_from_a_moved_prefix(self):
        out = run(self.program, "p.cu", env={"LD_LIBRARY_PATH": ""})
        self.assertIn("no error", out)
        self.assertIn("32.0 wavefronts each", out)

    def test_man_page_and_completion(self):
        if shutil.which("scdoc"):
            self.assertTrue(os.path.getsize(find("man1/warpgrind.1")))
        for name in ("bash-completion/completions/warpgrind.bash", "site-functions/_warpgrind", "vendor_completions.d/warpgrind.fish"):
            self.assertTrue(os.path.getsize(find(name)))

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config")
        pc = find("warpgrind.pc")
        env = {"PKG_CONFIG_PATH": os.path.dirname(pc), "PKG_CONFIG_SYSROOT_DIR": ROOT}
        flags = run("pkg-config", "--cflags", "--libs", "warpgrind", env=env).split()
        run("cc", os.path.join(SOURCE, "examples/api/run_ptx.c"), *flags, "-o", "run_ptx")
        self.assertIn("PASS", run("./run_ptx", env={"LD_LIBRARY_PATH": os.path.dirname(find("libwarpgrind.so"))}))

    def test_cmake_and_ctest(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        project = os.path.join(ROOT, "project")
        os.makedirs(project)
        shutil.copy(os.path.join(ROOT, "p.cu"), project)
        shutil.copy(os.path.join(SOURCE, "examples/api/run_ptx.c"), project)
        with open(os.path.join(project, "CMakeLists.txt"), "w") as f:
            f.write("cmake_minimum_required(VERSION 3.18)\nproject(p C)\nenable_testing()\nfind_package(warpgrind 0.1 REQUIRED)\n"
                    "add_executable(api run_ptx.c)\ntarget_link_libraries(api warpgrind::warpgrind)\n"
                    "warpgrind_add_test(NAME runs COMMAND p.cu CHECK)\n"
                    "warpgrind_add_test(NAME conflicts COMMAND p.cu FAIL_IF \"kernel:column:bank_conflicts > 0\" \"errors > 0\")\n"
                    "add_test(NAME api COMMAND api)\n")
        env = {"CMAKE_PREFIX_PATH": os.path.dirname(os.path.dirname(self.program))}
        run("cmake", "-S", project, "-B", "cb", env=env)
        run("cmake", "--build", "cb")
        out = run("ctest", cwd=os.path.join(ROOT, "cb"), status=8)
        self.assertRegex(out, r"runs \.+ +Passed")
        self.assertRegex(out, r"api \.+ +Passed")
        self.assertRegex(out, r"conflicts \.+\*+Failed")
        self.assertRegex(out, r"67% tests passed, 1 tests failed out of 3")

    def test_python_structures_have_the_headers_members(self):
        sys.path.insert(0, os.path.join(SOURCE, "python"))
        from warpgrind import library
        with open(os.path.join(SOURCE, "include/warpgrind/warpgrind.h"), encoding="utf-8") as f:
            header = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for name, mirror in {"options": library.Options, "launch": library.Launch, "param_info": library.Param,
                             "kernel_info": library.KernelInfo}.items():
            body = re.search(r"struct wg_" + name + r" \{(.*?)\};", header, re.S).group(1)
            members = []
            for declaration in body.split(";")[:-1]:
                pointer = re.search(r"\(\*(\w+)\)", declaration)
                members += [pointer.group(1)] if pointer else re.findall(r"(\w+)(?:\[\d+\])?\s*(?:,|$)", declaration)
            self.assertEqual([m[0] for m in mirror._fields_], members, name)

    def test_python(self):
        env = {"WARPGRIND_LIBRARY": os.path.realpath(find("libwarpgrind.so")), "WARPGRIND_PROGRAM": self.program}
        out = run(sys.executable, os.path.join(SOURCE, "python/tests/test_warpgrind.py"), env=env)
        self.assertIn("OK", out)

    def test_pytest_fixture(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("no pytest")
        with open(os.path.join(ROOT, "test_it.py"), "w") as f:
            f.write("def test_conflicts(warpgrind):\n    k = warpgrind.run_program('p.cu').kernel('column')\n    assert k.bank_conflicts == 31 * 32\n")
        env = {"WARPGRIND_LIBRARY": os.path.realpath(find("libwarpgrind.so")), "WARPGRIND_PROGRAM": self.program,
               "PYTHONPATH": os.path.join(SOURCE, "python")}
        self.assertIn("1 passed", run(sys.executable, "-m", "pytest", "-p", "warpgrind.pytest_plugin", "test_it.py", env=env))


    def test_triton_example(self):
        """Triton compiles without a GPU, and what it compiles runs here."""
        try:
            import triton  # noqa: F401
        except ImportError:
            self.skipTest("no triton")
        env = {"WARPGRIND_LIBRARY": os.path.realpath(find("libwarpgrind.so")), "PYTHONPATH": os.path.join(SOURCE, "python")}
        out = run(sys.executable, os.path.join(SOURCE, "python/examples/triton_kernel.py"), env=env)
        self.assertIn("stride 1: 4.0 sectors a load request, 0 sectors above the ideal", out)
        self.assertIn("stride 8: 32.0 sectors a load request, 3584 sectors above the ideal", out)

    def test_a_wheel(self):
        if subprocess.run([sys.executable, "-c", "import pip, setuptools, wheel"], capture_output=True).returncode:
            self.skipTest("no pip, setuptools or wheel")
        source = os.path.join(ROOT, "python")
        shutil.copytree(os.path.join(SOURCE, "python"), source)
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", "wheels", source)
        run(sys.executable, "-m", "zipfile", "-e", find("warpgrind-*.whl"), "unpacked")
        env = {"WARPGRIND_LIBRARY": os.path.realpath(find("libwarpgrind.so")), "PYTHONPATH": os.path.join(ROOT, "unpacked")}
        self.assertIn("True", run(sys.executable, "-c", "import warpgrind; print(callable(warpgrind.run_ptx))", env=env))

    def test_completion_completes(self):
        script = find("bash-completion/completions/warpgrind.bash")
        def offered(*words):
            line = " ".join(f"'{w}'" for w in words)
            return run("bash", "-c", f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _warpgrind; "
                                     "printf '%s\\n' \"${COMPREPLY[@]}\"").split()
        self.assertEqual(offered("warpgrind", "--fail"), ["--fail-if"])
        self.assertIn("occupancy", offered("warpgrind", "o"))
        self.assertIn("gate", offered("warpgrind", "help", "g"))
        self.assertEqual(offered("warpgrind", "--device", "H20"), ["H200"])
        for shell, words in (("zsh", ["-n"]), ("fish", ["-n"])):
            if shutil.which(shell):
                run(shell, *words, find("_warpgrind" if shell == "zsh" else "warpgrind.fish"))


unittest.main(argv=sys.argv[:1], verbosity=2)  # says why a test is skipped
