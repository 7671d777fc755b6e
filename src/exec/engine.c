/* engine.c - the public API: devices, modules, kernels, launches. */
#include "exec/cluster.h"
#include "exec/engine.h"
#include "model/occupancy.h"
#include "exec/traffic.h"
#include "exec/handlers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARAM_MAX 32764u /* bytes: CUDA C++ Programming Guide, kernel parameters from 12.1 */

enum wg_status wg_open(const struct wg_options *opt, struct wg **out, char *err, size_t n)
{
    struct wg_options o = {.size = sizeof o};
    *out = NULL;
    if (opt)
        memcpy(&o, opt, opt->size < sizeof o ? opt->size : sizeof o);
    struct wg *g = wg_calloc(1, sizeof *g);
    enum wg_status s = g ? WG_OK : WG_NO_MEMORY;
    if (!g) {
        if (err)
            snprintf(err, n, "out of host memory");
        return s;
    }
    g->opt = o;
    g->opt.ptxas = o.ptxas ? wg_arena_str(&g->arena, o.ptxas, strlen(o.ptxas)) : NULL;
    s = wg_gpu_open(o.device ? o.device : "H200", &g->arena, &g->gpu, &g->diag);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    g->jobs = o.jobs ? o.jobs : cpus > 0 ? (unsigned)cpus : 1;
    if (g->jobs > 1024)
        g->jobs = 1024;
    if (s == WG_OK)
        s = wg_memory_open(g);
    if (s == WG_OK && o.tools && !o.host_addresses && !(g->check = wg_check_open(o.tools, o.stored, g->lo, g->end, &g->observer)))
        s = wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
    if (s == WG_OK)
        s = wg_profile_builder_init(&g->profile, "");
    if (s == WG_OK)
        g->profile.profile.device_file = wg_profile_string(&g->profile, g->gpu->file);
    if (s == WG_OK)
        s = wg_memory_alloc(g, PARAM_MAX + 4, 256, true, &g->params);
    if (s == WG_OK)
        s = wg_memory_alloc(g, WG_CLUSTER_SYNC_AT + 4 * WG_CLUSTER_SYNCS, 256, true, &g->workspace);
    if (s != WG_OK) {
        if (err)
            snprintf(err, n, "%s", g->diag.text[0] ? g->diag.text : wg_status_text(s));
        wg_close(g);
        return s;
    }
    *out = g;
    return WG_OK;
}

static void free_module(struct wg_module *m)
{
    for (uint32_t k = 0; k < m->nkernels; k++)
        for (struct wg_kernel_code *c = m->kernels[k].codes, *n; c; c = n) {
            n = c->next;
            wg_kernel_code_free(c);
        }
    wg_ptx_free(m->ptx);
    wg_arena_free(&m->arena);
    free(m);
}

void wg_close(struct wg *g)
{
    if (!g)
        return;
    for (struct wg_module *m = g->modules, *n; m; m = n) {
        n = m->next;
        free_module(m);
    }
    wg_profile_builder_free(&g->profile);
    wg_check_close(g->check);
    wg_caches_close(g->caches);
    free(g->textures);
    wg_memory_close(g);
    wg_arena_free(&g->arena);
    free(g);
}

const char *wg_error(const struct wg *g) { return g->diag.text; }

struct wg_profile *wg_get_profile(struct wg *g)
{
    wg_results_host(g);
    wg_profile_load_sources(&g->profile); /* so that what is shown now and what is saved hold the same text */
    return &g->profile.profile;
}

/* ---- modules ---- */
static bool is_device_var(const struct wg_symbol *s)
{
    return s->kind == WG_SYMBOL_VAR && (s->space == WG_SPACE_GLOBAL || s->space == WG_SPACE_CONST);
}

