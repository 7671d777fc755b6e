/* cubin.c - reads machine code and its line table out of ptxas's object; see cubin.h. */
#include "model/cubin.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { BRA = 0x947, CALL = 0x944, EXIT = 0x94d, RET = 0x950, NOP = 0x918, INSTRUCTION = 16, MOST = 1 << 20 };

struct reader {
    const uint8_t *p;
    size_t n;
    unsigned sm;
    Elf64_Ehdr head;
    struct wg_arena *a;
};
/* One row of the line table of one section. */
struct place { uint32_t section; uint64_t address; uint32_t line; };
struct places { struct place *v; size_t n, cap; };

static bool section(const struct reader *r, uint32_t i, Elf64_Shdr *s)
{
    uint64_t at = r->head.e_shoff + (uint64_t)i * r->head.e_shentsize;
    if (i >= r->head.e_shnum || at > r->n || r->n - at < sizeof *s)
        return false;
    memcpy(s, r->p + at, sizeof *s);
    return s->sh_type == SHT_NOBITS || (s->sh_offset <= r->n && s->sh_size <= r->n - s->sh_offset);
}

static const char *name_of(const struct reader *r, const Elf64_Shdr *s)
{
    Elf64_Shdr names;
    if (!section(r, r->head.e_shstrndx, &names) || names.sh_type == SHT_NOBITS || s->sh_name >= names.sh_size)
        return "";
    const char *t = (const char *)r->p + names.sh_offset + s->sh_name;
    return memchr(t, 0, names.sh_size - s->sh_name) ? t : "";
}

static bool find(const struct reader *r, const char *name, Elf64_Shdr *s)
{
    for (uint32_t i = 0; i < r->head.e_shnum; i++)
        if (section(r, i, s) && s->sh_type != SHT_NOBITS && strcmp(name_of(r, s), name) == 0)
            return true;
    return false;
}

/* The section that the relocation at `offset` of the line table points into; 0: none. */
static uint32_t relocated(const struct reader *r, const Elf64_Shdr *rel, uint64_t offset)
{
    Elf64_Shdr symbols;
    size_t each = rel->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    if (!section(r, rel->sh_link, &symbols) || symbols.sh_type == SHT_NOBITS)
        return 0;
    for (uint64_t k = 0; k + each <= rel->sh_size; k += each) {
        Elf64_Rel x; /* the first members of a Rela */
        Elf64_Sym s;
        memcpy(&x, r->p + rel->sh_offset + k, sizeof x);
        uint64_t at = (x.r_info >> 32) * sizeof s;
        if (x.r_offset != offset || at + sizeof s > symbols.sh_size)
            continue;
        memcpy(&s, r->p + symbols.sh_offset + at, sizeof s);
        return s.st_shndx;
    }
    return 0;
}

/* ---- the line program: DWARF 2 --------------------------------------------------------------------------------- */

struct stream { const uint8_t *p, *end; };

static uint64_t unsigned_leb(struct stream *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->p < s->end; shift += 7) {
        uint8_t b = *s->p++;
        v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
        if (!(b & 128))
            break;
    }
    return v;
}

static int64_t signed_leb(struct stream *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->p < s->end;) {
        uint8_t b = *s->p++;
        v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
        shift += 7;
        if (!(b & 128)) {
            if ((b & 64) && shift < 64)
                v |= ~0ull << shift;
            break;
        }
    }
    return (int64_t)v;
}

static bool put(struct reader *r, struct places *out, uint32_t section, uint64_t address, int64_t line)
{
    struct place *v = wg_arena_grow(r->a, out->v, out->n + 1, &out->cap, sizeof *v);
    if (!v)
        return false;
    out->v = v;
    v[out->n++] = (struct place){section, address, line > 0 && line < UINT32_MAX ? (uint32_t)line : 0};
    return true;
}

