/* rules.c - the guided rules, each a function over metrics. */
#include "report/rules.h"
#include "model/occupancy.h"
#include "report/escape.h"
#include "report/units.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct says {
    const struct wg_profile *p;
    const struct wg_metric_of *of;
    const struct wg_line *lines;
    size_t nlines, n, cap;
    struct wg_arena *a;
    struct wg_advice_row *v;
    enum wg_rule rule;
};

static bool get(const struct says *s, enum wg_metric m, double *v)
{
    return wg_metric_value(m, s->of, v);
}

/* The worse of what the metrics behind a sentence can be trusted. */
static const char *trust(const struct says *s, enum wg_metric a, enum wg_metric b)
{
    enum wg_fidelity x = wg_metric_fidelity(a, s->of->launch), y = wg_metric_fidelity(b, s->of->launch);
    return wg_fidelity_name(x > y ? x : y);
}

static void say(struct says *s, const char *type, const char *title, const char *fidelity, double gain, bool local,
                const char *text)
{
    struct wg_advice_row *v = wg_arena_grow(s->a, s->v, s->n + 1, &s->cap, sizeof *v);
    if (!v)
        return;
    s->v = v;
    if (!text)
        return;
    v[s->n++] = (struct wg_advice_row){s->rule, type, title, text, fidelity, gain, local};
}

static const char *number(char buf[WG_VALUE_TEXT_BYTES], double v)
{
    return wg_value_text(buf, v, true);
}

/* "; most of it in k.cu:12 (75 % of that line's), k.cu:20 (...)": up to three lines that have most excess. */
static const char *places(const struct says *s, enum wg_metric excess, enum wg_metric all)
{
    double best[3] = {0}, of_line[3] = {0};
    const struct wg_line *at[3] = {NULL};
    char *text = wg_arena_str(s->a, "", 0);
    for (size_t i = 0; i < s->nlines; i++) {
        const struct wg_line *l = &s->lines[i];
        struct wg_metric_of of = *s->of;
        double x, y;
        of.sites = l->sites;
        of.nsites = l->nsites;
        of.line = true;
        if (!wg_metric_value(excess, &of, &x) || !wg_metric_value(all, &of, &y) || x <= 0 || y <= 0)
            continue;
        unsigned k = 3;
        while (k && best[k - 1] < x)
            k--;
        for (unsigned j = 2; j > k && j < 3; j--) {
            best[j] = best[j - 1];
            of_line[j] = of_line[j - 1];
            at[j] = at[j - 1];
        }
        if (k < 3) {
            best[k] = x;
            of_line[k] = 100 * x / y;
            at[k] = l;
        }
    }
    for (unsigned k = 0; k < 3 && at[k] && text; k++) {
        const char *path = at[k]->source < s->p->nsources ? s->p->sources[at[k]->source].path : s->of->launch->module;
        const char *base = strrchr(path, '/');
        text = wg_arena_printf(s->a, "%s%s %s:%" PRIu32 " (%.0f %% of what that line moves)", text,
                               k ? "," : " Most of it:", base ? base + 1 : path, at[k]->line, of_line[k]);
    }
    return text && *text ? wg_arena_printf(s->a, "%s.", text) : text;
}

static void excess(struct says *s, enum wg_metric part, enum wg_metric whole, const char *title, const char *what,
                   const char *remedy)
{
    double x, all;
    char a[WG_VALUE_TEXT_BYTES], b[WG_VALUE_TEXT_BYTES];
    if (!get(s, part, &x) || !get(s, whole, &all) || x <= 0 || all <= 0)
        return;
    const char *where = places(s, part, whole);
    say(s, "OPT", title, trust(s, part, whole), -1, false,
        wg_arena_printf(s->a, "%s of the %s %s (%.0f %%) would not be there, were %s.%s", number(a, x), number(b, all),
                        what, 100 * x / all, remedy, where ? where : ""));
}

static void rule_UNCOALESCED_GLOBAL(struct says *s)
{
    excess(s, WG_M_L2_SECTORS_EXCESS, WG_M_L2_SECTORS, "uncoalesced global accesses", "sectors of global accesses",
           "the lanes of each warp side by side in memory");
}

static void rule_UNCOALESCED_SHARED(struct says *s)
{
    excess(s, WG_M_WAVEFRONTS_EXCESS, WG_M_WAVEFRONTS, "uncoalesced shared accesses",
           "wavefronts of shared-memory accesses", "no two lanes of a warp at different words of one bank");
}

