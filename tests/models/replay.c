/* replay.c - simulated time against sums that can be done by hand. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "model/replay.h"

static const struct wg_gpu *h200(void) { return wg_gpu_find("H200"); }

static struct wg_replay_launch launch(uint64_t nblocks, unsigned nwarps, unsigned per_sm)
{
    return (struct wg_replay_launch){.gpu = h200(), .nblocks = nblocks, .nwarps = nwarps, .blocks_per_sm = per_sm,
                                     .l1_bytes = 128 << 10, .nsites = 4, .sample = 0, .clock_mhz = 1980};
}
static void event(struct wg_trace_block *b, unsigned warp, unsigned kind, uint32_t slots, uint32_t alone, unsigned use,
                  uint64_t line, unsigned sectors)
{
    bool memory = kind != WG_TRACE_BARRIER && kind != WG_TRACE_COMPUTE;
    struct wg_warp_trace *w = &b->warp[warp];
    uint64_t *v = wg_trace_room(b, w, 3);
    assert_non_null(v);
    v[0] = wg_trace_word0(kind, WG_TRACE_WHOLE, memory, 1, memory ? (unsigned)__builtin_popcount(sectors) : 0, use, 1);
    v[1] = wg_trace_word1(slots, alone, 0);
    v[2] = wg_trace_line(line, sectors, sectors, false);
    w->n += memory ? 3 : 2;
    b->slots += slots;
}
static struct wg_trace_block *block(uint64_t linear, unsigned nwarps)
{
    struct wg_trace_block *b = wg_trace_block_new(nwarps);
    assert_non_null(b);
    b->linear = linear;
    return b;
}
/* Plays blocks that `make` fills, put in the given order. */
static double play(struct wg_replay_launch l, void (*make)(struct wg_trace_block *b), bool backwards, struct wg_replay_result *out)
{
    struct wg_caches *c = wg_caches_open(l.gpu);
    struct wg_replay *r = wg_replay_open(c, &l);
    assert_non_null(r);
    for (uint64_t k = 0; k < l.nblocks; k++) {
        struct wg_trace_block *b = block(backwards ? l.nblocks - 1 - k : k, l.nwarps);
        make(b);
        wg_replay_put(r, b);
        wg_replay_advance(r);
    }
    wg_replay_finish(r, out);
    double cycles = out->cycles;
    out->site = NULL;
    wg_replay_close(r);
    wg_caches_close(c);
    return cycles;
}

static void compute(struct wg_trace_block *b)
{
    for (unsigned w = 0; w < b->nwarps; w++)
        for (int k = 0; k < 100; k++)
            event(b, w, WG_TRACE_COMPUTE, 100, 400, 0, 0, 0);
}
static void a_warp_alone_takes_its_latencies_and_many_the_slots(void **state)
{
    (void)state;
    struct wg_replay_result o;
    assert_int_equal(play(launch(1, 1, 1), compute, false, &o), 40000 + 1); /* a block starts every 1.2 cycles */
    /* 32 warps on four schedulers: 8 times 100 slots each in the time of 400 cycles alone */
    double t = play(launch(1, 32, 1), compute, false, &o);
    assert_true(t >= 80000 && t < 80000 * 1.02);
    assert_true(o.busy_issue > 0.97 && o.busy_issue <= 1.0);
}

static void chase(struct wg_trace_block *b)
{
    for (int k = 0; k < 200; k++)
        event(b, 0, WG_TRACE_LOAD, 1, 4, 0, 100000 + 64 * (uint64_t)k, 1);
}
static void dependent_loads_take_the_latency_of_memory(void **state)
{
    (void)state;
    struct wg_replay_result o;
    double each = play(launch(1, 1, 1), chase, false, &o) / 200;
    assert_true(each > h200()->dram_latency && each < h200()->dram_latency * 1.2);
    assert_true(o.stall_memory > 0.9 * o.warp_cycles);
}

static void stream(struct wg_trace_block *b)
{
    for (unsigned w = 0; w < b->nwarps; w++)
        for (uint64_t k = 0; k < 8; k++)
            event(b, w, WG_TRACE_LOAD, 4, 16, 255, (b->linear * b->nwarps + w) * 8 + k, 15);
}
static void a_stream_takes_what_memory_can_move(void **state)
{
    (void)state;
    struct wg_replay_result o;
    double cycles = play(launch(8192, 8, 8), stream, false, &o), bytes = 8192.0 * 8 * 8 * 128;
    assert_true(o.total.dram_read == (uint64_t)bytes);
    double least = bytes / (h200()->dram_read_gbs * 1e3 / 1980);
    assert_true(cycles > least && cycles < least * 1.15);
}

