/* merge.c - the model of which accesses ptxas joins, narrows and drops; its rules are listed in merge.h. */
#include "ptx/merge.h"
#include "ptx/address.h"
#include <string.h>

enum { NONE = UINT32_MAX, MAX_SAME_KEY = 16 };
/* Memory whose loads are remembered until something may change it. */
enum list { LIST_SHARED, LIST_LOCAL, LIST_GLOBAL, LIST_CONSTANT, LIST_GENERIC, LISTS };

/* Where an access goes: its group of up to 16 bytes, or (group_bytes 0) exactly this address and width. */
struct key { uint8_t list, elem, group_bytes; uint32_t root; int64_t at; };
/* Loads that share a key; also a node of the chain of what is available: a cell's parent was available before it. */
struct cell {
    struct key key;
    uint32_t parent, jump, depth, same_key;
    uint32_t first, last; /* members, in order of visit */
    uint16_t mask;        /* elements asked for */
};
struct member { uint32_t next; uint16_t mask; uint8_t position; uint32_t block; };
struct block {
    uint32_t begin, end, first_succ, nsucc, first_pred, npred;
    uint32_t avail[LISTS]; /* cells at its end */
};
/* Stores in a row that may become one; per space. */
struct run { struct key key; uint32_t n, instr[4]; uint8_t bytes, position[4]; uint16_t mask; };

struct merger {
    const struct wg_function *f;
    struct wg_arena tmp;
    struct wg_merge *out;
    struct wg_address_state *addr;
    uint8_t *live;  /* per register: somebody needs its value */
    uint8_t *bytes; /* per register: how many of its low bytes */
    uint32_t *block_of, nblocks, *edges, *back_edges, *order, norder;
    struct block *blocks;
    uint8_t *visited;
    struct cell *cells; /* 0 is the empty chain */
    size_t ncells, cap_cells, nbuckets;
    uint32_t *buckets;
    struct member *members; /* per instruction */
    uint32_t avail[LISTS];
    struct run runs[LISTS];
};

/* ---- liveness -------------------------------------------------------------------------------------------------- */

static bool is_plain_load(const struct wg_instr *in)
{
    return (in->op == WG_OP_LD || in->op == WG_OP_LDU) && in->order <= WG_ORDER_WEAK && !in->extra && in->nops >= 2 &&
           in->ntypes == 1;
}

/* Does nothing but write its destination? */
static bool only_computes(const struct wg_instr *in)
{
    enum wg_group g = wg_op_infos[in->op].group;
    return is_plain_load(in) || g == WG_GROUP_ALU || g == WG_GROUP_CVT ||
           (g == WG_GROUP_MOV && in->op != WG_OP_ALLOCA && in->op != WG_OP_STACKRESTORE && in->op != WG_OP_STACKSAVE);
}

