/* units.h - values as Nsight Compute prints them: in base units, or scaled so that they read easily. */
#ifndef WG_REPORT_UNITS_H
#define WG_REPORT_UNITS_H
#include <stdbool.h>
#include <stddef.h>

/* The factor and the name for showing values up to `most` of a unit: bytes by powers of 1000 ("Kbyte", "Mbyte/block"),
 * ns as "us", "ms", "s", hz as "Khz" to "Ghz". base, or a unit that has no other size: 1 and the unit itself. */
struct wg_unit {
    double factor;
    char name[32];
};
struct wg_unit wg_unit_for(const char *unit, double most, bool base);
/* Whole numbers as such, others with two decimals; `grouped`: thousands are separated. */
enum { WG_VALUE_TEXT_BYTES = 64 };
const char *wg_value_text(char buf[WG_VALUE_TEXT_BYTES], double v, bool grouped);
#endif
