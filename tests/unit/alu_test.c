/* alu_test.c - calls the arithmetic handlers of each level directly, in every form, and compares each lane with the
 * reference evaluator on the variants of legal.def. alu_test LEVEL [TEXT]: only mnemonics that contain TEXT. */
#include "../ref/ref.h"
#include "exec/exec.h"
#include "exec/lanes.h"
#include "exec/warp.h"
#include <inttypes.h>
#include <stdlib.h>

enum { SLOT = 512, SETS = 64 }; /* bytes of a slot in the register file; operand sets tried in each form */
enum slot { S_TRUE, S_GUARD, S_D, S_E, S_A, S_B, S_C, S_F, S_G, NSLOTS };

struct tally {
    unsigned variants, forms, lanes, wrong, missing, shown;
};

static const struct wg_inst *stop(struct wg_warp *w, const struct wg_inst *i, char *R)
{
    (void)w, (void)i, (void)R;
    return NULL;
}

/* PTX with the variant's instruction alone, on registers d0.. and s0..; false if it does not fit. */
static bool write_ptx(const struct ref_variant *v, char *out, size_t cap)
{
    size_t n = (size_t)snprintf(out, cap, ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k()\n{\n");
    for (unsigned k = 0; k < v->ndst; k++)
        n += (size_t)snprintf(out + n, cap - n, ref_width(v->dst[k]) == 1 ? ".reg .pred %%d%u;\n" : ".reg .b%2$u %%d%1$u;\n",
                              k, ref_width(v->dst[k]));
    for (unsigned k = 0; k < v->nsrc; k++)
        n += (size_t)snprintf(out + n, cap - n, ref_width(v->src[k]) == 1 ? ".reg .pred %%s%u;\n" : ".reg .b%2$u %%s%1$u;\n",
                              k, ref_width(v->src[k]));
    n += (size_t)snprintf(out + n, cap - n, "%s ", v->mnemonic);
    unsigned d = 0, s = 0;
    for (const char *p = v->operands; *p && n + 16 < cap;) {
        if (*p != '>' && *p != '<') {
            out[n++] = *p++;
            continue;
        }
        n += (size_t)snprintf(out + n, cap - n, *p == '>' ? "%%d%u" : "%%s%u", *p == '>' ? d++ : s++);
        p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (*p == '@')
            p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz");
    }
    n += (size_t)snprintf(out + n, cap - n, ";\nret;\n}\n");
    return n < cap;
}

/* One form under test. */
struct plan {
    struct wg_alu_form form;
    uint32_t mask, guard, predx; /* of the warp; guard predicate and its negation */
    unsigned base;               /* first operand set */
};

static unsigned lane_bytes(enum wg_type t) { return wg_type_bytes(t) < 2 ? 2 : wg_type_bytes(t); }

static void put(char *R, enum slot s, enum wg_type t, bool scalar, unsigned lane, uint64_t x)
{
    char *at = R + s * SLOT;
    if (t == WG_T_PRED) {
        uint32_t m;
        memcpy(&m, at, 4);
        m = (m & ~(1u << lane)) | (uint32_t)(x & 1) << lane;
        memcpy(at, &m, 4);
    } else if (scalar) {
        const unsigned n = lane_bytes(t);
        x &= n == 8 ? ~0ull : (1ull << 8 * n) - 1;
        memcpy(at, &x, 8);
    } else {
        memcpy(at + lane * lane_bytes(t), &x, lane_bytes(t));
    }
}

static uint64_t get(const char *R, enum slot s, enum wg_type t, bool scalar, unsigned lane)
{
    const char *at = R + s * SLOT;
    uint64_t x = 0;
    if (t == WG_T_PRED) {
        memcpy(&x, at, 4);
        return x >> lane & 1;
    }
    memcpy(&x, scalar ? at : at + lane * lane_bytes(t), scalar ? 8 : lane_bytes(t));
    return x;
}

/* The slot of each source in textual order. */
static unsigned source_slots(const struct wg_instr *in, const struct ref_variant *v, enum slot *slot)
{
    static const enum slot in_order[] = {S_A, S_B, S_C, S_F};
    unsigned n = 0, pos = 0;
    for (unsigned k = 1; k < in->nops; k++) {
        const struct wg_operand *o = &in->ops[k];
        if (o->kind == WG_OPERAND_IMM) {
            pos++;
            continue;
        }
        const bool extra = (in->op == WG_OP_SETP || in->op == WG_OP_SET || in->op == WG_OP_LOP3) &&
                           n < v->nsrc && v->src[n] == WG_T_PRED;
        slot[n++] = extra ? S_G : in_order[pos++];
    }
    if (v->carry_in)
        slot[n++] = S_E;
    return n;
}

static void report(struct tally *t, const struct ref_variant *v, const struct plan *p, unsigned lane,
                   const uint64_t *src, const uint64_t *want, const uint64_t *got)
{
    t->wrong++;
    if (t->shown++ >= 2) /* of each variant */
        return;
    printf("  %s %s (%s%s, scalar sources %x) lane %u of %08x:", v->mnemonic, v->operands,
           p->form.dst_scalar ? "scalar" : "vector", p->form.masked ? ", masked" : "", p->form.src_scalar, lane, p->mask);
    for (unsigned k = 0; k < v->nsrc; k++)
        printf(" %" PRIx64, src[k]);
    printf(" -> handler");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, got[k]);
    printf(", reference");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, want[k]);
    printf("\n");
}

