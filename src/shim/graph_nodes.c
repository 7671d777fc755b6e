/* graph_nodes.c - the calls that make, query and change graphs and their nodes, one kind of node after the other. */
#include "shim/graph.h"
#include "shim/image.h"
#include <stdlib.h>
#include <string.h>

WG_API(cudaGraphCreate, CONTEXT, (void **out, unsigned flags), (out, flags))
{
    if (!out || flags)
        return cudaErrorInvalidValue;
    struct wg_graph *g = wg_graph_new(s);
    *out = g;
    return g ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaGraphDestroy, CONTEXT, (void *graph), (graph))
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    if (!g || g->inside || g->capture_id)
        return cudaErrorInvalidValue;
    wg_graph_free(s, g);
    return cudaSuccess;
}

WG_API(cudaGraphClone, CONTEXT, (void **out, void *graph), (out, graph))
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    if (!out || !g)
        return cudaErrorInvalidValue;
    *out = wg_graph_copy(s, g);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaGraphNodeFindInClone, CONTEXT, (void **out, void *node, void *clone), (out, node, clone))
{
    const struct wg_graph *g = wg_graph_find(s, clone, false);
    if (!out || !g)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i]->origin == node) {
            *out = g->nodes[i];
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

WG_API(cudaGraphDestroyNode, CONTEXT, (void *node), (node))
{
    struct wg_node *n = wg_node_find(s, node);
    if (!n || n->graph->exec)
        return cudaErrorInvalidValue;
    wg_node_drop(s, n);
    return cudaSuccess;
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

#define NODE_PARAMS    void **out, void *graph, void *const *deps, size_t ndeps
#define NODE_ARGS      out, graph, deps, ndeps
#define NODE_PARAMS_V2 void **out, void *graph, void *const *deps, const uint64_t *data, size_t ndeps
#define NODE_ARGS_V2   out, graph, deps, data, ndeps

static enum cudaError add(struct wg_shim *s, NODE_PARAMS, enum wg_node_type type, struct wg_node **n)
{
    return out ? wg_node_add(s, wg_graph_find(s, graph, false), deps, ndeps, type, n) : cudaErrorInvalidValue;
}

/* The node stays only when its contents were fine. */
static enum cudaError settle(struct wg_shim *s, void **out, struct wg_node *n, enum cudaError e)
{
    if (e == cudaSuccess)
        *out = n;
    else
        wg_node_drop(s, n);
    return e;
}

static struct wg_node *of_type(struct wg_shim *s, const void *handle, enum wg_node_type type)
{
    struct wg_node *n = wg_node_find(s, handle);
    return n && n->type == type ? n : NULL;
}

/* The node of an executable graph that was made from a node of its graph. */
static struct wg_node *in_exec(struct wg_shim *s, const void *exec, const void *node, enum wg_node_type type)
{
    const struct wg_graph *g = wg_graph_find(s, exec, true);
    for (size_t i = 0; g && i < g->n; i++)
        if (g->nodes[i]->origin == node && g->nodes[i]->type == type)
            return g->nodes[i];
    return NULL;
}

WG_API(cudaGraphAddKernelNode, CONTEXT, (NODE_PARAMS, const struct cudaKernelNodeParams *p), (NODE_ARGS, p))
{
    struct wg_node *n;
    enum cudaError e = p ? add(s, NODE_ARGS, WG_NODE_KERNEL, &n) : cudaErrorInvalidValue;
    return e == cudaSuccess ? settle(s, out, n, wg_node_kernel(s, n, p)) : e;
}

WG_API(cudaGraphKernelNodeGetParams, CONTEXT, (void *node, struct cudaKernelNodeParams *p), (node, p))
{
    const struct wg_node *n = of_type(s, node, WG_NODE_KERNEL);
    if (!n || !p)
        return cudaErrorInvalidValue;
    *p = n->kernel.p;
    return cudaSuccess;
}

WG_API(cudaGraphKernelNodeSetParams, CONTEXT, (void *node, const struct cudaKernelNodeParams *p), (node, p))
{
    struct wg_node *n = of_type(s, node, WG_NODE_KERNEL);
    return n && p ? wg_node_kernel(s, n, p) : cudaErrorInvalidValue;
}

WG_API(cudaGraphExecKernelNodeSetParams, CONTEXT, (void *exec, void *node, const struct cudaKernelNodeParams *p),
       (exec, node, p))
{
    struct wg_node *n = in_exec(s, exec, node, WG_NODE_KERNEL);
    return n && p ? wg_node_kernel(s, n, p) : cudaErrorInvalidValue;
}

WG_API(cudaGraphKernelNodeSetAttribute, CONTEXT, (void *node, int attr, const union cudaLaunchAttributeValue *v),
       (node, attr, v))
{
    struct wg_node *n = of_type(s, node, WG_NODE_KERNEL);
    if (!n || !v || attr < 0 || attr > cudaLaunchAttributeLast)
        return cudaErrorInvalidValue;
    struct cudaLaunchAttribute a = {.id = attr, .val = *v};
    enum cudaError e = wg_launch_attribute(&n->kernel.l, &a);
    if (e == cudaSuccess)
        n->kernel.attrs[attr] = *v;
    return e;
}

WG_API(cudaGraphKernelNodeGetAttribute, CONTEXT, (void *node, int attr, union cudaLaunchAttributeValue *v),
       (node, attr, v))
{
    const struct wg_node *n = of_type(s, node, WG_NODE_KERNEL);
    if (!n || !v || attr < 0 || attr > cudaLaunchAttributeLast)
        return cudaErrorInvalidValue;
    *v = n->kernel.attrs[attr];
    return cudaSuccess;
}

WG_API(cudaGraphKernelNodeCopyAttributes, CONTEXT, (void *dst, void *src), (dst, src))
{
    struct wg_node *d = of_type(s, dst, WG_NODE_KERNEL), *r = of_type(s, src, WG_NODE_KERNEL);
    if (!d || !r)
        return cudaErrorInvalidValue;
    d->kernel.l = r->kernel.l;
    memcpy(d->kernel.attrs, r->kernel.attrs, sizeof d->kernel.attrs);
    return cudaSuccess;
}

/* ---- copies --------------------------------------------------------------------------------------------------- */

WG_API(cudaGraphAddMemcpyNode, CONTEXT, (NODE_PARAMS, const struct cudaMemcpy3DParms *p), (NODE_ARGS, p))
{
    struct wg_node *n;
    enum cudaError e = p ? add(s, NODE_ARGS, WG_NODE_MEMCPY, &n) : cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        n->copy = *p;
        *out = n;
    }
    return e;
}

WG_API(cudaGraphAddMemcpyNode1D, CONTEXT, (NODE_PARAMS, void *dst, const void *src, size_t bytes, int kind),
       (NODE_ARGS, dst, src, bytes, kind))
{
    struct wg_node *n;
    enum cudaError e = dst && src ? add(s, NODE_ARGS, WG_NODE_MEMCPY, &n) : cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        wg_node_line(n, dst, src, bytes, kind);
        *out = n;
    }
    return e;
}

