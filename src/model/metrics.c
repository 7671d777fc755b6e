/* metrics.c - evaluates metrics.def over the counters of a set of sites and the facts of their launch.
 *
 * Words of its expressions: SUM(counter, spaces, kinds) a counter over the sites of those kinds; LANES those at work; MACHINE(...) the same in
 * machine instructions; PER_SITE(a, b, ...) the whole part of a/b of each, summed; THREADS(op, op, type) thread
 * instructions of those operations on that type; OPS(op, op) requests of those operations; RATIO, PERCENT (no value when
 * divided by 0); LAUNCH, GPU, OCCUPANCY(field), LIMIT(id), CARVEOUT, CLUSTERS, BLOCKS, THREADS_PER_BLOCK, REGS;
 * MODEL(row) of modelled.def, no value unless the models ran; ON_DEVICE(x) only when the device is known, KNOWN(x) only when the registers are known too.
 */
#include "model/metrics.h"
#include "model/occupancy.h"
#include "model/registers.h"
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* Sets of spaces and kinds. */
enum { GLOBAL = 1, SHARED = 2, LOCAL = 4, ELSEWHERE = 8, ANYWHERE = 15 };
enum {
    LOADS = 1 << WG_SITE_LOAD,
    STORES = 1 << WG_SITE_STORE,
    ATOMS = 1 << WG_SITE_ATOM,
    REDS = 1 << WG_SITE_RED,
    ANY = -1
};

struct eval {
    const struct wg_metric_of *of;
    const struct wg_gpu *gpu;
    struct wg_occupancy occupancy; /* zero when the device or the registers are not known */
    unsigned registers, carveout;
    double blocks, threads, clusters;
};

/* A generic access belongs where it was counted. */
static unsigned space_of(const struct wg_site *s)
{
    switch (s->space) {
    case WG_SITE_GLOBAL: return GLOBAL;
    case WG_SITE_SHARED: return SHARED;
    case WG_SITE_LOCAL: return LOCAL;
    case WG_SITE_GENERIC:
        return s->c[WG_C_TAGS] ? GLOBAL : s->c[WG_C_WAVEFRONTS] ? SHARED : s->c[WG_C_SECTORS] ? LOCAL : GLOBAL;
    default: return ELSEWHERE;
    }
}

static bool in(const struct wg_site *s, unsigned spaces, int kinds)
{
    return (space_of(s) & spaces) && (kinds == ANY || (kinds >> s->kind & 1));
}

/* A launch without sites counted nothing although it ran; an older profile may lack one counter. */
static bool counted(const struct eval *e, enum wg_counter c)
{
    const struct wg_launch_result *l = e->of->launch;
    return (l->nsites || !l->blocks_done) && !(l->uncounted >> c & 1);
}

static double sum(const struct eval *e, enum wg_counter c, unsigned spaces, int kinds)
{
    uint64_t n = 0;
    if (!counted(e, c))
        return NAN;
    for (size_t i = 0; i < e->of->nsites; i++)
        if (in(e->of->sites[i], spaces, kinds))
            n += e->of->sites[i]->c[c];
    return (double)n;
}

uint64_t wg_metric_lanes(const struct wg_site *s)
{
    return s->c[s->kind == WG_SITE_BRANCH ? WG_C_THREAD_INST : WG_C_THREAD_INST_ON];
}

static double lanes(const struct eval *e)
{
    uint64_t n = 0;
    if (!counted(e, WG_C_THREAD_INST) || !counted(e, WG_C_THREAD_INST_ON))
        return NAN;
    for (size_t i = 0; i < e->of->nsites; i++)
        n += wg_metric_lanes(e->of->sites[i]);
    return (double)n;
}

/* The same in machine instructions. */
static double machine(const struct eval *e, enum wg_counter c, unsigned spaces, int kinds)
{
    double n = 0;
    if (e->of->launch->machine == WG_MACHINE_NONE || !counted(e, c))
        return sum(e, c, spaces, kinds);
    for (size_t i = 0; i < e->of->nsites; i++)
        if (in(e->of->sites[i], spaces, kinds))
            n += (double)e->of->sites[i]->c[c] * e->of->sites[i]->machine;
    return rint(n / 100);
}