static void conflicts(struct says *s, const char *what, enum wg_metric lost, enum wg_metric waves, enum wg_metric inst)
{
    double c, w, r;
    char a[WG_VALUE_TEXT_BYTES], b[WG_VALUE_TEXT_BYTES], d[WG_VALUE_TEXT_BYTES];
    if (!get(s, lost, &c) || !get(s, waves, &w) || !get(s, inst, &r))
        return;
    if (w <= 0 || r <= 0 || c <= 0 || 100 * c / w < WG_RULE_CONFLICTS)
        return;
    say(s, "OPT", "shared-memory bank conflicts", trust(s, lost, waves), 100 * c / w, true,
        wg_arena_printf(s->a,
                        "Shared-memory %s meet %.1f-way bank conflicts on average: %s requests take %s wavefronts, of "
                        "which %s (%.2f %%) are conflicts.",
                        what, w / r, number(a, r), number(b, w), number(d, c), 100 * c / w));
}

static void rule_SHARED_CONFLICTS(struct says *s)
{
    conflicts(s, "loads", WG_M_LD_CONFLICTS, WG_M_LD_WAVEFRONTS, WG_M_SHARED_LD_ON);
    conflicts(s, "stores", WG_M_ST_CONFLICTS, WG_M_ST_WAVEFRONTS, WG_M_SHARED_ST_ON);
}

static void pattern(struct says *s, const char *what, enum wg_metric m)
{
    double b;
    if (!get(s, m, &b) || b <= 0 || b >= WG_RULE_SECTOR)
        return;
    say(s, "OPT", "access pattern", trust(s, m, m), -1, false,
        wg_arena_printf(s->a,
                        "Global %s use %.1f of the 32 bytes of a sector on average. The gain depends on how much of it "
                        "the caches miss, which is not estimated.",
                        what, b));
}

static void rule_ACCESS_PATTERN(struct says *s)
{
    pattern(s, "loads", WG_M_BYTES_PER_SECTOR_LD);
    pattern(s, "stores", WG_M_BYTES_PER_SECTOR_ST);
}

static void rule_THEORETICAL_OCCUPANCY(struct says *s)
{
    double percent, warps, most;
    if (!get(s, WG_M_OCCUPANCY_PERCENT, &percent) || !get(s, WG_M_OCCUPANCY_WARPS, &warps) ||
        percent >= WG_RULE_OCCUPANCY || percent <= 0)
        return;
    static const struct {
        enum wg_metric m;
        const char *name;
    } limits[] = {
        {WG_M_LIMIT_BLOCKS, "the number of blocks an SM holds"},
        {WG_M_LIMIT_REGISTERS, "the registers each thread takes"},
        {WG_M_LIMIT_SHARED, "the shared memory each block takes"},
        {WG_M_LIMIT_WARPS, "the number of warps in each block"},
        {WG_M_LIMIT_BARRIERS, "the barriers each block takes"},
    };
    enum { N = sizeof limits / sizeof *limits };
    double v[N], least = INFINITY;
    for (unsigned i = 0; i < N; i++) {
        if (!get(s, limits[i].m, &v[i]))
            v[i] = INFINITY;
        least = v[i] < least ? v[i] : least;
    }
    char *who = wg_arena_str(s->a, "", 0);
    for (unsigned i = 0, k = 0; i < N && who; i++)
        if (v[i] == least)
            who = wg_arena_printf(s->a, "%s%s%s", who, k++ ? " and " : "", limits[i].name);
    most = warps / percent * 100;
    say(s, "OPT", "theoretical occupancy", trust(s, WG_M_OCCUPANCY_PERCENT, WG_M_LIMIT_REGISTERS), 100 - percent, true,
        wg_arena_printf(s->a, "An SM can hold %.0f of the %.0f warps it has room for (%.1f %%); the limit is %s.",
                        warps, most, percent, who ? who : ""));
}

static void rule_ACHIEVED_OCCUPANCY(struct says *s)
{
    double theory, real;
    if (!get(s, WG_M_OCCUPANCY_PERCENT, &theory) || !get(s, WG_M_WARPS_ACTIVE, &real) ||
        theory - real <= WG_RULE_ACHIEVED)
        return;
    say(s, "OPT", "achieved occupancy", trust(s, WG_M_OCCUPANCY_PERCENT, WG_M_WARPS_ACTIVE),
        100 * (theory - real) / theory, true,
        wg_arena_printf(s->a,
                        "Of the theoretical occupancy of %.1f %%, %.1f %% is reached: warps or blocks do unequal work, "
                        "or the grid ends unevenly.",
                        theory, real));
}

static void rule_DIVERGENCE(struct says *s)
{
    double active, on;
    if (!get(s, WG_M_THREADS_PER_INST, &active) || !get(s, WG_M_THREADS_ON_PER_INST, &on) ||
        (active >= WG_RULE_LANES && on >= WG_RULE_LANES))
        return;
    double least = active < on ? active : on;
    say(s, "OPT", "thread divergence", trust(s, WG_M_THREADS_PER_INST, WG_M_THREADS_ON_PER_INST),
        100 * (1 - least / 32), true,
        wg_arena_printf(s->a,
                        "A warp instruction has %.1f of 32 lanes active on average, %.1f of them not switched off by a "
                        "guard. Lanes of one warp that take the same path, and as much work, raise both.",
                        active, on));
}

