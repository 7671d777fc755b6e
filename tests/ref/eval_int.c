/* eval_int.c - integer, logic, shift and bit-field operations, one bit or one number at a time as the ISA text says. */
#include "eval.h"
#include <string.h>

static wide clamp(wide v, enum wg_type t)
{
    unsigned n = wg_type_bytes(t) * 8;
    wide lo = type_signed(t) ? -((wide)1 << (n - 1)) : 0;
    wide hi = type_signed(t) ? ((wide)1 << (n - 1)) - 1 : ((wide)1 << n) - 1;
    return v < lo ? lo : v > hi ? hi : v;
}

static uint64_t low(wide v, unsigned n)
{
    return (uint64_t)v & mask_bits(n);
}

/* a op b + carry in n bits, and what leaves at the top; borrow for subtraction. */
static void with_carry(const struct ref_inst *in, unsigned n, uint64_t a, uint64_t b, bool sub, bool use, uint64_t *dst)
{
    unsigned __int128 x = a & mask_bits(n), y = (unsigned __int128)(b & mask_bits(n)) + (use ? in->cf : 0);
    dst[0] = (uint64_t)(sub ? x - y : x + y) & mask_bits(n);
    if (ref_has(in, "cc"))
        dst[1] = sub ? x < y : (uint64_t)((x + y) >> n) & 1;
}

static wide product_part(const struct ref_inst *in, enum wg_type t, uint64_t a, uint64_t b)
{
    unsigned n = wg_type_bytes(t) * 8;
    uint64_t part;
    if (n == 64 && !type_signed(t)) { /* the only product that needs all 128 bits unsigned */
        unsigned __int128 p = (unsigned __int128)a * b;
        part = (uint64_t)(ref_has(in, "hi") ? p >> 64 : p);
    } else {
        wide p = int_value(t, a) * int_value(t, b);
        if (ref_has(in, "wide"))
            return p;
        part = low(ref_has(in, "hi") ? p >> n : p, n);
    }
    return int_value(t, part);
}

static enum ref_kind multiply(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[0];
    unsigned n = wg_type_bytes(t) * 8, out = ref_has(in, "wide") ? 2 * n : n;
    wide p = product_part(in, t, s[0], s[1]);
    if (in->op == WG_OP_MUL) {
        dst[0] = low(p, out);
    } else if (ref_has(in, "sat")) {
        dst[0] = low(clamp(p + int_value(t, s[2]), t), n);
    } else {
        with_carry(in, out, (uint64_t)p, s[2], false, in->op == WG_OP_MADC, dst);
    }
    return REF_EXACT;
}

static enum ref_kind multiply24(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[0];
    bool sg = type_signed(t);
    wide a = sg ? sext(s[0], 24) : (wide)(s[0] & 0xffffff), b = sg ? sext(s[1], 24) : (wide)(s[1] & 0xffffff);
    wide p = a * b;
    uint64_t part = low(ref_has(in, "hi") ? p >> 16 : p, 32);
    wide v = int_value(t, part);
    if (in->op == WG_OP_MAD24)
        v += int_value(t, s[2]);
    dst[0] = low(ref_has(in, "sat") ? clamp(v, t) : v, 32);
    return REF_EXACT;
}

/* Division truncates. By zero PTX leaves open; GPUs give all ones, as quotient and as remainder. */
static enum ref_kind divide(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[0];
    unsigned n = wg_type_bytes(t) * 8;
    wide a = int_value(t, s[0]), b = int_value(t, s[1]);
    if (b == 0)
        dst[0] = mask_bits(n);
    else
        dst[0] = low(in->op == WG_OP_DIV ? a / b : a % b, n);
    return REF_EXACT;
}

static uint64_t min_max(const struct ref_inst *in, enum wg_type t, uint64_t a, uint64_t b)
{
    unsigned n = wg_type_bytes(t) * 8;
    wide x = int_value(t, a), y = int_value(t, b), r = (in->op == WG_OP_MIN) == (x < y) ? x : y;
    return low(ref_has(in, "relu") && r < 0 ? 0 : r, n);
}

/* add, min and max of two 16-bit halves */
static enum ref_kind halves(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = in->type[0] == WG_T_S16X2 ? WG_T_S16 : WG_T_U16;
    dst[0] = 0;
    for (int h = 0; h < 32; h += 16) {
        uint64_t a = s[0] >> h & 0xffff, b = s[1] >> h & 0xffff;
        uint64_t r = in->op == WG_OP_ADD ? (a + b) & 0xffff : min_max(in, t, a, b);
        dst[0] |= r << h;
    }
    return REF_EXACT;
}

static uint64_t find(const struct ref_inst *in, unsigned n, uint64_t a)
{
    if (type_signed((enum wg_type)in->type[0]) && (a >> (n - 1) & 1))
        a = ~a & mask_bits(n);
    for (unsigned i = n; i-- > 0;)
        if (a >> i & 1)
            return ref_has(in, "shiftamt") ? n - 1 - i : i;
    return 0xffffffff;
}

