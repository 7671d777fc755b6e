/* capture.c - recording what is issued to streams into a graph instead of doing it. */
#include "shim/graph.h"
#include <stdlib.h>
#include <string.h>

/* enum cudaStreamCaptureStatus */
enum { CAPTURE_NONE = 0, CAPTURE_ACTIVE = 1, CAPTURE_BROKEN = 2 };

static struct wg_stream *stream_at(struct wg_shim *s, const void *handle)
{
    struct wg_stream *t = NULL;
    HASH_FIND_PTR(s->streams, &handle, t);
    return t && t->capture.graph ? t : NULL;
}

bool wg_capturing(struct wg_shim *s, void *stream)
{
    return stream_at(s, stream) != NULL;
}

static void leave(struct wg_stream *t)
{
    free(t->capture.tail);
    memset(&t->capture, 0, sizeof t->capture);
}

/* Streams and events of one capture lose it together. */
static void forget(struct wg_shim *s, const struct wg_graph *g)
{
    struct wg_stream *t, *tn;
    struct wg_event *v, *vn;
    HASH_ITER(hh, s->streams, t, tn)
    if (t->capture.graph == g)
        leave(t);
    HASH_ITER(hh, s->events, v, vn)
    if (v->capture == g) {
        v->capture = NULL;
        free(v->nodes);
        v->nodes = NULL;
        v->nnodes = 0;
    }
}

static bool set_tail(struct wg_stream *t, void *const *nodes, size_t n, bool add)
{
    const size_t old = add ? t->capture.ntail : 0;
    void **p = realloc(t->capture.tail, (old + n + 1) * sizeof *p);
    if (!p)
        return false;
    t->capture.tail = p;
    t->capture.ntail = old;
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t k = 0; k < t->capture.ntail; k++)
            there |= p[k] == nodes[i];
        if (!there)
            p[t->capture.ntail++] = nodes[i];
    }
    return true;
}

struct wg_node *wg_capture_node(struct wg_shim *s, void *stream, enum wg_node_type type, enum cudaError *e)
{
    struct wg_stream *t = stream_at(s, stream);
    struct wg_node *n = NULL;
    *e = cudaSuccess;
    if (!t)
        return NULL;
    if (t->capture.broken) {
        *e = cudaErrorStreamCaptureInvalidated;
        return NULL;
    }
    *e = wg_node_add(s, t->capture.graph, t->capture.tail, t->capture.ntail, type, &n);
    if (*e == cudaSuccess && !set_tail(t, (void *[]){n}, 1, false))
        *e = cudaErrorMemoryAllocation;
    return *e == cudaSuccess ? n : NULL;
}

