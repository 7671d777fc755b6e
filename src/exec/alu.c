/* alu.c - from an instruction to the handler of its row: normalises types and modifiers into a key and looks it up. */
#include "exec/alu.h"
#include "exec/video.h"

/* Types that an operation does not tell apart become one: bits, so that add.u32 and add.s32 share a row. */
static enum wg_type bits_of(enum wg_type t)
{
    switch (t) {
    case WG_T_U16:
    case WG_T_S16:
    case WG_T_F16:
    case WG_T_BF16:
        return WG_T_B16;
    case WG_T_U32:
    case WG_T_S32:
    case WG_T_F32:
    case WG_T_TF32:
    case WG_T_F16X2:
    case WG_T_BF16X2:
    case WG_T_U16X2:
    case WG_T_S16X2:
        return WG_T_B32;
    case WG_T_U64:
    case WG_T_S64:
    case WG_T_F64:
        return WG_T_B64;
    default:
        return t;
    }
}

static enum wg_type unsigned_of(enum wg_type t)
{
    switch (t) {
    case WG_T_B16:
    case WG_T_S16:
        return WG_T_U16;
    case WG_T_B32:
    case WG_T_S32:
        return WG_T_U32;
    case WG_T_B64:
    case WG_T_S64:
        return WG_T_U64;
    default:
        return t;
    }
}

static bool is_float(enum wg_type t) { return wg_type_infos[t].kind == 'F'; }
static bool is_int(enum wg_type t) { return wg_type_infos[t].kind == 'U' || wg_type_infos[t].kind == 'S'; }

/* The flags of the instruction as WG_KF_*; false if there is one that no arithmetic row knows. */
static bool flags_of(const struct wg_instr *in, unsigned *out)
{
    static const struct {
        uint64_t flag;
        unsigned kf;
    } map[] = {
        {WG_FLAG(FTZ), WG_KF_FTZ},
        {WG_FLAG(SAT), WG_KF_SAT},
        {WG_FLAG(SATFINITE), WG_KF_SATFINITE},
        {WG_FLAG(RELU), WG_KF_RELU},
        {WG_FLAG(NAN), WG_KF_NAN},
        {WG_FLAG(XORSIGN) | WG_FLAG(ABS), WG_KF_XORSIGN},
        {WG_FLAG(APPROX), WG_KF_APPROX},
        {WG_FLAG(FULL), WG_KF_FULL},
        {WG_FLAG(CC), WG_KF_CC},
        {WG_FLAG(SHIFTAMT), WG_KF_SHIFTAMT},
        {WG_FLAG(OOB), WG_KF_OOB},
    };
    uint64_t left = in->flags;
    *out = 0;
    for (size_t k = 0; k < sizeof map / sizeof *map; k++)
        if ((left & map[k].flag) == map[k].flag) {
            *out |= map[k].kf;
            left &= ~map[k].flag;
        }
    return left == 0;
}

unsigned wg_alu_relations(enum wg_cmp c)
{
    enum { L = WG_REL_LT, G = WG_REL_GT, E = WG_REL_EQ, U = WG_REL_UN };
    static const unsigned char set[] = {
        [WG_CMP_EQ] = E,     [WG_CMP_NE] = L | G,      [WG_CMP_LT] = L,         [WG_CMP_LE] = L | E,
        [WG_CMP_GT] = G,     [WG_CMP_GE] = G | E,      [WG_CMP_EQU] = E | U,    [WG_CMP_NEU] = L | G | U,
        [WG_CMP_LTU] = L | U, [WG_CMP_LEU] = L | E | U, [WG_CMP_GTU] = G | U,    [WG_CMP_GEU] = G | E | U,
        [WG_CMP_NUM] = L | G | E, [WG_CMP_NAN] = U,
    };
    return set[c];
}

enum wg_cmp wg_alu_plain_cmp(enum wg_cmp c)
{
    return c >= WG_CMP_LO && c <= WG_CMP_HS ? (enum wg_cmp)(c - WG_CMP_LO + WG_CMP_LT) : c;
}

static bool negated(const struct wg_instr *in, unsigned op) { return in->nops > op && in->ops[op].neg; }

/* Parts of a key while it is put together. */
struct parts {
    enum wg_type t0, t1;
    unsigned op, round, cmp, half, sub, nsrc, flags;
    bool ok;
};