static void fused(struct says *s, const char *bits, enum wg_metric fma, enum wg_metric add, enum wg_metric mul)
{
    double f, x, y;
    char a[WG_VALUE_TEXT_BYTES], b[WG_VALUE_TEXT_BYTES];
    if (!get(s, fma, &f) || !get(s, add, &x) || !get(s, mul, &y) || x + y <= 0)
        return;
    double gain = 50 * (x + y) / (x + y + f);
    say(s, "OPT", "floating-point instructions", trust(s, fma, add), gain, true,
        wg_arena_printf(s->a,
                        "%s fused and %s non-fused FP%s thread instructions are executed. Could every pair of "
                        "non-fused ones become a fused multiply-add, the FP%s work would shrink by up to %.0f %%.",
                        number(a, f), number(b, x + y), bits, bits, gain));
}

static void rule_FLOATING_POINT(struct says *s)
{
    fused(s, "32", WG_M_FFMA, WG_M_FADD, WG_M_FMUL);
    fused(s, "64", WG_M_DFMA, WG_M_DADD, WG_M_DMUL);
}

static void tail(struct says *s, double grid)
{
    double waves;
    char a[WG_VALUE_TEXT_BYTES];
    if (!get(s, WG_M_WAVES, &waves) || waves <= 0)
        return;
    double full = floor(waves), rest = grid - floor(grid / waves * full + 0.5), gain = 100 / (1 + full);
    if (full < 1 || waves - full <= 0 || gain < WG_RULE_TAIL)
        return;
    say(s, "OPT", "tail effect", trust(s, WG_M_WAVES, WG_M_GRID_SIZE), gain, false,
        wg_arena_printf(
            s->a,
            "The grid fills the device %.0f time%s and leaves a last wave of %s block%s, in which most of it "
            "may idle: up to %.0f %% of the run time, if all blocks take equally long.",
            full, full == 1 ? "" : "s", number(a, rest), rest == 1 ? "" : "s", gain));
}

static void rule_BLOCK_AND_GRID(struct says *s)
{
    double block, grid, sms;
    char a[WG_VALUE_TEXT_BYTES];
    if (!get(s, WG_M_BLOCK_SIZE, &block) || !get(s, WG_M_GRID_SIZE, &grid))
        return;
    double warps = ceil(block / 32), rest = fmod(block, 32);
    if (rest > 0)
        say(s, "OPT", "block size", trust(s, WG_M_BLOCK_SIZE, WG_M_BLOCK_SIZE), 100 / warps * (1 - rest / 32), true,
            wg_arena_printf(s->a,
                            "Blocks of %.0f threads are no whole number of warps: %.0f lanes of each block's last warp "
                            "never work. Multiples of 32 leave none idle.",
                            block, 32 - rest));
    if (!get(s, WG_M_SM_COUNT, &sms) || sms <= 0)
        return;
    const char *exact = trust(s, WG_M_GRID_SIZE, WG_M_SM_COUNT);
    if (grid < sms)
        say(s, "OPT", "small grid", exact, 100 * (sms - grid) / sms, false,
            wg_arena_printf(s->a, "A grid of %s block%s leaves %.0f of the %.0f SMs without work.", number(a, grid),
                            grid == 1 ? "" : "s", sms - grid, sms));
    else if (grid < 2 * sms)
        say(s, "INF", "small grid", exact, -1, false,
            wg_arena_printf(
                s->a,
                "There are only %.1f blocks for each SM. Where blocks wait at barriers, two or more for each "
                "SM keep it busy.",
                grid / sms));
    tail(s, grid);
}

const struct wg_rule_info wg_rule_infos[] = {
#define WG_RULE(id_, name_, section_, title_)         {name_, title_, NULL, WG_S_##section_},
#define WG_RULE_ABSENT(name_, section_, title_, why_) {name_, title_, why_, WG_S_##section_},
#include "report/rules.def"
#undef WG_RULE
#undef WG_RULE_ABSENT
};
const size_t wg_rule_info_count = sizeof wg_rule_infos / sizeof *wg_rule_infos;

static void (*const rules[WG_RULE_COUNT])(struct says *) = {
#define WG_RULE(id, name, section, title) rule_##id,
#define WG_RULE_ABSENT(name, section, title, why)
#include "report/rules.def"
#undef WG_RULE
#undef WG_RULE_ABSENT
};

enum wg_status wg_rules(const struct wg_profile *p, const struct wg_metric_of *of, const struct wg_line *lines,
                        size_t nlines, struct wg_arena *a, struct wg_advice_row **out, size_t *n)
{
    struct says s = {.p = p, .of = of, .lines = lines, .nlines = lines ? nlines : 0, .a = a};
    for (unsigned r = 0; r < WG_RULE_COUNT; r++) {
        s.rule = (enum wg_rule)r;
        rules[r](&s);
    }
    *out = s.v;
    *n = a->failed ? 0 : s.n;
    return a->failed ? WG_NO_MEMORY : WG_OK;
}
