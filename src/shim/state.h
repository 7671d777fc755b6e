/* state.h - what the runtime library keeps for the process: one device, its context, and the tables behind handles.
 *
 * The runtime API is one global object by definition, so this folder, alone in the tree, has mutable process-wide
 * data: one struct wg_shim, one lock, and a last error per thread. Every public call is entered with the lock held. */
#ifndef WG_SHIM_STATE_H
#define WG_SHIM_STATE_H
#include <pthread.h>
#include <signal.h>
#include <uthash.h>
#include <warpgrind/profile.h>
#include <warpgrind/warpgrind.h>
#include "shim/abi.h"
#include "shim/env.h"
#include "shim/gpu.h"

/* How an allocation came about: what it may be freed with, and what cudaPointerGetAttributes says. */
enum wg_mem_kind { WG_MEM_DEVICE, WG_MEM_MANAGED, WG_MEM_HOST, WG_MEM_POOL };
struct wg_mem {
    uint64_t base; /* key; 0 < base */
    size_t bytes;  /* as asked for */
    enum wg_mem_kind kind;
    unsigned flags; /* of cudaHostAlloc or cudaMallocManaged */
    struct wg_pool *pool;
    bool graph; /* of an allocation node: freed with its graph, whoever says so earlier */
    UT_hash_handle hh;
};
/* Host memory that the program pinned with cudaHostRegister. shadow: its copy on the device, made when the program
 * asks for a device pointer and kept equal around every launch; 0: none yet. */
struct wg_pinned {
    uint64_t base; /* key */
    size_t bytes;
    unsigned flags;
    uint64_t shadow;
    UT_hash_handle hh;
};

/* A CUDA array, a mipmapped one, or one level of such (which shares its memory): handles are its address. */
struct wg_array {
    void *handle; /* key */
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* as asked for, in elements: 0 where a dimension is missing; layers in depth */
    unsigned flags, element;  /* element: bytes */
    uint64_t base;            /* rows of width elements, packed; then planes or layers */
    unsigned levels;          /* of a mipmap; 0: a plain array */
    struct wg_array **level, *parent;
    UT_hash_handle hh;
};
struct wg_object { /* texture and surface objects, for the queries that give their descriptions back */
    uint64_t handle; /* key */
    bool surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    struct cudaResourceViewDesc view;
    UT_hash_handle hh;
};

struct wg_binary; /* image.h */
struct wg_func {
    const void *host; /* key: the stub's address in the program */
    struct wg_binary *image;
    char *name; /* mangled */
    struct wg_kernel *kernel; /* NULL until first used, and again after cudaDeviceReset */
    struct wg_kernel_info info;
    int max_dynamic_shared; /* bytes, as set by the program; -1: never set */
    int carveout;           /* -1: default */
    int cluster[3], cluster_policy, nonportable_cluster;
    int cache_config;
    UT_hash_handle hh;
};
struct wg_var {
    const void *host; /* key: the shadow variable's address in the program */
    struct wg_binary *image;
    char *name;
    size_t bytes;
    bool constant, managed;
    void **managed_slot; /* the program's pointer to a __managed__ variable */
    bool texture, normalized_float; /* a texture reference and how it reads; bound: the object behind it, or 0 */
    uint64_t bound;
    UT_hash_handle hh;
};

enum { WG_STREAM_ATTRS = 4 };
struct wg_graph; /* graph.h */
struct wg_node;
struct wg_user;
struct wg_stream {
    void *handle; /* key */
    unsigned flags;
    int priority;
    uint64_t id;
    struct {                    /* while work issued to it is recorded; graph NULL: it is done at once */
        struct wg_graph *graph;
        void **tail;            /* nodes that the next one waits for */
        size_t ntail;
        bool joined;            /* by waiting for an event, so it cannot end the capture */
        bool into;              /* a graph that was there before */
        bool broken;
    } capture;
    union cudaLaunchAttributeValue attrs[WG_STREAM_ATTRS];
    UT_hash_handle hh;
};
struct wg_event {
    void *handle; /* key */
    unsigned flags;
    bool recorded;
    uint64_t at_ns; /* host clock when it was reached */
    struct wg_graph *capture; /* recorded last in a captured stream: then it stands for these nodes */
    void **nodes;
    size_t nnodes;
    UT_hash_handle hh;
};
struct wg_pool {
    void *handle; /* key */
    bool is_default;
    struct cudaMemPoolProps props;
    int reuse[3];
    uint64_t release_threshold, used, used_high;
    UT_hash_handle hh;
};

