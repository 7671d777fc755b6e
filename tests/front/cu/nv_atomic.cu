// wants: ld.relaxed.gpu.u64
// wants: ld.acquire.sys.u8
// wants: st.release.cta.u32
// wants: atom.relaxed.cta.add.u32
// wants: atom.acq_rel.sys.add.f64
// wants: fence.sc.cluster
// wants: atom.acquire.cluster.min.s32
// wants: atom.release.gpu.or.b64
// wants: atom.acquire.gpu.cas.b16
// wants: atom.relaxed.gpu.exch.b32
__global__ void nv(int *i, float *f, double *d, unsigned long long *u, unsigned char *b, unsigned short *s)
{
    u[1] = __nv_atomic_load_n(u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    b[1] = __nv_atomic_load_n(b, __NV_ATOMIC_ACQUIRE);
    __nv_atomic_store_n(i, 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    i[1] = __nv_atomic_fetch_sub(i + 2, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);
    __nv_atomic_add(d, 1.5, __NV_ATOMIC_ACQ_REL);
    i[3] = __nv_atomic_fetch_min(i + 4, -7, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_CLUSTER);
    __nv_atomic_or(u, 1ull << threadIdx.x, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    unsigned short was = 3;
    if (!__nv_atomic_compare_exchange_n(s, &was, (unsigned short)4, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                        __NV_THREAD_SCOPE_DEVICE))
        s[1] = was;
    float old, mine = 2.0f;
    __nv_atomic_exchange(f, &mine, &old, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    f[1] = old;
}