/* What the reference says; asked once for the forms that differ only in their masks. */
static void expected(const struct ref_variant *v, const struct plan *p, const uint64_t src[REF_WARP][REF_MAX],
                     uint64_t want[REF_WARP][REF_MAX], enum ref_kind kind[REF_WARP])
{
    static const struct ref_variant *last;
    static struct plan for_plan;
    static uint64_t known[REF_WARP][REF_MAX];
    static enum ref_kind kinds[REF_WARP];
    if (last != v || for_plan.base != p->base || for_plan.form.dst_scalar != p->form.dst_scalar ||
        for_plan.form.src_scalar != p->form.src_scalar) {
        memset(known, 0, sizeof known);
        ref_run_warp(v, ~0u, src, known, kinds);
        last = v;
        for_plan = *p;
    }
    memcpy(want, known, sizeof known);
    memcpy(kind, kinds, sizeof kinds);
}

/* Runs one form on 32 operand sets; false if there is no such handler. */
static bool run_form(struct tally *t, const struct ref_variant *v, const struct wg_instr *in, const struct plan *p)
{
    static char R[NSLOTS * SLOT] __attribute__((aligned(64)));
    static struct wg_warp w;
    uint64_t src[REF_WARP][REF_MAX] = {{0}}, want[REF_WARP][REF_MAX] = {{0}};
    enum ref_kind kind[REF_WARP];
    enum slot slot[REF_MAX] = {S_TRUE};
    struct ref_inst ri;
    struct wg_inst code[2] = {{.d = S_D * SLOT, .e = S_E * SLOT, .a = S_A * SLOT, .b = S_B * SLOT, .c = S_C * SLOT,
                               .f = S_F * SLOT, .g = S_G * SLOT, .pred = S_GUARD * SLOT, .predx = p->predx},
                              {.fn = stop}};
    if (in->boolop == 0)
        code[0].g = S_TRUE * SLOT;
    code[0].fn = wg_alu_select(in, p->form, &code[0]);
    if (!code[0].fn)
        return false;
    const unsigned n = source_slots(in, v, slot);
    if (n != v->nsrc || !ref_decode(v->mnemonic, v->operands, &ri)) {
        printf("  %s %s: %u sources in the instruction\n", v->mnemonic, v->operands, n);
        t->wrong++;
        return true;
    }
    memset(R, 0, sizeof R);
    memset(R + S_TRUE * SLOT, 0xff, 4);
    memcpy(R + S_GUARD * SLOT, &p->guard, 4);
    w.mask = p->mask;
    unsigned number = 0; /* of operands that are no predicates: bit of src_scalar */
    for (unsigned k = 0; k < v->nsrc; k++) {
        const bool pred = v->src[k] == WG_T_PRED;
        const bool scalar = p->form.dst_scalar || (!pred && (p->form.src_scalar >> number & 1));
        number += !pred;
        for (unsigned l = 0; l < REF_WARP; l++) {
            src[l][k] = ref_pool(v->src[k], v->hint[k], k, p->base + (scalar ? 0 : l));
            put(R, slot[k], v->src[k], scalar, l, src[l][k]);
        }
    }
    const enum slot dslot[3] = {S_D, S_E, S_E};
    for (unsigned k = 0; k < v->ndst; k++)
        if (!(v->carry_in && dslot[k] == S_E))
            for (unsigned l = 0; l < REF_WARP; l++)
                put(R, dslot[k], v->dst[k], p->form.dst_scalar, l, ref_untouched(v->dst[k]));
    const uint32_t all_on = p->mask & (p->guard ^ p->predx);
    const uint32_t on = !p->form.masked || (p->form.dst_scalar && all_on) ? ~0u : p->form.dst_scalar ? 0 : all_on;
    expected(v, p, (const uint64_t(*)[REF_MAX])src, want, kind);
    for (const struct wg_inst *i = code; i;)
        i = i->fn(&w, i, R);
    t->forms++;
    for (unsigned l = 0; l < REF_WARP; l++) {
        uint64_t got[REF_MAX] = {0};
        bool ok = true;
        for (unsigned k = 0; k < v->ndst; k++) {
            const unsigned bits = 8 * lane_bytes(v->dst[k]);
            got[k] = get(R, dslot[k], v->dst[k], p->form.dst_scalar, l);
            if (!(on >> l & 1)) {
                const uint64_t kept = v->carry_in && dslot[k] == S_E ? src[l][v->nsrc - 1] : ref_untouched(v->dst[k]);
                want[l][k] = kept;
                ok = ok && got[k] == (kept & (bits == 64 ? ~0ull : (1ull << bits) - 1));
            } else if (bits < 64 && wg_type_bytes(v->dst[k]) < 2) {
                want[l][k] &= 0xffff; /* an 8-bit result fills two bytes here, a word in the reference */
            }
        }
        if (on >> l & 1)
            ok = ref_accept(&ri, src[l], v->ndst, want[l], got, kind[l], false);
        t->lanes++;
        if (!ok)
            report(t, v, p, l, src[l], want[l], got);
    }
    return true;
}

