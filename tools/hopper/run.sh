#!/bin/sh
# run.sh [OUT] - runs the tests of Hopper's instructions, tests/ops/wgmma_test.c and tensor_copy.c, on the GPU of this
# machine instead of the engine, and writes what random products are, bit by bit, to OUT (bits.txt): compare with
# `build/tests/ops/wgmma_test --bits`. Wants a toolkit and a GPU of compute capability 9.0.
set -e
cd "$(dirname "$0")/../.."
out=${1:-bits.txt}
cuda=${CUDA_HOME:-/usr/local/cuda}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for t in wgmma_test tensor_copy; do
    cc -O1 -std=gnu11 -D_GNU_SOURCE -Iinclude -I"$cuda/include" -include tools/hopper/launch.h "tests/ops/$t.c" \
        -o "$dir/$t" -L"$cuda/lib64/stubs" -lcuda
    echo "== $t"
    TRIALS=1 "$dir/$t" || true
done
"$dir/wgmma_test" --bits > "$out"
echo "== $out"
cat "$out"
