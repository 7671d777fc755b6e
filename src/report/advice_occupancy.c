/* advice_occupancy.c - advice on how many warps an SM holds: registers, block size, shared memory. Only where the model of
 * time says that warps wait for memory: elsewhere more of them are worth nothing. */
#include "model/occupancy.h"
#include "report/escape.h"
#include "report/items.h"
#include "report/layout.h"
#include <inttypes.h>
#include <string.h>

#define WAITING 0.5    /* share of the warps' time below which more warps are not worth talking about */
#define WORTH 1.15     /* times faster, at best, from which they are */

struct now { struct wg_occupancy_query q; struct wg_occupancy o; double per_sm; /* warps that the grid has for each SM */ };

static bool look(const struct wg_items *x, struct now *n)
{
    const struct wg_launch_result *l = x->g->first;
    if (!x->open || !x->gain.timed || l->modelled[WG_MODELLED_STALL_MEMORY] < WAITING || !l->registers)
        return false;
    n->q = (struct wg_occupancy_query){.threads = l->block[0] * l->block[1] * l->block[2], .regs = l->registers, .carveout = -1,
                                       .static_shared = l->static_shared, .dynamic_shared = l->dynamic_shared};
    if (!n->q.threads)
        return false;
    wg_occupancy(x->gpu->cc, &n->q, &n->o);
    n->per_sm = (double)l->grid[0] * l->grid[1] * l->grid[2] * n->o.warps_per_block / x->gain.sms;
    return n->o.blocks && n->per_sm > n->o.warps && n->o.occupancy < 0.99;
}

/* Times as many warps as now, as far as the grid has them. */
static double times(const struct now *n, const struct wg_occupancy *then)
{
    return (then->warps < n->per_sm ? then->warps : n->per_sm) / n->o.warps;
}

static void say_waiting(const struct wg_items *x, const struct now *n, char *buf, size_t room, const char *what)
{
    snprintf(buf, room, "warps wait for memory %.0f %% of the time (estimated) and %s keeps all but %u of %u off an SM",
             100 * x->g->first->modelled[WG_MODELLED_STALL_MEMORY], what, n->o.warps, x->gpu->cc->warps_per_sm);
}

static void registers(struct wg_items *x, const struct now *n)
{
    const struct wg_launch_result *l = x->g->first;
    const struct wg_cc *cc = x->gpu->cc;
    struct wg_occupancy best = {0};
    unsigned regs = 0;
    struct wg_faster f = {1, 1};
    if (!(n->o.limiting >> WG_LIMIT_REGISTERS & 1))
        return;
    for (unsigned warps = n->o.warps + n->o.warps_per_block; warps <= cc->warps_per_sm; warps += n->o.warps_per_block) {
        uint64_t most;
        struct wg_occupancy_query q = n->q;
        struct wg_occupancy then;
        if (wg_occupancy_most_regs(cc, q, warps, &most) != WG_OK || most < 24 || most * 3 < n->q.regs)
            break;
        q.regs = (unsigned)most;
        wg_occupancy(cc, &q, &then);
        struct wg_faster g = wg_gain_warps(&x->gain, times(n, &then));
        if (g.high > f.high * 1.02)
            f = g, best = then, regs = q.regs;
    }
    if (f.high < WORTH)
        return;
    struct wg_item *it = wg_items_add(x, WG_ADVICE_REGISTERS, WG_SURE_MAYBE);
    if (!it)
        return;
    char what[64];
    snprintf(what, sizeof what, "%u registers a thread", n->q.regs);
    say_waiting(x, n, it->found, sizeof it->found, what);
    snprintf(it->fix, sizeof it->fix, "__launch_bounds__(%u, %u) forces %u registers or fewer: what does not fit is spilled, so look at "
             "what ptxas -v says of spills", n->q.threads, best.blocks, regs);
    snprintf(it->proof, sizeof it->proof, "occupancy %.4g %% -> %.4g %% (%s)", 100 * n->o.occupancy, 100 * best.occupancy,
             l->registers_exact ? "exact" : "estimated: the registers are");
    it->faster = f;
}

