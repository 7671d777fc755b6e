/* occupancy.c - blocks an SM holds: one division per resource, then the smallest.
 *
 * Registers go to warps in units of reg_unit; an SM is split into sub_partitions, each of which holds whole warps only.
 * The launch check charges a block for a multiple of sub_partitions warps. Compute capability 6.0 has two partitions,
 * but a kernel must also pass that check with four, as on the rest of its family. Shared memory goes to blocks in units
 * of smem_unit, after the driver's reserve; the SM is set to the user's preference rounded up to a size it can have, or
 * to the smallest size that holds one block if that is more. Barriers count from compute capability 9.0 on. */
#include "model/occupancy.h"
#include <stdio.h>
#include <string.h>

static const char *const limit_names[WG_LIMIT_COUNT] = {
#define NAME(id, name, text) name,
    WG_LIMITS(NAME)
#undef NAME
};

const char *wg_limit_name(enum wg_limit l) { return limit_names[l]; }

static uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

static unsigned divide(uint64_t have, uint64_t each)
{
    uint64_t n = each ? have / each : WG_NO_LIMIT;
    return n < WG_NO_LIMIT ? (unsigned)n : WG_NO_LIMIT;
}

static bool block_registers_fit(const struct wg_cc *cc, uint64_t per_warp, unsigned warps, unsigned partitions)
{
    return per_warp * round_up(warps, partitions) <= cc->regs_per_block;
}

static unsigned by_registers(const struct wg_cc *cc, const struct wg_occupancy_query *q, struct wg_occupancy *o)
{
    uint64_t per_warp = round_up((uint64_t)q->regs * 32, cc->reg_unit);
    unsigned warps = o->warps_per_block;
    o->regs_per_warp = (unsigned)per_warp;
    o->regs_per_block = (unsigned)(per_warp * warps);
    if (q->regs > cc->regs_per_thread) {
        o->never = WG_NEVER_REGS_THREAD;
        return 0;
    }
    bool pascal = cc->major == 6 && cc->minor == 0 && cc->sub_partitions == 2;
    if (!block_registers_fit(cc, per_warp, warps, cc->sub_partitions) ||
        (pascal && !block_registers_fit(cc, per_warp, warps, 4))) {
        o->never = WG_NEVER_REGS_BLOCK;
        return 0;
    }
    if (!per_warp)
        return WG_NO_LIMIT;
    return (unsigned)(cc->regs_per_sm / cc->sub_partitions / per_warp * cc->sub_partitions / warps);
}

/* Smallest size the SM can be set to that is at least `bytes`; the largest if none is. */
static uint64_t carve(const struct wg_cc *cc, uint64_t bytes)
{
    for (unsigned i = 0; i < cc->ncarveouts; i++)
        if ((uint64_t)cc->carveout_kb[i] * 1024 >= bytes)
            return (uint64_t)cc->carveout_kb[i] * 1024;
    return cc->smem_per_sm;
}

static unsigned by_shared(const struct wg_cc *cc, const struct wg_occupancy_query *q, struct wg_occupancy *o)
{
    uint64_t fixed = q->static_shared + cc->smem_reserved,
             per_block = round_up(fixed + q->dynamic_shared, cc->smem_unit);
    uint64_t sm = cc->smem_per_sm, allowed = q->dynamic_allowed ? q->dynamic_allowed : q->dynamic_shared;
    if (cc->ncarveouts && q->carveout >= 0)
        sm = carve(cc, (uint64_t)q->carveout * cc->smem_per_sm / 100);
    if (cc->ncarveouts && sm < per_block)
        sm = carve(cc, per_block);
    o->smem_per_block = per_block < UINT32_MAX ? (unsigned)per_block : UINT32_MAX;
    o->smem_per_sm = (unsigned)sm;
    uint64_t most = cc->smem_per_block;
    if (!q->no_optin && fixed + allowed > most)
        most = cc->smem_per_block_optin;
    if (!q->no_optin && q->dynamic_shared > allowed) {
        o->never = WG_NEVER_DYNAMIC;
        return 0;
    }
    if (per_block > most + cc->smem_reserved) {
        o->never = WG_NEVER_SHARED;
        return 0;
    }
    return divide(sm, per_block);
}

