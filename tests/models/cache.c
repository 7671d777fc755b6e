/* cache.c - the cache model against what its rules say: sectors, capacity, pairs, write-back, shared paths. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "model/cache.h"

static struct wg_caches *open_h200(uint64_t l1)
{
    struct wg_caches *c = wg_caches_open(wg_gpu_find("H200"));
    assert_non_null(c);
    wg_caches_begin(c, l1, false);
    return c;
}
static void load(struct wg_caches *c, unsigned sm, uint64_t line, unsigned sectors, struct wg_traffic *t)
{
    uint64_t ready;
    wg_cache_load(c, sm, 0, line, sectors, 0, t, &ready);
}

static void a_sector_misses_once_and_only_itself(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    load(c, 0, 1000, 1, &t);
    load(c, 0, 1000, 3, &t);
    load(c, 0, 1000, 3, &t);
    assert_int_equal(t.l1_ld, 5);
    assert_int_equal(t.l1_ld_hit, 3);
    assert_int_equal(t.l2_read, 2);
    assert_int_equal(t.dram_read, 64); /* memory is read in pairs of sectors: the second one came along */
    assert_int_equal(t.l2_read_hit, 1);
    wg_caches_close(c);
}

static void the_l1_keeps_what_fits_and_loses_a_longer_walk(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) { /* hashed sets overflow a little before the cache is full */
        struct wg_caches *c = open_h200(128 << 10);
        struct wg_traffic t = {0};
        uint64_t lines = fits ? 512 : 4096;
        for (int round = 0; round < 2; round++)
            for (uint64_t k = 0; k < lines; k++)
                load(c, 5, 7000 + k, 15, &t);
        double rate = (double)t.l1_ld_hit / (double)t.l1_ld;
        assert_true(fits ? rate == 0.5 : rate < 0.01);
        wg_caches_close(c);
    }
}

static void sms_have_l1s_of_their_own_and_launches_find_them_empty(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    load(c, 0, 42, 15, &t);
    load(c, 100, 42, 15, &t);
    wg_caches_begin(c, 128 << 10, true); /* the L2 is kept */
    load(c, 0, 42, 15, &t);
    assert_int_equal(t.l1_ld_hit, 0);
    assert_int_equal(t.dram_read, 128);
    wg_caches_begin(c, 128 << 10, false);
    load(c, 0, 42, 15, &t);
    assert_int_equal(t.dram_read, 256);
    wg_caches_close(c);
}

static void a_loads_bypass_of_the_l1_leaves_nothing_there(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    uint64_t ready;
    for (int k = 0; k < 3; k++)
        wg_cache_load(c, 0, 0, 9, 15, WG_TRACE_BYPASS, &t, &ready);
    assert_int_equal(t.l1_ld_hit, 0);
    assert_int_equal(t.l2_read, 12);
    assert_int_equal(t.l2_read_hit, 8);
    wg_caches_close(c);
}

static void stores_read_nothing_and_are_written_back_when_pushed_out(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    uint64_t mb = 1 << 20, lines = 16 * mb / 128;
    for (uint64_t k = 0; k < lines; k++)
        wg_cache_store(c, 0, k, 15, 15, 0, 0, &t);
    assert_int_equal(t.l2_write, lines * 4);
    assert_int_equal(t.dram_read, 0);
    assert_true(t.dram_write < mb); /* 16 MiB fit */
    for (uint64_t k = 0; k < 16 * lines; k++)
        wg_cache_store(c, 0, k, 15, 15, 0, 0, &t);
    /* of 256 MiB written all but what the L2 holds, at most 60 MiB, went to memory, and each byte at most once more */
    assert_true(t.dram_write > 190 * mb && t.dram_write < 260 * mb);
    assert_int_equal(t.dram_read, 0);
    wg_caches_close(c);
}

