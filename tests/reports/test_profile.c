/* test_profile.c - the profile builder and the .wgprof format: equal after a round trip, safe on any bytes. */
#include "profile/profile.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static const char *in_dir(char *buf, const char *name)
{
    snprintf(buf, 256, "%s/%s", dir, name);
    return buf;
}

static void spill(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *s = malloc(*n + 1);
    assert_int_equal(fread(s, 1, *n, f), *n);
    s[*n] = 0;
    fclose(f);
    return s;
}

/* A launch of 3 sites; site i counts i+1 in counter 0 and `salt` in the last counter. */
static void add_launch(struct wg_profile_builder *b, const char *mangled, uint64_t salt)
{
    uint32_t src = wg_profile_add_source(b, "k.cu");
    struct wg_launch_result *l = wg_profile_begin_launch(b, 3);
    assert_non_null(l);
    l->kernel = "k(float*, int)";
    l->mangled = mangled;
    l->module = "k.cu";
    l->compiler = "clang 19.1.7";
    l->device = "NVIDIA H200";
    memcpy(l->grid, (uint32_t[]){64, 2, 1}, sizeof l->grid);
    memcpy(l->block, (uint32_t[]){256, 1, 1}, sizeof l->block);
    l->static_shared = 4096;
    l->registers = 28;
    l->registers_exact = true;
    l->blocks_done = 128;
    l->host_seconds = 0.1;
    l->one_worker = true;
    l->merged_sites = 2;
    l->uncounted = 1u << WG_C_TAGS;
    l->status = WG_KERNEL_FAULT;
    l->status_text = "stopped";
    char text[32];
    for (uint32_t i = 0; i < 3; i++) {
        struct wg_site *s = &l->sites[i];
        snprintf(text, sizeof text, "ld.shared.f32 %%f%u, [%%r1]", i);
        s->text = wg_profile_string(b, text);
        s->opcode = "ld.shared.f32";
        s->kind = WG_SITE_LOAD;
        s->space = WG_SITE_SHARED;
        s->access_bytes = 4;
        s->ptx_line = 100 + i;
        if (i) {
            s->source = src;
            s->line = 10 * i;
        }
        if (i == 2) {
            s->inlined_source = src;
            s->inlined_line = 7;
        }
        s->c[0] = i + 1;
        s->c[WG_C_COUNT - 1] = salt;
    }
    struct wg_finding f = {.id = "race-shared", .tool = "racecheck", .severity = WG_SEVERITY_WARNING, .source = src,
                           .line = 20, .other_source = UINT32_MAX, .count = 3, .thread = {1, 2, 3}, .block = {4, 5, 6},
                           .other_thread = {7, 8, 9}, .other_block = {10, 11, 12}, .address = UINT64_MAX,
                           .message = "Two lanes write one word.\nA second line."};
    assert_int_equal(wg_profile_add_finding(b, &f), WG_OK);
    assert_int_equal(wg_profile_end_launch(b), WG_OK);
}

static void same_findings(const struct wg_finding *a, size_t na, const struct wg_finding *b, size_t nb)
{
    assert_int_equal(na, nb);
    for (size_t i = 0; i < na; i++) {
        assert_string_equal(a[i].id, b[i].id);
        assert_string_equal(a[i].tool, b[i].tool);
        assert_string_equal(a[i].message, b[i].message);
        assert_int_equal(a[i].severity, b[i].severity);
        assert_int_equal(a[i].source, b[i].source);
        assert_int_equal(a[i].line, b[i].line);
        assert_int_equal(a[i].other_source, b[i].other_source);
        assert_int_equal(a[i].other_line, b[i].other_line);
        assert_int_equal(a[i].count, b[i].count);
        assert_true(a[i].address == b[i].address);
        assert_memory_equal(a[i].thread, b[i].thread, sizeof a->thread);
        assert_memory_equal(a[i].block, b[i].block, sizeof a->block);
        assert_memory_equal(a[i].other_thread, b[i].other_thread, sizeof a->thread);
        assert_memory_equal(a[i].other_block, b[i].other_block, sizeof a->block);
    }
}

