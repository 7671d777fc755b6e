/* image.h - code that the program registered: images, their kernels and variables, loaded when first used. */
#ifndef WG_SHIM_IMAGE_H
#define WG_SHIM_IMAGE_H
#include "shim/state.h"

struct wg_binary {
    struct wg_binary *next;
    const void *data; /* what the wrapper points to: a fat-binary container or PTX text */
    const void *const *prelinked;
    struct wg_module *module; /* NULL until first used */
    enum cudaError failed;    /* why it cannot be loaded; then not tried again */
    bool by_hand;             /* a module of the driver API or a library: gone when the device is reset */
};
/* Load now; data may go afterwards only if the image is by_hand. */
enum cudaError wg_image_load(struct wg_shim *s, struct wg_binary *im);
void wg_image_drop(struct wg_shim *s, struct wg_binary *im); /* with its names and its module */
/* Another kernel of the image. host: its handle; NULL: its own address. NULL when there is no memory. */
struct wg_func *wg_image_add_func(struct wg_shim *s, struct wg_binary *im, const void *host, const char *name);

/* The kernel or variable registered for this address of the program, its image loaded. cudaErrorInvalidDeviceFunction
 * or cudaErrorInvalidSymbol when there is none; else what loading gave. Lock held, context open. */
enum cudaError wg_image_func(struct wg_shim *s, const void *host, struct wg_func **out);
enum cudaError wg_image_var(struct wg_shim *s, const void *host, struct wg_var **out, uint64_t *addr, size_t *bytes);
/* The texture reference that the program registered under host, its module loaded; cudaErrorInvalidSymbol: none. */
enum cudaError wg_image_reference(struct wg_shim *s, const void *host, struct wg_var **out);
/* Bytes of dynamic shared memory that a launch of f may ask for: what the program set, else what is left of 48 KiB. */
size_t wg_func_dynamic_limit(const struct wg_shim *s, const struct wg_func *f);
void wg_image_unload_all(struct wg_shim *s);

/* The PTX of one image, malloc'd. Says on stderr what to change when there is none to be had. */
enum cudaError wg_image_ptx(struct wg_shim *s, const struct wg_binary *im, char **text, size_t *n);
#endif
