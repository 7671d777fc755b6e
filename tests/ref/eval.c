/* eval.c - takes a mnemonic apart and sends it to the evaluator of its family. */
#include "eval.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool ref_has(const struct ref_inst *in, const char *mod)
{
    for (int i = 0; i < in->nmods; i++)
        if (!strcmp(in->mod[i], mod))
            return true;
    return false;
}

/* Selectors (.b0, .h10) and signs of operands as written, e.g. "%r1.h0, -%r2, %r3.b1"; the destination is operand 0. */
static void selectors(const char *s, struct ref_inst *in)
{
    for (int k = 0; *s && k < REF_MAX; k++) {
        while (isspace((unsigned char)*s))
            s++;
        size_t n = strcspn(s, ",");
        in->neg[k] = *s == '-' && !isdigit((unsigned char)s[1]);
        for (size_t i = 1; i + 1 < n; i++)
            if (s[i] == '.' && (s[i + 1] == 'b' || s[i + 1] == 'h')) {
                size_t m = strspn(s + i + 2, "01234567");
                if (m + 1 < sizeof in->sel[k]) {
                    memcpy(in->sel[k], s + i + 1, m + 1);
                    in->sel[k][m + 1] = 0;
                }
            }
        s += n;
        if (*s)
            s++;
    }
}

bool ref_decode(const char *mnemonic, const char *operands, struct ref_inst *out)
{
    memset(out, 0, sizeof *out);
    size_t used;
    out->op = wg_isa_op(mnemonic, strlen(mnemonic), &used);
    if (out->op == WG_OP_UNKNOWN)
        return false;
    for (const char *s = mnemonic + used; *s == '.';) {
        size_t n = strcspn(++s, ".");
        enum wg_type t = wg_isa_type(s, n);
        if (t != WG_T_NONE) {
            if (out->ntypes == 4)
                return false;
            out->type[out->ntypes++] = (uint8_t)t;
        } else {
            if (out->nmods == 10 || n >= sizeof out->mod[0])
                return false;
            memcpy(out->mod[out->nmods++], s, n);
        }
        s += n;
    }
    if (operands && wg_op_infos[out->op].group == WG_GROUP_VIDEO)
        selectors(operands, out);
    return true;
}

enum ref_kind ref_eval(const struct ref_inst *in, const uint64_t *src, uint64_t *dst)
{
    if (in->op == WG_OP_UNKNOWN)
        return REF_UNKNOWN;
    enum wg_type last = in->ntypes ? (enum wg_type)in->type[in->ntypes - 1] : WG_T_NONE;
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_VIDEO:
        return eval_video(in, src, dst);
    case WG_GROUP_CVT:
        return eval_cvt(in, src, dst);
    case WG_GROUP_MOV:
        if (in->op != WG_OP_MOV)
            return REF_UNKNOWN;
        dst[0] = src[0];
        return REF_EXACT;
    case WG_GROUP_ALU:
        break;
    default:
        return REF_UNKNOWN;
    }
    switch (in->op) {
    case WG_OP_SET:
    case WG_OP_SETP:
    case WG_OP_SELP:
    case WG_OP_SLCT:
        return eval_compare(in, src, dst);
    default:
        return ref_fmt(last) ? eval_float(in, src, dst) : eval_int(in, src, dst);
    }
}

/* A double operation on two or more NaNs that passed one of them on. */
static bool one_of_the_nans(const struct ref_inst *in, const uint64_t *src, uint64_t got)
{
    if (in->ntypes != 1 || in->type[0] != WG_T_F64)
        return false;
    int nans = 0;
    bool match = false;
    for (int k = 0; k < 3; k++)
        if (num_isnan(&fmt_f64, src[k])) {
            nans++;
            match |= got == num_quiet(&fmt_f64, src[k]) || got == src[k]; /* memory does not quiet */
        }
    return nans > 1 && match;
}

bool ref_accept(const struct ref_inst *in, const uint64_t *src, unsigned ndst, const uint64_t *want,
                const uint64_t *got, enum ref_kind kind, bool strict)
{
    if (kind == REF_UNDEFINED)
        return true;
    if (kind == REF_UNKNOWN)
        return false;
    for (unsigned k = 0; k < ndst; k++)
        if (want[k] != got[k]) {
            if (kind == REF_APPROX && k == 0 && approx_accept(in, src, want[0], got[0]))
                continue;
            if (!strict && one_of_the_nans(in, src, got[k]))
                continue;
            return false;
        }
    return true;
}

/* ---- variants as their kernels run them ---- */

