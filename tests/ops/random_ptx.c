/* random_ptx.c - the generator of random kernels: arithmetic from legal.def inside ifs, loops, switches and calls, with
 * guards, shared memory behind barriers, cross-lane operations where all lanes are present, local arrays and atomics.
 */
#include "random_ptx.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { R = 10, Q = 5, H = 4, P = 5, DEPTH = 3 };

struct gen {
    char *s;
    size_t n, cap;
    uint64_t rng;
    const struct ref_variant *v;
    size_t nv, *plain, nplain; /* variants that may be used anywhere */
    unsigned labels, block, depth, calls, left;
    bool together; /* all threads of the block are here */
    bool integers;
    const char *avoid;
    bool in_function;
};

__attribute__((format(printf, 2, 3))) static void put(struct gen *g, const char *fmt, ...)
{
    for (;;) {
        va_list ap;
        va_start(ap, fmt);
        int k = vsnprintf(g->s + g->n, g->cap - g->n, fmt, ap);
        va_end(ap);
        if (g->n + (size_t)k < g->cap) {
            g->n += (size_t)k;
            return;
        }
        g->cap = g->cap * 2 + (size_t)k;
        g->s = realloc(g->s, g->cap);
        if (!g->s)
            abort();
    }
}

static uint32_t rnd(struct gen *g, uint32_t n)
{
    g->rng ^= g->rng << 13;
    g->rng ^= g->rng >> 7;
    g->rng ^= g->rng << 17;
    return (uint32_t)((g->rng * 0x2545f4914f6cdd1dull) >> 33) % n;
}
static bool chance(struct gen *g, uint32_t percent)
{
    return rnd(g, 100) < percent;
}

/* Is some word of the list g->avoid part of name? */
static bool avoided(const struct gen *g, const char *name)
{
    for (const char *s = g->avoid; s && *s;) {
        size_t n = strcspn(s, ",");
        char word[40];
        snprintf(word, sizeof word, "%.*s", (int)n, s);
        if (n && strstr(name, word))
            return true;
        s += n + (s[n] == ',');
    }
    return false;
}

static void reg(struct gen *g, unsigned width, unsigned k)
{
    unsigned n = width == 1 ? P : width == 16 ? H : width == 64 ? Q : R;
    put(g, "%%%c%u", width == 1 ? 'p' : width == 16 ? 'h' : width == 64 ? 'q' : 'r', k % n);
}
static void any(struct gen *g, unsigned width)
{
    reg(g, width, rnd(g, 1000));
}

static void guard(struct gen *g)
{
    put(g, "    ");
    if (chance(g, 22))
        put(g, "@%s%%p%u ", chance(g, 30) ? "!" : "", rnd(g, P));
}

static void literal(struct gen *g, enum wg_type t, unsigned pos, const char *hint)
{
    uint64_t x = ref_pool(t, hint, pos, rnd(g, 200));
    if (t == WG_T_F32)
        put(g, "0f%08" PRIX32, (uint32_t)x);
    else if (t == WG_T_F64)
        put(g, "0d%016" PRIX64, x);
    else if (wg_type_infos[t].kind == 'S')
        put(g, "%" PRId64, ref_width(t) == 16 ? (int16_t)x : ref_width(t) == 32 ? (int32_t)x : (int64_t)x);
    else
        put(g, "0x%" PRIx64, x);
}

static void variant(struct gen *g, const struct ref_variant *v)
{
    unsigned first = rnd(g, 100), d = 0, s = 0;
    bool all_literal = true; /* PTX wants a register among the sources of most operations */
    guard(g);
    put(g, "%s ", v->mnemonic);
    for (const char *p = v->operands; *p;) {
        char c = *p;
        if (c != '>' && c != '<') {
            put(g, "%c", c);
            p++;
            continue;
        }
        p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (*p == '@')
            p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz");
        if (c == '>') {
            reg(g, ref_width((enum wg_type)v->dst[d]), first + d); /* neighbours: all different */
            d++;
        } else {
            enum wg_type t = (enum wg_type)v->src[s];
            if (ref_style_applies(v, REF_IMMEDIATE, s) && chance(g, 15) && !(all_literal && s + 1 == v->nsrc))
                literal(g, t, s, v->hint[s]);
            else {
                any(g, ref_width(t));
                all_literal = false;
            }
            s++;
        }
    }
    put(g, ";\n");
}