static uint64_t symbol_address(void *ctx, const struct wg_symbol *s)
{
    const struct wg_module *m = ctx;
    if (s->kind == WG_SYMBOL_FUNC)
        return wg_function_address(m->ptx, s->name);
    for (uint32_t k = 0; k < m->ptx->nvars; k++)
        if (m->ptx->vars[k] == s)
            return m->var_addr[k];
    return 0;
}

static enum wg_status place_variables(struct wg_module *m)
{
    const struct wg_ptx_module *p = m->ptx;
    struct wg *g = m->g;
    m->var_addr = wg_arena_alloc(&m->arena, (p->nvars + 1) * sizeof *m->var_addr);
    m->blocks = wg_arena_alloc(&m->arena, (p->nvars + 2) * sizeof *m->blocks);
    if (!m->var_addr || !m->blocks)
        return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
    /* constants lie together, so that their range tells them apart */
    uint64_t bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t at = m->const_lo;
        for (uint32_t k = 0; k < p->nvars; k++) {
            const struct wg_symbol *s = p->vars[k];
            if (!is_device_var(s) || s->space != WG_SPACE_CONST)
                continue;
            uint64_t al = s->align > 4 ? s->align : 4;
            at = (at + al - 1) / al * al;
            m->var_addr[k] = at;
            at += s->bytes;
        }
        if (pass == 0 && (bytes = at)) {
            enum wg_status st = wg_memory_alloc(g, bytes, 256, true, &m->const_lo);
            if (st != WG_OK)
                return st;
            m->blocks[m->nblocks++] = m->const_lo;
            m->const_hi = m->const_lo + bytes;
        }
    }
    for (uint32_t k = 0; k < p->nvars; k++) {
        const struct wg_symbol *s = p->vars[k];
        bool reference = s->kind == WG_SYMBOL_TEX; /* a cell for the handle that the host binds */
        if (!reference && (!is_device_var(s) || s->space == WG_SPACE_CONST))
            continue;
        if (!reference && s->is_extern && s->bytes == 0)
            continue;
        enum wg_status st = wg_memory_alloc(g, reference ? 8 : s->bytes, s->align > 256 ? s->align : 256, true, &m->var_addr[k]);
        if (st != WG_OK)
            return st;
        m->blocks[m->nblocks++] = m->var_addr[k];
    }
    for (uint32_t k = 0; k < p->nvars; k++) {
        const struct wg_symbol *s = p->vars[k];
        if (!m->var_addr[k])
            continue;
        if (s->init && s->kind != WG_SYMBOL_TEX)
            memcpy((void *)m->var_addr[k], s->init, s->bytes);
        for (uint32_t r = 0; r < s->nrelocs; r++) {
            uint64_t v = symbol_address(m, s->relocs[r].sym) + (uint64_t)s->relocs[r].addend;
            memcpy((char *)m->var_addr[k] + s->relocs[r].at, &v, s->relocs[r].bytes ? s->relocs[r].bytes : 8);
        }
    }
    return WG_OK;
}


static enum wg_status list_kernels(struct wg_module *m)
{
    const struct wg_ptx_module *p = m->ptx;
    m->kernels = wg_arena_alloc(&m->arena, (p->nfuncs + 1) * sizeof *m->kernels);
    if (!m->kernels)
        return wg_diag_set(&m->g->diag, WG_NO_MEMORY, "out of host memory");
    for (uint32_t f = 0; f < p->nfuncs; f++) {
        const struct wg_function *fn = p->funcs[f];
        if (!fn->is_entry || fn->is_declaration)
            continue;
        struct wg_kernel *k = &m->kernels[m->nkernels++];
        k->module = m;
        k->fn = fn;
        k->params = wg_arena_alloc(&m->arena, (fn->nparams + 1) * sizeof *k->params);
        if (!k->params)
            return wg_diag_set(&m->g->diag, WG_NO_MEMORY, "out of host memory");
        for (uint32_t a = 0; a < fn->nparams; a++)
            k->params[a] = (struct wg_param_info){fn->params[a].offset, fn->params[a].bytes,
                                                  wg_type_infos[fn->params[a].type].text};
    }
    return WG_OK;
}

