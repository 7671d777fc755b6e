"""A Triton kernel's memory accesses, counted without a GPU: Triton compiles to PTX anywhere, warpgrind runs that.

    pip install triton && python triton_kernel.py
"""
import array

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import warpgrind


@triton.jit
def scale(x, y, n, stride: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i * stride, mask=i < n), mask=i < n)


def compile_to_ptx(stride, block):
    source = ASTSource(fn=scale, signature={"x": "*fp32", "y": "*fp32", "n": "i32", "stride": "constexpr", "BLOCK": "constexpr"},
                       constexprs={(3,): stride, (4,): block})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32))


def main():
    n, block = 4096, 1024
    for stride in (1, 8):
        k = compile_to_ptx(stride, block)
        x, y = array.array("f", [float(i) for i in range(n * stride)]), array.array("f", [0.0] * n)
        # Triton adds pointers to scratch memory, which this kernel does not use, to the arguments
        ptx = k.asm["ptx"]
        extra = ptx.split(".entry")[1].split(")")[0].count(".param") - 3
        profile = warpgrind.run_ptx(ptx, grid=n // block, block=32 * k.metadata.num_warps, args=[x, y, n] + [0] * extra,
                                    shared=k.metadata.shared)
        assert list(y) == [2.0 * x[i * stride] for i in range(n)]
        r = profile.kernels[-1]
        print(f"stride {stride}: {r.sectors_per_load:.1f} sectors a load request, {r.uncoalesced_sectors} sectors above the ideal "
              f"({r.fidelity('uncoalesced_sectors')})")


if __name__ == "__main__":
    main()
