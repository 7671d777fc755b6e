/* stream.c - streams and events. Work is done when it is issued, which is one of the orders that streams allow: so
 * everything is always complete, and an event's time is the host's clock when it was recorded. */
#include "shim/graph.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct wg_stream *stream_at(struct wg_shim *s, const void *handle)
{
    struct wg_stream *t = NULL;
    HASH_FIND_PTR(s->streams, &handle, t);
    return t;
}

static bool is_default(const void *h) { return h == NULL || h == WG_STREAM_LEGACY || h == WG_STREAM_PER_THREAD; }

bool wg_stream_known(struct wg_shim *s, const void *h) { return is_default(h) || stream_at(s, h); }

void wg_stream_free_all(struct wg_shim *s)
{
    struct wg_stream *t, *tn;
    struct wg_event *v, *vn;
    HASH_ITER(hh, s->streams, t, tn) {
        HASH_DEL(s->streams, t);
        free(t->capture.tail);
        free(t);
    }
    HASH_ITER(hh, s->events, v, vn) {
        HASH_DEL(s->events, v);
        free(v->nodes);
        free(v);
    }
}

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

static enum cudaError create(struct wg_shim *s, void **out, unsigned flags, int priority)
{
    if (!out || (flags & ~(unsigned)cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    struct wg_stream *t = calloc(1, sizeof *t);
    if (!t)
        return cudaErrorMemoryAllocation;
    t->handle = t;
    t->flags = flags;
    t->priority = priority > LEAST_PRIORITY      ? LEAST_PRIORITY
                  : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                 : priority;
    t->id = ++s->next_id + 15; /* 7 and 15: the default streams */
    HASH_ADD_PTR(s->streams, handle, t);
    *out = t->handle;
    return cudaSuccess;
}

WG_API(cudaStreamCreate, CONTEXT, (void **out), (out)) { return create(s, out, 0, 0); }
WG_API(cudaStreamCreateWithFlags, CONTEXT, (void **out, unsigned flags), (out, flags))
{
    return create(s, out, flags, 0);
}
WG_API(cudaStreamCreateWithPriority, CONTEXT, (void **out, unsigned flags, int priority), (out, flags, priority))
{
    return create(s, out, flags, priority);
}

WG_API(cudaStreamDestroy, CONTEXT, (void *stream), (stream))
{
    struct wg_stream *t = stream_at(s, stream);
    if (!t)
        return cudaErrorInvalidResourceHandle;
    HASH_DEL(s->streams, t);
    free(t->capture.tail);
    free(t);
    return cudaSuccess;
}

static enum cudaError known(struct wg_shim *s, const void *stream)
{
    return wg_stream_known(s, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* For waiting, which a stream that records cannot do. */
static enum cudaError idle(struct wg_shim *s, void *stream)
{
    const enum cudaError e = known(s, stream);
    return e == cudaSuccess ? wg_capture_forbid(s, stream) : e;
}

WG_API(cudaStreamSynchronize, CONTEXT, (void *stream), (stream)) { return idle(s, stream); }
WG_PTSZ(cudaStreamSynchronize, (void *));
WG_API(cudaStreamQuery, CONTEXT, (void *stream), (stream)) { return idle(s, stream); }
WG_PTSZ(cudaStreamQuery, (void *));

WG_API(cudaStreamGetFlags, CONTEXT, (void *stream, unsigned *flags), (stream, flags))
{
    struct wg_stream *t = stream_at(s, stream);
    if (!flags)
        return cudaErrorInvalidValue;
    if (!t && !is_default(stream))
        return cudaErrorInvalidResourceHandle;
    *flags = t ? t->flags : 0;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamGetFlags, (void *, unsigned *));

WG_API(cudaStreamGetPriority, CONTEXT, (void *stream, int *priority), (stream, priority))
{
    struct wg_stream *t = stream_at(s, stream);
    if (!priority)
        return cudaErrorInvalidValue;
    if (!t && !is_default(stream))
        return cudaErrorInvalidResourceHandle;
    *priority = t ? t->priority : 0;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamGetPriority, (void *, int *));

WG_API(cudaStreamGetId, CONTEXT, (void *stream, unsigned long long *id), (stream, id))
{
    struct wg_stream *t = stream_at(s, stream);
    if (!id)
        return cudaErrorInvalidValue;
    if (!t && !is_default(stream))
        return cudaErrorInvalidResourceHandle;
    *id = t ? t->id : stream == WG_STREAM_PER_THREAD ? 15 : 7;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamGetId, (void *, unsigned long long *));

WG_API(cudaStreamGetDevice, CONTEXT, (void *stream, int *device), (stream, device))
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = 0;
    return known(s, stream);
}
WG_PTSZ(cudaStreamGetDevice, (void *, int *));

WG_API(cudaDeviceGetStreamPriorityRange, CONTEXT, (int *least, int *greatest), (least, greatest))
{
    if (least)
        *least = LEAST_PRIORITY;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

WG_API0(cudaDeviceSynchronize, CONTEXT) { return cudaSuccess; }
WG_API0(cudaThreadSynchronize, CONTEXT) { return cudaSuccess; }

/* ---- work for the host ------------------------------------------------------------------------------------------ */

/* Both run the program's own function, which may wait for other threads that need the lock: so without it. */
WG_EXPORT int cudaLaunchHostFunc(void *stream, void (*fn)(void *), void *data);
WG_EXPORT int cudaStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *data, unsigned flags);

int cudaLaunchHostFunc(void *stream, void (*fn)(void *), void *data)
{
    struct wg_shim *s;
    enum cudaError e = wg_shim_enter(&s, WG_NEED_CONTEXT);
    if (e == cudaSuccess)
        e = fn ? known(s, stream) : cudaErrorInvalidValue;
    struct wg_node *n = e == cudaSuccess ? wg_capture_node(s, stream, WG_NODE_HOST, &e) : NULL;
    if (n)
        n->host = (struct cudaHostNodeParams){fn, data};
    wg_shim_leave(s, e, "cudaLaunchHostFunc");
    if (e == cudaSuccess && !n)
        fn(data);
    return (int)e;
}
WG_PTSZ(cudaLaunchHostFunc, (void *, void (*)(void *), void *));

int cudaStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *data, unsigned flags)
{
    struct wg_shim *s;
    enum cudaError e = wg_shim_enter(&s, WG_NEED_CONTEXT);
    if (e == cudaSuccess)
        e = fn && !flags ? known(s, stream) : cudaErrorInvalidValue;
    if (e == cudaSuccess)
        e = wg_capture_forbid(s, stream); /* documented: use cudaLaunchHostFunc */
    wg_shim_leave(s, e, "cudaStreamAddCallback");
    if (e == cudaSuccess)
        fn(stream, cudaSuccess, data);
    return (int)e;
}
WG_PTSZ(cudaStreamAddCallback, (void *, void (*)(void *, int, void *), void *, unsigned));

/* ---- events ----------------------------------------------------------------------------------------------------- */

static struct wg_event *event_at(struct wg_shim *s, const void *handle)
{
    struct wg_event *v = NULL;
    HASH_FIND_PTR(s->events, &handle, v);
    return v;
}

static enum cudaError create_event(struct wg_shim *s, void **out, unsigned flags)
{
    const unsigned all = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out || (flags & ~all) || ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)))
        return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess)
        return wg_shim_refuse("cudaEventCreateWithFlags", "an event shared between processes");
    struct wg_event *v = calloc(1, sizeof *v);
    if (!v)
        return cudaErrorMemoryAllocation;
    v->handle = v;
    v->flags = flags;
    HASH_ADD_PTR(s->events, handle, v);
    *out = v->handle;
    return cudaSuccess;
}