enum wg_status wg_module_load(struct wg *g, const char *ptx, size_t n, const char *name, const char *compiler,
                              struct wg_module **out)
{
    wg_diag_clear(&g->diag);
    *out = NULL;
    struct wg_module *m = wg_calloc(1, sizeof *m);
    if (!m)
        return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
    m->g = g;
    enum wg_status s = wg_ptx_parse(ptx, n, name ? name : "PTX", &m->ptx, &g->diag);
    if (s == WG_OK) {
        m->name = wg_arena_str(&m->arena, name ? name : "", strlen(name ? name : ""));
        m->compiler = wg_arena_str(&m->arena, compiler ? compiler : "", strlen(compiler ? compiler : ""));
        s = m->name && m->compiler ? place_variables(m) : wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
    }
    if (s == WG_OK)
        s = list_kernels(m);
    if (s != WG_OK) {
        for (uint32_t k = 0; k < m->nblocks; k++) {
            struct wg_diag keep = g->diag;
            wg_free(g, m->blocks[k]);
            g->diag = keep;
        }
        free_module(m);
        return s;
    }
    m->next = g->modules;
    g->modules = m;
    *out = m;
    return WG_OK;
}

void wg_module_unload(struct wg_module *m)
{
    if (!m)
        return;
    struct wg *g = m->g;
    for (struct wg_module **p = &g->modules; *p; p = &(*p)->next)
        if (*p == m) {
            *p = m->next;
            break;
        }
    for (uint32_t k = 0; k < m->nblocks; k++)
        wg_free(g, m->blocks[k]);
    free_module(m);
}

struct wg_kernel *wg_module_kernel(struct wg_module *m, const char *mangled)
{
    for (uint32_t k = 0; k < m->nkernels; k++)
        if (strcmp(m->kernels[k].fn->name, mangled) == 0)
            return &m->kernels[k];
    return NULL;
}
size_t wg_module_kernel_count(const struct wg_module *m) { return m->nkernels; }
struct wg_kernel *wg_module_kernel_at(struct wg_module *m, size_t i) { return i < m->nkernels ? &m->kernels[i] : NULL; }

enum wg_status wg_module_symbol(struct wg_module *m, const char *name, uint64_t *addr, size_t *bytes)
{
    wg_diag_clear(&m->g->diag);
    for (uint32_t k = 0; k < m->ptx->nvars; k++)
        if (is_device_var(m->ptx->vars[k]) && strcmp(m->ptx->vars[k]->name, name) == 0) {
            *addr = m->var_addr[k];
            *bytes = m->ptx->vars[k]->bytes;
            return WG_OK;
        }
    return wg_diag_set(&m->g->diag, WG_NOT_FOUND, "%s: no variable %s", m->name, name);
}

/* ---- kernels ---- */
static enum wg_status code_for(struct wg_kernel *k, bool affine_tid, struct wg_kernel_code **out)
{
    struct wg *g = k->module->g;
    bool counters = !g->opt.no_counters, traced = g->opt.models && counters && !g->check;
    for (struct wg_kernel_code *c = k->codes; c; c = c->next)
        if (c->affine_tid == affine_tid && c->counters == counters && c->traced == traced) {
            *out = c;
            return WG_OK;
        }
    struct wg_decode_options o = {.affine_tid = affine_tid, .counters = counters, .as_written = g->opt.as_written,
                                  .ptxas = g->opt.no_counters || g->opt.as_written ? NULL : wg_module_ptxas(k->module),
                                  .sm = g->gpu->cc->major * 10 + g->gpu->cc->minor,
                                  .observed = g->check != NULL, .accesses = g->check && g->observer.access,
                                  .rows = g->check && g->observer.row, .traced = traced};
    enum wg_status s = wg_decode_kernel(k->module->ptx, k->fn, &o, symbol_address, k->module, out, &g->diag);
    if (s != WG_OK)
        return s;
    (*out)->owner = k->module;
    (*out)->next = k->codes;
    k->codes = *out;
    return WG_OK;
}

