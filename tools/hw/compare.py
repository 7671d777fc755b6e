#!/usr/bin/env python3
"""Compares what tools/hw/measure wrote with what warpgrind says of the same program.

usage: compare.py TRUTH.csv [BUILD]       runs access.cu under BUILD/src/cli/warpgrind (build), with nvcc if it is there
       compare.py --trim RAW              Nsight Compute's raw page to the table that TRUTH.csv is, on standard output"""
import collections
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def trim(path):
    """Header, then one row a launch; the line of units goes, as does what is not a metric."""
    text = open(path).read()
    rows = list(csv.reader(text[text.index('"ID"'):].splitlines()))
    head = rows[0]
    keep = [i for i, name in enumerate(head) if '__' in name or name.startswith('memory_')]
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(['launch', 'kernel'] + [head[i] for i in keep])
    for n, row in enumerate(rows[2:]):
        out.writerow([n, row[head.index('Kernel Name')]] + [row[i].replace(',', '') for i in keep])


def ours(build):
    with tempfile.TemporaryDirectory() as work:
        profile = work + '/access.wgprof'
        subprocess.run([build / 'src/cli/warpgrind', '-q', '-o', profile, HERE / 'access.cu'], check=True,
                       stdout=subprocess.DEVNULL)
        said = subprocess.run([build / 'tests/models/metrics_csv', profile], check=True, capture_output=True, text=True)
    return list(csv.DictReader(said.stdout.splitlines()))[1:] # the first says how far to trust them


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def main():
    if len(sys.argv) == 3 and sys.argv[1] == '--trim':
        return trim(sys.argv[2])
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    truth = list(csv.DictReader(open(sys.argv[1])))
    mine = ours(pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else 'build').resolve())
    if [r['kernel'] for r in truth] != [r['kernel'] for r in mine]:
        sys.exit('compare.py: the table is not of this access.cu: other kernels, or another order')
    total, equal, differ = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for want, have in zip(truth, mine):
        for metric in list(want)[2:]:
            w, h = number(want[metric]), number(have.get(metric))
            if w is None or h is None:
                continue
            total[metric] += 1
            if abs(w - h) <= 1e-6 * max(1, abs(w)):
                equal[metric] += 1
            else:
                differ[metric].append((want['kernel'], int(want['launch']), h, w))
    for metric in total:
        print(f'{metric}: {equal[metric]} of {total[metric]} equal')
        for kernel, launch, h, w in differ[metric]:
            print(f'    {kernel} pattern {launch % 11}: {h:g}, hardware {w:g}')
    return 1 if any(differ.values()) else 0


if __name__ == '__main__':
    sys.exit(main())