void wg_occupancy(const struct wg_cc *cc, const struct wg_occupancy_query *q, struct wg_occupancy *o)
{
    *o = (struct wg_occupancy){.warps_per_block = q->threads / 32 + (q->threads % 32 != 0)};
    for (unsigned i = 0; i < WG_LIMIT_COUNT; i++)
        o->limit[i] = WG_NO_LIMIT;
    o->limit[WG_LIMIT_SHARED] = by_shared(cc, q, o);
    o->limit[WG_LIMIT_REGISTERS] = by_registers(cc, q, o);
    o->limit[WG_LIMIT_WARPS] = divide(cc->warps_per_sm, o->warps_per_block);
    if (q->threads > cc->threads_per_block) {
        o->limit[WG_LIMIT_WARPS] = 0;
        o->never = WG_NEVER_THREADS;
    }
    o->limit[WG_LIMIT_BLOCKS] = cc->blocks_per_sm;
    if (cc->virtual_per_sm && q->virtual_resources) {
        o->limit[WG_LIMIT_VIRTUAL] = cc->virtual_per_sm / q->virtual_resources;
        if (!o->limit[WG_LIMIT_VIRTUAL])
            o->never = WG_NEVER_VIRTUAL;
    }
    unsigned least = WG_NO_LIMIT;
    for (unsigned i = 0; i < WG_LIMIT_COUNT; i++)
        least = o->limit[i] < least ? o->limit[i] : least;
    for (unsigned i = 0; i < WG_LIMIT_COUNT; i++)
        if (o->limit[i] == least && i != WG_LIMIT_BARRIERS)
            o->reported |= 1u << i;
    if (cc->major >= 9 && q->barriers) {
        unsigned bars = cc->barriers_per_sm / q->barriers;
        o->limit[WG_LIMIT_BARRIERS] = bars;
        if (bars <= least)
            o->reported |= 1u << WG_LIMIT_BARRIERS;
        least = bars < least ? bars : least;
        if (!bars)
            o->never = WG_NEVER_BARRIERS;
    }
    for (unsigned i = 0; i < WG_LIMIT_COUNT; i++)
        if (o->limit[i] == least)
            o->limiting |= 1u << i;
    o->blocks = least;
    o->warps = least * o->warps_per_block;
    o->threads = least * q->threads;
    o->occupancy = (double)o->warps / cc->warps_per_sm;
    o->left_warps = cc->warps_per_sm - o->warps;
    o->left_regs = cc->regs_per_sm - least * o->regs_per_block;
    o->left_smem = least ? o->smem_per_sm - least * o->smem_per_block : o->smem_per_sm;
    o->left_blocks = cc->blocks_per_sm - least;
}

void wg_occupancy_never_text(const struct wg_cc *cc, const struct wg_occupancy_query *q, enum wg_occupancy_never never,
                             char *buf, size_t n)
{
    unsigned warps = q->threads / 32 + (q->threads % 32 != 0);
    unsigned long long shared = q->static_shared + q->dynamic_shared;
    switch (never) {
    case WG_FITS:
        buf[0] = 0;
        break;
    case WG_NEVER_THREADS:
        snprintf(buf, n, "a block of %u threads exceeds the limit of %u threads a block", q->threads,
                 cc->threads_per_block);
        break;
    case WG_NEVER_REGS_THREAD:
        snprintf(buf, n, "%u registers a thread exceed the limit of %u", q->regs, cc->regs_per_thread);
        break;
    case WG_NEVER_REGS_BLOCK:
        snprintf(buf, n, "%u warps of %u registers a thread need more than the %u registers a block may take", warps,
                 q->regs, cc->regs_per_block);
        break;
    case WG_NEVER_SHARED:
        snprintf(buf, n, "%llu bytes of shared memory a block exceed the limit of %u bytes%s", shared,
                 q->no_optin ? cc->smem_per_block : cc->smem_per_block_optin,
                 q->no_optin && cc->smem_per_block_optin > cc->smem_per_block ? " without opting in to more" : "");
        break;
    case WG_NEVER_DYNAMIC:
        snprintf(buf, n, "%llu bytes of dynamic shared memory exceed the %llu bytes that the kernel was allowed",
                 (unsigned long long)q->dynamic_shared, (unsigned long long)q->dynamic_allowed);
        break;
    case WG_NEVER_BARRIERS:
        snprintf(buf, n, "%u barriers a block exceed the %u of an SM", q->barriers, cc->barriers_per_sm);
        break;
    case WG_NEVER_VIRTUAL:
        snprintf(buf, n, "%u virtual resources a block exceed the %u of an SM", q->virtual_resources,
                 cc->virtual_per_sm);
        break;
    }
}

void wg_occupancy_limits_text(unsigned limits, char *buf, size_t n)
{
    size_t used = 0;
    unsigned left = (unsigned)__builtin_popcount(limits), first = left;
    if (n)
        buf[0] = 0;
    for (unsigned i = 0; i < WG_LIMIT_COUNT && used < n; i++)
        if (limits >> i & 1) {
            used += (size_t)snprintf(buf + used, n - used, "%s%s", left == first ? "" : left == 1 ? " and " : ", ",
                                     limit_names[i]);
            left--;
        }
}

