/* cmd_check.c - runs a program with the checks on; lists findings in compute-sanitizer's form or as CSV; suppressions. */
#include "cli/cli.h"
#include "report/escape.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const tool_names[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};
static const char *const severity_names[] = {"info", "warning", "error"};

bool wg_cli_tools(const struct wg_cli *o, unsigned *tools)
{
    *tools = o->check ? 15 : 0;
    if (!o->tool)
        return true;
    *tools = 0;
    for (const char *p = o->tool; *p;) {
        size_t n = strcspn(p, ","), k = 0;
        while (k < 5 && (strlen(tool_names[k]) != n || memcmp(tool_names[k], p, n)))
            k++;
        if (k == 5) {
            wg_cli_error(0, "--tool takes memcheck, racecheck, initcheck, synccheck or all, not \"%.*s\"", (int)n, p);
            return false;
        }
        *tools |= k == 4 ? 15 : 1u << k;
        p += n + (p[n] == ',');
    }
    return true;
}

bool wg_cli_schedule(const struct wg_cli *o, enum wg_schedule *s, uint64_t *seed)
{
    const char *how = o->schedule;
    *s = WG_SCHEDULE_ROUND_ROBIN;
    *seed = 0;
    if (!how || !strcmp(how, "round-robin"))
        return true;
    if (!strcmp(how, "adversarial")) {
        *s = WG_SCHEDULE_ADVERSARIAL;
        return true;
    }
    if (!strncmp(how, "random", 6) && (!how[6] || (how[6] == ':' && wg_cli_number(how + 7, seed)))) {
        *s = WG_SCHEDULE_RANDOM;
        return true;
    }
    wg_cli_error(0, "--schedule is round-robin, random:SEED or adversarial, not \"%s\"", how);
    return false;
}

static const char *base_name(const char *path)
{
    const char *s = strrchr(path, '/');
    return s ? s + 1 : path;
}
static const char *file_of(const struct wg_profile *p, uint32_t source, uint32_t line)
{
    return line && source < p->nsources ? p->sources[source].path : "";
}

uint64_t wg_cli_errors(const struct wg_profile *p)
{
    uint64_t n = 0;
    for (size_t l = 0; l <= p->nlaunches; l++) {
        const struct wg_finding *v = l < p->nlaunches ? p->launches[l].findings : p->host_findings;
        size_t k = l < p->nlaunches ? p->launches[l].nfindings : p->nhost_findings;
        for (size_t i = 0; i < k; i++)
            n += v[i].severity == WG_SEVERITY_ERROR;
    }
    return n;
}

/* ---- suppressions: a line each of `tool id kernel file:line`, with * and ? in every word; # starts a comment ---- */
struct rules { size_t n; char (*v)[1024]; };

static bool suppressed(const struct rules *r, const struct wg_profile *p, const struct wg_launch_result *l,
                       const struct wg_finding *f)
{
    char text[1024];
    snprintf(text, sizeof text, "%s %s %s %s:%" PRIu32, f->tool, f->id, l ? l->mangled : "-",
             base_name(file_of(p, f->source, f->line)), f->line);
    for (size_t k = 0; k < r->n; k++)
        if (!fnmatch(r->v[k], text, 0))
            return true;
    return false;
}

static int read_rules(const char *path, struct rules *r)
{
    FILE *f = fopen(path, "re");
    char line[1024];
    if (!f)
        return wg_cli_error(WG_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\r\n")] = 0;
        for (size_t n = strlen(line); n && line[n - 1] == ' ';)
            line[--n] = 0;
        if (!*line)
            continue;
        void *v = realloc(r->v, (r->n + 1) * sizeof *r->v);
        if (!v)
            break;
        r->v = v;
        memcpy(r->v[r->n++], line, sizeof line);
    }
    fclose(f);
    return WG_EXIT_OK;
}

static void leave_out(const struct rules *r, const struct wg_profile *p, const struct wg_launch_result *l,
                      struct wg_finding *v, size_t *n)
{
    size_t k = 0;
    for (size_t i = 0; i < *n; i++)
        if (!suppressed(r, p, l, &v[i]))
            v[k++] = v[i];
    *n = k;
}

