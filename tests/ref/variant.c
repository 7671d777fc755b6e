/* variant.c - expands legal.def into the list of instruction variants. */
#include "ref.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    enum wg_op op;
    const char *mnemonic, *operands;
} rows[] = {
#define LEGAL(op, mnemonic, operands) {WG_OP_##op, mnemonic, operands},
#include "legal.def"
#undef LEGAL
};
enum { NROWS = sizeof rows / sizeof *rows, GROUPS = 8, ALTS = 20, TEXT = 32 };

struct group {
    int n;
    char alt[ALTS][TEXT];
};
/* One pattern with its groups taken out: literal pieces between them. */
struct pattern {
    int ngroups, in_mnemonic;
    struct group g[GROUPS];
    char piece[GROUPS + 1][160];
};

static void die(const char *what, const char *text)
{
    fprintf(stderr, "legal.def: %s: %s\n", what, text);
    exit(2);
}

static void split(const char *text, struct pattern *p)
{
    size_t n = strlen(p->piece[p->ngroups]);
    for (const char *s = text; *s; s++) {
        if (*s != '(') {
            if (n + 1 >= sizeof p->piece[0])
                die("pattern too long", text);
            p->piece[p->ngroups][n++] = *s;
            p->piece[p->ngroups][n] = 0;
            continue;
        }
        if (p->ngroups == GROUPS)
            die("too many groups", text);
        struct group *g = &p->g[p->ngroups++];
        n = 0;
        g->n = 0;
        for (s++;; s++) {
            size_t k = strcspn(s, "|)");
            if (g->n == ALTS || k >= TEXT || !s[k])
                die("bad group", text);
            memcpy(g->alt[g->n], s, k);
            g->alt[g->n++][k] = 0;
            s += k;
            if (*s == ')')
                break;
        }
    }
}

static const char *last_part(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot ? dot + 1 : text;
}

static const char *wide(const char *t)
{
    static const char *const pair[][2] = {{"u16", "u32"}, {"s16", "s32"}, {"u32", "u64"}, {"s32", "s64"}};
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(pair[i][0], t))
            return pair[i][1];
    die("no wider type", t);
    return "";
}

/* Put $n and $wn in place. */
static void substitute(const char *in, const struct pattern *p, const int *pick, char *out, size_t cap)
{
    size_t n = 0;
    for (; *in; in++) {
        const char *put = NULL;
        char one[2] = {*in, 0};
        if (*in == '$') {
            bool w = in[1] == 'w';
            int k = in[w ? 2 : 1] - '1';
            if (k < 0 || k >= p->ngroups)
                die("bad reference", in);
            put = last_part(p->g[k].alt[pick[k]]);
            if (w)
                put = wide(put);
            in += w ? 2 : 1;
        } else
            put = one;
        size_t l = strlen(put);
        if (n + l + 1 > cap)
            die("variant too long", in);
        memcpy(out + n, put, l);
        n += l;
    }
    out[n] = 0;
}

static enum wg_type read_type(const char **s)
{
    const char *t = *s;
    size_t n = strspn(t, "abcdefghijklmnopqrstuvwxyz0123456789");
    enum wg_type r = wg_isa_type(t, n);
    if (r == WG_T_NONE)
        die("unknown type", t);
    *s = t + n;
    return r;
}

/* Read destinations, sources and cells out of the operand text. */
static void operands_of(struct ref_variant *v)
{
    v->mem_src = -1;
    for (const char *s = v->operands; *s;) {
        char c = *s++;
        if (c == '>') {
            v->dst[v->ndst++] = (uint8_t)read_type(&s);
        } else if (c == '<' || (c == '[' && *s == '*')) {
            if (c == '[') {
                s++;
                v->memory = true;
                v->mem_src = v->nsrc;
            }
            v->src[v->nsrc] = (uint8_t)read_type(&s);
            if (*s == '@') {
                size_t k = strspn(++s, "abcdefghijklmnopqrstuvwxyz");
                if (k >= sizeof v->hint[0])
                    die("hint too long", s);
                memcpy(v->hint[v->nsrc], s, k);
                s += k;
            }
            v->nsrc++;
        }
    }
    if (v->memory)
        v->dst[v->ndst++] = v->src[v->mem_src];
    v->carry_out = strstr(v->mnemonic, ".cc") != NULL;
    v->carry_in = v->op == WG_OP_ADDC || v->op == WG_OP_SUBC || v->op == WG_OP_MADC;
    if (v->carry_out)
        v->dst[v->ndst++] = WG_T_PRED;
    if (v->carry_in)
        v->src[v->nsrc++] = WG_T_PRED;
}

static void expand(int row, struct ref_variant **out, size_t *n, size_t *cap)
{
    struct pattern p = {0};
    split(rows[row].mnemonic, &p);
    p.in_mnemonic = p.ngroups;
    size_t k = strlen(p.piece[p.ngroups]);
    snprintf(p.piece[p.ngroups] + k, sizeof p.piece[0] - k, "\t"); /* where the operands begin */
    split(rows[row].operands, &p);
    int pick[GROUPS] = {0};
    for (;;) {
        char all[512] = "", done[512];
        size_t at = 0;
        for (int i = 0; i <= p.ngroups && i <= GROUPS; i++)
            at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", p.piece[i],
                                   i < p.ngroups ? p.g[i].alt[pick[i]] : "");
        if (at >= sizeof all)
            die("variant too long", all);
        substitute(all, &p, pick, done, sizeof done);
        if (*n == *cap) {
            *cap = *cap ? *cap * 2 : 1024;
            *out = realloc(*out, *cap * sizeof **out);
            if (!*out)
                die("out of memory", "");
        }
        struct ref_variant *v = &(*out)[(*n)++];
        memset(v, 0, sizeof *v);
        v->op = rows[row].op;
        char *tab = strchr(done, '\t');
        *tab = 0;
        if (strlen(done) >= sizeof v->mnemonic || strlen(tab + 1) >= sizeof v->operands)
            die("variant too long", done);
        strcpy(v->mnemonic, done);
        strcpy(v->operands, tab + 1);
        operands_of(v);
        int i = 0;
        while (i < p.ngroups && ++pick[i] == p.g[i].n)
            pick[i++] = 0;
        if (i == p.ngroups)
            break;
    }
}

struct ref_variant *ref_variants(size_t *n)
{
    struct ref_variant *out = NULL;
    size_t cap = 0;
    *n = 0;
    for (int i = 0; i < NROWS; i++)
        expand(i, &out, n, &cap);
    return out;
}

unsigned ref_width(enum wg_type t)
{
    if (t == WG_T_PRED)
        return 1;
    unsigned bytes = wg_type_bytes(t);
    return bytes == 1 ? 32 : bytes * 8;
}

unsigned ref_dst_bytes(const struct ref_variant *v, unsigned i)
{
    unsigned w = ref_width((enum wg_type)v->dst[i]);
    return w == 1 ? 1 : w / 8;
}
