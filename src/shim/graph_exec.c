/* graph_exec.c - executable graphs: made from a graph, changed, launched node after node in an order that fits. */
#include "shim/graph.h"
#include "shim/image.h"
#include <stdlib.h>
#include <string.h>

static bool sort_all(struct wg_graph *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i]->type == WG_NODE_GRAPH && !sort_all(g->nodes[i]->child))
            return false;
    return wg_graph_sort(g);
}

static enum cudaError instantiate(struct wg_shim *s, void **out, void *graph, unsigned long long flags)
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    if (!out || !g || (flags & ~15ull))
        return cudaErrorInvalidValue;
    if (flags & 4)
        return wg_shim_refuse("cudaGraphInstantiate", "graphs that kernels launch");
    struct wg_graph *x = wg_graph_copy(s, g);
    if (!x)
        return cudaErrorMemoryAllocation;
    if (!sort_all(x)) { /* the only structure that cannot run */
        wg_graph_free(s, x);
        return cudaErrorInvalidValue;
    }
    x->exec = true;
    x->flags = flags;
    *out = x;
    return cudaSuccess;
}

#if WG_CUDART_MAJOR >= 12
WG_API(cudaGraphInstantiate, CONTEXT, (void **out, void *graph, unsigned long long flags), (out, graph, flags))
{
    return instantiate(s, out, graph, flags);
}
#else
WG_API(cudaGraphInstantiate, CONTEXT, (void **out, void *graph, void **bad, char *log, size_t n),
       (out, graph, bad, log, n))
{
    if (bad)
        *bad = NULL;
    if (log && n)
        *log = 0;
    return instantiate(s, out, graph, 0);
}
#endif
WG_API(cudaGraphInstantiateWithFlags, CONTEXT, (void **out, void *graph, unsigned long long flags), (out, graph, flags))
{
    return instantiate(s, out, graph, flags);
}

struct cudaGraphInstantiateParams {
    unsigned long long flags;
    void *stream, *bad;
    int result;
};
WG_API(cudaGraphInstantiateWithParams, CONTEXT, (void **out, void *graph, struct cudaGraphInstantiateParams *p),
       (out, graph, p))
{
    if (!p)
        return cudaErrorInvalidValue;
    enum cudaError e = instantiate(s, out, graph, p->flags);
    p->bad = NULL;
    p->result = e == cudaSuccess ? 0 : e == cudaErrorInvalidValue ? 2 : 1;
    return e;
}
WG_PTSZ(cudaGraphInstantiateWithParams, (void **, void *, struct cudaGraphInstantiateParams *));

WG_API(cudaGraphExecGetFlags, CONTEXT, (void *exec, unsigned long long *flags), (exec, flags))
{
    const struct wg_graph *x = wg_graph_find(s, exec, true);
    if (!x || !flags)
        return cudaErrorInvalidValue;
    *flags = x->flags;
    return cudaSuccess;
}

