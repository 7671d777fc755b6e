/* results.c - from the workers' counters to the launch's entry in the profile. */
#include "exec/engine.h"
#include "exec/machine.h"
#include "exec/traffic.h"
#include "exec/cfg.h"
#include "exec/demangle.h"
#include "exec/patterns.h"
#include <string.h>

static uint8_t site_kind(const struct wg_instr *in, bool used)
{
    switch (in->op) {
    case WG_OP_LD: case WG_OP_LDU: return WG_SITE_LOAD;
    case WG_OP_ST: return WG_SITE_STORE;
    case WG_OP_ATOM: return used ? WG_SITE_ATOM : WG_SITE_RED;
    case WG_OP_RED: return WG_SITE_RED;
    case WG_OP_BRA: case WG_OP_BRX: case WG_OP_BRX_IDX: return WG_SITE_BRANCH;
    case WG_OP_STMATRIX: case WG_OP_WMMA_STORE: return WG_SITE_STORE;
    default: break;
    }
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_SYNC: return WG_SITE_BARRIER;
    case WG_GROUP_ASYNC: return WG_SITE_ASYNC;
    case WG_GROUP_TENSOR: return WG_SITE_MATRIX;
    default: return WG_SITE_OTHER;
    }
}

static uint8_t site_space(const struct wg_instr *in, uint64_t seen)
{
    switch (in->op) {
    case WG_OP_CP_ASYNC: return WG_SITE_GLOBAL; /* its shared side shows in the wavefronts */
    case WG_OP_LDMATRIX: case WG_OP_STMATRIX: return WG_SITE_SHARED;
    case WG_OP_WMMA_LOAD_A: case WG_OP_WMMA_LOAD_B: case WG_OP_WMMA_LOAD_C: case WG_OP_WMMA_STORE: break;
    default:
        if (wg_op_infos[in->op].group != WG_GROUP_MEM && wg_op_infos[in->op].group != WG_GROUP_ATOM)
            return WG_SITE_NONE;
    }
    switch (in->space) {
    case WG_SPACE_GLOBAL: return WG_SITE_GLOBAL;
    case WG_SPACE_SHARED: case WG_SPACE_SHARED_CLUSTER: return WG_SITE_SHARED;
    case WG_SPACE_LOCAL: return WG_SITE_LOCAL;
    case WG_SPACE_CONST: return WG_SITE_CONST;
    case WG_SPACE_PARAM: return WG_SITE_PARAM;
    default: break;
    }
    for (unsigned s = WG_SITE_GLOBAL; s <= WG_SITE_LOCAL; s++)
        if (seen == 1ull << s)
            return (uint8_t)s;
    return WG_SITE_GENERIC;
}

struct uses { uint32_t *n; };
static void count_use(void *ctx, int32_t reg, bool write)
{
    if (!write)
        ((struct uses *)ctx)->n[reg]++;
}

static uint32_t source_of(struct wg *g, const struct wg_ptx_module *m, uint32_t file)
{
    if (file >= m->nfiles || !m->files[file])
        return UINT32_MAX;
    return wg_profile_add_source(&g->profile, m->files[file]);
}

/* How often an instruction ran, and with how many lanes: under the guard that ptxas makes of a branch, and by itself. */
struct executed { uint64_t exec, lanes, own_exec, own_lanes; bool guarded, guard; };