/* Operations that real kernels are made of: they keep values uniform or affine more often than random ones do. */
static void common(struct gen *g)
{
    static const char *const ops[] = {"add.s32 $r, $r, $r",
                                      "add.u32 $r, $r, $i",
                                      "sub.s32 $r, $r, $r",
                                      "mul.lo.s32 $r, $r, $i",
                                      "shl.b32 $r, $r, $b",
                                      "mad.lo.s32 $r, $r, $i, $r",
                                      "mad.lo.u32 $r, $r, $r, $r",
                                      "and.b32 $r, $r, $r",
                                      "or.b32 $r, $r, $r",
                                      "shr.u32 $r, $r, $b",
                                      "shr.s32 $r, $r, $b",
                                      "add.s64 $q, $q, $q",
                                      "mul.wide.s32 $q, $r, $i",
                                      "mul.wide.u32 $q, $r, $r",
                                      "mad.wide.s32 $q, $r, $i, $q",
                                      "cvt.u64.u32 $q, $r",
                                      "cvt.s64.s32 $q, $r",
                                      "cvt.u32.u64 $r, $q",
                                      "add.u64 $q, $q, $i",
                                      "mov.u32 $r, $r",
                                      "mov.u32 $r, $i",
                                      "mov.u32 $r, %tid.x",
                                      "mov.u32 $r, %laneid",
                                      "mov.u32 $r, %ctaid.x",
                                      "mov.u32 $r, %ntid.x",
                                      "mov.u32 $r, %tid.y",
                                      "mov.u32 $r, %tid.z",
                                      "mov.u32 $r, %ctaid.y",
                                      "mov.u32 $r, %nctaid.x",
                                      "mov.u32 $r, %ntid.y",
                                      "mov.u32 $r, %lanemask_ge",
                                      "mov.u32 $r, %lanemask_eq",
                                      "mov.u32 $r, %lanemask_lt",
                                      "mov.b64 $q, $q",
                                      "selp.b32 $r, $r, $r, $p",
                                      "selp.b32 $r, $r, $i, $p",
                                      "setp.lt.s32 $p, $r, $i",
                                      "setp.eq.s32 $p, $r, $r",
                                      "setp.ge.u32 $p, $r, $r",
                                      "setp.ne.s64 $p, $q, $q",
                                      "and.pred $p, $p, $p",
                                      "not.pred $p, $p",
                                      "xor.pred $p, $p, $p",
                                      "add.f32 $r, $r, $r",
                                      "fma.rn.f32 $r, $r, $r, $r",
                                      "mul.f32 $r, $r, $r",
                                      "cvt.rn.f32.s32 $r, $r",
                                      "cvt.u16.u32 $h, $r",
                                      "cvt.u32.u16 $r, $h",
                                      "cvt.s32.s16 $r, $h",
                                      "add.s16 $h, $h, $h",
                                      "min.s32 $r, $r, $r",
                                      "max.u32 $r, $r, $i",
                                      "neg.s32 $r, $r",
                                      "abs.s32 $r, $r",
                                      "xor.b32 $r, $r, $r",
                                      "not.b32 $r, $r",
                                      "bfe.u32 $r, $r, $b, $b",
                                      "popc.b32 $r, $r",
                                      "mov.b64 {$r, $r}, $q",
                                      "mov.b64 $q, {$r, $r}",
                                      "prmt.b32 $r, $r, $r, $i"};
    const char *s = ops[rnd(g, sizeof ops / sizeof *ops)];
    if ((g->integers && strstr(s, ".f32")) || avoided(g, s))
        s = ops[0];
    unsigned twin = rnd(g, R); /* the two halves of a split must differ */
    bool split = strstr(s, "{$r, $r},") != NULL;
    guard(g);
    for (; *s; s++)
        if (*s != '$')
            put(g, "%c", *s);
        else
            switch (*++s) {
            case 'r':
                if (split)
                    reg(g, 32, twin++);
                else
                    any(g, 32);
                break;
            case 'q':
                any(g, 64);
                break;
            case 'h':
                any(g, 16);
                break;
            case 'p':
                any(g, 1);
                break;
            case 'b':
                put(g, "%u", rnd(g, 34));
                break;
            default:
                put(g, "%d", chance(g, 70) ? (int)rnd(g, 64) - 16 : (int)rnd(g, 0x7fffffff));
                break;
            }
    put(g, ";\n");
}

