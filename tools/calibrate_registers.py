#!/usr/bin/env python3
"""Fits the register estimate of src/model/pressure.c to what ptxas gives for PTX files.

usage: calibrate_registers.py PRESSURE_TOOL OUT.csv FILE.ptx...
PRESSURE_TOOL is tests/models/test_pressure of a build. Writes the table that tests/models/registers reads (even rows were used
to fit, odd ones were not) and prints the constants with the errors on both halves."""
import csv
import re
import subprocess
import sys


def ptxas(path):
    arch = 'sm_90a' if re.search(r'\.target\s+sm_90a', open(path, errors='replace').read(4096)) else 'sm_90'
    p = subprocess.run(['ptxas', '-v', '-arch=' + arch, path, '-o', '/dev/null'], capture_output=True, text=True)
    said = re.finditer(r"ompiling entry function '(\S+)' for.*?Used (\d+) registers", p.stdout + p.stderr, re.S)
    return {m[1]: int(m[2]) for m in said}


def fit(rows):
    """Least squares of relative error on live, all, and one."""
    a = [[0.0] * 4 for _ in range(3)]
    for live, every, _, regs in rows:
        x = [live / regs, every / regs, 1 / regs]
        for i in range(3):
            for j in range(3):
                a[i][j] += x[i] * x[j]
            a[i][3] += x[i]
    for i in range(3):
        for j in range(3):
            if j != i:
                f = a[j][i] / a[i][i]
                a[j] = [u - f * v for u, v in zip(a[j], a[i])]
    return [a[i][3] / a[i][i] for i in range(3)]


def report(name, rows, w):
    ratio = sorted(r[3] / max(1, w[0] * r[0] + w[1] * r[1] + w[2]) for r in rows)
    error = sorted(abs(1 - 1 / q) for q in ratio)
    at = lambda v, q: v[min(len(v) - 1, int(q * len(v)))]
    print(f'{name}: {len(rows)} kernels, error median {at(error, .5):.3f}, 90 % {at(error, .9):.3f}; '
          f'within 10 %: {sum(e <= .1 for e in error) / len(error):.2f}; '
          f'registers / estimate: 5 % {at(ratio, .05):.2f}, 95 % {at(ratio, .95):.2f}')


def main():
    tool, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    rows, seen = [], set()
    for path in files:
        regs = ptxas(path)
        for line in subprocess.run([tool, path], capture_output=True, text=True).stdout.splitlines():
            _, name, live, every, n = line.split('\t')
            key = (name, live, every, n)
            if name in regs and key not in seen:
                seen.add(key)
                rows.append((int(live), int(every), int(n), regs[name]))
    with open(out, 'w') as f:
        f.write('# Kernels of public CUDA programs as PTX: registers live at once without and with values that can be made again,\n'
                '# instructions, and the registers ptxas 13.0 gave them for sm_90. Even rows, from 0, were used to fit.\n')
        csv.writer(f, lineterminator='\n').writerows(rows)
    w = fit(rows[::2])
    print('constants: %.3f x live + %.3f x all + %.2f' % tuple(w))
    report('used to fit', rows[::2], w)
    report('not used', rows[1::2], w)


if __name__ == '__main__':
    main()