/* A copy between a variable of the program's device code and memory. */
static enum cudaError symbol_line(struct wg_shim *s, struct wg_node *n, const void *symbol, void *other, size_t bytes,
                                  size_t offset, int kind, bool to)
{
    struct wg_var *v;
    uint64_t addr;
    size_t room;
    enum cudaError e = wg_image_var(s, symbol, &v, &addr, &room);
    if (e != cudaSuccess)
        return e;
    if (offset > room || bytes > room - offset)
        return cudaErrorInvalidValue;
    void *at = (void *)(uintptr_t)(addr + offset);
    wg_node_line(n, to ? at : other, to ? other : at, bytes, kind);
    return cudaSuccess;
}

WG_API(cudaGraphAddMemcpyNodeToSymbol, CONTEXT,
       (NODE_PARAMS, const void *symbol, const void *src, size_t bytes, size_t offset, int kind),
       (NODE_ARGS, symbol, src, bytes, offset, kind))
{
    struct wg_node *n;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_MEMCPY, &n);
    return e == cudaSuccess
               ? settle(s, out, n, symbol_line(s, n, symbol, (void *)(uintptr_t)src, bytes, offset, kind, true))
               : e;
}

WG_API(cudaGraphAddMemcpyNodeFromSymbol, CONTEXT,
       (NODE_PARAMS, void *dst, const void *symbol, size_t bytes, size_t offset, int kind),
       (NODE_ARGS, dst, symbol, bytes, offset, kind))
{
    struct wg_node *n;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_MEMCPY, &n);
    return e == cudaSuccess ? settle(s, out, n, symbol_line(s, n, symbol, dst, bytes, offset, kind, false)) : e;
}