static void carry_chain(struct gen *g)
{
    static const char *const kinds[] = {"add", "sub"};
    const char *k = kinds[rnd(g, 2)];
    bool wide = chance(g, 40);
    unsigned w = wide ? 64 : 32, links = 1 + rnd(g, 3), a = rnd(g, 5);
    for (unsigned i = 0; i <= links; i++) {
        put(g, "    %s%s%s.u%u ", k, i ? "c" : "", i < links ? ".cc" : "", w);
        reg(g, w, a + i);
        put(g, ", ");
        any(g, w);
        put(g, ", ");
        any(g, w);
        put(g, ";\n");
    }
}

/* Somewhere in size bytes: a constant place or one that data chooses. Leaves an address in %a. */
static void place(struct gen *g, const char *base, unsigned size, unsigned bytes)
{
    if (chance(g, 40))
        put(g, "    add.u64 %%a, %s, %u;\n", base, rnd(g, size / bytes) * bytes);
    else {
        put(g, "    and.b32 %%x, %%r%u, %u;\n    mul.wide.u32 %%a, %%x, %u;\n    add.u64 %%a, %s, %%a;\n", rnd(g, R),
            size / bytes - 1, bytes, base);
    }
}

static void access(struct gen *g, const char *space, const char *base, unsigned size, bool may_store)
{
    static const struct {
        const char *type;
        unsigned width, bytes, n;
    } forms[] = {{"u8", 16, 1, 1},  {"s8", 32, 1, 1},  {"u16", 16, 2, 1},    {"s16", 32, 2, 1},    {"b32", 32, 4, 1},
                 {"f32", 32, 4, 1}, {"b64", 64, 8, 1}, {"v2.b32", 32, 4, 2}, {"v4.b32", 32, 4, 4}, {"v2.b64", 64, 8, 2},
                 {"u32", 64, 4, 1}, {"s32", 64, 4, 1}, {"v4.u8", 16, 1, 4},  {"u8", 64, 1, 1}};
    unsigned k = rnd(g, sizeof forms / sizeof *forms), first = rnd(g, 100);
    bool store = may_store && chance(g, 50);
    place(g, base, size, forms[k].bytes * forms[k].n);
    guard(g);
    put(g, "%s.%s.%s ", store ? "st" : "ld", space, forms[k].type);
    if (store)
        put(g, "[%%a], ");
    if (forms[k].n > 1)
        put(g, "{");
    for (unsigned i = 0; i < forms[k].n; i++) {
        put(g, i ? ", " : "");
        reg(g, forms[k].width, first + i);
    }
    put(g, "%s%s;\n", forms[k].n > 1 ? "}" : "", store ? "" : ", [%a]");
}

static void sum(struct gen *g)
{
    static const char *const ops[] = {"add.u32", "add.u64", "or.b32",  "and.b32",
                                      "xor.b32", "max.u32", "min.s32", "max.s64"};
    unsigned k = rnd(g, 8); /* each operation has its own place: mixed ones would not commute */
    guard(g);
    put(g, "red.global.%s [%%sums+%u], ", ops[k], k * 8);
    any(g, strstr(ops[k], "64") ? 64 : 32);
    put(g, ";\n");
}

static void exchange(struct gen *g)
{
    put(g, "    bar.sync 0;\n    st.shared.b32 [%%own], %%r%u;\n    bar.sync 0;\n", rnd(g, R));
    put(g, "    and.b32 %%x, %%r%u, 31;\n    shl.b32 %%x, %%x, 2;\n    mov.u32 %%y, sh;\n    add.u32 %%x, %%x, %%y;\n",
        rnd(g, R));
    guard(g);
    put(g, "ld.shared.b32 %%r%u, [%%x];\n", rnd(g, R));
    if (chance(g, 30)) { /* sums in shared memory */
        put(g,
            "    bar.sync 0;\n    st.shared.b32 [%%own], 0;\n    bar.sync 0;\n    and.b32 %%x, %%r%u, 7;\n"
            "    shl.b32 %%x, %%x, 2;\n    add.u32 %%x, %%x, %%y;\n",
            rnd(g, R));
        guard(g);
        put(g, "red.shared.add.u32 [%%x], %%r%u;\n    bar.sync 0;\n    ld.shared.b32 %%r%u, [sh+%u];\n", rnd(g, R),
            rnd(g, R), rnd(g, 8) * 4);
    }
    put(g, "    bar.sync 0;\n");
}

