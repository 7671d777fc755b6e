/* address.h - registers as "root + constant" and what is known of their alignment; used by merge.c. */
#ifndef WG_PTX_ADDRESS_H
#define WG_PTX_ADDRESS_H
#include "ptx/module.h"

/* Equal roots hold equal values at run time. Root 0 is the number zero, root 1 the start of the shared memory. */
struct wg_address { uint32_t root; int64_t off; };
enum { WG_ROOT_ZERO, WG_ROOT_SHARED, WG_ROOT_FIRST };

struct wg_address_state;
/* Looks at the whole function once; wg_address_regs must be true for every instruction. NULL: out of memory. Everything
 * lives in arena a. */
struct wg_address_state *wg_address_start(const struct wg_ptx_module *m, const struct wg_function *f,
                                          struct wg_arena *a, uint32_t nblocks);
bool wg_address_usable(const struct wg_address_state *s); /* false: the function is too large to follow */
/* Blocks must be visited so that a block comes after one of its predecessors at least; preds that were not visited
 * make it a loop header, whose variable registers are then new. */
bool wg_address_enter(struct wg_address_state *s, uint32_t block, const uint32_t *preds, uint32_t npreds,
                      const uint8_t *visited);
bool wg_address_step(struct wg_address_state *s, const struct wg_instr *in); /* after its operands were asked for */
void wg_address_leave(struct wg_address_state *s, uint32_t block);
/* Value of a register, symbol, immediate or memory operand. */
bool wg_address_of(struct wg_address_state *s, const struct wg_operand *o, struct wg_address *v);
/* Trailing zero bits that are certain, 63 at most. */
unsigned wg_address_align(const struct wg_address_state *s, uint32_t root);

enum { WG_ADDRESS_REGS = 320 };
/* Registers that an instruction writes and reads, WG_ADDRESS_REGS at most of each. False: there are more. */
bool wg_address_regs(const struct wg_instr *in, int32_t *writes, uint32_t *nwrites, int32_t *reads, uint32_t *nreads);
#endif
