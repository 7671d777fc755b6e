/* exec.h - the decoded form of a kernel and the state of a running warp: what every handler sees.
 *
 * A kernel is decoded twice over the same PTX. `fast` code splits registers by class: uniform ones (S: one scalar for the
 * warp), affine ones (A: base + stride * lane) and vectors (V), relies on immediate post-dominator reconvergence, and
 * leaves lanes that are off with garbage where nothing can read it. `wide` code keeps every register a vector and every
 * write masked, so it is right under any interleaving of diverged lanes. A warp starts in fast code and moves to wide
 * code (wg_deopt) when an assumption breaks: an affine value wraps, or diverged lanes must wait for each other.
 *
 * Register file R of one frame: byte offsets in struct wg_inst point into it. V slots are 64-byte aligned arrays of 32
 * lanes: 2 bytes a lane for 8- and 16-bit registers, 4 for 32, 8 for 64. S slots are 8 bytes, value zero-extended.
 * A slots are two int64: base, stride. A predicate is one uint32_t mask whatever its class. Immediates are S slots that
 * frame set-up fills; slot 0 is the constant predicate with all lanes set. */
#ifndef WG_EXEC_EXEC_H
#define WG_EXEC_EXEC_H
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include "ptx/module.h"
#include <warpgrind/profile.h>

#define WG_LANES 32
#define WG_SLOT_TRUE 0u /* offset of the all-ones predicate */

struct wg_warp;
struct wg_inst;
/* Executes i on w and continues: either by a tail call of the next handler or by returning the next instruction to the
 * driver loop (both mix freely). NULL gives the warp back to the block scheduler; w->pc and w->state say why. */
typedef const struct wg_inst *(*wg_handler)(struct wg_warp *w, const struct wg_inst *i, char *R);

struct wg_inst { /* one host cache line */
    wg_handler fn;
    uint32_t d;            /* destination */
    uint32_t a, b, c, f;   /* first to fourth source */
    uint32_t e;            /* second destination (d|p), or the carry predicate of .cc, addc, subc, madc; of loads: whether
                            * one instruction alone reads what is loaded */
    union {
        int64_t imm;
        const void *p;
    };
    uint32_t pred, predx;  /* guard: lanes on = w->mask & (P(pred) ^ predx); pred is WG_SLOT_TRUE when unguarded */
    uint32_t target;       /* index of an instruction in the same code */
    uint32_t site;         /* index of the PTX instruction in its kernel's site list */
    uint8_t bytes;         /* of one lane's access or value */
    uint8_t n;             /* elements of a vector access */
    uint8_t k1, k2;        /* small per-handler facts */
    uint32_t g;            /* fifth source: the boolean operand of setp, set, lop3 */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct wg_inst) == 64, "one cache line");

/* Continue with instruction i_: light handlers chain by tail call, heavy ones (whose locals' addresses escape) return. */
#if defined(__clang__) && defined(WG_TAIL_CALLS)
#define WG_GOTO(i_)                                                                                                    \
    do {                                                                                                               \
        const struct wg_inst *n_ = (i_);                                                                               \
        __attribute__((musttail)) return n_->fn(w, n_, R);                                                             \
    } while (0)
#elif defined(WG_TAIL_CALLS)
#define WG_GOTO(i_)                                                                                                    \
    do {                                                                                                               \
        const struct wg_inst *n_ = (i_);                                                                               \
        return n_->fn(w, n_, R);                                                                                       \
    } while (0)
#else
#define WG_GOTO(i_) return (i_)
#endif
#define WG_NEXT WG_GOTO(i + 1)
#define WG_UNUSED __attribute__((unused))
#define WG_HANDLER(name)                                                                                               \
    static const struct wg_inst *name(struct wg_warp *w WG_UNUSED, const struct wg_inst *i WG_UNUSED, char *R WG_UNUSED)

/* Typed views of a slot. */
#define WG_AS(type, off) ((type *)__builtin_assume_aligned(R + (off), sizeof(type) < 8 ? sizeof(type) : 8))
#define WG_VEC(type, off) ((type *)__builtin_assume_aligned(R + (off), 64))
#define WG_P(off) (*(uint32_t *)(R + (off)))
/* Lanes in which a guarded or masked instruction acts. */
#define WG_ON (w->mask & (WG_P(i->pred) ^ i->predx))
/* Where handlers that give one truth to a warp write their predicate: i->g set means the register is uniform, so that
 * lanes that are off get it too. */
#define WG_ON_P ((i->g ? ~0u : w->mask) & (WG_P(i->pred) ^ i->predx))

enum wg_warp_state { WG_WARP_READY, WG_WARP_BARRIER, WG_WARP_YIELD, WG_WARP_DONE, WG_WARP_FAULT };

/* What wg_alu_select is asked for. A source that is an immediate counts as scalar. Predicate operands (setp's result and
 * boolean operand, selp's condition) are masks in either class and carry no bit. */
struct wg_alu_form {
    bool dst_scalar;     /* result is an S slot (or a predicate written as 0 or ~0): then all sources are scalar */
    uint8_t src_scalar;  /* bit k: k-th source operand (a, b, c, f) is an S slot */
    bool masked;         /* write only lanes WG_ON (a scalar: only if WG_ON is non-zero); else write all 32 lanes */
};
/* Handler for an instruction of group ALU, CVT, VIDEO (and selp, set, setp, slct, mov of equal width), or NULL when this
 * form (retry with fewer scalar sources) or the whole operation (all-vector form NULL too) is not supported. Every
 * supported operation has its all-scalar and its all-vector form, masked and not. Containers are natural: 8- and 16-bit
 * types in 2-byte lanes, f16x2/bf16x2/tf32 in 4-byte lanes. Fills i->imm and i->k1/k2 where the handler wants constants
 * taken from the modifiers; never touches operand offsets. */
wg_handler wg_alu_select(const struct wg_instr *in, struct wg_alu_form form, struct wg_inst *i);

#endif
