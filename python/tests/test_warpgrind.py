"""The Python package against kernels whose figures can be told by hand. Runs under unittest, and under pytest with its plugin."""
import array
import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import warpgrind  # noqa: E402

# out[i * step] = i * factor
STRIDED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry strided(.param .u64 out, .param .u32 step, .param .f32 factor)
{
    .reg .b64 %a, %o; .reg .b32 %i, %b, %n, %s; .reg .f32 %v, %f;
    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;
    ld.param.u32 %s, [step]; ld.param.f32 %f, [factor];
    mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %b, %n, %i;
    cvt.rn.f32.u32 %v, %i; mul.f32 %v, %v, %f;
    mul.lo.u32 %i, %i, %s; mul.wide.u32 %a, %i, 4; add.u64 %a, %o, %a;
    st.global.f32 [%a], %v;
    ret;
}
"""


def launch(step, n=256, room=None, **more):
    out = array.array("f", [0.0] * (room or n * step))
    return out, warpgrind.run_ptx(STRIDED, grid=n // 128, block=128, args=[out, step, 0.5], **more)


class Ptx(unittest.TestCase):
    def test_results_and_figures(self):
        out, p = launch(1)
        self.assertEqual(list(out), [i * 0.5 for i in range(256)])
        k = p.kernel("strided")
        self.assertEqual((k.grid, k.block, k.status), ((2, 1, 1), (128, 1, 1), "OK"))
        self.assertEqual((k.sectors_per_store, k.uncoalesced_sectors, k.global_sectors), (4, 0, 32))
        self.assertEqual(k["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 32)
        self.assertEqual(k.fidelity("global_sectors"), "exact")
        self.assertEqual(k.unit("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), "sector")
        _, p = launch(8)  # each lane in a sector of its own
        self.assertEqual((p.kernels[0].sectors_per_store, p.kernels[0].global_sectors), (32, 256))

    def test_a_mapping_of_what_has_a_value(self):
        k = launch(1)[1].kernels[0]
        self.assertEqual(dict(k)["sectors_per_store"], 4)
        self.assertNotIn("sectors_per_load", k)  # there is no load to divide by
        self.assertRaises(KeyError, lambda: k["no such metric"])
        self.assertRaises(AttributeError, lambda: k.nonsense)
        self.assertEqual(len(k), len(dict(k)))

    def test_findings(self):
        _, p = launch(1, room=255, check=True)
        self.assertEqual([f.id for f in p.errors], ["out-of-bounds"])
        self.assertEqual(p.kernels[0].errors[0].severity, "error")
        self.assertEqual(launch(1, check=True)[1].findings, [])

    def test_wrong_calls(self):
        for more, says in (({"args": []}, "3 arguments"), ({"kernel": "no"}, "no kernel"), ({"device": "no"}, "no"),
                           ({"ptx": "nonsense"}, "python"), ({"args": [array.array("f", [0]), b"12", 1.0]}, "2 bytes")):
            with self.assertRaises(warpgrind.Error) as e:
                warpgrind.run_ptx(**{"ptx": STRIDED, "grid": 1, "block": 1, "args": [array.array("f", [0]), 1, 1.0], **more})
            self.assertIn(says, str(e.exception))
        self.assertRaises(warpgrind.Error, warpgrind.read, "/nonexistent.wgprof")
        self.assertRaises(KeyError, launch(1)[1].kernel, "other")

    def test_names_of_a_kernel(self):
        from warpgrind.api import _called
        for name, also in (("f(int*)", {"f"}), ("void n::k<4, (B)0>(float*, int)", {"n::k<4, (B)0>", "n::k", "k"}),
                           ("k", {"k"}), ("(anonymous namespace)::k(int)", {"(anonymous namespace)::k", "k"}),
                           ("void f<g<3> >(int)", {"f<g<3> >", "f"})):
            self.assertEqual(_called(name), {name} | also)

    def test_ctypes_values(self):
        out = array.array("f", [0.0])
        warpgrind.run_ptx(STRIDED, "strided", grid=1, block=1, args=[out, ctypes.c_uint32(1), ctypes.c_float(3)])
        self.assertEqual(out[0], 0)


@unittest.skipUnless(os.environ.get("WARPGRIND_PROGRAM"), "WARPGRIND_PROGRAM names no warpgrind to run programs with")
class Program(unittest.TestCase):
    def test_a_cuda_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.cu")
            with open(path, "w") as f:
                f.write("#include <cstdio>\n__global__ void f(float *p) { p[threadIdx.x * 8] = 1; }\nint main() {\n    float *p;\n"
                        "    cudaMalloc(&p, 1024);\n    f<<<1, 32>>>(p);\n    cudaDeviceSynchronize();\n    puts(\"done\");\n}\n")
            p = warpgrind.run_program(path)
        self.assertEqual(p.stdout, "done\n")
        self.assertEqual(p.kernel("f").sectors_per_store, 32)
        (where,) = [at for at, line in p.kernel("f").lines.items() if line.sectors]
        self.assertEqual((os.path.basename(where[0]), where[1]), ("p.cu", 2))
        self.assertRaises(warpgrind.Error, warpgrind.run_program, "/nonexistent.cu")

    def test_template_kernels_by_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.cu")
            with open(path, "w") as f:
                f.write("template <int N> __global__ void f(float *p) { p[threadIdx.x * N] = 1; }\ntemplate <class T> __global__ void g(T *p) "
                        "{ *p = 1; }\nint main() {\n    float *p;\n    cudaMalloc(&p, 1024);\n    f<1><<<1, 32>>>(p);\n    f<8><<<1, 32>>>(p);\n"
                        "    g<<<1, 1>>>(p);\n    return cudaDeviceSynchronize();\n}\n")
            p = warpgrind.run_program(path)
        self.assertEqual((p.kernel("f<1>").sectors_per_store, p.kernel("f<8>").sectors_per_store), (4, 32))
        self.assertEqual(p.kernel("g").lanes, 1)
        with self.assertRaisesRegex(KeyError, "several kernels"):
            p.kernel("f")


if __name__ == "__main__":
    unittest.main()
