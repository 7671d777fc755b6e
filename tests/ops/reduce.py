#!/usr/bin/env python3
"""reduce.py RANDOM_KERNELS SEED KERNEL.ptx: removes statements from a failing random kernel while it still fails.

KERNEL.ptx is what random_kernels wrote for SEED. Prints the smallest kernel found; further arguments go to the program."""
import os
import re
import subprocess
import sys
import tempfile

program, seed, path = sys.argv[1:4]
extra = sys.argv[4:]
FIXED = re.compile(r'^\s*(\.|[{}]|\w+:|ret;|setp\.\S+ %k,|mov\.u32 %c\d|(mov|and)\.\w+ %t\d|//|st\.global\.\w+ \[%mine\+1[2-9]|st\.global\.\w+ \[%mine\+2)')


def outcome(lines):
    """None: it is right or not valid; else what kind of failure."""
    with tempfile.NamedTemporaryFile('w', suffix='.ptx', delete=False) as f:
        f.write('\n'.join(lines) + '\n')
    try:
        r = subprocess.run([program, '--first', seed, '--count', '1', '--file', f.name] + extra, capture_output=True,
                           text=True, timeout=20)
        if 'reference: ' in r.stdout:
            return None
        if 'engine: ' in r.stdout:
            return re.sub(r'[0-9]+', '', r.stdout.split('engine: ')[1])[:40]
        return 'memory' if ' byte ' in r.stdout or ' sum ' in r.stdout else 'crash' if r.returncode < 0 else None
    except subprocess.TimeoutExpired:
        return 'timeout'
    finally:
        os.unlink(f.name)


# A line is kept when it declares or stores, or sets up registers at the start of a function.
SETUP = 32
lines = open(path).read().rstrip().split('\n')
kept = set()
for k, l in enumerate(lines):
    if l.startswith('.func'):
        kept.update(lines[k:k + SETUP])
    if l.startswith('.visible'):
        end = next(j for j in range(k, len(lines)) if 'bar.sync' in lines[j])
        kept.update(lines[k:end + 1])
first = outcome(lines)
if not first:
    sys.exit('it does not fail')


def fails(text):
    return outcome(text) == first


size = len(lines) // 2
while size:
    at = 0
    while at < len(lines):
        block = [k for k in range(at, min(at + size, len(lines))) if not FIXED.match(lines[k]) and lines[k] not in kept]
        tried = [l for k, l in enumerate(lines) if k not in set(block)]
        if block and fails(tried):
            lines = tried
        else:
            at += size
    size //= 2
# labels and variables that nothing names any more
for k in reversed(range(len(lines))):
    if re.match(r'^\w+:$', lines[k]) and fails(lines[:k] + lines[k + 1:]):
        del lines[k]
print('\n'.join(lines))
