/* check.h - opens the checks as an observer of the engine. */
#ifndef WG_CHECK_CHECK_H
#define WG_CHECK_CHECK_H
#include <warpgrind/observer.h>

struct wg_check;
/* tools: bits of enum wg_tool. stored: digest what sites store. Device addresses lie in [lo, end). Fills *o. NULL: out of memory. */
struct wg_check *wg_check_open(unsigned tools, bool stored, uint64_t lo, uint64_t end, struct wg_observer *o);
struct wg_shadow wg_check_shadow(const struct wg_check *c);
void wg_check_close(struct wg_check *c); /* NULL is fine */
#endif
