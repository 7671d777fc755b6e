/* props.h - the three layouts of cudaDeviceProp, from props.def. */
#ifndef WG_SHIM_PROPS_H
#define WG_SHIM_PROPS_H
#include <stddef.h>

#define WG_PROP(type, field, attr)           type field;
#define WG_PROP2(type, field, a, b)          type field[2];
#define WG_PROP3(type, field, a, b, c)       type field[3];
#define WG_PROP_RAW(type, field, dims, code) type field dims;
#define WG_PROP_IDENTITY                                                                                               \
    char name[256];                                                                                                    \
    unsigned char uuid[16];                                                                                            \
    char luid[8];                                                                                                      \
    unsigned luidDeviceNodeMask;

struct wg_props_old {
    WG_PROP_IDENTITY
#define WG_IN_OLD(x) x
#define WG_IN_TAIL(x)
#define WG_IN_NEW(x)
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
};

struct wg_props_v2 {
    WG_PROP_IDENTITY
#define WG_IN_OLD(x) x
#define WG_IN_TAIL(x) x
#define WG_IN_NEW(x)
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
    int reserved[63];
};

struct wg_props_13 {
    WG_PROP_IDENTITY
#define WG_IN_OLD(x)
#define WG_IN_TAIL(x) x
#define WG_IN_NEW(x) x
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
    int reserved[56];
};
#undef WG_PROP
#undef WG_PROP2
#undef WG_PROP3
#undef WG_PROP_RAW
#undef WG_PROP_IDENTITY
#endif
