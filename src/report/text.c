/* text.c - the terminal report: per kernel what is wrong, the numbers that matter and how far to trust them, the source. */
#include "report/escape.h"
#include "report/page.h"
#include "report/rules.h"
#include "report/timing.h"
#include "report/view.h"
#include "model/metrics.h"
#include "model/occupancy.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 16, MAX_FINDINGS = 10, MANY_GROUPS = 12 /* from here on, small and faultless ones are brief */ };
static const char *const severity_names[] = {"info", "warning", "error"};

void wg_page_ink(struct wg_page *g, enum wg_ink ink)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[1;31m", "\033[33m", "\033[2m"};
    if (g->color)
        fputs(codes[ink], g->out);
}

void wg_page_pad(struct wg_page *g, unsigned used, unsigned to)
{
    for (; used < to; used++)
        fputc(' ', g->out);
}

unsigned wg_page_text(struct wg_page *g, const char *s, unsigned width)
{
    return wg_escape(g->out, s, strlen(s), width);
}

const char *wg_page_base(const char *path)
{
    const char *s = strrchr(path, '/');
    return s && s[1] ? s + 1 : path;
}

/* One labelled row: text of our own making, wrapped at words; how far to trust it at the right edge of its first line. */
__attribute__((format(printf, 5, 6))) static void row(struct wg_page *g, enum wg_ink ink, const char *label,
                                                      const char *fidelity, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wg_page_ink(g, ink);
    fprintf(g->out, "  %-*s", LABEL - 2, label);
    unsigned right = g->width - 10, at = LABEL;
    const char *s = text;
    for (bool first = true; *s || first; first = false) {
        unsigned room = (first && fidelity ? right - 1 : g->width) - LABEL;
        size_t n = strlen(s);
        if (n > room) {
            for (n = room; n && s[n] != ' ';)
                n--;
            n = n ? n : room;
        }
        if (!first)
            wg_page_pad(g, 0, LABEL);
        at = LABEL + wg_escape(g->out, s, n, 0);
        if (first && fidelity) {
            wg_page_ink(g, WG_INK_PLAIN);
            wg_page_ink(g, WG_INK_DIM);
            wg_page_pad(g, at, right);
            fprintf(g->out, "%10s", fidelity);
            wg_page_ink(g, WG_INK_PLAIN);
            wg_page_ink(g, ink);
        }
        s += n;
        s += strspn(s, " ");
        if (*s)
            fputc('\n', g->out);
    }
    wg_page_ink(g, WG_INK_PLAIN);
    fputc('\n', g->out);
}

/* "(64,64)", "256": trailing ones are left out. */
static const char *dims(char buf[48], const uint32_t d[3])
{
    if (d[2] > 1)
        snprintf(buf, 48, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", d[0], d[1], d[2]);
    else if (d[1] > 1)
        snprintf(buf, 48, "(%" PRIu32 ",%" PRIu32 ")", d[0], d[1]);
    else
        snprintf(buf, 48, "%" PRIu32, d[0]);
    return buf;
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* ---- findings ------------------------------------------------------------------------------------------------- */
static void place(struct wg_page *g, const char *label, uint32_t source, uint32_t line)
{
    if (!line || source >= g->p->nsources)
        return;
    const struct wg_source *s = &g->p->sources[source];
    wg_page_pad(g, 0, LABEL);
    unsigned used = LABEL + (unsigned)fprintf(g->out, "%s", label);
    used += wg_page_text(g, wg_page_base(s->path), 40);
    used += (unsigned)fprintf(g->out, ":%" PRIu32 "  ", line);
    size_t n;
    const char *t = wg_source_line(s, line, &n);
    size_t skip = t ? strspn(t, " \t") : 0;
    if (t && skip < n)
        wg_escape(g->out, t + skip, n - skip, used + 20 < g->width ? g->width - used : 20);
    fputc('\n', g->out);
}

static bool any(const uint32_t t[3]) { return t[0] || t[1] || t[2]; }

static void who(struct wg_page *g, const char *label, const uint32_t t[3], const uint32_t b[3])
{
    wg_page_pad(g, 0, LABEL);
    fprintf(g->out, "%sthread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n",
            label, t[0], t[1], t[2], b[0], b[1], b[2]);
}

static void finding(struct wg_page *g, const struct wg_finding *f, bool in_kernel)
{
    unsigned sev = f->severity <= WG_SEVERITY_ERROR ? f->severity : WG_SEVERITY_ERROR;
    enum wg_ink ink = sev == WG_SEVERITY_ERROR ? WG_INK_BAD : sev == WG_SEVERITY_WARNING ? WG_INK_WARN : WG_INK_PLAIN;
    const char *line = f->message;
    char buf[WG_NUMBER_BYTES];
    wg_page_ink(g, ink);
    fprintf(g->out, "  %-*s", LABEL - 2, severity_names[sev]);
    wg_page_text(g, line, 0);
    wg_page_ink(g, WG_INK_PLAIN);
    if (f->count > 1)
        fprintf(g->out, "   (%s times)", wg_format_count(buf, f->count));
    if (*f->id) {
        wg_page_ink(g, WG_INK_DIM);
        fputs("   [", g->out);
        wg_page_text(g, f->id, 40);
        fputc(']', g->out);
        wg_page_ink(g, WG_INK_PLAIN);
    }
    fputc('\n', g->out);
    while ((line = strchr(line, '\n')) && *++line) {
        wg_page_pad(g, 0, LABEL);
        wg_page_text(g, line, 0);
        fputc('\n', g->out);
    }
    bool two = (f->other_line && f->other_source < g->p->nsources) || any(f->other_thread) || any(f->other_block);
    place(g, two ? "one    " : "at     ", f->source, f->line);
    if (in_kernel)
        who(g, two ? "       " : "by     ", f->thread, f->block);
    if (two) {
        place(g, "other  ", f->other_source, f->other_line);
        who(g, "       ", f->other_thread, f->other_block);
    }
    if (f->address)
        fprintf(g->out, "%*saddress 0x%" PRIx64 "\n", LABEL, "", f->address);
}

static void findings(struct wg_page *g, const struct wg_finding *f, size_t n, bool in_kernel)
{
    size_t shown = g->verbose || n <= MAX_FINDINGS ? n : MAX_FINDINGS;
    for (size_t i = 0; i < shown; i++)
        finding(g, &f[i], in_kernel);
    if (shown < n)
        row(g, WG_INK_DIM, "", NULL, "%zu more; --verbose shows them", n - shown);
}

struct tally { uint64_t severity[3]; };
static void count(struct tally *t, const struct wg_finding *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t->severity[f[i].severity <= WG_SEVERITY_ERROR ? f[i].severity : WG_SEVERITY_ERROR]++;
}

/* "2 errors, 1 warning", or "no findings". */
static const char *tally_text(char buf[96], const struct tally *t)
{
    size_t n = 0;
    for (int s = WG_SEVERITY_ERROR; s >= 0; s--)
        if (t->severity[s])
            n += (size_t)snprintf(buf + n, 96 - n, "%s%" PRIu64 " %s%s", n ? ", " : "", t->severity[s],
                                  s == WG_SEVERITY_INFO ? "note" : severity_names[s], plural(t->severity[s]));
    if (!n)
        snprintf(buf, 96, "no findings");
    return buf;
}

/* ---- one group ------------------------------------------------------------------------------------------------ */
static void title(struct wg_page *g, const struct wg_group *v)
{
    const struct wg_launch_result *l = v->first;
    const char *name = *l->kernel ? l->kernel : l->mangled;
    char a[48], b[48], shape[160], n[WG_NUMBER_BYTES], m[WG_NUMBER_BYTES];
    int k = snprintf(shape, sizeof shape, "<<<%s, %s", dims(a, l->grid), dims(b, l->block));
    if (l->dynamic_shared)
        k += snprintf(shape + k, sizeof shape - (size_t)k, ", %" PRIu64, l->dynamic_shared);
    k += snprintf(shape + k, sizeof shape - (size_t)k, ">>>");
    if (any(l->cluster))
        snprintf(shape + k, sizeof shape - (size_t)k, " in clusters of %s", dims(a, l->cluster));
    fputc('\n', g->out);
    wg_page_ink(g, WG_INK_HEAD);
    unsigned room = g->width - (unsigned)strlen(shape) - 2;
    wg_page_text(g, name, g->verbose ? 0 : room);
    fprintf(g->out, "  %s", shape);
    wg_page_ink(g, WG_INK_PLAIN);
    fputs("\n  ", g->out);
    if (v->nlaunches == 1) {
        fprintf(g->out, "launch %" PRIu32 ": %s warp instructions", l->index, wg_format_count(n, v->max_inst));
    } else {
        fprintf(g->out, "%zu launches alike, the figures are their sums: %s", v->nlaunches, wg_format_count(n, v->min_inst));
        if (v->min_inst != v->max_inst)
            fprintf(g->out, " to %s", wg_format_count(m, v->max_inst));
        fputs(" warp instructions each", g->out);
    }
    if (v->host_seconds > 0)
        fprintf(g->out, ", simulated in %.*f s", v->host_seconds < 1 ? 3 : 1, v->host_seconds);
    if (*l->compiler) {
        fputs(", PTX by ", g->out);
        wg_page_text(g, l->compiler, 40);
    }
    fputc('\n', g->out);
}

static void result(struct wg_page *g, const struct wg_group *v)
{
    const struct wg_launch_result *l = v->first;
    struct tally t = {0};
    char buf[96], a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    count(&t, v->findings, v->nfindings);
    if (l->status != WG_OK) {
        uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
        row(g, WG_INK_BAD, "stopped", NULL, "%s; %s of %s blocks were done",
            *l->status_text ? l->status_text : wg_status_text(l->status), wg_format_count(a, l->blocks_done), wg_format_count(b, all));
    }
    if (v->nfindings || l->status == WG_OK)
        row(g, t.severity[WG_SEVERITY_ERROR] ? WG_INK_BAD : WG_INK_PLAIN, "result", NULL, "%s", tally_text(buf, &t));
    findings(g, v->findings, v->nfindings, true);
}

static void advice(struct wg_page *g, const struct wg_advice *a, const char *fidelity)
{
    char x[WG_NUMBER_BYTES], y[WG_NUMBER_BYTES], z[WG_NUMBER_BYTES], at[160] = "";
    row(g, WG_INK_WARN, "to fix", fidelity, "%s: %s of the %s are %s", a->title, wg_format_percent(z, a->part, a->whole),
        a->unit, a->waste);
    if (a->line && a->line->source < g->p->nsources)
        snprintf(at, sizeof at, "; most in %.100s:%" PRIu32, wg_page_base(g->p->sources[a->line->source].path),
                 a->line->line);
    row(g, WG_INK_PLAIN, "", NULL, "%s of %s%s", wg_format_count(x, a->part), wg_format_count(y, a->whole), at);
    if (a->tried)
        row(g, WG_INK_PLAIN, "", wg_fidelity_name(WG_FIDELITY_MODELLED), "%s; of its worst access, %" PRIu32 " %s become %" PRIu32,
            a->trial.text, a->trial.before, a->unit, a->trial.after);
    else
        row(g, WG_INK_PLAIN, "", NULL, "%s", *a->trial.text ? a->trial.text : a->remedy);
}

/* "     32.0 wavefronts each, ideal   1.0   97 % extra" */
static size_t traffic_text(char *buf, size_t n, const char *unit, uint64_t all, uint64_t ideal, uint64_t extra,
                           uint64_t requests)
{
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES], p[WG_NUMBER_BYTES];
    size_t k = (size_t)snprintf(buf, n, "%8s %s each, ideal %s", wg_format_ratio(a, (double)all / (double)requests), unit,
                                wg_format_ratio(b, (double)ideal / (double)requests));
    if (extra)
        k += (size_t)snprintf(buf + k, n - k, ": %s extra", wg_format_percent(p, extra, all));
    return k;
}

static void traffic(struct wg_page *g, const struct wg_group *v)
{
    static const char *const names[WG_WHERE_COUNT][WG_HOW_COUNT] = {
        {"global loads", "global stores", "global atomics"},    {"shared loads", "shared stores", "shared atomics"},
        {"local loads", "local stores", "local atomics"},       {"generic loads", "generic stores", "generic atomics"},
        {"async copies", "async copies", "async copies"},
    };
    for (int w = 0; w < WG_WHERE_COUNT; w++) {
        for (int h = 0; h < WG_HOW_COUNT; h++) {
            const struct wg_traffic *t = &v->traffic[w][h];
            char n[WG_NUMBER_BYTES], text[160] = "";
            if (!t->requests)
                continue;
            const char *fidelity = wg_fidelity_name(
                wg_view_traffic_fidelity((enum wg_where)w, (enum wg_how)h, v->first));
            if (t->sectors)
                traffic_text(text, sizeof text, "sectors", t->sectors, t->sectors_ideal, t->sectors_extra, t->requests);
            if (t->sectors)
                row(g, WG_INK_PLAIN, names[w][h], fidelity, "%13s requests %s", wg_format_count(n, t->requests), text);
            if (t->wavefronts)
                traffic_text(text, sizeof text, "wavefronts", t->wavefronts, t->wavefronts_ideal, t->wavefronts_extra,
                             t->requests);
            if (t->wavefronts || !t->sectors)
                row(g, WG_INK_PLAIN, t->sectors ? "" : names[w][h], fidelity, "%13s %s %s",
                    t->sectors ? "" : wg_format_count(n, t->requests), t->sectors ? "        " : "requests", text);
        }
    }
}

/* Registers, and what ptxas had no room for. */
static void registers(struct wg_page *g, const struct wg_launch_result *l)
{
    const char *fidelity = l->registers_exact ? "exact" : "estimated";
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    if (!l->registers)
        return;
    const char *space = *l->ptxas ? " " : "";
    if (!l->registers_exact && l->registers_low < l->registers_high)
        row(g, WG_INK_PLAIN, "registers", fidelity, "%13u a thread, from %u to %u", l->registers, l->registers_low,
            l->registers_high);
    else if (!l->registers_exact)
        row(g, WG_INK_PLAIN, "registers", fidelity, "%13u a thread", l->registers);
    else
        row(g, WG_INK_PLAIN, "registers", fidelity, "%13u a thread (ptxas%s%s)", l->registers, space, l->ptxas);
    if (l->spill_stores || l->spill_loads)
        row(g, WG_INK_PLAIN, "spilled", fidelity, "%13s bytes a thread stored, %s loaded", wg_format_count(a, l->spill_stores),
            wg_format_count(b, l->spill_loads));
}

/* How many blocks an SM holds, which needs the registers, and how often the grid fills the device. */
static void occupancy(struct wg_page *g, const struct wg_launch_result *l)
{
    const struct wg_gpu *d = wg_device_of(&g->devices, g->p, l);
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (!d || !l->registers || !threads || threads > d->cc->threads_per_block)
        return;
    struct wg_occupancy_query q = {.threads = (unsigned)threads, .regs = l->registers, .static_shared = l->static_shared,
                                   .dynamic_shared = l->dynamic_shared, .carveout = -1};
    struct wg_occupancy o;
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES], why[128];
    const char *fidelity = l->registers_exact ? "exact" : "estimated";
    wg_occupancy(d->cc, &q, &o);
    if (!o.blocks) {
        wg_occupancy_never_text(d->cc, &q, o.never, why, sizeof why);
        row(g, WG_INK_PLAIN, "occupancy", fidelity, "none: %s", why);
        return;
    }
    struct wg_occupancy most = o, least = o;
    if (!l->registers_exact && l->registers_low && l->registers_high) {
        q.regs = l->registers_low;
        wg_occupancy(d->cc, &q, &most);
        q.regs = l->registers_high;
        wg_occupancy(d->cc, &q, &least);
    }
    if (most.blocks != least.blocks) {
        row(g, WG_INK_PLAIN, "occupancy", fidelity, "%6u to %3u blocks, %.0f to %.0f %%, by the registers", least.blocks,
            most.blocks, 100 * least.occupancy, 100 * most.occupancy);
        return;
    }
    wg_occupancy_limits_text(o.limiting, why, sizeof why);
    row(g, WG_INK_PLAIN, "occupancy", fidelity, "%13u block%s, %u of %u warps (%.0f %%); limit: %s", o.blocks,
        plural(o.blocks), o.warps, d->cc->warps_per_sm, 100 * o.occupancy, why);
    if (d->sms > 0 && (double)blocks < d->sms)
        row(g, WG_INK_PLAIN, "grid", fidelity, "%13s block%s on %.0f SMs: %.0f of them get none", wg_format_count(a, blocks),
            plural(blocks), d->sms, d->sms - (double)blocks);
    else if (d->sms > 0)
        row(g, WG_INK_PLAIN, "grid", fidelity, "%13s blocks on %.0f SMs: %.1f waves of %s", wg_format_count(a, blocks), d->sms,
            wg_occupancy_waves(d, &o, blocks), wg_format_count(b, (uint64_t)d->sms * o.blocks));
}

/* What the models of caches and time say. */
static void model(struct wg_page *g, const struct wg_launch_result *l)
{
    const double *m = l->modelled;
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    if (!wg_timing_known(l))
        return;
    row(g, WG_INK_PLAIN, "time", "estimated", "%13.2f us, from %.2f to %.2f; held back by %s", m[WG_MODELLED_DURATION] / 1e3,
        m[WG_MODELLED_DURATION_LOW] / 1e3, m[WG_MODELLED_DURATION_HIGH] / 1e3, wg_timing_bound(l));
    if (m[WG_MODELLED_L1_LD] > 0)
        row(g, WG_INK_PLAIN, "L1", "modelled", "%13.1f %% of the sectors loaded are there",
            100 * m[WG_MODELLED_L1_LD_HIT] / m[WG_MODELLED_L1_LD]);
    double l2 = m[WG_MODELLED_L2_READ] + m[WG_MODELLED_L2_WRITE] + m[WG_MODELLED_L2_ATOM] + m[WG_MODELLED_L2_RED];
    row(g, WG_INK_PLAIN, "L2", "modelled", "%13s sectors asked for", wg_format_count(a, (uint64_t)l2));
    row(g, WG_INK_PLAIN, "memory", "modelled", "%13s bytes read, %s written", wg_format_count(a, (uint64_t)m[WG_MODELLED_DRAM_READ]),
        wg_format_count(b, (uint64_t)m[WG_MODELLED_DRAM_WRITE]));
    if (m[WG_MODELLED_FOLLOWED] < 1)
        row(g, WG_INK_DIM, "note", NULL, "caches and time follow one line in %.0f; --sample all follows every one",
            1 / m[WG_MODELLED_FOLLOWED]);
}

static void numbers(struct wg_page *g, const struct wg_group *v)
{
    const struct wg_launch_result *l = v->first;
    const uint64_t *c = v->total;
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    traffic(g, v);
    struct wg_figure lanes = wg_view_figure(v, WG_H_PTX_LANES);
    if (lanes.has)
        row(g, WG_INK_PLAIN, "lanes", wg_fidelity_name(lanes.fidelity), "%13.1f of 32 at work in a warp instruction", lanes.value);
    uint64_t branches = c[WG_C_BRANCH_UNIFORM] + c[WG_C_BRANCH_DIVERGENT];
    if (branches)
        row(g, WG_INK_PLAIN, "branches", "exact", "%13s executed by warps, %s divergent", wg_format_count(a, branches),
            c[WG_C_BRANCH_DIVERGENT] ? wg_format_percent(b, c[WG_C_BRANCH_DIVERGENT], branches) : "none");
    if (v->barriers)
        row(g, WG_INK_PLAIN, "barriers", "exact", "%13s executed by warps", wg_format_count(a, v->barriers));
    uint64_t shared = l->static_shared + l->dynamic_shared;
    if (shared)
        row(g, WG_INK_PLAIN, "shared memory", "exact", "%13s bytes a block, %s of them dynamic", wg_format_count(a, shared),
            l->dynamic_shared ? wg_format_count(b, l->dynamic_shared) : "none");
    if (l->local_bytes)
        row(g, WG_INK_PLAIN, "local memory", "exact", "%13s bytes a thread", wg_format_count(a, l->local_bytes));
    registers(g, l);
    occupancy(g, l);
    model(g, l);
}

static void notes(struct wg_page *g, const struct wg_group *v)
{
    char a[WG_NUMBER_BYTES];
    if (v->merged_sites)
        row(g, WG_INK_DIM, "note", NULL, "%s neighbouring accesses are counted joined, as ptxas would join them; "
            "--as-written counts the PTX as it stands", wg_format_count(a, v->merged_sites));
    if (v->one_worker)
        row(g, WG_INK_DIM, "note", NULL, "the result may depend on the order of blocks: they ran one after another");
}

/* What Nsight Compute's rules say of the shape of the launch and no other row says. */
static void shape(struct wg_page *g, const struct wg_group *v)
{
    const struct wg_metric_of of = {.launch = v->first, .gpu = wg_device_of(&g->devices, g->p, v->first)};
    struct wg_advice_row *rows;
    size_t n;
    if (wg_rules(g->p, &of, NULL, 0, g->arena, &rows, &n) != WG_OK)
        return;
    for (size_t i = 0; i < n; i++)
        if (rows[i].rule == WG_R_BLOCK_AND_GRID && (!strcmp(rows[i].title, "block size") || !strcmp(rows[i].title, "tail effect")))
            row(g, WG_INK_PLAIN, rows[i].title, rows[i].fidelity, "%s", rows[i].text);
}

/* `brief`: of a launch with nothing wrong in it, only the head. */
static enum wg_status group(struct wg_page *g, const struct wg_group *v, const struct wg_line *lines, size_t nlines,
                            bool brief)
{
    struct wg_advice adv[WG_ADVICE_MAX];
    const char *fidelity = v->merged_sites ? "modelled" : "exact";
    title(g, v);
    result(g, v);
    if (!v->total[WG_C_INST]) {
        row(g, WG_INK_PLAIN, "counts", NULL, v->first->blocks_done ? "none: counting was off" : "none: no block finished");
        return WG_OK;
    }
    size_t n = wg_judge(v, lines, nlines, adv);
    if (brief && !n && !v->nfindings && v->first->status == WG_OK)
        return WG_OK;
    for (size_t i = 0; i < n; i++)
        advice(g, &adv[i], !strcmp(adv[i].unit, "lanes") ? "exact" : fidelity);
    numbers(g, v);
    shape(g, v);
    notes(g, v);
    wg_page_annotate(g, v, lines, nlines);
    return g->arena->failed ? WG_NO_MEMORY : WG_OK;
}

/* ---- the page ------------------------------------------------------------------------------------------------- */
struct view { struct wg_line *lines; size_t n; };

static void summary(struct wg_page *g, const struct wg_group *v, size_t n, const struct view *views,
                    const struct wg_finding *host, size_t nhost)
{
    const struct wg_profile *p = g->p;
    struct tally t = {0};
    struct wg_advice adv[WG_ADVICE_MAX];
    size_t fixes = 0, kernels = 0;
    char buf[96], a[WG_NUMBER_BYTES];
    for (size_t i = 0; i < n; i++) {
        count(&t, v[i].findings, v[i].nfindings);
        if (v[i].total[WG_C_INST])
            fixes += wg_judge(&v[i], views[i].lines, views[i].n, adv);
        size_t k = 0;
        while (k < i && strcmp(v[k].first->mangled, v[i].first->mangled))
            k++;
        kernels += k == i;
    }
    count(&t, host, nhost);
    wg_page_ink(g, WG_INK_HEAD);
    unsigned used = wg_page_text(g, p->tool_version, 40);
    wg_page_ink(g, WG_INK_PLAIN);
    fputs("   ", g->out);
    used += 3 + wg_page_text(g, p->program, g->verbose ? 0 : g->width - used - 3);
    fputc('\n', g->out);
    wg_page_pad(g, 0, 2);
    fprintf(g->out, "%zu kernel%s, %s launch%s, %s", kernels, plural(kernels), wg_format_count(a, p->nlaunches),
            p->nlaunches == 1 ? "" : "es", tally_text(buf, &t));
    if (p->nlaunches)
        fprintf(g->out, ", %zu thing%s to fix", fixes, plural(fixes));
    if (p->nlaunches && *p->launches[0].device) {
        fputs("; a model of ", g->out);
        wg_page_text(g, p->launches[0].device, 40);
    }
    fputc('\n', g->out);
}

enum wg_status wg_report_text(const struct wg_profile *p, const struct wg_text_style *style, FILE *out)
{
    struct wg_arena arena = {0};
    struct wg_page g = {.out = out, .p = p, .arena = &arena, .color = style->color, .verbose = style->verbose};
    g.width = style->width ? style->width : 100;
    g.width = g.width < 80 ? 80 : g.width > 1000 ? 1000 : g.width;
    struct wg_group *v;
    size_t n, nhost;
    enum wg_status s = wg_fold(p, !style->verbose, &arena, &v, &n);
    const struct wg_finding **hosts = wg_arena_alloc(&arena, (p->nhost_findings + 1) * sizeof *hosts);
    struct view *views = wg_arena_alloc(&arena, (n + 1) * sizeof *views);
    if (s == WG_OK && (!hosts || !views))
        s = WG_NO_MEMORY;
    for (size_t i = 0; s == WG_OK && i < n; i++)
        s = wg_fold_lines(p, &v[i], &arena, &views[i].lines, &views[i].n);
    if (s == WG_OK) {
        for (size_t i = 0; i < p->nhost_findings; i++)
            hosts[i] = &p->host_findings[i];
        const struct wg_finding *host = wg_fold_findings(&arena, hosts, p->nhost_findings, &nhost);
        s = arena.failed ? WG_NO_MEMORY : WG_OK;
        if (s == WG_OK) {
            summary(&g, v, n, views, host, nhost);
            if (nhost)
                fputs("\nthe program's use of CUDA\n", out);
            findings(&g, host, nhost, false);
        }
    }
    uint64_t all = 0;
    for (size_t i = 0; s == WG_OK && i < n; i++)
        all += v[i].total[WG_C_INST];
    for (size_t i = 0; s == WG_OK && i < n; i++)
        s = group(&g, &v[i], views[i].lines, views[i].n, !g.verbose && n > MANY_GROUPS && v[i].total[WG_C_INST] * 100 < all);
    wg_arena_free(&g.devices.arena);
    wg_arena_free(&arena);
    return s == WG_OK && ferror(out) ? WG_IO : s;
}
