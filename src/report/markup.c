/* markup.c - escapes for HTML, XML and Markdown on top of the one for control characters. */
#include "report/markup.h"
#include "report/escape.h"
#include <stdlib.h>
#include <string.h>

static const char *entity(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Everything that Markdown gives a meaning, as an entity where a backslash is not enough (in tables, in raw HTML). */
static void markdown_char(FILE *out, char c)
{
    const char *e = entity(c);
    if (e)
        fputs(e, out);
    else if (strchr("|`*_[]\\#~@:$!", c))
        fprintf(out, "&#%d;", c);
    else
        fputc(c, out);
}

void wg_markup_n(FILE *out, enum wg_markup m, const char *s, size_t n)
{
    char buf[16];
    size_t bytes;
    for (size_t i = 0; i < n;) {
        if (s[i] == '\n') {
            fputc(m == WG_MARKUP_MARKDOWN ? ' ' : '\n', out);
            i++;
            continue;
        }
        if (s[i] == '\r' && (i + 1 == n || s[i + 1] == '\n')) {
            i++;
            continue;
        }
        i += wg_escape_next(buf, s + i, n - i, &bytes);
        const char *e = bytes == 1 ? entity(buf[0]) : NULL;
        if (m == WG_MARKUP_HTML && e)
            fputs(e, out);
        else if (m == WG_MARKUP_MARKDOWN)
            for (size_t k = 0; k < bytes; k++)
                markdown_char(out, buf[k]);
        else
            fwrite(buf, 1, bytes, out);
    }
}

void wg_markup(FILE *out, enum wg_markup m, const char *s)
{
    wg_markup_n(out, m, s, strlen(s));
}

const char *wg_markup_string(struct wg_arena *a, enum wg_markup m, const char *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return "";
    wg_markup(f, m, s);
    const char *out = !fclose(f) && text ? wg_arena_str(a, text, n) : NULL;
    free(text);
    return out ? out : "";
}

size_t wg_markup_short_kernel(const char *kernel)
{
    unsigned depth = 0;
    for (size_t i = 0; kernel[i]; i++) {
        if (kernel[i] == '<')
            depth++;
        else if (kernel[i] == '>' && depth)
            depth--;
        else if (kernel[i] == '(' && !depth && i && strncmp(kernel + i, "(anonymous", 10))
            return i;
    }
    return strlen(kernel);
}

const char *wg_markup_path(const char *path, const char *root)
{
    size_t n = root ? strlen(root) : 0;
    while (n && root[n - 1] == '/')
        n--;
    if (n && !strncmp(path, root, n) && path[n] == '/' && path[n + 1])
        return path + n + 1;
    return !strncmp(path, "./", 2) && path[2] ? path + 2 : path;
}
