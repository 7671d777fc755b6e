// wants: atom.global.add.u32
// wants: atom.global.add.f32
// wants: atom.global.add.f64
// wants: atom.global.add.u64
// wants: atom.cta.add.s32
// wants: atom.sys.cas.b32
// wants: atom.shared.max.s32
// wants: atom.global.min.u64
// wants: atom.global.exch.b32
// wants: atom.inc.u32
// wants: atom.global.xor.b64
// wants: atom.cas.b16
// never: __nv_
__global__ void k(int *i, unsigned *u, unsigned long long *w, float *f, double *d, unsigned short *h)
{
    __shared__ int s;
    s = 0;
    __syncthreads();
    atomicMax(&s, i[threadIdx.x]);
    __syncthreads();
    i[0] = atomicAdd(&i[1], s);
    f[0] = atomicAdd(&f[1], 1.0f);
    d[0] = atomicAdd(&d[1], 1.0);
    w[0] = atomicAdd(&w[1], 1ull);
    i[2] = atomicAdd_block(&i[3], 1);
    i[4] = atomicCAS_system(&i[5], 1, 2);
    w[2] = atomicMin(&w[3], 5ull);
    f[2] = atomicExch(&f[3], 2.0f);
    u[0] = atomicInc(&u[1], 9u) + atomicSub(&u[2], 1u) + atomicDec(&u[3], 4u);
    w[4] = atomicXor(&w[5], 3ull) + atomicCAS(&w[6], 1ull, 2ull);
    h[0] = atomicCAS(&h[1], (unsigned short)1, (unsigned short)2);
    u[4] = atomicAnd(&u[5], 1u) | atomicOr(&u[6], 2u);
}
int main() {}