static bool mark_live(struct merger *m)
{
    const struct wg_function *f = m->f;
    int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
    uint32_t nw, nr, top = 0, total = 0;
    uint32_t *first = wg_arena_alloc(&m->tmp, (f->nregs + 2) * sizeof *first);
    uint8_t *done = wg_arena_alloc(&m->tmp, f->ninstrs + 1);
    uint32_t *stack = wg_arena_alloc(&m->tmp, (f->nregs + 1) * sizeof *stack);
    m->live = wg_arena_alloc(&m->tmp, f->nregs + 1);
    if (m->tmp.failed)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        wg_address_regs(&f->instrs[i], w, &nw, r, &nr);
        for (uint32_t k = 0; k < nw; k++)
            first[w[k] + 1]++;
        total += nw;
    }
    uint32_t *defs = wg_arena_alloc(&m->tmp, (total + 1) * sizeof *defs);
    uint32_t *fill = wg_arena_alloc(&m->tmp, (f->nregs + 1) * sizeof *fill);
    if (m->tmp.failed)
        return false;
    for (uint32_t k = 0; k < f->nregs; k++)
        first[k + 1] += first[k];
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        wg_address_regs(&f->instrs[i], w, &nw, r, &nr);
        for (uint32_t k = 0; k < nw; k++)
            defs[first[w[k]] + fill[w[k]]++] = i;
    }
    for (uint32_t i = 0; i <= f->ninstrs; i++) {
        /* first what has an effect, then the definitions of what turned out to be needed */
        if (i < f->ninstrs && only_computes(&f->instrs[i]))
            continue;
        if (i < f->ninstrs) {
            wg_address_regs(&f->instrs[i], w, &nw, r, &nr);
            for (uint32_t k = 0; k < nr; k++)
                if (!m->live[r[k]])
                    m->live[r[k]] = 1, stack[top++] = (uint32_t)r[k];
        }
        while (top) {
            uint32_t reg = stack[--top];
            for (uint32_t d = first[reg]; d < first[reg + 1]; d++) {
                if (done[defs[d]])
                    continue;
                done[defs[d]] = 1;
                wg_address_regs(&f->instrs[defs[d]], w, &nw, r, &nr);
                for (uint32_t k = 0; k < nr; k++)
                    if (!m->live[r[k]])
                        m->live[r[k]] = 1, stack[top++] = (uint32_t)r[k];
            }
        }
    }
    return true;
}

/* How many low bytes of its k-th operand an instruction looks at. */
static uint8_t bytes_needed(const struct merger *m, const struct wg_instr *in, uint32_t k)
{
    unsigned from = in->ntypes ? wg_type_bytes((enum wg_type)in->type[in->ntypes - 1]) : 0;
    unsigned to = in->ntypes ? wg_type_bytes((enum wg_type)in->type[0]) : 0;
    if (from != 8 && in->op != WG_OP_ST)
        return 8;
    switch (in->op) {
    case WG_OP_CVT:
        return in->ntypes == 2 && wg_type_infos[in->type[0]].kind != 'F' && wg_type_infos[in->type[1]].kind != 'F' &&
               !(in->flags & WG_FLAG(SAT)) ? (uint8_t)to : 8;
    case WG_OP_ST: return k == 1 && in->ntypes ? (uint8_t)to : 8;
    case WG_OP_MOV: { /* {low, high} of which the high half is not used */
        const struct wg_operand *v = &in->ops[0];
        bool low = v->kind == WG_OPERAND_VEC && v->nelems == 2 &&
                   (v->elems[1].kind != WG_OPERAND_REG || !m->live[v->elems[1].reg]);
        return low ? 4 : 8;
    }
    case WG_OP_BFI: /* the inserted value, of which so many bits are taken */
        return k == 1 && in->nops == 5 && in->ops[4].kind == WG_OPERAND_IMM && in->ops[4].imm == 32 ? 4 : 8;
    default: return 8;
    }
}

static bool count_bytes(struct merger *m)
{
    const struct wg_function *f = m->f;
    int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
    uint32_t nw, nr;
    m->bytes = wg_arena_alloc(&m->tmp, f->nregs + 1);
    if (!m->bytes)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        wg_address_regs(in, w, &nw, r, &nr);
        for (uint32_t k = 0; k < nr; k++) {
            uint8_t need = 0;
            for (uint32_t o = 1; o < in->nops && r[k] != in->guard; o++) {
                bool here = in->ops[o].kind == WG_OPERAND_REG && in->ops[o].reg == r[k];
                uint8_t n = here ? bytes_needed(m, in, o) : 0;
                need = n > need ? n : need;
            }
            need = need ? need : 8; /* address, guard, part of a vector, argument */
            if (in->nops && (in->op == WG_OP_ST || in->op == WG_OP_ATOM || in->op == WG_OP_RED) &&
                in->ops[in->op == WG_OP_ATOM].reg == r[k])
                need = 8; /* the address, though it may be the value too */
            if (m->bytes[r[k]] < need)
                m->bytes[r[k]] = need;
        }
    }
    return true;
}

