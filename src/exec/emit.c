/* emit.c - operands, constants, temporaries and class changes for the decoder. */
#include "exec/emit.h"
#include "exec/half.h"
#include <stdlib.h>
#include <string.h>

struct wg_inst *wg_emit(struct wg_emit *e, wg_handler fn)
{
    static struct wg_inst const zero;
    if (e->n + 1 >= e->cap) {
        uint32_t cap = e->cap ? e->cap * 2 : 64;
        struct wg_inst *p = wg_aligned(64, cap * sizeof *p);
        if (!p) {
            e->failed = true;
            e->n = 0;
            if (!e->insts)
                e->dec->scratch.failed = 1;
            return e->insts ? e->insts : NULL;
        }
        if (e->n)
            memcpy(p, e->insts, e->n * sizeof *p);
        free(e->insts);
        e->insts = p;
        e->cap = cap;
    }
    e->ptx = wg_arena_grow(&e->dec->scratch, e->ptx, e->n + 2, &e->ptx_cap, sizeof *e->ptx);
    if (!e->ptx) {
        e->failed = true;
        return NULL;
    }
    struct wg_inst *i = &e->insts[e->n];
    *i = zero;
    i->fn = fn;
    i->pred = WG_SLOT_TRUE;
    i->site = e->code->site0 + e->cur;
    e->ptx[e->n++] = e->cur;
    return i;
}

struct wg_inst *wg_emit_h(struct wg_emit *e, enum wg_handler_id id) { return wg_emit(e, e->h->basic[id]); }

void wg_emit_guard(struct wg_emit *e, struct wg_inst *i)
{
    if (e->in->guard >= 0) {
        i->pred = e->code->slots[e->in->guard].fast;
        i->predx = e->in->guard_neg ? ~0u : 0;
    }
}

struct wg_inst *wg_emit_guarded(struct wg_emit *e, enum wg_handler_id id)
{
    struct wg_inst *i = wg_emit_h(e, id);
    if (i)
        wg_emit_guard(e, i);
    return i;
}

uint32_t wg_emit_const(struct wg_emit *e, uint64_t bits)
{
    for (uint32_t k = 2; k < e->nconsts; k++) /* slots 0 and 1: the true predicate, a scratch predicate */
        if (e->consts[k] == bits)
            return k * 8;
    e->consts = wg_arena_grow(&e->dec->scratch, e->consts, e->nconsts + 1, &e->consts_cap, 8);
    if (!e->consts) {
        e->failed = true;
        return 0;
    }
    e->consts[e->nconsts] = bits;
    return e->nconsts++ * 8;
}

uint32_t wg_emit_temp(struct wg_emit *e, uint32_t bytes)
{
    if (bytes > 16)
        e->temp = (e->temp + 63) & ~63u;
    uint32_t off = e->temp;
    e->temp += (bytes + 7) & ~7u;
    if (e->temp > e->temp_max)
        e->temp_max = e->temp;
    return off;
}

struct wg_val wg_emit_half(struct wg_val v, unsigned k)
{
    return (struct wg_val){v.off ? v.off + k * 8 * WG_LANES : 0, WG_CLASS_V, 8, -1};
}

unsigned wg_container(enum wg_type t)
{
    unsigned b = wg_type_bytes(t);
    return b < 2 ? 2 : b;
}

uint64_t wg_imm_bits(const struct wg_operand *o, enum wg_type t)
{
    if (!o->is_float) {
        if (t == WG_T_PRED)
            return o->imm ? UINT32_MAX : 0;
        unsigned b = wg_container(t);
        return b >= 8 ? (uint64_t)o->imm : (uint64_t)o->imm & ((1ull << 8 * b) - 1);
    }
    double d;
    memcpy(&d, &o->imm, 8);
    float f = (float)d;
    uint32_t v;
    memcpy(&v, &f, 4);
    if (d != d) /* with its payload, and no quieter than it was written */
        v = ((uint32_t)((uint64_t)o->imm >> 63) << 31) | 0x7f800000u | ((uint32_t)((uint64_t)o->imm >> 29) & 0x7fffffu);
    switch (t) {
    case WG_T_F16: case WG_T_F16X2: return wg_f32_to_f16(f);
    case WG_T_BF16: case WG_T_BF16X2: return wg_f32_to_bf16(f);
    case WG_T_F64: case WG_T_B64: case WG_T_U64: case WG_T_S64: return (uint64_t)o->imm;
    default: return v;
    }
}

