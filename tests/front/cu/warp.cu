// wants: shfl.sync.idx.b32
// wants: shfl.sync.up.b32
// wants: shfl.sync.down.b32
// wants: shfl.sync.bfly.b32
// wants: vote.sync.ballot.b32
// wants: vote.sync.any.pred
// wants: vote.sync.all.pred
// wants: activemask.b32
// wants: match.any.sync.b32
// wants: match.all.sync.b64
// wants: redux.sync.add.s32
// wants: bar.warp.sync
// wants: bar.sync
// wants: bar.red.popc.u32
// wants: membar.gl
// wants: fns.b32
// wants: dp4a.s32.s32
// wants: nanosleep.u32
// wants: mov.u32 .*%laneid
// wants: %globaltimer
// never: shfl\.(idx|up|down|bfly)
// never: vote\.(all|any|ballot)
__global__ void k(int *o, float *f, double *d, int v)
{
    const unsigned all = 0xffffffffu;
    o[0] = __shfl_sync(all, v, 3) + __shfl_up_sync(all, v, 1) + __shfl_down_sync(all, v, 2, 16) + __shfl_xor_sync(all, v, 4);
    f[0] = __shfl_sync(all, f[1], 5);
    d[0] = __shfl_xor_sync(all, d[1], 1);
    o[1] = (int)__ballot_sync(all, v) + __any_sync(all, v) + __all_sync(all, v) + (int)__activemask();
    int same;
    o[2] = (int)__match_any_sync(all, v) + (int)__match_all_sync(all, (long long)v, &same) + same;
    o[3] = (int)__reduce_add_sync(all, (unsigned)v) + __reduce_max_sync(all, v);
    o[4] = __shfl(v, 1) + __shfl_down(v, 1) + __any(v) + (int)__ballot(v); // without a mask, as before CUDA 9
    __syncwarp();
    __syncthreads();
    o[5] = __syncthreads_count(v) + __syncthreads_or(v);
    __threadfence();
    o[6] = (int)__fns(all, 0, v) + __dp4a(v, o[7], o[8]);
    __nanosleep(20);
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    o[9] = (int)lane + (int)globaltimer() + warpSize;
}
int main() {}