static void same_launch(const struct wg_launch_result *a, const struct wg_launch_result *b)
{
    assert_int_equal(a->index, b->index);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->mangled, b->mangled);
    assert_string_equal(a->module, b->module);
    assert_string_equal(a->compiler, b->compiler);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->status_text, b->status_text);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_memory_equal(a->block, b->block, sizeof a->block);
    assert_memory_equal(a->cluster, b->cluster, sizeof a->cluster);
    assert_int_equal(a->static_shared, b->static_shared);
    assert_int_equal(a->dynamic_shared, b->dynamic_shared);
    assert_int_equal(a->local_bytes, b->local_bytes);
    assert_int_equal(a->registers, b->registers);
    assert_int_equal(a->registers_exact, b->registers_exact);
    assert_int_equal(a->blocks_done, b->blocks_done);
    assert_int_equal(a->status, b->status);
    assert_true(a->host_seconds == b->host_seconds);
    assert_int_equal(a->one_worker, b->one_worker);
    assert_int_equal(a->merged_sites, b->merged_sites);
    assert_int_equal(a->uncounted, b->uncounted);
    assert_memory_equal(a->total, b->total, sizeof a->total);
    assert_int_equal(a->nsites, b->nsites);
    for (size_t i = 0; i < a->nsites; i++) {
        const struct wg_site *x = &a->sites[i], *y = &b->sites[i];
        assert_int_equal(x->source, y->source);
        assert_int_equal(x->line, y->line);
        assert_int_equal(x->inlined_line, y->inlined_line);
        assert_int_equal(x->inlined_source, y->inlined_source);
        assert_int_equal(x->ptx_line, y->ptx_line);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->space, y->space);
        assert_int_equal(x->access_bytes, y->access_bytes);
        assert_string_equal(x->text, y->text);
        assert_string_equal(x->opcode, y->opcode);
        assert_memory_equal(x->c, y->c, sizeof x->c);
    }
    same_findings(a->findings, a->nfindings, b->findings, b->nfindings);
}

static void same_profile(const struct wg_profile *a, const struct wg_profile *b)
{
    assert_int_equal(a->version, b->version);
    assert_string_equal(a->program, b->program);
    assert_string_equal(a->device_file, b->device_file);
    assert_string_equal(a->tool_version, b->tool_version);
    assert_int_equal(a->nsources, b->nsources);
    for (size_t i = 0; i < a->nsources; i++) {
        assert_string_equal(a->sources[i].path, b->sources[i].path);
        assert_int_equal(!a->sources[i].text, !b->sources[i].text);
        if (a->sources[i].text)
            assert_string_equal(a->sources[i].text, b->sources[i].text);
    }
    assert_int_equal(a->nlaunches, b->nlaunches);
    for (size_t i = 0; i < a->nlaunches; i++)
        same_launch(&a->launches[i], &b->launches[i]);
    same_findings(a->host_findings, a->nhost_findings, b->host_findings, b->nhost_findings);
}

static void sums_and_shares_equal_sites(void **state)
{
    (void)state;
    struct wg_profile_builder b;
    assert_int_equal(wg_profile_builder_init(&b, "./app 7"), WG_OK);
    b.profile.device_file = "base = H200\nsms = 7\n";
    add_launch(&b, "k", 5);
    add_launch(&b, "k", 5);
    add_launch(&b, "k", 6);
    add_launch(&b, "other", 5);
    const struct wg_launch_result *l = b.profile.launches;
    assert_int_equal(l[0].total[0], 1 + 2 + 3);
    assert_int_equal(l[2].total[WG_C_COUNT - 1], 3 * 6);
    assert_ptr_equal(l[0].sites, l[1].sites);
    assert_ptr_not_equal(l[0].sites, l[2].sites);
    assert_ptr_not_equal(l[0].sites, l[3].sites);
    assert_int_equal(b.profile.nsources, 1);
    assert_int_equal(l[3].index, 3);
    assert_int_equal(l[3].nfindings, 1);
    wg_profile_builder_free(&b);
}