/* WG_NODE_PAIR(suffix, type, parameters, arguments, what): the change of a node and of its double in an executable. */
#define WG_NODE_PAIR(kind, suffix, type, params, args, what)                                                           \
    WG_API(cudaGraph##kind##suffix, CONTEXT, (void *node, WG_BARE params), (node, WG_BARE args))                       \
    {                                                                                                                  \
        struct wg_node *n = of_type(s, node, type);                                                                    \
        return n ? what : cudaErrorInvalidValue;                                                                       \
    }                                                                                                                  \
    WG_API(cudaGraphExec##kind##suffix, CONTEXT, (void *exec, void *node, WG_BARE params), (exec, node, WG_BARE args)) \
    {                                                                                                                  \
        struct wg_node *n = in_exec(s, exec, node, type);                                                              \
        return n ? what : cudaErrorInvalidValue;                                                                       \
    }

static enum cudaError set_line(struct wg_node *n, void *dst, const void *src, size_t bytes, int kind)
{
    wg_node_line(n, dst, src, bytes, kind);
    return dst && src ? cudaSuccess : cudaErrorInvalidValue;
}
#define WG_SET(field)                                                                                                  \
    static enum cudaError set_##field(struct wg_node *n, const void *p)                                                \
    {                                                                                                                  \
        if (!p)                                                                                                        \
            return cudaErrorInvalidValue;                                                                              \
        memcpy(&n->field, p, sizeof n->field);                                                                         \
        return cudaSuccess;                                                                                            \
    }                                                                                                                  \
    static enum cudaError get_##field(const struct wg_node *n, void *p)                                                \
    {                                                                                                                  \
        if (!n || !p)                                                                                                  \
            return cudaErrorInvalidValue;                                                                              \
        memcpy(p, &n->field, sizeof n->field);                                                                         \
        return cudaSuccess;                                                                                            \
    }
WG_SET(copy)
WG_SET(set)
WG_SET(host)

WG_NODE_PAIR(MemcpyNode, SetParams, WG_NODE_MEMCPY, (const struct cudaMemcpy3DParms *p), (p), set_copy(n, p))
WG_NODE_PAIR(MemcpyNode, SetParams1D, WG_NODE_MEMCPY, (void *dst, const void *src, size_t bytes, int kind),
             (dst, src, bytes, kind), set_line(n, dst, src, bytes, kind))
WG_NODE_PAIR(MemcpyNode, SetParamsToSymbol, WG_NODE_MEMCPY,
             (const void *symbol, const void *src, size_t bytes, size_t offset, int kind),
             (symbol, src, bytes, offset, kind),
             symbol_line(s, n, symbol, (void *)(uintptr_t)src, bytes, offset, kind, true))
WG_NODE_PAIR(MemcpyNode, SetParamsFromSymbol, WG_NODE_MEMCPY,
             (void *dst, const void *symbol, size_t bytes, size_t offset, int kind), (dst, symbol, bytes, offset, kind),
             symbol_line(s, n, symbol, dst, bytes, offset, kind, false))
WG_NODE_PAIR(MemsetNode, SetParams, WG_NODE_MEMSET, (const struct cudaMemsetParams *p), (p), set_set(n, p))
WG_NODE_PAIR(HostNode, SetParams, WG_NODE_HOST, (const struct cudaHostNodeParams *p), (p), set_host(n, p))

WG_API(cudaGraphMemcpyNodeGetParams, CONTEXT, (void *node, struct cudaMemcpy3DParms *p), (node, p))
{
    return get_copy(of_type(s, node, WG_NODE_MEMCPY), p);
}
WG_API(cudaGraphMemsetNodeGetParams, CONTEXT, (void *node, struct cudaMemsetParams *p), (node, p))
{
    return get_set(of_type(s, node, WG_NODE_MEMSET), p);
}
WG_API(cudaGraphHostNodeGetParams, CONTEXT, (void *node, struct cudaHostNodeParams *p), (node, p))
{
    return get_host(of_type(s, node, WG_NODE_HOST), p);
}

/* ---- fills, host functions, children, empty nodes -------------------------------------------------------------- */

WG_API(cudaGraphAddMemsetNode, CONTEXT, (NODE_PARAMS, const struct cudaMemsetParams *p), (NODE_ARGS, p))
{
    struct wg_node *n;
    if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return cudaErrorInvalidValue;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_MEMSET, &n);
    return e == cudaSuccess ? settle(s, out, n, set_set(n, p)) : e;
}

WG_API(cudaGraphAddHostNode, CONTEXT, (NODE_PARAMS, const struct cudaHostNodeParams *p), (NODE_ARGS, p))
{
    struct wg_node *n;
    enum cudaError e = p && p->fn ? add(s, NODE_ARGS, WG_NODE_HOST, &n) : cudaErrorInvalidValue;
    return e == cudaSuccess ? settle(s, out, n, set_host(n, p)) : e;
}

WG_API(cudaGraphAddEmptyNode, CONTEXT, (NODE_PARAMS), (NODE_ARGS))
{
    struct wg_node *n;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_EMPTY, &n);
    if (e == cudaSuccess)
        *out = n;
    return e;
}

