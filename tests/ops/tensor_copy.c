/* tensor_copy.c - tensor copies of random boxes against a second reading of the rules, element by element; bulk copies
 * and reductions; multicast to a cluster. */
#include "launch.h"
#include <warpgrind/tensormap.h>

enum { SHARED = 65536, TENSOR = 1 << 20 };
static char text[8192];

/* A kernel that brings one box to shared memory at 0 and shows it: map, out, bytes shown, transaction bytes,
 * coordinates. */
static const char *load_kernel(unsigned rank, bool multicast)
{
    static const char *const coords[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    int n = snprintf(text, sizeof text,
                     ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sh[];\n"
                     ".visible .entry k(.param .u64 map, .param .u64 out, .param .u64 show, .param .u64 tx");
    for (unsigned k = 0; k < rank; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, ", .param .u64 p%u", k);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  ")\n{\n    .reg .b64 %%m, %%o, %%a<8>;\n    .reg .b32 %%t, %%c<5>, %%r<10>, %%bar;\n    .reg .b16 "
                  "%%h;\n    .reg .pred %%p, %%q;\n"
                  "    .shared .align 8 .b64 bar;\n"
                  "    ld.param.u64 %%m, [map];\n    ld.param.u64 %%o, [out];\n    ld.param.u32 %%r1, [show];\n    "
                  "ld.param.u32 %%r2, [tx];\n");
    for (unsigned k = 0; k < rank; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "    ld.param.u32 %%c%u, [p%u];\n", k, k);
    n += snprintf(
        text + n, sizeof text - (size_t)n,
        "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%bar, bar;\n    mov.u32 %%r3, sh;\n    setp.ne.u32 %%p, %%t, 0;\n"
        "    mov.u32 %%r4, %%cluster_ctarank;\n    setp.ne.u32 %%q, %%r4, 0;\n    or.pred %%q, %%p, %%q;\n"
        "    @%%p bra go;\n    mbarrier.init.shared::cta.b64 [%%bar], 1;\n    fence.mbarrier_init.release.cluster;\n"
        "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %%r2;\n"
        "go:\n    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n    mov.u16 %%h, 3;\n");
    n += snprintf(text + n, sizeof text - (size_t)n,
                  multicast
                      ? "    @!%%q "
                        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
                        "cluster [%%r3], [%%m, {%s}], [%%bar], %%h;\n"
                      : "    @!%%p cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                        "[%%r3], [%%m, {%s}], [%%bar];\n",
                  rank, coords[rank]);
    snprintf(text + n, sizeof text - (size_t)n,
             "wait:\n    mbarrier.try_wait.parity.shared::cta.b64 %%p, [%%bar], 0;\n    @!%%p bra wait;\n"
             "    mul.lo.u32 %%r6, %%r4, %%r1;\n    cvt.u64.u32 %%a2, %%r6;\n    add.u64 %%o, %%o, %%a2;\n    shl.b32 "
             "%%r5, %%t, 2;\n"
             "copy:\n    setp.ge.u32 %%p, %%r5, %%r1;\n    @%%p bra done;\n    add.u32 %%r7, %%r3, %%r5;\n    "
             "ld.shared.u32 %%r8, [%%r7];\n"
             "    cvt.u64.u32 %%a0, %%r5;\n    add.u64 %%a1, %%o, %%a0;\n    st.global.u32 [%%a1], %%r8;\n    add.u32 "
             "%%r5, %%r5, 128;\n    bra copy;\n"
             "done:\n    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n    ret;\n}\n");
    return text;
}
/* The other way, or a reduction: shared memory is filled from in first. */
static const char *store_kernel(unsigned rank, const char *reduce)
{
    static const char *const coords[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    int n = snprintf(text, sizeof text,
                     ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sh[];\n"
                     ".visible .entry k(.param .u64 map, .param .u64 in, .param .u64 show");
    for (unsigned k = 0; k < rank; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, ", .param .u64 p%u", k);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  ")\n{\n    .reg .b64 %%m, %%o, %%a<8>;\n    .reg .b32 %%t, %%c<5>, %%r<10>;\n    .reg .pred %%p;\n"
                  "    ld.param.u64 %%m, [map];\n    ld.param.u64 %%o, [in];\n    ld.param.u32 %%r1, [show];\n");
    for (unsigned k = 0; k < rank; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "    ld.param.u32 %%c%u, [p%u];\n", k, k);
    n += snprintf(
        text + n, sizeof text - (size_t)n,
        "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%r3, sh;\n    shl.b32 %%r5, %%t, 2;\n"
        "copy:\n    setp.ge.u32 %%p, %%r5, %%r1;\n    @%%p bra done;\n    add.u32 %%r7, %%r3, %%r5;\n"
        "    cvt.u64.u32 %%a0, %%r5;\n    add.u64 %%a1, %%o, %%a0;\n    ld.global.u32 %%r8, [%%a1];\n    st.shared.u32 "
        "[%%r7], %%r8;\n"
        "    add.u32 %%r5, %%r5, 128;\n    bra copy;\n"
        "done:\n    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    setp.ne.u32 %%p, %%t, 0;\n    @%%p ret;\n");
    snprintf(text + n, sizeof text - (size_t)n,
             "    cp%s.async.bulk.tensor.%ud.global.shared::cta%s.tile.bulk_group [%%m, {%s}], [%%r3];\n"
             "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group.read 0;\n    cp.async.bulk.wait_group 0;\n "
             "   ret;\n}\n",
             reduce ? ".reduce" : "", rank, reduce ? reduce : "", coords[rank]);
    return text;
}

