/* advice.c - recognises how the lanes of a recorded access lie in memory, changes that, and counts again. */
#include "report/advice.h"
#include "model/banks.h"
#include "model/coalesce.h"
#include "report/escape.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOST_PADDING = 8 }; /* elements tried at the end of a row */

/* The active lanes in order. */
struct lanes { unsigned n, bytes; uint64_t at[32]; uint32_t mask; };

static struct lanes active(const struct wg_worst *w)
{
    struct lanes l = {.bytes = w->bytes, .mask = w->mask};
    for (unsigned i = 0; i < 32; i++)
        if (w->mask >> i & 1)
            l.at[l.n++] = w->offset[i];
    return l;
}

/* The distance between neighbours when all are the same; false: they are not. */
static bool strided(const struct lanes *l, int64_t *stride)
{
    *stride = l->n > 1 ? (int64_t)(l->at[1] - l->at[0]) : 0;
    for (unsigned i = 2; i < l->n; i++)
        if ((int64_t)(l->at[i] - l->at[i - 1]) != *stride)
            return false;
    return l->n > 1;
}

/* Lanes in runs of neighbouring elements: their length when all are equally long and there are several, else 0. */
static unsigned run_length(const struct lanes *l)
{
    unsigned run = 0, here = 1;
    for (unsigned i = 1; i <= l->n; i++) {
        if (i < l->n && l->at[i] == l->at[i - 1] + l->bytes) {
            here++;
            continue;
        }
        if (run && here != run)
            return 0;
        run = here;
        here = 1;
    }
    return run > 1 && run < l->n ? run : 0;
}

static uint64_t lowest(const struct lanes *l)
{
    uint64_t low = UINT64_MAX;
    for (unsigned i = 0; i < l->n; i++)
        low = l->at[i] < low ? l->at[i] : low;
    return low;
}

/* ---- shared memory ---- */
static uint32_t padded(const struct wg_worst *w, uint64_t low, uint64_t row, unsigned pad)
{
    uint32_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = (uint32_t)(w->offset[i] + (w->offset[i] - low) / row * pad);
    struct wg_banks b;
    wg_banks_of(WG_BANKS_LOAD, addr, w->mask, w->bytes, &b);
    return b.wavefronts;
}

static void try_padding(const struct wg_worst *w, const struct lanes *l, struct wg_trial *t)
{
    int64_t stride;
    uint64_t low = lowest(l), rows[16], row = 0;
    unsigned n = 0, pad = 0;
    if (strided(l, &stride) && stride && (stride < 0 ? -stride : stride) % 4 == 0)
        rows[n++] = (uint64_t)(stride < 0 ? -stride : stride);
    else
        for (uint64_t r = 32; r <= 4096; r *= 2)
            rows[n++] = r;
    for (unsigned k = 0; k < n; k++)
        for (unsigned p = 1; p <= MOST_PADDING; p++) {
            unsigned bytes = p * (w->bytes < 4 ? 4 : w->bytes);
            uint32_t cost = padded(w, low, rows[k], bytes);
            if (cost < t->after || (cost == t->after && row && bytes < pad))
                t->after = cost, row = rows[k], pad = bytes;
        }
    if (!row)
        return;
    t->fix = WG_FIX_PAD;
    snprintf(t->text, sizeof t->text,
             n == 1 ? "neighbouring lanes are %" PRIu64 " bytes apart in shared memory: pad rows of that length by %u bytes"
                    : "lanes of several rows meet in a bank: pad rows of %" PRIu64 " bytes by %u bytes",
             row, pad);
}

/* ---- global memory ---- */
/* What the same lanes would cost side by side from the start of a sector. */
static uint32_t packed(const struct lanes *l)
{
    uint64_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = (uint64_t)i * l->bytes;
    struct wg_coalesce c;
    wg_coalesce(addr, l->n < 32 ? (1u << l->n) - 1 : UINT32_MAX, l->bytes, &c);
    return c.sectors;
}

static void try_global(const struct lanes *l, struct wg_trial *t)
{
    char apart[32];
    int64_t stride;
    unsigned run = run_length(l);
    bool even = strided(l, &stride);
    uint64_t size = (uint64_t)(stride < 0 ? -stride : stride);
    t->after = packed(l);
    if (even && size == l->bytes) {
        t->fix = WG_FIX_ALIGN;
        snprintf(t->text, sizeof t->text, "the lanes' %u bytes begin %u bytes into a sector: let rows start at multiples of 32 bytes",
                 l->n * l->bytes, (unsigned)(lowest(l) % 32));
    } else if (even && size > l->bytes && size < 128) {
        t->fix = WG_FIX_ARRAYS;
        snprintf(t->text, sizeof t->text,
                 "neighbouring lanes are %" PRIu64 " bytes apart and use %u of them: keep that member in an array of its own",
                 size, l->bytes);
    } else if (even && size >= 128) {
        t->fix = WG_FIX_SWAP;
        snprintf(t->text, sizeof t->text,
                 "neighbouring lanes are %s apart: let threadIdx.x run along the contiguous index, or turn a tile in "
                 "shared memory", wg_format_bytes(apart, size));
    } else if (run) {
        t->fix = WG_FIX_WIDEN;
        snprintf(t->text, sizeof t->text,
                 "the warp reads %u pieces of %u elements: give a row of the block 32 threads, so that a warp is one piece",
                 l->n / run, run);
    }
}

void wg_advice_try(const struct wg_worst *w, struct wg_trial *out)
{
    const struct lanes l = active(w);
    *out = (struct wg_trial){.fix = WG_FIX_NONE, .before = w->cost, .after = w->cost};
    if (w->shared)
        try_padding(w, &l, out);
    else
        try_global(&l, out);
    if (out->after >= out->before || out->fix == WG_FIX_NONE) {
        *out = (struct wg_trial){.fix = WG_FIX_NONE, .before = w->cost, .after = w->cost};
        snprintf(out->text, sizeof out->text,
                 w->shared ? "no padding of rows helps: the lanes' words lie in no regular order"
                           : "the lanes' addresses follow no pattern: sort what they depend on, or gather through shared memory");
    }
}

uint64_t wg_advice_extra(const struct wg_site *s)
{
    const uint64_t *c = s->c;
    uint64_t sectors = c[WG_C_SECTORS] > c[WG_C_SECTORS_IDEAL] ? c[WG_C_SECTORS] - c[WG_C_SECTORS_IDEAL] : 0;
    uint64_t waves = c[WG_C_WAVEFRONTS] > c[WG_C_WAVEFRONTS_IDEAL] ? c[WG_C_WAVEFRONTS] - c[WG_C_WAVEFRONTS_IDEAL] : 0;
    return sectors + waves;
}

const struct wg_site *wg_advice_site(const struct wg_site *const *sites, size_t n, bool shared)
{
    const struct wg_site *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (sites[i]->worst && sites[i]->worst->shared == shared &&
            (!best || wg_advice_extra(sites[i]) > wg_advice_extra(best)))
            best = sites[i];
    return best;
}