struct wg_shim {
    pthread_mutex_t lock;
    struct wg_env env;
    bool gpu_known;
    enum cudaError broken; /* set-up failed for good: every call that needs the device answers this */
    struct wg_device gpu;
    struct wg_arena arena; /* holds the device's description */
    struct wg *g; /* NULL until a call needs the context */
    pid_t owner;  /* a forked child must not write its parent's profile */
    bool active;  /* the context exists: since first use or the last cudaDeviceReset */
    enum cudaError sticky; /* what a kernel did to the context; cudaSuccess: it is well */
    bool lost;             /* reset after that: a GPU gives this process no second context */
    bool blocking;         /* CUDA_LAUNCH_BLOCKING: a launch itself reports what its kernel did */
    volatile int cancel;   /* the engine polls it */
    volatile sig_atomic_t dying;
    pthread_t busy;        /* the thread that holds the lock, for the crash handler */
    volatile sig_atomic_t is_busy;

    char detail[192]; /* what the call that runs has found wrong with its arguments, for a finding; "" */

    struct wg_binary *images;
    struct wg_func *funcs;
    struct wg_var *vars;
    struct wg_mem *mems;
    struct wg_pinned *pinned;
    struct wg_array *arrays;
    struct wg_object *objects;
    struct wg_stream *streams;
    struct wg_event *events;
    struct wg_pool *pools;
    struct wg_graph *graphs; /* also executable ones */
    struct wg_node *nodes;   /* of all graphs */
    struct wg_user *users;   /* user objects */
    union cudaLaunchAttributeValue default_attrs[WG_STREAM_ATTRS]; /* of the default streams */
    struct wg_pool *current_pool; /* of the device */
    uint64_t next_id;             /* of streams */
    unsigned device_flags;
    int cache_config, shared_config;
    size_t limits[WG_CUDA_LIMIT_COUNT];
};

/* What a call needs before it runs: nothing; the device's description; the engine, which it opens; or a context, which
 * an earlier kernel must not have broken (wg_shim_health). */
enum wg_need { WG_NEED_NOTHING, WG_NEED_GPU, WG_NEED_ENGINE, WG_NEED_CONTEXT };

/* Every public call: take the lock and meet its need; leave releases the lock, records the error for the thread. */
enum cudaError wg_shim_enter(struct wg_shim **s, enum wg_need need);
enum cudaError wg_shim_leave(struct wg_shim *s, enum cudaError e, const char *call);
/* cudaSuccess, or what every call that touches the context answers since a kernel broke it. */
enum cudaError wg_shim_health(const struct wg_shim *s);
struct wg_shim *wg_shim_lock(void); /* for calls that are outside the error rules: registration, last error */
void wg_shim_unlock(struct wg_shim *s);
/* Take the lock within a time, for the way out of the process; false: someone holds it. */
bool wg_shim_lock_within(unsigned milliseconds);

