/* wgmma.h - what wgmma.mma_async is decoded to. */
#ifndef WG_EXEC_WGMMA_H
#define WG_EXEC_WGMMA_H
#include <stdbool.h>
#include <stdint.h>

enum { WG_WGMMA_REGS = 128 }; /* of the accumulator, most */
struct wg_wgmma_desc {
    uint8_t td, ta, tb;  /* enum wg_type */
    uint16_t n, k, nd;
    uint32_t d[WG_WGMMA_REGS]; /* V32 slots; 0: not wanted */
    bool a_regs, a_trans, b_trans, a_neg, b_neg, sat;
    uint32_t a[4];       /* a_regs: V32 slots; else a[0]: V64 slot of the descriptor */
    uint32_t b;          /* V64 slot of the descriptor */
    uint32_t add;        /* predicate slot: add to what d holds */
};
#endif