static void fill_site(struct wg_run *r, struct wg_site *s, const struct wg_instr *in, const struct wg_site_count *c,
                      bool used, const struct executed *x, uint32_t *file_map, struct wg_arena *a)
{
    const struct wg_ptx_module *m = r->kc->module;
    if (in->line && in->file < m->nfiles) {
        if (file_map[in->file] == UINT32_MAX)
            file_map[in->file] = source_of(r->g, m, in->file);
        s->source = file_map[in->file];
        s->line = s->source == UINT32_MAX ? 0 : in->line;
    } else {
        s->source = UINT32_MAX;
    }
    s->inlined_source = UINT32_MAX;
    if (in->inl_line && in->inl_file < m->nfiles) {
        if (file_map[in->inl_file] == UINT32_MAX)
            file_map[in->inl_file] = source_of(r->g, m, in->inl_file);
        s->inlined_source = file_map[in->inl_file];
        s->inlined_line = in->inl_line;
    }
    s->ptx_line = in->ptx_line;
    s->kind = site_kind(in, used);
    s->space = site_space(in, c->spaces);
    if (s->space != WG_SITE_NONE && in->ntypes)
        s->access_bytes = (uint16_t)(wg_type_bytes((enum wg_type)in->type[0]) * wg_vec_width((enum wg_vec)in->vec));
    if (in->op == WG_OP_CP_ASYNC && in->ops[2].kind == WG_OPERAND_IMM)
        s->access_bytes = (uint16_t)in->ops[2].imm;
    if (in->op == WG_OP_LDMATRIX || in->op == WG_OP_STMATRIX) /* of the lanes that give rows */
        s->access_bytes = 16;
    s->text = wg_arena_str(a, in->text, in->text_len);
    s->opcode = in->mnemonic;
    s->c[WG_C_INST] = x->exec;
    s->c[WG_C_THREAD_INST] = x->lanes;
    s->c[WG_C_THREAD_INST_ON] = in->guard >= 0 ? c->on : x->own_lanes;
    bool shared = s->space == WG_SITE_SHARED;
    uint64_t bytes = s->access_bytes;
    s->c[WG_C_ACCESS] = c->access + c->full + c->same;
    s->c[WG_C_TAGS] = c->tags + (shared ? 0 : c->full * bytes / 4 + c->same);
    s->c[WG_C_SECTORS] = c->sectors + (shared ? 0 : c->full * bytes + c->same);
    s->c[WG_C_SECTORS_IDEAL] = c->sectors_ideal + (shared ? 0 : c->full * bytes + c->same);
    s->c[WG_C_WAVEFRONTS] = c->wavefronts + (shared ? c->full + c->same : 0);
    s->c[WG_C_WAVEFRONTS_IDEAL] = c->wavefronts_ideal + (shared ? c->full + c->same : 0);
    s->c[WG_C_BYTES_USED] = c->bytes + 32 * bytes * c->full + 128 * c->same;
    s->c[WG_C_ATOM_SECTORS] = c->atom_sectors;
    if (x->guard) /* no branch any more */
        return;
    s->c[WG_C_BRANCH_UNIFORM] = c->uniform;
    s->c[WG_C_BRANCH_DIVERGENT] = c->divergent;
    /* an unguarded branch cannot split a warp: each execution was uniform */
    if (in->op == WG_OP_BRA && in->guard < 0)
        s->c[WG_C_BRANCH_UNIFORM] = x->own_exec;
}

static uint64_t end_of_block(const struct wg_worker *k, const struct wg_code *code, uint32_t b)
{
    uint64_t exec = k->bb[code->bb0 + b].exec;
    for (uint32_t i = code->bb_first[b]; i < code->bb_first[b + 1]; i++)
        exec += (uint64_t)k->site[code->site0 + i].exec_adj;
    return exec;
}

static void fill_code(struct wg_run *r, const struct wg_code *code, struct wg_site *sites, uint32_t *file_map,
                      struct wg_arena *a)
{
    const struct wg_worker *k = &r->workers[0];
    const struct wg_function *f = code->fn;
    struct uses u = {wg_arena_alloc(a, (f->nregs + 1) * sizeof *u.n)};
    if (!u.n)
        return;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], count_use, &u);
    for (uint32_t b = 0; b < code->nbb; b++) {
        struct executed x = {.own_exec = k->bb[code->bb0 + b].exec, .own_lanes = k->bb[code->bb0 + b].lanes};
        x.guarded = code->with && code->with[b] >= 0;
        for (uint32_t at = b; code->with && code->with[at] >= 0;)
            x.exec = end_of_block(k, code, at = (uint32_t)code->with[at]), x.lanes = k->bb[code->bb0 + at].lanes;
        for (uint32_t i = code->bb_first[b]; i < code->bb_first[b + 1]; i++) {
            const struct wg_instr *in = &f->instrs[i];
            const struct wg_site_count *c = &k->site[code->site0 + i];
            struct wg_site *s = &sites[code->site0 + i];
            x.own_exec += (uint64_t)c->exec_adj;
            if (!x.guarded)
                x.exec = x.own_exec, x.lanes = x.own_lanes;
            s->machine = code->machine ? code->machine[i] : 100;
            x.guard = s->machine == 0 || (code->with && (x.guarded || code->with[b] == WG_MACHINE_NO_BRANCH));
            bool used = in->op == WG_OP_ATOM && in->ops[0].kind == WG_OPERAND_REG && u.n[in->ops[0].reg];
            fill_site(r, s, in, c, used, &x, file_map, a);
            s->worst = c->worst ? &k->worst[code->site0 + i] : NULL;
            s->patterns = k->patterns[code->site0 + i] ? &k->patterns[code->site0 + i]->of : NULL;
            s->idle = code->idle && code->idle[i];
        }
    }
}

