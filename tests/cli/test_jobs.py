"""The number of worker threads changes nothing: results and profiles are equal byte for byte. Also what a thread sanitizer
build runs."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WARPGRIND = os.path.abspath(sys.argv[1])
DIR = tempfile.mkdtemp()
# 61 blocks of 96 threads: divergent loops, shared memory with barriers, a reduction by integer atomics
PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 y, .param .u64 total)
{
    .reg .pred %p; .reg .pred %q; .reg .b32 %r<20>; .reg .b64 %rd<8>;
    .shared .align 4 .b8 tile[384];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mov.u32 %r5, tile;
    shl.b32 %r6, %r3, 2;
    add.s32 %r7, %r5, %r6;
    and.b32 %r8, %r4, 15;
    mov.u32 %r9, %r4;
LOOP:
    mad.lo.s32 %r9, %r9, 1664525, 1013904223;
    add.s32 %r8, %r8, -1;
    setp.gt.s32 %p, %r8, 0;
    @%p bra LOOP;
    st.shared.u32 [%r7], %r9;
    bar.sync 0;
    sub.s32 %r10, 95, %r3;
    shl.b32 %r11, %r10, 2;
    add.s32 %r12, %r5, %r11;
    ld.shared.u32 %r13, [%r12];
    ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [total];
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r13;
    red.global.add.u32 [%rd2], %r13;
    ret;
}
"""


def reference():
    values = []
    for i in range(61 * 96):
        x, n = i, i & 15
        while True:
            x, n = (x * 1664525 + 1013904223) & 0xffffffff, n - 1
            if n <= 0:
                break
        values.append(x)
    y = [values[i // 96 * 96 + 95 - i % 96] for i in range(61 * 96)]
    return y, sum(y) & 0xffffffff


class Jobs(unittest.TestCase):
    def test_equal_for_any_number_of_workers(self):
        with open(os.path.join(DIR, "w.ptx"), "w") as f:
            f.write(PTX)
        seen = []
        for jobs in (1, 2, 3, 8):
            r = subprocess.run([WARPGRIND, "run", "w.ptx", "--grid=61", "--block=96", "-q", "-j", str(jobs), "-o", "w.wgprof",
                                "-a", "zeros:u32:5856", "-a", "zeros:u32:1", "--dump=0=-", "--dump=1=-"],
                               capture_output=True, text=True, cwd=DIR)
            self.assertEqual((r.returncode, r.stderr), (0, ""), f"{jobs} jobs")
            with open(os.path.join(DIR, "w.wgprof")) as f:
                profile = json.load(f)
            profile["launches"][0].pop("host_seconds")
            seen.append((r.stdout, profile))
        y, total = reference()
        self.assertEqual([int(x) for x in seen[0][0].split()], y + [total])
        for other in seen[1:]:
            self.assertEqual(other, seen[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