static double per_site(const struct eval *e, enum wg_counter a, enum wg_counter b, unsigned spaces, int kinds)
{
    uint64_t n = 0;
    if (!counted(e, a) || !counted(e, b))
        return NAN;
    for (size_t i = 0; i < e->of->nsites; i++) {
        const struct wg_site *s = e->of->sites[i];
        if (in(s, spaces, kinds) && s->c[b])
            n += s->c[a] / s->c[b];
    }
    return (double)n;
}

static bool is_op(const char *opcode, const char *op, const char *type)
{
    size_t n = strlen(op), len = strlen(opcode), t = strlen(type);
    return n && strncmp(opcode, op, n) == 0 && opcode[n] == '.' && len > t && strcmp(opcode + len - t, type) == 0 &&
           opcode[len - t - 1] == '.';
}

static double threads(const struct eval *e, const char *op1, const char *op2, const char *type)
{
    uint64_t n = 0;
    if (!counted(e, WG_C_THREAD_INST_ON))
        return NAN;
    for (size_t i = 0; i < e->of->nsites; i++) {
        const struct wg_site *s = e->of->sites[i];
        if (is_op(s->opcode, op1, type) || is_op(s->opcode, op2, type))
            n += s->c[WG_C_THREAD_INST_ON];
    }
    return (double)n;
}

static bool begins(const char *opcode, const char *op)
{
    size_t n = strlen(op);
    return n && strncmp(opcode, op, n) == 0 && (opcode[n] == '.' || !opcode[n]);
}

static double ops(const struct eval *e, const char *op1, const char *op2)
{
    uint64_t n = 0;
    if (!counted(e, WG_C_ACCESS))
        return NAN;
    for (size_t i = 0; i < e->of->nsites; i++) {
        const struct wg_site *s = e->of->sites[i];
        if (begins(s->opcode, op1) || begins(s->opcode, op2))
            n += s->c[WG_C_ACCESS];
    }
    return (double)n;
}

static double ratio(double a, double b) { return b != 0 ? a / b : NAN; }
static double least(double a, double b) { return a < b ? a : b; }
static double limit(unsigned l) { return l == WG_NO_LIMIT ? INFINITY : (double)l; }

#define SUM(counter, spaces, kinds) sum(e, WG_C_##counter, spaces, kinds)
#define LANES lanes(e)
#define MACHINE(counter, spaces, kinds) machine(e, WG_C_##counter, spaces, kinds)
#define PER_SITE(a, b, spaces, kinds) per_site(e, WG_C_##a, WG_C_##b, spaces, kinds)
#define THREADS(a, b, type) threads(e, a, b, type)
#define OPS(a, b) ops(e, a, b)
#define RATIO(a, b) ratio(a, b)
#define PERCENT(a, b) (ratio(a, b) * 100)
#define FLOOR(a) floor(a)
#define LEAST(a, b) least(a, b)
#define LAUNCH e->of->launch
#define GPU e->gpu
#define OCCUPANCY(field) e->occupancy.field
#define LIMIT(id) limit(e->occupancy.limit[WG_LIMIT_##id])
#define CARVEOUT e->carveout
#define CLUSTERS e->clusters
#define BLOCKS e->blocks
#define THREADS_PER_BLOCK e->threads
#define REGS e->registers
#define MODEL(id) (LAUNCH->has_model ? LAUNCH->modelled[WG_MODELLED_##id] : NAN)
#define L2_ALL (MODEL(L2_READ) + MODEL(L2_WRITE) + MODEL(L2_ATOM) + MODEL(L2_RED))
#define L2_HIT (MODEL(L2_READ_HIT) + MODEL(L2_WRITE) + MODEL(L2_ATOMIC_HIT))
#define ACTIVE_SHARE ratio(MODEL(SM_ACTIVE) * 1000, MODEL(DURATION) * MODEL(CLOCK))
#define MOST(a, b) fmax(a, b)
#define ON_DEVICE(x) (e->gpu ? (double)(x) : NAN)
#define KNOWN(x) (e->gpu && e->registers ? (double)(x) : NAN)

