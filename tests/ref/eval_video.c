/* eval_video.c - scalar and SIMD video instructions, following the pseudo-code of their ISA pages. */
#include "eval.h"
#include <stdlib.h>
#include <string.h>

static wide limit(wide v, bool sg, unsigned n)
{
    wide lo = sg ? -((wide)1 << (n - 1)) : 0, hi = sg ? ((wide)1 << (n - 1)) - 1 : ((wide)1 << n) - 1;
    return v < lo ? lo : v > hi ? hi : v;
}

/* Byte, half or word of v, extended as its type says. */
static wide part(uint64_t v, const char *sel, bool sg)
{
    unsigned n = *sel == 'b' ? 8 : *sel == 'h' ? 16 : 32, at = *sel ? (unsigned)(sel[1] - '0') * n : 0;
    v = v >> at & mask_bits(n);
    return sg ? (wide)sext(v, n) : (wide)v;
}

static bool holds(const struct ref_inst *in, wide a, wide b)
{
    return ref_has(in, "eq")   ? a == b
           : ref_has(in, "ne") ? a != b
           : ref_has(in, "lt") ? a < b
           : ref_has(in, "le") ? a <= b
           : ref_has(in, "gt") ? a > b
                               : a >= b;
}

/* .mad: a*b + c in 128 bits, negations by complement, optional scale and clamp */
static uint64_t multiply_add(const struct ref_inst *in, const uint64_t *s)
{
    bool sa = type_signed((enum wg_type)in->type[1]), sb = type_signed((enum wg_type)in->type[2]);
    bool negp = in->neg[1] != in->neg[2], negc = in->neg[3];
    bool sg = sa || sb || negp || negc;
    wide p = part(s[0], in->sel[1], sa) * part(s[1], in->sel[2], sb);
    uint64_t c = s[2] & 0xffffffff;
    wide lsb = 0;
    if (ref_has(in, "po"))
        lsb = 1;
    else if (negp) {
        p = ~p;
        lsb = 1;
    } else if (negc) {
        c = ~c & 0xffffffff;
        lsb = 1;
    }
    wide r = p + (sg ? (wide)sext(c, 32) : (wide)c) + lsb;
    r >>= ref_has(in, "shr7") ? 7 : ref_has(in, "shr15") ? 15 : 0;
    if (ref_has(in, "sat"))
        r = limit(r, sg, 32);
    return (uint64_t)r & 0xffffffff;
}

static enum ref_kind scalar(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    bool set = in->op == WG_OP_VSET;
    bool sd = !set && type_signed((enum wg_type)in->type[0]);
    bool sa = type_signed((enum wg_type)in->type[set ? 0 : 1]), sb = type_signed((enum wg_type)in->type[set ? 1 : 2]);
    wide a = part(s[0], in->sel[1], sa), b = part(s[1], in->sel[2], sb), t;
    const char *dsel = in->sel[0];
    unsigned n = *dsel == 'b' ? 8 : *dsel == 'h' ? 16 : 32;
    switch (in->op) {
    case WG_OP_VADD:
        t = a + b;
        break;
    case WG_OP_VSUB:
        t = a - b;
        break;
    case WG_OP_VABSDIFF:
        t = a < b ? b - a : a - b;
        break;
    case WG_OP_VMIN:
        t = a < b ? a : b;
        break;
    case WG_OP_VMAX:
        t = a > b ? a : b;
        break;
    case WG_OP_VSET:
        t = holds(in, a, b);
        break;
    default: /* shifts */
        b = ref_has(in, "clamp") ? (b > 32 ? 32 : b) : b & 31;
        t = in->op == WG_OP_VSHL ? a * ((wide)1 << (int)b) : a >> (int)b;
        break;
    }
    if (ref_has(in, "sat"))
        t = limit(t, sd, n);
    uint64_t c = s[2] & 0xffffffff, d = (uint64_t)t & 0xffffffff;
    wide x = sd ? (wide)sext(d, 32) : (wide)d, y = sd ? (wide)sext(c, 32) : (wide)c;
    if (ref_has(in, "add"))
        d += c;
    else if (ref_has(in, "min"))
        d = (uint64_t)(x < y ? x : y);
    else if (ref_has(in, "max"))
        d = (uint64_t)(x > y ? x : y);
    else if (*dsel) {
        unsigned at = (unsigned)(dsel[1] - '0') * n;
        d = (c & ~(mask_bits(n) << at)) | (d & mask_bits(n)) << at;
    }
    dst[0] = d & 0xffffffff;
    return REF_EXACT;
}

static wide lane_op(const struct ref_inst *in, wide a, wide b)
{
    switch (in->op) {
    case WG_OP_VADD2:
    case WG_OP_VADD4:
        return a + b;
    case WG_OP_VSUB2:
    case WG_OP_VSUB4:
        return a - b;
    case WG_OP_VAVRG2:
    case WG_OP_VAVRG4:
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case WG_OP_VABSDIFF2:
    case WG_OP_VABSDIFF4:
        return a < b ? b - a : a - b;
    case WG_OP_VMIN2:
    case WG_OP_VMIN4:
        return a < b ? a : b;
    case WG_OP_VMAX2:
    case WG_OP_VMAX4:
        return a > b ? a : b;
    default:
        return holds(in, a, b);
    }
}

static enum ref_kind simd(const struct ref_inst *in, const uint64_t *s, uint64_t *dst, int count)
{
    bool set = in->op == WG_OP_VSET2 || in->op == WG_OP_VSET4;
    bool sd = !set && type_signed((enum wg_type)in->type[0]);
    bool sa = type_signed((enum wg_type)in->type[set ? 0 : 1]), sb = type_signed((enum wg_type)in->type[set ? 1 : 2]);
    unsigned n = 32 / (unsigned)count;
    uint64_t both = (s[1] & 0xffffffff) << 32 | (s[0] & 0xffffffff), c = s[2] & 0xffffffff;
    const char *as = in->sel[1][0] ? in->sel[1] : count == 2 ? "h10" : "b3210";
    const char *bs = in->sel[2][0] ? in->sel[2] : count == 2 ? "h32" : "b7654";
    const char *mask = in->sel[0][0] ? in->sel[0] : count == 2 ? "h10" : "b3210";
    uint64_t sum = c, merged = 0;
    for (int i = 0; i < count; i++) {
        uint64_t a = both >> (n * (unsigned)(as[count - i] - '0')) & mask_bits(n);
        uint64_t b = both >> (n * (unsigned)(bs[count - i] - '0')) & mask_bits(n);
        wide t = lane_op(in, sa ? (wide)sext(a, n) : (wide)a, sb ? (wide)sext(b, n) : (wide)b);
        if (ref_has(in, "sat"))
            t = limit(t, sd, n);
        bool on = strchr(mask + 1, '0' + i) != NULL;
        sum += on ? (uint64_t)t : 0;
        merged |= (on ? (uint64_t)t & mask_bits(n) : c >> (n * (unsigned)i) & mask_bits(n)) << (n * (unsigned)i);
    }
    dst[0] = (ref_has(in, "add") ? sum : merged) & 0xffffffff;
    return REF_EXACT;
}

enum ref_kind eval_video(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    const char *name = wg_op_infos[in->op].text;
    char last = name[strlen(name) - 1];
    if (in->op == WG_OP_VMAD) {
        dst[0] = multiply_add(in, s);
        return REF_EXACT;
    }
    return last == '2' ? simd(in, s, dst, 2) : last == '4' ? simd(in, s, dst, 4) : scalar(in, s, dst);
}