WG_API(cudaGraphExecDestroy, CONTEXT, (void *exec), (exec))
{
    struct wg_graph *x = wg_graph_find(s, exec, true);
    if (!x)
        return cudaErrorInvalidValue;
    wg_graph_free(s, x);
    return cudaSuccess;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static enum cudaError run_kernel(struct wg_shim *s, const struct wg_node *n)
{
    const struct cudaKernelNodeParams *p = &n->kernel.p;
    struct wg_launch l = n->kernel.l;
    const unsigned grid[3] = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                   block[3] = {p->blockDim.x, p->blockDim.y, p->blockDim.z};
    memcpy(l.grid, grid, sizeof grid);
    memcpy(l.block, block, sizeof block);
    l.shared_bytes = p->sharedMemBytes;
    l.args = p->kernelParams;
    return wg_launch_kernel(s, p->func, &l, NULL);
}

static enum cudaError run_node(struct wg_shim *s, struct wg_node *n)
{
    switch (n->type) {
    case WG_NODE_KERNEL:
        return run_kernel(s, n);
    case WG_NODE_MEMCPY:
        return wg_copy_volume(s, &n->copy, NULL);
    case WG_NODE_MEMSET:
        return wg_fill_elements(s, n->set.dst, n->set.pitch, n->set.value, n->set.elementSize, n->set.width,
                                n->set.height, NULL);
    case WG_NODE_HOST: { /* the program's own function, which may call us or wait for a thread that does */
        const struct cudaHostNodeParams host = n->host;
        wg_shim_unlock(s);
        host.fn(host.userData);
        wg_shim_lock();
        return cudaSuccess;
    }
    case WG_NODE_GRAPH:
        return wg_graph_run(s, n->child);
    case WG_NODE_RECORD:
        return wg_event_reached(s, n->event);
    case WG_NODE_EMPTY:
    case WG_NODE_WAIT:
    case WG_NODE_ALLOC:
    case WG_NODE_FREE:
        break;
    }
    return cudaSuccess;
}

enum cudaError wg_graph_run(struct wg_shim *s, struct wg_graph *g)
{
    enum cudaError e = cudaSuccess;
    for (size_t i = 0; i < g->n && e == cudaSuccess; i++)
        if (!g->nodes[i]->disabled)
            e = run_node(s, g->nodes[i]);
    return e;
}

WG_API(cudaGraphLaunch, CONTEXT, (void *exec, void *stream), (exec, stream))
{
    struct wg_graph *x = wg_graph_find(s, exec, true);
    if (!x)
        return cudaErrorInvalidValue;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (wg_capturing(s, stream))
        return wg_shim_refuse("cudaGraphLaunch", "launching a graph into a stream that is being captured");
    return wg_graph_run(s, x);
}
WG_PTSZ(cudaGraphLaunch, (void *, void *));

WG_API(cudaGraphUpload, CONTEXT, (void *exec, void *stream), (exec, stream))
{
    return !wg_graph_find(s, exec, true) ? cudaErrorInvalidValue
           : !wg_stream_known(s, stream) ? cudaErrorInvalidResourceHandle
                                         : cudaSuccess; /* moving it to the device early changes nothing */
}
WG_PTSZ(cudaGraphUpload, (void *, void *));

/* ---- changing an executable as a whole ----------------------------------------------------------------------------
 */

/* enum cudaGraphExecUpdateResult */
enum { UPDATE_SUCCESS = 0, UPDATE_ERROR = 1, UPDATE_TOPOLOGY = 2, UPDATE_TYPE = 3, UPDATE_FUNCTION = 4 };

static int compare(const struct wg_graph *x, const struct wg_graph *g, struct wg_node **bad)
{
    *bad = NULL;
    if (x->n != g->n)
        return UPDATE_TOPOLOGY;
    for (size_t i = 0; i < g->n; i++) { /* both are sorted: equal graphs have equal orders */
        const struct wg_node *a = x->nodes[i];
        *bad = g->nodes[i];
        if (a->ndeps != g->nodes[i]->ndeps)
            return UPDATE_TOPOLOGY;
        if (a->type != g->nodes[i]->type)
            return UPDATE_TYPE;
        if (a->type == WG_NODE_GRAPH) {
            struct wg_node *inner;
            const int r = compare(a->child, g->nodes[i]->child, &inner);
            if (r != UPDATE_SUCCESS)
                return r;
        }
    }
    *bad = NULL;
    return UPDATE_SUCCESS;
}

static enum cudaError update(struct wg_shim *s, void *exec, void *graph, int *result, void **bad_node)
{
    struct wg_graph *x = wg_graph_find(s, exec, true), *g = wg_graph_find(s, graph, false);
    struct wg_node *bad;
    if (!x || !g || !result)
        return cudaErrorInvalidValue;
    struct wg_graph *fresh = wg_graph_copy(s, g);
    if (!fresh || !sort_all(fresh)) {
        if (fresh)
            wg_graph_free(s, fresh);
        return cudaErrorMemoryAllocation;
    }
    *result = compare(x, fresh, &bad);
    *bad_node = bad ? (void *)(uintptr_t)bad->origin : NULL;
    if (*result != UPDATE_SUCCESS) {
        wg_graph_free(s, fresh);
        return cudaErrorGraphExecUpdateFailure;
    }
    /* The nodes change places; each keeps the node of the first graph as its origin, so that handles go on to work. */
    for (size_t i = 0; i < x->n; i++) {
        const struct wg_node *origin = x->nodes[i]->origin;
        struct wg_node *t = x->nodes[i];
        fresh->nodes[i]->disabled = t->disabled;
        fresh->nodes[i]->origin = origin;
        x->nodes[i] = fresh->nodes[i];
        fresh->nodes[i] = t;
        x->nodes[i]->graph = x;
        t->graph = fresh;
    }
    wg_graph_free(s, fresh);
    return cudaSuccess;
}

#if WG_CUDART_MAJOR >= 12
struct cudaGraphExecUpdateResultInfo {
    int result;
    void *node, *from;
};
WG_API(cudaGraphExecUpdate, CONTEXT, (void *exec, void *graph, struct cudaGraphExecUpdateResultInfo *r),
       (exec, graph, r))
{
    if (!r)
        return cudaErrorInvalidValue;
    r->from = NULL;
    return update(s, exec, graph, &r->result, &r->node);
}
#else
WG_API(cudaGraphExecUpdate, CONTEXT, (void *exec, void *graph, void **node, int *why), (exec, graph, node, why))
{
    return node ? update(s, exec, graph, why, node) : cudaErrorInvalidValue;
}
#endif