enum wg_status wg_kernel_get_info(const struct wg_kernel *k, struct wg_kernel_info *info)
{
    struct wg_kernel_code *c;
    struct wg *g = k->module->g;
    wg_diag_clear(&g->diag);
    enum wg_status s = code_for((struct wg_kernel *)k, true, &c);
    if (s != WG_OK)
        return s;
    const struct wg_function *f = k->fn;
    unsigned most = g->gpu->cc->threads_per_block;
    uint64_t given = f->reqntid[0] ? (uint64_t)f->reqntid[0] * (f->reqntid[1] ? f->reqntid[1] : 1) * (f->reqntid[2] ? f->reqntid[2] : 1)
                     : f->maxntid[0] ? (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) * (f->maxntid[2] ? f->maxntid[2] : 1)
                                     : most;
    *info = (struct wg_kernel_info){.name = f->name, .nparams = f->nparams, .params = k->params,
                                    .param_bytes = f->param_bytes, .static_shared = c->static_shared_exact,
                                    .local_bytes = c->local_bytes,
                                    .const_bytes = k->module->const_hi - k->module->const_lo,
                                    .max_threads = given < most ? (unsigned)given : most,
                                    .ptx_version = k->module->ptx->version, .sm = k->module->ptx->sm};
    struct wg_registers r;
    wg_kernel_registers((struct wg_kernel *)k, &r);
    info->registers = r.likely;
    info->registers_exact = r.exact;
    info->registers_low = r.low;
    info->registers_high = r.high;
    return WG_OK;
}

