/* ptx_util.h - short PTX modules for the parser's tests. */
#ifndef PTX_UTIL_H
#define PTX_UTIL_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "ptx/module.h"

#define PTX_HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
#define PTX_BODY(text) PTX_HEAD ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" \
    ".reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>; .reg .f64 %fd<9>; .reg .pred %p<9>;\n" \
    text "\n}\n"

/* Parse, print, parse what was printed, print again: both texts must be equal. Returns the first module. */
static inline struct wg_ptx_module *ptx_good(const char *text)
{
    struct wg_ptx_module *m, *m2;
    struct wg_diag d = {0};
    if (wg_ptx_parse(text, strlen(text), "t.ptx", &m, &d) != WG_OK)
        fail_msg("%s", d.text);
    char *a = wg_ptx_print(m);
    assert_non_null(a);
    if (wg_ptx_parse(a, strlen(a), "printed.ptx", &m2, &d) != WG_OK)
        fail_msg("%s\nin\n%s", d.text, a);
    char *b = wg_ptx_print(m2);
    assert_non_null(b);
    assert_string_equal(a, b);
    free(a);
    free(b);
    wg_ptx_free(m2);
    return m;
}

/* The i-th instruction of the first function that has a body. */
static inline const struct wg_instr *ptx_instr(const struct wg_ptx_module *m, uint32_t i)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        if (!m->funcs[f]->is_declaration) {
            assert_true(i < m->funcs[f]->ninstrs);
            return &m->funcs[f]->instrs[i];
        }
    fail_msg("no function");
    return NULL;
}

static inline double ptx_double(int64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
#endif