WG_API(cudaEventCreate, CONTEXT, (void **out), (out)) { return create_event(s, out, 0); }
WG_API(cudaEventCreateWithFlags, CONTEXT, (void **out, unsigned flags), (out, flags))
{
    return create_event(s, out, flags);
}

WG_API(cudaEventDestroy, CONTEXT, (void *event), (event))
{
    struct wg_event *v = event_at(s, event);
    if (!v)
        return cudaErrorInvalidResourceHandle;
    HASH_DEL(s->events, v);
    free(v->nodes);
    free(v);
    return cudaSuccess;
}

bool wg_event_known(struct wg_shim *s, const void *event) { return event_at(s, event) != NULL; }

static enum cudaError record(struct wg_shim *s, void *event, void *stream)
{
    enum cudaError e;
    if (!event_at(s, event) || !wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    return wg_capture_record(s, event, stream, &e) ? e : wg_event_reached(s, event);
}

enum cudaError wg_event_reached(struct wg_shim *s, void *event)
{
    struct wg_event *v = event_at(s, event);
    struct timespec t;
    if (!v)
        return cudaErrorInvalidResourceHandle;
    clock_gettime(CLOCK_MONOTONIC, &t);
    v->recorded = true;
    v->at_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return cudaSuccess;
}

WG_API(cudaEventRecord, CONTEXT, (void *event, void *stream), (event, stream)) { return record(s, event, stream); }
WG_PTSZ(cudaEventRecord, (void *, void *));
WG_API(cudaEventRecordWithFlags, CONTEXT, (void *event, void *stream, unsigned flags), (event, stream, flags))
{
    return flags > 1 ? cudaErrorInvalidValue : record(s, event, stream);
}
WG_PTSZ(cudaEventRecordWithFlags, (void *, void *, unsigned));

WG_API(cudaEventQuery, CONTEXT, (void *event), (event))
{
    return event_at(s, event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
WG_API(cudaEventSynchronize, CONTEXT, (void *event), (event))
{
    return event_at(s, event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

WG_API(cudaStreamWaitEvent, CONTEXT, (void *stream, void *event, unsigned flags), (stream, event, flags))
{
    enum cudaError e;
    if (flags > 1)
        return cudaErrorInvalidValue;
    if (!event_at(s, event) || !wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    return wg_capture_wait(s, stream, event, &e) ? e : cudaSuccess;
}
WG_PTSZ(cudaStreamWaitEvent, (void *, void *, unsigned));

WG_API(cudaEventElapsedTime, CONTEXT, (float *ms, void *start, void *end), (ms, start, end))
{
    struct wg_event *a = event_at(s, start), *b = event_at(s, end);
    if (!ms)
        return cudaErrorInvalidValue;
    if (!a || !b || !a->recorded || !b->recorded || ((a->flags | b->flags) & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
    *ms = (float)(((double)b->at_ns - (double)a->at_ns) / 1e6);
    return cudaSuccess;
}
WG_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime, (float *, void *, void *));

/* ---- stream attributes: hints that change nothing here, kept so that they read back ----------------------------- */

enum { ATTR_ACCESS_POLICY = 1, ATTR_SYNC_POLICY = 3, ATTR_PRIORITY = 8, ATTR_DOMAIN_MAP = 9, ATTR_DOMAIN = 10 };

static union cudaLaunchAttributeValue *attribute_of(struct wg_shim *s, void *stream, int attr)
{
    struct wg_stream *t = stream_at(s, stream);
    union cudaLaunchAttributeValue *all = t ? t->attrs : is_default(stream) ? s->default_attrs : NULL;
    switch (attr) {
    case ATTR_ACCESS_POLICY: return all;
    case ATTR_SYNC_POLICY: return all ? all + 1 : NULL;
    case ATTR_DOMAIN_MAP: return all ? all + 2 : NULL;
    case ATTR_DOMAIN: return all ? all + 3 : NULL;
    default: return NULL;
    }
}

WG_API(cudaStreamSetAttribute, CONTEXT, (void *stream, int attr, const union cudaLaunchAttributeValue *v),
       (stream, attr, v))
{
    union cudaLaunchAttributeValue *at = attribute_of(s, stream, attr);
    struct wg_stream *t = stream_at(s, stream);
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (v && attr == ATTR_PRIORITY && t) {
        t->priority = v->value;
        return cudaSuccess;
    }
    if (!v || !at)
        return cudaErrorInvalidValue;
    *at = *v;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamSetAttribute, (void *, int, const union cudaLaunchAttributeValue *));

WG_API(cudaStreamGetAttribute, CONTEXT, (void *stream, int attr, union cudaLaunchAttributeValue *v), (stream, attr, v))
{
    const union cudaLaunchAttributeValue *at = attribute_of(s, stream, attr);
    const struct wg_stream *t = stream_at(s, stream);
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (!v || (!at && attr != ATTR_PRIORITY))
        return cudaErrorInvalidValue;
    if (attr == ATTR_PRIORITY)
        v->value = t ? t->priority : 0;
    else
        *v = *at;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamGetAttribute, (void *, int, union cudaLaunchAttributeValue *));

WG_API(cudaStreamCopyAttributes, CONTEXT, (void *dst, void *src), (dst, src))
{
    if (!wg_stream_known(s, dst) || !wg_stream_known(s, src))
        return cudaErrorInvalidResourceHandle;
    memcpy(attribute_of(s, dst, ATTR_ACCESS_POLICY), attribute_of(s, src, ATTR_ACCESS_POLICY), sizeof s->default_attrs);
    return cudaSuccess;
}
WG_PTSZ(cudaStreamCopyAttributes, (void *, void *));
