#!/usr/bin/env python3
"""Registers in the profile: told by a ptxas (here a script that says what ptxas would), or estimated as a range."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
PTX = '''.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 x)
{
    .reg .b32 %r<3>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd4+4096], %r2;
    ret;
}
'''
# The words of ptxas 13.0 for -v; it writes no object, so nothing is known of the code.
FAKE = '''#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; fi
echo ran >>"$FAKE_LOG"
cat <<END
ptxas info    : Compiling entry function 'copy' for 'sm_90'
ptxas info    : Function properties for copy
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 80 registers, used 0 barriers
END
'''


class Registers(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.dir.name)
        (self.at / 'k.ptx').write_text(PTX)
        (self.at / 'ptxas').write_text(FAKE)
        (self.at / 'ptxas').chmod(0o755)
        self.env = dict(os.environ, XDG_CACHE_HOME=str(self.at / 'cache'), FAKE_LOG=str(self.at / 'log'))

    def tearDown(self):
        self.dir.cleanup()

    def run_it(self, ptxas, block, *more):
        return subprocess.run([TOOL, 'run', 'k.ptx', '--block', str(block), '--arg', 'iota:u32:2048', '--ptxas', ptxas, '-o', 'p.wgprof',
                               *more], cwd=self.at, env=self.env, capture_output=True, text=True)

    def launch(self, ptxas, block=256):
        p = self.run_it(ptxas, block)
        self.assertEqual(p.returncode, 0, p.stderr)
        return json.loads((self.at / 'p.wgprof').read_text())['launches'][0], p.stderr

    def test_told(self):
        l, text = self.launch('./ptxas')
        self.assertEqual((l['registers'], l['registers_exact'], l['ptxas']), (80, True, 'V13.0.88'))
        self.assertEqual((l['spill_stores'], l['spill_loads']), (12, 16))
        self.assertRegex(text, r'registers +80 a thread \(ptxas V13\.0\.88\) +exact')
        self.assertRegex(text, r'spilled +12 bytes a thread stored, 16 loaded +exact')
        # 80 registers: 3 blocks of 256 of 2,048 threads, see NVIDIA's calculator
        self.assertRegex(text, r'occupancy +3 blocks, 24 of 64 warps \(38 %\); limit: registers +exact')

    def test_asked_once(self):
        self.launch('./ptxas')
        self.launch('./ptxas')
        self.assertEqual((self.at / 'log').read_text(), 'ran\n')

    def test_too_many_for_the_block(self):
        p = self.run_it('./ptxas', 1024)
        self.assertNotEqual(p.returncode, 0)
        self.assertRegex(p.stderr, 'copy needs 80 registers a thread, which 1024 threads a block cannot have')

    def test_estimated(self):
        l, text = self.launch('none')
        self.assertFalse(l['registers_exact'])
        self.assertLessEqual(l['registers_low'], l['registers'])
        self.assertLessEqual(l['registers'], l['registers_high'])
        self.assertRegex(text, r'registers +\d+ a thread(, from \d+ to \d+)? +estimated')
        self.assertFalse((self.at / 'log').exists())


if __name__ == '__main__':
    unittest.main(argv=sys.argv)
