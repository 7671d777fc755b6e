/* texture.h - texture and surface objects of a device: what tex, tld4, txq, suld, sust, sured and suq read through a
 * 64-bit handle. The caller owns the memory of the texels (device memory, laid out as struct wg_image says); the object
 * is a copy of the description. */
#ifndef WARPGRIND_TEXTURE_H
#define WARPGRIND_TEXTURE_H
#include <warpgrind/warpgrind.h>
#ifdef __cplusplus
extern "C" {
#endif

enum wg_texel_kind { WG_TEXEL_UNSIGNED, WG_TEXEL_SIGNED, WG_TEXEL_FLOAT };
enum wg_image_shape {
    WG_IMAGE_LINEAR, /* tex1Dfetch's memory: width texels at address, no filter; reads outside give zero */
    WG_IMAGE_1D, WG_IMAGE_2D, WG_IMAGE_3D,
    WG_IMAGE_CUBE,   /* 6 faces a cube, in the order +x -x +y -y +z -z */
};
enum { WG_IMAGE_LEVELS = 16 }; /* of a mipmap: 32768 texels down to 1 */

/* Texel (x, y, z) of layer or face k of a level lies at address + k * layer_bytes + z * slice_bytes + y * row_bytes +
 * x * (channels * bits / 8). Rows need no alignment here. */
struct wg_image_level {
    uint64_t address;
    uint32_t width, height, depth;  /* texels; 1 where the shape has no such dimension */
    uint64_t row_bytes, slice_bytes, layer_bytes;
};
struct wg_image {
    uint8_t shape;    /* enum wg_image_shape */
    uint8_t kind;     /* enum wg_texel_kind */
    uint8_t channels; /* 1, 2 or 4 */
    uint8_t bits;     /* of one channel: 8, 16 or 32; floats have 16 or 32 */
    bool layered;     /* a1d, a2d, acube */
    uint32_t layers;  /* layers, or faces: 6 a cube; 1 otherwise */
    uint32_t nlevels; /* 1 without a mipmap */
    struct wg_image_level level[WG_IMAGE_LEVELS];
};

/* Modes with the numbers of the runtime API's enums. */
enum wg_address_mode { WG_ADDRESS_WRAP, WG_ADDRESS_CLAMP, WG_ADDRESS_MIRROR, WG_ADDRESS_BORDER };
enum wg_filter_mode { WG_FILTER_POINT, WG_FILTER_LINEAR };
struct wg_texture {
    struct wg_image image;
    uint8_t address[3];     /* enum wg_address_mode of x, y, z; wrap and mirror act as clamp unless normalized */
    uint8_t filter, mip_filter; /* enum wg_filter_mode; linear needs float results */
    bool normalized;        /* coordinates run from 0 to 1 */
    bool normalized_float;  /* 8- and 16-bit integers read as 0..1 or -1..1 */
    bool srgb;              /* 8-bit unsigned channels 0 to 2 are sRGB; with normalized_float only */
    bool seamless;          /* filtering crosses the edges of a cube */
    float border[4];        /* of WG_ADDRESS_BORDER: floats, or the bits of 32-bit integers */
    float mip_bias, mip_min, mip_max; /* level clamp, in levels */
    unsigned anisotropy;    /* 0 and 1: none; more is sampled as one */
};

/* Make or drop an object; *handle is never 0. NO_MEMORY, or INVALID with a message that says what does not fit. */
enum wg_status wg_texture_create(struct wg *g, const struct wg_texture *t, uint64_t *handle);
enum wg_status wg_surface_create(struct wg *g, const struct wg_image *image, uint64_t *handle);
enum wg_status wg_texture_destroy(struct wg *g, uint64_t handle); /* either; INVALID: no live object */
/* The description of a live object, or NULL. A surface's has only its image. Valid until the next create or destroy. */
const struct wg_texture *wg_texture_get(const struct wg *g, uint64_t handle);
/* Bind an object to a module's texture or surface reference (.texref, .surfref); handle 0 unbinds. NOT_FOUND: there is no
 * such reference. */
enum wg_status wg_module_bind(struct wg_module *m, const char *name, uint64_t handle);

#ifdef __cplusplus
}
#endif
#endif