enum cudaError wg_capture_forbid(struct wg_shim *s, void *stream)
{
    struct wg_stream *t = stream_at(s, stream);
    if (t)
        t->capture.broken = true;
    return t ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

bool wg_capture_record(struct wg_shim *s, void *event, void *stream, enum cudaError *e)
{
    struct wg_stream *t = stream_at(s, stream);
    struct wg_event *v = NULL;
    HASH_FIND_PTR(s->events, &event, v);
    if (v && !t) { /* from now on it stands for real work again */
        v->capture = NULL;
        return false;
    }
    if (!t || !v)
        return false;
    void **p = realloc(v->nodes, (t->capture.ntail + 1) * sizeof *p);
    *e = p ? cudaSuccess : cudaErrorMemoryAllocation;
    if (p) {
        memcpy(p, t->capture.tail, t->capture.ntail * sizeof *p);
        v->nodes = p;
        v->nnodes = t->capture.ntail;
        v->capture = t->capture.graph;
    }
    return true;
}

bool wg_capture_wait(struct wg_shim *s, void *stream, void *event, enum cudaError *e)
{
    struct wg_stream *t = NULL;
    struct wg_event *v = NULL;
    HASH_FIND_PTR(s->streams, &stream, t);
    HASH_FIND_PTR(s->events, &event, v);
    if (!v || (!v->capture && !(t && t->capture.graph)))
        return false;
    if (!v->capture || !t || (t->capture.graph && t->capture.graph != v->capture)) {
        /* waiting inside a capture for what is outside, the default stream joining one, or two captures meeting */
        if (t && t->capture.graph)
            t->capture.broken = true;
        *e = !v->capture ? cudaErrorStreamCaptureIsolation
             : !t        ? cudaErrorStreamCaptureImplicit
                         : cudaErrorStreamCaptureMerge;
        return true;
    }
    if (!t->capture.graph) {
        t->capture.graph = v->capture;
        t->capture.joined = true;
    }
    *e = set_tail(t, v->nodes, v->nnodes, true) ? cudaSuccess : cudaErrorMemoryAllocation;
    return true;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static enum cudaError begin(struct wg_shim *s, void *stream, struct wg_graph *g, int mode)
{
    struct wg_stream *t = NULL;
    HASH_FIND_PTR(s->streams, &stream, t);
    if (mode < 0 || mode > 2)
        return cudaErrorInvalidValue;
    if (!t) /* documented: the legacy stream cannot be captured; the per-thread one could, but has no state here */
        return wg_stream_known(s, stream)
                   ? stream == WG_STREAM_PER_THREAD
                         ? wg_shim_refuse("cudaStreamBeginCapture", "the per-thread default stream")
                         : cudaErrorStreamCaptureUnsupported
                   : cudaErrorInvalidResourceHandle;
    if (t->capture.graph)
        return cudaErrorIllegalState;
    t->capture.into = g != NULL;
    if (!g && !(g = wg_graph_new(s)))
        return cudaErrorMemoryAllocation;
    t->capture.graph = g;
    g->capture_id = ++s->next_id;
    return cudaSuccess;
}

WG_API(cudaStreamBeginCapture, CONTEXT, (void *stream, int mode), (stream, mode))
{
    return begin(s, stream, NULL, mode);
}
WG_PTSZ(cudaStreamBeginCapture, (void *, int));

WG_API(cudaStreamBeginCaptureToGraph, CONTEXT,
       (void *stream, void *graph, void *const *deps, const void *data, size_t n, int mode),
       (stream, graph, deps, data, n, mode))
{
    struct wg_graph *g = wg_graph_find(s, graph, false);
    struct wg_stream *t = NULL;
    if (!g || g->capture_id || (n && !deps))
        return cudaErrorInvalidValue;
    (void)data; /* programmatic edges are refused where nodes are made */
    enum cudaError e = begin(s, stream, g, mode);
    HASH_FIND_PTR(s->streams, &stream, t);
    if (e == cudaSuccess && !set_tail(t, deps, n, false))
        e = cudaErrorMemoryAllocation;
    return e;
}
WG_PTSZ(cudaStreamBeginCaptureToGraph, (void *, void *, void *const *, const void *, size_t, int));

/* Every stream that joined must have been waited for: its last nodes are reached from the origin's. */
static bool rejoined(struct wg_shim *s, const struct wg_stream *origin)
{
    struct wg_graph *g = origin->capture.graph;
    for (size_t i = 0; i < g->n; i++)
        g->nodes[i]->mark = 0;
    for (size_t i = 0; i < origin->capture.ntail; i++)
        ((struct wg_node *)origin->capture.tail[i])->mark = 1;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = g->n; i-- > 0;)
            for (size_t k = 0; g->nodes[i]->mark && k < g->nodes[i]->ndeps; k++)
                if (!g->nodes[i]->deps[k]->mark) {
                    g->nodes[i]->deps[k]->mark = 1;
                    more = true;
                }
    }
    struct wg_stream *t, *tn;
    HASH_ITER(hh, s->streams, t, tn)
    for (size_t i = 0; t->capture.graph == g && i < t->capture.ntail; i++)
        if (!((struct wg_node *)t->capture.tail[i])->mark)
            return false;
    return true;
}

