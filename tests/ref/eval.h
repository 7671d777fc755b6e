/* eval.h - what the parts of the evaluator share: formats, exact numbers, one function per family of operations. */
#ifndef REF_EVAL_H
#define REF_EVAL_H
#include "ref.h"
#include <mpfr.h>

typedef __int128 wide;

/* A binary floating-point format: stored bits, mantissa bits, exponent bits, the NaN that operations produce. */
struct fmt {
    unsigned bits, man, exp;
    uint64_t nan;
};
extern const struct fmt fmt_f16, fmt_bf16, fmt_f32, fmt_f64, fmt_tf32;
const struct fmt *ref_fmt(enum wg_type t); /* of the element of a packed type; NULL: no float */

static inline uint64_t mask_bits(unsigned n)
{
    return n >= 64 ? ~0ull : (1ull << n) - 1;
}
static inline int64_t sext(uint64_t v, unsigned n)
{
    uint64_t s = 1ull << (n - 1);
    return (int64_t)(((v & mask_bits(n)) ^ s) - s);
}
static inline bool type_signed(enum wg_type t)
{
    return wg_type_infos[t].kind == 'S';
}
/* The number an integer operand stands for. */
static inline wide int_value(enum wg_type t, uint64_t v)
{
    unsigned n = wg_type_bytes(t) * 8;
    return type_signed(t) ? (wide)sext(v, n) : (wide)(v & mask_bits(n));
}

bool num_isnan(const struct fmt *f, uint64_t v);
bool num_isinf(const struct fmt *f, uint64_t v);
bool num_issub(const struct fmt *f, uint64_t v);
static inline bool num_sign(const struct fmt *f, uint64_t v)
{
    return v >> (f->bits - 1) & 1;
}
uint64_t num_inf(const struct fmt *f, bool neg);
uint64_t num_max(const struct fmt *f, bool neg);
uint64_t num_zero(const struct fmt *f, bool neg);
uint64_t num_flush(const struct fmt *f, uint64_t v);       /* subnormal to zero of its sign */
void num_get(mpfr_t out, const struct fmt *f, uint64_t v); /* exact; out gets a precision that holds it */
/* Round a value known with ternary t (as MPFR defines it) and at least man+1 bits. rnd 'n', 'z', 'm' (down), 'p' (up).
 */
uint64_t num_round(const struct fmt *f, mpfr_t x, int t, char rnd);
/* The same where results that would be subnormal become zero: what is tiny after rounding to any exponent goes. */
uint64_t num_round_ftz(const struct fmt *f, mpfr_t x, int t, char rnd, bool ftz);
/* What becomes of a NaN operand: double keeps its payload and sets the quiet bit, the others give one NaN for all. */
uint64_t num_quiet(const struct fmt *f, uint64_t nan);
mpfr_rnd_t num_mode(char rnd);
char num_rounding(const struct ref_inst *in, char otherwise); /* from .rn .rz .rm .rp and their .r?i forms */

enum ref_kind eval_int(const struct ref_inst *in, const uint64_t *src, uint64_t *dst);
enum ref_kind eval_float(const struct ref_inst *in, const uint64_t *src, uint64_t *dst);
enum ref_kind eval_compare(const struct ref_inst *in, const uint64_t *src, uint64_t *dst); /* set, setp, slct */
enum ref_kind eval_cvt(const struct ref_inst *in, const uint64_t *src, uint64_t *dst);
enum ref_kind eval_video(const struct ref_inst *in, const uint64_t *src, uint64_t *dst);
/* a + b as atomics add: round to nearest even, subnormals flushed if ftz. */
uint64_t num_add(const struct fmt *f, uint64_t a, uint64_t b, bool ftz);
/* Is got within what PTX documents for an approximate instruction? */
bool approx_accept(const struct ref_inst *in, const uint64_t *src, uint64_t want, uint64_t got);
#endif
