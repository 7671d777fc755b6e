#!/bin/sh
# Times every pair of kernels in pairs.cu on this machine's GPU: ./run.sh OUT [ARCH]. Needs nvcc; under a minute. OUT gets
# h200.csv: pair, elements, microseconds of the bad and of the good one (medians, caches wiped before each launch).
set -eu
out=${1:?usage: run.sh OUT [ARCH]}
arch=${2:-sm_90}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
nvcc -arch="$arch" -O3 -std=c++17 "$here/pairs.cu" -o "$out/pairs"
"$out/pairs" 22 time > "$out/h200.csv"
"$out/pairs" 24 time | tail -n +2 >> "$out/h200.csv"
rm "$out/pairs"
cat "$out/h200.csv"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader || true
