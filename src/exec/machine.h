/* machine.h - how many machine instructions ptxas makes of each PTX instruction, and which branches it makes into guards.
 *
 * An estimate, decided once per kernel from the PTX, with rules read off what ptxas 13.0 makes of small kernels for sm_90
 * (machine.def, tools/machine_rules.py):
 * - Parameters, launch dimensions and the first address of a shared array are instructions of their own from compute
 *   capability 9.0 on; below they are operands of others.
 * - Moves of constants and between registers, conversions of addresses, and what nobody reads cost nothing; a constant
 *   that enters a loop or a join costs one move, as does each constant above one of an instruction.
 * - Two become one: mul+add, mul.wide+add, shl+add, add+add, a logical operation feeding another, shr|shl, and+compare
 *   with zero, compare+logic on predicates, neg and abs of floats, address+constant.
 * - 64-bit integers are worked on in halves.
 * - A forward branch over at most WG_MACHINE_GUARD_DIVERGENT (or _UNIFORM, when it goes one way for the whole warp)
 *   machine instructions without atomics, exchanges, barriers and calls becomes a guard on them: they are then executed
 *   whenever the branch was, with lanes off. A branch to the kernel's end becomes a guarded exit. Any other branch that
 *   may split a warp costs two more, which open and close the place where it meets again.
 * - A loop of one block that counts its rounds by a constant step, alike for the whole warp, is unrolled four times unless
 *   a pragma forbids it: a quarter of its steps, comparisons and jumps is left. (A count that is constant unrolls further,
 *   up to the whole loop; that is not followed.) */
#ifndef WG_EXEC_MACHINE_H
#define WG_EXEC_MACHINE_H
#include "exec/classes.h"
#include "model/registers.h"
#include "ptx/merge.h"

enum { WG_MACHINE_UNROLLED = 4, WG_MACHINE_UNROLLED_MOST = 32 };
enum { WG_MACHINE_GUARD_DIVERGENT = 8, WG_MACHINE_GUARD_UNIFORM = 6, WG_MACHINE_OWN = -1, WG_MACHINE_NO_BRANCH = -2 };

struct wg_machine {
    uint32_t *hundredths; /* per instruction: machine instructions, times 100 */
    int32_t *with;    /* per block: it runs whenever that block does, as guarded instructions; WG_MACHINE_OWN: it does not;
                         WG_MACHINE_NO_BRANCH: nor does it end in a branch any more, but in guards or a guarded exit */
};
/* told: what ptxas made of this very PTX; then that is counted, line by line, accesses apart: a block that it unrolled
 * keeps the estimate, what it moved out of a loop is not counted. NULL: the estimate.
 * sm: compute capability, 90 for 9.0. Everything lives in a. False: out of memory. */
bool wg_machine_estimate(const struct wg_function *f, const struct wg_cfg *g, const struct wg_classes *c,
                         const struct wg_merge *merge, const struct wg_ptxas_kernel *told, unsigned sm, struct wg_arena *a,
                         struct wg_machine *out);
#endif
