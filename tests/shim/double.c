/* double.c - a stand-in for the engine behind warpgrind.h: memory is real, a launch only records what it was given.
 * PTX is scanned for its entries, parameters and variables, not understood. For tests of the runtime library alone. */
#include "double.h"
#include <warpgrind/tensormap.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGE (1ull << 36)

struct block { struct block *next; uint64_t base; size_t bytes, held; };
struct symbol { char name[128]; uint64_t addr; size_t bytes; };
struct wg_kernel {
    struct wg_module *module;
    char name[128];
    struct wg_kernel_info info;
    struct wg_param_info params[64];
};
struct wg_module {
    struct wg *g;
    struct wg_module *next;
    struct wg_kernel kernels[64];
    size_t nkernels;
    struct symbol symbols[64];
    size_t nsymbols;
};
struct wg {
    uint64_t base, used;
    uint64_t memory;
    struct block *blocks;
    struct wg_module *modules;
    const volatile int *cancel;
    char error[256];
    struct wg_profile profile;
    struct wg_finding finding;
};

struct wg_double wg_double = {.registers = 32};

static enum wg_status fail(struct wg *g, enum wg_status s, const char *text)
{
    snprintf(g->error, sizeof g->error, "%s", text);
    return s;
}

enum wg_status wg_open(const struct wg_options *opt, struct wg **out, char *err, size_t n)
{
    struct wg *g = calloc(1, sizeof *g);
    void *p = mmap(NULL, RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)err, (void)n;
    if (!g || p == MAP_FAILED)
        return WG_NO_MEMORY;
    g->base = (uint64_t)(uintptr_t)p;
    g->memory = opt->memory ? opt->memory : 1ull << 33;
    g->cancel = opt->cancel;
    g->profile.version = 1;
    g->profile.program = g->profile.tool_version = "";
    wg_double.opened++;
    *out = g;
    return WG_OK;
}

void wg_close(struct wg *g)
{
    if (!g)
        return;
    while (g->modules) {
        struct wg_module *m = g->modules;
        g->modules = m->next;
        free(m);
    }
    while (g->blocks) {
        struct block *b = g->blocks;
        g->blocks = b->next;
        free(b);
    }
    munmap((void *)(uintptr_t)g->base, RANGE);
    free(g->profile.launches);
    free(g);
}

const char *wg_error(const struct wg *g) { return g->error; }

/* ---- memory ---- */
enum wg_status wg_alloc(struct wg *g, size_t bytes, size_t align, uint64_t *addr)
{
    uint64_t inuse = 0;
    for (struct block *b = g->blocks; b; b = b->next)
        inuse += b->held;
    if (bytes > g->memory || inuse > g->memory - bytes || g->used + bytes + align > RANGE)
        return fail(g, WG_NO_DEVICE_MEMORY, "out of device memory");
    struct block *b = calloc(1, sizeof *b);
    b->base = (g->base + g->used + align - 1) / align * align;
    b->bytes = bytes;
    b->held = bytes;
    g->used = b->base + bytes + 4096 - g->base; /* never reused: stale pointers stay invalid */
    b->next = g->blocks;
    g->blocks = b;
    *addr = b->base;
    return WG_OK;
}

enum wg_status wg_free(struct wg *g, uint64_t addr)
{
    for (struct block **p = &g->blocks; *p; p = &(*p)->next)
        if ((*p)->base == addr) {
            struct block *b = *p;
            *p = b->next;
            free(b);
            return WG_OK;
        }
    return fail(g, WG_NOT_FOUND, "no such allocation");
}

enum wg_status wg_find_alloc(struct wg *g, uint64_t addr, uint64_t *base, size_t *bytes)
{
    for (struct block *b = g->blocks; b; b = b->next)
        if (addr - b->base < b->bytes) {
            *base = b->base;
            *bytes = b->bytes;
            return WG_OK;
        }
    return WG_NOT_FOUND;
}

