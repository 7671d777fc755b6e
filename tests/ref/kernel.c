/* kernel.c - writes the module that runs one instruction variant on operands from memory, parameters or literals. */
#include "ref.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *s;
    size_t n, cap;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    for (;;) {
        va_list ap;
        va_start(ap, fmt);
        int k = vsnprintf(t->s + t->n, t->cap - t->n, fmt, ap);
        va_end(ap);
        if (t->n + (size_t)k < t->cap) {
            t->n += (size_t)k;
            return;
        }
        t->cap = t->cap * 2 + (size_t)k;
        t->s = realloc(t->s, t->cap);
        if (!t->s)
            abort();
    }
}

uint64_t ref_untouched(enum wg_type t)
{
    unsigned w = ref_width(t);
    return w == 1 ? 1 : 0xa5c3965a0ff1ce01ull & (w == 64 ? ~0ull : (1ull << w) - 1);
}

static bool is_video(const struct ref_variant *v)
{
    return wg_op_infos[v->op].group == WG_GROUP_VIDEO;
}

bool ref_style_applies(const struct ref_variant *v, enum ref_style style, unsigned src)
{
    enum wg_type t = (enum wg_type)v->src[src];
    char kind = wg_type_infos[t].kind;
    if (style == REF_VECTOR)
        return true;
    if (style == REF_ALIAS) /* cells have no register; the destination must be a whole one */
        return !(v->memory && (int)src == v->mem_src) && v->ndst &&
               ref_width(t) == ref_width((enum wg_type)v->dst[0]) && *v->operands == '>' &&
               src < v->nsrc - (unsigned)v->carry_in;
    if ((v->memory && (int)src == v->mem_src) || t == WG_T_PRED)
        return false; /* cells are stored by each lane; predicates are never literals */
    if (style == REF_UNIFORM)
        return true;
    if (style == REF_AFFINE)
        return kind != 'F' && t != WG_T_U16X2 && t != WG_T_S16X2 && ref_width(t) != 128 && wg_type_bytes(t) > 1;
    if (is_video(v) || strchr(v->operands, '{') || wg_type_bytes(t) == 1)
        return false;
    return kind != 'F' ? t != WG_T_U16X2 && t != WG_T_S16X2 : t == WG_T_F32 || t == WG_T_F64;
}

static void literal(struct text *o, enum wg_type t, uint64_t v)
{
    if (t == WG_T_F32)
        put(o, "0f%08" PRIX32, (uint32_t)v);
    else if (t == WG_T_F64)
        put(o, "0d%016" PRIX64, v);
    else if (wg_type_infos[t].kind == 'S')
        put(o, "%" PRId64, ref_width(t) == 16 ? (int16_t)v : ref_width(t) == 32 ? (int32_t)v : (int64_t)v);
    else
        put(o, "0x%" PRIx64, v);
}

static void load(struct text *o, const struct ref_variant *v, unsigned k, enum ref_style style)
{
    enum wg_type t = (enum wg_type)v->src[k];
    unsigned w = ref_width(t);
    if (style == REF_IMMEDIATE)
        return;
    if (style == REF_UNIFORM) {
        put(o, "    ld.param.b%u %%s%u, [s%u];\n", w, k, k);
    } else if (style == REF_AFFINE) {
        put(o, "    ld.param.b%u %%s%u, [s%u];\n    ld.param.b%u %%w%u, [t%u];\n", w, k, k, w, w, k);
        put(o,
            w == 32   ? "    mad.lo.u32 %%s%u, %%w32, %%i, %%s%u;\n"
            : w == 16 ? "    cvt.u16.u32 %%v16, %%i;\n"
                        "    mad.lo.u16 %%s%u, %%w16, %%v16, %%s%u;\n"
                      : "    cvt.u64.u32 %%v64, %%i;\n"
                        "    mad.lo.u64 %%s%u, %%w64, %%v64, %%s%u;\n",
            k, k);
    } else {
        put(o, "    mad.lo.u32 %%w32, %%stride, %u, %%i;\n    mad.wide.u32 %%a, %%w32, 8, %%in;\n", k);
        if (w == 1)
            put(o, "    ld.global.b32 %%w32, [%%a];\n    setp.ne.u32 %%s%u, %%w32, 0;\n", k);
        else
            put(o, "    ld.global.b%u %%s%u, [%%a];\n", w, k);
    }
}