static void comparison(const struct wg_instr *in, struct wg_inst *i, struct parts *p)
{
    const bool set = in->op == WG_OP_SET;
    const enum wg_type t = set ? (enum wg_type)in->type[1] : p->t0;
    const unsigned bop = set || in->op == WG_OP_SETP ? 3 : 0;
    p->cmp = wg_alu_plain_cmp((enum wg_cmp)in->cmp);
    if (!p->cmp || (set && in->ntypes < 2))
        p->ok = false;
    const bool unsign = in->cmp >= WG_CMP_LO && in->cmp <= WG_CMP_HS;
    i->k1 = (uint8_t)(in->boolop | (negated(in, bop) ? WG_ALU_BOOL_NEG : 0));
    if (set) {
        switch (p->t0) {
        case WG_T_F32:
            i->imm = 0x3f800000;
            break;
        case WG_T_F16:
        case WG_T_F16X2:
            i->imm = 0x3c003c00;
            break;
        case WG_T_BF16:
        case WG_T_BF16X2:
            i->imm = 0x3f803f80;
            break;
        default:
            i->imm = 0xffffffff;
        }
        i->k2 = (uint8_t)wg_type_bytes(p->t0);
        /* one result word for two halves means that both hold */
        p->ok = p->ok && (i->k2 == 2 || i->k2 == 4);
    } else if (in->ops[0].pair >= 0) {
        i->k1 |= WG_ALU_PAIR;
    }
    i->imm |= (int64_t)wg_alu_relations((enum wg_cmp)p->cmp) << 32;
    p->t0 = is_float(t) ? t : set || unsign || wg_type_bytes(t) < 4 ? (unsign ? unsigned_of(t) : t) : t;
    if (wg_type_infos[t].kind == 'B')
        p->t0 = unsigned_of(t);
}

static void int_parts(const struct wg_instr *in, struct parts *p)
{
    switch (in->op) {
    case WG_OP_ADD:
    case WG_OP_SUB:
        if (p->t0 == WG_T_S16X2)
            p->t0 = WG_T_U16X2;
        else if (!(p->flags & WG_KF_SAT) && p->t0 != WG_T_U16X2)
            p->t0 = bits_of(p->t0);
        break;
    case WG_OP_MUL:
    case WG_OP_MAD:
    case WG_OP_MADC:
        p->half = in->half;
        if (p->half == WG_HALF_LO)
            p->t0 = bits_of(p->t0);
        break;
    case WG_OP_ADDC:
    case WG_OP_SUBC:
    case WG_OP_NEG:
    case WG_OP_NOT:
    case WG_OP_CNOT:
    case WG_OP_AND:
    case WG_OP_OR:
    case WG_OP_XOR:
    case WG_OP_SHL:
    case WG_OP_BFI:
        p->t0 = bits_of(p->t0);
        break;
    case WG_OP_SHR:
        if (wg_type_infos[p->t0].kind == 'B')
            p->t0 = unsigned_of(p->t0);
        break;
    case WG_OP_MUL24:
    case WG_OP_MAD24:
    case WG_OP_DP2A:
        p->half = in->half;
        break;
    default:
        break;
    }
}

static void float_parts(const struct wg_instr *in, struct parts *p)
{
    switch (in->op) {
    case WG_OP_MAD: /* with a rounding mode it is fma */
        p->op = WG_OP_FMA;
        p->round = in->round ? in->round : WG_ROUND_RN;
        break;
    case WG_OP_ADD:
    case WG_OP_SUB:
    case WG_OP_MUL:
        p->round = in->round ? in->round : WG_ROUND_RN;
        break;
    default:
        p->round = in->round;
        break;
    }
}

static void cvt_parts(const struct wg_instr *in, struct parts *p)
{
    p->ok = p->ok && in->ntypes >= 2;
    p->round = in->round;
    if (in->op == WG_OP_CVT && is_int(p->t0) && is_int(p->t1)) {
        p->round = 0;
        if (!(p->flags & WG_KF_SAT) && wg_type_bytes(p->t0) > 1)
            p->t0 = unsigned_of(p->t0);
        const unsigned nd = wg_type_bytes(p->t0), ns = wg_type_bytes(p->t1);
        if (!(p->flags & WG_KF_SAT) && nd > 1 && ns >= nd && ns > 1)
            p->t1 = unsigned_of(p->t1); /* only low bits are used */
    }
}