static enum ref_kind nth_set(const uint64_t *s, uint64_t *dst)
{
    uint32_t m = (uint32_t)s[0], base = (uint32_t)s[1];
    int offset = (int)sext(s[2], 32);
    dst[0] = 0xffffffff;
    if (base > 31)
        return REF_UNDEFINED;
    if (offset == 0) {
        if (m >> base & 1)
            dst[0] = base;
        return REF_EXACT;
    }
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    for (int pos = (int)base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
        if ((m >> pos & 1) && --left == 0) {
            dst[0] = (uint64_t)pos;
            break;
        }
    return REF_EXACT;
}

static uint64_t extract(enum wg_type t, uint64_t a, unsigned pos, unsigned len)
{
    unsigned n = wg_type_bytes(t) * 8, top = pos + len - 1;
    bool fill = false;
    if (type_signed(t) && len)
        fill = a >> (top < n - 1 ? top : n - 1) & 1;
    uint64_t d = 0;
    for (unsigned i = 0; i < n; i++) {
        bool bit = i < len && pos + i < n ? a >> (pos + i) & 1 : fill;
        d |= (uint64_t)bit << i;
    }
    return d;
}

/* The text takes 8 bits of position and length; for 64-bit values GPUs look at more, so those results are open. */
static enum ref_kind field_kind(unsigned n, uint64_t pos, uint64_t len)
{
    return n == 64 && ((pos | len) & 0xffffff00) ? REF_UNDEFINED : REF_EXACT;
}

static uint64_t insert(unsigned n, uint64_t a, uint64_t b, unsigned pos, unsigned len)
{
    for (unsigned i = 0; i < len && pos + i < n; i++)
        b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
    return b & mask_bits(n);
}

/* Bits a.. a+b-1 set; in clamp mode positions and widths of 32 and more reach the end, in wrap mode they are mod 32. */
static uint64_t bitmask(bool wrap, uint32_t a, uint32_t b)
{
    uint64_t at = wrap ? a & 31 : a, n = wrap ? b & 31 : b, d = 0;
    for (uint64_t i = 0; i < 32; i++)
        if (i >= at && i - at < n)
            d |= 1ull << i;
    return d;
}

static uint64_t extend(bool wrap, bool sg, uint32_t a, uint32_t n)
{
    if (wrap)
        n &= 31;
    if (n == 0)
        return 0;
    if (n >= 32)
        return a;
    return sg ? (uint64_t)sext(a, n) & 0xffffffff : a & mask_bits(n);
}

static enum ref_kind dot(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    bool sa = type_signed((enum wg_type)in->type[0]), sb = type_signed((enum wg_type)in->type[1]);
    int count = in->op == WG_OP_DP4A ? 4 : 2, width = in->op == WG_OP_DP4A ? 8 : 16;
    int first = in->op == WG_OP_DP2A && ref_has(in, "hi") ? 2 : 0;
    wide d = sext(s[2], 32);
    for (int i = 0; i < count; i++) {
        uint64_t a = s[0] >> (width * i) & mask_bits((unsigned)width), b = s[1] >> (8 * (first + i)) & 0xff;
        d += (wide)(sa ? sext(a, (unsigned)width) : (int64_t)a) * (sb ? sext(b, 8) : (int64_t)b);
    }
    dst[0] = low(d, 32);
    return REF_EXACT;
}

static enum ref_kind lookup3(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++) {
        unsigned at = (s[0] >> i & 1) << 2 | (s[1] >> i & 1) << 1 | (s[2] >> i & 1);
        d |= (s[3] >> at & 1) << i;
    }
    dst[0] = d;
    if (ref_has(in, "and"))
        dst[1] = d != 0 && s[4];
    else if (ref_has(in, "or"))
        dst[1] = d != 0 || s[4];
    return REF_EXACT;
}

static enum ref_kind shift(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[0];
    unsigned n = wg_type_bytes(t) * 8;
    uint32_t by = (uint32_t)s[1];
    uint64_t d = 0;
    bool fill = in->op == WG_OP_SHR && type_signed(t) && (s[0] >> (n - 1) & 1);
    for (unsigned i = 0; i < n; i++) {
        bool bit;
        if (in->op == WG_OP_SHL)
            bit = i >= by && (s[0] >> (i - by) & 1);
        else
            bit = (uint64_t)i + by < n ? s[0] >> (i + by) & 1 : fill;
        d |= (uint64_t)bit << i;
    }
    dst[0] = d;
    return REF_EXACT;
}

static enum ref_kind funnel(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    uint64_t both = (s[1] & 0xffffffff) << 32 | (s[0] & 0xffffffff);
    uint32_t c = (uint32_t)s[2], n = ref_has(in, "clamp") ? (c > 32 ? 32 : c) : c & 31;
    dst[0] = ref_has(in, "l") ? (n == 32 ? both << 32 : both << n) >> 32 : both >> n & 0xffffffff;
    return REF_EXACT;
}

