"""The lanes' addresses that a profile keeps of each site's worst access: told by hand, the same with any number of workers."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WARPGRIND = os.path.abspath(sys.argv[1])
DIR = tempfile.mkdtemp()
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{
    .reg .b64 %a, %p, %q; .reg .b32 %i, %b, %n, %t, %o, %x; .reg .pred %c;
    .shared .align 16 .b8 s[32768];
    ld.param.u64 %p, [p]; cvta.to.global.u64 %p, %p; ld.param.u64 %q, [q]; cvta.to.global.u64 %q, %q;
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %b, %n, %t;
"""


# As written: nothing reads what these kernels load, and ptxas would drop it.
def run(body, *words, grid=4, block=64):
    path, out = os.path.join(DIR, "k.ptx"), os.path.join(DIR, "x.wgprof")
    with open(path, "w") as f:
        f.write(HEAD + body + "    ret;\n}\n")
    r = subprocess.run([WARPGRIND, "run", path, f"--grid={grid}", f"--block={block}", "--arg=zeros:f32:1048576", *words, "--as-written", "-q", "-o", out],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    with open(out) as f:
        p = json.load(f)
    return [{**w, "text": p["code"][0][w["site"]]["text"]} for w in p["launches"][0].get("worst", [])]


ANY = "--arg=zeros:u32:1024"


class Worst(unittest.TestCase):
    def test_stride(self):
        (w,) = run("    mul.wide.u32 %a, %i, 128; add.u64 %a, %p, %a; ld.global.u32 %x, [%a];\n", ANY)
        self.assertEqual((w["cost"], w["ideal"], w["space"], w["bytes"], w["mask"]), (32, 4, "global", 4, 0xffffffff))
        self.assertEqual((w.get("block", 0), w.get("warp", 0)), (0, 0))
        self.assertEqual(w["offsets"], [128 * l for l in range(32)])

    def test_shifted_by_one_element(self):
        (w,) = run("    mul.wide.u32 %a, %i, 4; add.u64 %a, %p, %a; ld.global.u32 %x, [%a+4];\n", ANY)
        self.assertEqual((w["cost"], w["ideal"], w["offsets"]), (5, 4, [4 + 4 * l for l in range(32)]))

    def test_side_by_side_has_none(self):
        self.assertEqual(run("    mul.wide.u32 %a, %i, 4; add.u64 %a, %p, %a; ld.global.u32 %x, [%a];\n    st.global.u32 [%a], %x;\n", ANY), [])

    def test_a_column_of_a_tile(self):
        (w,) = run("    and.b32 %o, %t, 31; shl.b32 %o, %o, 7; mov.u32 %x, s; add.u32 %o, %o, %x; st.shared.u32 [%o], %t;\n", ANY)
        self.assertEqual((w["cost"], w["ideal"], w["space"], w["offsets"]), (32, 1, "shared", [128 * l for l in range(32)]))

    def test_lanes_that_take_no_part(self):
        (w,) = run("    setp.lt.u32 %c, %t, 8;\n    mul.wide.u32 %a, %i, 32; add.u64 %a, %p, %a; @%c ld.global.u32 %x, [%a];\n", ANY, block=32)
        self.assertEqual((w["cost"], w["ideal"], w["mask"]), (8, 1, 0xff))
        self.assertEqual(w["offsets"], [32 * l for l in range(8)] + [0] * 24)

    def test_the_worst_of_all_by_any_number_of_workers(self):
        # thread t of block b goes to element t * (b % 4 * 2 + 1): every fourth block strides by seven
        body = ("    and.b32 %o, %b, 3; shl.b32 %o, %o, 1; add.u32 %o, %o, 1; mul.lo.u32 %x, %t, %o;\n"
                "    mul.wide.u32 %a, %x, 4; add.u64 %a, %p, %a; ld.global.u32 %x, [%a];\n")
        for jobs in (1, 2, 4):
            (w,) = run(body, ANY, f"--jobs={jobs}", grid=64)
            self.assertEqual((w["block"], w.get("warp", 0)), (3, 0))
            self.assertEqual(w["offsets"], [28 * l for l in range(32)])
            self.assertEqual(w["cost"], len({28 * l // 32 for l in range(32)}))

    def test_addresses_from_memory(self):
        # iota: lane l reads element q[l] = l, times 16
        (w,) = run("    mul.wide.u32 %a, %t, 4; add.u64 %a, %q, %a; ld.global.u32 %x, [%a];\n"
                   "    mul.wide.u32 %a, %x, 64; add.u64 %a, %p, %a; ld.global.u32 %x, [%a];\n", "--arg=iota:u32:64")
        self.assertEqual((w["cost"], w["offsets"]), (32, [64 * l for l in range(32)]))


unittest.main(argv=sys.argv[:1])