static void store(struct text *o, const struct ref_variant *v, unsigned k)
{
    unsigned w = ref_width((enum wg_type)v->dst[k]);
    put(o, "    mad.lo.u32 %%w32, %%stride, %u, %%i;\n    mad.wide.u32 %%a, %%w32, 8, %%out;\n", k);
    if (w == 64)
        put(o, "    st.global.b64 [%%a], %%d%u;\n", k);
    else if (w == 1)
        put(o, "    selp.b64 %%v64, 1, 0, %%d%u;\n    st.global.b64 [%%a], %%v64;\n", k);
    else
        put(o, "    cvt.u64.u%u %%v64, %%d%u;\n    st.global.b64 [%%a], %%v64;\n", w, k);
}

static void operands(struct text *o, const struct ref_variant *v, enum ref_style style, unsigned which,
                     const uint64_t *imm)
{
    unsigned d = 0, s = 0;
    for (const char *p = v->operands; *p;) {
        char c = *p;
        if (c == '[' && p[1] == '*') {
            put(o, "[%%cell]");
            p = strchr(p, ']') + 1;
            s++;
            continue;
        }
        if (c != '>' && c != '<') {
            put(o, "%c", c);
            p++;
            continue;
        }
        p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (*p == '@')
            p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz");
        if (c == '>')
            put(o, "%%d%u", d++);
        else if (style == REF_IMMEDIATE && which >> s & 1) {
            literal(o, (enum wg_type)v->src[s], imm[s]);
            s++;
        } else if (style == REF_ALIAS && which >> s & 1) {
            put(o, "%%d0");
            s++;
        } else
            put(o, "%%s%u", s++);
    }
}

static void body(struct text *o, const struct ref_variant *v, enum ref_style style, unsigned which, const char *guard,
                 const uint64_t *imm)
{
    const char *t = strrchr(v->mnemonic, '.') + 1;
    bool sub = v->op == WG_OP_SUB || v->op == WG_OP_SUBC;
    unsigned w = ref_width(wg_isa_type(t, strlen(t))) == 64 ? 64 : 32;
    if (v->carry_in)
        put(o, "    selp.u32 %%w32, 1, 0, %%s%u;\n    %s.cc.u32 %%v32, %s;\n", v->nsrc - 1u, sub ? "sub" : "add",
            sub ? "0, %w32" : "%w32, 0xffffffff");
    put(o, "    %s%s ", guard, v->mnemonic);
    operands(o, v, style, which, imm);
    put(o, ";\n");
    if (v->carry_out) {
        put(o, "    %s%s.u%u %%v%u, 0, 0;\n", guard, sub ? "subc" : "addc", w, w);
        put(o, "    %ssetp.ne.u%u %%d%u, %%v%u, 0;\n", guard, w, v->ndst - 1u, w);
    }
}