uint64_t wg_function_address(const struct wg_ptx_module *m, const char *name)
{
    const struct wg_function *f = wg_ptx_function(m, name);
    for (uint32_t k = 0; f && k < m->nfuncs; k++)
        if (m->funcs[k] == f)
            return WG_CODE_WINDOW + 16ull * (k + 1);
    return 0;
}

/* The value of a symbol used as an address. Local variables depend on the frame: then *is_local and the offset. */
uint64_t wg_symbol_value(struct wg_emit *e, const struct wg_symbol *s, bool *is_local, uint64_t *local_off)
{
    *is_local = false;
    if (s->kind == WG_SYMBOL_FUNC)
        return wg_function_address(e->dec->m, s->name);
    switch (s->space) {
    case WG_SPACE_SHARED:
        return wg_shared_offset(e->dec, s);
    case WG_SPACE_LOCAL: {
        uint64_t off = 0;
        for (uint32_t k = 0; k < e->fn->nlocals; k++) {
            const struct wg_symbol *x = e->fn->locals[k];
            if (x->space != WG_SPACE_LOCAL)
                continue;
            off = (off + x->align - 1) / (x->align ? x->align : 1) * (x->align ? x->align : 1);
            if (x == s)
                break;
            off += x->bytes;
        }
        *is_local = true;
        *local_off = off;
        return off;
    }
    default:
        return e->dec->symbol(e->dec->ctx, s);
    }
}

static struct wg_val val(uint32_t off, enum wg_class cls, unsigned bytes)
{
    return (struct wg_val){off, (uint8_t)cls, (uint8_t)bytes, -1};
}

static struct wg_val get_reg(const struct wg_emit *e, int32_t reg)
{
    const struct wg_slot *s = &e->code->slots[reg];
    struct wg_val v = val(s->fast, s->cls, s->bytes);
    v.reg = reg;
    if (e->wide && s->cls != WG_CLASS_P) {
        v.off = s->wide;
        v.cls = WG_CLASS_V;
    }
    return v;
}

static struct wg_val get_sreg(struct wg_emit *e, enum wg_sreg s)
{
    unsigned bytes = wg_type_bytes(wg_isa_sreg_type(s));
    enum wg_class c = wg_sreg_class(s, e->dec->o->affine_tid);
    if (s == WG_SREG_IS_EXPLICIT_CLUSTER) {
        struct wg_val v = val(wg_emit_temp(e, 8), WG_CLASS_P, 4);
        struct wg_inst *i = wg_emit_h(e, WG_H_SREG_S);
        if (i) {
            i->d = v.off;
            i->k1 = (uint8_t)s;
        }
        return v;
    }
    struct wg_val v = val(0, c, bytes);
    v.off = wg_emit_temp(e, c == WG_CLASS_V ? bytes * 32 : 16);
    struct wg_inst *i = wg_emit_h(e, c == WG_CLASS_S ? WG_H_SREG_S : c == WG_CLASS_A ? WG_H_SREG_A : WG_H_SREG_V);
    if (i) {
        i->d = v.off;
        i->k1 = (uint8_t)s;
        i->bytes = (uint8_t)bytes;
    }
    if (e->wide && c == WG_CLASS_A)
        return wg_emit_vec(e, v);
    return v;
}

static struct wg_val get_symbol(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    bool local;
    uint64_t off = 0;
    unsigned bytes = wg_container(t) < 4 ? 8 : wg_container(t);
    if (o->sym->kind == WG_SYMBOL_PARAM || o->sym->space == WG_SPACE_PARAM) {
        if (o->sym->kind != WG_SYMBOL_PARAM) {
            wg_emit_refuse(e, "the address of a call's argument");
            return val(wg_emit_const(e, 0), WG_CLASS_S, bytes);
        }
        if (!e->fn->is_entry) {
            struct wg_val v = val(wg_emit_temp(e, 8), WG_CLASS_S, 8);
            struct wg_inst *i = wg_emit_h(e, WG_H_LOCAL_ADDR);
            if (i) {
                i->d = v.off;
                i->imm = (int64_t)wg_param_home(e->fn, o->sym) + o->imm;
            }
            return v;
        }
        struct wg_val v = val(wg_emit_temp(e, 8), WG_CLASS_S, 8);
        struct wg_inst *i = wg_emit_h(e, WG_H_KPARAM_ADDR);
        if (i) {
            i->d = v.off;
            i->imm = (int64_t)o->sym->offset + o->imm;
        }
        return v;
    }
    uint64_t x = wg_symbol_value(e, o->sym, &local, &off);
    if (local) {
        struct wg_val v = val(wg_emit_temp(e, 8), WG_CLASS_S, bytes);
        struct wg_inst *i = wg_emit_h(e, WG_H_LOCAL_ADDR);
        if (i) {
            i->d = v.off;
            i->imm = (int64_t)off + o->imm;
        }
        return v;
    }
    return val(wg_emit_const(e, x + (uint64_t)o->imm), WG_CLASS_S, bytes);
}

