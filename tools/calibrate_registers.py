#!/usr/bin/env python3
"""Fits the register estimate of src/model/pressure.c to what ptxas gives for PTX files.

usage: calibrate_registers.py PRESSURE_TOOL OUT.csv FILE.ptx...
PRESSURE_TOOL is tests/models/test_pressure of a build. Writes the table that tests/models/registers reads and prints the
constants with the errors on both halves. The halves are of files, so that no program lies in both."""
import csv
import os
import re
import subprocess
import sys
import zlib


def ptxas(path):
    arch = 'sm_90a' if re.search(r'\.target\s+sm_90a', open(path, errors='replace').read(4096)) else 'sm_90'
    p = subprocess.run(['ptxas', '-v', '-arch=' + arch, path, '-o', '/dev/null'], capture_output=True, text=True)
    said = re.finditer(r"ompiling entry function '(\S+)' for.*?Used (\d+) registers", p.stdout + p.stderr, re.S)
    return {m[1]: int(m[2]) for m in said}


def solve(a):
    n = len(a)
    for i in range(n):
        k = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[k] = a[k], a[i]
        for j in range(n):
            if j != i:
                f = a[j][i] / a[i][i]
                a[j] = [u - f * v for u, v in zip(a[j], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


def columns(r):
    return [r[1], r[2], r[3], r[4], 1]


def fit(rows):
    """Least sum of relative errors (not of squares): squares weighed by one over the error, until it settles."""
    w = [1, 0, 0, 0, 3]
    for _ in range(60):
        a = [[1e-9 * (i == j) for j in range(5)] + [0] for i in range(5)]
        for r in rows:
            x, regs = columns(r), r[6]
            weight = 1 / regs ** 2 / max(0.02, abs(sum(u * v for u, v in zip(w, x)) / regs - 1))
            for i in range(5):
                for j in range(5):
                    a[i][j] += weight * x[i] * x[j]
                a[i][5] += weight * x[i] * regs
        w = solve(a)
    return w


def report(name, rows, w):
    ratio = sorted(r[6] / max(1, round(sum(u * v for u, v in zip(w, columns(r))))) for r in rows)
    error = sorted(abs(1 - 1 / q) for q in ratio)
    at = lambda v, q: v[min(len(v) - 1, int(q * len(v)))]
    print(f'{name}: {len(rows)} kernels, error median {at(error, .5):.3f}, 90 % {at(error, .9):.3f}; '
          f'within 10 %: {sum(e <= .1 for e in error) / len(error):.2f}, 20 %: {sum(e <= .2 for e in error) / len(error):.2f}; '
          f'registers / estimate: 4 % {at(ratio, .04):.2f}, 96 % {at(ratio, .96):.2f}')


def main(told=ptxas):
    tool, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    rows, seen = [], set()
    for path in files:
        regs = told(path)
        half = zlib.crc32(os.path.basename(path).encode()) % 2
        for line in subprocess.run([tool, path], capture_output=True, text=True).stdout.splitlines():
            _, name, *numbers = line.split('\t')
            if name in regs and (name, *numbers) not in seen:
                seen.add((name, *numbers))
                rows.append((half, *map(int, numbers), regs[name]))
    with open(out, 'w') as f:
        f.write('# Kernels of public CUDA programs as PTX: half (0 was used to fit, 1 was not); registers live at once in the order\n'
                '# that hides latency within 32, within 24, as written; whether it calls; PTX instructions; what ptxas 13.0 gave (sm_90).\n')
        csv.writer(f, lineterminator='\n').writerows(rows)
    halves = [[r for r in rows if r[0] == h] for h in (0, 1)]
    w = fit(halves[0])
    print('constants: %.2f x live + %.2f x tight + %.2f x plain + %.1f if it calls + %.1f' % tuple(w))
    report('used to fit', halves[0], w)
    report('not used', halves[1], w)


if __name__ == '__main__':
    main()
