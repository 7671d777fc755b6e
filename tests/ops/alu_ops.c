/* alu_ops.c - calls the engine's arithmetic handlers directly, in every mix of vector and scalar sources, plain and masked,
 * and compares each lane with the reference evaluator. WARPGRIND_ISA chooses the build of the handlers.
 * alu_ops [--only TEXT] [--list-missing] */
#include "../ref/ref.h"
#include "exec/exec.h"
#include "exec/warp.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 256, D = SLOT, E = 2 * SLOT, G = 3 * SLOT, SRC = 4 * SLOT, FILE_BYTES = 16 * SLOT };

struct state {
    char *R;
    struct wg_warp *w;
    unsigned shown, forms;
};

static const struct wg_inst *stop(struct wg_warp *w, const struct wg_inst *i, char *R)
{
    (void)w;
    (void)i;
    (void)R;
    return NULL;
}

static unsigned container(enum wg_type t)
{
    unsigned b = wg_type_bytes(t);
    return b < 2 ? 2 : b;
}

/* The variant's sources in the order of wg_alu_select: which are values, which is the boolean operand in g. */
struct layout {
    int value[REF_MAX]; /* source number of the k-th value operand */
    unsigned n;
    int g;              /* source that goes to g, -1: none */
    int64_t lut;
};

static void lay_out(const struct ref_variant *v, const struct wg_instr *in, struct layout *l)
{
    l->n = 0;
    l->g = -1;
    unsigned sources = v->nsrc - v->carry_in;
    for (unsigned k = 0; k < sources; k++)
        if (v->src[k] == WG_T_PRED && (v->op == WG_OP_SETP || v->op == WG_OP_SET || v->op == WG_OP_LOP3))
            l->g = (int)k;
        else
            l->value[l->n++] = (int)k;
    if (v->op == WG_OP_LOP3)
        for (uint32_t k = 0; k < in->nops; k++)
            if (in->ops[k].kind == WG_OPERAND_IMM)
                l->lut = in->ops[k].imm;
}

static void fill(struct state *st, const struct ref_variant *v, const struct layout *l, uint8_t scalar, unsigned set,
                 uint64_t src[REF_WARP][REF_MAX])
{
    for (unsigned lane = 0; lane < REF_WARP; lane++)
        for (unsigned k = 0; k < v->nsrc; k++)
            src[lane][k] = ref_pool((enum wg_type)v->src[k], v->hint[k], k, set + lane);
    for (unsigned k = 0; k < l->n; k++) {
        unsigned s = (unsigned)l->value[k];
        enum wg_type t = (enum wg_type)v->src[s];
        char *at = st->R + SRC + SLOT * k;
        unsigned bytes = container(t);
        memset(at, 0, SLOT);
        for (unsigned lane = 0; lane < REF_WARP; lane++) {
            if (scalar >> k & 1)
                src[lane][s] = ref_pool(t, v->hint[s], s, set + 3);
            if (t == WG_T_PRED)
                *(uint32_t *)at |= (uint32_t)src[lane][s] << lane;
            else if (scalar >> k & 1)
                *(uint64_t *)at = bytes == 8 ? src[lane][s] : src[lane][s] & ((1ull << (bytes * 8)) - 1);
            else
                memcpy(at + lane * bytes, &src[lane][s], bytes);
        }
    }
    uint32_t g = 0, cf = 0;
    for (unsigned lane = 0; lane < REF_WARP; lane++) {
        if (l->g >= 0)
            g |= (uint32_t)src[lane][l->g] << lane;
        if (v->carry_in)
            cf |= (uint32_t)src[lane][v->nsrc - 1] << lane;
    }
    *(uint32_t *)(st->R + G) = g;
    *(uint32_t *)(st->R + E) = v->carry_in ? cf : 0x0f0f0f0f;
}

static uint64_t result(const struct state *st, enum wg_type t, bool scalar, unsigned lane, unsigned at)
{
    uint64_t x = 0;
    if (t == WG_T_PRED)
        return *(uint32_t *)(st->R + at) >> lane & 1;
    memcpy(&x, st->R + at + (scalar ? 0 : lane * container(t)), container(t));
    return x;
}

