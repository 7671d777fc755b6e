/* graph.h - graphs: nodes with what they do and what they wait for; made by hand or by capturing streams. */
#ifndef WG_SHIM_GRAPH_H
#define WG_SHIM_GRAPH_H
#include "shim/state.h"

/* enum cudaGraphNodeType */
enum wg_node_type {
    WG_NODE_KERNEL = 0,
    WG_NODE_MEMCPY = 1,
    WG_NODE_MEMSET = 2,
    WG_NODE_HOST = 3,
    WG_NODE_GRAPH = 4,
    WG_NODE_EMPTY = 5,
    WG_NODE_WAIT = 6,
    WG_NODE_RECORD = 7,
    WG_NODE_ALLOC = 10,
    WG_NODE_FREE = 11
};

struct cudaKernelNodeParams {
    const void *func;
    struct wg_dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height; /* width in elements */
};
struct cudaHostNodeParams {
    void (*fn)(void *);
    void *userData;
};
struct cudaMemAllocNodeParams {
    struct cudaMemPoolProps poolProps;
    const struct cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
};

struct wg_node {
    void *handle; /* key; its own address */
    struct wg_graph *graph;
    enum wg_node_type type;
    struct wg_node **deps;
    size_t ndeps, cap;
    const struct wg_node *origin; /* in a clone or an executable graph: the node it was made from */
    bool disabled;                /* in an executable graph */
    unsigned mark;                /* of the sort */
    struct {
        struct cudaKernelNodeParams p; /* kernelParams point into args */
        unsigned char *args;
        struct wg_launch l; /* attributes only: cooperative, cluster */
        union cudaLaunchAttributeValue attrs[cudaLaunchAttributeLast + 1];
    } kernel;
    union {
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams set;
        struct cudaHostNodeParams host;
        struct wg_graph *child; /* owned */
        void *event;
        struct {
            void *at;
            size_t bytes;
            struct wg_mem *mem;
        } memory;
    };
    UT_hash_handle hh;
};
struct wg_graph {
    void *handle; /* key */
    struct wg_node **nodes;
    size_t n, cap;
    bool exec;   /* instantiated: nodes lie in an order in which they may run */
    bool inside; /* of a child node: the program may look at it, not destroy it */
    unsigned long long flags;
    uint64_t capture_id; /* while streams are being captured into it */
    unsigned retained;   /* references to user objects */
    struct wg_user **users;
    UT_hash_handle hh;
};

struct wg_graph *wg_graph_find(struct wg_shim *s, const void *handle, bool exec);
struct wg_node *wg_node_find(struct wg_shim *s, const void *handle);
struct wg_graph *wg_graph_new(struct wg_shim *s);
void wg_graph_free(struct wg_shim *s, struct wg_graph *g);
void wg_graph_free_all(struct wg_shim *s);
struct wg_graph *wg_graph_copy(struct wg_shim *s, const struct wg_graph *from);
/* A node that waits for deps; INVALID_VALUE when one of them is of another graph. */
enum cudaError wg_node_add(struct wg_shim *s, struct wg_graph *g, void *const *deps, size_t ndeps,
                           enum wg_node_type type, struct wg_node **out);
void wg_node_drop(struct wg_shim *s, struct wg_node *n);
bool wg_node_depend(struct wg_node *n, struct wg_node *on); /* false: no memory */
/* Fill in what a node does; arguments are copied. */
enum cudaError wg_node_kernel(struct wg_shim *s, struct wg_node *n, const struct cudaKernelNodeParams *p);
void wg_node_line(struct wg_node *n, void *dst, const void *src, size_t bytes, int kind);
/* Sort so that every node stands behind what it waits for, keeping the order of creation where it can. false: a cycle.
 */
bool wg_graph_sort(struct wg_graph *g);
/* Run an instantiated graph. The lock is given up around host functions. */
enum cudaError wg_graph_run(struct wg_shim *s, struct wg_graph *g);

/* capture.c: is work on this stream being recorded? Then the op has become a node and *e is the answer of the call. */
struct wg_node *wg_capture_node(struct wg_shim *s, void *stream, enum wg_node_type type, enum cudaError *e);
bool wg_capturing(struct wg_shim *s, void *stream);
/* A call that must not meet a capturing stream, such as waiting for it: cudaSuccess, or the capture is broken. */
enum cudaError wg_capture_forbid(struct wg_shim *s, void *stream);
bool wg_capture_record(struct wg_shim *s, void *event, void *stream, enum cudaError *e);
bool wg_capture_wait(struct wg_shim *s, void *stream, void *event, enum cudaError *e);
#endif
