/* lower.h - a PTX function as the operations and values that ptxas would give registers to: the input of schedule.h. */
#ifndef WG_MODEL_LOWER_H
#define WG_MODEL_LOWER_H
#include "ptx/module.h"

enum wg_lower_memory { WG_LOWER_NO_MEMORY, WG_LOWER_LOAD, WG_LOWER_LOAD_CONSTANT, WG_LOWER_STORE, WG_LOWER_FENCE };
enum { WG_LOWER_GLOBAL = 1, WG_LOWER_SHARED = 2, WG_LOWER_LOCAL = 4, WG_LOWER_ANYWHERE = 7 };

struct wg_lower_op {
    uint32_t instr;                /* of the PTX; UINT32_MAX: an operand fetched for the next ones */
    uint32_t read, nreads;         /* into reads: values, each once */
    uint32_t write, nwrites;       /* into writes */
    uint16_t latency;              /* cycles until its result can be used */
    uint8_t temps;                 /* registers it takes for itself while it runs */
    uint8_t memory, where;         /* enum wg_lower_memory; WG_LOWER_GLOBAL and so on */
    uint8_t bytes;                 /* of an access at base + offset; base -1: not known */
    int32_t base;
    int64_t offset;
    bool guarded, call, last;      /* last: it ends its block */
};
struct wg_lower_block { uint32_t op, nops, more, nmore; };

/* Values are the registers of the function, 0 .. nregs, and those fetched from the constant bank within a block. */
struct wg_lowered {
    uint32_t nvalues, nregs, nops, nblocks;
    uint8_t *weight;               /* 32-bit registers a value takes; 0: none */
    struct wg_lower_op *ops;
    uint32_t *reads, *writes, *targets;
    struct wg_lower_block *blocks; /* in the order of the text; successors: targets[more ..], nblocks being the end */
    bool calls_abi;                /* calls a function by the usual convention */
};
/* What is folded into other operations, made again for nothing, or kept in uniform registers (sm 75 on) takes no register:
 * its readers read what it is made of. sm: 90 for 9.0. Everything lives in a. WG_NO_MEMORY; WG_UNSUPPORTED: too large. */
enum wg_status wg_lower(const struct wg_function *f, unsigned sm, struct wg_arena *a, struct wg_lowered *out);
#endif