static void write_rules(const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_finding *v, size_t n,
                        FILE *f)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s %s %s %s:%" PRIu32 "\n", v[i].tool, v[i].id, l ? l->mangled : "-",
                base_name(file_of(p, v[i].source, v[i].line)), v[i].line);
}

int wg_cli_suppress(const struct wg_cli *o, struct wg_profile *p)
{
    struct rules r = {0};
    int code = o->suppressions ? read_rules(o->suppressions, &r) : WG_EXIT_OK;
    for (size_t l = 0; code == WG_EXIT_OK && r.n && l < p->nlaunches; l++)
        leave_out(&r, p, &p->launches[l], p->launches[l].findings, &p->launches[l].nfindings);
    if (code == WG_EXIT_OK && r.n)
        leave_out(&r, p, NULL, p->host_findings, &p->nhost_findings);
    free(r.v);
    if (code != WG_EXIT_OK || !o->gen_suppressions)
        return code;
    FILE *f = fopen(o->gen_suppressions, "we");
    if (!f)
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->gen_suppressions, strerror(errno));
    fprintf(f, "# tool id kernel file:line; * and ? stand for any text and any character\n");
    for (size_t l = 0; l < p->nlaunches; l++)
        write_rules(p, &p->launches[l], p->launches[l].findings, p->launches[l].nfindings, f);
    write_rules(p, NULL, p->host_findings, p->nhost_findings, f);
    return fclose(f) ? wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->gen_suppressions, strerror(errno)) : WG_EXIT_OK;
}

/* ---- compute-sanitizer's form ---- */
#define PREFIX "========= "

static void text(FILE *out, const char *s, const char *indent)
{
    fputs(PREFIX, out);
    fputs(indent, out);
    wg_escape(out, s, strlen(s), 0);
    fputc('\n', out);
}

static void at(FILE *out, const struct wg_profile *p, const struct wg_launch_result *l, uint32_t source, uint32_t line)
{
    wg_escape(out, l->kernel, strlen(l->kernel), 0);
    if (line && source < p->nsources) {
        const char *b = base_name(p->sources[source].path);
        fputs(" in ", out);
        wg_escape(out, b, strlen(b), 0);
        fprintf(out, ":%" PRIu32, line);
    }
}

static void thread(FILE *out, const char *indent, const char *by, const uint32_t t[3], const uint32_t b[3])
{
    fprintf(out, PREFIX "%s%s (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") in block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n", indent,
            by, t[0], t[1], t[2], b[0], b[1], b[2]);
}

static const char *nth_line(const char *s, unsigned n)
{
    while (s && n--)
        s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL;
    return s;
}

static bool is_race(const struct wg_finding *f) { return !strcmp(f->tool, "racecheck"); }

static void race(FILE *out, const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_finding *f,
                 bool analysis, bool hazard)
{
    char one[16] = "Access", two[16] = "Access";
    sscanf(f->message, "Race reported between %15s access and %15s", one, two);
    const char *kind = nth_line(f->message, 1);
    if (hazard) {
        fprintf(out, PREFIX "%s: Potential %.3s hazard detected at %s0x%" PRIx64 " in block (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                            ") :\n",
                f->severity == WG_SEVERITY_ERROR ? "Error" : f->severity ? "Warning" : "Info", kind ? kind : "???",
                strstr(f->message, " to __shared__ ") ? "__shared__ " : "", f->address,
                f->block[0], f->block[1], f->block[2]);
        fprintf(out, PREFIX "    %s Thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") at ", one, f->thread[0], f->thread[1], f->thread[2]);
        at(out, p, l, f->source, f->line);
        fprintf(out, "\n" PREFIX "    %s Thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") at ", two, f->other_thread[0],
                f->other_thread[1], f->other_thread[2]);
        at(out, p, l, f->other_source, f->other_line);
        fputc('\n', out);
        for (const char *s = kind; s && !analysis; s = nth_line(s, 1))
            if (!strncmp(s, "Current Value", 13))
                text(out, s, "    ");
    }
    if (!analysis)
        return;
    fprintf(out, PREFIX "%s: Race reported between %s access at ",
            f->severity == WG_SEVERITY_ERROR ? "Error" : f->severity ? "Warning" : "Info", one);
    at(out, p, l, f->source, f->line);
    fprintf(out, "\n" PREFIX "    and %s access at ", two);
    at(out, p, l, f->other_source, f->other_line);
    fprintf(out, " [%" PRIu64 " hazard%s]\n", f->count, f->count == 1 ? "" : "s");
    thread(out, "    ", "by thread", f->thread, f->block);
    thread(out, "    ", "and thread", f->other_thread, f->other_block);
    text(out, f->message, "    ");
    for (const char *s = kind; s; s = nth_line(s, 1))
        text(out, s, "    ");
}

