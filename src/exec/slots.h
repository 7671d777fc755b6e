/* slots.h - which vector registers of a function may live in one slot of a warp's frame. */
#ifndef WG_EXEC_SLOTS_H
#define WG_EXEC_SLOTS_H
#include "base/arena.h"
#include "exec/classes.h"

/* like[r], for each of f's registers, becomes the register whose slot r takes: r itself, or one of the same width with a
 * lower first use that is never live at the same time. Scratch comes from a. false: out of memory. */
bool wg_share_slots(const struct wg_function *f, const struct wg_cfg *g, const struct wg_classes *c, struct wg_arena *a,
                    uint32_t *like);
#endif