void wg_memory_info(const struct wg *g, uint64_t *free_bytes, uint64_t *total_bytes)
{
    uint64_t inuse = 0;
    for (const struct block *b = g->blocks; b; b = b->next)
        inuse += b->held;
    *total_bytes = g->memory;
    *free_bytes = g->memory - inuse;
}

bool wg_is_device_address(const struct wg *g, uint64_t addr) { return addr - g->base < RANGE; }

static enum wg_status check(struct wg *g, uint64_t a, size_t n)
{
    uint64_t base;
    size_t bytes;
    if (!wg_is_device_address(g, a))
        return WG_OK;
    return wg_find_alloc(g, a, &base, &bytes) == WG_OK && n <= bytes - (a - base) ? WG_OK
                                                                                   : fail(g, WG_INVALID, "bad range");
}

enum wg_status wg_copy(struct wg *g, void *dst, const void *src, size_t n)
{
    if (check(g, (uintptr_t)dst, n) != WG_OK || check(g, (uintptr_t)src, n) != WG_OK)
        return WG_INVALID;
    memmove(dst, src, n);
    return WG_OK;
}

void wg_host_writes(struct wg *g, uint64_t addr, size_t bytes)
{
    (void)g;
    (void)addr;
    (void)bytes;
}

void wg_host_place(struct wg *g, const char *place)
{
    (void)g;
    (void)place;
}

void wg_host_error(struct wg *g, const char *text)
{
    (void)g;
    (void)text;
}

void wg_find_leaks(struct wg *g) { (void)g; }

enum wg_status wg_fill(struct wg *g, uint64_t dst, int byte, size_t n)
{
    if (check(g, dst, n) != WG_OK)
        return WG_INVALID;
    memset((void *)(uintptr_t)dst, byte, n);
    return WG_OK;
}

/* ---- modules ---- */
static size_t type_bytes(const char *t)
{
    size_t i = strcspn(t, "0123456789");
    return t[i] ? (size_t)atoi(t + i) / 8 : 4;
}

static const char *word(const char *p, char *out, size_t n)
{
    size_t k = 0;
    while (isspace((unsigned char)*p))
        p++;
    while (*p && !isspace((unsigned char)*p) && !strchr(",()[]={};", *p) && k + 1 < n)
        out[k++] = *p++;
    out[k] = 0;
    return p;
}

/* ".align 8 .b8 name[64]" or ".u64 name": p after .param, .global or .const. */
static const char *variable(const char *p, size_t *align, size_t *bytes, char *name, size_t n)
{
    char w[128];
    size_t elem = 4;
    *align = 0;
    for (p = word(p, w, sizeof w); *w == '.'; p = word(p, w, sizeof w))
        if (strcmp(w, ".align") == 0) {
            p = word(p, w, sizeof w);
            *align = (size_t)atoi(w);
        } else if (strcmp(w, ".attribute") == 0) {
            p = strchr(p, ')') + 1;
        } else if (strcmp(w, ".ptr") != 0 && strcmp(w, ".global") != 0) {
            elem = type_bytes(w);
        }
    snprintf(name, n, "%.*s", (int)n - 1, w);
    *bytes = elem;
    if (*p == '[')
        *bytes = elem * (size_t)atol(p + 1);
    if (!*align)
        *align = elem;
    return p;
}

static void read_entry(struct wg_module *m, const char *p)
{
    struct wg_kernel *k = &m->kernels[m->nkernels++];
    k->module = m;
    p = word(p, k->name, sizeof k->name);
    const char *end = strpbrk(p, "{;"), *q = p;
    size_t at = 0;
    while ((q = strstr(q, ".param")) && q < end) {
        size_t align, bytes;
        char name[128];
        q = variable(q + 6, &align, &bytes, name, sizeof name);
        at = (at + align - 1) / align * align;
        k->params[k->info.nparams++] = (struct wg_param_info){at, bytes, "b8"};
        at += bytes;
    }
    k->info.name = k->name;
    k->info.params = k->params;
    k->info.param_bytes = at;
    k->info.max_threads = 1024;
    k->info.registers = k->info.registers_low = k->info.registers_high = wg_double.registers;
    k->info.registers_exact = true;
    k->info.ptx_version = 80;
    k->info.sm = 80;
    const char *bound = strstr(p, ".maxntid");
    if (bound && bound < end)
        k->info.max_threads = (unsigned)atoi(bound + 8);
    for (const char *s = end; (s = strstr(s, ".shared")) && s < strstr(end, "\n}"); s += 7)
        if (s[7] == ' ') {
            size_t align, bytes;
            char name[128];
            variable(s + 7, &align, &bytes, name, sizeof name);
            k->info.static_shared += bytes;
        }
}