/* Elements of a load that somebody reads, or all elements of a store. */
static uint16_t element_mask(const struct merger *m, const struct wg_instr *in)
{
    bool store = in->op == WG_OP_ST;
    const struct wg_operand *v = &in->ops[store];
    if (v->kind != WG_OPERAND_VEC)
        return store || (v->kind == WG_OPERAND_REG && m->live[v->reg]);
    uint16_t mask = 0;
    for (uint32_t i = 0; i < v->nelems && i < 16; i++)
        if (store || (v->elems[i].kind == WG_OPERAND_REG && m->live[v->elems[i].reg]))
            mask |= (uint16_t)(1u << i);
    return mask;
}

/* ---- control flow ---------------------------------------------------------------------------------------------- */

static bool ends_block(const struct wg_instr *in)
{
    switch (in->op) {
    case WG_OP_BRA: case WG_OP_BRX: case WG_OP_BRX_IDX: case WG_OP_RET: case WG_OP_EXIT: case WG_OP_TRAP: return true;
    case WG_OP_UNKNOWN:
        for (uint32_t i = 0; i < in->nops; i++)
            if (in->ops[i].kind == WG_OPERAND_LABEL)
                return true;
        return false;
    default: return false;
    }
}

static bool falls_through(const struct wg_instr *in)
{
    return !ends_block(in) || in->guard >= 0 || in->op == WG_OP_UNKNOWN;
}

/* Labels of an instruction; written to out unless that is NULL. Returns their number. */
static uint32_t targets_of(const struct wg_instr *in, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->nops; i++) {
        const struct wg_operand *o = &in->ops[i];
        if (o->kind != WG_OPERAND_LABEL)
            continue;
        for (uint32_t k = 0; k < (o->nelems ? o->nelems : 1); k++, n++)
            if (out)
                out[n] = o->nelems ? o->elems[k].target : o->target;
    }
    return n;
}

static bool build_blocks(struct merger *m)
{
    const struct wg_function *f = m->f;
    uint32_t edges = 0, ntargets = 0, max_targets = 0;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        uint32_t n = targets_of(&f->instrs[i], NULL);
        ntargets += n;
        max_targets = n > max_targets ? n : max_targets;
    }
    uint32_t *t = wg_arena_alloc(&m->tmp, (max_targets + 1) * sizeof *t);
    uint8_t *start = wg_arena_alloc(&m->tmp, (size_t)f->ninstrs + 2);
    m->block_of = wg_arena_alloc(&m->tmp, ((size_t)f->ninstrs + 1) * sizeof *m->block_of);
    if (m->tmp.failed)
        return false;
    start[0] = 1;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        uint32_t n = targets_of(&f->instrs[i], t);
        for (uint32_t k = 0; k < n; k++)
            start[t[k]] = 1;
        if (ends_block(&f->instrs[i]))
            start[i + 1] = 1;
    }
    for (uint32_t i = 0; i < f->ninstrs; i++)
        m->block_of[i] = (m->nblocks += start[i]) - 1;
    m->block_of[f->ninstrs] = m->nblocks; /* the end: no block */
    m->blocks = wg_arena_alloc(&m->tmp, (m->nblocks + 1) * sizeof *m->blocks);
    m->edges = wg_arena_alloc(&m->tmp, ((size_t)ntargets + m->nblocks + 1) * sizeof *m->edges);
    m->back_edges = wg_arena_alloc(&m->tmp, ((size_t)ntargets + m->nblocks + 1) * sizeof *m->back_edges);
    if (m->tmp.failed)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        if (start[i])
            m->blocks[m->block_of[i]].begin = i;
        m->blocks[m->block_of[i]].end = i + 1;
    }
    for (uint32_t b = 0; b < m->nblocks; b++) {
        const struct wg_instr *in = &f->instrs[m->blocks[b].end - 1];
        uint32_t n = ends_block(in) ? targets_of(in, t) : 0;
        m->blocks[b].first_succ = edges;
        for (uint32_t k = 0; k < n; k++)
            if (t[k] < f->ninstrs)
                m->edges[edges++] = m->block_of[t[k]];
        if (falls_through(in) && b + 1 < m->nblocks)
            m->edges[edges++] = b + 1;
        m->blocks[b].nsucc = edges - m->blocks[b].first_succ;
    }
    for (uint32_t e = 0; e < edges; e++)
        m->blocks[m->edges[e]].npred++;
    for (uint32_t b = 0, at = 0; b < m->nblocks; b++) {
        m->blocks[b].first_pred = at;
        at += m->blocks[b].npred;
        m->blocks[b].npred = 0;
    }
    for (uint32_t b = 0; b < m->nblocks; b++)
        for (uint32_t k = 0; k < m->blocks[b].nsucc; k++) {
            struct block *to = &m->blocks[m->edges[m->blocks[b].first_succ + k]];
            m->back_edges[to->first_pred + to->npred++] = b;
        }
    return true;
}

