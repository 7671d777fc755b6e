/* tensormap.h - tensor maps: the 128 bytes that cp.async.bulk.tensor is given (CUtensorMap). Their contents are ours: a
 * map means something only to the engine that made it, as an opaque map does to one driver. */
#ifndef WARPGRIND_TENSORMAP_H
#define WARPGRIND_TENSORMAP_H
#include <warpgrind/warpgrind.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { WG_TENSORMAP_BYTES = 128, WG_TENSORMAP_DIMS = 5 };
/* The numbers of the driver API's CUtensorMapDataType, Interleave, Swizzle and FloatOOBfill. */
enum wg_tensormap_type {
    WG_TENSORMAP_U8, WG_TENSORMAP_U16, WG_TENSORMAP_U32, WG_TENSORMAP_S32, WG_TENSORMAP_U64, WG_TENSORMAP_S64,
    WG_TENSORMAP_F16, WG_TENSORMAP_F32, WG_TENSORMAP_F64, WG_TENSORMAP_BF16, WG_TENSORMAP_F32_FTZ,
    WG_TENSORMAP_TF32, WG_TENSORMAP_TF32_FTZ,
};
enum wg_tensormap_swizzle {
    WG_TENSORMAP_PLAIN, WG_TENSORMAP_SWIZZLE_32, WG_TENSORMAP_SWIZZLE_64, WG_TENSORMAP_SWIZZLE_128
};
/* Arguments of cuTensorMapEncodeTiled, in its order; dimension 0 is the innermost. */
struct wg_tensormap_tiled {
    unsigned type;              /* enum wg_tensormap_type */
    unsigned rank;              /* 1 to 5 */
    uint64_t address;           /* of global memory; a multiple of 16 */
    uint64_t dim[WG_TENSORMAP_DIMS];        /* elements, 1 to 2^32 */
    uint64_t stride[WG_TENSORMAP_DIMS - 1]; /* bytes from one to the next in dimensions 1..rank-1; multiples of 16 */
    uint32_t box[WG_TENSORMAP_DIMS];        /* elements, 1 to 256 */
    uint32_t step[WG_TENSORMAP_DIMS];       /* elements from one taken to the next, 1 to 8 */
    unsigned interleave;        /* 0; others are refused */
    unsigned swizzle;           /* enum wg_tensormap_swizzle */
    unsigned promotion;         /* of L2: a hint, kept and not used */
    unsigned oob_nan;           /* 1: floats outside read as NaN; 0: zero */
};
/* Fill map[128] (64-byte aligned in the program's view). INVALID or UNSUPPORTED: *why, which may be NULL, says which
 * rule of the API is broken; map is left alone. */
enum wg_status wg_tensormap_encode_tiled(void *map, const struct wg_tensormap_tiled *t, const char **why);
/* What a map was made of; false: these bytes are no map. */
bool wg_tensormap_decode(const void *map, struct wg_tensormap_tiled *out);
unsigned wg_tensormap_type_bytes(unsigned type); /* of one element; 0: no such type */

#ifdef __cplusplus
}
#endif
#endif
