/* classes.h - which registers are uniform (S), affine (A) or vectors (V) across a warp in fast code. */
#ifndef WG_EXEC_CLASSES_H
#define WG_EXEC_CLASSES_H
#include "exec/cfg.h"
#include "exec/warp.h"

struct wg_classes {
    uint8_t *cls;      /* per register: enum wg_class S, A or V (predicates: S or V) */
    uint8_t *merge;    /* per register: 1 if lanes that are off may still need its old value: write masked */
    uint8_t *diverges; /* per block: 1 if its last instruction can split a warp */
    uint32_t *uses;    /* per register: number of reads */
};
/* entry: parameters are uniform. affine_tid: the block's shape makes tid.x affine and tid.y, tid.z uniform. */
bool wg_classify(const struct wg_function *f, const struct wg_cfg *g, bool entry, bool affine_tid, struct wg_arena *a,
                 struct wg_classes *out);
enum wg_class wg_sreg_class(enum wg_sreg s, bool affine_tid);
/* Can this instruction keep an affine operand affine, judged by operation and types alone? */
bool wg_affine_op(const struct wg_instr *in);
#endif