static void one_finding(FILE *out, const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_finding *f)
{
    text(out, f->message, f->severity == WG_SEVERITY_WARNING ? "Warning: " : f->severity ? "" : "Info: ");
    if (l) {
        fputs(PREFIX "    at ", out);
        at(out, p, l, f->source, f->line);
        fputc('\n', out);
        thread(out, "    ", "by thread", f->thread, f->block);
        if (f->other_line) {
            fputs(PREFIX "    and at ", out);
            at(out, p, l, f->other_source, f->other_line);
            fputc('\n', out);
        }
    }
    for (const char *s = nth_line(f->message, 1); s; s = nth_line(s, 1))
        text(out, s, "    ");
    if (f->count > 1)
        fprintf(out, PREFIX "    %" PRIu64 " times\n", f->count);
}

int wg_cli_sanitizer(const struct wg_cli *o, const struct wg_profile *p, FILE *fallback)
{
    FILE *out = o->log_file ? fopen(o->log_file, "we") : fallback;
    const char *how = o->racecheck_report ? o->racecheck_report : "analysis";
    uint64_t limit = o->has_print_limit ? o->print_limit : 100, shown = 0, count[3] = {0}, races[3] = {0};
    if (!out)
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->log_file, strerror(errno));
    fputs(PREFIX "WARPGRIND CHECK\n", out);
    for (size_t k = 0; k <= p->nlaunches; k++) {
        const struct wg_launch_result *l = k < p->nlaunches ? &p->launches[k] : NULL;
        const struct wg_finding *v = l ? l->findings : p->host_findings;
        size_t n = l ? l->nfindings : p->nhost_findings;
        for (size_t i = 0; i < n; i++) {
            unsigned s = v[i].severity <= WG_SEVERITY_ERROR ? v[i].severity : WG_SEVERITY_ERROR;
            count[s]++;
            races[s] += is_race(&v[i]);
            if (limit && shown >= limit)
                continue;
            shown++;
            if (l && is_race(&v[i]))
                race(out, p, l, &v[i], strcmp(how, "hazard") != 0, strcmp(how, "analysis") != 0);
            else
                one_finding(out, p, l, &v[i]);
            fputs(PREFIX "\n", out);
        }
        if (l && l->status != WG_OK && l->status != WG_KERNEL_FAULT && l->status != WG_HANG)
            text(out, *l->status_text ? l->status_text : wg_status_text(l->status), "Stopped: ");
    }
    uint64_t all = count[0] + count[1] + count[2];
    if (shown < all)
        fprintf(out, PREFIX "%" PRIu64 " more; --print-limit 0 shows them\n", all - shown);
    if (races[0] + races[1] + races[2])
        fprintf(out, PREFIX "RACECHECK SUMMARY: %" PRIu64 " hazard%s displayed (%" PRIu64 " error%s, %" PRIu64 " warning%s)\n",
                races[0] + races[1] + races[2], races[0] + races[1] + races[2] == 1 ? "" : "s", races[2],
                races[2] == 1 ? "" : "s", races[1], races[1] == 1 ? "" : "s");
    fprintf(out, PREFIX "ERROR SUMMARY: %" PRIu64 " error%s", count[2], count[2] == 1 ? "" : "s");
    if (count[1])
        fprintf(out, ", %" PRIu64 " warning%s", count[1], count[1] == 1 ? "" : "s");
    if (count[0])
        fprintf(out, ", %" PRIu64 " note%s", count[0], count[0] == 1 ? "" : "s");
    fputc('\n', out);
    bool bad = ferror(out) != 0;
    if (out == fallback ? fflush(out) : fclose(out))
        bad = true;
    return bad ? wg_cli_error(WG_EXIT_OUTPUT, "cannot write the findings") : WG_EXIT_OK;
}

