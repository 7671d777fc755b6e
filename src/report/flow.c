/* flow.c - splits instructions into the registers they write and read, and follows values from one to the next. */
#include "report/flow.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct names { const char **at; size_t *len; size_t cap, n; uint32_t *id; };

static uint32_t number(struct names *t, const char *s, size_t len)
{
    size_t h = 5381;
    for (size_t i = 0; i < len; i++)
        h = h * 33 ^ (unsigned char)s[i];
    for (h &= t->cap - 1; t->at[h]; h = (h + 1) & (t->cap - 1))
        if (t->len[h] == len && !memcmp(t->at[h], s, len))
            return t->id[h];
    t->at[h] = s;
    t->len[h] = len;
    return t->id[h] = (uint32_t)t->n++;
}

static bool part(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.'; }

/* The registers of the text from p to end: %name, but for those that the machine sets. */
static void registers(struct names *t, const char *p, const char *end, uint32_t *v, uint16_t *n, bool *thread)
{
    while (p < end) {
        if (*p != '%') {
            p++;
            continue;
        }
        const char *s = p++;
        while (p < end && part(*p))
            p++;
        size_t len = (size_t)(p - s);
        static const char *const places[] = {"%tid", "%laneid", "%warpid", "%lanemask"};
        static const char *const fixed[] = {"%ctaid", "%ntid", "%nctaid", "%clusterid", "%cluster_", "%clock", "%smid", "%nsmid",
                                            "%gridid", "%globaltimer", "%envreg", "%dynamic_smem", "%total_smem", "%pm"};
        bool special = false;
        for (size_t k = 0; k < sizeof places / sizeof *places; k++)
            if (!strncmp(s, places[k], strlen(places[k])))
                special = *thread = true;
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
            special |= !strncmp(s, fixed[k], strlen(fixed[k]));
        if (!special && *n < WG_FLOW_REGS)
            v[(*n)++] = number(t, s, len);
    }
}

static bool writes(const char *op)
{
    static const char *const none[] = {"st.", "red.", "bra", "bar.", "barrier.", "ret", "exit", "cp.", "membar", "fence", "trap",
                                       "prefetch", "mbarrier.init", "sust", "stmatrix", "wmma.store", "nanosleep", "brx"};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (!strncmp(op, none[k], strlen(none[k])))
            return false;
    return true;
}

static void split(struct names *t, const struct wg_site *s, struct wg_flow_site *x, uint8_t *own)
{
    const char *p = s->text, *end = p + strlen(p);
    bool thread = false;
    *x = (struct wg_flow_site){.guard = UINT32_MAX, .base = UINT32_MAX};
    if (*p == '@') {
        uint16_t n = 0;
        const char *q = p + strcspn(p, " \t");
        registers(t, p, q, &x->guard, &n, &thread);
        p = q + strspn(q, " \t");
    }
    const char *op = p;
    p += strcspn(p, " \t");
    if (writes(op)) {
        const char *q = p;
        for (int depth = 0; q < end && (depth || *q != ','); q++)
            depth += *q == '{' || *q == '(' ? 1 : *q == '}' || *q == ')' ? -1 : 0;
        registers(t, p, q, x->out, &x->nout, &thread);
        p = q;
    }
    registers(t, p, end, x->in, &x->nin, &thread);
    const char *open = memchr(p, '[', (size_t)(end - p)), *close = open ? strchr(open, ']') : NULL;
    if (close) {
        uint32_t v[WG_FLOW_REGS];
        uint16_t n = 0;
        bool ignored = false;
        registers(t, open, close, v, &n, &ignored);
        x->base = n ? v[0] : UINT32_MAX;
        const char *plus = memchr(open, '+', (size_t)(close - open));
        x->offset = plus ? strtoll(plus + 1, NULL, 0) : 0;
    }
    *own = thread ? WG_FROM_THREAD : 0;
    bool memory = s->space == WG_SITE_GLOBAL || s->space == WG_SITE_SHARED || s->space == WG_SITE_GENERIC;
    if (memory && (s->kind == WG_SITE_LOAD || s->kind == WG_SITE_ATOM))
        *own |= WG_FROM_DATA;
}

bool wg_flow_open(const struct wg_site *sites, size_t n, struct wg_arena *a, struct wg_flow *out)
{
    struct names t = {.cap = 64};
    while (t.cap < n * 4 * WG_FLOW_REGS)
        t.cap *= 2;
    t.at = wg_calloc(t.cap, sizeof *t.at);
    t.len = wg_calloc(t.cap, sizeof *t.len);
    t.id = wg_calloc(t.cap, sizeof *t.id);
    *out = (struct wg_flow){.nsites = n, .site = wg_arena_alloc(a, (n + 1) * sizeof *out->site)};
    uint8_t *own = wg_arena_alloc(a, n + 1);
    bool ok = t.at && t.len && t.id && out->site && own;
    for (size_t i = 0; ok && i < n; i++)
        split(&t, &sites[i], &out->site[i], &own[i]);
    free(t.at);
    free(t.len);
    free(t.id);
    out->nregs = t.n;
    out->origin = wg_arena_alloc(a, t.n + 1);
    out->first_def = wg_arena_alloc(a, (t.n + 1) * sizeof *out->first_def);
    out->ndefs = wg_arena_alloc(a, (t.n + 1) * sizeof *out->ndefs);
    if (!ok || !out->origin || !out->first_def || !out->ndefs)
        return false;
    memset(out->origin, 0, t.n + 1);
    memset(out->first_def, 0xff, (t.n + 1) * sizeof *out->first_def);
    memset(out->ndefs, 0, (t.n + 1) * sizeof *out->ndefs);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            const struct wg_flow_site *x = &out->site[i];
            uint8_t from = own[i];
            for (unsigned k = 0; k < x->nin; k++)
                from |= out->origin[x->in[k]];
            for (unsigned k = 0; k < x->nout; k++) {
                changed |= (from & ~out->origin[x->out[k]]) != 0;
                out->origin[x->out[k]] |= from;
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < out->site[i].nout; k++)
            if (!out->ndefs[out->site[i].out[k]]++)
                out->first_def[out->site[i].out[k]] = (uint32_t)i;
    return true;
}

uint32_t wg_flow_def(const struct wg_flow *f, uint32_t reg)
{
    return reg < f->nregs && f->ndefs[reg] == 1 ? f->first_def[reg] : UINT32_MAX;
}