static void a_sector_written_in_part_is_filled_first(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic part = {0}, whole = {0};
    uint64_t lines = (256u << 20) / 128;
    for (uint64_t k = 0; k < lines; k++)
        wg_cache_store(c, 0, k, 1, 0, 1, 0, &part); /* one word of a sector */
    assert_true(part.dram_read > 0 && part.dram_read == part.dram_write);
    wg_caches_begin(c, 128 << 10, false);
    for (uint64_t k = 0; k < lines; k++)
        for (unsigned w = 0; w < 8; w++)
            wg_cache_store(c, 0, k, 1, 0, 1u << w, 0, &whole); /* word by word, all eight */
    assert_int_equal(whole.dram_read, 0);
    wg_caches_close(c);
}

static void sms_of_one_path_share_a_read_on_its_way(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    uint64_t ready;
    wg_cache_load(c, 0, 100, 77, 15, 0, &t, &ready);
    assert_int_equal(ready, 0);
    wg_cache_fetched(c, 0, 77, 800);
    wg_cache_load(c, 1, 500, 77, 15, 0, &t, &ready);
    assert_int_equal(ready, 800);
    assert_int_equal(t.l2_read, 4);
    assert_int_equal(t.l1_ld_hit, 0);
    wg_cache_load(c, 2, 900, 77, 15, 0, &t, &ready); /* too late */
    assert_int_equal(t.l2_read, 8);
    wg_cache_load(c, 64, 500, 77, 15, 0, &t, &ready); /* another path */
    assert_int_equal(t.l2_read, 12);
    memset(&t, 0, sizeof t);
    for (unsigned sm = 0; sm < 16; sm++) { /* as measured: 16 SMs of one GPC need 4 reads */
        wg_cache_load(c, sm, 100, 78, 15, 0, &t, &ready);
        wg_cache_fetched(c, sm, 78, 800);
    }
    assert_int_equal(t.l2_read, 16);
    wg_caches_close(c);
}

static void atomics_change_the_l2_and_make_the_l1s_copy_stale(void **state)
{
    (void)state;
    struct wg_caches *c = open_h200(128 << 10);
    struct wg_traffic t = {0};
    load(c, 0, 5, 1, &t);
    wg_cache_atomic(c, 0, 5, 1, false, &t);
    load(c, 0, 5, 1, &t);
    assert_int_equal(t.l2_red, 1);
    assert_int_equal(t.l1_ld_hit, 0);
    assert_int_equal(t.l2_read, 2);
    assert_int_equal(t.dram_read, 64);
    wg_caches_close(c);
}

static void a_sample_sees_the_same_rates_as_the_whole(void **state)
{
    (void)state;
    double rate[2];
    for (int level = 0; level < 2; level++) { /* a walk over 1.5 times the L1, in an order that reuses some of it */
        struct wg_caches *c = open_h200(128 << 10);
        struct wg_traffic t = {0};
        uint32_t mask = level ? 7 : 0;
        uint64_t x = 1;
        for (int k = 0; k < 400000; k++) {
            x = x * 6364136223846793005ull + 1442695040888963407ull;
            uint64_t line = x >> 33 & 2047;
            line = line > 1535 ? line - 1024 : line;
            if (!(wg_trace_hash(line) & mask))
                load(c, 0, line, 15, &t);
        }
        rate[level] = (double)t.l1_ld_hit / (double)t.l1_ld;
        wg_caches_close(c);
    }
    assert_true(rate[0] > 0.3 && rate[0] < 0.95);
    assert_true(rate[1] > rate[0] - 0.05 && rate[1] < rate[0] + 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sector_misses_once_and_only_itself),
        cmocka_unit_test(the_l1_keeps_what_fits_and_loses_a_longer_walk),
        cmocka_unit_test(sms_have_l1s_of_their_own_and_launches_find_them_empty),
        cmocka_unit_test(a_loads_bypass_of_the_l1_leaves_nothing_there),
        cmocka_unit_test(stores_read_nothing_and_are_written_back_when_pushed_out),
        cmocka_unit_test(a_sector_written_in_part_is_filled_first),
        cmocka_unit_test(sms_of_one_path_share_a_read_on_its_way),
        cmocka_unit_test(atomics_change_the_l2_and_make_the_l1s_copy_stale),
        cmocka_unit_test(a_sample_sees_the_same_rates_as_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