int wg_cmd_check(const struct wg_cli *o)
{
    struct wg_cli c = *o;
    c.check = true;
    if (!c.export)
        c.export = c.save;
    if (!o->rest.n)
        return wg_cli_error(WG_EXIT_USAGE, "check takes a program: warpgrind check PROGRAM [ARGUMENTS]...");
    return wg_cli_program(&c);
}

/* ---- findings as a table ---- */
static void shown(const char *s) { wg_escape(stdout, s, strlen(s), 0); }

static void cell(const char *s)
{
    char buf[16];
    size_t len = strcspn(s, "\n"), bytes;
    bool quote = strpbrk(s, ",\"\n") != NULL;
    fputs(quote ? "\"" : "", stdout);
    for (size_t i = 0; i < len;) {
        i += wg_escape_next(buf, s + i, len - i, &bytes);
        fwrite(buf, 1, bytes, stdout);
        fputs(bytes == 1 && *buf == '"' ? "\"" : "", stdout);
    }
    fputs(quote ? "\"" : "", stdout);
}

static void row(const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_finding *f, bool csv)
{
    unsigned s = f->severity <= WG_SEVERITY_ERROR ? f->severity : WG_SEVERITY_ERROR;
    const char *one = file_of(p, f->source, f->line), *two = file_of(p, f->other_source, f->other_line);
    if (!csv) {
        unsigned n;
        printf("%*s", -(int)(9 > (n = wg_escape(stdout, f->tool, strlen(f->tool), 0)) ? 9 - n : 0), "");
        putchar(' ');
        printf("%*s", -(int)(18 > (n = wg_escape(stdout, f->id, strlen(f->id), 0)) ? 18 - n : 0), "");
        printf(" %-8s %6" PRIu64 "  ", severity_names[s], f->count);
        shown(base_name(one));
        printf(":%" PRIu32, f->line);
        if (f->other_line) {
            putchar(' ');
            shown(base_name(two));
            printf(":%" PRIu32, f->other_line);
        }
        fputs("  ", stdout);
        wg_escape(stdout, f->message, strlen(f->message), 0);
        putchar('\n');
        return;
    }
    cell(f->tool);
    putchar(',');
    cell(f->id);
    printf(",%s,", severity_names[s]);
    cell(l ? l->kernel : "");
    putchar(',');
    cell(one);
    printf(",%" PRIu32 ",", f->line);
    cell(two);
    printf(",%" PRIu32 ",%" PRIu64 ",", f->other_line, f->count);
    cell(f->message);
    putchar('\n');
}

int wg_cmd_findings(const struct wg_cli *o)
{
    char err[512];
    struct wg_profile *p;
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "findings takes one file: warpgrind findings FILE.wgprof [--csv]");
    if (wg_profile_read(o->rest.v[0], &p, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", err);
    if (o->csv)
        puts("tool,id,severity,kernel,file,line,other_file,other_line,count,message");
    for (size_t k = 0; k <= p->nlaunches; k++) {
        const struct wg_launch_result *l = k < p->nlaunches ? &p->launches[k] : NULL;
        for (size_t i = 0; i < (l ? l->nfindings : p->nhost_findings); i++)
            row(p, l, l ? &l->findings[i] : &p->host_findings[i], o->csv);
    }
    wg_profile_free(p);
    return fflush(stdout) ? wg_cli_error(WG_EXIT_OUTPUT, "cannot write: %s", strerror(errno)) : WG_EXIT_OK;
}
