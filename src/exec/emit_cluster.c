/* emit_cluster.c - decoding of cluster barriers and of addresses in other blocks of a cluster. */
#include "exec/emit.h"

void wg_emit_cluster(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    bool mapa = in->op == WG_OP_MAPA;
    if (in->extra) {
        wg_emit_refuse(e, in->extra);
        return;
    }
    if (in->op == WG_OP_BARRIER_CLUSTER_ARRIVE || in->op == WG_OP_BARRIER_CLUSTER_WAIT) {
        wg_emit_guarded(e, in->op == WG_OP_BARRIER_CLUSTER_ARRIVE ? WG_H_CLUSTER_ARRIVE : WG_H_CLUSTER_WAIT);
        return;
    }
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE;
    bool generic = in->space == WG_SPACE_NONE;
    struct wg_val to = wg_emit_dest(e, &in->ops[0], mapa ? t : WG_T_U32);
    struct wg_val a = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[1], t), t)), b = {0};
    if (mapa)
        b = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[2], WG_T_U32), WG_T_U32));
    if ((t != WG_T_U32 && t != WG_T_U64) || (generic && t != WG_T_U64) || to.bytes != (mapa ? wg_container(t) : 4)) {
        wg_emit_refuse(e, "this form of address in a cluster");
        return;
    }
    struct wg_inst *i = wg_emit_guarded(e, mapa ? WG_H_MAPA : WG_H_GETCTARANK);
    if (!i)
        return;
    i->d = to.off;
    i->a = a.off;
    i->b = b.off;
    i->bytes = (uint8_t)wg_container(t);
    i->k1 = generic;
}
