"""The calculators: every exercise of `learn` answered, bad input refused with the place, batches read, nothing crashes."""
import csv
import io
import os
import random
import shlex
import subprocess
import sys

CALC, DATA = sys.argv[1], os.environ['WG_TEST_DATA']
failures = []


def run(args, text=None):
    words = shlex.split(args) if isinstance(args, str) else args
    p = subprocess.run([CALC] + words, input=text, capture_output=True, text=True, timeout=60)
    if p.returncode < 0 or 'Sanitizer' in p.stderr:
        failures.append(f'{args}: ended by signal {-p.returncode}\n{p.stderr}')
    return p.returncode, p.stdout, p.stderr


def holds(args, parts, code=0, where='out'):
    rc, out, err = run(args)
    text = out if where == 'out' else err
    for part in parts if isinstance(parts, list) else [parts]:
        if part not in text:
            failures.append(f'{args}: no {part!r} in\n{text}')
    if rc != code:
        failures.append(f'{args}: exit {rc}, not {code}\n{err}')


def refused(args, parts, code=1):
    holds(args, parts, code, 'err')
    if run(args)[2].count('\n') == 0:
        failures.append(f'{args}: says nothing')


# ---- the textbook's table
rc, out, _ = run('learn --checks')
rows = [line.split('\t') for line in out.splitlines()]
if [r[0] for r in rows] != 'C1 C2 C3 C4 B1 B2 B3 B4 O1 O2 O3 O4 O5 O6 O7 O8 O9 T1 T2 T3 T4 T5 R1 R2 R3 R4 R5 S1 S2 S3'.split():
    failures.append(f'exercises: {[r[0] for r in rows]}')
for name, command, parts in rows:
    if '.cu' in command:
        continue  # tests/examples/test_learn.py runs programs
    holds(command, [p.replace('\\n', '\n') for p in parts.split('|')])
    holds(command + ' --explain', [])
    if '1. ' not in run(command + ' --explain')[1] and name not in ('T1', 'T4'):
        failures.append(f'{name}: --explain explains nothing')
holds('tile --gemm 1024x1024x1024 --tile 32', '4/32 = 0.125 bytes a flop')
holds('tile --rect 1x1', ': 8 bytes each')
holds('tile --rect 2x2', ': 4 bytes each')
holds('learn o8', ['1,024 threads = 32 warps', 'warpgrind occupancy --sm'])

# ---- layouts that have been tried
holds("banks --array 'float t[16][16]' --block 16x16 --store 't[y][x]' --access 't[x][y]'",
      ['load t[x][y], 32 bits a lane: 8 passes', 'store t[y][x], 32 bits a lane: 1 pass'])
holds("banks --array 'float t[32][32]' --store 't[0][t]' --access 't[t][0]' --cc 9.0 --threads 256 --regs 32",
      ['pad rows by 1', 'costs 128 bytes', 'occupancy 100 % -> 100 %', 'swizzle: column ^ (row & 31)', 'costs no memory'])
# 16-bit columns: an H200 counted 512, 48 and 32 passes for rows of 32, 33 and 34
holds("banks --array 'half t[32][32]' --access 't[t][k]' --for k=0..31", ['512 passes, ideally 32', 'pad rows by 2', '32 passes'])
holds("banks --array 'half t[32][33]' --access 't[t][k]' --for k=0..31", '48 passes')
# a transposed store: 2 passes with rows of 128 and 130, 1 with 132
for row, passes in ((128, 2), (130, 2), (132, 1)):
    holds(f"banks --array 'float a[8][{row}]' --store 'a[4 * (t % 2) + j][t / 2]' --for j=0..3", f': {4 * passes} passes, ideally 4')