static enum cudaError set_child(struct wg_shim *s, struct wg_node *n, void *child)
{
    struct wg_graph *c = wg_graph_find(s, child, false), *copy = c && c != n->graph ? wg_graph_copy(s, c) : NULL;
    if (!c || c == n->graph)
        return cudaErrorInvalidValue;
    if (!copy || (n->graph->exec && !wg_graph_sort(copy)))
        return cudaErrorMemoryAllocation;
    if (n->child)
        wg_graph_free(s, n->child);
    n->child = copy;
    copy->inside = true;
    return cudaSuccess;
}

WG_API(cudaGraphAddChildGraphNode, CONTEXT, (NODE_PARAMS, void *child), (NODE_ARGS, child))
{
    struct wg_node *n;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_GRAPH, &n);
    return e == cudaSuccess ? settle(s, out, n, set_child(s, n, child)) : e;
}

WG_API(cudaGraphChildGraphNodeGetGraph, CONTEXT, (void *node, void **out), (node, out))
{
    const struct wg_node *n = of_type(s, node, WG_NODE_GRAPH);
    if (!n || !out)
        return cudaErrorInvalidValue;
    *out = n->child;
    return cudaSuccess;
}

WG_API(cudaGraphExecChildGraphNodeSetParams, CONTEXT, (void *exec, void *node, void *child), (exec, node, child))
{
    struct wg_node *n = in_exec(s, exec, node, WG_NODE_GRAPH);
    return n ? set_child(s, n, child) : cudaErrorInvalidValue;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static enum cudaError set_event(struct wg_shim *s, struct wg_node *n, void *event)
{
    if (!wg_event_known(s, event))
        return cudaErrorInvalidResourceHandle;
    n->event = event;
    return cudaSuccess;
}

#define WG_EVENT_NODE(name, type)                                                                                      \
    WG_API(cudaGraphAdd##name##Node, CONTEXT, (NODE_PARAMS, void *event), (NODE_ARGS, event))                          \
    {                                                                                                                  \
        struct wg_node *n;                                                                                             \
        enum cudaError e = add(s, NODE_ARGS, type, &n);                                                                \
        return e == cudaSuccess ? settle(s, out, n, set_event(s, n, event)) : e;                                       \
    }                                                                                                                  \
    WG_API(cudaGraph##name##NodeGetEvent, CONTEXT, (void *node, void **event), (node, event))                          \
    {                                                                                                                  \
        const struct wg_node *n = of_type(s, node, type);                                                              \
        if (!n || !event)                                                                                              \
            return cudaErrorInvalidValue;                                                                              \
        *event = n->event;                                                                                             \
        return cudaSuccess;                                                                                            \
    }                                                                                                                  \
    WG_NODE_PAIR(name##Node, SetEvent, type, (void *event), (event), set_event(s, n, event))
WG_EVENT_NODE(EventRecord, WG_NODE_RECORD)
WG_EVENT_NODE(EventWait, WG_NODE_WAIT)

/* ---- memory: an allocation lives from the making of its node to the end of its graph, and what a graph or the program
 * frees of it is only checked for being its own ---------------------------------------------------------------------*/

WG_API(cudaGraphAddMemAllocNode, CONTEXT, (NODE_PARAMS, struct cudaMemAllocNodeParams *p), (NODE_ARGS, p))
{
    struct wg_node *n;
    if (!p || !p->bytesize)
        return cudaErrorInvalidValue;
    if (p->poolProps.allocType != cudaMemAllocationTypePinned ||
        p->poolProps.location.type != cudaMemLocationTypeDevice)
        return wg_shim_refuse("cudaGraphAddMemAllocNode", "memory that is shared, managed or on the host");
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_ALLOC, &n);
    if (e != cudaSuccess)
        return e;
    e = wg_mem_for_graph(s, &n->memory.at, p->bytesize, &n->memory.mem);
    n->memory.bytes = p->bytesize;
    if (e == cudaSuccess)
        p->dptr = n->memory.at;
    return settle(s, out, n, e);
}

WG_API(cudaGraphMemAllocNodeGetParams, CONTEXT, (void *node, struct cudaMemAllocNodeParams *p), (node, p))
{
    const struct wg_node *n = of_type(s, node, WG_NODE_ALLOC);
    if (!n || !p)
        return cudaErrorInvalidValue;
    *p = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}},
        .bytesize = n->memory.bytes,
        .dptr = n->memory.at};
    return cudaSuccess;
}

