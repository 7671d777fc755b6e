/* graph.c - graphs as data: nodes, edges, copies of graphs, the order in which nodes may run, user objects. */
#include "shim/graph.h"
#include "shim/image.h"
#include <stdlib.h>
#include <string.h>

/* What the program wants freed when nothing refers to it any more. */
struct wg_user {
    void *handle; /* key */
    void *ptr;
    void (*destroy)(void *);
    unsigned count;
    UT_hash_handle hh;
};

struct wg_graph *wg_graph_find(struct wg_shim *s, const void *handle, bool exec)
{
    struct wg_graph *g = NULL;
    HASH_FIND_PTR(s->graphs, &handle, g);
    return g && g->exec == exec ? g : NULL;
}

struct wg_node *wg_node_find(struct wg_shim *s, const void *handle)
{
    struct wg_node *n = NULL;
    HASH_FIND_PTR(s->nodes, &handle, n);
    return n;
}

struct wg_graph *wg_graph_new(struct wg_shim *s)
{
    struct wg_graph *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->handle = g;
    HASH_ADD_PTR(s->graphs, handle, g);
    return g;
}

static bool grow(void **list, size_t n, size_t *cap, size_t each)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 8;
    void *p = realloc(*list, more * each);
    if (!p)
        return false;
    *list = p;
    *cap = more;
    return true;
}

bool wg_node_depend(struct wg_node *n, struct wg_node *on)
{
    for (size_t i = 0; i < n->ndeps; i++)
        if (n->deps[i] == on)
            return true;
    if (!grow((void **)&n->deps, n->ndeps, &n->cap, sizeof *n->deps))
        return false;
    n->deps[n->ndeps++] = on;
    return true;
}

static struct wg_node *new_node(struct wg_shim *s, struct wg_graph *g, enum wg_node_type type)
{
    struct wg_node *n = calloc(1, sizeof *n);
    if (!n || !grow((void **)&g->nodes, g->n, &g->cap, sizeof *g->nodes)) {
        free(n);
        return NULL;
    }
    n->handle = n;
    n->graph = g;
    n->type = type;
    g->nodes[g->n++] = n;
    HASH_ADD_PTR(s->nodes, handle, n);
    return n;
}

enum cudaError wg_node_add(struct wg_shim *s, struct wg_graph *g, void *const *deps, size_t ndeps,
                           enum wg_node_type type, struct wg_node **out)
{
    if (!g || (ndeps && !deps))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < ndeps; i++) {
        const struct wg_node *d = wg_node_find(s, deps[i]);
        if (!d || d->graph != g)
            return cudaErrorInvalidValue;
    }
    struct wg_node *n = new_node(s, g, type);
    for (size_t i = 0; n && i < ndeps; i++)
        if (!wg_node_depend(n, wg_node_find(s, deps[i]))) {
            wg_node_drop(s, n);
            return cudaErrorMemoryAllocation;
        }
    *out = n;
    return n ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void free_node(struct wg_shim *s, struct wg_node *n)
{
    if (n->type == WG_NODE_KERNEL) {
        free(n->kernel.p.kernelParams);
        free(n->kernel.args);
    } else if (n->type == WG_NODE_GRAPH && n->child) {
        wg_graph_free(s, n->child);
    } else if (n->type == WG_NODE_ALLOC && n->memory.mem) {
        wg_mem_release(s, n->memory.mem);
    }
    HASH_DEL(s->nodes, n);
    free(n->deps);
    free(n);
}

void wg_node_drop(struct wg_shim *s, struct wg_node *n)
{
    struct wg_graph *g = n->graph;
    for (size_t i = 0; i < g->n; i++) {
        struct wg_node *m = g->nodes[i];
        for (size_t k = 0; k < m->ndeps; k++)
            if (m->deps[k] == n) {
                m->deps[k] = m->deps[--m->ndeps];
                break;
            }
    }
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i] == n) {
            memmove(g->nodes + i, g->nodes + i + 1, (g->n - i - 1) * sizeof *g->nodes);
            g->n--;
            break;
        }
    free_node(s, n);
}

static void unref(struct wg_shim *s, struct wg_user *u)
{
    if (--u->count)
        return;
    HASH_DEL(s->users, u);
    u->destroy(u->ptr);
    free(u);
}