struct trial {
    struct wg_tensormap_tiled t;
    int32_t at[5];
    uint32_t n[5], bytes, elements, pitch, span;
};

static void random_trial(uint64_t *s, struct trial *r, uint64_t address)
{
    static const unsigned types[] = {WG_TENSORMAP_U8, WG_TENSORMAP_F16, WG_TENSORMAP_U32, WG_TENSORMAP_F64};
    memset(r, 0, sizeof *r);
    struct wg_tensormap_tiled *t = &r->t;
    t->type = types[draw(s) % 4];
    r->bytes = wg_tensormap_type_bytes(t->type);
    t->rank = 1 + draw(s) % 5;
    t->swizzle = draw(s) % 4;
    t->address = address;
    uint64_t stride = 0;
    r->elements = 1;
    for (unsigned k = 0; k < t->rank; k++) {
        t->dim[k] = 1 + draw(s) % (k ? 6 : 70);
        uint32_t wide = t->swizzle ? 16u << t->swizzle : 16 * (1 + draw(s) % 4); /* bytes of a row */
        t->box[k] = k ? 1 + draw(s) % 5 : wide / r->bytes;
        if (t->box[k] > 256)
            t->box[k] = 256;
        t->step[k] = draw(s) % 3 ? 1 : 1 + draw(s) % 3;
        if (k) {
            stride = k == 1 ? (t->dim[0] * r->bytes + 15) / 16 * 16 + 16 * (draw(s) % 3) : stride * t->dim[k - 1];
            t->stride[k - 1] = stride;
        }
        r->n[k] = k ? (t->box[k] + t->step[k] - 1) / t->step[k] : t->box[k];
        r->elements *= r->n[k];
        r->at[k] = (int32_t)(draw(s) % (t->dim[k] + 4)) - 3;
    }
    r->pitch = r->n[0] * r->bytes;
    if (t->swizzle && r->pitch < 16u << t->swizzle)
        r->pitch = 16u << t->swizzle;
    r->span = r->elements / r->n[0] * r->pitch;
}
/* Where element e of the box lies in shared memory, and in global memory (-1: outside). */
static uint32_t shared_at(const struct trial *r, uint32_t e)
{
    uint32_t o = e / r->n[0] * r->pitch + e % r->n[0] * r->bytes,
             unit = 1u << r->t.swizzle; /* 16-byte places in a row */
    uint32_t place = o / 16 % unit, line = o / 128;
    return r->t.swizzle ? o - place * 16 + (place ^ line % unit) * 16 : o;
}
static int64_t global_at(const struct trial *r, uint32_t e)
{
    int64_t at = 0;
    for (unsigned k = 0; k < r->t.rank; k++) {
        int64_t c = r->at[k] + (int64_t)(e % r->n[k]) * (k ? r->t.step[k] : 1);
        e /= r->n[k];
        if (c < 0 || c >= (int64_t)r->t.dim[k])
            return -1;
        at += c * (int64_t)(k ? r->t.stride[k - 1] : r->bytes);
    }
    return at;
}

