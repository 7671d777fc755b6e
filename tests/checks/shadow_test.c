/* shadow_test.c - what the checks remember of memory takes at most 4 bytes for each byte that a program touches, whether it
 * takes rows or scattered words (4.5 where it takes single bytes), and nothing for what it does not touch. */
#include "check/check.h"
#include "exec/engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* rows: out[i] = in[i]. scattered: out[33 i mod n] = in[65 i mod n], n a power of two, so that each warp meets 32 rows.
 * bytes: out byte [i] = in byte [i]. tile: a transposition through shared memory. one: thread 0 writes out[0]. */
static const char kernels[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"                                    \
    ".reg .b64 %a, %b, %x; .reg .b32 %i, %j, %k, %n, %t; .reg .pred %p; .shared .align 4 .b8 s[1024];\n"               \
    "ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;\n" \
    "mad.lo.u32 %i, %i, 256, %t;\n"
#define MOVE(from, to, bytes, type)                                                                                    \
    "mul.wide.u32 %x, " from ", " bytes "; add.u64 %a, %a, %x; mul.wide.u32 %x, " to ", " bytes "; add.u64 %b, %b, %x;\n" \
    "ld.global." type " %k, [%a]; st.global." type " [%b], %k;\n"
    HEAD("rows") MOVE("%i", "%i", "4", "u32") "ret;\n}\n"
    HEAD("scattered") "sub.u32 %n, %n, 1; mul.lo.u32 %j, %i, 33; and.b32 %j, %j, %n; mul.lo.u32 %k, %i, 65; and.b32 %k, %k, %n;\n"
    MOVE("%k", "%j", "4", "u32") "ret;\n}\n"
    HEAD("bytes") MOVE("%i", "%i", "1", "u8") "ret;\n}\n"
    HEAD("tile")
    "mul.wide.u32 %x, %i, 4; add.u64 %a, %a, %x; add.u64 %b, %b, %x; ld.global.u32 %k, [%a];\n"
    "shl.b32 %j, %t, 2; mov.u32 %n, s; add.u32 %j, %j, %n; st.shared.u32 [%j], %k; bar.sync 0;\n"
    "and.b32 %j, %t, 15; shl.b32 %j, %j, 4; shr.u32 %k, %t, 4; add.u32 %j, %j, %k; shl.b32 %j, %j, 2; add.u32 %j, %j, %n;\n"
    "ld.shared.u32 %k, [%j]; st.global.u32 [%b], %k; ret;\n}\n"
    HEAD("one") "or.b32 %j, %i, 0; setp.eq.u32 %p, %j, 0; @%p st.global.u32 [%b], %i; ret;\n}\n";

enum { BYTES = 2 << 20 };

/* The most that was remembered while `kernel` ran twice over arrays of BYTES bytes; it finds nothing. */
static uint64_t peak(const char *kernel, unsigned elem)
{
    struct wg_options o = {.size = sizeof o, .jobs = 1, .memory = 256 << 20,
                           .tools = WG_TOOL_MEMCHECK | WG_TOOL_RACECHECK | WG_TOOL_INITCHECK | WG_TOOL_SYNCCHECK};
    struct wg *g = NULL;
    struct wg_module *m = NULL;
    char err[300];
    uint64_t in = 0, out = 0;
    uint32_t n = BYTES / elem;
    assert_int_equal(wg_open(&o, &g, err, sizeof err), WG_OK);
    assert_int_equal(wg_module_load(g, kernels, strlen(kernels), "shadow.ptx", NULL, &m), WG_OK);
    assert_int_equal(wg_alloc(g, BYTES, 256, &in), WG_OK);
    assert_int_equal(wg_alloc(g, BYTES, 256, &out), WG_OK);
    if (strcmp(kernel, "one") != 0)
        assert_int_equal(wg_fill(g, in, 1, BYTES), WG_OK);
    void *args[] = {&in, &out, &n};
    struct wg_launch l = {.size = sizeof l, .grid = {n / 256, 1, 1}, .block = {256, 1, 1}, .args = args};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wg_launch(g, wg_module_kernel(m, kernel), &l), WG_OK);
        const struct wg_profile *p = wg_get_profile(g);
        assert_int_equal(p->launches[p->nlaunches - 1].nfindings, 0);
    }
    uint64_t most = wg_check_shadow(g->check).peak;
    wg_close(g);
    return most;
}

static void at_most_four_bytes_for_one(void **state)
{
    (void)state;
    const uint64_t most = 4 * 2 * (uint64_t)BYTES;
    uint64_t rows = peak("rows", 4), scattered = peak("scattered", 4), bytes = peak("bytes", 1), tile = peak("tile", 4);
    print_message("bytes of shadow for each byte touched: rows %.2f, scattered words %.2f, bytes %.2f, tiles %.2f\n",
                  4.0 * (double)rows / (double)most, 4.0 * (double)scattered / (double)most, 4.0 * (double)bytes / (double)most,
                  4.0 * (double)tile / (double)most);
    assert_in_range(rows, 1, most);
    assert_in_range(scattered, rows, most); /* words apart cannot take less than rows */
    assert_in_range(bytes, 1, most + most / 8); /* four events a word, one for each byte's lane, are a little too many */
    assert_in_range(tile, 1, most);
}

static void nothing_for_what_is_not_touched(void **state)
{
    (void)state;
    assert_in_range(peak("one", 4), 1, 128 << 10); /* of 4 MiB allocated */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_most_four_bytes_for_one),
                                       cmocka_unit_test(nothing_for_what_is_not_touched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