static void uneven(struct wg_trace_block *b)
{
    for (unsigned w = 0; w < b->nwarps; w++) {
        event(b, w, WG_TRACE_COMPUTE, 10, w == 0 ? 5000 : 50, 0, 0, 0);
        event(b, w, WG_TRACE_BARRIER, 1, 1, 0, 0, 0);
        event(b, w, WG_TRACE_COMPUTE, 10, 50, 0, 0, 0);
    }
}
static void a_barrier_waits_for_the_last_warp(void **state)
{
    (void)state;
    struct wg_replay_result o;
    double t = play(launch(1, 4, 1), uneven, false, &o);
    assert_true(t > 5050 && t < 5150);
    assert_true(o.stall_barrier > 3 * 4900 && o.stall_barrier < 3 * 5100);
}

static void mixed(struct wg_trace_block *b)
{
    for (unsigned w = 0; w < b->nwarps; w++)
        for (uint64_t k = 0; k < 6; k++) {
            event(b, w, k % 3 ? WG_TRACE_LOAD : WG_TRACE_STORE, 3, 12, 2, (b->linear % 97) * 40 + w * 3 + k, 5);
            if (k == 3)
                event(b, w, WG_TRACE_BARRIER, 1, 1, 0, 0, 0);
        }
}
static void the_order_in_which_blocks_arrive_does_not_matter(void **state)
{
    (void)state;
    struct wg_replay_result a, b;
    play(launch(2000, 4, 4), mixed, false, &a);
    play(launch(2000, 4, 4), mixed, true, &b);
    assert_true(a.cycles == b.cycles);
    assert_memory_equal(&a.total, &b.total, sizeof a.total);
}

static void a_block_that_never_came_is_left_out_and_counted(void **state)
{
    (void)state;
    struct wg_replay_launch l = launch(3, 1, 1);
    struct wg_caches *c = wg_caches_open(l.gpu);
    struct wg_replay *r = wg_replay_open(c, &l);
    struct wg_replay_result o;
    for (uint64_t k = 0; k < 3; k += 2) {
        struct wg_trace_block *b = block(k, 1);
        compute(b);
        wg_replay_put(r, b);
        wg_replay_advance(r);
    }
    wg_replay_finish(r, &o);
    assert_int_equal(o.missing_blocks, 1);
    assert_int_equal(o.cycles, 40000 + 2); /* the last block to come starts 2.4 cycles late */
    wg_replay_close(r);
    wg_caches_close(c);
}

static void thinning_keeps_costs_and_drops_lines(void **state)
{
    (void)state;
    struct wg_trace_block *b = block(0, 1);
    unsigned kept = 0;
    for (uint64_t k = 0; k < 1000; k++) {
        event(b, 0, WG_TRACE_LOAD, 2, 8, 0, k, 15);
        kept += !(wg_trace_hash(k) & 7);
    }
    wg_trace_thin(b, 3);
    const struct wg_warp_trace *w = &b->warp[0];
    uint64_t slots = w->slots, skipped = w->skipped, lines = 0;
    for (uint32_t at = 0; at < w->n; at += 2 + wg_trace_recorded(w->v[at])) {
        slots += wg_trace_slots(w->v[at + 1]);
        skipped += wg_trace_skipped(w->v[at + 1]);
        lines += wg_trace_recorded(w->v[at]);
    }
    assert_int_equal(slots, 2000);
    assert_int_equal(lines, kept);
    assert_int_equal(skipped, 1000 - kept);
    assert_true(kept > 80 && kept < 170);
    wg_trace_block_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_alone_takes_its_latencies_and_many_the_slots),
        cmocka_unit_test(dependent_loads_take_the_latency_of_memory),
        cmocka_unit_test(a_stream_takes_what_memory_can_move),
        cmocka_unit_test(a_barrier_waits_for_the_last_warp),
        cmocka_unit_test(the_order_in_which_blocks_arrive_does_not_matter),
        cmocka_unit_test(a_block_that_never_came_is_left_out_and_counted),
        cmocka_unit_test(thinning_keeps_costs_and_drops_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