/* The operand list with literals put in: sources in textual order for ref_eval. */
struct shape {
    int from[REF_MAX]; /* number of the variant's source, or -1: literal */
    uint64_t literal[REF_MAX];
    bool negate[REF_MAX];
    int n;
};

static void shape_of(const struct ref_variant *v, struct shape *sh)
{
    sh->n = 0;
    int k = 0;
    bool not = false;
    for (const char *s = v->operands; *s; s++) {
        bool cell = s[0] == '[' && s[1] == '*';
        if (*s == '>') {
            s += strspn(s + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        } else if (*s == '!') {
            not = true;
        } else if (*s == '<' || cell) {
            sh->from[sh->n] = k++;
            sh->negate[sh->n++] = not;
            not = false;
            s += cell ? strcspn(s, "]") : strcspn(s, " ,}") - 1;
        } else if (isdigit((unsigned char)*s)) {
            char *end;
            sh->from[sh->n] = -1;
            sh->negate[sh->n] = false;
            sh->literal[sh->n++] = strtoull(s, &end, 0);
            s = end - 1;
        } else if (*s == '.') { /* a selector of a destination */
            s += strcspn(s, " ,") - 1;
        }
    }
}

static void gather(const struct shape *sh, const uint64_t *src, uint64_t *out)
{
    for (int i = 0; i < REF_MAX; i++)
        out[i] = i < sh->n ? (sh->from[i] < 0 ? sh->literal[i] : src[sh->from[i]] ^ sh->negate[i]) : 0;
}

/* mov of vectors: lay all sources end to end, then cut the destinations from it. */
static void move(const struct ref_variant *v, const uint64_t *src, uint64_t *dst)
{
    unsigned __int128 all = 0;
    unsigned at = 0;
    for (unsigned k = 0; k < v->nsrc; k++) {
        all |= (unsigned __int128)src[k] << at;
        at += ref_width((enum wg_type)v->src[k]);
    }
    at = v->operands[0] == '{' && v->operands[1] == '_' ? ref_width((enum wg_type)v->dst[0]) : 0;
    for (unsigned k = 0; k < v->ndst; k++) {
        unsigned w = ref_width((enum wg_type)v->dst[k]);
        dst[k] = (uint64_t)(all >> at) & mask_bits(w);
        at += w;
    }
}

static enum ref_kind atomic(const struct ref_variant *v, const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    const char *const ops[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
    for (int i = 0; i < 10; i++)
        if (ref_has(in, ops[i])) {
            dst[0] = s[0];
            return ref_atom(ops[i], (enum wg_type)in->type[0], ref_has(in, "shared"), s[0], s[1], s[2],
                            &dst[v->ndst - 1]);
        }
    return REF_UNKNOWN;
}

enum ref_kind ref_run(const struct ref_variant *v, const uint64_t *src, uint64_t *dst)
{
    struct ref_inst in;
    struct shape sh;
    uint64_t s[REF_MAX];
    if (!ref_decode(v->mnemonic, v->operands, &in))
        return REF_UNKNOWN;
    if (v->op == WG_OP_MOV) {
        move(v, src, dst);
        return REF_EXACT;
    }
    shape_of(v, &sh);
    gather(&sh, src, s);
    if (v->carry_in)
        in.cf = src[v->nsrc - 1];
    if (v->memory)
        return atomic(v, &in, s, dst);
    enum ref_kind kind = ref_eval(&in, s, dst);
    for (unsigned k = 0; k < v->ndst; k++) /* 8-bit results are extended to 32 bits; the register may be smaller */
        dst[k] &= mask_bits(ref_width((enum wg_type)v->dst[k]));
    return kind;
}

enum ref_kind ref_run_warp(const struct ref_variant *v, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                           uint64_t dst[REF_WARP][REF_MAX], enum ref_kind kind[REF_WARP])
{
    if (wg_op_infos[v->op].group != WG_GROUP_WARP) {
        enum ref_kind worst = REF_EXACT;
        for (int l = 0; l < REF_WARP; l++)
            if (active >> l & 1) {
                kind[l] = ref_run(v, src[l], dst[l]);
                worst = kind[l] > worst ? kind[l] : worst;
            }
        return worst;
    }
    struct ref_inst in;
    struct shape sh;
    uint64_t s[REF_WARP][REF_MAX];
    if (!ref_decode(v->mnemonic, v->operands, &in))
        return REF_UNKNOWN;
    shape_of(v, &sh);
    for (int l = 0; l < REF_WARP; l++)
        gather(&sh, src[l], s[l]);
    enum ref_kind k = ref_warp(&in, active, (const uint64_t(*)[REF_MAX])s, dst);
    for (int l = 0; l < REF_WARP; l++)
        kind[l] = k;
    return k;
}