static const struct wg_instr *site_instr(const struct wg_kernel_code *kc, uint32_t site)
{
    for (uint32_t c = 0; c < kc->ncodes; c++)
        if (site >= kc->codes[c]->site0 && site - kc->codes[c]->site0 < kc->codes[c]->fn->ninstrs)
            return &kc->codes[c]->fn->instrs[site - kc->codes[c]->site0];
    return NULL;
}

static enum wg_status add_fault(struct wg_run *r, const struct wg_fault *f, struct wg_arena *a)
{
    struct wg_finding x = {.id = f->id, .tool = f->status == WG_HANG ? "synccheck" : "memcheck",
                           .severity = WG_SEVERITY_ERROR, .count = 1, .address = f->address, .source = UINT32_MAX,
                           .other_source = UINT32_MAX, .message = f->text};
    if (f->status != WG_KERNEL_FAULT && f->status != WG_HANG)
        return WG_OK;
    memcpy(x.block, f->ctaid, sizeof x.block);
    memcpy(x.thread, f->tid, sizeof x.thread);
    const struct wg_instr *in = f->site == UINT32_MAX ? NULL : site_instr(r->kc, f->site);
    if (in) {
        x.source = in->line ? source_of(r->g, r->kc->module, in->file) : UINT32_MAX;
        x.line = x.source == UINT32_MAX ? 0 : in->line;
    }
    (void)a;
    return wg_profile_add_finding(&r->g->profile, &x);
}

