/* progress.c - the progress line of long launches. */
#include "report/progress.h"
#include "report/escape.h"

void wg_progress_erase(struct wg_progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", p->out);
        fflush(p->out);
    }
    p->shown = p->running = false;
}

void wg_progress_show(struct wg_progress *p, uint64_t now_ns, uint64_t done, uint64_t all, uint64_t warp_insts)
{
    const uint64_t second = 1000000000u;
    if (!p->running || done < p->last_done) {
        wg_progress_erase(p);
        p->running = true;
        p->start_ns = now_ns;
        p->next_ns = now_ns + second;
    }
    p->last_done = done;
    if (done >= all) {
        wg_progress_erase(p);
        return;
    }
    if (now_ns < p->next_ns)
        return;
    p->next_ns = now_ns + second / 5;
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    double t = (double)(now_ns - p->start_ns) / 1e9, rate = 32 * (double)warp_insts / t / 1e6;
    fprintf(p->out, "\rwarpgrind: %s of %s blocks, %s M lane instructions a second", wg_format_count(a, done),
            wg_format_count(b, all), wg_format_count(c, (uint64_t)rate));
    if (done)
        fprintf(p->out, ", %.0f s left", t * (double)(all - done) / (double)done);
    fputs("\033[K", p->out);
    fflush(p->out);
    p->shown = true;
}