static struct parts parts_of(const struct wg_instr *in, struct wg_inst *i)
{
    struct parts p = {.op = in->op, .t0 = (enum wg_type)in->type[0], .ok = in->ntypes > 0 && !in->extra};
    p.t1 = in->ntypes > 1 ? (enum wg_type)in->type[1] : WG_T_NONE;
    p.ok = flags_of(in, &p.flags) && p.ok;
    if (is_float(p.t0))
        float_parts(in, &p);
    else
        int_parts(in, &p);
    switch (in->op) {
    case WG_OP_MOV:
        p.t0 = bits_of(p.t0);
        i->k1 = negated(in, 1);
        break;
    case WG_OP_NOT:
    case WG_OP_AND:
    case WG_OP_OR:
    case WG_OP_XOR:
        i->k1 = (uint8_t)(negated(in, 1) | (in->op != WG_OP_NOT && negated(in, 2)) << 1);
        break;
    case WG_OP_SELP:
        p.t0 = bits_of(p.t0);
        p.round = 0;
        i->k1 = negated(in, 3);
        break;
    case WG_OP_SLCT:
        p.t0 = bits_of(p.t0);
        break;
    case WG_OP_MIN:
    case WG_OP_MAX:
        p.nsrc = in->nops - 1;
        break;
    case WG_OP_BMSK:
    case WG_OP_SZEXT:
        p.sub = in->shift;
        break;
    case WG_OP_SHF:
        p.sub = (unsigned)in->dir << 2 | in->shift;
        break;
    case WG_OP_PRMT:
        p.sub = in->prmt;
        break;
    case WG_OP_TESTP:
        p.sub = in->testp;
        break;
    case WG_OP_LOP3:
        p.ok = p.ok && in->nops > 4 && in->ops[4].kind == WG_OPERAND_IMM;
        i->imm = p.ok ? in->ops[4].imm & 255 : 0;
        if (in->boolop) {
            p.flags |= WG_KF_BOOL;
            i->k1 = (uint8_t)(in->boolop | (negated(in, 5) ? WG_ALU_BOOL_NEG : 0) |
                              (in->ops[0].pair >= 0 ? WG_ALU_PAIR : 0));
        }
        break;
    case WG_OP_SETP:
    case WG_OP_SET:
        comparison(in, i, &p);
        break;
    case WG_OP_CVT:
    case WG_OP_CVT_PACK:
        cvt_parts(in, &p);
        break;
    default:
        break;
    }
    /* a second type chooses the row only here */
    if (in->op != WG_OP_CVT && in->op != WG_OP_CVT_PACK && in->op != WG_OP_SLCT && in->op != WG_OP_DP4A &&
        in->op != WG_OP_DP2A)
        p.t1 = WG_T_NONE;
    return p;
}

/* The video instruction as video.c wants it in imm; false if it has a modifier that is not known here. Selectors of
 * several parts (a.h10) are of the SIMD instructions only. */