char *ref_kernel(const struct ref_variant *v, enum ref_style style, unsigned which, enum ref_mask mask,
                 const uint64_t *imm)
{
    struct text t = {malloc(4096), 0, 4096}, *o = &t;
    if (!t.s)
        return NULL;
    bool shared = strstr(v->mnemonic, ".shared") != NULL;
    put(o, ".version 8.2\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, "
           ".param .u64 cells, .param .u32 stride, .param .u32 mask");
    for (int k = 0; k < REF_MAX; k++)
        put(o, ", .param .u64 s%d", k);
    for (int k = 0; k < REF_MAX; k++)
        put(o, ", .param .u64 t%d", k);
    put(o, ")\n{\n    .reg .b64 %%in, %%out, %%cell, %%a, %%v64, %%w64;\n    .reg .b32 %%i, %%stride, %%v32, %%w32;\n"
           "    .reg .b16 %%v16, %%w16;\n    .reg .pred %%g;\n");
    for (unsigned k = 0; k < v->ndst + v->nsrc; k++) {
        bool dst = k < v->ndst;
        unsigned at = dst ? k : k - v->ndst, w = ref_width((enum wg_type)(dst ? v->dst[k] : v->src[at]));
        put(o, w == 1 ? "    .reg .pred %%%c%u;\n" : "    .reg .b%3$u %%%1$c%2$u;\n", dst ? 'd' : 's', at, w);
    }
    if (shared)
        put(o, "    .shared .align 8 .b8 sh[8192];\n");
    put(o, "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n    ld.param.u32 %%stride, [stride];\n"
           "    mov.u32 %%v32, %%ctaid.x;\n    mov.u32 %%w32, %%ntid.x;\n    mov.u32 %%i, %%tid.x;\n"
           "    mad.lo.u32 %%i, %%v32, %%w32, %%i;\n");
    for (unsigned k = 0; k < v->nsrc; k++)
        load(o, v, k, which >> k & 1 && style != REF_ALIAS ? style : REF_VECTOR);
    for (unsigned k = 0; k < v->ndst; k++) {
        unsigned w = ref_width((enum wg_type)v->dst[k]);
        if (w == 1)
            put(o, "    setp.eq.u32 %%d%u, 0, 0;\n", k);
        else
            put(o, "    mov.b%u %%d%u, 0x%" PRIx64 ";\n", w, k, ref_untouched((enum wg_type)v->dst[k]));
    }
    if (style == REF_ALIAS) {
        unsigned w = ref_width((enum wg_type)v->dst[0]), k = (unsigned)__builtin_ctz(which);
        put(o, w == 1 ? "    mov.pred %%d0, %%s%u;\n" : "    mov.b%2$u %%d0, %%s%1$u;\n", k, w);
    }
    if (v->memory) {
        if (shared)
            put(o,
                "    mov.u32 %%v32, %%tid.x;\n    mov.u64 %%cell, sh;\n    mad.wide.u32 %%cell, %%v32, 8, %%cell;\n");
        else
            put(o, "    ld.param.u64 %%cell, [cells];\n    mad.wide.u32 %%cell, %%i, 8, %%cell;\n");
        put(o, "    st.%s.b%u [%%cell], %%s%d;\n", shared ? "shared" : "global",
            ref_width((enum wg_type)v->src[v->mem_src]), v->mem_src);
    }
    if (mask != REF_ALL)
        put(o,
            "    ld.param.u32 %%v32, [mask];\n    mov.u32 %%w32, %%laneid;\n    shr.u32 %%v32, %%v32, %%w32;\n"
            "    and.b32 %%v32, %%v32, 1;\n    setp.%s.u32 %%g, %%v32, 0;\n",
            mask == REF_GUARD ? "ne" : "eq");
    if (mask == REF_BRANCH)
        put(o, "    @%%g bra SKIP;\n");
    body(o, v, style, which, mask == REF_GUARD ? "@%g " : mask == REF_GUARD_NOT ? "@!%g " : "", imm);
    if (mask == REF_BRANCH)
        put(o, "SKIP:\n");
    if (v->memory)
        put(o, "    ld.%s.b%u %%d%u, [%%cell];\n", shared ? "shared" : "global",
            ref_width((enum wg_type)v->src[v->mem_src]), v->ndst - 1u - v->carry_out);
    for (unsigned k = 0; k < v->ndst; k++)
        store(o, v, k);
    put(o, "    ret;\n}\n");
    return t.s;
}
