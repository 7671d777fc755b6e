/* svg.c - the picture every textbook draws: 32 lanes and the sectors or banks that they meet. */
#include "report/svg.h"
#include "report/svg_parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void wg_svg_open(FILE *out, unsigned width, unsigned height, const char *title, const char *text, bool standalone)
{
    fputs("<svg", out);
    if (standalone)
        fputs(" xmlns=\"http://www.w3.org/2000/svg\"", out);
    fprintf(out, " viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\"><title>%s</title><desc>%s</desc>",
            width, height, width, height, title, text);
    if (standalone) {
        fputs("<style>", out);
        fputs(wg_svg_style, out);
        fprintf(out, "</style><rect class=\"bg\" width=\"%u\" height=\"%u\"/>", width, height);
    }
}

enum { WIDTH = 720, LEFT = 8, STEP = 22, BOX = 20, LANES_Y = 22, UNITS_Y = 118, UNIT_H = 20 };

static double lane_x(unsigned lane)
{
    return LEFT + STEP * lane + BOX / 2.0;
}

static void lane_boxes(FILE *out, uint32_t mask)
{
    fprintf(out, "<text x=\"%d\" y=\"14\">lanes</text>", LEFT);
    for (unsigned l = 0; l < 32; l++) {
        fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                mask >> l & 1 ? "lane" : "off", LEFT + STEP * (int)l, LANES_Y, BOX, BOX - 2);
        fprintf(out, "<text class=\"c\" x=\"%.0f\" y=\"%d\">%u</text>", lane_x(l), LANES_Y + 13, l);
    }
}

/* ---- sectors -------------------------------------------------------------------------------------------------- */
enum { MAX_SECTORS = 32 * 5 };
struct sectors {
    size_t n;
    uint64_t id[MAX_SECTORS];
    uint32_t used[MAX_SECTORS];
}; /* used: bit per byte */

static int rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void find_sectors(const struct wg_worst *w, struct sectors *s)
{
    uint64_t all[MAX_SECTORS];
    size_t n = 0;
    unsigned bytes = w->bytes && w->bytes <= 128 ? w->bytes : 1;
    for (unsigned l = 0; l < 32; l++)
        for (uint64_t k = w->offset[l] >> 5;
             w->mask >> l & 1 && k <= (w->offset[l] + bytes - 1) >> 5 && n < MAX_SECTORS; k++)
            all[n++] = k;
    qsort(all, n, sizeof *all, rising);
    *s = (struct sectors){0};
    for (size_t i = 0; i < n; i++)
        if (!i || all[i] != all[i - 1])
            s->id[s->n++] = all[i];
    for (unsigned l = 0; l < 32; l++)
        for (unsigned b = 0; w->mask >> l & 1 && b < bytes; b++) {
            uint64_t at = w->offset[l] + b, key = at >> 5;
            uint64_t *p = bsearch(&key, s->id, s->n, sizeof key, rising);
            if (p)
                s->used[p - s->id] |= 1u << (at & 31);
        }
}

static void draw_sectors(FILE *out, const struct wg_worst *w)
{
    struct sectors s;
    double x[MAX_SECTORS];
    find_sectors(w, &s);
    size_t jumps = 0, lines = 0;
    for (size_t i = 1; i < s.n; i++) {
        jumps += s.id[i] != s.id[i - 1] + 1;
        lines += s.id[i] == s.id[i - 1] + 1 && s.id[i] % 4 == 0;
    }
    double room = WIDTH - 2.0 * LEFT, gap = jumps ? (room / 3 / (double)jumps < 8 ? room / 3 / (double)jumps : 8) : 0,
           line = 3;
    double wide = s.n ? (room - gap * (double)jumps - line * (double)lines) / (double)s.n : 0, at = LEFT;
    wide = wide > 30 ? 30 : wide;
    for (size_t i = 0; i < s.n; i++) {
        if (i)
            at += s.id[i] != s.id[i - 1] + 1 ? gap : s.id[i] % 4 == 0 ? line : 0;
        x[i] = at;
        at += wide;
    }
    for (unsigned l = 0; l < 32; l++) {
        uint64_t key = w->offset[l] >> 5;
        uint64_t *p = w->mask >> l & 1 ? bsearch(&key, s.id, s.n, sizeof key, rising) : NULL;
        if (p)
            fprintf(out, "<line class=\"%s\" x1=\"%.0f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                    w->cost > w->ideal ? "bad" : "ok", lane_x(l), LANES_Y + BOX - 1,
                    x[p - s.id] + wide * ((double)(w->offset[l] & 31) + w->bytes / 2.0) / 32, UNITS_Y);
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned used = (unsigned)__builtin_popcount(s.used[i]);
        fprintf(out, "<rect class=\"unit\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", x[i], UNITS_Y, wide - 1,
                UNIT_H);
        fprintf(out, "<rect class=\"used\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", x[i],
                UNITS_Y + UNIT_H * (1 - used / 32.0), wide - 1, UNIT_H * used / 32.0);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">%zu sectors of 32 bytes; filled: bytes asked for; a gap: not neighbours</text>",
            LEFT, UNITS_Y + UNIT_H + 16, s.n);
}

