/* run_ops.c - runs every variant of legal.def on the engine in every operand class and under masks, and compares each
 * lane with the reference evaluator. run_ops [--full] [--only TEXT] [--part I/N] [--show N] */
#include "../ref/ref.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <warpgrind/profile.h>
#include <warpgrind/warpgrind.h>

enum { SETS = 256, BLOCK = 128 };

struct bench {
    struct wg *g;
    uint64_t in, out, cells;
    unsigned launches;
};
struct tally {
    unsigned kernels, lanes, wrong, unsupported, shown, limit;
    bool bad, refused; /* the variant at hand */
};

static void fail(struct tally *t, const struct ref_variant *v, const char *what, const char *more)
{
    t->bad = true;
    if (t->shown++ < t->limit)
        printf("  %s %s: %s%s%s\n", v->mnemonic, v->operands, what, *more ? ": " : "", more);
}

static bool bench_open(struct bench *b, bool counters)
{
    char err[500] = "";
    struct wg_options o = {.size = sizeof o, .jobs = 1, .no_counters = !counters};
    memset(b, 0, sizeof *b);
    if (wg_open(&o, &b->g, err, sizeof err) || wg_alloc(b->g, REF_MAX * SETS * 8, 256, &b->in) ||
        wg_alloc(b->g, REF_MAX * SETS * 8, 256, &b->out) || wg_alloc(b->g, SETS * 8, 256, &b->cells)) {
        printf("cannot open the engine: %s\n", err);
        return false;
    }
    return true;
}

/* One way of running a variant. */
struct plan {
    enum ref_style style;
    unsigned which; /* sources it applies to */
    enum ref_mask mask;
    uint32_t lanes; /* bit set that takes part */
    unsigned set;   /* which operand set uniform, affine and literal values come from */
    unsigned threads;
};

/* Cross-lane instructions must name exactly the lanes that execute them. */
static struct ref_variant with_lanes(const struct ref_variant *v, uint32_t lanes)
{
    struct ref_variant r = *v;
    char *at = strstr(r.operands, "0xffffffff");
    if (at && wg_op_infos[v->op].group == WG_GROUP_WARP)
        snprintf(at, sizeof r.operands - (size_t)(at - r.operands), "0x%08x", lanes);
    return r;
}

static uint64_t operand(const struct ref_variant *v, const struct plan *p, unsigned k, unsigned i)
{
    enum wg_type t = (enum wg_type)v->src[k];
    uint64_t base = ref_pool(t, v->hint[k], k, p->set), step = ref_pool(t, v->hint[k], k + 3, p->set + 1);
    if (!(p->which >> k & 1) || p->style == REF_ALIAS)
        return ref_pool(t, v->hint[k], k, i);
    unsigned w = ref_width(t);
    return (p->style == REF_AFFINE ? base + step * i : base) & (w == 64 ? ~0ull : (1ull << w) - 1);
}

static const char *const style_names[] = {"vector", "uniform", "affine", "literal", "shared with the result"};
static const char *const mask_names[] = {"all lanes", "guarded", "guarded by not", "in a branch"};

static void show(struct tally *t, const struct ref_variant *v, const struct plan *p, unsigned i, const uint64_t *src,
                 const uint64_t *want, const uint64_t *got)
{
    t->bad = true;
    if (t->shown++ >= t->limit)
        return;
    printf("  %s %s (%s %x, %s %08x) thread %u:", v->mnemonic, v->operands, style_names[p->style], p->which,
           mask_names[p->mask], p->lanes, i);
    for (unsigned k = 0; k < v->nsrc; k++)
        printf(" %" PRIx64, src[k]);
    printf(" -> engine");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, got[k]);
    printf(", reference");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, want[k]);
    printf("\n");
}