WG_API(cudaStreamEndCapture, CONTEXT, (void *stream, void **out), (stream, out))
{
    struct wg_stream *t = stream_at(s, stream);
    if (!out)
        return cudaErrorInvalidValue;
    if (!t)
        return wg_stream_known(s, stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
    struct wg_graph *g = t->capture.graph;
    if (t->capture.joined)
        return cudaErrorStreamCaptureUnmatched;
    bool broken = false;
    struct wg_stream *q, *qn;
    HASH_ITER(hh, s->streams, q, qn)
    broken |= q->capture.graph == g && q->capture.broken;
    const enum cudaError e = broken            ? cudaErrorStreamCaptureInvalidated
                             : !rejoined(s, t) ? cudaErrorStreamCaptureUnjoined
                                               : cudaSuccess;
    const bool into = t->capture.into;
    forget(s, g);
    g->capture_id = 0;
    *out = e == cudaSuccess ? g : NULL;
    if (e != cudaSuccess && !into)
        wg_graph_free(s, g);
    return e;
}
WG_PTSZ(cudaStreamEndCapture, (void *, void **));

WG_API(cudaStreamIsCapturing, CONTEXT, (void *stream, int *status), (stream, status))
{
    const struct wg_stream *t = stream_at(s, stream);
    if (!status)
        return cudaErrorInvalidValue;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    *status = !t ? CAPTURE_NONE : t->capture.broken ? CAPTURE_BROKEN : CAPTURE_ACTIVE;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamIsCapturing, (void *, int *));

static enum cudaError info(struct wg_shim *s, void *stream, int *status, unsigned long long *id, void **graph,
                           void *const **deps, const void **data, size_t *n)
{
    const struct wg_stream *t = stream_at(s, stream);
    if (!status)
        return cudaErrorInvalidValue;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    *status = !t ? CAPTURE_NONE : t->capture.broken ? CAPTURE_BROKEN : CAPTURE_ACTIVE;
    if (*status != CAPTURE_ACTIVE)
        return cudaSuccess;
    if (id)
        *id = t->capture.graph->capture_id;
    if (graph)
        *graph = t->capture.graph;
    if (deps)
        *deps = t->capture.tail;
    if (data)
        *data = NULL;
    if (n)
        *n = t->capture.ntail;
    return cudaSuccess;
}

WG_API(cudaStreamGetCaptureInfo_v2, CONTEXT,
       (void *stream, int *status, unsigned long long *id, void **graph, void *const **deps, size_t *n),
       (stream, status, id, graph, deps, n))
{
    return info(s, stream, status, id, graph, deps, NULL, n);
}
WG_PTSZ(cudaStreamGetCaptureInfo_v2, (void *, int *, unsigned long long *, void **, void *const **, size_t *));

#define INFO_V3 (void *, int *, unsigned long long *, void **, void *const **, const void **, size_t *)
WG_API(cudaStreamGetCaptureInfo_v3, CONTEXT,
       (void *stream, int *status, unsigned long long *id, void **graph, void *const **deps, const void **data,
        size_t *n),
       (stream, status, id, graph, deps, data, n))
{
    return info(s, stream, status, id, graph, deps, data, n);
}
WG_PTSZ(cudaStreamGetCaptureInfo_v3, INFO_V3);
#if WG_CUDART_MAJOR >= 13
WG_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3, INFO_V3);
WG_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo_v3, INFO_V3);
#else
WG_API(cudaStreamGetCaptureInfo, CONTEXT, (void *stream, int *status, unsigned long long *id), (stream, status, id))
{
    return info(s, stream, status, id, NULL, NULL, NULL, NULL);
}
WG_PTSZ(cudaStreamGetCaptureInfo, (void *, int *, unsigned long long *));
#endif

static enum cudaError change_tail(struct wg_shim *s, void *stream, void *const *deps, size_t n, unsigned flags)
{
    struct wg_stream *t = stream_at(s, stream);
    if (!t)
        return wg_stream_known(s, stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
    if (flags > 1 || (n && !deps))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        const struct wg_node *d = wg_node_find(s, deps[i]);
        if (!d || d->graph != t->capture.graph)
            return cudaErrorInvalidValue;
    }
    return set_tail(t, deps, n, flags == 0) ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaStreamUpdateCaptureDependencies_v2, CONTEXT,
       (void *stream, void *const *deps, const void *data, size_t n, unsigned flags), (stream, deps, data, n, flags))
{
    (void)data;
    return change_tail(s, stream, deps, n, flags);
}
WG_PTSZ(cudaStreamUpdateCaptureDependencies_v2, (void *, void *const *, const void *, size_t, unsigned));
#if WG_CUDART_MAJOR >= 13
WG_ALIAS(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_v2,
         (void *, void *const *, const void *, size_t, unsigned));
WG_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies_v2,
         (void *, void *const *, const void *, size_t, unsigned));
#else
WG_API(cudaStreamUpdateCaptureDependencies, CONTEXT, (void *stream, void *const *deps, size_t n, unsigned flags),
       (stream, deps, n, flags))
{
    return change_tail(s, stream, deps, n, flags);
}
WG_PTSZ(cudaStreamUpdateCaptureDependencies, (void *, void *const *, size_t, unsigned));
#endif

/* The mode guards against calls that other threads make during a capture; the swap is kept so that it reads back. */
WG_API(cudaThreadExchangeStreamCaptureMode, NOTHING, (int *mode), (mode))
{
    static _Thread_local int current;
    if (!mode || *mode < 0 || *mode > 2)
        return cudaErrorInvalidValue;
    const int old = current;
    current = *mode;
    *mode = old;
    return cudaSuccess;
}
