/* tensormap.c - the 128 bytes of a tensor map, and the rules of cuTensorMapEncodeTiled. */
#include <string.h>
#include <warpgrind/tensormap.h>

#define MAGIC 0x70616d726f736e74ull /* "tnsormap" */
struct packed {
    uint64_t magic, address;
    uint32_t dim[WG_TENSORMAP_DIMS];        /* less one */
    uint32_t stride[WG_TENSORMAP_DIMS - 1]; /* in 16 bytes: they are below 2^40, so that 36 bits are needed */
    uint8_t stride_high[WG_TENSORMAP_DIMS - 1];
    uint8_t box[WG_TENSORMAP_DIMS], step[WG_TENSORMAP_DIMS]; /* box: less one */
    uint8_t type, rank, swizzle, promotion;
    uint8_t zero[WG_TENSORMAP_BYTES - 16 - 20 - 16 - 4 - 10 - 4];
};
_Static_assert(sizeof(struct packed) == WG_TENSORMAP_BYTES, "as large as a CUtensorMap");

unsigned wg_tensormap_type_bytes(unsigned type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < sizeof bytes ? bytes[type] : 0;
}

/* The rule that t breaks, or NULL. */
static const char *broken(const struct wg_tensormap_tiled *t)
{
    unsigned bytes = wg_tensormap_type_bytes(t->type);
    if (!bytes)
        return "there is no such data type";
    if (t->rank < 1 || t->rank > WG_TENSORMAP_DIMS)
        return "a tensor map has 1 to 5 dimensions";
    if (!t->address || t->address & 15)
        return "the global address must be a multiple of 16";
    if (t->swizzle > WG_TENSORMAP_SWIZZLE_128)
        return "there is no such swizzle";
    for (unsigned k = 0; k < t->rank; k++) {
        if (t->dim[k] < 1 || t->dim[k] > 1ull << 32)
            return "a dimension has 1 to 2^32 elements";
        if (t->box[k] < 1 || t->box[k] > 256)
            return "a box has 1 to 256 elements a dimension";
        if (t->step[k] < 1 || t->step[k] > 8)
            return "an element stride is 1 to 8";
        if (k && (t->stride[k - 1] & 15 || t->stride[k - 1] >= 1ull << 40))
            return "a global stride is a multiple of 16 below 2^40";
    }
    if (t->box[0] * bytes % 16)
        return "the inner dimension of the box must be a multiple of 16 bytes";
    if (t->swizzle && t->box[0] * bytes > 16u << t->swizzle)
        return "the inner dimension of the box must not exceed the swizzle's width";
    return NULL;
}

enum wg_status wg_tensormap_encode_tiled(void *map, const struct wg_tensormap_tiled *t, const char **why)
{
    const char *what = broken(t), *lacks = NULL;
    if (!what && t->interleave)
        lacks = "interleaved tensor maps are not supported";
    if (!what && t->oob_nan)
        lacks = "tensor maps that read as NaN outside are not supported";
    if (why)
        *why = what ? what : lacks;
    if (what || lacks)
        return what ? WG_INVALID : WG_UNSUPPORTED;
    struct packed p = {.magic = MAGIC,
                       .address = t->address,
                       .type = (uint8_t)t->type,
                       .rank = (uint8_t)t->rank,
                       .swizzle = (uint8_t)t->swizzle,
                       .promotion = (uint8_t)t->promotion};
    for (unsigned k = 0; k < t->rank; k++) {
        p.dim[k] = (uint32_t)(t->dim[k] - 1);
        p.box[k] = (uint8_t)(t->box[k] - 1);
        p.step[k] = (uint8_t)t->step[k];
        if (k) {
            p.stride[k - 1] = (uint32_t)(t->stride[k - 1] >> 4);
            p.stride_high[k - 1] = (uint8_t)(t->stride[k - 1] >> 36);
        }
    }
    memcpy(map, &p, sizeof p);
    return WG_OK;
}

bool wg_tensormap_decode(const void *map, struct wg_tensormap_tiled *t)
{
    struct packed p;
    memcpy(&p, map, sizeof p);
    *t = (struct wg_tensormap_tiled){0};
    if (p.magic != MAGIC || p.rank < 1 || p.rank > WG_TENSORMAP_DIMS || !wg_tensormap_type_bytes(p.type) ||
        p.swizzle > WG_TENSORMAP_SWIZZLE_128)
        return false;
    t->type = p.type;
    t->rank = p.rank;
    t->address = p.address;
    t->swizzle = p.swizzle;
    t->promotion = p.promotion;
    for (unsigned k = 0; k < p.rank; k++) {
        t->dim[k] = p.dim[k] + 1ull;
        t->box[k] = p.box[k] + 1u;
        t->step[k] = p.step[k];
        if (k)
            t->stride[k - 1] = (uint64_t)p.stride[k - 1] << 4 | (uint64_t)p.stride_high[k - 1] << 36;
    }
    return true;
}