/* One sequence of operations after a header whose numbers are in h. */
static bool run_program(struct reader *r, const Elf64_Shdr *table, const Elf64_Shdr *rel, struct stream s, const uint8_t *h,
                        struct places *out)
{
    unsigned step = h[0], range = h[3], base = h[4];
    int first = (int8_t)h[2];
    uint64_t address = 0;
    int64_t line = 1;
    uint32_t at = 0;
    while (s.p < s.end) {
        uint8_t op = *s.p++;
        if (op >= base) {
            unsigned k = op - base;
            address += (uint64_t)(k / range) * step;
            line += first + (int)(k % range);
            if (!put(r, out, at, address, line))
                return false;
            continue;
        }
        switch (op) {
        case 0: {
            uint64_t len = unsigned_leb(&s);
            if (!len || len > (uint64_t)(s.end - s.p))
                return true;
            if (*s.p == 2 && len == 9) {
                memcpy(&address, s.p + 1, 8);
                at = relocated(r, rel, (uint64_t)(s.p + 1 - (r->p + table->sh_offset)));
            } else if (*s.p == 1) {
                address = 0, line = 1;
            }
            s.p += len;
            break;
        }
        case 1:
            if (!put(r, out, at, address, line))
                return false;
            break;
        case 2: address += unsigned_leb(&s) * step; break;
        case 3: line += signed_leb(&s); break;
        case 8: address += (uint64_t)((255 - base) / range) * step; break;
        case 9:
            if (s.end - s.p >= 2)
                address += (uint64_t)(s.p[0] | s.p[1] << 8);
            s.p += s.end - s.p >= 2 ? 2 : s.end - s.p;
            break;
        default: /* the others have as many numbers as the header says */
            for (unsigned k = 0; k < h[5 + op - 1]; k++)
                unsigned_leb(&s);
        }
    }
    return true;
}

static enum wg_status read_lines(struct reader *r, struct places *out)
{
    Elf64_Shdr table, rel;
    if (!find(r, ".nv_debug_line_sass", &table) ||
        (!find(r, ".rela.nv_debug_line_sass", &rel) && !find(r, ".rel.nv_debug_line_sass", &rel)))
        return WG_CORRUPT;
    const uint8_t *p = r->p + table.sh_offset, *end = p + table.sh_size;
    while (end - p >= 15) {
        uint32_t length, header;
        memcpy(&length, p, 4);
        memcpy(&header, p + 6, 4);
        if (length > (size_t)(end - p - 4) || length < 11 || header > length - 6)
            return WG_CORRUPT;
        const uint8_t *h = p + 10, *stop = p + 4 + length; /* step, default, first, range, base, then the counts */
        if (!h[3] || !h[4] || stop - h < 4 + h[4])
            return WG_CORRUPT;
        if (!run_program(r, &table, &rel, (struct stream){p + 10 + header, stop}, h, out))
            return WG_NO_MEMORY;
        p = stop;
    }
    return WG_OK;
}

/* ---- machine code ---------------------------------------------------------------------------------------------- */

static int by_address(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    return a->section != b->section ? (a->section < b->section ? -1 : 1)
                                    : (a->address > b->address) - (a->address < b->address);
}

static int by_line(const void *x, const void *y)
{
    const struct wg_cubin_line *a = x, *b = y;
    return a->line != b->line ? (a->line < b->line ? -1 : 1) : (a->depth > b->depth) - (a->depth < b->depth);
}

/* Distance of a branch in bytes from the next instruction. */
static int64_t distance(const struct reader *r, uint64_t low, uint64_t high)
{
    int64_t field = (int64_t)((low >> 34 | high << 30) << 16) >> 16; /* bits 34 to 81 */
    return r->sm >= 90 ? (field * 256 + (int64_t)(low >> 16 & 255)) * 4 : field * 4;
}