WG_API(cudaGraphAddMemFreeNode, CONTEXT, (NODE_PARAMS, void *ptr), (NODE_ARGS, ptr))
{
    struct wg_node *n;
    const struct wg_mem *m = wg_mem_find(s, (uint64_t)(uintptr_t)ptr);
    if (!m || !m->graph || m->base != (uint64_t)(uintptr_t)ptr)
        return cudaErrorInvalidValue;
    enum cudaError e = add(s, NODE_ARGS, WG_NODE_FREE, &n);
    if (e == cudaSuccess) {
        n->memory.at = ptr;
        *out = n;
    }
    return e;
}

WG_API(cudaGraphMemFreeNodeGetParams, CONTEXT, (void *node, void **ptr), (node, ptr))
{
    const struct wg_node *n = of_type(s, node, WG_NODE_FREE);
    if (!n || !ptr)
        return cudaErrorInvalidValue;
    *ptr = n->memory.at;
    return cudaSuccess;
}

WG_API(cudaDeviceGraphMemTrim, CONTEXT, (int device), (device))
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/* ---- looking at a graph ---------------------------------------------------------------------------------------- */

WG_API(cudaGraphNodeGetType, CONTEXT, (void *node, int *type), (node, type))
{
    const struct wg_node *n = wg_node_find(s, node);
    if (!n || !type)
        return cudaErrorInvalidValue;
    *type = n->type;
    return cudaSuccess;
}

/* Fills out with up to *count handles; without out, or in the end, *count says how many there are. */
static void give(void **out, size_t room, size_t *k, void *handle)
{
    if (out && *k < room)
        out[*k] = handle;
    ++*k;
}

static enum cudaError give_end(void **out, size_t *count, size_t k)
{
    for (size_t i = k; out && i < *count; i++)
        out[i] = NULL;
    *count = out && k > *count ? *count : k;
    return cudaSuccess;
}