/* ---- banks ---------------------------------------------------------------------------------------------------- */
static unsigned words_of(const struct wg_worst *w, uint64_t words[32][32], unsigned count[32])
{
    unsigned most = 0, span = w->bytes > 4 ? (unsigned)w->bytes / 4 : 1;
    memset(count, 0, 32 * sizeof *count);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; w->mask >> l & 1 && k < span && k < 32; k++) {
            uint64_t word = w->offset[l] / 4 + k;
            unsigned bank = (unsigned)(word % 32), i = 0;
            while (i < count[bank] && words[bank][i] != word)
                i++;
            if (i == count[bank] && i < 32)
                words[bank][count[bank]++] = word;
            most = count[bank] > most ? count[bank] : most;
        }
    return most;
}

static void draw_banks(FILE *out, const struct wg_worst *w)
{
    uint64_t words[32][32];
    unsigned count[32];
    words_of(w, words, count);
    for (unsigned l = 0; l < 32; l++)
        if (w->mask >> l & 1) {
            unsigned bank = (unsigned)(w->offset[l] / 4 % 32);
            fprintf(out, "<line class=\"%s\" x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\"/>",
                    count[bank] > 1 ? "bad" : "ok", lane_x(l), LANES_Y + BOX - 1, lane_x(bank), UNITS_Y);
        }
    for (unsigned b = 0; b < 32; b++) {
        fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                count[b] > 1 ? "unit hot"
                : count[b]   ? "unit used"
                             : "unit",
                LEFT + STEP * (int)b, UNITS_Y, BOX, UNIT_H);
        if (count[b])
            fprintf(out, "<text class=\"c\" x=\"%.0f\" y=\"%d\">%u</text>", lane_x(b), UNITS_Y + 14, count[b]);
    }
    fprintf(
        out,
        "<text x=\"%d\" y=\"%d\">banks 0 to 31; the number: different words of that bank that the lanes want</text>",
        LEFT, UNITS_Y + UNIT_H + 16);
}

void wg_svg_lanes_text(char *buf, size_t n, const struct wg_worst *w)
{
    unsigned lanes = (unsigned)__builtin_popcount(w->mask);
    if (w->shared) {
        uint64_t words[32][32];
        unsigned count[32], met = 0, most = words_of(w, words, count);
        for (unsigned b = 0; b < 32; b++)
            met += count[b] != 0;
        snprintf(buf, n,
                 "%u lane%s of %u bytes meet %u of 32 banks, up to %u words in one: %" PRIu32
                 " wavefronts (ideal %" PRIu32 ")",
                 lanes, lanes == 1 ? "" : "s", w->bytes, met, most, w->cost, w->ideal);
        return;
    }
    struct sectors s;
    unsigned used = 0, lines = 0;
    find_sectors(w, &s);
    for (size_t i = 0; i < s.n; i++) {
        used += (unsigned)__builtin_popcount(s.used[i]);
        lines += !i || s.id[i] / 4 != s.id[i - 1] / 4;
    }
    snprintf(buf, n,
             "%u lane%s of %u bytes touch %" PRIu32 " sectors in %u lines of 128 bytes (ideal %" PRIu32
             "): %u of %zu bytes moved "
             "are asked for",
             lanes, lanes == 1 ? "" : "s", w->bytes, w->cost, lines, w->ideal, used, s.n * 32);
}

void wg_svg_lanes(FILE *out, const struct wg_worst *w, bool standalone)
{
    char text[256];
    wg_svg_lanes_text(text, sizeof text, w);
    wg_svg_open(out, WIDTH, UNITS_Y + UNIT_H + 26, w->shared ? "lanes and banks" : "lanes and sectors", text,
                standalone);
    lane_boxes(out, w->mask);
    if (w->shared)
        draw_banks(out, w);
    else
        draw_sectors(out, w);
    fputs("</svg>", out);
}