/* A finding by sites becomes one by source lines; a place without line information is named in the text. */
struct sink {
    struct wg *g;
    struct wg_run *r;
    enum wg_status status;
    struct wg_arena *a;
    struct wg_finding *v; /* one per kind and pair of lines */
    size_t n, cap;
};
/* Headers that come with a compiler: what they do is the doing of the line that called them. */
static bool is_toolkit(const char *path)
{
    static const char *const parts[] = {"/lib/clang/", "/cuda/include/", "/include/cuda/", "/cuda/bin/../targets/", "/targets/x86_64-linux/", "/targets/sbsa-linux/"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strstr(path, parts[k]))
            return true;
    return strncmp(path, "/usr/include/", 13) == 0;
}
static void locate(const struct sink *s, uint32_t site, uint32_t *source, uint32_t *line)
{
    const struct wg_instr *in = s->r && site != UINT32_MAX ? site_instr(s->r->kc, site) : NULL;
    const struct wg_ptx_module *m = s->r ? s->r->kc->module : NULL;
    bool outer = in && in->line && in->inl_line && in->file < m->nfiles && m->files[in->file] && is_toolkit(m->files[in->file]);
    *source = in && in->line ? source_of(s->g, m, outer ? in->inl_file : in->file) : UINT32_MAX;
    *line = *source == UINT32_MAX ? 0 : outer ? in->inl_line : in->line;
}
/* Where the compiler does not say which line called a toolkit's header: the program's own lines around the instruction. */
static const char *around(const struct sink *s, uint32_t site, const char *message)
{
    const struct wg_instr *in = s->r && site != UINT32_MAX ? site_instr(s->r->kc, site) : NULL, *own[2] = {NULL, NULL};
    const struct wg_ptx_module *m = s->r ? s->r->kc->module : NULL;
    if (!in || !in->line || in->inl_line || in->file >= m->nfiles || !m->files[in->file] || !is_toolkit(m->files[in->file]))
        return message;
    for (int d = 0; d < 2; d++)
        for (uint32_t k = site; !own[d]; k += d ? 1 : UINT32_MAX) {
            const struct wg_instr *x = site_instr(s->r->kc, k);
            if (!x)
                break;
            if (x->line && x->file < m->nfiles && m->files[x->file] && !is_toolkit(m->files[x->file]))
                own[d] = x;
        }
    if (!own[0] || !own[1])
        return message;
    const char *t = wg_arena_printf(s->a, "%s\ncalled between %s:%u and %s:%u", message, m->files[own[0]->file],
                                    own[0]->line, m->files[own[1]->file], own[1]->line);
    return t ? t : message;
}
static const char *frame(const struct sink *s, const char *text, const char *which, uint32_t file, uint32_t line)
{
    const struct wg_ptx_module *m = s->r->kc->module;
    if (!line || file >= m->nfiles || !m->files[file] || is_toolkit(m->files[file]))
        return text;
    const char *base = strrchr(m->files[file], '/');
    const char *t = wg_arena_printf(s->a, "%s\nDevice Frame%s: %s:%u", text, which, base ? base + 1 : m->files[file], line);
    return t ? t : text;
}
/* The calls around a site that were inlined, from the one that is not its own reported line. */
static const char *inlined(const struct sink *s, const char *text, const char *which, const struct wg_instr *in, uint32_t line)
{
    const struct wg_ptx_module *m = s->r->kc->module;
    for (uint32_t k = in ? in->call : 0; k; k = m->calls[k].up)
        if (m->calls[k].line != line || k != in->call) /* a toolkit's header counts as the line that called it */
            text = frame(s, text, which, m->calls[k].file, m->calls[k].line);
    return text;
}
/* Adds who called whom on the device, before who called the kernel. */
static const char *frames(const struct sink *s, const struct wg_observed *o, const struct wg_finding *f, const char *message)
{
    if (!s->r)
        return message;
    bool two = o->other_site != UINT32_MAX;
    const char *text = "", *host = strstr(message, "\nCalled by\n");
    const uint32_t site[2] = {o->site, o->other_site}, line[2] = {f->line, f->other_line};
    for (int k = 0; k < 1 + two; k++) {
        const char *which = !two ? "" : k ? " of the second" : " of the first";
        const struct wg_instr *in = site[k] == UINT32_MAX ? NULL : site_instr(s->r->kc, site[k]);
        text = inlined(s, text, which, in, line[k]);
        for (uint32_t c = 0; c < o->ncalls && o->calls_other == (k == 1); c++) {
            const struct wg_instr *call = site_instr(s->r->kc, o->calls[c]);
            text = call ? inlined(s, frame(s, text, which, call->file, call->line), which, call, 0) : text;
        }
    }
    int n = host ? (int)(host - message) : (int)strlen(message);
    const char *t = *text ? wg_arena_printf(s->a, "%.*s%s%s", n, message, text, host ? host : "") : NULL;
    return t ? t : message;
}
static void put_finding(void *ctx, const struct wg_observed *o)
{
    struct sink *s = ctx;
    struct wg_finding f = o->f;
    locate(s, o->site, &f.source, &f.line);
    locate(s, o->other_site, &f.other_source, &f.other_line);
    const struct wg_instr *in = s->r && o->site != UINT32_MAX ? site_instr(s->r->kc, o->site) : NULL;
    if (in && !f.line) {
        const char *t = wg_arena_printf(s->a, "%s\nat PTX line %u: %.*s", f.message, in->ptx_line, (int)in->text_len, in->text);
        f.message = t ? t : f.message;
    }
    for (size_t k = 0; f.line && k < s->n; k++) {
        struct wg_finding *x = &s->v[k];
        bool same = x->source == f.source && x->line == f.line && x->other_source == f.other_source &&
                    x->other_line == f.other_line;
        bool turned = f.other_line && x->source == f.other_source && x->line == f.other_line &&
                      x->other_source == f.source && x->other_line == f.line;
        if (strcmp(x->id, f.id) == 0 && (same || turned)) {
            x->count += f.count;
            return;
        }
    }
    s->v = wg_arena_grow(s->a, s->v, s->n + 1, &s->cap, sizeof *s->v);
    if (!s->v)
        return;
    f.message = frames(s, o, &f, around(s, o->site, f.message));
    f.message = wg_arena_str(s->a, f.message, strlen(f.message));
    s->v[s->n++] = f;
}
/* A race within a warp says nothing new where the same lines race between warps too; nor does a read of unwritten memory
 * that races with the write that comes too late. */
