/* units.c - scales values to readable units and writes them. */
#include "report/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct wg_unit scaled(const char *unit, const char *const *names, unsigned n, double most, const char *rest)
{
    struct wg_unit u = {1, ""};
    unsigned k = 0;
    while (k + 1 < n && most >= 1000) {
        most /= 1000;
        u.factor *= 1000;
        k++;
    }
    snprintf(u.name, sizeof u.name, "%s%s", k ? names[k] : unit, k ? rest : "");
    return u;
}

struct wg_unit wg_unit_for(const char *unit, double most, bool base)
{
    static const char *const bytes[] = {"", "Kbyte", "Mbyte", "Gbyte", "Tbyte"}, *const times[] = {"", "us", "ms", "s"},
                             *const clocks[] = {"", "Khz", "Mhz", "Ghz"};
    most = fabs(most);
    if (!base && strncmp(unit, "byte", 4) == 0 && (!unit[4] || !strcmp(unit + 4, "/s") || !strcmp(unit + 4, "/block")))
        return scaled(unit, bytes, 5, most, unit + 4);
    if (!base && strcmp(unit, "ns") == 0)
        return scaled(unit, times, 4, most, "");
    if (!base && strcmp(unit, "hz") == 0)
        return scaled(unit, clocks, 4, most, "");
    struct wg_unit u = {1, ""};
    snprintf(u.name, sizeof u.name, "%s", unit);
    return u;
}

const char *wg_value_text(char buf[WG_VALUE_TEXT_BYTES], double v, bool grouped)
{
    char digits[WG_VALUE_TEXT_BYTES / 2];
    double shown = fabs(v) < 1e17 ? v : v < 0 ? -1e17 : 1e17; /* counters are at most 2^64, summed seldom so far */
    snprintf(digits, sizeof digits, shown == floor(shown) ? "%.0f" : "%.2f", shown);
    size_t n = strspn(digits, "-0123456789"), minus = digits[0] == '-', k = 0;
    for (size_t i = 0; i < n; i++) {
        if (grouped && i > minus && (n - i) % 3 == 0)
            buf[k++] = ',';
        buf[k++] = digits[i];
    }
    strcpy(buf + k, digits + n);
    return buf;
}