enum cudaError wg_shim_last_error(bool clear);
void wg_shim_set_last_error(enum cudaError e);
/* The CUDA code for what the engine answered to a call that is no launch. */
enum cudaError wg_shim_error(enum wg_status s);
/* Do checks run that name the host's calls? place: malloc'd, of this thread's next call; NULL: look when it comes. */
bool wg_shim_wants_places(void);
void wg_shim_next_place(char *place);
/* Words for the finding that a failing call becomes. */
void wg_shim_detail(struct wg_shim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Forget everything on the device but keep what was measured: cudaDeviceReset. Lock held. */
void wg_shim_reset(struct wg_shim *s);
/* One line on stderr: "warpgrind: ...". */
void wg_shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A call or a form of one that we lack: named on stderr once per process. Always cudaErrorNotSupported. */
enum cudaError wg_shim_refuse(const char *call, const char *why);

/* memory.c */
struct wg_mem *wg_mem_find(struct wg_shim *s, uint64_t addr); /* the live allocation that holds addr, or NULL */
bool wg_mem_pinned(struct wg_shim *s, uint64_t addr);         /* inside memory given to cudaHostRegister */
void wg_mem_free_all(struct wg_shim *s);
enum cudaError wg_mem_for_graph(struct wg_shim *s, void **out, size_t bytes, struct wg_mem **m);
void wg_mem_release(struct wg_shim *s, struct wg_mem *m);
/* copy.c: rows * planes rows of width bytes, dpitch/spitch bytes apart, planes dplane/splane bytes apart; with all the
 * checks that cudaMemcpy makes. */
struct wg_box {
    char *dst;
    const char *src;
    size_t width, rows, planes, dpitch, spitch, dplane, splane;
};
enum cudaError wg_copy_box(struct wg_shim *s, const struct wg_box *b, int kind, void *stream);
enum cudaError wg_copy_volume(struct wg_shim *s, const struct cudaMemcpy3DParms *p, void *stream);
/* Fill a rectangle with a value of 1, 2 or 4 bytes; width in such elements. */
enum cudaError wg_fill_elements(struct wg_shim *s, void *dst, size_t pitch, unsigned value, unsigned element,
                                size_t width, size_t height, void *stream);
/* launch.c: func is the program's stub or a handle of the driver API. */
enum cudaError wg_launch_kernel(struct wg_shim *s, const void *func, struct wg_launch *l, void *stream);
enum cudaError wg_launch_attribute(struct wg_launch *l, const struct cudaLaunchAttribute *a);
/* graph.c: the packed arguments of CU_LAUNCH_PARAM_BUFFER_POINTER, or NULL. */
unsigned char *wg_launch_buffer(void **extra, size_t *bytes);
void wg_graph_free_all(struct wg_shim *s);
/* array.c */
struct wg_array *wg_array_find(struct wg_shim *s, const void *handle); /* NULL: no such array */
uint64_t wg_array_element(const struct wg_array *a, size_t x, size_t y, size_t z);
enum cudaError wg_array_copy3d(struct wg_shim *s, const struct cudaMemcpy3DParms *p, void *stream);
void wg_array_free_all(struct wg_shim *s);
/* texture.c */
void wg_object_free_all(struct wg_shim *s);
/* device.c: name and UUID, as cudaDeviceProp has them */
void wg_device_identify(const struct wg_device *gpu, char name[256], unsigned char uuid[16]);
/* exit.c */
void wg_shim_watch_exit(struct wg_shim *s); /* once, when a profile is wanted */
void wg_shim_write_profile(struct wg_shim *s);
/* texture.c: a texture object made and given up; the answers are those of the calls of the API. */
enum cudaError wg_object_create(struct wg_shim *s, uint64_t *out, const struct cudaResourceDesc *r,
                                const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v, bool seamless);
enum cudaError wg_object_destroy(struct wg_shim *s, uint64_t handle, bool surface);
/* stream.c */
bool wg_stream_known(struct wg_shim *s, const void *stream);
bool wg_event_known(struct wg_shim *s, const void *event);
enum cudaError wg_event_reached(struct wg_shim *s, void *event);
void wg_stream_free_all(struct wg_shim *s);
void wg_pool_free_all(struct wg_shim *s);

#define WG_EXPORT extern __attribute__((visibility("default")))
WG_EXPORT const char *cudaGetErrorName(int code); /* error.c */
WG_EXPORT const char *cudaGetErrorString(int code);
#define WG_BARE(...) __VA_ARGS__
/* Define a public call: WG_API(cudaFree, CONTEXT, (void *p), (p)) { ...; return cudaSuccess; } with s in scope. */
#define WG_API(name, need, params, args)                                                                               \
    WG_EXPORT int name params;                                                                                         \
    static enum cudaError name##_locked(struct wg_shim *s, WG_BARE params);                                            \
    int name params                                                                                                    \
    {                                                                                                                  \
        struct wg_shim *s;                                                                                             \
        enum cudaError result = wg_shim_enter(&s, WG_NEED_##need);                                                     \
        if (result == cudaSuccess)                                                                                     \
            result = name##_locked(s, WG_BARE args);                                                                   \
        return (int)wg_shim_leave(s, result, #name);                                                                   \
    }                                                                                                                  \
    static enum cudaError name##_locked(__attribute__((unused)) struct wg_shim *s, WG_BARE params)
/* The same for a call without parameters. */
#define WG_API0(name, need)                                                                                            \
    WG_EXPORT int name(void);                                                                                          \
    static enum cudaError name##_locked(struct wg_shim *s);                                                            \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        struct wg_shim *s;                                                                                             \
        enum cudaError e = wg_shim_enter(&s, WG_NEED_##need);                                                          \
        if (e == cudaSuccess)                                                                                          \
            e = name##_locked(s);                                                                                      \
        return (int)wg_shim_leave(s, e, #name);                                                                        \
    }                                                                                                                  \
    static enum cudaError name##_locked(__attribute__((unused)) struct wg_shim *s)
/* Another exported name of a call defined in the same file. Work runs in issue order, so the names that use the
 * per-thread default stream (_ptsz, _ptds) are the same function. */
#define WG_ALIAS(other, name, params) WG_EXPORT int other params __attribute__((alias(#name)))
#define WG_PTSZ(name, params)         WG_ALIAS(name##_ptsz, name, params)
#define WG_PTDS(name, params)         WG_ALIAS(name##_ptds, name, params)
#endif
