/* libdevice_table.h - what the files that expand libdevice.def share: the directed-rounding functions and the tables.
 */
#ifndef WG_EXEC_LIBDEVICE_TABLE_H
#define WG_EXEC_LIBDEVICE_TABLE_H
#include "exec/libdevice.h"

/* each ends with a row whose name is NULL */
extern const struct wg_libdevice wg_libdevice_portable[];
extern const struct wg_libdevice wg_libdevice_v3[];

/* the rows WG_NVR, in libdevice_round.c */
#define WG_NVR_DECLARE_(name)                                                                                          \
    void wg_libdevice_nvr_##name(const struct wg_libdevice_ctx *ctx, uint32_t mask, uint32_t *ret,                     \
                                 const uint32_t *const *arg);
#define WG_NVV1(...)
#define WG_NVV2(...)
#define WG_NVV3(...)
#define WG_NVS1(...)
#define WG_NVS2(...)
#define WG_NV1(...)
#define WG_NV2(...)
#define WG_NV3(...)
#define WG_NV4(...)
#define WG_NVR1(name, ...) WG_NVR_DECLARE_(name)
#define WG_NVR2(name, ...) WG_NVR_DECLARE_(name)
#define WG_NVR3(name, ...) WG_NVR_DECLARE_(name)
#define WG_NVP1(...)
#define WG_NVP2(...)
#define WG_NVP3(...)
#include "exec/libdevice.def"
#include "exec/libdevice_undef.h"
#endif