static bool video_choices(const struct wg_instr *in, unsigned count, int64_t *imm)
{
    int64_t k = 0;
    unsigned wanted = 0;
    for (unsigned o = 0; o < 3; o++) {
        const int32_t s = in->ops[o].kind == WG_OPERAND_REG ? in->ops[o].sreg : -1;
        const bool bytes = s >= WG_PTX_CHOICE ? s & WG_PTX_CHOICE_BYTES : s < 4;
        const unsigned n = s >= WG_PTX_CHOICE ? (unsigned)s >> 12 & 7 : 1;
        if (s >= 0 && (bytes != (count == 4) || (o && n != count)))
            return false;
        for (unsigned e = 0; e < count; e++) {
            if (o)
                k |= (int64_t)(s < 0 ? e + (o - 1) * count : (unsigned)s >> 3 * e & 7) << (20 + 12 * o + 3 * e);
            else if (s < 0)
                wanted |= 1u << e;
            else if (e < n)
                wanted |= 1u << (s >= WG_PTX_CHOICE ? (unsigned)s >> 3 * e & 7 : (unsigned)s & 3);
        }
    }
    if (in->ops[0].kind == WG_OPERAND_REG && in->ops[0].sreg >= 4 && in->ops[0].sreg < WG_PTX_CHOICE) /* .h0, .h1 */
        wanted = 1u << (in->ops[0].sreg - 4);
    if (wanted >> count)
        return false;
    *imm = k | (int64_t)wanted << 56;
    return true;
}
static bool video_of(const struct wg_instr *in, int64_t *imm)
{
    static const unsigned char op[] = {
        [WG_OP_VADD - WG_OP_VADD] = WG_VIDEO_ADD,           [WG_OP_VSUB - WG_OP_VADD] = WG_VIDEO_SUB,
        [WG_OP_VABSDIFF - WG_OP_VADD] = WG_VIDEO_ABSDIFF,   [WG_OP_VMIN - WG_OP_VADD] = WG_VIDEO_MIN,
        [WG_OP_VMAX - WG_OP_VADD] = WG_VIDEO_MAX,           [WG_OP_VSHL - WG_OP_VADD] = WG_VIDEO_SHL,
        [WG_OP_VSHR - WG_OP_VADD] = WG_VIDEO_SHR,           [WG_OP_VMAD - WG_OP_VADD] = WG_VIDEO_MAD,
        [WG_OP_VSET - WG_OP_VADD] = WG_VIDEO_SET,           [WG_OP_VADD2 - WG_OP_VADD] = WG_VIDEO_ADD,
        [WG_OP_VSUB2 - WG_OP_VADD] = WG_VIDEO_SUB,          [WG_OP_VAVRG2 - WG_OP_VADD] = WG_VIDEO_AVRG,
        [WG_OP_VABSDIFF2 - WG_OP_VADD] = WG_VIDEO_ABSDIFF,  [WG_OP_VMIN2 - WG_OP_VADD] = WG_VIDEO_MIN,
        [WG_OP_VMAX2 - WG_OP_VADD] = WG_VIDEO_MAX,          [WG_OP_VSET2 - WG_OP_VADD] = WG_VIDEO_SET,
        [WG_OP_VADD4 - WG_OP_VADD] = WG_VIDEO_ADD,          [WG_OP_VSUB4 - WG_OP_VADD] = WG_VIDEO_SUB,
        [WG_OP_VAVRG4 - WG_OP_VADD] = WG_VIDEO_AVRG,        [WG_OP_VABSDIFF4 - WG_OP_VADD] = WG_VIDEO_ABSDIFF,
        [WG_OP_VMIN4 - WG_OP_VADD] = WG_VIDEO_MIN,          [WG_OP_VMAX4 - WG_OP_VADD] = WG_VIDEO_MAX,
        [WG_OP_VSET4 - WG_OP_VADD] = WG_VIDEO_SET,
    };
    static const struct {
        const char *text;
        unsigned bits;
    } extras[] = {
        {"add", WG_VIDEO_PLUS << 8}, {"min", WG_VIDEO_LEAST << 8},    {"max", WG_VIDEO_MOST << 8}, {"clamp", 0},
        {"wrap", WG_VIDEO_WRAP},     {"po", WG_VIDEO_PLUS_ONE},       {"shr7", 7 << 16},           {"shr15", 15 << 16},
        {"b0", 0}, {"b1", 0}, {"b2", 0}, {"b3", 0}, {"h0", 0}, {"h1", 0}, /* the operands know them too */
    };
    const bool set = in->cmp != 0;
    const unsigned count = in->op < WG_OP_VADD2 ? 1 : in->op < WG_OP_VADD4 ? 2 : 4, first = set ? 0 : 1;
    unsigned k = op[in->op - WG_OP_VADD] | count << 4;
    if (in->ntypes < first + 2u || in->flags & ~WG_FLAG(SAT) || in->nops < 3)
        return false;
    k |= !set && wg_type_infos[in->type[0]].kind == 'S' ? WG_VIDEO_D_SIGNED : 0;
    k |= wg_type_infos[in->type[first]].kind == 'S' ? WG_VIDEO_A_SIGNED : 0;
    k |= wg_type_infos[in->type[first + 1]].kind == 'S' ? WG_VIDEO_B_SIGNED : 0;
    k |= in->flags & WG_FLAG(SAT) ? WG_VIDEO_SAT : 0;
    k |= in->shift == WG_SHIFT_WRAP ? WG_VIDEO_WRAP : 0;
    k |= wg_alu_relations((enum wg_cmp)in->cmp) << 12;
    for (const char *p = in->extra; p && *p;) {
        size_t n = 0, len = strcspn(p, ".");
        while (n < sizeof extras / sizeof *extras && (strlen(extras[n].text) != len || strncmp(extras[n].text, p, len)))
            n++;
        const bool choice = len > 2 && (*p == 'h' || *p == 'b') && strspn(p + 1, "01234567") == len - 1;
        if (n == sizeof extras / sizeof *extras && !choice)
            return false;
        k |= choice ? 0 : extras[n].bits;
        p += len + (p[len] == '.');
    }
    int64_t parts = 0;
    if (in->op == WG_OP_VMAD && in->nops > 3) {
        k |= in->ops[1].neg != in->ops[2].neg ? WG_VIDEO_NEG_PRODUCT : 0;
        k |= in->ops[3].neg ? WG_VIDEO_NEG_C : 0;
    }
    if (count > 1) {
        *imm = 0;
        if (!video_choices(in, count, &parts))
            return false;
    }
    for (unsigned o = 0; count == 1 && o < 3; o++)
        if (in->ops[o].kind == WG_OPERAND_REG && in->ops[o].sreg >= 0) {
            if (in->ops[o].sreg >= WG_PTX_CHOICE)
                return false;
            parts |= (int64_t)(in->ops[o].sreg + 1) << (32 + 4 * o);
        }
    *imm = parts | k;
    return true;
}