/* Compare one warp; returns lanes that differ. */
static unsigned check_warp(const struct bench *b, struct tally *t, const struct ref_variant *v, const struct plan *p,
                           unsigned base, unsigned count)
{
    static uint64_t src[REF_WARP][REF_MAX], want[REF_WARP][REF_MAX];
    const uint64_t *out = (const uint64_t *)(uintptr_t)b->out;
    struct ref_inst in;
    enum ref_kind kind[REF_WARP];
    uint32_t on = (p->mask == REF_ALL ? ~0u : p->lanes) & (count == 32 ? ~0u : (1u << count) - 1);
    unsigned wrong = 0;
    ref_decode(v->mnemonic, v->operands, &in);
    for (unsigned l = 0; l < REF_WARP; l++) {
        for (unsigned k = 0; k < v->nsrc; k++)
            src[l][k] = operand(v, p, k, base + l);
        for (unsigned k = 0; k < v->ndst; k++)
            want[l][k] = ref_untouched((enum wg_type)v->dst[k]);
        if (p->style == REF_ALIAS)
            want[l][0] = src[l][__builtin_ctz(p->which)];
        if (v->memory) /* the cell is filled and read back by every lane */
            want[l][v->ndst - 1] = src[l][v->mem_src];
        kind[l] = REF_EXACT;
    }
    if (on)
        ref_run_warp(v, on, (const uint64_t(*)[REF_MAX])src, want, kind);
    for (unsigned l = 0; l < count; l++) {
        uint64_t got[REF_MAX];
        for (unsigned k = 0; k < v->ndst; k++)
            got[k] = out[k * SETS + base + l];
        enum ref_kind how = on >> l & 1 ? kind[l] : REF_EXACT;
        t->lanes++;
        if (!ref_accept(&in, src[l], v->ndst, want[l], got, how, false) && wrong++ == 0)
            show(t, v, p, base + l, src[l], want[l], got);
    }
    return wrong;
}

/* What the engine refuses by name, as it should: no program in the wild uses these. */
static bool may_refuse(const struct ref_variant *v)
{
    return strstr(v->mnemonic, ".oob") || !strncmp(v->mnemonic, "cvt.pack.sat.u2", 15) || !strncmp(v->mnemonic, "cvt.pack.sat.s2", 15);
}

static void run_plan(struct bench *b, struct tally *t, const struct ref_variant *base, const struct plan *p)
{
    struct ref_variant mine = with_lanes(base, p->mask == REF_ALL ? ~0u : p->lanes);
    const struct ref_variant *v = &mine;
    uint64_t imm[REF_MAX] = {0}, s[2 * REF_MAX] = {0}, *in = (uint64_t *)(uintptr_t)b->in;
    for (unsigned k = 0; k < v->nsrc; k++) {
        enum wg_type ty = (enum wg_type)v->src[k];
        imm[k] = s[k] = ref_pool(ty, v->hint[k], k, p->set);
        s[REF_MAX + k] = ref_pool(ty, v->hint[k], k + 3, p->set + 1);
        for (unsigned i = 0; i < SETS; i++)
            in[k * SETS + i] = ref_pool(ty, v->hint[k], k, i);
    }
    memset((void *)(uintptr_t)b->out, 0x77, REF_MAX * SETS * 8);
    char *ptx = ref_kernel(v, p->style, p->which, p->mask, imm);
    struct wg_module *m = NULL;
    t->kernels++;
    enum wg_status st = wg_module_load(b->g, ptx, strlen(ptx), "op.ptx", NULL, &m);
    if (!st) {
        uint32_t stride = SETS, mask = p->lanes;
        void *args[5 + 2 * REF_MAX] = {&b->in, &b->out, &b->cells, &stride, &mask};
        for (int k = 0; k < 2 * REF_MAX; k++)
            args[5 + k] = &s[k];
        unsigned block = p->threads < BLOCK ? p->threads : BLOCK;
        struct wg_launch l = {
            .size = sizeof l, .grid = {p->threads / block, 1, 1}, .block = {block, 1, 1}, .args = args};
        st = wg_launch(b->g, wg_module_kernel_at(m, 0), &l);
        b->launches++;
    }
    if ((st == WG_UNSUPPORTED || st == WG_PARSE) && may_refuse(v)) {
        t->unsupported++;
        t->refused = true;
    } else if (st == WG_UNSUPPORTED) {
        t->unsupported++;
        fail(t, v, "not supported", wg_error(b->g));
    } else if (st) {
        fail(t, v, wg_status_text(st), wg_error(b->g));
        t->wrong++;
    } else {
        for (unsigned i = 0; i < p->threads; i += REF_WARP)
            t->wrong += check_warp(b, t, v, p, i, p->threads - i < REF_WARP ? p->threads - i : REF_WARP);
    }
    wg_module_unload(m);
    free(ptx);
}

