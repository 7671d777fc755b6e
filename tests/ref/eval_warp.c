/* eval_warp.c - cross-lane operations and atomics. */
#include "eval.h"
#include <string.h>

static enum ref_kind shuffle(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                             uint64_t dst[REF_WARP][REF_MAX])
{
    for (int lane = 0; lane < REF_WARP; lane++) {
        if (!(active >> lane & 1))
            continue;
        int b = (int)src[lane][1] & 31, clamp = (int)src[lane][2] & 31, seg = (int)src[lane][2] >> 8 & 31;
        int most = (lane & seg) | (clamp & ~seg), least = lane & seg, j;
        bool ok;
        if (ref_has(in, "up")) {
            j = lane - b;
            ok = j >= most;
        } else {
            j = ref_has(in, "down") ? lane + b : ref_has(in, "bfly") ? lane ^ b : (least | (b & ~seg));
            ok = j <= most;
        }
        if (!ok)
            j = lane;
        if (!(active >> j & 1))
            return REF_UNDEFINED; /* reads a lane that takes no part */
        dst[lane][0] = src[j][0];
        dst[lane][1] = ok;
    }
    return REF_EXACT;
}

static enum ref_kind vote(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                          uint64_t dst[REF_WARP][REF_MAX])
{
    uint32_t yes = 0;
    for (int l = 0; l < REF_WARP; l++)
        if (active >> l & 1 && src[l][0])
            yes |= 1u << l;
    uint32_t r = ref_has(in, "all")   ? yes == active
                 : ref_has(in, "any") ? yes != 0
                 : ref_has(in, "uni") ? yes == active || yes == 0
                                      : yes;
    for (int l = 0; l < REF_WARP; l++)
        if (active >> l & 1)
            dst[l][0] = r;
    return REF_EXACT;
}

static enum ref_kind match(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                           uint64_t dst[REF_WARP][REF_MAX])
{
    for (int l = 0; l < REF_WARP; l++) {
        if (!(active >> l & 1))
            continue;
        uint32_t same = 0;
        for (int k = 0; k < REF_WARP; k++)
            if (active >> k & 1 && src[k][0] == src[l][0])
                same |= 1u << k;
        dst[l][0] = ref_has(in, "any") ? same : same == active ? active : 0;
        dst[l][1] = same == active;
    }
    return REF_EXACT;
}

static enum ref_kind reduce(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                            uint64_t dst[REF_WARP][REF_MAX])
{
    enum wg_type t = (enum wg_type)in->type[0];
    const char *const ops[] = {"add", "min", "max", "and", "or", "xor"};
    const char *op = NULL;
    for (int i = 0; i < 6; i++)
        if (ref_has(in, ops[i]))
            op = ops[i];
    uint64_t r = 0;
    bool first = true;
    for (int l = 0; op && l < REF_WARP; l++)
        if (active >> l & 1) {
            if (first)
                r = src[l][0];
            else
                ref_atom(op, t, false, r, src[l][0], 0, &r);
            first = false;
        }
    for (int l = 0; l < REF_WARP; l++)
        if (active >> l & 1)
            dst[l][0] = r;
    return op ? REF_EXACT : REF_UNKNOWN;
}

enum ref_kind ref_warp(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                       uint64_t dst[REF_WARP][REF_MAX])
{
    switch (in->op) {
    case WG_OP_SHFL:
        return shuffle(in, active, src, dst);
    case WG_OP_VOTE:
        return vote(in, active, src, dst);
    case WG_OP_MATCH:
        return match(in, active, src, dst);
    case WG_OP_REDUX:
        return reduce(in, active, src, dst);
    case WG_OP_ACTIVEMASK:
    case WG_OP_ELECT:
        for (int l = 0; l < REF_WARP; l++)
            if (active >> l & 1) { /* elect: which lane leads is not documented; GPUs take the lowest */
                dst[l][0] = in->op == WG_OP_ACTIVEMASK ? active : (uint64_t)__builtin_ctz(active);
                dst[l][1] = l == __builtin_ctz(active);
            }
        return REF_EXACT;
    default:
        return REF_UNKNOWN;
    }
}

enum ref_kind ref_atom(const char *op, enum wg_type t, bool shared, uint64_t old, uint64_t b, uint64_t c, uint64_t *now)
{
    unsigned n = wg_type_bytes(t) * 8;
    const struct fmt *f = ref_fmt(t);
    uint64_t m = mask_bits(n), r;
    old &= m;
    b &= m;
    if (!strcmp(op, "add") && f) { /* f32 in global memory flushes subnormals, in shared memory it does not */
        r = 0;
        bool nb = num_isnan(f, b);
        for (unsigned h = 0; h < n; h += f->bits)
            r |= num_add(f, old >> h & mask_bits(f->bits), b >> h & mask_bits(f->bits), t == WG_T_F32 && !shared) << h;
        if (t == WG_T_F64 && (nb || num_isnan(f, old))) /* measured: NaNs go through the memory unit as they are */
            r = !shared ? (nb ? b : old) : num_quiet(f, num_isnan(f, old) ? old : b);
    } else if (!strcmp(op, "add"))
        r = old + b;
    else if (!strcmp(op, "and"))
        r = old & b;
    else if (!strcmp(op, "or"))
        r = old | b;
    else if (!strcmp(op, "xor"))
        r = old ^ b;
    else if (!strcmp(op, "exch"))
        r = b;
    else if (!strcmp(op, "cas"))
        r = old == b ? c : old;
    else if (!strcmp(op, "inc"))
        r = old >= b ? 0 : old + 1;
    else if (!strcmp(op, "dec"))
        r = old == 0 || old > b ? b : old - 1;
    else if (!strcmp(op, "min"))
        r = int_value(t, old) < int_value(t, b) ? old : b;
    else if (!strcmp(op, "max"))
        r = int_value(t, old) > int_value(t, b) ? old : b;
    else
        return REF_UNKNOWN;
    *now = r & m;
    return REF_EXACT;
}