static bool covered(const struct sink *s, const struct wg_finding *f)
{
    for (size_t k = 0; strcmp(f->id, "uninitialized") == 0 && f->line && k < s->n; k++) {
        const struct wg_finding *x = &s->v[k];
        if (strncmp(x->id, "race-", 5) == 0 && ((x->line == f->line && x->source == f->source) ||
                                                (x->other_line == f->line && x->other_source == f->source)))
            return true;
    }
    for (size_t k = 0; strcmp(f->id, "race-warp") == 0 && f->line && k < s->n; k++) {
        const struct wg_finding *x = &s->v[k];
        bool same = x->line == f->line && x->other_line == f->other_line, turned = x->line == f->other_line && x->other_line == f->line;
        if ((same || turned) && (strcmp(x->id, "race-shared") == 0 || strcmp(x->id, "race-global") == 0))
            return true;
    }
    return false;
}
static void add_findings(struct sink *s)
{
    for (size_t k = 0; k < s->n && s->v; k++) {
        if (covered(s, &s->v[k]))
            continue;
        enum wg_status e = wg_profile_add_finding(&s->g->profile, &s->v[k]);
        s->status = s->status == WG_OK ? e : s->status;
    }
}

void wg_results_host(struct wg *g)
{
    struct wg_arena a = {0};
    struct sink s = {g, NULL, WG_OK, &a, NULL, 0, 0};
    if (g->check)
        g->observer.host_findings(g->observer.ctx, put_finding, &s);
    add_findings(&s);
    wg_arena_free(&a);
}

static void fill_model(struct wg_launch_result *l, const struct wg *g, const struct wg_replay_result *m,
                       const struct wg_run *r)
{
    if (!m)
        return;
    double *v = l->modelled, warps = m->sm_active_cycles * wg_run_sms(r);
    const struct wg_traffic *t = &m->total;
    l->has_model = true;
    v[WG_MODELLED_FOLLOWED] = 1.0 / (1u << m->level);
    v[WG_MODELLED_L1_LD] = (double)t->l1_ld;
    v[WG_MODELLED_L1_LD_HIT] = (double)t->l1_ld_hit;
    v[WG_MODELLED_L1_ST] = (double)t->l1_st;
    v[WG_MODELLED_L1_ST_HIT] = (double)t->l1_st_hit;
    v[WG_MODELLED_L1_LOCAL_LD] = (double)t->l1_local_ld;
    v[WG_MODELLED_L1_LOCAL_LD_HIT] = (double)t->l1_local_ld_hit;
    v[WG_MODELLED_L1_LOCAL_ST] = (double)t->l1_local_st;
    v[WG_MODELLED_L1_LOCAL_ST_HIT] = (double)t->l1_local_st_hit;
    v[WG_MODELLED_L2_READ] = (double)t->l2_read;
    v[WG_MODELLED_L2_READ_HIT] = (double)t->l2_read_hit;
    v[WG_MODELLED_L2_WRITE] = (double)t->l2_write;
    v[WG_MODELLED_L2_ATOM] = (double)t->l2_atom;
    v[WG_MODELLED_L2_RED] = (double)t->l2_red;
    v[WG_MODELLED_L2_ATOMIC_HIT] = (double)t->l2_atomic_hit;
    v[WG_MODELLED_FABRIC_READ] = (double)t->fabric_read;
    v[WG_MODELLED_FABRIC_WRITE] = (double)t->fabric_write;
    v[WG_MODELLED_FABRIC_ATOM] = (double)t->fabric_atom;
    v[WG_MODELLED_DRAM_READ] = (double)t->dram_read;
    v[WG_MODELLED_DRAM_WRITE] = (double)t->dram_write;
    double launch = g->gpu->launch_ns > 0 ? g->gpu->launch_ns : 2000, band = g->gpu->launch_ns > 0 ? 0.3 : 0.5;
    v[WG_MODELLED_DURATION] = launch + m->cycles * 1e3 / (g->gpu->clock_mhz > 0 ? g->gpu->clock_mhz : 1500);
    v[WG_MODELLED_DURATION_LOW] = v[WG_MODELLED_DURATION] * (1 - band);
    v[WG_MODELLED_DURATION_HIGH] = v[WG_MODELLED_DURATION] * (1 + band);
    v[WG_MODELLED_CYCLES] = m->cycles;
    v[WG_MODELLED_SM_ACTIVE] = m->sm_active_cycles;
    v[WG_MODELLED_WARPS_ACTIVE] = warps > 0 ? m->warp_cycles / warps : 0;
    v[WG_MODELLED_CLOCK] = g->gpu->clock_mhz;
    v[WG_MODELLED_ISSUE_BUSY] = m->busy_issue;
    v[WG_MODELLED_LSU_BUSY] = m->busy_lsu;
    v[WG_MODELLED_PORT_BUSY] = m->busy_port;
    v[WG_MODELLED_DRAM_BUSY] = m->busy_dram;
    if (m->warp_cycles > 0) {
        v[WG_MODELLED_STALL_MEMORY] = m->stall_memory / m->warp_cycles;
        v[WG_MODELLED_STALL_BARRIER] = m->stall_barrier / m->warp_cycles;
        v[WG_MODELLED_STALL_PIPE] = m->stall_pipe / m->warp_cycles;
    }
}