/* Blocks in reverse postorder: each after all its predecessors but those of loops. */
static bool order_blocks(struct merger *m)
{
    uint32_t *stack = wg_arena_alloc(&m->tmp, (m->nblocks + 1) * sizeof *stack), top = 0, n = m->nblocks;
    uint32_t *next = wg_arena_alloc(&m->tmp, (m->nblocks + 1) * sizeof *next);
    m->order = wg_arena_alloc(&m->tmp, (m->nblocks + 1) * sizeof *m->order);
    m->visited = wg_arena_alloc(&m->tmp, m->nblocks + 1);
    if (m->tmp.failed)
        return false;
    if (m->nblocks)
        m->visited[0] = 1, stack[top++] = 0;
    while (top) {
        uint32_t b = stack[top - 1];
        if (next[b] == m->blocks[b].nsucc) {
            m->order[--n] = b;
            top--;
            continue;
        }
        uint32_t to = m->edges[m->blocks[b].first_succ + next[b]++];
        if (!m->visited[to])
            m->visited[to] = 1, stack[top++] = to;
    }
    m->order += n;
    m->norder = m->nblocks - n;
    memset(m->visited, 0, m->nblocks);
    return true;
}

/* ---- what is available ----------------------------------------------------------------------------------------- */

static uint32_t ancestor(const struct merger *m, uint32_t c, uint32_t depth)
{
    const struct cell *t = m->cells;
    while (t[c].depth > depth)
        c = t[t[c].jump].depth >= depth ? t[c].jump : t[c].parent;
    return c;
}

/* The longest common part of two chains. */
static uint32_t common(const struct merger *m, uint32_t a, uint32_t b)
{
    const struct cell *t = m->cells;
    uint32_t depth = t[a].depth < t[b].depth ? t[a].depth : t[b].depth;
    a = ancestor(m, a, depth);
    b = ancestor(m, b, depth);
    while (a != b) {
        bool far = t[a].jump != t[b].jump;
        a = far ? t[a].jump : t[a].parent;
        b = far ? t[b].jump : t[b].parent;
    }
    return a;
}

