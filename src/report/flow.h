/* flow.h - where the values of a kernel's PTX come from, read off the text of its instructions. */
#ifndef WG_REPORT_FLOW_H
#define WG_REPORT_FLOW_H
#include <warpgrind/profile.h>
#include "base/arena.h"

/* What a value depends on. */
enum wg_origin {
    WG_FROM_DATA = 1,   /* loads and atomics of global, shared and generic memory */
    WG_FROM_THREAD = 2, /* the thread's place: %tid, %laneid */
};
enum { WG_FLOW_REGS = 8 }; /* of one instruction that are looked at; further ones are not */
struct wg_flow_site {
    uint16_t nout, nin;
    uint32_t out[WG_FLOW_REGS], in[WG_FLOW_REGS]; /* registers, by number */
    uint32_t guard;  /* register of @p, UINT32_MAX: none */
    uint32_t base;   /* register in [brackets], UINT32_MAX: none */
    int64_t offset;  /* what is added to it */
};
struct wg_flow {
    size_t nsites, nregs;
    struct wg_flow_site *site;
    uint8_t *origin;       /* of each register: set of enum wg_origin */
    uint32_t *first_def;   /* site that first writes it, UINT32_MAX: none */
    uint32_t *ndefs;
};
/* false: out of memory. Everything lives in a. */
bool wg_flow_open(const struct wg_site *sites, size_t n, struct wg_arena *a, struct wg_flow *out);
/* The one site that writes a register; UINT32_MAX: none or several. */
uint32_t wg_flow_def(const struct wg_flow *f, uint32_t reg);
#endif
