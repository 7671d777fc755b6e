/* bulk.h - what bulk copies, tensor copies and asynchronous stores are decoded to. */
#ifndef WG_EXEC_BULK_H
#define WG_EXEC_BULK_H
#include "exec/async.h"

/* wg_inst.p. Slots are V slots; 0: absent. */
struct wg_bulk_desc {
    struct wg_lane_addr to, from, bar; /* a tensor copy: one of to and from is the map's address, in global memory */
    uint32_t size;                     /* V32: bytes */
    uint32_t mask;                     /* V32: blocks of a multicast */
    uint32_t value[4];                 /* st.async, red.async: what is stored */
    uint32_t coord[5];                 /* V32 */
    uint8_t rank;                      /* of a tensor copy; 0: another */
    uint8_t atom, type;                /* of a reduction: enum wg_atom, enum wg_type */
    uint8_t nvalues, value_bytes;
    bool has_bar, to_shared, from_shared, counted;
};
#ifdef WG_ISA_SUFFIX
#define wg_bulk_reduce WG_ISA_NAME(wg_bulk_reduce)
/* n bytes of elements of the type at `from` go to `to` by the operation. others: other workers may be there too. */
void wg_bulk_reduce(char *to, const char *from, uint32_t n, unsigned op, unsigned type, bool global, bool others);
#endif
#endif