static enum cudaError nodes_of(struct wg_shim *s, void *graph, void **out, size_t *count, bool roots)
{
    const struct wg_graph *g = wg_graph_find(s, graph, false);
    size_t k = 0;
    if (!g || !count)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < g->n; i++)
        if (!roots || !g->nodes[i]->ndeps)
            give(out, *count, &k, g->nodes[i]);
    return give_end(out, count, k);
}

WG_API(cudaGraphGetNodes, CONTEXT, (void *graph, void **out, size_t *n), (graph, out, n))
{
    return nodes_of(s, graph, out, n, false);
}
WG_API(cudaGraphGetRootNodes, CONTEXT, (void *graph, void **out, size_t *n), (graph, out, n))
{
    return nodes_of(s, graph, out, n, true);
}

static enum cudaError edges_of(struct wg_shim *s, void *graph, void **from, void **to, size_t *count)
{
    const struct wg_graph *g = wg_graph_find(s, graph, false);
    size_t k = 0, room = count ? *count : 0;
    if (!g || !count || !from != !to)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < g->nodes[i]->ndeps; j++) {
            size_t same = k;
            give(from, room, &same, g->nodes[i]->deps[j]);
            give(to, room, &k, g->nodes[i]);
        }
    give_end(from, &room, k);
    return give_end(to, count, k);
}

static enum cudaError neighbours(struct wg_shim *s, void *node, void **out, size_t *count, bool before)
{
    const struct wg_node *n = wg_node_find(s, node);
    size_t k = 0;
    if (!n || !count)
        return cudaErrorInvalidValue;
    for (size_t i = 0; before && i < n->ndeps; i++)
        give(out, *count, &k, n->deps[i]);
    for (size_t i = 0; !before && i < n->graph->n; i++)
        for (size_t j = 0; j < n->graph->nodes[i]->ndeps; j++)
            if (n->graph->nodes[i]->deps[j] == n)
                give(out, *count, &k, n->graph->nodes[i]);
    return give_end(out, count, k);
}

