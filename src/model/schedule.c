/* schedule.c - liveness over blocks, and list scheduling of each block against a budget of registers. */
#include "model/schedule.h"
#include <string.h>

enum { MOST_OPS = 2000, MOST_WORDS = 1 << 21 };

struct edge { uint32_t to, next; uint16_t latency; };
struct node { uint32_t edge, waits; int32_t height, ready; bool done; };

struct scheduler {
    const struct wg_lowered *f;
    size_t words;
    uint64_t *in, *out;     /* per block: values live at its start and end */
    uint32_t *left;         /* per value: reads to come in the block */
    uint8_t *live, *at_end; /* per value */
    struct node *nodes;
    struct edge *edges;
    size_t nedges, cap_edges;
    uint32_t *list, *last_write, *reads_since, nlist;
    struct { uint32_t op, next; } *readers;
    size_t nreaders, cap_readers;
    struct wg_arena *a;
    uint32_t now;
    struct wg_live *result;
};

static bool has(const uint64_t *set, uint32_t v) { return set[v / 64] >> (v % 64) & 1; }
static void put(uint64_t *set, uint32_t v) { set[v / 64] |= (uint64_t)1 << (v % 64); }
static void drop(uint64_t *set, uint32_t v) { set[v / 64] &= ~((uint64_t)1 << (v % 64)); }

/* ---- liveness over blocks -------------------------------------------------------------------------------------- */

static bool live_blocks(struct scheduler *s)
{
    const struct wg_lowered *f = s->f;
    s->words = f->nregs / 64 + 1;
    s->in = wg_arena_alloc(s->a, ((size_t)f->nblocks + 1) * s->words * sizeof *s->in);
    s->out = wg_arena_alloc(s->a, ((size_t)f->nblocks + 1) * s->words * sizeof *s->out);
    uint64_t *set = wg_arena_alloc(s->a, s->words * sizeof *set);
    if (s->a->failed)
        return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->nblocks; b-- > 0;) {
            const struct wg_lower_block *B = &f->blocks[b];
            memset(set, 0, s->words * sizeof *set);
            for (uint32_t k = 0; k < B->nmore; k++)
                for (size_t w = 0; w < s->words && f->targets[B->more + k] < f->nblocks; w++)
                    set[w] |= s->in[f->targets[B->more + k] * s->words + w];
            memcpy(s->out + b * s->words, set, s->words * sizeof *set);
            for (uint32_t o = B->op + B->nops; o-- > B->op;) {
                const struct wg_lower_op *op = &f->ops[o];
                for (uint32_t k = 0; k < op->nwrites && !op->guarded; k++)
                    if (f->writes[op->write + k] < f->nregs)
                        drop(set, f->writes[op->write + k]);
                for (uint32_t k = 0; k < op->nreads; k++)
                    if (f->reads[op->read + k] < f->nregs)
                        put(set, f->reads[op->read + k]);
            }
            uint64_t *in = s->in + b * s->words;
            changed |= memcmp(in, set, s->words * sizeof *set) != 0;
            memcpy(in, set, s->words * sizeof *set);
        }
    }
    return true;
}

/* ---- dependences of a block ------------------------------------------------------------------------------------ */

static bool link_ops(struct scheduler *s, uint32_t from, uint32_t to, unsigned latency)
{
    if (from == to)
        return true;
    s->edges = wg_arena_grow(s->a, s->edges, s->nedges + 1, &s->cap_edges, sizeof *s->edges);
    if (!s->edges)
        return false;
    s->edges[s->nedges] = (struct edge){to, s->nodes[from].edge, (uint16_t)latency};
    s->nodes[from].edge = (uint32_t)s->nedges++;
    s->nodes[to].waits++;
    return true;
}