static void cross_lane(struct gen *g)
{
    static const char *const shfl[] = {"up", "down", "bfly", "idx"}, *const red[] = {"add.u32", "min.s32", "max.u32",
                                                                                     "and.b32", "or.b32",  "xor.b32",
                                                                                     "min.u32", "add.s32"};
    unsigned a = rnd(g, R), d = rnd(g, R), p = rnd(g, P);
    if (g->block % 32) /* a partly filled warp has no full member mask */
        return;
    switch (rnd(g, 6)) {
    case 0:
        put(g, "    shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %%r%u, 0x%x, 0xffffffff;\n", shfl[rnd(g, 4)], d, p, a,
            rnd(g, R), chance(g, 70) ? 0x1f : 0x181f);
        break;
    case 1:
        put(g, "    shfl.sync.%s.b32 %%r%u, %%r%u, %u, 0x1f, 0xffffffff;\n", shfl[rnd(g, 4)], d, a, 1u << rnd(g, 5));
        break;
    case 2:
        put(g, "    vote.sync.ballot.b32 %%r%u, %s%%p%u, 0xffffffff;\n", d, chance(g, 40) ? "!" : "", p);
        break;
    case 3:
        put(g, "    vote.sync.%s.pred %%p%u, %%p%u, 0xffffffff;\n", chance(g, 50) ? "any" : "all", p, rnd(g, P));
        break;
    case 4:
        put(g, "    redux.sync.%s %%r%u, %%r%u, 0xffffffff;\n", red[rnd(g, 8)], d, a);
        break;
    default:
        put(g, "    match.any.sync.b32 %%r%u, %%r%u, 0xffffffff;\n", d, a);
        break;
    }
}

static void statements(struct gen *g, unsigned n);

static void branch(struct gen *g)
{
    unsigned l = g->labels++;
    bool was = g->together, other = chance(g, 60), same_everywhere = chance(g, 25);
    if (same_everywhere) /* a parameter decides for all */
        put(g, "    setp.%s.u32 %%k, %%ua, %u;\n", chance(g, 50) ? "lt" : "gt", rnd(g, 100));
    else if (chance(g, 60))
        put(g, "    setp.%s.s32 %%k, %%r%u, %%r%u;\n", chance(g, 50) ? "lt" : "ne", rnd(g, R), rnd(g, R));
    else
        put(g, "    and.b32 %%x, %%r%u, %u;\n    setp.eq.u32 %%k, %%x, 0;\n", rnd(g, R), 1 + rnd(g, 7));
    g->together = was && same_everywhere;
    put(g, "    @%s%%k bra E%u;\n", chance(g, 50) ? "!" : "", l);
    statements(g, 1 + rnd(g, 5));
    if (other) {
        put(g, "    bra%s F%u;\nE%u:\n", g->together ? ".uni" : "", l, l);
        statements(g, 1 + rnd(g, 5));
        put(g, "F%u:\n", l);
    } else
        put(g, "E%u:\n", l);
    g->together = was;
}

static void loop(struct gen *g)
{
    unsigned l = g->labels++, d = g->depth;
    bool was = g->together, fixed = chance(g, 40), leaves = chance(g, 30);
    put(g, "    mov.u32 %%c%u, 0;\n", d);
    if (fixed)
        put(g, "    mov.u32 %%t%u, %u;\n", d, 1 + rnd(g, 4));
    else
        put(g, "    and.b32 %%t%u, %%r%u, 3;\n", d, rnd(g, R));
    g->together = was && fixed && !leaves;
    bool first = chance(g, 50);
    put(g, "L%u:\n", l);
    if (first)
        put(g, "    setp.ge.u32 %%k, %%c%u, %%t%u;\n    @%%k bra M%u;\n", d, d, l);
    statements(g, 1 + rnd(g, 5));
    if (leaves) {
        put(g, "    @%%p%u bra M%u;\n", rnd(g, P), l);
        statements(g, 1 + rnd(g, 3));
    }
    put(g, "    add.u32 %%c%u, %%c%u, 1;\n", d, d);
    if (first)
        put(g, "    bra L%u;\n", l);
    else
        put(g, "    setp.lt.u32 %%k, %%c%u, %%t%u;\n    @%%k bra L%u;\n", d, d, l);
    put(g, "M%u:\n", l);
    g->together = was;
}