/* ---- launches ---- */
static enum wg_status check_launch(struct wg *g, struct wg_kernel *k, const struct wg_launch *c,
                                   const struct wg_kernel_code *kc)
{
    static const unsigned block_max[3] = {1024, 1024, 64}; /* CUDA C++ Programming Guide, technical specifications */
    static const unsigned grid_max[3] = {2147483647u, 65535, 65535};
    const struct wg_cc *cc = g->gpu->cc;
    uint64_t threads = 1, cluster = 1;
    const uint32_t *q = k->fn->reqcluster;
    for (int d = 0; d < 3; d++) {
        unsigned want = c->cluster[d] ? c->cluster[d] : q[d] ? q[d] : 1;
        if (q[0] && c->cluster[d] && c->cluster[d] != (q[d] ? q[d] : 1))
            return wg_diag_set(&g->diag, WG_LIMIT, "%s was built for clusters of (%u,%u,%u)", k->fn->name, q[0],
                               q[1] ? q[1] : 1, q[2] ? q[2] : 1);
        if (c->grid[d] == 0 || c->grid[d] > grid_max[d])
            return wg_diag_set(&g->diag, WG_LIMIT, "grid %c is %u: a device takes 1 to %u", "xyz"[d], c->grid[d],
                               grid_max[d]);
        if (c->block[d] == 0 || c->block[d] > block_max[d])
            return wg_diag_set(&g->diag, WG_LIMIT, "block %c is %u: a device takes 1 to %u", "xyz"[d], c->block[d],
                               block_max[d]);
        threads *= c->block[d];
        cluster *= want;
        if (c->grid[d] % want)
            return wg_diag_set(&g->diag, WG_LIMIT, "grid %c is %u: no multiple of the cluster's %u", "xyz"[d], c->grid[d],
                               want);
    }
    if (threads > cc->threads_per_block)
        return wg_diag_set(&g->diag, WG_LIMIT, "a block of %llu threads: %s takes %u", (unsigned long long)threads,
                           g->gpu->name, cc->threads_per_block);
    const struct wg_function *f = k->fn;
    if (f->reqntid[0])
        for (int d = 0; d < 3; d++)
            if ((f->reqntid[d] ? f->reqntid[d] : 1) != c->block[d])
                return wg_diag_set(&g->diag, WG_LIMIT, "%s wants blocks of (%u,%u,%u)", f->name, f->reqntid[0],
                                   f->reqntid[1], f->reqntid[2]);
    uint64_t maxn = (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) * (f->maxntid[2] ? f->maxntid[2] : 1);
    if (maxn && threads > maxn)
        return wg_diag_set(&g->diag, WG_LIMIT, "%s was built for at most %llu threads a block, not %llu", f->name,
                           (unsigned long long)maxn, (unsigned long long)threads);
    struct wg_registers regs;
    wg_kernel_registers(k, &regs);
    struct wg_occupancy o;
    /* an estimate refuses only what its lower end refuses */
    wg_occupancy(cc, &(struct wg_occupancy_query){.threads = (unsigned)threads, .regs = regs.low, .carveout = -1, .barriers = 1}, &o);
    if (regs.low && !o.blocks)
        return wg_diag_set(&g->diag, WG_LIMIT, "%s needs %s%u registers a thread, which %llu threads a block cannot have on %s",
                           f->name, regs.exact ? "" : "at least about ", regs.low, (unsigned long long)threads, g->gpu->name);
    uint64_t most = cc->smem_per_block_optin ? cc->smem_per_block_optin : cc->smem_per_block;
    if (kc->static_shared + c->shared_bytes > most)
        return wg_diag_set(&g->diag, WG_LIMIT, "%llu bytes of shared memory a block (%u static, %llu dynamic): %s has %llu",
                           (unsigned long long)(kc->static_shared + c->shared_bytes), kc->static_shared,
                           (unsigned long long)c->shared_bytes, g->gpu->name, (unsigned long long)most);
    if (cluster > 1 && cluster > cc->cluster_max)
        return wg_diag_set(&g->diag, WG_LIMIT, "a cluster of %llu blocks: %s takes %u", (unsigned long long)cluster,
                           g->gpu->name, cc->cluster_max);
    if (f->param_bytes > PARAM_MAX)
        return wg_diag_set(&g->diag, WG_LIMIT, "%llu bytes of parameters: at most %u", (unsigned long long)f->param_bytes,
                           PARAM_MAX);
    if (f->nparams && !c->args)
        return wg_diag_set(&g->diag, WG_INVALID, "%s takes %u arguments, none given", f->name, f->nparams);
    for (uint32_t a = 0; a < f->nparams; a++)
        if (!c->args[a])
            return wg_diag_set(&g->diag, WG_INVALID, "argument %u of %s is NULL", a, f->name);
    return WG_OK;
}

/* Blocks of this launch that the device could hold at once, at least as far as threads and shared memory tell. */
static uint32_t resident_blocks(const struct wg *g, const struct wg_run *r)
{
    const struct wg_cc *cc = g->gpu->cc;
    uint64_t per = cc->blocks_per_sm, w = cc->warps_per_sm / r->nwarps;
    per = w < per ? w : per;
    if (r->shared_bytes) {
        uint64_t s = cc->smem_per_sm / ((uint64_t)r->shared_bytes + cc->smem_reserved);
        per = s < per ? s : per;
    }
    uint64_t n = (per ? per : 1) * wg_run_sms(r);
    return n > 1u << 20 ? 1u << 20 : (uint32_t)n;
}

static enum wg_status need_heap(struct wg *g, const struct wg_kernel_code *kc)
{
    enum { HEAP = 64 << 20 };
    if (!kc->has_calls || g->heap)
        return WG_OK;
    enum wg_status s = wg_memory_alloc(g, HEAP, 256, true, &g->heap);
    if (s != WG_OK)
        return s;
    g->heap_bytes = HEAP;
    wg_tell_memory(g, WG_MEMORY_HEAP, g->heap, HEAP, 0);
    *(struct wg_heap_block *)g->heap = (struct wg_heap_block){HEAP - sizeof(struct wg_heap_block), 1};
    return WG_OK;
}