static void round_trip_is_equal(void **state)
{
    (void)state;
    char path[256], again[256], err[256] = "", src[256];
    spill(in_dir(src, "quirk\n.cu"), "one\xff\0two\r\n\xc3\xa9", 12);
    struct wg_profile_builder b;
    assert_int_equal(wg_profile_builder_init(&b, "./app \"quoted\" \x1b[31m \xe2\x82"), WG_OK);
    wg_profile_add_source(&b, src);
    for (int i = 0; i < 5; i++)
        add_launch(&b, i == 2 ? "other" : "k", i == 4 ? INT64_MAX : 5);
    struct wg_finding f = {.id = "leak", .source = UINT32_MAX, .other_source = UINT32_MAX, .message = "1 leak."};
    assert_int_equal(wg_profile_add_finding(&b, &f), WG_OK);
    wg_profile_load_sources(&b);
    assert_string_equal(b.profile.sources[0].text, "one\xef\xbf\xbd\xef\xbf\xbdtwo\r\n\xc3\xa9");
    assert_null(b.profile.sources[1].text); /* there is no k.cu here */
    assert_int_equal(wg_profile_write(&b.profile, in_dir(path, "a.wgprof"), err, sizeof err), WG_OK);
    struct wg_profile *p;
    assert_int_equal(wg_profile_read(path, &p, err, sizeof err), WG_OK);
    same_profile(&b.profile, p);
    assert_ptr_equal(p->launches[0].sites, p->launches[1].sites);
    assert_int_equal(wg_profile_write(p, in_dir(again, "b.wgprof"), err, sizeof err), WG_OK);
    size_t n, m;
    char *x = slurp(path, &n), *y = slurp(again, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
    wg_profile_free(p);
    wg_profile_builder_free(&b);
}

static void write_keeps_the_old_file_when_it_fails(void **state)
{
    (void)state;
    char path[256], err[256] = "";
    struct wg_profile_builder b;
    assert_int_equal(wg_profile_builder_init(&b, ""), WG_OK);
    assert_int_equal(wg_profile_write(&b.profile, in_dir(path, "no/such/dir.wgprof"), err, sizeof err), WG_IO);
    assert_non_null(strstr(err, "No such file"));
    assert_int_equal(wg_profile_write(&b.profile, dir, err, sizeof err), WG_IO);
    assert_non_null(strstr(err, "directory"));
    assert_int_equal(wg_profile_write(&b.profile, "/dev/full", err, sizeof err), WG_IO);
    mkdir(in_dir(path, "locked"), 0700);
    char file[300];
    snprintf(file, sizeof file, "%s/x.wgprof", path);
    spill(file, "old", 3);
    assert_int_equal(chmod(path, 0500), 0);
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(wg_profile_write(&b.profile, file, err, sizeof err), WG_IO);
        size_t n;
        char *s = slurp(file, &n);
        assert_string_equal(s, "old");
        free(s);
    }
    chmod(path, 0700);
    assert_int_equal(wg_profile_write(&b.profile, file, err, sizeof err), WG_OK);
    DIR *d = opendir(path);
    int entries = 0;
    while (readdir(d))
        entries++;
    closedir(d);
    assert_int_equal(entries, 3); /* ".", ".." and x.wgprof: nothing temporary is left */
    wg_profile_builder_free(&b);
}

static enum wg_status read_text(const char *text, char *err)
{
    char path[256];
    struct wg_profile *p;
    spill(in_dir(path, "t.wgprof"), text, strlen(text));
    enum wg_status s = wg_profile_read(path, &p, err, 256);
    if (s == WG_OK)
        wg_profile_free(p);
    else
        assert_null(p);
    return s;
}