/* Whether the kernel asks for the size of its block, so that another one may do. */
static bool asks_size(const struct wg_launch_result *l)
{
    for (size_t i = 0; i < l->nsites; i++)
        if (strstr(l->sites[i].text, "%ntid."))
            return true;
    return false;
}

static void block_size(struct wg_items *x, const struct now *n)
{
    const struct wg_launch_result *l = x->g->first;
    struct wg_occupancy best = n->o;
    unsigned threads = 0;
    if (l->static_shared || l->dynamic_shared || x->g->barriers || !asks_size(l) || l->block[1] * l->block[2] != 1)
        return;
    static const unsigned sizes[] = {256, 128, 512, 64, 192, 384, 768, 1024};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct wg_occupancy_query q = n->q;
        struct wg_occupancy then;
        q.threads = sizes[k];
        wg_occupancy(x->gpu->cc, &q, &then);
        if (then.warps > best.warps)
            best = then, threads = sizes[k];
    }
    struct wg_faster f = wg_gain_warps(&x->gain, times(n, &best));
    struct wg_item *it = threads && f.high >= WORTH ? wg_items_add(x, WG_ADVICE_BLOCK, WG_SURE_LIKELY) : NULL;
    if (!it)
        return;
    char what[64];
    snprintf(what, sizeof what, "a block of %u thread%s", n->q.threads, n->q.threads == 1 ? "" : "s");
    say_waiting(x, n, it->found, sizeof it->found, what);
    snprintf(it->fix, sizeof it->fix, "launch %u threads a block, and as many blocks fewer or more", threads);
    snprintf(it->proof, sizeof it->proof, "occupancy %.4g %% -> %.4g %% (%s)", 100 * n->o.occupancy, 100 * best.occupancy,
             l->registers_exact ? "exact" : "estimated: the registers are");
    it->faster = f;
}

static void smaller_tile(struct wg_items *x, const struct now *n)
{
    const struct wg_launch_result *l = x->g->first;
    uint64_t all = l->static_shared + l->dynamic_shared;
    struct wg_occupancy best = n->o;
    struct wg_faster f = {1, 1};
    unsigned part = 0;
    if (!(n->o.limiting >> WG_LIMIT_SHARED & 1))
        return;
    for (unsigned k = 2; k <= 8 && all / k >= 1024; k *= 2) {
        struct wg_occupancy_query q = n->q;
        struct wg_occupancy then;
        q.static_shared = all / k;
        q.dynamic_shared = 0;
        wg_occupancy(x->gpu->cc, &q, &then);
        struct wg_faster g = wg_gain_warps(&x->gain, (double)then.warps / n->o.warps);
        if (g.high > f.high * 1.05)
            f = g, best = then, part = k;
    }
    struct wg_item *it = f.high >= WORTH ? wg_items_add(x, WG_ADVICE_SMALLER, WG_SURE_MAYBE) : NULL;
    if (!it)
        return;
    char what[96], b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    snprintf(what, sizeof what, "%s bytes of shared memory a block", wg_format_count(b, all));
    say_waiting(x, n, it->found, sizeof it->found, what);
    snprintf(it->fix, sizeof it->fix, "let a block of as many threads work on a tile of 1/%u the size (%s bytes) and launch %u times the "
             "blocks; what neighbouring tiles share is then read more often", part, wg_format_count(c, all / part), part);
    snprintf(it->proof, sizeof it->proof, "occupancy %.4g %% -> %.4g %% (%s)", 100 * n->o.occupancy, 100 * best.occupancy,
             l->registers_exact ? "exact" : "estimated: the registers are");
    it->faster = f;
}

void wg_advice_occupancy(struct wg_items *x)
{
    struct now n;
    if (!look(x, &n))
        return;
    registers(x, &n);
    block_size(x, &n);
    smaller_tile(x, &n);
}