static void choice(struct gen *g)
{
    unsigned l = g->labels++, n = 2 + rnd(g, 3);
    bool was = g->together;
    g->together = false;
    put(g, "    rem.u32 %%x, %%r%u, %u;\n    {\n", rnd(g, R), n);
    put(g, "T%u: .branchtargets ", l);
    for (unsigned i = 0; i < n; i++)
        put(g, "%sU%u_%u", i ? ", " : "", l, i);
    put(g, ";\n    brx.idx %%x, T%u;\n    }\n", l);
    for (unsigned i = 0; i < n; i++) {
        put(g, "U%u_%u:\n", l, i);
        statements(g, 1 + rnd(g, 3));
        if (chance(g, 75)) /* else it falls through */
            put(g, "    bra V%u;\n", l);
    }
    put(g, "V%u:\n", l);
    g->together = was;
}

static void call(struct gen *g)
{
    if (g->in_function || g->calls >= 12)
        return;
    g->calls++;
    put(g,
        "    {\n    .param .b32 pa;\n    .param .b64 pb;\n    .param .b32 pr;\n    st.param.b32 [pa], %%r%u;\n"
        "    st.param.b64 [pb], %%q%u;\n    call%s (pr), f%u, (pa, pb);\n    ld.param.b32 %%r%u, [pr];\n    }\n",
        rnd(g, R), rnd(g, Q), g->together ? ".uni" : "", rnd(g, 2), rnd(g, R));
}

static void statement(struct gen *g)
{
    unsigned k = rnd(g, 100);
    if (k >= 38 && k < 62)
        variant(g, &g->v[g->plain[rnd(g, (uint32_t)g->nplain)]]);
    else if (k >= 62 && k < 65 && !avoided(g, "carry"))
        carry_chain(g);
    else if (k < 65 || g->in_function)
        common(g);
    else if (k < 69 && !avoided(g, "local"))
        access(g, "local", "%loc", 64, true);
    else if (k < 73 && !avoided(g, "global"))
        access(g, "global", "%in", RANDOM_IN, false);
    else if (k < 76 && !avoided(g, "global"))
        access(g, "global", "%mine", 128, true);
    else if (k < 79 && !avoided(g, "shared"))
        access(g, "shared", "%slot", 16, true);
    else if (k < 81 && !avoided(g, "red"))
        sum(g);
    else if (k < 84 && !avoided(g, "call"))
        call(g);
    else if (g->together && k < 88 && !avoided(g, "barrier"))
        exchange(g);
    else if (g->together && k < 92 && !avoided(g, "warp"))
        cross_lane(g);
    else
        common(g);
}

static void statements(struct gen *g, unsigned n)
{
    g->depth++;
    for (unsigned i = 0; i < n && g->left; i++) {
        g->left--;
        unsigned k = rnd(g, 100);
        if (g->depth <= DEPTH && k < 12 && !avoided(g, "branch"))
            branch(g);
        else if (g->depth <= DEPTH && k < 20 && !avoided(g, "loop"))
            loop(g);
        else if (g->depth <= DEPTH && k < 23 && !g->in_function && !avoided(g, "switch"))
            choice(g);
        else
            statement(g);
    }
    g->depth--;
}

static void registers(struct gen *g)
{
    put(g,
        "    .reg .b64 %%a, %%in, %%mine, %%sums, %%loc, %%slot, %%q<%d>;\n    .reg .b32 %%x, %%y, %%own, %%ua, "
        "%%c<%d>, %%t<%d>,"
        " %%r<%d>;\n    .reg .b16 %%h<%d>;\n    .reg .pred %%k, %%p<%d>;\n",
        Q, DEPTH + 2, DEPTH + 2, R, H, P);
}

