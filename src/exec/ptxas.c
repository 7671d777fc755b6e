/* ptxas.c - registers of kernels: from NVIDIA's assembler where there is one, asked once per module, else estimated. */
#include "exec/engine.h"
#include "model/pressure.h"
#include <string.h>

static unsigned device_sm(const struct wg *g) { return g->gpu->cc->major * 10 + g->gpu->cc->minor; }

const struct wg_ptxas_info *wg_module_ptxas(struct wg_module *m)
{
    struct wg *g = m->g;
    struct wg_diag d = {0};
    if (m->asked)
        return m->ptxas;
    m->asked = true;
    if (!g->opt.ptxas || strcmp(g->opt.ptxas, "none") == 0)
        return NULL;
    if (wg_ptxas_info(strcmp(g->opt.ptxas, "auto") == 0 ? NULL : g->opt.ptxas, m->ptx->text, m->ptx->text_len, device_sm(g), &m->arena, &m->ptxas, &d) != WG_OK)
        m->ptxas = NULL; /* none there, or it does not know this PTX: the estimate has to do */
    return m->ptxas;
}

const struct wg_ptxas_info *wg_kernel_registers(struct wg_kernel *k, struct wg_registers *out)
{
    const struct wg_ptxas_info *info = wg_module_ptxas(k->module);
    const struct wg_ptxas_kernel *x = info ? wg_ptxas_kernel(info, k->fn->name) : NULL;
    unsigned sm = device_sm(k->module->g);
    if (k->registers.likely) {
        *out = k->registers;
        return out->exact ? info : NULL;
    }
    if (x) {
        unsigned n = wg_registers_at_launch(sm, x->registers);
        k->registers = (struct wg_registers){true, n, n, n, x->spill_stores, x->spill_loads};
    } else {
        struct wg_pressure p;
        struct wg_register_estimate e;
        if (wg_pressure(k->fn, sm, &p) == WG_OK) {
            wg_register_estimate(k->fn, &p, sm, &e);
            k->registers = (struct wg_registers){false, e.likely, e.low, e.high, 0, 0};
        }
    }
    *out = k->registers;
    return x ? info : NULL;
}