static enum cudaError edit_edges(struct wg_shim *s, void *graph, void *const *from, void *const *to, size_t count,
                                 bool remove)
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    if (!g || (count && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct wg_node *a = wg_node_find(s, from[i]), *b = wg_node_find(s, to[i]);
        size_t k = 0;
        if (!a || !b || a->graph != g || b->graph != g)
            return cudaErrorInvalidValue;
        while (k < b->ndeps && b->deps[k] != a)
            k++;
        if ((k < b->ndeps) != remove)
            return cudaErrorInvalidValue;
        if (remove)
            b->deps[k] = b->deps[--b->ndeps];
        else if (!wg_node_depend(b, a))
            return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

/* Edge data is zero for an ordinary edge, and nothing else is taken. CUDA 13 gave the longer forms the plain names. */
static bool plain_edges(const uint64_t *data, size_t n)
{
    for (size_t i = 0; data && i < n; i++)
        if (data[i])
            return false;
    return true;
}

static void clear_edges(uint64_t *data, size_t n)
{
    if (data)
        memset(data, 0, n * sizeof *data);
}

static enum cudaError programmatic(void)
{
    return wg_shim_refuse("a graph", "programmatic dependencies");
}

#define WG_EDGES(name, params, args, what)                                                                             \
    WG_API(name##_v2, CONTEXT, params, args)                                                                           \
    {                                                                                                                  \
        return what;                                                                                                   \
    }
WG_EDGES(cudaGraphAddDependencies, (void *g, void *const *from, void *const *to, const uint64_t *data, size_t n),
         (g, from, to, data, n), plain_edges(data, n) ? edit_edges(s, g, from, to, n, false) : programmatic())
WG_EDGES(cudaGraphRemoveDependencies, (void *g, void *const *from, void *const *to, const uint64_t *data, size_t n),
         (g, from, to, data, n), plain_edges(data, n) ? edit_edges(s, g, from, to, n, true) : cudaErrorInvalidValue)

static enum cudaError edges_with_data(struct wg_shim *s, void *g, void **from, void **to, uint64_t *data, size_t *n)
{
    enum cudaError e = edges_of(s, g, from, to, n);
    if (e == cudaSuccess)
        clear_edges(data, *n);
    return e;
}
static enum cudaError neighbours_with_data(struct wg_shim *s, void *node, void **out, uint64_t *data, size_t *n,
                                           bool up)
{
    enum cudaError e = neighbours(s, node, out, n, up);
    if (e == cudaSuccess)
        clear_edges(data, *n);
    return e;
}
WG_EDGES(cudaGraphGetEdges, (void *g, void **from, void **to, uint64_t *data, size_t *n), (g, from, to, data, n),
         edges_with_data(s, g, from, to, data, n))
WG_EDGES(cudaGraphNodeGetDependencies, (void *node, void **out, uint64_t *data, size_t *n), (node, out, data, n),
         neighbours_with_data(s, node, out, data, n, true))
WG_EDGES(cudaGraphNodeGetDependentNodes, (void *node, void **out, uint64_t *data, size_t *n), (node, out, data, n),
         neighbours_with_data(s, node, out, data, n, false))

#if WG_CUDART_MAJOR >= 13
WG_ALIAS(cudaGraphAddDependencies, cudaGraphAddDependencies_v2,
         (void *, void *const *, void *const *, const uint64_t *, size_t));
WG_ALIAS(cudaGraphRemoveDependencies, cudaGraphRemoveDependencies_v2,
         (void *, void *const *, void *const *, const uint64_t *, size_t));
WG_ALIAS(cudaGraphGetEdges, cudaGraphGetEdges_v2, (void *, void **, void **, uint64_t *, size_t *));
WG_ALIAS(cudaGraphNodeGetDependencies, cudaGraphNodeGetDependencies_v2, (void *, void **, uint64_t *, size_t *));
WG_ALIAS(cudaGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes_v2, (void *, void **, uint64_t *, size_t *));
#else
WG_API(cudaGraphAddDependencies, CONTEXT, (void *g, void *const *from, void *const *to, size_t n), (g, from, to, n))
{
    return edit_edges(s, g, from, to, n, false);
}
WG_API(cudaGraphRemoveDependencies, CONTEXT, (void *g, void *const *from, void *const *to, size_t n), (g, from, to, n))
{
    return edit_edges(s, g, from, to, n, true);
}
WG_API(cudaGraphGetEdges, CONTEXT, (void *g, void **from, void **to, size_t *n), (g, from, to, n))
{
    return edges_of(s, g, from, to, n);
}
WG_API(cudaGraphNodeGetDependencies, CONTEXT, (void *node, void **out, size_t *n), (node, out, n))
{
    return neighbours(s, node, out, n, true);
}
WG_API(cudaGraphNodeGetDependentNodes, CONTEXT, (void *node, void **out, size_t *n), (node, out, n))
{
    return neighbours(s, node, out, n, false);
}
#endif

/* ---- one call for all kinds, since CUDA 12 ---------------------------------------------------------------------- */

struct cudaGraphNodeParams {
    int type, reserved[3];
    union {
        long long room[29];
        struct cudaKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            struct cudaMemcpy3DParms copy;
        } memcpy;
        struct cudaMemsetParams memset;
        struct cudaHostNodeParams host;
        struct {
            void *graph;
        } child;
        struct {
            void *event;
        } event;
        struct cudaMemAllocNodeParams alloc;
        struct {
            void *dptr;
        } free;
    };
    long long end;
};

WG_API(cudaGraphAddNode_v2, CONTEXT, (NODE_PARAMS_V2, struct cudaGraphNodeParams *p), (NODE_ARGS_V2, p))
{
    if (!p)
        return cudaErrorInvalidValue;
    if (!plain_edges(data, ndeps))
        return programmatic();
    switch (p->type) {
    case WG_NODE_KERNEL:
        return cudaGraphAddKernelNode_locked(s, NODE_ARGS, &p->kernel);
    case WG_NODE_MEMCPY:
        return cudaGraphAddMemcpyNode_locked(s, NODE_ARGS, &p->memcpy.copy);
    case WG_NODE_MEMSET:
        return cudaGraphAddMemsetNode_locked(s, NODE_ARGS, &p->memset);
    case WG_NODE_HOST:
        return cudaGraphAddHostNode_locked(s, NODE_ARGS, &p->host);
    case WG_NODE_GRAPH:
        return cudaGraphAddChildGraphNode_locked(s, NODE_ARGS, p->child.graph);
    case WG_NODE_EMPTY:
        return cudaGraphAddEmptyNode_locked(s, NODE_ARGS);
    case WG_NODE_WAIT:
        return cudaGraphAddEventWaitNode_locked(s, NODE_ARGS, p->event.event);
    case WG_NODE_RECORD:
        return cudaGraphAddEventRecordNode_locked(s, NODE_ARGS, p->event.event);
    case WG_NODE_ALLOC:
        return cudaGraphAddMemAllocNode_locked(s, NODE_ARGS, &p->alloc);
    case WG_NODE_FREE:
        return cudaGraphAddMemFreeNode_locked(s, NODE_ARGS, p->free.dptr);
    default:
        return wg_shim_refuse("cudaGraphAddNode", "semaphores of other APIs and conditional nodes");
    }
}
#if WG_CUDART_MAJOR >= 13
WG_ALIAS(cudaGraphAddNode, cudaGraphAddNode_v2,
         (void **, void *, void *const *, const uint64_t *, size_t, struct cudaGraphNodeParams *));
#else
WG_API(cudaGraphAddNode, CONTEXT, (NODE_PARAMS, struct cudaGraphNodeParams *p), (NODE_ARGS, p))
{
    return cudaGraphAddNode_v2_locked(s, out, graph, deps, NULL, ndeps, p);
}
#endif

static enum cudaError change(struct wg_shim *s, struct wg_node *n, const struct cudaGraphNodeParams *p)
{
    if (!n || !p || (int)n->type != p->type)
        return cudaErrorInvalidValue;
    switch (p->type) {
    case WG_NODE_KERNEL:
        return wg_node_kernel(s, n, &p->kernel);
    case WG_NODE_MEMCPY:
        return set_copy(n, &p->memcpy.copy);
    case WG_NODE_MEMSET:
        return set_set(n, &p->memset);
    case WG_NODE_HOST:
        return set_host(n, &p->host);
    case WG_NODE_GRAPH:
        return set_child(s, n, p->child.graph);
    case WG_NODE_WAIT:
    case WG_NODE_RECORD:
        return set_event(s, n, p->event.event);
    default:
        return cudaErrorInvalidValue;
    }
}

WG_API(cudaGraphNodeSetParams, CONTEXT, (void *node, struct cudaGraphNodeParams *p), (node, p))
{
    return change(s, wg_node_find(s, node), p);
}
WG_API(cudaGraphExecNodeSetParams, CONTEXT, (void *exec, void *node, struct cudaGraphNodeParams *p), (exec, node, p))
{
    return p ? change(s, in_exec(s, exec, node, (enum wg_node_type)p->type), p) : cudaErrorInvalidValue;
}

static enum cudaError enable(struct wg_shim *s, void *exec, void *node, const unsigned *set, unsigned *get)
{
    static const enum wg_node_type may[] = {WG_NODE_KERNEL, WG_NODE_MEMCPY, WG_NODE_MEMSET};
    for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
        struct wg_node *n = in_exec(s, exec, node, may[i]);
        if (!n)
            continue;
        if (set)
            n->disabled = !*set;
        if (get)
            *get = !n->disabled;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}
WG_API(cudaGraphNodeSetEnabled, CONTEXT, (void *exec, void *node, unsigned on), (exec, node, on))
{
    return enable(s, exec, node, &on, NULL);
}
WG_API(cudaGraphNodeGetEnabled, CONTEXT, (void *exec, void *node, unsigned *on), (exec, node, on))
{
    return on ? enable(s, exec, node, NULL, on) : cudaErrorInvalidValue;
}
