/* decode.h - from a parsed kernel to decoded code for one block shape. */
#ifndef WG_EXEC_DECODE_H
#define WG_EXEC_DECODE_H
#include "exec/warp.h"
#include "model/registers.h"

struct wg_decode_options {
    bool affine_tid; /* block x is a multiple of 32, or the block is flat */
    bool counters;
    bool as_written;
    const struct wg_ptxas_info *ptxas; /* what it made of this PTX, or NULL */
    unsigned sm; /* compute capability that ptxas is modelled for: 90 */
    bool traced;   /* record accesses, barriers and work for the models of caches and time */
    bool observed; /* announce synchronisation to the observer */
    bool accesses; /* and accesses, */
    bool rows;     /* those too that stay within ranges which are known to be right */
};
/* Decodes an entry and all it can reach. symbol gives device addresses of .global and .const variables. On failure *out
 * is NULL (NO_MEMORY, or what a missing definition is). Free with wg_kernel_code_free. */
enum wg_status wg_decode_kernel(const struct wg_ptx_module *m, const struct wg_function *entry,
                                const struct wg_decode_options *o,
                                uint64_t (*symbol)(void *ctx, const struct wg_symbol *s), void *ctx,
                                struct wg_kernel_code **out, struct wg_diag *d);
void wg_kernel_code_free(struct wg_kernel_code *k);
#endif