static unsigned tensors(unsigned tools, unsigned trials, bool multicast)
{
    struct wg *g = open_device(tools);
    uint64_t s = 7 + tools + multicast, tensor = buffer(g, TENSOR), out = buffer(g, 2 * SHARED), map = buffer(g, 128);
    unsigned failed = 0;
    wg_host_writes(g, tensor, TENSOR);
    wg_host_writes(g, map, 128);
    for (unsigned n = 0; n < trials; n++) {
        struct trial r;
        const char *why;
        random_trial(&s, &r, tensor);
        if (wg_tensormap_encode_tiled((void *)map, &r.t, &why)) {
            printf("map refused: %s\n", why);
            return failed + 1;
        }
        if (getenv("TRIALS")) { /* a GPU that stops says nothing of why */
            printf("trial %u: rank %u, type %u, swizzle %u", n, r.t.rank, r.t.type, r.t.swizzle);
            for (unsigned k = 0; k < r.t.rank; k++)
                printf(", %d of %llu by %u/%u", r.at[k], (unsigned long long)r.t.dim[k], r.t.box[k], r.t.step[k]);
            printf("\n");
            fflush(stdout);
        }
        for (uint32_t k = 0; k < TENSOR / 16; k++)
            ((uint32_t *)tensor)[k] = draw(&s);
        uint64_t args[9] = {map, out, (r.span + 3) / 4 * 4, r.elements * r.bytes};
        for (unsigned k = 0; k < 5; k++)
            args[4 + k] = (uint64_t)(int64_t)r.at[k];
        if (run_ptx(g, "tensor load", load_kernel(r.t.rank, multicast), 1 + multicast, 32, 1 + multicast, SHARED, args,
                    4 + r.t.rank, WG_OK))
            return failed + 1;
        for (unsigned b = 0; b <= multicast; b++)
            for (uint32_t e = 0; e < r.elements; e++) {
                const uint8_t *got = (uint8_t *)out + b * args[2] + shared_at(&r, e);
                int64_t at = global_at(&r, e);
                static const uint8_t zero[8];
                if (memcmp(got, at < 0 ? zero : (uint8_t *)tensor + at, r.bytes)) {
                    printf("load %u, rank %u, swizzle %u, element %u of %u bytes: wrong\n", n, r.t.rank, r.t.swizzle, e,
                           r.bytes);
                    failed++;
                    break;
                }
            }
        if (multicast)
            continue;
        /* and back, to a cleared tensor; then twice more as a sum */
        static uint8_t want[TENSOR];
        bool sum = r.t.type == WG_TENSORMAP_U32 && n % 2;
        memset(want, 0, sizeof want);
        memset((void *)tensor, 0, TENSOR);
        for (uint32_t k = 0; k < SHARED / 4; k++)
            ((uint32_t *)out)[k] = draw(&s);
        wg_host_writes(g, out, SHARED);
        for (uint32_t e = 0; e < r.elements; e++)
            if (global_at(&r, e) >= 0)
                memcpy(want + global_at(&r, e), (uint8_t *)out + shared_at(&r, e), r.bytes);
        uint64_t back[8] = {map, out, (r.span + 3) / 4 * 4};
        for (unsigned k = 0; k < 5; k++)
            back[3 + k] = (uint64_t)(int64_t)r.at[k];
        for (int turn = 0; turn < (sum ? 3 : 1); turn++)
            if (run_ptx(g, "tensor store", store_kernel(r.t.rank, sum ? ".add" : NULL), 1, 32, 0, SHARED, back,
                        3 + r.t.rank, WG_OK))
                return failed + 1;
        for (uint32_t k = 0; sum && k < TENSOR / 4; k++)
            ((uint32_t *)want)[k] *= 3;
        if (memcmp(want, (void *)tensor, TENSOR)) {
            printf("store %u, rank %u, swizzle %u, elements of %u bytes%s: wrong\n", n, r.t.rank, r.t.swizzle, r.bytes,
                   sum ? ", sums" : "");
            failed++;
        }
    }
    failed += findings(g);
    wg_close(g);
    return failed;
}

