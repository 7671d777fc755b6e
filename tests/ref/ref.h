/* ref.h - independent truth for PTX arithmetic: legal instruction variants, operand values, kernels that run them, and
 * a scalar evaluator written from the PTX ISA text. Nothing here includes engine code; only the isa tables are shared.
 */
#ifndef REF_REF_H
#define REF_REF_H
#include "isa/isa.h"
#include <stdio.h>

enum { REF_MAX = 8, REF_SETS = 64, REF_WARP = 32 };

/* ---- variants (variant.c): what legal.def expands to ----------------------------------------------------------- */
struct ref_variant {
    enum wg_op op;
    char mnemonic[64]; /* "add.rn.ftz.f32" */
    char
        operands[112]; /* ">f32, <f32, <f32" with every alternative chosen; mnemonic + operands is the variant's name */
    uint8_t ndst,
        nsrc; /* ndst counts the new content of a memory cell and the carry-out, in that order after the rest */
    uint8_t dst[REF_MAX], src[REF_MAX]; /* enum wg_type of each */
    char hint[REF_MAX][8];              /* pool of each source, "" for the type's own */
    bool memory, carry_out, carry_in;   /* carry_in: the last source (PRED) becomes CC.CF before the instruction */
    int mem_src;                        /* which source fills the cell, -1: none */
};
/* All variants in table order; freed with free(). */
struct ref_variant *ref_variants(size_t *n);
/* Bytes of a destination as stored: predicates 1. */
unsigned ref_dst_bytes(const struct ref_variant *v, unsigned i);
unsigned ref_width(enum wg_type t); /* bits of the register that holds it: PRED 1, 8-bit types 32 */

/* ---- operand values (pool.c) ----------------------------------------------------------------------------------- */
/* Bits for source number pos of an instruction, in set number i. Sets below REF_SETS are edge cases chosen to meet each
 * other (NaN with infinity, ties, ...) and never change without new hardware vectors; later ones are pseudo-random. */
uint64_t ref_pool(enum wg_type t, const char *hint, unsigned pos, unsigned i);

/* ---- kernels (kernel.c) ---------------------------------------------------------------------------------------- */
enum ref_style { REF_VECTOR, REF_UNIFORM, REF_AFFINE, REF_IMMEDIATE, REF_ALIAS };
enum ref_mask { REF_ALL, REF_GUARD, REF_GUARD_NOT, REF_BRANCH };
/* PTX text of a module with one entry "k" of parameters (u64 in, u64 out, u64 cells, u32 stride, u32 mask, u64 s0..s7,
 * u64 t0..t7). Thread i reads source k at in[k*stride+i] (8-byte containers) and writes destination k to
 * out[k*stride+i]; where it is masked off, destinations keep ref_untouched(). The sources in the bit set `which` come
 * instead from s<k> in UNIFORM, from s<k> + t<k> * i in AFFINE, from imm[k] in the text in IMMEDIATE; in ALIAS the one
 * source shares the first destination's register, which then keeps the source where it is masked off.
 * Lane l takes part when bit l of mask is set. malloc'd. */
char *ref_kernel(const struct ref_variant *v, enum ref_style style, unsigned which, enum ref_mask mask,
                 const uint64_t *imm);
/* May that source be written that way at all? */
bool ref_style_applies(const struct ref_variant *v, enum ref_style style, unsigned src);
uint64_t ref_untouched(enum wg_type t);

/* ---- evaluation (eval.c) --------------------------------------------------------------------------------------- */
/* A mnemonic taken apart by its text alone, so that the evaluator shares no decoding with the engine. */
struct ref_inst {
    enum wg_op op;
    uint8_t ntypes, type[4];
    uint8_t nmods;
    char mod[10][20];     /* everything between the operation and after, types left out, in order */
    char sel[REF_MAX][8]; /* video: selector of operand i (0 is the destination), "" none; '-' in neg */
    bool neg[REF_MAX];
    uint64_t cf; /* carry-in */
};
enum ref_kind {
    REF_EXACT,     /* dst are the only right bits */
    REF_APPROX,    /* dst are the correctly rounded value; ref_accept knows the documented bound */
    REF_UNDEFINED, /* PTX leaves the result open for these operands */
    REF_UNKNOWN,   /* this evaluator does not know the instruction */
};
bool ref_decode(const char *mnemonic, const char *operands, struct ref_inst *out);
bool ref_has(const struct ref_inst *i, const char *mod);
/* src: sources in textual order, immediates included, in 64-bit containers (a predicate is 0 or 1; a negated one is
 * already negated). dst: in textual order; then the carry-out where .cc is given. */
enum ref_kind ref_eval(const struct ref_inst *in, const uint64_t *src, uint64_t *dst);
/* Does got satisfy what PTX promises for these operands? For EXACT: equal bits. strict: also where hardware was seen to
 * choose among several NaN operands of a double operation; else any of their payloads will do. */
bool ref_accept(const struct ref_inst *in, const uint64_t *src, unsigned ndst, const uint64_t *want,
                const uint64_t *got, enum ref_kind kind, bool strict);
/* Cross-lane operations: src[lane], dst[lane]; lanes outside active are left alone. */
enum ref_kind ref_warp(const struct ref_inst *in, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                       uint64_t dst[REF_WARP][REF_MAX]);
/* New content of a cell. op: "add", "cas", ...; b, c as in PTX. shared: in shared memory, where f32 keeps subnormals.
 */
enum ref_kind ref_atom(const char *op, enum wg_type t, bool shared, uint64_t old, uint64_t b, uint64_t c,
                       uint64_t *now);
/* Runs a variant on one set of sources as its kernel does: dst in the variant's order. Not for cross-lane rows. */
enum ref_kind ref_run(const struct ref_variant *v, const uint64_t *src, uint64_t *dst);
/* The same for a whole warp, cross-lane rows included. */
enum ref_kind ref_run_warp(const struct ref_variant *v, uint32_t active, const uint64_t src[REF_WARP][REF_MAX],
                           uint64_t dst[REF_WARP][REF_MAX], enum ref_kind kind[REF_WARP]);
#endif