static void read_symbol(struct wg_module *m, const char *p)
{
    struct symbol *y = &m->symbols[m->nsymbols];
    size_t align;
    p = variable(p, &align, &y->bytes, y->name, sizeof y->name);
    if (wg_alloc(m->g, y->bytes ? y->bytes : 1, align < 256 ? 256 : align, &y->addr) != WG_OK)
        return;
    const char *init = p + strcspn(p, "=;");
    if (*init == '=')
        *(int *)(uintptr_t)y->addr = atoi(init + 1 + strspn(init + 1, " {"));
    m->nsymbols++;
}

enum wg_status wg_module_load(struct wg *g, const char *ptx, size_t n, const char *name, const char *compiler,
                              struct wg_module **out)
{
    (void)name, (void)compiler;
    char *text = strndup(ptx, n);
    if (!strstr(text, ".version")) {
        free(text);
        return fail(g, WG_PARSE, "x.ptx:1:1: not PTX");
    }
    struct wg_module *m = calloc(1, sizeof *m);
    m->g = g;
    int depth = 0;
    for (const char *p = text; *p; p++) {
        depth += *p == '{';
        depth -= *p == '}';
        if (depth || *p != '.')
            continue;
        if (strncmp(p, ".entry", 6) == 0 && m->nkernels < 64)
            read_entry(m, p + 6);
        else if ((strncmp(p, ".global ", 8) == 0 || strncmp(p, ".const ", 7) == 0) && m->nsymbols < 64 &&
                 (p == text || !strstr(p - (p - text > 12 ? 12 : p - text), ".ptr .global")))
            read_symbol(m, p + strcspn(p, " "));
    }
    free(text);
    m->next = g->modules;
    g->modules = m;
    wg_double.modules++;
    *out = m;
    return WG_OK;
}

void wg_module_unload(struct wg_module *m)
{
    for (struct wg_module **p = &m->g->modules; *p; p = &(*p)->next)
        if (*p == m) {
            *p = m->next;
            break;
        }
    for (size_t i = 0; i < m->nsymbols; i++)
        wg_free(m->g, m->symbols[i].addr);
    wg_double.unloaded++;
    free(m);
}

struct wg_kernel *wg_module_kernel(struct wg_module *m, const char *mangled)
{
    for (size_t i = 0; i < m->nkernels; i++)
        if (strcmp(m->kernels[i].name, mangled) == 0)
            return &m->kernels[i];
    return NULL;
}

size_t wg_module_kernel_count(const struct wg_module *m) { return m->nkernels; }

struct wg_kernel *wg_module_kernel_at(struct wg_module *m, size_t i) { return i < m->nkernels ? &m->kernels[i] : NULL; }

enum wg_status wg_module_symbol(struct wg_module *m, const char *name, uint64_t *addr, size_t *bytes)
{
    for (size_t i = 0; i < m->nsymbols; i++)
        if (strcmp(m->symbols[i].name, name) == 0) {
            *addr = m->symbols[i].addr;
            *bytes = m->symbols[i].bytes;
            return WG_OK;
        }
    return WG_NOT_FOUND;
}

enum wg_status wg_kernel_get_info(const struct wg_kernel *k, struct wg_kernel_info *info)
{
    *info = k->info;
    return WG_OK;
}