/* Maps that the API refuses. */
static unsigned bad_maps(void)
{
    struct wg_tensormap_tiled good = {.type = WG_TENSORMAP_F16,
                                      .rank = 2,
                                      .address = 4096,
                                      .dim = {64, 64},
                                      .stride = {128},
                                      .box = {64, 8},
                                      .step = {1, 1},
                                      .swizzle = WG_TENSORMAP_SWIZZLE_128},
                              t, back;
    char map[128];
    unsigned failed = 0;
    const char *why;
#define REFUSED(change, status)                                                                                        \
    t = good;                                                                                                          \
    change;                                                                                                            \
    why = NULL;                                                                                                        \
    if (wg_tensormap_encode_tiled(map, &t, &why) != status || !why)                                                    \
        printf("accepted: %s\n", #change), failed++;
    REFUSED(t.rank = 0, WG_INVALID)
    REFUSED(t.rank = 6, WG_INVALID)
    REFUSED(t.address += 8, WG_INVALID)
    REFUSED(t.box[0] = 65, WG_INVALID)
    REFUSED(t.box[0] = 128, WG_INVALID)
    REFUSED(t.box[1] = 257, WG_INVALID)
    REFUSED(t.stride[0] = 24, WG_INVALID)
    REFUSED(t.dim[1] = 0, WG_INVALID)
    REFUSED(t.step[1] = 9, WG_INVALID)
    REFUSED(t.type = 13, WG_INVALID)
    REFUSED(t.interleave = 1, WG_UNSUPPORTED)
    REFUSED(t.oob_nan = 1, WG_UNSUPPORTED)
    t = good;
    t.dim[1] = 1ull << 32;
    t.stride[0] = (1ull << 40) - 16;
    if (wg_tensormap_encode_tiled(map, &t, NULL) || !wg_tensormap_decode(map, &back) || memcmp(&t, &back, sizeof t))
        printf("a map does not read back\n"), failed++;
    memset(map, 0, sizeof map);
    if (wg_tensormap_decode(map, &back))
        printf("zeros are a map\n"), failed++;
    return failed;
}

/* A bulk copy in and one out, sums in global memory and in the other block's shared memory, a store there. */
static const char bulk[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
    "    .reg .b64 %i, %o, %a;\n    .reg .b32 %t, %r<12>, %bar, %buf, %buf2;\n    .reg .pred %p;\n"
    "    .shared .align 16 .b8 buf[128];\n    .shared .align 16 .b8 buf2[128];\n    .shared .align 16 .b8 mail[16];\n  "
    "  .shared .align 8 .b64 bar;\n"
    "    ld.param.u64 %i, [in];\n    ld.param.u64 %o, [out];\n    mov.u32 %t, %tid.x;\n    mov.u32 %bar, bar;\n    "
    "mov.u32 %buf, buf;\n"
    "    mov.u32 %buf2, buf2;\n    mov.u32 %r1, %cluster_ctarank;\n    shl.b32 %r7, %t, 2;\n    add.u32 %r8, %buf2, "
    "%r7;\n    st.shared.u32 [%r8], %t;\n"
    "    setp.ne.u32 %p, %t, 0;\n    @%p bra go;\n    mbarrier.init.shared.b64 [%bar], 1;\n"
    "    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 264;\n" /* 128 from global, 128 of sums, 8 stored */
    "go:\n    barrier.cluster.arrive;\n    barrier.cluster.wait;\n    @%p bra wait;\n"
    "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%buf], [%i], 128, [%bar];\n"
    "    xor.b32 %r2, %r1, 1;\n    mapa.shared::cluster.u32 %r3, %buf2, %r2;\n    mapa.shared::cluster.u32 %r4, %bar, "
    "%r2;\n"
    "    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r3], [%buf2], 128, "
    "[%r4];\n"
    "    mov.u32 %r5, 1000;\n    mov.u32 %r6, mail;\n    mapa.shared::cluster.u32 %r6, %r6, %r2;\n"
    "    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r6], {%r5, %r1}, [%r4];\n"
    "wait:\n    mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;\n    @!%p bra wait;\n"
    "    barrier.cluster.arrive;\n    barrier.cluster.wait;\n    setp.ne.u32 %p, %t, 0;\n    @%p ret;\n"
    "    ld.shared.v2.u32 {%r5, %r9}, [mail];\n    st.shared.v2.u32 [%buf+8], {%r5, %r9};\n"
    "    mul.wide.u32 %a, %r1, 256;\n    add.u64 %o, %o, %a;\n"
    "    cp.async.bulk.global.shared::cta.bulk_group [%o], [%buf], 128;\n"
    "    cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%o+128], [%buf2], 128;\n"
    "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n    ret;\n}\n";
static unsigned bulks(unsigned tools)
{
    struct wg *g = open_device(tools);
    uint64_t args[2] = {buffer(g, 128), buffer(g, 512)};
    unsigned failed = 0;
    for (uint32_t k = 0; k < 32; k++) {
        ((uint32_t *)args[0])[k] = 100 + k;
        for (uint32_t b = 0; b < 2; b++)
            ((uint32_t *)args[1])[b * 64 + 32 + k] = 40;
    }
    wg_host_writes(g, args[0], 128);
    wg_host_writes(g, args[1], 512);
    if (run_ptx(g, "bulk", bulk, 2, 32, 2, 0, args, 2, WG_OK))
        return 1;
    const uint32_t *out = (const uint32_t *)args[1];
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t k = 0; k < 32; k++) {
            uint32_t copied = k == 2 ? 1000 : k == 3 ? 1 - b : 100 + k, sum = 0;
            /* block 0 adds k to k in block 1, and then 2k comes back, or the other way round */
            uint32_t first = 2 * k, second = 3 * k;
            sum = out[b * 64 + 32 + k];
            if (out[b * 64 + k] != copied || (sum != (first > 40 ? first : 40) && sum != (second > 40 ? second : 40)))
                printf("block %u, word %u: %u, sum %u\n", b, k, out[b * 64 + k], sum), failed++;
        }
    failed += findings(g);
    wg_close(g);
    return failed != 0;
}

int main(void)
{
    unsigned failed = bad_maps() + bulks(0) +
                      bulks(WG_TOOL_MEMCHECK | WG_TOOL_INITCHECK | WG_TOOL_RACECHECK | WG_TOOL_SYNCCHECK) +
                      tensors(0, 150, false) + tensors(0, 20, true) +
                      tensors(WG_TOOL_MEMCHECK | WG_TOOL_RACECHECK | WG_TOOL_INITCHECK, 12, false) +
                      tensors(WG_TOOL_MEMCHECK | WG_TOOL_RACECHECK | WG_TOOL_INITCHECK, 6, true);
    printf("%u failed\n", failed);
    return failed != 0;
}
