/* async.h - descriptors of matrix and asynchronous instructions, and what their handlers share. */
#ifndef WG_EXEC_ASYNC_H
#define WG_EXEC_ASYNC_H
#include "exec/handlers.h"
#include "exec/lanes.h"

/* An address: R[off] of class acls, plus disp. */
struct wg_lane_addr { uint32_t off; int32_t disp; uint8_t acls, space; bool cluster; }; /* cluster: may be another block's */

/* ldmatrix, stmatrix, movmatrix, mma, mma.sp, wmma: wg_inst.p. Slots are V slots of 4 bytes a lane (8 for f64). */
struct wg_tensor_desc {
    uint16_t op;            /* enum wg_op */
    uint8_t td, ta, tb, tc; /* enum wg_type of the matrices */
    uint16_t m, n, k;
    bool a_col, b_row;      /* layouts other than mma's row.col */
    bool trans, sat, use_and, counted;
    uint8_t nd, na, nb, nc; /* registers */
    uint32_t *d, *a, *b, *c;
    uint32_t meta;          /* sparse: slot of the metadata */
    uint8_t selector;
    struct wg_lane_addr at;
    uint32_t stride;        /* wmma: slot of the leading dimension in elements */
    bool stride_vec;
};

/* cp.async and mbarrier: wg_inst.p */
struct wg_async_desc {
    uint16_t op;
    struct wg_lane_addr at[2]; /* first and second address */
    uint8_t bytes;             /* cp.async: cp-size */
    uint32_t x, y;             /* V32 slots: count, source size, ...; 0: absent */
    uint32_t ignore;           /* predicate slot; 0: absent */
    uint32_t state;            /* V64 slot of a phase token */
    uint32_t d;                /* result slot, 0: none */
    int64_t imm;
    bool counted, parity, drop, expect, noinc, vec_d;
    uint8_t d_bytes;
};

/* A warp's cp.async copies on their way: read, not yet written. */
struct wg_async_copy {
    uint32_t mask;              /* lanes whose part has not landed */
    uint32_t group[WG_LANES];   /* number of the group per lane */
    uint32_t to[WG_LANES];
    uint8_t bytes;
    uint32_t site;
    uint8_t data[WG_LANES][16];
};
struct wg_async {
    uint32_t committed[WG_LANES]; /* groups closed per lane */
    uint32_t n, cap;
    struct wg_async_copy *v;
};

static inline void wg_lane_addresses(const struct wg_lane_addr *a, const char *R, uint64_t *addr)
{
    for (unsigned l = 0; l < WG_LANES; l++)
        switch (a->acls) {
        case WG_ADDR_S: addr[l] = *(const uint64_t *)(R + a->off) + (uint64_t)(int64_t)a->disp; break;
        case WG_ADDR_A:
            addr[l] = *(const uint64_t *)(R + a->off) + *(const uint64_t *)(R + a->off + 8) * l + (uint64_t)(int64_t)a->disp;
            break;
        case WG_ADDR_V32: addr[l] = (uint32_t)(((const uint32_t *)(R + a->off))[l] + (uint32_t)a->disp); break;
        default: addr[l] = ((const uint64_t *)(R + a->off))[l] + (uint64_t)(int64_t)a->disp; break;
        }
}

/* Tells the observer of an access by the lanes of mask; returns the lanes that may do it. at: device addresses, or offsets
 * in shared memory. data: what each lane stores, or NULL. */
struct wg_seen { uint8_t kind, space, elem, n; bool strong, acquire, release, wide_scope; };
#ifdef WG_ISA_SUFFIX
#define wg_observe_lanes WG_ISA_NAME(wg_observe_lanes)
#define wg_observe_write WG_ISA_NAME(wg_observe_write)
#define wg_observe_remote WG_ISA_NAME(wg_observe_remote)
#define wg_observe_bulk WG_ISA_NAME(wg_observe_bulk)
#define wg_async_exit WG_ISA_NAME(wg_async_exit)
/* The lanes of gone exit: their copies land, waited for or not. */
void wg_async_exit(struct wg_warp *w, uint32_t gone);
uint32_t wg_observe_lanes(struct wg_warp *w, const struct wg_inst *i, const struct wg_seen *s, const uint64_t *at,
                          uint32_t mask, const char *const *data);
void wg_observe_write(struct wg_warp *w, unsigned lane, unsigned space, uint64_t at, uint32_t bytes);
/* A bulk copy that an mbarrier of the same block counts, before it is counted. */
void wg_observe_bulk(struct wg_warp *w, const struct wg_inst *i, unsigned lane, uint64_t at, uint32_t bytes, uint64_t bar);
/* As wg_observe_write for shared memory of another block of the cluster. */
void wg_observe_remote(struct wg_warp *w, const struct wg_block *of, unsigned lane, uint64_t at, uint32_t bytes);
static inline bool wg_is_observed(const struct wg_warp *w) { return w->wk->run->kc->observed; }
#endif

/* All lanes that live must be at i; need: those of the member mask. Uses w, i, R and on of the handler. */
#define WG_TOGETHER(need_)                                                                                             \
    do {                                                                                                               \
        if (__builtin_expect((need_) & w->live & ~w->mask, 0)) {                                                       \
            const struct wg_inst *next_;                                                                               \
            if (!w->wide)                                                                                              \
                return wg_deopt(w, i);                                                                                 \
            if (!wg_wide_wait(w, i, need_, false, &next_))                                                             \
                return next_;                                                                                          \
            on = WG_ON;                                                                                                \
        }                                                                                                              \
    } while (0)
#endif