/* Variants that the engine refuses by name: .oob, conversions to two bits, selectors of several parts of a word, and
 * negated operands of vmad. */
static bool refused(const struct ref_variant *v)
{
    if (strstr(v->mnemonic, ".oob") || strstr(v->mnemonic, ".u2.") || strstr(v->mnemonic, ".s2."))
        return true;
    for (const char *p = strchr(v->operands, '.'); p; p = strchr(p + 1, '.'))
        if (strspn(p + 2, "0123456789") > 1 || strpbrk(wg_op_infos[v->op].text, "24"))
            return true;
    return strstr(v->operands, "-<") != NULL;
}

static void run_variant(struct tally *t, const struct ref_variant *v)
{
    static char text[4096];
    struct wg_diag diag = {WG_OK, ""};
    struct wg_ptx_module *m = NULL;
    if (refused(v))
        return;
    if (!write_ptx(v, text, sizeof text) || wg_ptx_parse(text, strlen(text), v->mnemonic, &m, &diag)) {
        printf("  %s %s: not read: %s\n", v->mnemonic, v->operands, diag.text);
        t->wrong++;
        return;
    }
    const struct wg_instr *in = &wg_ptx_function(m, "k")->instrs[0];
    unsigned values = 0; /* sources that may be scalar */
    for (unsigned k = 0; k < v->nsrc; k++)
        values += v->src[k] != WG_T_PRED;
    t->variants++;
    t->shown = 0;
    for (unsigned base = 0; base < SETS; base += 32)
        for (unsigned mix = 0; mix <= 1u << values; mix++)
            for (int masked = 0; masked < 2; masked++) {
                const bool scalar = mix == 1u << values;
                struct plan p = {.form = {.dst_scalar = scalar, .src_scalar = (uint8_t)(scalar ? mix - 1 : mix),
                                          .masked = masked},
                                 .mask = ~0u, .guard = ~0u, .base = base};
                const bool known = run_form(t, v, in, &p);
                if (!known && (mix == 0 || scalar)) {
                    printf("  %s %s: no handler\n", v->mnemonic, v->operands);
                    t->missing++;
                    wg_ptx_free(m);
                    return;
                }
                if (masked && known) {
                    p.mask = 0x9e3779b9u;
                    p.guard = 0x0ff0c35au;
                    run_form(t, v, in, &p);
                    p.predx = ~0u;
                    run_form(t, v, in, &p);
                    p.mask = 0; /* nothing may change */
                    run_form(t, v, in, &p);
                }
                for (unsigned k = 5; k < 32 && scalar && !masked; k += 5) { /* more operands for the one-lane form */
                    p.base = base + k;
                    run_form(t, v, in, &p);
                }
            }
    wg_ptx_free(m);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return fprintf(stderr, "usage: alu_test LEVEL [TEXT]\n"), 2;
    if (!wg_lanes_named(argv[1])) {
        printf("this host or build has no %s\n", argv[1]);
        return 77; /* skipped */
    }
    setenv("WARPGRIND_ISA", argv[1], 1);
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    struct tally t = {0};
    for (size_t k = 0; k < n; k++) {
        const enum wg_group g = wg_op_infos[v[k].op].group;
        const bool ours = g == WG_GROUP_ALU || g == WG_GROUP_CVT || g == WG_GROUP_VIDEO || v[k].op == WG_OP_MOV;
        if (!ours || strchr(v[k].operands, '{') || (argc > 2 && !strstr(v[k].mnemonic, argv[2])))
            continue;
        run_variant(&t, &v[k]);
    }
    printf("%s: %u variants in %u forms, %u lanes: %u wrong, %u variants without a handler\n", argv[1], t.variants,
           t.forms, t.lanes, t.wrong, t.missing);
    free(v);
    return t.wrong || t.missing || !t.lanes;
}
