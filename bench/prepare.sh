# prepare.sh - what bench/engine, bench/peers and bench/checks have in common; sourced from the repository's root.
. tools/packages.sh

BENCH_BUILD=${BENCH_BUILD:-build}
export BENCH_BUILD

# bench_build TARGET...: configures $BENCH_BUILD (build/) as a release build if need be, and builds the targets there.
bench_build() {
    local target targets=""
    [ -f "$BENCH_BUILD/build.ninja" ] || meson setup "$BENCH_BUILD" -Dtests=false >&2
    meson setup --reconfigure "$BENCH_BUILD" >/dev/null # finds OpenCL if it was installed since
    if ! grep -q -e ' -O3 ' "$BENCH_BUILD/build.ninja"; then
        echo "$BENCH_BUILD is not a release build; give another directory in BENCH_BUILD" >&2
        return 1
    fi
    for target in "$@"; do
        targets="$targets bench/$target"
    done
    # shellcheck disable=SC2086
    ninja -C "$BENCH_BUILD" $targets >&2
}

# bench_ptx OUT: kernels.cu as PTX, by nvcc where there is one, else by clang with our headers. Prints which.
bench_ptx() {
    if command -v nvcc >/dev/null; then
        nvcc -ptx -O3 -arch=sm_80 bench/kernels.cu -o "$1"
        nvcc --version | sed -n 's/.*release \([0-9.]*\).*/PTX by nvcc \1/p'
    else
        clang-19 -x cuda --cuda-device-only -S -O3 -nocudainc -nocudalib --cuda-gpu-arch=sm_80 \
            -Xclang -target-feature -Xclang +ptx75 -Wno-unknown-cuda-version -isystem include/cuda \
            -include cuda_runtime.h bench/kernels.cu -o "$1"
        echo "PTX by $(clang-19 --version | head -1)"
    fi
}

# bench_machine: one line about where this runs and how busy it is.
bench_machine() {
    local cpu load
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    load=$(cut -d' ' -f1 /proc/loadavg)
    echo "${cpu:-processor unknown}, $(nproc) processors, load $load"
}
