/* pressure.c - how many registers are live at once in a kernel, and what number that usually becomes. */
#include "model/pressure.h"
#include "model/schedule.h"

/* Of the registers that a warp may have, ptxas keeps two for itself and one for the stack pointer. */
enum { RESERVED = 3, FULL = 32 - RESERVED, TIGHT = 24 - RESERVED, LARGE = 20000 };

enum wg_status wg_pressure(const struct wg_function *f, unsigned sm, struct wg_pressure *out)
{
    struct wg_arena a = {0};
    struct wg_lowered lowered;
    *out = (struct wg_pressure){.instructions = f->ninstrs};
    enum wg_status s = f->ninstrs > LARGE ? WG_UNSUPPORTED : wg_lower(f, sm, &a, &lowered);
    const struct { unsigned budget; uint32_t *to; } orders[] = {{FULL, &out->live}, {TIGHT, &out->tight}, {0, &out->plain}};
    for (unsigned i = 0; i < 3 && s == WG_OK; i++) {
        struct wg_live live;
        s = wg_schedule(&lowered, orders[i].budget, &a, &live);
        *orders[i].to = live.most;
    }
    out->calls = s == WG_OK && lowered.calls_abi;
    wg_arena_free(&a);
    return s;
}

/* Fitted by tools/calibrate_registers.py; see pressure.h. */
static const double per_live = 0.67, per_tight = 0.24, per_plain = 0.05, for_calls = 12.2, fixed = 5.3,
                    low_part = 0.74, high_part = 1.35;

void wg_register_estimate(const struct wg_function *f, const struct wg_pressure *p, unsigned sm,
                          struct wg_register_estimate *out)
{
    double likely = per_live * p->live + per_tight * p->tight + per_plain * p->plain + (p->calls ? for_calls : 0) +
                    fixed;
    double most = 255, threads = f->maxntid[0] ? f->maxntid[0] : f->reqntid[0];
    for (unsigned i = 1; i < 3; i++)
        threads *= f->maxntid[i] ? f->maxntid[i] : f->reqntid[i] ? f->reqntid[i] : 1;
    if (threads > 0) {
        /* launch bounds: so many blocks of so many threads must fit 65,536 registers, which come in eights */
        double blocks = f->minnctapersm ? f->minnctapersm : 1, fits = 65536 / (threads * blocks);
        fits -= (double)((unsigned)fits % 8) + (fits - (double)(unsigned)fits);
        most = fits < most ? fits : most;
    }
    if (f->maxnreg && f->maxnreg < most)
        most = f->maxnreg;
    double value[3] = {likely * low_part, likely, likely * high_part};
    unsigned *to[3] = {&out->low, &out->likely, &out->high};
    for (unsigned i = 0; i < 3; i++) {
        double v = value[i] < most ? value[i] : most;
        unsigned whole = (unsigned)(v + (i == 0 ? 0 : i == 1 ? 0.5 : 0.999));
        *to[i] = sm >= 70 && whole < 16 ? 16 : whole < 4 ? 4 : whole;
    }
}
