/* libdevice_ref.h - what each __nv_* function should return, from MPFR or exact integer arithmetic. */
#ifndef LIBDEVICE_REF_H
#define LIBDEVICE_REF_H
#include <stdbool.h>
#include <stdint.h>
#include <mpfr.h> /* after stdint.h, for its functions on intmax_t */

enum { OUTS = 3 }; /* the result and up to two values stored through pointers */

/* Operands as bit patterns (low bits), as in the argument words. */
struct operands {
    uint64_t bits[4];
};

enum expect_kind {
    EXPECT_NONE,    /* nothing promised: any value */
    EXPECT_BITS,    /* exactly these bits */
    EXPECT_VALUE,   /* near v, within the row's bound; exactly v rounded when that is 0 */
    EXPECT_INVERSE, /* x with f(x) = v, f monotone */
};

/* Letters as in struct wg_libdevice.sig; the type of the expected value. */
struct expect {
    enum expect_kind kind;
    char type;
    uint64_t bits;
    mpfr_t v;
    mpfr_rnd_t round;                      /* for bounds of 0 */
    void (*f)(mpfr_t out, const mpfr_t x); /* EXPECT_INVERSE */
    bool rising;
};

/* The function called name (without "__nv_") with this signature, applied to x; fills out[0] with the result, out[1]
 * and out[2] with the values stored. `cells` are the bytes that pointer operands address, as 32 doubles or floats, or a
 * string. False: no reference knows this name. The caller initialises each v. */
bool libdevice_reference(const char *name, const char *sig, const struct operands *x, const void *cells,
                         struct expect out[OUTS]);
#endif