/* Which sources may be written in a style. */
static unsigned where(const struct ref_variant *v, enum ref_style style)
{
    unsigned w = 0;
    for (unsigned k = 0; k < v->nsrc; k++)
        w |= (unsigned)ref_style_applies(v, style, k) << k;
    return w;
}

static void run_variant(struct bench *b, struct tally *t, const struct ref_variant *v, size_t number, bool full)
{
    static const uint32_t masks[] = {0x5a3c00ff, 0x00000001, 0x80000000, 0xfffffffe, 0x0000ffff, 0x55555555, 0};
    unsigned turn = (unsigned)number, n = 0;
    bool warp = wg_op_infos[v->op].group == WG_GROUP_WARP;
    t->bad = t->refused = false;
    run_plan(b, t, v, &(struct plan){REF_VECTOR, 0, REF_ALL, ~0u, 0, SETS});
    if (t->bad || t->refused)
        return; /* the rest would only repeat it */
    struct plan plans[64];
    for (unsigned m = REF_GUARD; m <= REF_BRANCH; m++) {
        uint32_t lanes = masks[(turn + m) % (warp ? 6 : 7)];
        plans[n++] = (struct plan){REF_VECTOR, 0, (enum ref_mask)m, lanes, 0, SETS};
    }
    if (!warp)
        plans[n++] = (struct plan){REF_VECTOR, 0, REF_ALL, ~0u, 0, 50}; /* a partly filled warp */
    for (enum ref_style style = REF_UNIFORM; style <= REF_ALIAS; style++) {
        unsigned can = where(v, style);
        for (unsigned k = 0; k < v->nsrc; k++) {
            if (!(can >> k & 1))
                continue;
            for (unsigned r = 0; r < 2; r++)
                plans[n++] = (struct plan){
                    style, 1u << k, r ? REF_GUARD : REF_ALL, masks[(turn + k) % 6], (turn * 5 + k * 17 + r * 7) % 64,
                    64};
        }
        if (can & (can - 1) && style != REF_ALIAS)
            for (unsigned r = 0; r < 3; r++)
                plans[n++] = (struct plan){
                    style, can, (enum ref_mask)((turn + r) % 4), masks[(turn + r) % 6], (turn * 3 + r * 11) % 64, 64};
    }
    for (unsigned i = 0; i < n && !t->bad; i++)
        if (full || (i + turn) % 5 == 0 || i == turn % n)
            run_plan(b, t, v, &plans[i]);
}

int main(int argc, char **argv)
{
    bool full = false;
    const char *only = NULL;
    unsigned part = 0, parts = 1, limit = 60;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--full"))
            full = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--show") && i + 1 < argc)
            limit = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--part") && i + 1 < argc && sscanf(argv[++i], "%u/%u", &part, &parts) == 2)
            continue;
        else
            return fprintf(stderr, "usage: run_ops [--full] [--only TEXT] [--part I/N] [--show N]\n"), 2;
    size_t n, tried = 0, bad = 0, refused = 0;
    struct ref_variant *v = ref_variants(&n);
    struct tally t = {.limit = limit};
    struct bench b = {0};
    for (size_t i = 0; i < n; i++) {
        if ((only && !strstr(v[i].mnemonic, only)) || i % parts != part)
            continue;
        if (!b.g ||
            b.launches > 2000) { /* profiles grow with each launch; counting handlers take turns with plain ones */
            wg_close(b.g);
            if (!bench_open(&b, tried / 300 % 2))
                return 1;
        }
        run_variant(&b, &t, &v[i], i, full);
        tried++;
        bad += t.bad;
        refused += t.refused;
    }
    wg_close(b.g);
    free(v);
    printf("%zu of %zu variants right in %u kernels and %u lanes; %zu refused by name, as documented\n",
           tried - bad - refused, tried, t.kernels, t.lanes, refused);
    return bad || !tried;
}