/* ---- launches ---- */
enum wg_status wg_launch(struct wg *g, struct wg_kernel *k, const struct wg_launch *cfg)
{
    struct wg_double_launch *l = &wg_double.last;
    memset(l, 0, sizeof *l);
    snprintf(l->kernel, sizeof l->kernel, "%s", k->name);
    l->cfg = *cfg;
    l->cfg.args = NULL;
    l->param_bytes = k->info.param_bytes;
    for (size_t i = 0; i < k->info.nparams; i++)
        memcpy(l->params + k->params[i].offset, cfg->args[i], k->params[i].bytes);
    wg_double.launches++;
    g->profile.launches = realloc(g->profile.launches, (g->profile.nlaunches + 1) * sizeof *g->profile.launches);
    struct wg_launch_result *r = &g->profile.launches[g->profile.nlaunches++];
    memset(r, 0, sizeof *r);
    r->kernel = r->mangled = "";
    if (wg_double.during)
        wg_double.during(wg_double.during_ctx);
    static const char *const faults[][2] = {{"fault_address", "out-of-bounds"}, {"fault_misaligned", "misaligned"},
                                            {"fault_assert", "assert"}, {"fault_trap", "trap"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) /* kernels of probe.cu, by name */
        if (strcmp(k->name, faults[i][0]) == 0) {
            wg_double.next_status = WG_KERNEL_FAULT;
            wg_double.next_finding = faults[i][1];
        }
    if (strcmp(k->name, "endless") == 0) {
        printf("ready\n");
        fflush(stdout);
    }
    while (strcmp(k->name, "endless") == 0 && !(g->cancel && *g->cancel))
        usleep(1000);
    enum wg_status s = g->cancel && *g->cancel ? WG_CANCELLED : wg_double.next_status;
    if (wg_double.next_finding) {
        g->finding = (struct wg_finding){.id = wg_double.next_finding, .severity = WG_SEVERITY_ERROR};
        r->findings = &g->finding;
        r->nfindings = 1;
    }
    r->status = s;
    wg_double.next_status = WG_OK;
    wg_double.next_finding = NULL;
    const char *say = getenv("WG_DOUBLE_SAY");
    if (say && *say == '1')
        printf("launch %s <<<(%u,%u,%u),(%u,%u,%u),%zu>>> %zu bytes of arguments\n", k->name, cfg->grid[0],
               cfg->grid[1], cfg->grid[2], cfg->block[0], cfg->block[1], cfg->block[2], cfg->shared_bytes,
               k->info.param_bytes);
    return s == WG_OK ? s : fail(g, s, "the double was told to fail");
}

struct wg_profile *wg_get_profile(struct wg *g) { return &g->profile; }

/* One line that tells how many launches the profile held. */
enum wg_status wg_profile_write(const struct wg_profile *p, const char *path, char *err, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        snprintf(err, n, "%s: cannot be written", path);
        return WG_IO;
    }
    fprintf(f, "%zu launches of %s\n", p->nlaunches, p->program);
    fclose(f);
    return WG_OK;
}

enum wg_status wg_texture_create(struct wg *g, const struct wg_texture *t, uint64_t *handle)
{
    (void)g;
    wg_double.texture = *t;
    *handle = 0x1000 + ++wg_double.objects;
    return WG_OK;
}

enum wg_status wg_module_bind(struct wg_module *m, const char *name, uint64_t handle)
{
    (void)m;
    wg_double.bound = handle;
    return strcmp(name, "reference") == 0 ? WG_OK : WG_NOT_FOUND;
}

enum wg_status wg_surface_create(struct wg *g, const struct wg_image *image, uint64_t *handle)
{
    return wg_texture_create(g, &(struct wg_texture){.image = *image}, handle);
}

enum wg_status wg_texture_destroy(struct wg *g, uint64_t handle)
{
    (void)g, (void)handle;
    wg_double.objects--;
    return WG_OK;
}

enum wg_status wg_tensormap_encode_tiled(void *map, const struct wg_tensormap_tiled *t, const char **why)
{
    (void)map, (void)t, (void)why;
    return WG_INVALID;
}