#define HEAD "{\"format\":\"warpgrind-profile\",\"version\":1"
static void refuses_what_is_wrong_by_name(void **state)
{
    (void)state;
    static const struct { const char *text; enum wg_status status; const char *says; } rows[] = {
        {HEAD "}", WG_OK, ""},
        {HEAD ",\"later_key\":[1,{}]}", WG_OK, ""},
        {"", WG_CORRUPT, "line"},
        {"[]", WG_CORRUPT, "not a warpgrind profile"},
        {"{}", WG_CORRUPT, "not a warpgrind profile"},
        {"{\"format\":\"warpgrind-profile\"}", WG_CORRUPT, "version"},
        {"{\"format\":\"warpgrind-profile\",\"version\":99}", WG_VERSION, "version 99"},
        {HEAD ",\"version\":1}", WG_CORRUPT, "duplicate"},
        {HEAD ",\"program\":5}", WG_CORRUPT, "program"},
        {HEAD ",\"program\":\"\\u0000\"}", WG_CORRUPT, "line"},
        {HEAD ",\"program\":\"\xff\"}", WG_CORRUPT, "line"},
        {HEAD ",\"launches\":[5]}", WG_CORRUPT, "launch 0"},
        {HEAD ",\"launches\":[{\"grid\":[1,2]}]}", WG_CORRUPT, "grid"},
        {HEAD ",\"launches\":[{\"grid\":[1,2,-3]}]}", WG_CORRUPT, "grid"},
        {HEAD ",\"launches\":[{\"grid\":[1,2,4294967296]}]}", WG_CORRUPT, "grid"},
        {HEAD ",\"launches\":[{\"code\":0}]}", WG_CORRUPT, "code 0 of 0"},
        {HEAD ",\"launches\":[{\"status\":\"NOPE\"}]}", WG_CORRUPT, "status"},
        {HEAD ",\"code\":[[{\"at\":[0,1]}]]}", WG_CORRUPT, "source 0 of 0"},
        {HEAD ",\"code\":[[{\"at\":[1]}]]}", WG_CORRUPT, "at"},
        {HEAD ",\"code\":[[{}]],\"launches\":[{\"code\":0,\"counts_of\":0}]}", WG_CORRUPT, "counts_of"},
        {HEAD ",\"code\":[[{}]],\"launches\":[{\"code\":0,\"counts\":[[1]]}]}", WG_CORRUPT, "site 1 of 1"},
        {HEAD ",\"code\":[[{}]],\"launches\":[{\"code\":0,\"counts\":[[0,5]]}]}", WG_CORRUPT, "2 numbers"},
        {HEAD ",\"counters\":[\"x\",\"sectors\"],\"code\":[[{}]],\"launches\":[{\"code\":0,\"counts\":[[0,5,7]],"
              "\"total\":{\"sectors\":7}}]}", WG_OK, ""},
        {HEAD ",\"counters\":[\"sectors\"],\"code\":[[{}]],\"launches\":[{\"code\":0,\"counts\":[[0,7]],"
              "\"total\":{\"sectors\":8}}]}", WG_CORRUPT, "total"},
        {HEAD ",\"counters\":[\"sectors\",\"sectors\"]}", WG_CORRUPT, "twice"},
        {HEAD ",\"host_findings\":[{\"address\":\"0xzz\"}]}", WG_CORRUPT, "address"},
        {HEAD ",\"host_findings\":[{\"address\":\"0xffffffffffffffff\"}]}", WG_OK, ""},
        {HEAD ",\"host_findings\":[{\"address\":\"0x1ffffffffffffffff\"}]}", WG_CORRUPT, "address"},
    };
    char err[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *err = 0;
        enum wg_status s = read_text(rows[i].text, err);
        if (s != rows[i].status || !strstr(err, rows[i].says))
            fail_msg("row %zu: status %d, \"%s\"", i, s, err);
    }
    struct wg_profile *p;
    assert_int_equal(wg_profile_read("/no/such.wgprof", &p, err, sizeof err), WG_IO);
    assert_int_equal(wg_profile_read(dir, &p, err, sizeof err), WG_IO);
}

/* Many truncations and a thousand of seeded mutations of a real file either load or are refused; what loads can be
 * written again. Sanitizer builds make "safe" mean something here. */