void wg_graph_free(struct wg_shim *s, struct wg_graph *g)
{
    for (size_t i = 0; i < g->n; i++)
        free_node(s, g->nodes[i]);
    for (unsigned i = 0; i < g->retained; i++)
        unref(s, g->users[i]);
    HASH_DEL(s->graphs, g);
    free(g->users);
    free(g->nodes);
    free(g);
}

void wg_graph_free_all(struct wg_shim *s)
{
    while (s->graphs) { /* children go with the node that owns them */
        struct wg_graph *g = s->graphs;
        while (g && g->inside)
            g = g->hh.next;
        if (!g)
            break;
        wg_graph_free(s, g);
    }
}

/* ---- what nodes do -------------------------------------------------------------------------------------------- */

enum { BUFFER_END = 0, BUFFER_POINTER = 1, BUFFER_SIZE = 2 }; /* CU_LAUNCH_PARAM_* */

unsigned char *wg_launch_buffer(void **extra, size_t *bytes)
{
    unsigned char *p = NULL;
    *bytes = 0;
    for (size_t i = 0; extra && extra[i] != (void *)BUFFER_END; i += 2)
        if (extra[i] == (void *)BUFFER_POINTER)
            p = extra[i + 1];
        else if (extra[i] == (void *)BUFFER_SIZE)
            *bytes = *(size_t *)extra[i + 1];
        else
            return NULL;
    return p;
}

enum cudaError wg_node_kernel(struct wg_shim *s, struct wg_node *n, const struct cudaKernelNodeParams *p)
{
    struct wg_func *f;
    enum cudaError e = wg_image_func(s, p->func, &f);
    if (e != cudaSuccess)
        return e;
    const size_t count = f->info.nparams;
    size_t buffer_bytes;
    const unsigned char *buffer = p->kernelParams ? NULL : wg_launch_buffer(p->extra, &buffer_bytes);
    if (count && !p->kernelParams && (!buffer || buffer_bytes < f->info.param_bytes))
        return cudaErrorInvalidValue;
    unsigned char *args = calloc(1, f->info.param_bytes + 1);
    void **list = calloc(count + 1, sizeof *list);
    if (!args || !list) {
        free(args);
        free(list);
        return cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; i < count; i++) {
        const struct wg_param_info *q = &f->info.params[i];
        list[i] = args + q->offset;
        memcpy(list[i], p->kernelParams ? p->kernelParams[i] : (const void *)(buffer + q->offset), q->bytes);
    }
    free(n->kernel.args);
    free(n->kernel.p.kernelParams);
    n->kernel.p = *p;
    n->kernel.p.kernelParams = list;
    n->kernel.p.extra = NULL;
    n->kernel.args = args;
    return cudaSuccess;
}

void wg_node_line(struct wg_node *n, void *dst, const void *src, size_t bytes, int kind)
{
    n->copy = (struct cudaMemcpy3DParms){.dstPtr = {dst, bytes, bytes, 1},
                                         .srcPtr = {(void *)(uintptr_t)src, bytes, bytes, 1},
                                         .extent = {bytes, 1, 1},
                                         .kind = kind};
}

static enum cudaError copy_work(struct wg_shim *s, struct wg_node *to, const struct wg_node *from)
{
    switch (from->type) {
    case WG_NODE_KERNEL: {
        enum cudaError e = wg_node_kernel(s, to, &from->kernel.p);
        to->kernel.l = from->kernel.l;
        memcpy(to->kernel.attrs, from->kernel.attrs, sizeof to->kernel.attrs);
        return e;
    }
    case WG_NODE_MEMCPY:
        to->copy = from->copy;
        return cudaSuccess;
    case WG_NODE_MEMSET:
        to->set = from->set;
        return cudaSuccess;
    case WG_NODE_HOST:
        to->host = from->host;
        return cudaSuccess;
    case WG_NODE_WAIT:
    case WG_NODE_RECORD:
        to->event = from->event;
        return cudaSuccess;
    case WG_NODE_ALLOC:
    case WG_NODE_FREE: /* the memory stays the original's */
        to->memory.at = from->memory.at;
        to->memory.bytes = from->memory.bytes;
        return cudaSuccess;
    case WG_NODE_GRAPH:
        to->child = wg_graph_copy(s, from->child);
        if (to->child)
            to->child->inside = true;
        return to->child ? cudaSuccess : cudaErrorMemoryAllocation;
    case WG_NODE_EMPTY:
        break;
    }
    return cudaSuccess;
}

