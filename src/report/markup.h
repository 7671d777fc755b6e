/* markup.h - text from programs inside HTML, XML, Markdown and messages: whatever it holds, it stays text. */
#ifndef WG_REPORT_MARKUP_H
#define WG_REPORT_MARKUP_H
#include "base/arena.h"
#include <stdint.h>
#include <stdio.h>

enum wg_markup {
    WG_MARKUP_HTML,     /* also XML, text and quoted attributes; newlines stay */
    WG_MARKUP_MARKDOWN, /* of GitHub and GitLab, also inside tables: one line */
    WG_MARKUP_PLAIN,    /* only control characters and the like are made visible; newlines stay */
};
/* Writes s[0..n). Control characters and those that hide or reorder text appear as \x1b or \u202e, as in wg_escape. */
void wg_markup_n(FILE *out, enum wg_markup m, const char *s, size_t n);
void wg_markup(FILE *out, enum wg_markup m, const char *s);
/* The same as a string of the arena; "" when memory is out. */
const char *wg_markup_string(struct wg_arena *a, enum wg_markup m, const char *s);

/* "kernel", "kernel<float>" of "kernel(int, float*)": the name without its parameter types. Returns its length. */
size_t wg_markup_short_kernel(const char *kernel);
/* A path below root (may be NULL) without root; others as they are. */
const char *wg_markup_path(const char *path, const char *root);
#endif