static void any_bytes_are_safe(void **state)
{
    (void)state;
    char path[256], err[256];
    struct wg_profile_builder b;
    assert_int_equal(wg_profile_builder_init(&b, "p"), WG_OK);
    add_launch(&b, "k", 1);
    add_launch(&b, "k", 1);
    assert_int_equal(wg_profile_write(&b.profile, in_dir(path, "f.wgprof"), err, sizeof err), WG_OK);
    wg_profile_builder_free(&b);
    size_t n;
    char *good = slurp(path, &n), *s = malloc(n);
    uint64_t x = 88172645463325252u;
    static const char alphabet[] = "0123456789-[]{}\",:ex.tnul\\\x00\xff";
    unsigned loaded = 0, refused = 0;
    for (unsigned k = 0; k < 1500; k++) {
        size_t len = k < 500 ? k * n / 500 : n;
        memcpy(s, good, n);
        for (unsigned i = 0; k >= 500 && i < 1 + k % 4; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            s[x % n] = alphabet[(x >> 40) % (sizeof alphabet - 1)];
        }
        spill(path, s, len);
        struct wg_profile *p;
        if (wg_profile_read(path, &p, err, sizeof err) == WG_OK) {
            if (++loaded % 16 == 0) /* writing waits for the disk */
                assert_int_equal(wg_profile_write(p, path, err, sizeof err), WG_OK);
            wg_profile_free(p);
        } else {
            refused++;
        }
    }
    assert_true(loaded > 0 && refused > 500);
    free(s);
    free(good);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    for (long n = 1; n < 60; n++) {
        struct wg_profile_builder b;
        wg_alloc_fail_after(n);
        enum wg_status s = wg_profile_builder_init(&b, "p");
        struct wg_launch_result *l = s == WG_OK ? wg_profile_begin_launch(&b, 40) : NULL;
        if (l) {
            l->kernel = "k";
            char text[32];
            for (int i = 0; i < 40; i++) {
                snprintf(text, sizeof text, "add.s32 %%r%d, 0, 0", i);
                l->sites[i].text = wg_profile_string(&b, text);
                l->sites[i].c[0] = 1;
            }
            struct wg_finding f = {.id = "x", .message = "m"};
            bool lost = wg_profile_add_finding(&b, &f) != WG_OK;
            s = wg_profile_end_launch(&b);
            wg_alloc_fail_after(0);
            assert_int_equal(b.profile.nlaunches, s == WG_OK);
            if (s == WG_OK) {
                assert_int_equal(b.profile.launches[0].total[0], 40);
                assert_int_equal(b.profile.launches[0].nfindings, !lost);
                assert_string_equal(b.profile.launches[0].sites[39].text, "add.s32 %r39, 0, 0");
            } else {
                assert_int_equal(s, WG_NO_MEMORY);
                add_launch(&b, "k", 1); /* and the next launch works */
            }
        }
        wg_alloc_fail_after(0);
        wg_profile_builder_free(&b);
    }
}

static void utf8_follows_the_standard(void **state)
{
    (void)state;
    static const struct { const char *in, *out; } rows[] = {
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                          /* overlong '/' */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* past U+10FFFF */
        {"a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd"},                        /* cut short */
        {"\x80z", "\xef\xbf\xbdz"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = wg_profile_utf8(out, rows[i].in, strlen(rows[i].in));
        assert_string_equal(out, rows[i].out);
        assert_int_equal(n, strlen(rows[i].out));
    }
}

static void sources_that_would_block_are_not_read(void **state)
{
    (void)state;
    char path[256], longer[256];
    assert_int_equal(mkfifo(in_dir(path, "pipe.cu"), 0600), 0);
    int fd = open(in_dir(longer, "long.cu"), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, WG_PROFILE_SOURCE_LIMIT + 1), 0);
    close(fd);
    struct wg_profile_builder b;
    assert_int_equal(wg_profile_builder_init(&b, ""), WG_OK);
    wg_profile_add_source(&b, path);
    wg_profile_add_source(&b, longer);
    wg_profile_add_source(&b, "/");
    wg_profile_load_sources(&b);
    for (int i = 0; i < 3; i++)
        assert_null(b.profile.sources[i].text);
    wg_profile_builder_free(&b);
}

int main(void)
{
    snprintf(dir, sizeof dir, "/tmp/wg_profile_XXXXXX");
    if (!mkdtemp(dir))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_shares_equal_sites),
        cmocka_unit_test(round_trip_is_equal),
        cmocka_unit_test(write_keeps_the_old_file_when_it_fails),
        cmocka_unit_test(refuses_what_is_wrong_by_name),
        cmocka_unit_test(any_bytes_are_safe),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(utf8_follows_the_standard),
        cmocka_unit_test(sources_that_would_block_are_not_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char rm[96];
    snprintf(rm, sizeof rm, "rm -rf %s", dir);
    return system(rm) || failed;
}