static uint64_t key_of(const struct parts *p)
{
    return p->op | (uint64_t)p->t0 << 8 | (uint64_t)p->t1 << 14 | (uint64_t)p->round << 20 | (uint64_t)p->cmp << 24 |
           (uint64_t)p->half << 29 | (uint64_t)p->sub << 31 | (uint64_t)p->nsrc << 35 | (uint64_t)p->flags << 38;
}

static const struct wg_alu_row *row_of(const struct wg_alu_tables *t, uint64_t key)
{
    for (int k = 0; k < WG_ALU_TABLES; k++)
        for (uint32_t r = 0; r < t->table[k]->n; r++)
            if (t->table[k]->rows[r].key == key)
                return &t->table[k]->rows[r];
    return NULL;
}

/* The row for any modifiers, which go to k1. */
static const struct wg_alu_row *any_row(const struct wg_alu_tables *t, struct parts p, struct wg_inst *i, bool masked)
{
    if (p.op == WG_OP_SETP || p.op == WG_OP_SET) {
        p.cmp = 0;
        p.flags |= WG_KF_ANY;
        if (masked)
            i->k1 |= WG_ALU_MASKED;
        return row_of(t, key_of(&p));
    }
    const unsigned most = p.op == WG_OP_CVT ? 15 : 63, flags = p.flags;
    if (flags & ~most)
        return NULL;
    i->k1 = (uint8_t)flags;
    if (p.op == WG_OP_CVT) {
        i->k1 |= (uint8_t)(p.round << 4);
        p.round = 0;
    }
    p.flags = WG_KF_ANY;
    return row_of(t, key_of(&p));
}

wg_handler wg_alu_select(const struct wg_instr *in, struct wg_alu_form form, struct wg_inst *i)
{
    const struct wg_alu_tables *t = wg_lanes_best()->alu;
    if (wg_op_infos[in->op].group == WG_GROUP_VIDEO) {
        if ((form.src_scalar && !form.dst_scalar) || !video_of(in, &i->imm))
            return NULL;
        return form.dst_scalar ? t->video->s[form.masked] : t->video->v[form.masked];
    }
    struct parts p = parts_of(in, i);
    if (!p.ok)
        return NULL;
    const struct wg_alu_row *row = NULL;
    if (in->op == WG_OP_SETP && (in->cmp == WG_CMP_EQ || in->cmp == WG_CMP_NE) && !is_float(p.t0)) {
        struct parts q = p;
        q.t0 = bits_of(p.t0); /* eq and ne of integers have a row per width */
        row = row_of(t, key_of(&q));
    }
    if (!row)
        row = row_of(t, key_of(&p));
    if (!row)
        row = any_row(t, p, i, form.masked);
    if (!row)
        return NULL;
    if (row->rare) {
        if (!form.dst_scalar && form.src_scalar)
            return NULL;
        i->p = (const void *)(uintptr_t)(form.dst_scalar ? row->rare->s : row->rare->v);
        i->k2 = row->rare->bytes;
        return form.dst_scalar ? t->rare.s[form.masked] : t->rare.v[form.masked];
    }
    if (form.dst_scalar)
        return row->h[form.masked];
    if (!(row->mixes >> form.src_scalar & 1))
        return NULL;
    const unsigned rank = (unsigned)__builtin_popcount(row->mixes & ((1u << form.src_scalar) - 1));
    return row->h[2 + 2 * rank + form.masked];
}