static size_t bucket_of(const struct merger *m, const struct key *k)
{
    uint64_t h = ((uint64_t)k->list << 16 | k->elem << 8 | k->group_bytes) ^ (uint64_t)k->root << 24;
    h = (h ^ (uint64_t)k->at * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return (h ^ h >> 31) & (m->nbuckets - 1);
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->list == b->list && a->elem == b->elem && a->group_bytes == b->group_bytes && a->root == b->root &&
           a->at == b->at;
}

static uint32_t find_cell(const struct merger *m, const struct key *k)
{
    uint32_t head = m->avail[k->list];
    int tries = 0;
    for (uint32_t c = m->buckets[bucket_of(m, k)]; c && tries < MAX_SAME_KEY; c = m->cells[c].same_key) {
        if (!same_key(&m->cells[c].key, k))
            continue;
        tries++;
        if (m->cells[c].depth <= m->cells[head].depth && ancestor(m, head, m->cells[c].depth) == c)
            return c;
    }
    return 0;
}

static bool add_cell(struct merger *m, const struct key *k, uint32_t *id)
{
    struct cell *t = wg_arena_grow(&m->tmp, m->cells, m->ncells + 1, &m->cap_cells, sizeof *t);
    if (!t)
        return false;
    m->cells = t;
    uint32_t parent = m->avail[k->list], j = t[parent].jump;
    size_t b = bucket_of(m, k);
    *id = (uint32_t)m->ncells++;
    t[*id] = (struct cell){.key = *k, .parent = parent, .depth = t[parent].depth + 1, .first = NONE, .last = NONE,
                           .same_key = m->buckets[b]};
    /* jump pointers as in a skew-binary list: any ancestor in logarithmic time */
    t[*id].jump = t[parent].depth - t[j].depth == t[j].depth - t[t[j].jump].depth ? t[j].jump : parent;
    m->buckets[b] = *id;
    m->avail[k->list] = *id;
    return true;
}

/* ---- accesses -------------------------------------------------------------------------------------------------- */

static bool list_of(const struct wg_instr *in, enum list *l)
{
    switch (in->space) {
    case WG_SPACE_SHARED: *l = LIST_SHARED; return true;
    case WG_SPACE_LOCAL: *l = LIST_LOCAL; return true;
    case WG_SPACE_GLOBAL: *l = in->flags & WG_FLAG(NC) ? LIST_CONSTANT : LIST_GLOBAL; return true;
    case WG_SPACE_NONE: *l = LIST_GENERIC; return true;
    default: return false;
    }
}

static unsigned access_bytes(const struct wg_instr *in)
{
    return wg_type_bytes((enum wg_type)in->type[0]) * wg_vec_width((enum wg_vec)in->vec);
}

/* Group of an access at v and its place in it. Global memory, narrow elements and unknown alignment: exactly itself. */
static struct key key_of(const struct merger *m, const struct wg_instr *in, enum list l, struct wg_address v,
                         uint8_t *position)
{
    unsigned elem = wg_type_bytes((enum wg_type)in->type[0]), bytes = access_bytes(in);
    unsigned align = wg_address_align(m->addr, v.root);
    unsigned group = align >= 4 ? 16 : align == 3 ? 8 : 0;
    struct key k = {.list = (uint8_t)l, .elem = (uint8_t)elem, .group_bytes = (uint8_t)group, .root = v.root};
    int64_t at = group ? v.off & ~(int64_t)(group - 1) : 0;
    *position = (uint8_t)(v.off - at);
    k.at = at;
    if (l == LIST_GLOBAL || l == LIST_CONSTANT || (elem != 4 && elem != 8) || !group || bytes > group ||
        (v.off & (elem - 1)) || *position + bytes > group) {
        *position = 0;
        k = (struct key){.list = (uint8_t)l, .elem = (uint8_t)bytes, .root = v.root, .at = v.off};
    }
    return k;
}

static bool load(struct merger *m, uint32_t i)
{
    const struct wg_instr *in = &m->f->instrs[i];
    struct wg_address v;
    enum list l;
    uint16_t mask = element_mask(m, in);
    if (mask == 0) {
        m->out[i].dead = true;
        return true;
    }
    if (!list_of(in, &l) || in->ops[1].kind != WG_OPERAND_MEM || in->ops[1].nelems)
        return true;
    if (in->used_bytes && __builtin_popcount(mask) >= 3) /* stays one access, whatever is around it */
        return true;
    uint8_t position;
    if (!wg_address_of(m->addr, &in->ops[1], &v))
        return false;
    struct key k = key_of(m, in, l, v, &position);
    uint32_t c = find_cell(m, &k);
    if (!c && in->guard >= 0)
        return true;
    if (!c && !add_cell(m, &k, &c))
        return false;
    struct cell *cell = &m->cells[c];
    mask = (uint16_t)(k.group_bytes ? mask << position / k.elem : mask);
    cell->mask |= mask;
    m->members[i] = (struct member){.next = NONE, .mask = mask, .position = position, .block = m->block_of[i]};
    if (cell->first == NONE)
        cell->first = i;
    else
        m->members[cell->last].next = i;
    cell->last = i;
    return true;
}

static void join(struct merger *m, uint32_t i, uint32_t leader, unsigned bytes, int position)
{
    m->out[i].again = 0;
    m->out[i].leader = leader;
    m->out[i].bytes = (uint8_t)bytes;
    m->out[i].position = (int8_t)position;
}

/* Pairs and quads of a run of stores. */
static void end_run(struct merger *m, struct run *r)
{
    unsigned group = r->key.group_bytes;
    uint32_t n = r->n;
    r->n = 0;
    if (n < 2)
        return;
    if (n * r->bytes == group) {
        for (uint32_t k = 0; k < n; k++)
            join(m, r->instr[k], r->instr[0], group, r->position[k]);
        return;
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            unsigned half = 2u * r->bytes, pa = r->position[a], pb = r->position[b];
            if (pa / half == pb / half && half < group) {
                join(m, r->instr[a], r->instr[a], half, (int)(pa % half));
                join(m, r->instr[b], r->instr[a], half, (int)(pb % half));
            }
        }
}

static void end_runs(struct merger *m)
{
    for (int l = 0; l < LISTS; l++)
        end_run(m, &m->runs[l]);
}

static bool store(struct merger *m, uint32_t i)
{
    const struct wg_instr *in = &m->f->instrs[i];
    struct wg_address v;
    enum list l;
    uint8_t position;
    if (!list_of(in, &l) || in->guard >= 0 || in->order > WG_ORDER_WEAK || in->extra || in->ntypes != 1) {
        end_runs(m);
        return true;
    }
    if (l == LIST_GENERIC)
        end_runs(m);
    if (l == LIST_GLOBAL || l == LIST_CONSTANT)
        return true;
    if (!wg_address_of(m->addr, &in->ops[0], &v))
        return false;
    struct key k = key_of(m, in, l, v, &position);
    struct run *r = &m->runs[l];
    unsigned bytes = access_bytes(in);
    uint16_t mask = (uint16_t)(((1u << bytes) - 1) << position);
    if (r->n && (!same_key(&r->key, &k) || r->bytes != bytes || (r->mask & mask) || r->n == 4))
        end_run(m, r);
    if (!k.group_bytes || bytes == k.group_bytes) {
        end_run(m, r);
        return true;
    }
    if (!r->n)
        *r = (struct run){.key = k, .bytes = (uint8_t)bytes};
    r->instr[r->n] = i;
    r->position[r->n++] = position;
    r->mask |= mask;
    return true;
}

/* What an instruction other than a plain load does to what is known: which lists it ends. */
static unsigned clobbers(const struct wg_instr *in)
{
    enum { ALL = (1 << LISTS) - 1, BUT_CONSTANT = ALL & ~(1 << LIST_CONSTANT), GENERIC = 1 << LIST_GENERIC };
    unsigned space = in->space == WG_SPACE_SHARED || in->space == WG_SPACE_SHARED_CLUSTER ? 1 << LIST_SHARED | GENERIC
                     : in->space == WG_SPACE_LOCAL                                        ? 1 << LIST_LOCAL | GENERIC
                     : in->space == WG_SPACE_GLOBAL                                       ? 1 << LIST_GLOBAL | GENERIC
                     : in->space == WG_SPACE_NONE                                         ? BUT_CONSTANT
                                                                                          : 0;
    switch (in->op) {
    case WG_OP_ST: case WG_OP_ATOM: case WG_OP_RED: case WG_OP_STMATRIX: case WG_OP_WMMA_STORE: return space;
    case WG_OP_LD: return in->order == WG_ORDER_ACQUIRE ? 1 << LIST_GLOBAL | GENERIC : 0;
    case WG_OP_CP_ASYNC_COMMIT: return 0;
    case WG_OP_NANOSLEEP: return BUT_CONSTANT;
    case WG_OP_CALL: case WG_OP_UNKNOWN: return ALL;
    case WG_OP_SUST: case WG_OP_SURED: return 1 << LIST_GLOBAL | GENERIC;
    case WG_OP_WGMMA: case WG_OP_WGMMA_FENCE: case WG_OP_WGMMA_WAIT: return BUT_CONSTANT;
    default: break;
    }
    enum wg_group g = wg_op_infos[in->op].group;
    return g == WG_GROUP_SYNC || g == WG_GROUP_ASYNC ? BUT_CONSTANT : 0;
}

/* Stores in a row end at anything that reads or orders the same memory. */
static void break_runs(struct merger *m, const struct wg_instr *in)
{
    enum wg_group g = wg_op_infos[in->op].group;
    if (in->op == WG_OP_ST)
        return;
    if (g == WG_GROUP_MEM || g == WG_GROUP_ATOM || g == WG_GROUP_TENSOR) {
        if (in->space == WG_SPACE_NONE || in->space == WG_SPACE_SHARED_CLUSTER)
            end_runs(m);
        if (in->space == WG_SPACE_SHARED)
            end_run(m, &m->runs[LIST_SHARED]);
        if (in->space == WG_SPACE_LOCAL)
            end_run(m, &m->runs[LIST_LOCAL]);
    } else if (g == WG_GROUP_SYNC || g == WG_GROUP_ASYNC || g == WG_GROUP_FLOW || in->op == WG_OP_UNKNOWN) {
        end_runs(m);
    }
}

static bool visit_block(struct merger *m, uint32_t b)
{
    struct block *blk = &m->blocks[b];
    const uint32_t *preds = m->back_edges + blk->first_pred;
    bool header = blk->npred == 0;
    for (uint32_t i = 0; i < blk->npred; i++)
        header |= !m->visited[preds[i]];
    for (int l = 0; l < LISTS; l++) {
        uint32_t c = header ? 0 : m->blocks[preds[0]].avail[l];
        for (uint32_t i = 1; c && i < blk->npred; i++)
            c = common(m, c, m->blocks[preds[i]].avail[l]);
        m->avail[l] = c;
    }
    if (!wg_address_enter(m->addr, b, preds, blk->npred, m->visited))
        return false;
    for (uint32_t i = blk->begin; i < blk->end; i++) {
        const struct wg_instr *in = &m->f->instrs[i];
        break_runs(m, in);
        if (is_plain_load(in) ? !load(m, i) : in->op == WG_OP_ST ? !store(m, i) : false)
            return false;
        unsigned gone = clobbers(in);
        for (int l = 0; l < LISTS; l++)
            if (gone >> l & 1)
                m->avail[l] = 0;
        if (!wg_address_step(m->addr, in))
            return false;
    }
    end_runs(m);
    wg_address_leave(m->addr, b);
    memcpy(blk->avail, m->avail, sizeof m->avail);
    m->visited[b] = 1;
    return true;
}

/* ---- from groups to accesses ----------------------------------------------------------------------------------- */

/* The access within a group that holds all elements of `mine`: its first element and number of elements, 0 if there is
 * none. `all`: what the group's loads ask for; n: elements in the group. */
static unsigned access_for(unsigned all, unsigned mine, unsigned n, bool holes, unsigned *first)
{
    unsigned full = (1u << n) - 1;
    *first = 0;
    if (all == full || (holes && n == 4 && __builtin_popcount(all) == 3))
        return n;
    for (unsigned width = 2; width < n; width *= 2)
        for (unsigned k = 0; k < n; k += width) {
            unsigned part = ((1u << width) - 1) << k;
            if ((all & part) == part && (mine & ~part) == 0) {
                *first = k;
                return width;
            }
        }
    *first = (unsigned)__builtin_ctz(mine);
    return (mine & (mine - 1)) == 0 ? 1 : 0;
}

static void end_cell(struct merger *m, const struct cell *c)
{
    const struct key *k = &c->key;
    uint32_t leaders[16];
    for (int i = 0; i < 16; i++)
        leaders[i] = NONE;
    for (uint32_t i = c->first; i != NONE; i = m->members[i].next) {
        const struct member *me = &m->members[i];
        const struct wg_instr *in = &m->f->instrs[i];
        unsigned elem = k->group_bytes ? k->elem : wg_type_bytes((enum wg_type)in->type[0]);
        unsigned n = k->group_bytes ? k->group_bytes / elem : wg_vec_width((enum wg_vec)in->vec), first = 0;
        /* a load that is alone in a 128-bit access of three words keeps it: hardware reads them in one go */
        bool holes = k->list == LIST_SHARED || !k->group_bytes;
        unsigned count = access_for(c->mask, me->mask, n, holes, &first);
        if (!count) {
            /* two elements of a vector that are no aligned pair are read one by one */
            if (__builtin_popcount(me->mask) == 2 && c->first == i && c->last == i) {
                join(m, i, i, elem, (int)me->position - (int)(first * elem));
                m->out[i].again = (uint8_t)((31 - __builtin_clz(me->mask) - (int)first) * (int)elem);
            }
            continue;
        }
        uint32_t leader = leaders[first];
        bool dominated = leader == c->first || leader == NONE || m->members[leader].block == me->block;
        if (leader == NONE)
            leaders[first] = leader = i;
        if (!dominated)
            leader = i;
        unsigned bytes = count * elem;
        if (bytes == 8 && elem == 8 && in->ops[0].kind == WG_OPERAND_REG && c->first == i && c->last == i)
            bytes = m->bytes[in->ops[0].reg];
        join(m, i, leader, bytes, (int)me->position - (int)(first * elem));
    }
}

static bool analyse(struct merger *m, const struct wg_ptx_module *mod)
{
    const struct wg_function *f = m->f;
    m->nbuckets = 64;
    while (m->nbuckets < f->ninstrs)
        m->nbuckets *= 2;
    m->buckets = wg_arena_alloc(&m->tmp, m->nbuckets * sizeof *m->buckets);
    m->members = wg_arena_alloc(&m->tmp, (f->ninstrs + 1) * sizeof *m->members);
    m->cells = wg_arena_grow(&m->tmp, NULL, 1, &m->cap_cells, sizeof *m->cells);
    if (m->tmp.failed || !mark_live(m) || !count_bytes(m) || !build_blocks(m) || !order_blocks(m))
        return false;
    m->ncells = 1;
    m->addr = wg_address_start(mod, f, &m->tmp, m->nblocks);
    if (!m->addr)
        return false;
    if (!wg_address_usable(m->addr))
        return true;
    for (uint32_t k = 0; k < m->norder; k++)
        if (!visit_block(m, m->order[k]))
            return false;
    for (size_t c = 1; c < m->ncells; c++)
        end_cell(m, &m->cells[c]);
    return true;
}

enum wg_status wg_merge_analyse(const struct wg_ptx_module *mod, const struct wg_function *f, struct wg_arena *a,
                                const struct wg_merge **out)
{
    struct merger m = {.f = f};
    bool plain = true;
    *out = NULL;
    m.out = wg_arena_alloc(a, ((size_t)f->ninstrs + 1) * sizeof *m.out);
    if (!m.out)
        return WG_NO_MEMORY;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
        uint32_t nw, nr;
        m.out[i].leader = i;
        if ((in->op == WG_OP_LD || in->op == WG_OP_ST || in->op == WG_OP_LDU) && in->ntypes)
            m.out[i].bytes = (uint8_t)access_bytes(in);
        plain &= wg_address_regs(in, w, &nw, r, &nr);
    }
    bool ok = !plain || analyse(&m, mod);
    wg_arena_free(&m.tmp);
    if (!ok)
        return WG_NO_MEMORY;
    *out = m.out;
    return WG_OK;
}