static bool remember_reader(struct scheduler *s, uint32_t value, uint32_t op)
{
    s->readers = wg_arena_grow(s->a, s->readers, s->nreaders + 1, &s->cap_readers, sizeof *s->readers);
    if (!s->readers)
        return false;
    s->readers[s->nreaders].op = op;
    s->readers[s->nreaders].next = s->reads_since[value];
    s->reads_since[value] = (uint32_t)s->nreaders++;
    return true;
}

static bool value_edges(struct scheduler *s, const struct wg_lower_block *B, uint32_t k)
{
    const struct wg_lowered *f = s->f;
    const struct wg_lower_op *op = &f->ops[B->op + k];
    bool ok = true;
    for (uint32_t r = 0; ok && r < op->nreads; r++) {
        uint32_t v = f->reads[op->read + r], w = s->last_write[v];
        if (w != UINT32_MAX)
            ok = link_ops(s, w, k, f->ops[B->op + w].latency);
        ok = ok && remember_reader(s, v, k);
    }
    for (uint32_t r = 0; ok && r < op->nwrites; r++) {
        uint32_t v = f->writes[op->write + r];
        if (s->last_write[v] != UINT32_MAX)
            ok = link_ops(s, s->last_write[v], k, 1);
        for (uint32_t x = s->reads_since[v]; ok && x != UINT32_MAX; x = s->readers[x].next)
            ok = link_ops(s, s->readers[x].op, k, 1);
        s->reads_since[v] = UINT32_MAX;
        s->last_write[v] = k;
    }
    return ok;
}