enum wg_status wg_results_add(struct wg_run *r, struct wg_kernel *k, const struct wg_fault *f, enum wg_status s,
                              double seconds, bool one_worker)
{
    struct wg *g = r->g;
    struct wg_arena a = {0};
    uint32_t nfiles = r->kc->module->nfiles;
    struct wg_launch_result *l = wg_profile_begin_launch(&g->profile, r->kc->counters ? r->kc->nsites : 0);
    uint32_t *file_map = wg_arena_alloc(&a, (nfiles + 1) * sizeof *file_map);
    if (!l || !file_map) {
        wg_arena_free(&a);
        return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory for the results");
    }
    for (uint32_t i = 0; i <= nfiles; i++)
        file_map[i] = UINT32_MAX;
    l->index = g->nlaunches;
    l->mangled = k->fn->name;
    l->kernel = wg_demangle(&a, k->fn->name);
    l->module = k->module->name;
    l->compiler = k->module->compiler;
    l->device = g->gpu->name;
    memcpy(l->grid, r->grid, sizeof l->grid);
    memcpy(l->block, r->block, sizeof l->block);
    memcpy(l->cluster, r->cfg->cluster, sizeof l->cluster);
    l->static_shared = r->kc->static_shared_exact;
    l->dynamic_shared = r->dynamic_shared;
    l->local_bytes = r->kc->local_bytes;
    l->blocks_done = r->blocks_done;
    l->status = s;
    l->status_text = s == WG_OK ? "" : wg_arena_str(&a, f->text, strcspn(f->text, "\n")); /* the finding has the rest */
    l->host_seconds = seconds;
    l->one_worker = one_worker;
    struct wg_registers regs;
    const struct wg_ptxas_info *told = wg_kernel_registers(k, &regs);
    l->registers = regs.likely;
    l->registers_exact = regs.exact;
    l->registers_low = regs.low;
    l->registers_high = regs.high;
    l->spill_stores = regs.spill_stores;
    l->spill_loads = regs.spill_loads;
    l->ptxas = told ? told->version : "";
    const struct wg_ptxas_kernel *code = told ? wg_ptxas_kernel(told, k->fn->name) : NULL;
    if (code && code->shared)
        l->static_shared = code->shared; /* it adds some of its own now and then */
    l->machine = g->opt.as_written ? WG_MACHINE_NONE : code && code->nlines ? WG_MACHINE_PTXAS : WG_MACHINE_ESTIMATED;
    l->merged_sites = r->kc->merged / 2; /* each is emitted twice */
    struct wg_shared_array *arrays = wg_arena_alloc(&a, (r->kc->narrays + 1) * sizeof *arrays);
    for (uint32_t n = 0; arrays && n < r->kc->narrays; n++) {
        const struct wg_array *x = &r->kc->arrays[n];
        arrays[l->narrays++] = (struct wg_shared_array){x->name, x->offset, x->bytes, x->dynamic};
    }
    l->arrays = arrays;
    if (r->kc->counters)
        for (uint32_t c = 0; c < r->kc->ncodes; c++)
            fill_code(r, r->kc->codes[c], l->sites, file_map, &a);
    for (size_t x = 0; g->check && g->opt.stored && x < l->nsites; x++)
        l->sites[x].stored = g->observer.stored(g->observer.ctx, (uint32_t)x);
    enum wg_status t = f->set ? add_fault(r, f, &a) : WG_OK;
    struct sink sink = {g, r, t, &a, NULL, 0, 0};
    if (g->check)
        g->observer.launch_end(g->observer.ctx, put_finding, &sink);
    add_findings(&sink);
    t = sink.status;
    fill_model(l, g, wg_traffic_finish(r), r);
    bool failed = a.failed;
    enum wg_status e = wg_profile_end_launch(&g->profile);
    wg_arena_free(&a);
    if (failed || t != WG_OK || e != WG_OK)
        return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory for the results");
    return WG_OK;
}