void wg_occupancy_plain_division(struct wg_cc *cc)
{
    cc->reg_unit = cc->sub_partitions = cc->smem_unit = 1;
    cc->smem_reserved = cc->ncarveouts = 0;
    cc->smem_per_block_optin = cc->smem_per_block = cc->smem_per_sm;
    if (cc->regs_per_block > cc->regs_per_sm)
        cc->regs_per_block = cc->regs_per_sm;
}

static bool reaches(const struct wg_cc *cc, const struct wg_occupancy_query *q, unsigned warps)
{
    struct wg_occupancy o;
    wg_occupancy(cc, q, &o);
    return o.warps >= warps && o.blocks;
}

/* Bisects *value, which more of never helps, up to `most`. */
static enum wg_status largest(const struct wg_cc *cc, struct wg_occupancy_query *q, unsigned warps, uint64_t most,
                              void (*set)(struct wg_occupancy_query *, uint64_t), uint64_t *value)
{
    uint64_t low = 0, high = most;
    set(q, 0);
    if (!reaches(cc, q, warps))
        return WG_NOT_FOUND;
    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;
        set(q, mid);
        if (reaches(cc, q, warps))
            low = mid;
        else
            high = mid - 1;
    }
    *value = low;
    return WG_OK;
}

static void set_regs(struct wg_occupancy_query *q, uint64_t v) { q->regs = (unsigned)v; }
static void set_shared(struct wg_occupancy_query *q, uint64_t v) { q->dynamic_shared = v; }

enum wg_status wg_occupancy_most_regs(const struct wg_cc *cc, struct wg_occupancy_query q, unsigned warps,
                                      uint64_t *regs)
{
    uint64_t most = cc->regs_per_thread < 255 ? cc->regs_per_thread : 255; /* an instruction can name no more */
    return largest(cc, &q, warps, most, set_regs, regs);
}

enum wg_status wg_occupancy_most_shared(const struct wg_cc *cc, struct wg_occupancy_query q, unsigned warps,
                                        uint64_t *bytes)
{
    q.static_shared = q.dynamic_allowed = 0;
    return largest(cc, &q, warps, cc->smem_per_sm, set_shared, bytes);
}

/* The driver leaves room for twice the blocks that the warps allow (four times when the kernel has no shared memory of
 * its own; no more than they allow when that is one or two), but not beyond about 60 % of the largest size, unless the
 * blocks that do fit need it. */
unsigned wg_occupancy_driver_carveout(const struct wg_cc *cc, const struct wg_occupancy_query *q)
{
    struct wg_occupancy o;
    wg_occupancy(cc, q, &o);
    if (!cc->ncarveouts || q->carveout >= 0 || !o.blocks)
        return o.smem_per_sm;
    uint64_t warps = o.limit[WG_LIMIT_WARPS], regs = o.limit[WG_LIMIT_REGISTERS], each = o.smem_per_block;
    uint64_t room = warps * (q->static_shared + q->dynamic_shared == 0 ? 4 : warps <= 2 ? 1 : 2);
    uint64_t most = warps < cc->blocks_per_sm ? warps : cc->blocks_per_sm, cap = 0;
    room = room < cc->blocks_per_sm ? room : cc->blocks_per_sm;
    most = regs < most ? regs : most;
    for (unsigned i = 0; i < cc->ncarveouts; i++)
        if (cc->carveout_kb[i] * 1024ull * 10 <= cc->smem_per_sm * 6ull)
            cap = cc->carveout_kb[i] * 1024ull;
    uint64_t size = carve(cc, room * each);
    if (size > cap) {
        size = carve(cc, most * each);
        size = size < cap ? cap : size;
    }
    return (unsigned)size;
}

unsigned wg_occupancy_clusters(const struct wg_gpu *g, const struct wg_occupancy *o, unsigned blocks)
{
    if (!blocks || blocks > g->cc->cluster_max || g->gpcs < 1)
        return 0;
    /* SMs come in pairs; whole pairs are dealt to the GPCs in turn */
    unsigned pairs = (unsigned)g->sms / 2, gpcs = (unsigned)g->gpcs, clusters = 0;
    for (unsigned i = 0; i < gpcs; i++)
        clusters += (pairs / gpcs + (i < pairs % gpcs)) * 2 * o->blocks / blocks;
    return clusters;
}

double wg_occupancy_waves(const struct wg_gpu *g, const struct wg_occupancy *o, uint64_t blocks)
{
    return o->blocks ? (double)blocks / (o->blocks * g->sms) : 0.0;
}