holds("banks --array 'float4 v[64]' --access 'v[t]'", ['128 bits a lane: 4 passes, no conflict', 'nothing to gain'])
holds("banks --array 'float4 v[64]' --access 'v[t].y'", ['4 passes where 1 would do; 4-way conflict'])
holds("banks --array 'float t[32][32]' --atomic 't[0][0]'", '32 passes')
holds("banks --array 'int h[1024]' --access 'h[t * 32]'", 'index i becomes i + i / 32 * 1')
holds("banks --array 'float t[32][32]' --access 't[t][t ^ t]' --width 64", '16-way')

# ---- lanes, atomics, expressions
holds('coalesce --stride 4 --lanes 0-15', ['2 sectors', '64 bytes asked for, 64 moved'])
holds('coalesce --expr a --atomic', ['1 sectors', '32 sector operations', '4 bytes are distinct'])
holds("coalesce --expr 'a + (t < 16 ? 4*t : 4096 + 4*(t-16))'", ['4 sectors', '2 lines'])
holds("coalesce --expr 'a + 0x80*(t>>1) + 4*(t&1)' --size 4", ['16 sectors', '16 lines'])
holds('coalesce --stride -4 --explain', '4 sectors')
holds("coalesce --block 8x4 --expr 'a + 4*x + 4096*y'", '4 sectors')
holds('roofline --device H100 --flops 2e9 --bytes 1e9', ['memory bound', '2 flop/byte'])
holds('roofline --device H100 --flops 2T --bytes 1G --explain', ['compute bound', 'ridge'])
holds('tile --gemm 4096x4096x4096 --device A100 --occupancy 50% --stages 2..3', ['reach 50 % occupancy', 'held by'])
holds('occupancy --cc 9.0 --threads 256 --regs 64 --target 75%', ['registers: 40 or fewer', 'block sizes'])
holds('occupancy --cc 8.6 --threads 256 --regs 32 --curve threads', '<- asked')
holds('devices', ['T4', 'V100', 'A100', 'A10', 'L4', 'RTX 3090', 'RTX 4090', 'RTX 5090', 'H100', 'H100-PCIe', 'H200', 'B200',
                  'GH200', 'Orin'])
holds('devices h200', ['132 SM', 'source:'])

# ---- refusals
refused("banks --array 'float t[32]' --access 't[k]' --for k=9..1", '--for takes')
refused("banks --array 'float tile[32' --access 'tile[t]'", ["expected ']'", '\n', '^'])
refused("banks --array 'flot tile[32]' --access 'tile[t]'", ['expected a type', '^'])
refused("banks --array 'float tile[32][33]' --access 'tile[t]'", ['more dimensions', '^'])
refused("banks --array 'float tile[32]' --access 'tile[t+1]'", ['outside 0 to 31', '^'])
refused("banks --array 'float tile[32]' --access 'tile[t +* 1]'", ['expected a number', '^'])
refused("banks --array 'float tile[32]' --access 'tile[t / 0]'", ['division by zero', '^'])
refused("banks --array 'float tile[32]' --access 'til[t]'", ["expected the array 'tile'", '^'])
refused("banks --array 'float3 tile[32]' --access 'tile[t]'", 'several instructions')
refused("banks --array 'float tile[64]' --access 'tile[t]' --width 64", 'faults')
refused("coalesce --expr 'a + 32*q'", ["unknown name 'q'", '^'])
refused("coalesce --expr 'a + (32*t'", ["expected ')'", '^'])
refused("coalesce --expr ''", 'ends too early')
refused('coalesce', '--stride or --expr')
refused('coalesce --stride 4 --size 3', '--size takes')
refused('coalesce --stride 4 --lanes 0-40', '--lanes takes')
refused('coalesce --stride 2', 'faults')
refused('occupancy --threads 32', '--cc X.Y, --device NAME or --sm')
refused('occupancy --cc 9.0', '--threads is missing')
refused('occupancy --cc 9.0 --threads 1x', '--threads takes a whole number')
refused('occupancy --cc 9.3 --threads 32', 'known are 5.0')
refused('occupancy --device H20 --threads 32', 'did you mean H200')
refused('occupancy --sm regs=1,cores=2 --threads 32', "not 'cores=2'")
refused('occupancy --batch /nonexistent.csv', 'cannot read', 2)
refused('occupancy --cc 9.0 --threads 1024 --regs 200 --dynamic-smem 200000 --target 100', 'cannot be reached')
refused('tile --gemm 10x10 --tile 4', '--gemm takes')
refused('tile --gemm 512x512x512 --device T4 --tile 256 --rect 16x16 --occupancy 100', 'no tile fits')
refused('roofline --device T4 --flops 0 --bytes 1', 'above 0')
refused('roofline /nonexistent.wgprof', 'nonexistent', 2)
refused('devices Z80', 'unknown device')
refused('learn X9', "no exercise 'X9'")
refused('whatif /nonexistent.wgprof --regs 32', 'nonexistent', 2)
refused('whatif', 'takes one file')
refused('whatif x.wgprof', 'what if what')
refused('whatif x.wgprof --pad As', "as in As=1, not 'As'")
refused('whatif x.wgprof --pad As=0', 'changes nothing')
refused('whatif x.wgprof --pad As=1 --swizzle As=3', 'one --pad or --swizzle')
refused("whatif x.wgprof --pad As=1 --array 'float As[32'", ["expected ']'", '^'])
refused("whatif x.wgprof --pad As=1 --array 'float Bs[32][32]'", '--array declares Bs')
refused('whatif x.wgprof --device H20', 'did you mean H200')
refused('whatif x.wgprof --regs 0', 'above 0')
refused('whatif x.wgprof --block 2000', '--block takes')
for command in 'occupancy devices coalesce banks tile roofline learn whatif'.split():
    holds(command + ' --help', 'Usage: warpgrind ' + command)
    refused(command + ' --no-such-option', '--help')
    if max(map(len, run(command + ' --help')[1].splitlines())) > 100:
        failures.append(f'{command} --help is wider than 100 columns')