struct wg_val wg_emit_get(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    switch (o->kind) {
    case WG_OPERAND_REG: {
        struct wg_val v = get_reg(e, o->reg);
        if (o->neg && v.cls == WG_CLASS_P) {
            struct wg_inst *i = wg_emit_h(e, WG_H_PNOT);
            if (i) {
                i->a = v.off;
                i->d = wg_emit_temp(e, 8);
                v = val(i->d, WG_CLASS_P, 4);
            }
        }
        return v;
    }
    case WG_OPERAND_SREG:
        return get_sreg(e, (enum wg_sreg)o->sreg);
    case WG_OPERAND_SYMBOL:
        return get_symbol(e, o, t);
    case WG_OPERAND_IMM:
        return val(wg_emit_const(e, wg_imm_bits(o, t)), t == WG_T_PRED ? WG_CLASS_P : WG_CLASS_S,
                   t == WG_T_PRED ? 4 : wg_container(t));
    default:
        wg_emit_refuse(e, "this operand");
        return val(wg_emit_const(e, 0), WG_CLASS_S, wg_container(t));
    }
}

/* Brings a value into the container of type t: the low bytes, extended by the type's sign. */
struct wg_val wg_emit_natural(struct wg_emit *e, struct wg_val v, enum wg_type t)
{
    unsigned want = wg_container(t);
    if (v.cls == WG_CLASS_P || v.bytes == want || t == WG_T_NONE || want > 8)
        return v;
    if (v.cls == WG_CLASS_A)
        v = wg_emit_vec(e, v);
    struct wg_val r = val(0, v.cls, want);
    r.off = wg_emit_temp(e, v.cls == WG_CLASS_S ? 8 : want * 32);
    struct wg_inst *i = wg_emit_h(e, v.cls == WG_CLASS_S ? WG_H_RESIZE_S : WG_H_RESIZE);
    if (i) {
        i->d = r.off;
        i->a = v.off;
        i->bytes = (uint8_t)want;
        i->k2 = v.bytes;
        i->k1 = (uint8_t)(v.bytes < want ? v.bytes : want);
        i->n = wg_type_infos[t].kind == 'S';
    }
    return r;
}

struct wg_val wg_emit_vec(struct wg_emit *e, struct wg_val v)
{
    if (v.cls == WG_CLASS_V || v.cls == WG_CLASS_P)
        return v;
    struct wg_val r = val(0, WG_CLASS_V, v.bytes);
    r.reg = v.reg;
    bool shadow = !e->wide && v.reg >= 0 && e->code->slots[v.reg].wide;
    if (shadow) {
        r.off = e->code->slots[v.reg].wide;
        if (e->shadow[v.reg])
            return r;
        e->shadow[v.reg] = 1;
    } else {
        r.off = wg_emit_temp(e, v.bytes * 32u);
    }
    enum wg_handler_id id = v.cls == WG_CLASS_A ? (v.bytes == 8 ? WG_H_EXPAND64 : WG_H_EXPAND32)
                            : v.bytes == 8      ? WG_H_BCAST64
                            : v.bytes == 4      ? WG_H_BCAST32
                                                : WG_H_BCAST16;
    struct wg_inst *i = wg_emit_h(e, id);
    if (i) {
        i->d = r.off;
        i->a = v.off;
    }
    return r;
}

bool wg_emit_masked(const struct wg_emit *e, int32_t reg)
{
    return e->wide || e->in->guard >= 0 || (reg >= 0 && e->u->cls.merge[reg]);
}

