/* texture.h - texture and surface objects inside the engine: their table, what a fetch gives, where a texel lies. */
#ifndef WG_EXEC_TEXTURE_H
#define WG_EXEC_TEXTURE_H
#include <warpgrind/texture.h>

struct wg_texture_slot { struct wg_texture t; uint32_t generation; bool live, surface; };

/* Which geometry an instruction names. The layered ones begin with a layer. */
enum wg_geometry { WG_GEOMETRY_NONE, WG_GEOMETRY_1D, WG_GEOMETRY_2D, WG_GEOMETRY_3D, WG_GEOMETRY_CUBE, WG_GEOMETRY_A1D,
                   WG_GEOMETRY_A2D, WG_GEOMETRY_ACUBE };
enum wg_surface_clamp { WG_SURFACE_TRAP, WG_SURFACE_CLAMP, WG_SURFACE_ZERO };

struct wg_fetch {
    uint8_t geometry;   /* enum wg_geometry */
    bool integer;       /* coordinates are texel numbers in i */
    bool has_level, has_gradient, gather;
    uint8_t component;  /* of a gather */
    int32_t i[3];
    float c[3];
    uint32_t layer;
    float level, dx[3], dy[3];
    int32_t offset[3];  /* texels */
};
/* Four components: floats' bits where the texture reads as float, else integers extended to 32 bits. Filtered with weights
 * of 8 fraction bits. Returns the number of texels that were looked at. */
unsigned wg_texture_fetch(const struct wg_texture *t, const struct wg_fetch *f, uint32_t out[4]);
/* Does the image have this geometry? */
bool wg_texture_has(const struct wg_image *m, unsigned geometry);
/* Address of a texel of level 0 for an access of `bytes`, its x in bytes; 0: outside and the mode is ZERO, 1: outside and
 * it is TRAP. */
uint64_t wg_surface_at(const struct wg_image *m, unsigned geometry, const int32_t x[3], uint32_t layer, unsigned bytes,
                       unsigned clamp);
enum wg_texture_query { WG_QUERY_WIDTH, WG_QUERY_HEIGHT, WG_QUERY_DEPTH, WG_QUERY_DATA_TYPE, WG_QUERY_ORDER,
                        WG_QUERY_NORMALIZED, WG_QUERY_ARRAY_SIZE, WG_QUERY_LEVELS, WG_QUERY_SAMPLES, WG_QUERY_FILTER,
                        WG_QUERY_ADDRESS_0, WG_QUERY_ADDRESS_1, WG_QUERY_ADDRESS_2, WG_QUERY_FORCE_UNNORMALIZED,
                        WG_QUERY_LAYOUT, WG_QUERY_COUNT };
uint32_t wg_texture_query(const struct wg_texture *t, unsigned query, uint32_t level);
/* The live object of a handle, or of the reference whose cell has this address; NULL: none. */
const struct wg_texture *wg_texture_of(const struct wg *g, uint64_t handle, bool surface);

/* tex, tld4, suld, sust, sured, txq, suq: wg_inst.p. Slots are V slots; 0: absent. */
struct wg_texture_desc {
    uint16_t op;         /* enum wg_op */
    uint8_t geometry, clamp, query;
    bool integer, counted, raw, packed; /* raw: x counts bytes; packed: two f16 a register */
    bool has_level, has_gradient;
    uint8_t atom, type;  /* sured */
    uint8_t ncoords, component;
    uint32_t handle;     /* V64 */
    uint32_t coord[3], layer, level, dx[3], dy[3], offset[3]; /* V32 */
    uint8_t n, elem;     /* registers of data, bytes of one in memory */
    uint32_t data[4];
    uint8_t data_bytes[4]; /* of a lane of the register */
    uint32_t there;      /* predicate slot */
};
#endif