#define WG_METRIC(id, name, unit, fidelity, better, expression, text) \
    static double value_##id(const struct eval *e) { (void)e; return expression; }
#define WG_METRIC_ABSENT(id, name, unit, why) \
    static double value_##id(const struct eval *e) { (void)e; return NAN; }
#include "model/metrics.def"
#undef WG_METRIC
#undef WG_METRIC_ABSENT

static double (*const values[WG_METRIC_COUNT])(const struct eval *) = {
#define WG_METRIC(id, name, unit, fidelity, better, expression, text) value_##id,
#define WG_METRIC_ABSENT(id, name, unit, why) value_##id,
#include "model/metrics.def"
#undef WG_METRIC
#undef WG_METRIC_ABSENT
};

const struct wg_metric_info wg_metric_infos[WG_METRIC_COUNT] = {
#define WG_METRIC(id, name_, unit_, fidelity_, better_, expression, text_) \
    {name_, unit_, text_, WG_FIDELITY_##fidelity_, WG_BETTER_##better_, WG_M_##id >= WG_M_GRID_SIZE},
#define WG_METRIC_ABSENT(id, name_, unit_, why) {name_, unit_, why, WG_FIDELITY_ABSENT, WG_BETTER_NEITHER, false},
#include "model/metrics.def"
#undef WG_METRIC
#undef WG_METRIC_ABSENT
};

static void prepare(struct eval *e)
{
    const struct wg_launch_result *l = e->of->launch;
    e->gpu = e->of->gpu ? e->of->gpu : wg_gpu_find(l->device);
    e->blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    e->threads = (double)l->block[0] * l->block[1] * l->block[2];
    if (!e->gpu || e->threads < 1 || e->threads > 1u << 20)
        return;
    unsigned sm = e->gpu->cc->major * 10 + e->gpu->cc->minor;
    e->registers = l->registers ? wg_registers_at_launch(sm, l->registers) : 0;
    struct wg_occupancy_query q = {.threads = (unsigned)e->threads,
                                   .regs = e->registers,
                                   .static_shared = l->static_shared,
                                   .dynamic_shared = l->dynamic_shared,
                                   .carveout = -1,
                                   .barriers = 1};
    wg_occupancy(e->gpu->cc, &q, &e->occupancy);
    e->clusters = l->cluster[0] ? wg_occupancy_clusters(e->gpu, &e->occupancy, l->cluster[0] * l->cluster[1] * l->cluster[2])
                                : NAN;
    e->carveout = wg_occupancy_driver_carveout(e->gpu->cc, &q);
}

bool wg_metric_value(enum wg_metric m, const struct wg_metric_of *of, double *value)
{
    struct eval e = {.of = of};
    *value = 0;
    if (wg_metric_infos[m].fidelity == WG_FIDELITY_ABSENT || (of->line && wg_metric_infos[m].of_launch))
        return false;
    if (wg_metric_infos[m].of_launch)
        prepare(&e);
    double v = values[m](&e);
    if (!isfinite(v))
        return false;
    *value = v;
    return true;
}

bool wg_metric_launch(enum wg_metric m, const struct wg_launch_result *launch, const struct wg_gpu *gpu, double *value)
{
    enum { FEW = 512 };
    const struct wg_site *some[FEW];
    struct wg_metric_of of = {.launch = launch, .sites = some, .gpu = gpu};
    if (wg_metric_infos[m].of_launch)
        return wg_metric_value(m, &of, value);
    if (launch->nsites <= FEW) {
        for (size_t i = 0; i < launch->nsites; i++)
            some[i] = &launch->sites[i];
        of.nsites = launch->nsites;
        return wg_metric_value(m, &of, value);
    }
    const struct wg_site **all = wg_calloc(launch->nsites, sizeof *all);
    if (!all) {
        *value = 0;
        return false;
    }
    for (size_t i = 0; i < launch->nsites; i++)
        all[i] = &launch->sites[i];
    of.sites = all;
    of.nsites = launch->nsites;
    bool ok = wg_metric_value(m, &of, value);
    free(all);
    return ok;
}

enum wg_fidelity wg_metric_fidelity(enum wg_metric m, const struct wg_launch_result *launch)
{
    enum wg_fidelity f = wg_metric_infos[m].fidelity;
    if (f == WG_FIDELITY_EXACT && !wg_metric_infos[m].of_launch && launch->merged_sites)
        return WG_FIDELITY_MODELLED; /* counted as a model of ptxas joined the accesses */
    if (f == WG_FIDELITY_PTX)
        return WG_FIDELITY_EXACT;
    return f != WG_FIDELITY_REGISTERS ? f : launch->registers_exact ? WG_FIDELITY_EXACT : WG_FIDELITY_ESTIMATED;
}

const char *wg_fidelity_name(enum wg_fidelity f)
{
    static const char *const names[] = {"exact", "modelled", "estimated", "exact or estimated", "exact", "n/a"};
    return names[f];
}

int wg_metric_find(const char *name)
{
    for (int i = 0; i < WG_METRIC_COUNT; i++)
        if (strcmp(wg_metric_infos[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- what stands beside a row that ends in .sum -------------------------------------------------------------------- */
static const char *const rollups[] = {"", ".avg", ".max", ".min"};
static const char *const rates[] = {"", ".per_second", ".per_cycle_active", ".per_cycle_elapsed",
                                    ".pct_of_peak_sustained_active", ".pct_of_peak_sustained_elapsed"};
enum { NRATES = sizeof rates / sizeof *rates };

static size_t base_length(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".sum") == 0 ? n - 4 : 0;
}

bool wg_metric_parse(const char *name, struct wg_metric_ref *out)
{
    int row = wg_metric_find(name);
    *out = (struct wg_metric_ref){.metric = row < 0 ? 0 : (enum wg_metric)row};
    if (row >= 0)
        return true;
    size_t n = strcspn(name, ".");
    for (int i = 0; i < WG_METRIC_COUNT; i++) {
        const char *own = wg_metric_infos[i].name, *rest = name + n;
        if (base_length(own) != n || strncmp(own, name, n) != 0)
            continue;
        out->metric = (enum wg_metric)i;
        if (strncmp(rest, ".sum", 4) == 0) {
            rest += 4;
        } else {
            for (unsigned k = WG_ROLLUP_AVG; k <= WG_ROLLUP_MIN; k++)
                if (strncmp(rest, rollups[k], 4) == 0)
                    out->rollup = (enum wg_rollup)k;
            rest += out->rollup ? 4 : 0;
        }
        if (!*rest)
            return out->rollup != WG_ROLLUP_ROW; /* without a suffix it names none of them */
        for (unsigned k = 1; k < NRATES; k++)
            if (strcmp(rest, rates[k]) == 0) {
                out->rate = (unsigned char)(k | (unsigned)out->rollup << 4);
                out->rollup = WG_ROLLUP_RATE;
                return true;
            }
        return false;
    }
    return false;
}

const char *wg_metric_ref_name(struct wg_metric_ref r, char buf[WG_METRIC_NAME_BYTES])
{
    const char *own = wg_metric_infos[r.metric].name;
    if (r.rollup == WG_ROLLUP_ROW)
        return own;
    unsigned base = r.rollup == WG_ROLLUP_RATE ? r.rate >> 4 : (unsigned)r.rollup;
    snprintf(buf, WG_METRIC_NAME_BYTES, "%.*s%s%s", (int)base_length(own), own, base ? rollups[base] : ".sum",
             r.rollup == WG_ROLLUP_RATE ? rates[r.rate & 15] : "");
    return buf;
}

/* How many of the units there are that count a metric, by the first word of its name; 0: not published. */
static double instances(const char *name, const struct wg_gpu *g)
{
    if (strncmp(name, "smsp__", 6) == 0)
        return g->sms * g->cc->schedulers;
    return strncmp(name, "sm__", 4) == 0 || strncmp(name, "l1tex__", 7) == 0 ? g->sms : 0;
}

const char *wg_metric_ref_why(struct wg_metric_ref r)
{
    const char *own = wg_metric_infos[r.metric].name;
    if (wg_metric_infos[r.metric].fidelity == WG_FIDELITY_ABSENT)
        return wg_metric_infos[r.metric].text;
    switch (r.rollup) {
    case WG_ROLLUP_RATE: return "needs a model of time";
    case WG_ROLLUP_MAX:
    case WG_ROLLUP_MIN: return "needs to know which SM runs which block";
    case WG_ROLLUP_AVG:
        return strncmp(own, "sm", 2) == 0 || strncmp(own, "l1tex__", 7) == 0 ? NULL
                                                                             : "how many such units there are is not published";
    default: return NULL;
    }
}

bool wg_metric_ref_value(struct wg_metric_ref r, const struct wg_metric_of *of, double *value)
{
    *value = 0;
    if (wg_metric_ref_why(r) || (r.rollup && of->line) || !wg_metric_value(r.metric, of, value))
        return false;
    if (r.rollup == WG_ROLLUP_AVG) {
        const struct wg_gpu *g = of->gpu ? of->gpu : wg_gpu_find(of->launch->device);
        double n = g ? instances(wg_metric_infos[r.metric].name, g) : 0;
        *value = n > 0 ? *value / n : 0;
        return n > 0;
    }
    return true;
}

const char *wg_metric_ref_unit(struct wg_metric_ref r)
{
    if (r.rollup != WG_ROLLUP_RATE)
        return wg_metric_infos[r.metric].unit;
    return strncmp(rates[r.rate & 15], ".pct", 4) == 0 ? "%" : "";
}

void wg_metric_nearest(const char *name, char *buf, size_t n)
{
    const char *names[WG_METRIC_COUNT];
    for (int i = 0; i < WG_METRIC_COUNT; i++)
        names[i] = wg_metric_infos[i].name;
    wg_gpu_nearest(name, names, WG_METRIC_COUNT, 3, buf, n);
}

/* ---- text columns -------------------------------------------------------------------------------------------------- */
const char *const wg_metric_columns[3] = {"memory_type", "memory_access_type", "memory_access_size_type"};

static int column_value(enum wg_metric_column c, const struct wg_site *s)
{
    unsigned space = space_of(s);
    if (!s->access_bytes || space == ELSEWHERE)
        return -1;
    switch (c) {
    case WG_COLUMN_MEMORY_TYPE: return space == GLOBAL ? 0 : space == LOCAL ? 1 : 2;
    case WG_COLUMN_ACCESS_TYPE:
        /* the profiler names no operation for a global reduction */
        return s->kind == WG_SITE_LOAD    ? 0
               : s->kind == WG_SITE_STORE ? 1
               : s->kind == WG_SITE_ATOM || (s->kind == WG_SITE_RED && space == SHARED) ? 2
                                                                                         : -1;
    default: return 31 - __builtin_clz(s->access_bytes);
    }
}

void wg_metric_column(enum wg_metric_column c, const struct wg_site *const *sites, size_t n, char *buf, size_t size)
{
    static const char *const names[2][3] = {{"Global", "Local", "Shared"}, {"Load", "Store", "Atomic"}};
    unsigned count[16] = {0};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        int v = column_value(c, sites[i]);
        if (v >= 0 && v < 16)
            count[v]++;
    }
    snprintf(buf, size, "-");
    for (unsigned v = 0; v < 16 && used < size; v++) {
        char number[8], many[16] = "";
        if (!count[v])
            continue;
        snprintf(number, sizeof number, "%u", 8u << v);
        if (count[v] > 1)
            snprintf(many, sizeof many, "(%u)", count[v]);
        used += (size_t)snprintf(buf + used, size - used, "%s%s%s", used ? "," : "",
                                 c == WG_COLUMN_ACCESS_SIZE ? number : names[c][v % 3], many);
    }
}