struct wg_val wg_emit_dest(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    if (o->kind == WG_OPERAND_REG)
        return get_reg(e, o->reg);
    return val(t == WG_T_PRED ? 8 : 0, t == WG_T_PRED ? WG_CLASS_P : WG_CLASS_V, wg_container(t));
}

/* Same container or converted; any class into any wider class. Guarded as the PTX instruction is. */
void wg_emit_move(struct wg_emit *e, struct wg_val to, struct wg_val from, bool masked)
{
    struct wg_inst *i;
    if (to.cls == WG_CLASS_P) {
        i = wg_emit_guarded(e, WG_H_PMOV);
        if (i) {
            i->d = to.off;
            i->a = from.off;
            i->g = wg_emit_uniform_pred(e, to.reg);
        }
        return;
    }
    if (to.cls == WG_CLASS_A) {
        i = wg_emit_h(e, WG_H_A_MOV);
        if (i) {
            i->d = to.off;
            i->a = from.off;
            i->k1 = from.cls == WG_CLASS_A;
            i->bytes = to.bytes;
        }
        return;
    }
    if (to.cls == WG_CLASS_S || from.bytes != to.bytes) {
        if (from.cls == WG_CLASS_A || (from.cls == WG_CLASS_S && to.cls == WG_CLASS_V))
            from = wg_emit_vec(e, from);
        i = wg_emit_guarded(e, to.cls == WG_CLASS_S ? WG_H_RESIZE_S : WG_H_RESIZE);
        if (i) {
            i->d = to.off;
            i->a = from.off;
            i->bytes = to.bytes;
            i->k2 = from.bytes;
            i->k1 = from.bytes < to.bytes ? from.bytes : to.bytes;
        }
        return;
    }
    if (from.cls == WG_CLASS_S) {
        static const enum wg_handler_id full[3] = {WG_H_BCAST16, WG_H_BCAST32, WG_H_BCAST64};
        static const enum wg_handler_id part[3] = {WG_H_BCASTM16, WG_H_BCASTM32, WG_H_BCASTM64};
        unsigned k = to.bytes == 8 ? 2 : to.bytes == 4 ? 1 : 0;
        i = wg_emit_guarded(e, masked ? part[k] : full[k]);
    } else {
        if (from.cls == WG_CLASS_A && !masked) {
            i = wg_emit_h(e, to.bytes == 8 ? WG_H_EXPAND64 : WG_H_EXPAND32);
            if (i) {
                i->d = to.off;
                i->a = from.off;
            }
            return;
        }
        from = wg_emit_vec(e, from);
        i = wg_emit_guarded(e, WG_H_RESIZE);
        if (i) {
            struct wg_instr mov = {.op = WG_OP_MOV, .ntypes = 1};
            mov.type[0] = to.bytes == 8 ? WG_T_B64 : to.bytes == 4 ? WG_T_B32 : WG_T_B16;
            wg_handler fn = wg_alu_select(&mov, (struct wg_alu_form){.masked = masked}, i);
            if (fn) {
                i->fn = fn;
            } else {
                i->bytes = i->k1 = i->k2 = to.bytes;
            }
        }
    }
    if (i) {
        i->d = to.off;
        i->a = from.off;
    }
}

bool wg_emit_uniform_pred(const struct wg_emit *e, int32_t reg)
{
    return !e->wide && reg >= 0 && e->u->cls.cls[reg] == WG_CLASS_S;
}

uint32_t wg_emit_var(struct wg_emit *e, const struct wg_symbol *s)
{
    for (uint32_t k = 0; k < e->nvars; k++)
        if (e->vars[k].sym == s)
            return e->vars[k].off;
    return 0;
}

void wg_emit_refuse(struct wg_emit *e, const char *why)
{
    const struct wg_instr *in = e->in;
    const char *file = in->line && in->file < e->dec->m->nfiles ? e->dec->m->files[in->file] : NULL;
    const char *text;
    if (file)
        text = wg_arena_printf(e->dec->a, "%s:%u: not supported: %s (%.*s)", file, in->line, why, (int)in->text_len,
                               in->text);
    else
        text = wg_arena_printf(e->dec->a, "%s:%u: not supported: %s (%.*s)", e->dec->m->name, in->ptx_line, why,
                               (int)in->text_len, in->text);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_REFUSE);
    if (i)
        i->p = text ? text : "not supported";
}