static bool one_form(struct state *st, const struct ref_variant *v, const struct wg_instr *in, const struct layout *l,
                     struct wg_alu_form form, unsigned set, uint32_t mask)
{
    static uint64_t src[REF_WARP][REF_MAX], want[REF_WARP][REF_MAX];
    struct wg_inst code[2] = {{0}};
    code[0].fn = wg_alu_select(in, form, &code[0]);
    if (!code[0].fn)
        return form.src_scalar && !form.dst_scalar; /* such mixes need not exist */
    st->forms++;
    code[1].fn = stop;
    code[0].d = D;
    code[0].e = E;
    code[0].g = l->g >= 0 ? G : 0;
    code[0].a = SRC;
    code[0].b = SRC + SLOT;
    code[0].c = SRC + 2 * SLOT;
    code[0].f = SRC + 3 * SLOT;
    if (v->op == WG_OP_LOP3)
        code[0].imm = l->lut;
    fill(st, v, l, form.src_scalar, set, src);
    memset(st->R + D, 0x5b, SLOT);
    *(uint32_t *)st->R = ~0u;
    st->w->mask = form.masked ? mask : ~0u;
    enum wg_type td = (enum wg_type)v->dst[0], narrow = wg_type_bytes((enum wg_type)in->type[0]) == 1 ? WG_T_B8 : td;
    bool pair = v->ndst > 1, two = v->carry_out || pair;
    uint64_t keep0[REF_WARP], keep1[REF_WARP];
    for (unsigned lane = 0; lane < REF_WARP; lane++) {
        keep0[lane] = result(st, td, form.dst_scalar, lane, D);
        keep1[lane] = result(st, WG_T_PRED, false, lane, E);
    }
    for (const struct wg_inst *i = code; i;)
        i = i->fn(st->w, i, st->R);
    enum ref_kind kind[REF_WARP];
    memset(want, 0, sizeof want);
    if (ref_run_warp(v, ~0u, (const uint64_t (*)[REF_MAX])src, want, kind) == REF_UNKNOWN)
        return false;
    struct ref_inst ri;
    ref_decode(v->mnemonic, v->operands, &ri);
    for (unsigned lane = 0; lane < REF_WARP; lane++) {
        bool on = !form.masked || (form.dst_scalar ? mask != 0 : mask >> lane & 1);
        uint64_t got[REF_MAX] = {result(st, td, form.dst_scalar, lane, D), result(st, WG_T_PRED, false, lane, E)};
        uint64_t low = narrow == WG_T_B8 && td != WG_T_PRED ? 0xff : ~0ull;
        if (!on) {
            want[lane][0] = keep0[lane];
            want[lane][1] = keep1[lane];
        } else if (low == 0xff) {
            got[0] &= low;
            want[lane][0] &= low;
        }
        if (!ref_accept(&ri, src[lane], two ? 2 : 1, want[lane], got, on ? kind[lane] : REF_EXACT, false)) {
            if (st->shown++ < 80) {
                printf("  %s %s (%s sources %x%s, lane %u, mask %x):", v->mnemonic, v->operands,
                       form.dst_scalar ? "scalar result," : "scalar", form.src_scalar, form.masked ? ", masked" : "", lane,
                       st->w->mask);
                for (unsigned k = 0; k < v->nsrc; k++)
                    printf(" %" PRIx64, src[lane][k]);
                printf(" -> handler %" PRIx64 " %" PRIx64 ", reference %" PRIx64 " %" PRIx64 "\n", got[0], got[1],
                       want[lane][0], want[lane][1]);
            }
            return false;
        }
    }
    return true;
}

static bool all_forms(struct state *st, const struct ref_variant *v, const struct wg_instr *in)
{
    struct layout l = {.g = -1};
    lay_out(v, in, &l);
    unsigned values = 0;
    bool preds = l.g >= 0 || v->carry_in || v->carry_out || v->ndst > 1;
    for (unsigned k = 0; k < l.n; k++)
        if (v->src[l.value[k]] != WG_T_PRED)
            values |= 1u << k;
        else
            preds = true;
    for (unsigned m = 0; m < 2; m++) {
        for (unsigned s = 0; s < 1u << l.n; s++)
            for (unsigned set = 0; !(s & ~values) && set < 64; set += 32)
                if (!one_form(st, v, in, &l, (struct wg_alu_form){false, (uint8_t)s, m}, set, set ? 0x80000001 : 0x5a3c00ff))
                    return false;
        for (unsigned set = 0; !preds && v->dst[0] != WG_T_PRED && set < 64; set++)
            if (!one_form(st, v, in, &l, (struct wg_alu_form){true, (uint8_t)values, m}, set, set & 1 ? 0 : 4))
                return false;
    }
    return true;
}

static const struct wg_instr *find(const struct ref_variant *v, const struct wg_function *f)
{
    for (uint32_t i = 0; i < f->ninstrs; i++)
        if (!strcmp(f->instrs[i].mnemonic, v->mnemonic) && f->instrs[i].op == v->op)
            return &f->instrs[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    bool list = false;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--list-missing"))
            list = true;
        else
            return fprintf(stderr, "usage: alu_ops [--only TEXT] [--list-missing]\n"), 2;
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    struct state st = {.R = aligned_alloc(64, FILE_BYTES), .w = calloc(1, sizeof *st.w)};
    unsigned tried = 0, right = 0, missing = 0;
    for (size_t i = 0; i < n; i++) {
        enum wg_group g = wg_op_infos[v[i].op].group;
        if ((g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_VIDEO) || strchr(v[i].operands, '!') ||
            (only && !strstr(v[i].mnemonic, only)))
            continue;
        char *ptx = ref_kernel(&v[i], REF_VECTOR, 0, REF_ALL, NULL);
        struct wg_ptx_module *m = NULL;
        struct wg_diag d;
        wg_diag_clear(&d);
        if (!wg_ptx_parse(ptx, strlen(ptx), "op.ptx", &m, &d)) {
            const struct wg_instr *in = find(&v[i], m->funcs[0]);
            struct wg_inst probe = {0};
            if (in && wg_alu_select(in, (struct wg_alu_form){0}, &probe)) {
                tried++;
                right += all_forms(&st, &v[i], in);
            } else {
                missing++;
                if (list)
                    printf("no handler: %s\n", v[i].mnemonic);
            }
        }
        wg_ptx_free(m);
        free(ptx);
    }
    printf("%u variants right, %u wrong, %u without a handler; %u forms run\n", right, tried - right, missing, st.forms);
    free(st.R);
    free(st.w);
    free(v);
    return tried != right || !tried;
}
