/* eval_compare.c - set, setp, selp and slct. */
#include "eval.h"
#include <string.h>

static bool combine(const struct ref_inst *in, bool t, bool c)
{
    return ref_has(in, "and") ? t && c : ref_has(in, "or") ? t || c : ref_has(in, "xor") ? t != c : t;
}

/* -1, 0, 1, or 2 when unordered */
static int order(const struct ref_inst *in, enum wg_type t, uint64_t a, uint64_t b)
{
    const struct fmt *f = ref_fmt(t);
    if (!f) {
        wide x = int_value(t, a), y = int_value(t, b);
        return x < y ? -1 : x > y;
    }
    if (ref_has(in, "ftz")) {
        a = num_flush(f, a);
        b = num_flush(f, b);
    }
    if (num_isnan(f, a) || num_isnan(f, b))
        return 2;
    uint64_t top = num_zero(f, true);
    if (((a | b) & ~top) == 0)
        return 0;
    bool sa = a & top, sb = b & top;
    if (sa != sb)
        return sa ? -1 : 1;
    return a == b ? 0 : (a < b) != sa ? -1 : 1;
}

static bool compare(const struct ref_inst *in, int o)
{
    static const struct {
        const char *name;
        bool less, equal, greater, unordered;
    } table[] = {{"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
                 {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"lo", 1, 0, 0, 0},  {"ls", 1, 1, 0, 0},
                 {"hi", 0, 0, 1, 0},  {"hs", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
                 {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
                 {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (ref_has(in, table[i].name))
            return o == 2 ? table[i].unordered : o < 0 ? table[i].less : o > 0 ? table[i].greater : table[i].equal;
    return false;
}

enum ref_kind eval_compare(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[0], from = (enum wg_type)in->type[in->ntypes - 1];
    if (in->op == WG_OP_SELP) {
        dst[0] = s[2] ? s[0] : s[1];
        return REF_EXACT;
    }
    if (in->op == WG_OP_SLCT) { /* NaN selects b */
        int o = order(in, from, s[2], 0);
        dst[0] = o == 0 || o == 1 ? s[0] : s[1];
        return REF_EXACT;
    }
    bool packed = from == WG_T_F16X2 || from == WG_T_BF16X2;
    bool c = s[2] & 1, r[2];
    for (int h = 0; h < 2; h++)
        r[h] = compare(in, packed ? order(in, from, s[0] >> (16 * h) & 0xffff, s[1] >> (16 * h) & 0xffff)
                                  : order(in, from, s[0], s[1]));
    if (in->op == WG_OP_SETP) {
        dst[0] = combine(in, r[0], c);
        dst[1] = combine(in, packed ? r[1] : !r[1], c); /* packed: p is the low half, q the high one */
        return REF_EXACT;
    }
    r[0] = combine(in, r[0], c);
    r[1] = combine(in, r[1], c);
    const struct fmt *f = ref_fmt(t);
    if (f) {
        uint64_t one = mask_bits(f->exp - 1) << f->man;
        dst[0] = r[0] ? one : 0;
        if (packed)
            dst[0] |= (r[1] ? one : 0) << 16;
    } else if (packed)
        dst[0] = (r[0] ? 0xffff : 0) | (r[1] ? 0xffff0000 : 0);
    else
        dst[0] = r[0] ? mask_bits(wg_type_bytes(t) * 8) : 0;
    return REF_EXACT;
}