/* May the two touch the same bytes? */
static bool may_meet(const struct wg_lower_op *a, const struct wg_lower_op *b)
{
    if (!(a->where & b->where) || a->memory == WG_LOWER_LOAD_CONSTANT || b->memory == WG_LOWER_LOAD_CONSTANT)
        return false;
    if (a->memory == WG_LOWER_FENCE || b->memory == WG_LOWER_FENCE || a->base < 0 || a->base != b->base)
        return true;
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* Loads pass loads; stores and fences keep their order with everything that may touch the same memory. */
static bool memory_edges(struct scheduler *s, const struct wg_lower_block *B)
{
    const struct wg_lower_op *ops = &s->f->ops[B->op];
    uint32_t n = 0;
    for (uint32_t k = 0; k < B->nops; k++) {
        if (!ops[k].memory || ops[k].memory == WG_LOWER_LOAD_CONSTANT)
            continue;
        bool orders = ops[k].memory != WG_LOWER_LOAD;
        for (uint32_t x = n; x-- > 0;) {
            const struct wg_lower_op *o = &ops[s->list[x]];
            if ((orders || o->memory != WG_LOWER_LOAD) && may_meet(o, &ops[k]) && !link_ops(s, s->list[x], k, 1))
                return false;
        }
        if (ops[k].memory == WG_LOWER_FENCE)
            n = 0; /* what came before is ordered by it */
        s->list[n++] = k;
    }
    return true;
}

static bool build(struct scheduler *s, const struct wg_lower_block *B)
{
    const struct wg_lowered *f = s->f;
    s->nedges = s->nreaders = 0;
    for (uint32_t k = 0; k < B->nops; k++) {
        const struct wg_lower_op *op = &f->ops[B->op + k];
        s->nodes[k] = (struct node){.edge = UINT32_MAX};
        for (uint32_t r = 0; r < op->nreads; r++)
            s->last_write[f->reads[op->read + r]] = s->reads_since[f->reads[op->read + r]] = UINT32_MAX;
        for (uint32_t r = 0; r < op->nwrites; r++)
            s->last_write[f->writes[op->write + r]] = s->reads_since[f->writes[op->write + r]] = UINT32_MAX;
    }
    for (uint32_t k = 0; k < B->nops; k++)
        if (!value_edges(s, B, k))
            return false;
    if (!memory_edges(s, B))
        return false;
    for (uint32_t k = 0; k + 1 < B->nops && f->ops[B->op + B->nops - 1].last; k++)
        if (!link_ops(s, k, B->nops - 1, 0))
            return false;
    for (uint32_t k = B->nops; k-- > 0;)
        for (uint32_t e = s->nodes[k].edge; e != UINT32_MAX; e = s->edges[e].next) {
            int32_t h = s->nodes[s->edges[e].to].height + s->edges[e].latency;
            if (h > s->nodes[k].height)
                s->nodes[k].height = h;
        }
    return true;
}

/* ---- one block in order ---------------------------------------------------------------------------------------- */

static void count_in(struct scheduler *s, uint32_t v, int sign)
{
    uint32_t w = s->f->weight[v] * (uint32_t)sign;
    s->now += w;
}

static void note(struct scheduler *s, unsigned temps)
{
    if (s->now + temps > s->result->most)
        s->result->most = s->now + temps;
}

/* Registers more (or fewer) live behind the operation. */
static int change(const struct scheduler *s, const struct wg_lower_op *op)
{
    int n = 0;
    for (uint32_t k = 0; k < op->nreads; k++) {
        uint32_t v = s->f->reads[op->read + k];
        if (s->left[v] == 1 && !s->at_end[v])
            n -= s->f->weight[v];
    }
    for (uint32_t k = 0; k < op->nwrites; k++) {
        uint32_t v = s->f->writes[op->write + k];
        n += s->live[v] ? 0 : s->f->weight[v];
    }
    return n;
}

static void run(struct scheduler *s, const struct wg_lower_op *op)
{
    const struct wg_lowered *f = s->f;
    note(s, op->temps);
    for (uint32_t k = 0; k < op->nreads; k++) {
        uint32_t v = f->reads[op->read + k];
        if (--s->left[v] == 0 && !s->at_end[v] && s->live[v]) {
            s->live[v] = 0;
            count_in(s, v, -1);
        }
    }
    for (uint32_t k = 0; k < op->nwrites; k++) {
        uint32_t v = f->writes[op->write + k];
        if (!s->live[v]) {
            s->live[v] = 1;
            count_in(s, v, 1);
        }
    }
    note(s, 0);
    for (uint32_t k = 0; k < op->nwrites; k++) { /* nobody reads it here, nor later */
        uint32_t v = f->writes[op->write + k];
        if (s->left[v] == 0 && !s->at_end[v] && s->live[v]) {
            s->live[v] = 0;
            count_in(s, v, -1);
        }
    }
}

/* The operation to go next, an index into the list of those whose operands are there. */
static uint32_t choose(const struct scheduler *s, const struct wg_lower_block *B, unsigned budget, int32_t cycle)
{
    const struct node *n = s->nodes;
    uint32_t best = UINT32_MAX;
    bool tight = false;
    for (uint32_t k = 0; k < s->nlist; k++) {
        const struct node *x = &n[s->list[k]];
        if (x->ready > cycle)
            continue;
        if (best == UINT32_MAX || x->height > n[s->list[best]].height ||
            (x->height == n[s->list[best]].height && s->list[k] < s->list[best]))
            best = k;
    }
    if (best != UINT32_MAX) {
        const struct wg_lower_op *op = &s->f->ops[B->op + s->list[best]];
        int more = change(s, op);
        tight = more > 0 && s->now + (unsigned)more + op->temps > budget;
    }
    if (best != UINT32_MAX && !tight)
        return best;
    if (!tight) { /* nothing is ready: what will be first */
        for (uint32_t k = 0; k < s->nlist; k++)
            if (best == UINT32_MAX || n[s->list[k]].ready < n[s->list[best]].ready ||
                (n[s->list[k]].ready == n[s->list[best]].ready && n[s->list[k]].height > n[s->list[best]].height))
                best = k;
        return best;
    }
    int least = 0;
    best = UINT32_MAX;
    for (uint32_t k = 0; k < s->nlist; k++) { /* waiting is better than another register; the text's order else */
        int more = change(s, &s->f->ops[B->op + s->list[k]]);
        if (more > 0)
            more = 1;
        if (best == UINT32_MAX || more < least || (more == least && s->list[k] < s->list[best])) {
            best = k;
            least = more;
        }
    }
    return best;
}

static void in_order(struct scheduler *s, const struct wg_lower_block *B, unsigned budget)
{
    int32_t cycle = 0;
    s->nlist = 0;
    for (uint32_t k = 0; k < B->nops; k++)
        if (s->nodes[k].waits == 0)
            s->list[s->nlist++] = k;
    while (s->nlist) {
        uint32_t at = choose(s, B, budget, cycle), k = s->list[at];
        s->list[at] = s->list[--s->nlist];
        cycle = cycle > s->nodes[k].ready ? cycle : s->nodes[k].ready;
        run(s, &s->f->ops[B->op + k]);
        for (uint32_t e = s->nodes[k].edge; e != UINT32_MAX; e = s->edges[e].next) {
            struct node *to = &s->nodes[s->edges[e].to];
            int32_t ready = cycle + s->edges[e].latency;
            to->ready = to->ready > ready ? to->ready : ready;
            if (--to->waits == 0)
                s->list[s->nlist++] = s->edges[e].to;
        }
        cycle++;
    }
}

static bool block(struct scheduler *s, uint32_t b, unsigned budget)
{
    const struct wg_lowered *f = s->f;
    const struct wg_lower_block *B = &f->blocks[b];
    const uint64_t *in = s->in + b * s->words, *out = s->out + b * s->words;
    memset(s->live, 0, f->nvalues);
    memset(s->at_end, 0, f->nvalues);
    s->now = 0;
    for (uint32_t v = 0; v < f->nregs; v++) {
        s->at_end[v] = has(out, v);
        if (has(in, v)) {
            s->live[v] = 1;
            count_in(s, v, 1);
        }
    }
    for (uint32_t o = B->op; o < B->op + B->nops; o++)
        for (uint32_t k = 0; k < f->ops[o].nreads; k++)
            s->left[f->reads[f->ops[o].read + k]]++;
    note(s, 0);
    if (!budget || B->nops > MOST_OPS) {
        for (uint32_t o = B->op; o < B->op + B->nops; o++)
            run(s, &f->ops[o]);
        return true;
    }
    if (!build(s, B))
        return false;
    in_order(s, B, budget);
    return true;
}

enum wg_status wg_schedule(const struct wg_lowered *f, unsigned budget, struct wg_arena *a, struct wg_live *out)
{
    struct scheduler s = {.f = f, .a = a, .result = out};
    uint32_t most = 0;
    *out = (struct wg_live){0};
    if ((uint64_t)f->nblocks * (f->nregs / 64 + 1) > MOST_WORDS)
        return WG_UNSUPPORTED;
    for (uint32_t b = 0; b < f->nblocks; b++)
        most = f->blocks[b].nops > most ? f->blocks[b].nops : most;
    s.left = wg_arena_alloc(a, (f->nvalues + 1) * sizeof *s.left);
    s.live = wg_arena_alloc(a, f->nvalues + 1);
    s.at_end = wg_arena_alloc(a, f->nvalues + 1);
    s.last_write = wg_arena_alloc(a, (f->nvalues + 1) * sizeof *s.last_write);
    s.reads_since = wg_arena_alloc(a, (f->nvalues + 1) * sizeof *s.reads_since);
    s.nodes = wg_arena_alloc(a, (most + 1) * sizeof *s.nodes);
    s.list = wg_arena_alloc(a, (most + 1) * sizeof *s.list);
    if (a->failed || !live_blocks(&s))
        return WG_NO_MEMORY;
    for (uint32_t b = 0; b < f->nblocks; b++)
        if (!block(&s, b, budget))
            return WG_NO_MEMORY;
    return a->failed ? WG_NO_MEMORY : WG_OK;
}