struct wg_graph *wg_graph_copy(struct wg_shim *s, const struct wg_graph *from)
{
    struct wg_graph *g = wg_graph_new(s);
    for (size_t i = 0; g && i < from->n; i++) {
        struct wg_node *n = new_node(s, g, from->nodes[i]->type);
        if (!n || copy_work(s, n, from->nodes[i]) != cudaSuccess) {
            wg_graph_free(s, g);
            return NULL;
        }
        n->origin = from->nodes[i];
    }
    for (size_t i = 0; g && i < from->n; i++)
        for (size_t k = 0; k < from->nodes[i]->ndeps; k++)
            for (size_t j = 0; j < from->n; j++)
                if (from->nodes[j] == from->nodes[i]->deps[k] && !wg_node_depend(g->nodes[i], g->nodes[j])) {
                    wg_graph_free(s, g);
                    return NULL;
                }
    return g;
}

bool wg_graph_sort(struct wg_graph *g)
{
    struct wg_node **order = calloc(g->n + 1, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        g->nodes[i]->mark = 0;
    for (bool more = true; order && more;) {
        more = false;
        for (size_t i = 0; i < g->n; i++) {
            struct wg_node *m = g->nodes[i];
            bool ready = !m->mark;
            for (size_t k = 0; ready && k < m->ndeps; k++)
                ready = m->deps[k]->mark;
            if (ready) {
                m->mark = 1;
                order[n++] = m;
                more = true;
            }
        }
    }
    const bool all = order && n == g->n;
    if (all)
        memcpy(g->nodes, order, n * sizeof *order);
    free(order);
    return all;
}

/* ---- user objects --------------------------------------------------------------------------------------------- */

static struct wg_user *user_at(struct wg_shim *s, const void *handle)
{
    struct wg_user *u = NULL;
    HASH_FIND_PTR(s->users, &handle, u);
    return u;
}

WG_API(cudaUserObjectCreate, NOTHING, (void **out, void *ptr, void (*destroy)(void *), unsigned count, unsigned flags),
       (out, ptr, destroy, count, flags))
{
    if (!out || !destroy || !count || flags != 1)
        return cudaErrorInvalidValue;
    struct wg_user *u = calloc(1, sizeof *u);
    if (!u)
        return cudaErrorMemoryAllocation;
    *u = (struct wg_user){.handle = u, .ptr = ptr, .destroy = destroy, .count = count};
    HASH_ADD_PTR(s->users, handle, u);
    *out = u;
    return cudaSuccess;
}

WG_API(cudaUserObjectRetain, NOTHING, (void *handle, unsigned count), (handle, count))
{
    struct wg_user *u = user_at(s, handle);
    if (!u || !count)
        return cudaErrorInvalidValue;
    u->count += count;
    return cudaSuccess;
}

WG_API(cudaUserObjectRelease, NOTHING, (void *handle, unsigned count), (handle, count))
{
    struct wg_user *u = user_at(s, handle);
    if (!u || !count || count > u->count)
        return cudaErrorInvalidValue;
    while (count--)
        unref(s, u);
    return cudaSuccess;
}

WG_API(cudaGraphRetainUserObject, NOTHING, (void *graph, void *handle, unsigned count, unsigned flags),
       (graph, handle, count, flags))
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    struct wg_user *u = user_at(s, handle);
    if (!g || !u || !count || flags > 1)
        return cudaErrorInvalidValue;
    struct wg_user **more = realloc(g->users, (g->retained + count) * sizeof *more);
    if (!more)
        return cudaErrorMemoryAllocation;
    g->users = more;
    if (!flags) /* without "move" the program keeps its own references */
        u->count += count;
    while (count--)
        g->users[g->retained++] = u;
    return cudaSuccess;
}

WG_API(cudaGraphReleaseUserObject, NOTHING, (void *graph, void *handle, unsigned count), (graph, handle, count))
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    struct wg_user *u = user_at(s, handle);
    if (!g || !u || !count)
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < g->retained && count;)
        if (g->users[i] == u) {
            g->users[i] = g->users[--g->retained];
            count--;
            unref(s, u);
        } else {
            i++;
        }
    return count ? cudaErrorInvalidValue : cudaSuccess;
}