static bool read_code(struct reader *r, uint32_t index, const Elf64_Shdr *s, const struct places *places,
                      struct wg_cubin_code *out)
{
    size_t n = s->sh_size / INSTRUCTION, end = 0, at = 0;
    uint16_t *depth = wg_arena_alloc(r->a, (n + 1) * sizeof *depth);
    out->lines = wg_arena_alloc(r->a, (n + 1) * sizeof *out->lines);
    if (!depth || !out->lines)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t low, high;
        memcpy(&low, r->p + s->sh_offset + i * INSTRUCTION, 8);
        memcpy(&high, r->p + s->sh_offset + i * INSTRUCTION + 8, 8);
        unsigned op = low & 0xfff;
        if (op == EXIT)
            end = i + 1;
        int64_t d = op == BRA ? distance(r, low, high) / INSTRUCTION : 0, to = (int64_t)i + 1 + d;
        for (int64_t k = to; d < -1 && to >= 0 && k <= (int64_t)i; k++)
            depth[k]++;
    }
    while (at < places->n && places->v[at].section < index)
        at++;
    uint32_t line = 0;
    unsigned before = 0;
    for (size_t i = 0; i < end; i++) {
        uint64_t low;
        memcpy(&low, r->p + s->sh_offset + i * INSTRUCTION, 8);
        unsigned op = low & 0xfff;
        for (; at < places->n && places->v[at].section == index && places->v[at].address <= i * INSTRUCTION; at++)
            line = places->v[at].line;
        out->lines[out->n++] = (struct wg_cubin_line){line, depth[i], op != NOP, op == BRA || op == EXIT};
        /* return address, call, branch: the way to a subroutine behind the last exit, which rare operands take */
        if (op == BRA && i >= 2 && before == CALL)
            for (size_t k = i - 2; k <= i; k++)
                out->lines[k].instructions = out->lines[k].branches = 0;
        before = op;
    }
    qsort(out->lines, out->n, sizeof *out->lines, by_line);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        struct wg_cubin_line *x = kept ? &out->lines[kept - 1] : NULL;
        if (x && by_line(x, &out->lines[i]) == 0 && x->instructions < UINT16_MAX) {
            x->instructions = (uint16_t)(x->instructions + out->lines[i].instructions);
            x->branches = (uint16_t)(x->branches + out->lines[i].branches);
        } else {
            out->lines[kept++] = out->lines[i];
        }
    }
    out->n = kept;
    return true;
}

enum wg_status wg_cubin_read(const void *object, size_t n, unsigned sm, struct wg_arena *a, struct wg_cubin_code **out,
                             size_t *count)
{
    struct reader r = {.p = object, .n = n, .sm = sm, .a = a};
    struct places places = {0};
    *out = NULL;
    *count = 0;
    if (n < sizeof r.head || memcmp(object, ELFMAG, SELFMAG) != 0)
        return WG_CORRUPT;
    memcpy(&r.head, object, sizeof r.head);
    if (r.head.e_ident[EI_CLASS] != ELFCLASS64 || r.head.e_shentsize < sizeof(Elf64_Shdr) || sm < 70)
        return WG_CORRUPT;
    enum wg_status e = read_lines(&r, &places);
    if (e != WG_OK)
        return e;
    if (places.n)
        qsort(places.v, places.n, sizeof *places.v, by_address);
    struct wg_cubin_code *v = wg_arena_alloc(a, (r.head.e_shnum + 1u) * sizeof *v);
    if (!v)
        return WG_NO_MEMORY;
    for (uint32_t i = 0; i < r.head.e_shnum; i++) {
        Elf64_Shdr s;
        if (!section(&r, i, &s) || s.sh_type == SHT_NOBITS || strncmp(name_of(&r, &s), ".text.", 6) || s.sh_size / INSTRUCTION > MOST)
            continue;
        const char *name = name_of(&r, &s) + 6;
        v[*count].name = wg_arena_str(a, name, strlen(name));
        if (!v[*count].name || !read_code(&r, i, &s, &places, &v[*count]))
            return WG_NO_MEMORY;
        ++*count;
    }
    *out = v;
    return WG_OK;
}
