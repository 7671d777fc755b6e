/* escape.h - shows text from programs safely, counts what it takes on screen, and formats numbers for people. */
#ifndef WG_REPORT_ESCAPE_H
#define WG_REPORT_ESCAPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes s[0..n) up to its first newline: control characters, also those of Unicode that reorder or hide text, appear
 * as \x1b or \u202e, tabs as spaces to the next multiple of 4. More than `width` columns are cut and end in "...";
 * width 0: never cut. Returns the columns used. */
unsigned wg_escape(FILE *out, const char *s, size_t n, unsigned width);
unsigned wg_escape_width(const char *s, size_t n); /* columns that wg_escape would use uncut */

/* Bytes of s[0..n) that fit in `width` columns, at least one character, so that text can go on in the next line. */
size_t wg_escape_fit(const char *s, size_t n, unsigned width);

/* One character of s[0..n) made safe like that, in buf (not NUL-terminated); newline counts as a control character. Sets
 * *bytes to those written and returns those read. */
size_t wg_escape_next(char buf[16], const char *s, size_t n, size_t *bytes);

/* 1234567 -> "1,234,567". buf of WG_NUMBER_BYTES is returned. */
#define WG_NUMBER_BYTES 32
const char *wg_format_count(char *buf, uint64_t v);
/* One decimal and separators: "1,234.5". */
const char *wg_format_ratio(char *buf, double v);
/* part of whole: "97 %", never rounded to 0 or 100 when it is neither: "under 0.1 %", "99.9 %". */
const char *wg_format_percent(char *buf, uint64_t part, uint64_t whole);
const char *wg_format_bytes(char *buf, uint64_t v); /* "8,448 bytes", "1 byte" */
#endif