static enum ref_kind permute(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    /* byte numbers for result bytes 3, 2, 1, 0 under control values 0..3 */
    static const struct {
        const char *mode, *pick[4];
    } modes[] = {{"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
                 {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
                 {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
    uint64_t both = (s[1] & 0xffffffff) << 32 | (s[0] & 0xffffffff), d = 0;
    const char *pick = NULL;
    for (size_t m = 0; m < 6; m++)
        if (ref_has(in, modes[m].mode))
            pick = modes[m].pick[s[2] & 3];
    for (int i = 0; i < 4; i++) {
        unsigned ctl = pick ? (unsigned)(pick[3 - i] - '0') : (unsigned)(s[2] >> (4 * i) & 15);
        uint64_t byte = both >> (8 * (ctl & 7)) & 0xff;
        if (ctl & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * i);
    }
    dst[0] = d;
    return REF_EXACT;
}

static uint64_t logic(enum wg_op op, uint64_t a, uint64_t b, unsigned n)
{
    uint64_t d = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned x = a >> i & 1, y = b >> i & 1;
        unsigned r = op == WG_OP_AND ? x && y : op == WG_OP_OR ? x || y : op == WG_OP_XOR ? x != y : !x;
        d |= (uint64_t)r << i;
    }
    return d;
}

enum ref_kind eval_int(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
    unsigned n = t == WG_T_PRED ? 1 : wg_type_bytes(t) * 8;
    wide a = int_value(t, s[0]);
    uint64_t d = 0;
    if (t == WG_T_U16X2 || t == WG_T_S16X2)
        return halves(in, s, dst);
    switch (in->op) {
    case WG_OP_ADD:
    case WG_OP_SUB: {
        wide r = in->op == WG_OP_ADD ? a + int_value(t, s[1]) : a - int_value(t, s[1]);
        if (ref_has(in, "sat"))
            dst[0] = low(clamp(r, t), n);
        else
            with_carry(in, n, s[0], s[1], in->op == WG_OP_SUB, false, dst);
        return REF_EXACT;
    }
    case WG_OP_ADDC:
        with_carry(in, n, s[0], s[1], false, true, dst);
        return REF_EXACT;
    case WG_OP_SUBC:
        with_carry(in, n, s[0], s[1], true, true, dst);
        return REF_EXACT;
    case WG_OP_MUL:
    case WG_OP_MAD:
    case WG_OP_MADC:
        return multiply(in, s, dst);
    case WG_OP_MUL24:
    case WG_OP_MAD24:
        return multiply24(in, s, dst);
    case WG_OP_SAD: {
        wide b = int_value(t, s[1]);
        d = low(int_value(t, s[2]) + (a < b ? b - a : a - b), n);
        break;
    }
    case WG_OP_DIV:
    case WG_OP_REM:
        return divide(in, s, dst);
    case WG_OP_ABS:
        d = low(a < 0 ? -a : a, n);
        break;
    case WG_OP_NEG:
        d = low(-a, n);
        break;
    case WG_OP_MIN:
    case WG_OP_MAX:
        d = min_max(in, t, s[0], s[1]);
        break;
    case WG_OP_POPC:
        for (unsigned i = 0; i < n; i++)
            d += s[0] >> i & 1;
        break;
    case WG_OP_CLZ:
        while (d < n && !(s[0] >> (n - 1 - d) & 1))
            d++;
        break;
    case WG_OP_BFIND:
        d = find(in, n, s[0] & mask_bits(n));
        break;
    case WG_OP_FNS:
        return nth_set(s, dst);
    case WG_OP_BREV:
        for (unsigned i = 0; i < n; i++)
            d |= (s[0] >> i & 1) << (n - 1 - i);
        break;
    case WG_OP_BFE:
        dst[0] = extract(t, s[0], s[1] & 0xff, s[2] & 0xff);
        return field_kind(n, s[1], s[2]);
    case WG_OP_BFI:
        dst[0] = insert(n, s[0], s[1], s[2] & 0xff, s[3] & 0xff);
        return field_kind(n, s[2], s[3]);
    case WG_OP_BMSK:
        d = bitmask(ref_has(in, "wrap"), (uint32_t)s[0], (uint32_t)s[1]);
        break;
    case WG_OP_SZEXT:
        d = extend(ref_has(in, "wrap"), type_signed(t), (uint32_t)s[0], (uint32_t)s[1]);
        break;
    case WG_OP_DP4A:
    case WG_OP_DP2A:
        return dot(in, s, dst);
    case WG_OP_AND:
    case WG_OP_OR:
    case WG_OP_XOR:
    case WG_OP_NOT:
        d = logic(in->op, s[0], in->op == WG_OP_NOT ? 0 : s[1], n);
        break;
    case WG_OP_CNOT:
        d = (s[0] & mask_bits(n)) == 0;
        break;
    case WG_OP_LOP3:
        return lookup3(in, s, dst);
    case WG_OP_SHL:
    case WG_OP_SHR:
        return shift(in, s, dst);
    case WG_OP_SHF:
        return funnel(in, s, dst);
    case WG_OP_PRMT:
        return permute(in, s, dst);
    default:
        return REF_UNKNOWN;
    }
    dst[0] = d;
    return REF_EXACT;
}
