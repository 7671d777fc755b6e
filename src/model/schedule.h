/* schedule.h - what is live at once when the operations of a function are put in the order that hides latency. */
#ifndef WG_MODEL_SCHEDULE_H
#define WG_MODEL_SCHEDULE_H
#include "model/lower.h"

struct wg_live { uint32_t most; }; /* 32-bit registers live at once at most, the stack pointer apart */
/* budget: registers the order may use before it prefers what frees some; 0: the order of the text. WG_NO_MEMORY, or
 * WG_UNSUPPORTED for a function too large to follow. */
enum wg_status wg_schedule(const struct wg_lowered *f, unsigned budget, struct wg_arena *a, struct wg_live *out);
#endif