static void function(struct gen *g, unsigned k)
{
    put(g, ".func (.param .b32 ret) f%u(.param .b32 a, .param .b64 b)\n{\n", k);
    registers(g);
    put(g, "    ld.param.b32 %%r0, [a];\n    ld.param.b64 %%q0, [b];\n    mov.u32 %%ua, 5;\n");
    for (int i = 1; i < R; i++)
        put(g, "    add.u32 %%r%d, %%r0, %u;\n", i, rnd(g, 1000));
    for (int i = 1; i < Q; i++)
        put(g, "    xor.b64 %%q%d, %%q0, %u;\n", i, rnd(g, 1000));
    for (int i = 0; i < H; i++)
        put(g, "    cvt.u16.u32 %%h%d, %%r%d;\n", i, i);
    for (int i = 0; i < P; i++)
        put(g, "    setp.lt.u32 %%p%d, %%r%d, %u;\n", i, i, rnd(g, 1000000));
    g->in_function = true;
    g->together = false;
    g->left = 14;
    statements(g, 8);
    g->in_function = false;
    put(g, "    st.param.b32 [ret], %%r%u;\n    ret;\n}\n", rnd(g, R));
}

static void prologue(struct gen *g)
{
    put(g, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sums, .param .u32 a, .param .u32 b, .param "
           ".u64 c)\n{\n");
    registers(g);
    put(g, "    .local .align 16 .b8 loc[64];\n    .shared .align 16 .b8 sh[512];\n    .shared .align 16 .b8 "
           "slots[2048];\n"
           "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%mine, [out];\n    ld.param.u64 %%sums, [sums];\n"
           "    ld.param.u32 %%ua, [a];\n    mov.u32 %%r0, %%tid.x;\n    mov.u32 %%r2, %%ctaid.x;\n");
    /* %r7: number of the thread in its block; %x: in the grid */
    put(g,
        "    mov.u32 %%x, %%tid.z;\n    mov.u32 %%y, %%ntid.y;\n    mov.u32 %%r9, %%tid.y;\n    mad.lo.u32 %%x, %%x, "
        "%%y, %%r9;\n"
        "    mov.u32 %%y, %%ntid.x;\n    mad.lo.u32 %%r7, %%x, %%y, %%r0;\n    mov.u32 %%x, %%ctaid.y;\n"
        "    mov.u32 %%y, %%nctaid.x;\n    mad.lo.u32 %%x, %%x, %%y, %%r2;\n    mad.lo.u32 %%x, %%x, %u, %%r7;\n",
        g->block);
    put(g,
        "    mul.wide.u32 %%a, %%x, %d;\n    add.u64 %%mine, %%mine, %%a;\n"
        "    mov.u64 %%loc, loc;\n    mov.u64 %%slot, slots;\n    mul.wide.u32 %%a, %%r7, 16;\n    add.u64 %%slot, "
        "%%slot, %%a;\n"
        "    mov.u32 %%own, sh;\n    shl.b32 %%y, %%r7, 2;\n    add.u32 %%own, %%own, %%y;\n",
        RANDOM_OUT);
    put(g,
        "    ld.param.u32 %%r1, [b];\n    and.b32 %%y, %%x, 127;\n    mul.wide.u32 %%a, %%y, 4;\n    add.u64 %%a, "
        "%%in, %%a;\n"
        "    ld.global.u32 %%r3, [%%a];\n    ld.global.u32 %%r6, [%%a+256];\n    mov.u32 %%r4, %%laneid;\n    mov.u32 "
        "%%r5, %u;\n"
        "    mad.lo.u32 %%r7, %%r7, 12, %%r1;\n    ld.global.f32 %%r8, [%%in+%u];\n    mov.u32 %%r9, %%x;\n",
        rnd(g, 0x7fffffff), rnd(g, 256) * 4);
    put(g,
        "    ld.param.u64 %%q0, [c];\n    cvt.u64.u32 %%q1, %%r0;\n    and.b32 %%y, %%x, 63;\n    mul.wide.u32 %%a, "
        "%%y, 8;\n"
        "    add.u64 %%a, %%in, %%a;\n    ld.global.u64 %%q2, [%%a];\n    mov.u64 %%q3, %u;\n    mul.wide.s32 %%q4, "
        "%%r3, %%r6;\n",
        rnd(g, 1000));
    for (int i = 0; i < H; i++)
        put(g, "    cvt.u16.u32 %%h%d, %%r%d;\n", i, i * 2);
    put(g,
        "    setp.lt.u32 %%p0, %%r0, %u;\n    setp.lt.s32 %%p1, %%r3, %%r6;\n    setp.gt.u32 %%p2, %%ua, %u;\n"
        "    setp.eq.u32 %%p3, %%r2, 0;\n    setp.ge.f32 %%p4, %%r8, %%r3;\n",
        rnd(g, g->block), rnd(g, 100));
    for (int i = 0; i < 16; i++)
        put(g, "    st.local.u32 [loc+%d], %%r%d;\n", i * 4, i % R);
    put(g, "    st.shared.v4.b32 [%%slot], {%%r3, %%r4, %%r6, %%r7};\n    st.shared.b32 [%%own], %%r3;\n    bar.sync "
           "0;\n");
}

