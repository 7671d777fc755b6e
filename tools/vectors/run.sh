#!/bin/bash
# run.sh - runs every variant of tests/ref/legal.def on the GPU at hand: run.sh OUTDIR
# Writes OUTDIR/<gpu>.bin.gz, to be committed as tests/ops/data/<gpu>.bin.gz, and OUTDIR/log.txt with what was refused.
# Needs cc, nvcc (12.4 or later) and a GPU of compute capability 9.0 or later; about a minute.
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh OUTDIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
mkdir -p "$1"
out=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cc -O1 -std=gnu11 -D_GNU_SOURCE -I"$root/src" -I"$root/include" "$root"/tests/ref/{gen,variant,pool,kernel}.c \
    "$root/src/isa/isa.c" -o "$tmp/gen"
"$nvcc" -O1 -std=c++17 "$here/run.cu" -o "$tmp/run" -L"$(dirname "$nvcc")/../lib64/stubs" -lcuda
"$tmp/gen" package "$tmp/package"
CUDA_CACHE_DISABLE=1 "$tmp/run" "$tmp/package" "$tmp/result" | tee "$out/log.txt"
gpu=$(tail -n 1 "$out/log.txt" | sed 's/,.*//; s/^NVIDIA //' | tr 'A-Z ' 'a-z-')
gzip -9nc "$tmp/result" >"$out/$gpu.bin.gz"
ls -l "$out"
