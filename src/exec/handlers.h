/* handlers.h - names of the handlers of one ISA level and the descriptors that decode.c hands them. */
#ifndef WG_EXEC_HANDLERS_H
#define WG_EXEC_HANDLERS_H
#include "exec/warp.h"
#include <warpgrind/observer.h>

enum wg_handler_id {
#define WG_HANDLER_ROW(id, fn) WG_H_##id,
#include "exec/handlers.def"
#undef WG_HANDLER_ROW
    WG_H_COUNT_
};

/* Address of a memory operand. */
enum wg_addr_class { WG_ADDR_S, WG_ADDR_A, WG_ADDR_V32, WG_ADDR_V64 };

/* A load, store or atomic: wg_inst.p. The address is R[i->a] (class acls) plus the int32 in i->f. */
struct wg_mem_desc {
    uint8_t space;   /* enum wg_site_space: GLOBAL, SHARED, LOCAL, CONST or GENERIC */
    uint8_t acls;
    uint8_t elem;    /* bytes of one element in memory */
    uint8_t n;       /* elements: 1, 2, 4, 8 */
    uint8_t cont;    /* lane bytes of the register: 2, 4, 8 */
    uint8_t sign;    /* loads: sign-extend to the register */
    uint8_t scalar;  /* loads: destination slots are S; then acls is S */
    uint8_t store, guarded, counted;
    uint8_t atom, type; /* atomics: enum wg_atom, enum wg_type */
    uint8_t result;     /* atomics: 0 when nothing reads it */
    uint8_t joined;     /* atomics: counted as ptxas would make them, not as written */
    uint8_t ones;       /* atomics: add of the constant 1 whose result nothing reads: the hardware counts lanes */
    uint8_t order, scope;
    uint8_t cluster;    /* shared addresses may be those of another block of the cluster */
    uint8_t wide;       /* loads and stores: bytes of the access ptxas makes of this one and others; 0: its own */
    int8_t position;    /* that access begins so many bytes before this one's address */
    uint8_t again;      /* a second one of that width begins so many bytes later; 0: none */
    uint8_t same;       /* uniform shared loads that are wide: wavefronts when all lanes are on, none of them extra */
    uint32_t val[8];    /* slots; 0: sink */
    uint32_t b, c;      /* atomics: operand slots (V) */
    uint32_t vb[8];     /* vector atomics: operand slots */
    struct wg_access_site *from; /* what the observer knows; NULL: no observer, or never a row */
};

/* Bits of BAR's and BAR_ARRIVE's k2. */
enum wg_bar_bit { WG_BAR_OBSERVED = 1, WG_BAR_ALIGNED = 2 };
/* Bits of OBSERVE's k2: see struct wg_access. */
enum wg_observe_bit { WG_OBSERVE_STRONG = 1, WG_OBSERVE_VOLATILE = 2, WG_OBSERVE_ACQUIRE = 4, WG_OBSERVE_RELEASE = 8,
                      WG_OBSERVE_GUESS = 16 };

struct wg_call_copy { uint32_t from, to, words; };
struct wg_native;
struct wg_call_desc {
    const struct wg_code *code;       /* NULL: indirect or native */
    const struct wg_native *native;
    const void *native_data;
    uint32_t narg, nret;
    struct wg_call_copy *arg, *ret;   /* word slots: caller -> callee, callee -> caller */
    uint32_t ncandidates;             /* indirect */
    const struct wg_code **candidates;
    struct wg_call_copy **cand_arg, **cand_ret;
    bool wide;
    const char *name;
};

struct wg_pack_desc { uint8_t n, eb; uint32_t off[8]; };

/* The handlers of one ISA level. */
struct wg_handler_set {
    const char *isa;
    wg_handler basic[WG_H_COUNT_];
    wg_handler (*mem)(const struct wg_mem_desc *d);
    void (*fuse)(struct wg_inst *insts, uint32_t n); /* after everything else: see mem_full.c */
    wg_handler (*mem_row)(const struct wg_mem_desc *d, bool safe); /* see wg_mem_select_row */
    bool (*barrier_recheck)(struct wg_block *b); /* after lanes exited: releases what nobody else will reach */
};
const struct wg_handler_set *wg_handlers_best(void);
/* Definition of a handler of handlers.def in a file that is compiled once per ISA level. */
#define H(name)                                                                                                        \
    const struct wg_inst *WG_ISA_NAME(wg_h_##name)(struct wg_warp * w, const struct wg_inst *i, char *R);              \
    const struct wg_inst *WG_ISA_NAME(wg_h_##name)(struct wg_warp * w __attribute__((unused)),                        \
                                                   const struct wg_inst *i __attribute__((unused)),                   \
                                                   char *R __attribute__((unused)))

/* Natives: functions the engine provides (libdevice, vprintf, malloc, ...). Returns false after wg_fault. */
struct wg_native {
    const char *name;
    bool (*fn)(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask, uint32_t *ret,
               const uint32_t *const *arg);
};
const struct wg_native *wg_native_find(const char *name, const void **data);
#endif