/* Everything a thread holds, to its own part of the output. */
static void save(struct gen *g, unsigned from)
{
    for (unsigned i = 0; i < Q; i++)
        put(g, "    st.global.b64 [%%mine+%u], %%q%u;\n", from + i * 8, i);
    for (unsigned i = 0; i < R; i++)
        put(g, "    st.global.b32 [%%mine+%u], %%r%u;\n", from + Q * 8 + i * 4, i);
    for (unsigned i = 0; i < H; i++)
        put(g, "    st.global.b16 [%%mine+%u], %%h%u;\n", from + Q * 8 + R * 4 + i * 2, i);
    for (unsigned i = 0; i < P; i++)
        put(g, "    selp.u16 %%h0, 1, 0, %%p%u;\n    st.global.b8 [%%mine+%u], %%h0;\n", i,
            from + Q * 8 + R * 4 + H * 2 + i);
}

static bool is_float(const struct ref_variant *v)
{
    bool f = strstr(v->mnemonic, "f32") || strstr(v->mnemonic, "f64") || strstr(v->mnemonic, "f16");
    return f && v->op != WG_OP_MOV && v->op != WG_OP_SELP;
}

struct random_kernel random_ptx(uint64_t seed, const struct ref_variant *v, size_t n, bool integers, const char *avoid)
{
    static const unsigned blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1}, {48, 1, 1},
                                         {33, 1, 1}, {16, 4, 1}, {8, 4, 2},  {32, 3, 1},  {4, 8, 4},
                                         {7, 5, 2},  {64, 2, 1}, {1, 64, 1}};
    struct gen g = {.s = malloc(4096),
                    .cap = 4096,
                    .rng = seed * 0x9e3779b97f4a7c15ull + 0x1234567,
                    .v = v,
                    .nv = n,
                    .integers = integers,
                    .avoid = avoid};
    g.plain = malloc(n * sizeof *g.plain);
    if (!g.s || !g.plain)
        abort();
    for (size_t i = 0; i < n; i++) { /* exact, defined for all operands, and independent of other instructions */
        enum wg_group group = wg_op_infos[v[i].op].group;
        char name[200];
        snprintf(name, sizeof name, "%s %s", v[i].mnemonic, v[i].operands);
        bool usable = group == WG_GROUP_ALU || v[i].op == WG_OP_CVT || v[i].op == WG_OP_MOV;
        if (usable && !v[i].carry_in && !v[i].carry_out && v[i].op != WG_OP_FNS && !(integers && is_float(&v[i])) &&
            !avoided(&g, name) && !strstr(v[i].mnemonic, "approx") && !strstr(v[i].mnemonic, "div.full") &&
            !strstr(v[i].mnemonic, ".oob"))
            g.plain[g.nplain++] = i;
    }
    for (int i = 0; i < 4; i++)
        rnd(&g, 2);
    struct random_kernel k = {.grid = {1 + rnd(&g, 3), 1 + rnd(&g, 2), 1}};
    memcpy(k.block, blocks[rnd(&g, sizeof blocks / sizeof *blocks)], sizeof k.block);
    g.block = k.block[0] * k.block[1] * k.block[2];
    put(&g, ".version 8.2\n.target sm_90\n.address_size 64\n");
    function(&g, 0);
    function(&g, 1);
    prologue(&g);
    g.together = true;
    g.depth = 0;
    g.left = 60 + rnd(&g, 120);
    statements(&g, 12 + rnd(&g, 25));
    save(&g, 128);
    if (chance(&g, 30)) { /* some threads end here */
        put(&g, "    @%%p%u %s;\n", rnd(&g, P), chance(&g, 50) ? "exit" : "ret");
        g.together = false;
        g.left = 20;
        statements(&g, 6);
        save(&g, 256);
    }
    put(&g, "    ret;\n}\n");
    free(g.plain);
    k.ptx = g.s;
    return k;
}