# ---- batch: the truth's own columns, answers filled in again
truth = open(os.path.join(DATA, 'occupancy.csv')).read()
rc, out, err = run(['occupancy', '--batch', '-', '--csv'], truth)
if out != truth:
    failures.append('a batch does not give the table back')
some = list(csv.DictReader(io.StringIO(truth)))[5]
rc, out, err = run(['occupancy', '--batch', '-'], 'regs,threads,cc\n{regs},{threads},{cc}\n'.format(**some))
if rc or out.splitlines()[1].split(',')[1:3] != [some['threads'], some['regs']]:
    failures.append(f'columns in another order: {out} {err}')
for bad, part in [('cc,threads\n9.0,-1\n', ":2: threads '-1'"), ('cc,threads\n9.0\n', 'a column is missing'),
                  ('threads\n32\n', 'cc and threads'), ('', 'is empty'), ('cc,threads\n4.2,32\n', 'unknown compute capability')]:
    rc, out, err = run(['occupancy', '--batch', '-'], bad)
    if rc != 2 or part not in err:
        failures.append(f'batch {bad!r}: exit {rc}, {err!r}')

# ---- text of any kind: refused or answered, never a crash
random.seed(7)
pieces = ['t', 'a', 'x', '[', ']', '(', ')', '+', '*', '/', '%', '<<', '>>', '?', ':', '-', '~', '1', '32', '0x', 'tile', 'float', '.x',
          '^', '&&', '||', '<', ' ', '9' * 30, '\x1b[31m', 'é']
for _ in range(150):
    text = ''.join(random.choice(pieces) for _ in range(random.randint(1, 14)))
    run(['coalesce', '--expr', text])
    run(['banks', '--array', 'float tile[32][33]', '--access', 'tile[' + text + '][0]'])
    run(['banks', '--array', text, '--access', 'tile[t]'])
run(['coalesce', '--expr', '(' * 5000 + 't' + ')' * 5000])

for f in failures:
    print('FAIL', f)
sys.exit(bool(failures))