static bool prepare(struct wg_run *r)
{
    r->bb_len = wg_calloc(r->kc->nbb + 1, sizeof *r->bb_len);
    if (!r->bb_len)
        return false;
    for (uint32_t c = 0; c < r->kc->ncodes; c++)
        for (uint32_t b = 0; b < r->kc->codes[c]->nbb; b++)
            r->bb_len[r->kc->codes[c]->bb0 + b] = r->kc->codes[c]->bb_first[b + 1] - r->kc->codes[c]->bb_first[b];
    return true;
}

static void tell_launch(const struct wg_run *r, const struct wg_kernel *k)
{
    struct wg_launch_event e = {.kernel = k->fn->name, .nblocks = r->nblocks, .threads = r->threads, .nwarps = r->nwarps,
                                .shared_bytes = r->shared_bytes, .narrays = r->kc->narrays, .arrays = r->kc->arrays};
    memcpy(e.grid, r->grid, sizeof e.grid);
    memcpy(e.block, r->block, sizeof e.block);
    r->g->observer.launch_begin(r->g->observer.ctx, &e);
}

enum wg_status wg_launch(struct wg *g, struct wg_kernel *k, const struct wg_launch *given)
{
    struct wg_launch c = {0};
    memcpy(&c, given, given->size < sizeof c ? given->size : sizeof c);
    wg_diag_clear(&g->diag);
    uint64_t threads = (uint64_t)c.block[0] * c.block[1] * c.block[2];
    bool affine = c.block[0] % WG_LANES == 0 || (c.block[1] == 1 && c.block[2] == 1);
    struct wg_kernel_code *kc;
    enum wg_status s = code_for(k, affine, &kc);
    if (s == WG_OK)
        s = check_launch(g, k, &c, kc);
    if (s == WG_OK)
        s = need_heap(g, kc);
    if (s != WG_OK)
        return s;
    struct wg_run r = {.g = g, .kc = kc, .cfg = &c, .threads = (uint32_t)threads};
    for (int d = 0; d < 3; d++) {
        r.grid[d] = c.grid[d];
        r.block[d] = c.block[d];
        uint32_t q = k->fn->reqcluster[d];
        r.cluster[d] = c.cluster[d] ? c.cluster[d] : q ? q : 1;
    }
    r.nblocks = (uint64_t)c.grid[0] * c.grid[1] * c.grid[2];
    r.nwarps = (r.threads + WG_LANES - 1) / WG_LANES;
    r.dynamic_shared = (uint32_t)c.shared_bytes;
    r.shared_bytes = kc->static_shared + r.dynamic_shared;
    r.param_addr = g->params;
    r.max_resident = resident_blocks(g, &r);
    bool one = kc->order_matters && !g->opt.any_block_order;
    r.unit_blocks = r.cluster[0] * r.cluster[1] * r.cluster[2];
    r.nunits = r.nblocks / r.unit_blocks;
    uint64_t useful = r.nunits < g->jobs ? r.nunits : g->jobs;
    r.nworkers = one || g->opt.tools ? 1 : (uint32_t)useful;
    for (uint32_t a = 0; a < k->fn->nparams; a++)
        memcpy((char *)g->params + k->fn->params[a].offset, c.args[a], k->fn->params[a].bytes);
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    struct wg_fault fault;
    if (g->check)
        tell_launch(&r, k);
    s = prepare(&r) && wg_traffic_open(&r, k) ? wg_run_grid(&r, &fault) : WG_NO_MEMORY;
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-9;
    if (!r.ran) {
        wg_run_close(&r);
        return wg_diag_set(&g->diag, s, "out of host memory for the launch");
    }
    if (s != WG_OK)
        wg_diag_set(&g->diag, s, "%s: %s", k->fn->name, fault.text);
    enum wg_status added = wg_results_add(&r, k, &fault, s, seconds, one);
    wg_run_close(&r);
    g->nlaunches++;
    g->clock += 1000;
    return s != WG_OK ? s : added;
}
