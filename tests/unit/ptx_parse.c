/* ptx_parse.c - what the PTX reader makes of each construct, on small hand-written modules. */
#include "ptx_util.h"

static void header_gives_version_target_and_files(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good("// c\n.version 7.0 /* a\n b */\n.target sm_80a, debug\n.address_size 64\n"
                                       ".file 1 \"/a/x.cu\"\n.file 3 \"y.h\", 1700000000, 99\n");
    assert_int_equal(m->version, 70);
    assert_int_equal(m->sm, 80);
    assert_string_equal(m->target, "sm_80a, debug");
    assert_int_equal(m->address_bits, 64);
    assert_int_equal(m->nfiles, 4);
    assert_string_equal(m->files[1], "/a/x.cu");
    assert_null(m->files[2]);
    assert_string_equal(m->files[3], "y.h");
    wg_ptx_free(m);
}

static void parameters_are_packed_as_the_driver_does(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b, .param .align 16 .b8 s[20],\n"
                 " .param .f32 c)\n.maxntid 256, 2\n.minnctapersm 2\n.maxnreg 64\n.reqnctapercluster 2, 1, 1\n"
                 ".explicitcluster\n.maxclusterrank 8\n{ ret; }\n"
                 ".entry none() .reqntid 32, 4, 2 { exit; }");
    const struct wg_function *f = wg_ptx_function(m, "k");
    assert_true(f->is_entry && f->sym->is_visible && !f->is_declaration);
    assert_int_equal(f->nparams, 4);
    assert_int_equal(f->params[0].offset, 0);
    assert_int_equal(f->params[1].offset, 8);
    assert_int_equal(f->params[1].align, 8);
    assert_int_equal(f->params[2].offset, 16);
    assert_int_equal(f->params[2].bytes, 20);
    assert_int_equal(f->params[3].offset, 36);
    assert_int_equal(f->param_bytes, 40);
    assert_int_equal(f->maxntid[0], 256);
    assert_int_equal(f->maxntid[1], 2);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->minnctapersm, 2);
    assert_int_equal(f->maxnreg, 64);
    assert_int_equal(f->reqcluster[0], 2);
    assert_int_equal(wg_ptx_function(m, "none")->reqntid[2], 2);
    assert_null(wg_ptx_function(m, "absent"));
    wg_ptx_free(m);
}

static void mnemonic_fields_come_from_the_tables(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "cvt.rn.f32.s32 %f1, %r1;\n"
        "mad.lo.cc.u32 %r1, %r2, %r3, %r4;\n"
        "setp.lt.and.ftz.f32 %p1|%p2, %f1, 0f3F800000, !%p3;\n"
        "ld.volatile.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16];\n"
        "atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
        "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\n"
        "vote.sync.ballot.b32 %r1, %p1, 0xffffffff;\n"
        "vote.ballot.sync.b32 %r1, !%p1, 4294967295U;\n"
        "bar.sync 0;\nbar.red.popc.u32 %r1, 0, %p1;\n"
        "shf.l.wrap.b32 %r1, %r2, %r3, 5;\n"
        "lop3.b32 %r1, %r2, %r3, %r4, 0x96;\n"
        "prmt.b32.f4e %r1, %r2, %r3, %r4;\n"
        "cvta.to.global.u64 %rd1, %rd2;\n"
        "testp.notanumber.f32 %p1, %f1;\n"
        "ld.global .nc .f32 %f1, [%rd1];\n"));
    const struct wg_instr *i = ptx_instr(m, 0);
    assert_int_equal(i->op, WG_OP_CVT);
    assert_int_equal(i->round, WG_ROUND_RN);
    assert_int_equal(i->ntypes, 2);
    assert_int_equal(i->type[0], WG_T_F32);
    assert_int_equal(i->type[1], WG_T_S32);
    i = ptx_instr(m, 1);
    assert_int_equal(i->half, WG_HALF_LO);
    assert_true(i->flags & WG_FLAG(CC));
    i = ptx_instr(m, 2);
    assert_int_equal(i->cmp, WG_CMP_LT);
    assert_int_equal(i->boolop, WG_BOOL_AND);
    assert_true(i->flags & WG_FLAG(FTZ));
    assert_true(i->ops[0].pair >= 0 && i->ops[0].pair != i->ops[0].reg);
    assert_true(i->ops[2].is_float && ptx_double(i->ops[2].imm) == 1.0);
    assert_true(i->ops[3].neg);
    i = ptx_instr(m, 3);
    assert_int_equal(i->order, WG_ORDER_VOLATILE);
    assert_int_equal(i->space, WG_SPACE_GLOBAL);
    assert_int_equal(i->vec, WG_VEC_V4);
    assert_int_equal(i->ops[0].kind, WG_OPERAND_VEC);
    assert_int_equal(i->ops[0].nelems, 4);
    assert_int_equal(i->ops[0].elems[2].kind, WG_OPERAND_SINK);
    assert_int_equal(i->ops[1].kind, WG_OPERAND_MEM);
    assert_int_equal(i->ops[1].imm, -16);
    i = ptx_instr(m, 4);
    assert_int_equal(i->atom, WG_ATOM_CAS);
    assert_int_equal(i->order, WG_ORDER_ACQ_REL);
    assert_int_equal(i->scope, WG_SCOPE_GPU);
    i = ptx_instr(m, 5);
    assert_int_equal(i->shfl, WG_SHFL_DOWN);
    assert_int_equal(i->ops[4].imm, -1);
    assert_int_equal(ptx_instr(m, 6)->vote, WG_VOTE_BALLOT);
    assert_int_equal(ptx_instr(m, 7)->vote, WG_VOTE_BALLOT);
    assert_int_equal(ptx_instr(m, 7)->ops[2].imm, 4294967295);
    assert_int_equal(ptx_instr(m, 9)->boolop, WG_BOOL_POPC);
    assert_int_equal(ptx_instr(m, 10)->dir, WG_DIR_L);
    assert_int_equal(ptx_instr(m, 10)->shift, WG_SHIFT_WRAP);
    assert_int_equal(ptx_instr(m, 12)->prmt, WG_PRMT_F4E);
    assert_true(ptx_instr(m, 13)->flags & WG_FLAG(TO));
    assert_int_equal(ptx_instr(m, 14)->testp, WG_TESTP_NOTANUMBER);
    assert_string_equal(ptx_instr(m, 15)->mnemonic, "ld.global.nc.f32");
    for (uint32_t k = 0; k < 16; k++)
        assert_null(ptx_instr(m, k)->extra);
    wg_ptx_free(m);
}

static void cache_hints_vanish_and_unknown_modifiers_stay(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "ld.global.L1::evict_last.L2::128B.f32 %f1, [%rd1];\n"
        "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;\n"
        "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 512, [%r2];\n"
        "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;\n"
        "vadd.u32.u32.u32 %r1, %r2.b0, %r3.b1, %r4;\n"
        "tcgen05.fence::before_thread_sync;\n"
        "frobnicate.u32 %r1, %r2, nowhere;\nnowhere: ret;"));
    assert_null(ptx_instr(m, 0)->extra);
    assert_null(ptx_instr(m, 1)->extra);
    assert_int_equal(ptx_instr(m, 1)->nops, 3);
    assert_null(ptx_instr(m, 2)->extra);
    assert_int_equal(ptx_instr(m, 2)->space, WG_SPACE_SHARED);
    assert_int_equal(ptx_instr(m, 3)->op, WG_OP_CP_BULK);
    assert_int_equal(ptx_instr(m, 3)->space, WG_SPACE_SHARED_CLUSTER);
    assert_string_equal(ptx_instr(m, 3)->extra, "global.mbarrier::complete_tx::bytes");
    assert_string_equal(ptx_instr(m, 4)->extra, "add");
    assert_int_equal(ptx_instr(m, 4)->ntypes, 3);
    assert_string_equal(ptx_instr(m, 5)->extra, "b0.b1");
    assert_int_equal(ptx_instr(m, 6)->op, WG_OP_UNKNOWN);
    assert_int_equal(ptx_instr(m, 7)->op, WG_OP_UNKNOWN);
    assert_int_equal(ptx_instr(m, 7)->ops[2].kind, WG_OPERAND_LABEL);
    assert_int_equal(ptx_instr(m, 7)->ops[2].target, 8);
    wg_ptx_free(m);
}

static void matrix_instructions_keep_shape_layouts_and_types(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r1,%r2,%r3,%r4}, [%r5];\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
        "{%f5,%f6,%f7,%f8};\n"
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
        "{%r1,%r2,%r3,%r4};\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%r9], %r10;\n"));
    const struct wg_instr *i = ptx_instr(m, 0);
    assert_int_equal(i->count, WG_COUNT_X4);
    assert_int_equal(i->shape, WG_SHAPE_M8N8);
    assert_true(i->flags & WG_FLAG(TRANS));
    i = ptx_instr(m, 1);
    assert_int_equal(i->count, WG_COUNT_X4);
    assert_int_equal(i->space, WG_SPACE_SHARED);
    i = ptx_instr(m, 2);
    assert_int_equal(i->shape, WG_SHAPE_M16N8K16);
    assert_int_equal(i->layout[0], WG_LAYOUT_ROW);
    assert_int_equal(i->layout[1], WG_LAYOUT_COL);
    assert_int_equal(i->ntypes, 4);
    assert_int_equal(i->type[1], WG_T_F16);
    i = ptx_instr(m, 3);
    assert_int_equal(i->boolop, WG_BOOL_XOR);
    assert_null(i->extra);
    assert_int_equal(ptx_instr(m, 4)->op, WG_OP_WMMA_LOAD_A);
    wg_ptx_free(m);
}

static void immediates_in_all_notations(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "mov.u32 %r1, 0x1F; mov.u32 %r1, 017; mov.u32 %r1, 0b101; mov.u32 %r1, 42U; mov.s32 %r1, -7;\n"
        "mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF; mov.u32 %r1, WARP_SZ; mov.u32 %r1, (1 << 4) + 3 * 2;\n"
        "mov.f32 %f1, 0f7FC12345; mov.f32 %f1, 1.5; mov.f64 %fd1, 0d3FF8000000000000; mov.f32 %f1, -0f3F800000;\n"
        "mov.f64 %fd1, 0d7FF0000000000001; mov.f64 %fd1, 1e-3; mov.u32 %r1, ~0; mov.u32 %r1, 5 > 3 ? 8 : 9;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r1, %lanemask_lt;"));
    const int64_t want[] = {31, 15, 5, 42, -7, -1, 32, 22};
    for (uint32_t k = 0; k < 8; k++)
        assert_int_equal(ptx_instr(m, k)->ops[1].imm, want[k]);
    assert_int_equal((uint64_t)ptx_instr(m, 8)->ops[1].imm, 0x7ff8000000000000ull | (uint64_t)0x12345 << 29);
    assert_true(ptx_double(ptx_instr(m, 9)->ops[1].imm) == 1.5);
    assert_true(ptx_double(ptx_instr(m, 10)->ops[1].imm) == 1.5);
    assert_true(ptx_double(ptx_instr(m, 11)->ops[1].imm) == -1.0);
    assert_int_equal((uint64_t)ptx_instr(m, 12)->ops[1].imm, 0x7ff0000000000001ull);
    assert_true(ptx_double(ptx_instr(m, 13)->ops[1].imm) == 1e-3);
    assert_int_equal(ptx_instr(m, 14)->ops[1].imm, -1);
    assert_int_equal(ptx_instr(m, 15)->ops[1].imm, 8);
    assert_int_equal(ptx_instr(m, 16)->ops[1].sreg, WG_SREG_TID_X);
    assert_int_equal(ptx_instr(m, 17)->ops[1].sreg, WG_SREG_LANEMASK_LT);
    wg_ptx_free(m);
}

static void inner_scopes_shadow_registers_and_labels(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "mov.u32 %r1, 1;\n"
        "{ .reg .b32 %r<3>; .reg .pred p; mov.u32 %r1, 2;\n"
        "again: setp.eq.u32 p, %r1, 0; @!p bra again; bra done; done: }\n"
        "{ .reg .pred p; again: setp.eq.u32 p, %r1, 0; @p bra again; bra.uni out2; done: }\n"
        "mov.u32 %r1, 3;\nout2: ret;"));
    int32_t outer = ptx_instr(m, 0)->ops[0].reg, inner = ptx_instr(m, 1)->ops[0].reg;
    assert_int_not_equal(outer, inner);
    assert_int_equal(ptx_instr(m, 2)->ops[1].reg, inner);
    assert_true(ptx_instr(m, 3)->guard_neg);
    assert_int_equal(ptx_instr(m, 3)->ops[0].target, 2);
    assert_int_equal(ptx_instr(m, 4)->ops[0].target, 5);
    assert_int_equal(ptx_instr(m, 5)->ops[1].reg, outer);
    assert_int_equal(ptx_instr(m, 6)->ops[0].target, 5);
    assert_int_not_equal(ptx_instr(m, 6)->guard, ptx_instr(m, 3)->guard);
    assert_int_equal(ptx_instr(m, 7)->ops[0].target, 9);
    assert_int_equal(ptx_instr(m, 8)->ops[0].reg, outer);
    wg_ptx_free(m);
}

static void register_ranges_cost_only_what_is_used(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".entry k() { .reg .b32 %r<4000000000>, x2<3>, y; add.u32 %r3999999999, x22, y; }");
    const struct wg_function *f = m->funcs[0];
    assert_int_equal(f->nregs, 3);
    assert_string_equal(f->regs[0].name, "y"); /* declared by name, so there at once */
    assert_string_equal(f->regs[f->instrs[0].ops[0].reg].name, "%r3999999999");
    assert_string_equal(f->regs[f->instrs[0].ops[1].reg].name, "x22");
    wg_ptx_free(m);
}

static void inlined_lines_resolve_to_the_outermost_call(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(
        "mov.u32 %r1, 0;\n"
        ".loc 1 10 5\nmov.u32 %r1, 1;\n"
        ".loc 1 5 3, function_name $L__info_string0, inlined_at 1 10 5\nmov.u32 %r1, 2;\n"
        ".loc 2 7 1, function_name $L__info_string0+12, inlined_at 1 5 3\nmov.u32 %r1, 3;\n"
        ".loc 1 20 5\n.loc 1 5 3, function_name $L__info_string0, inlined_at 1 20 5\n"
        ".loc 2 7 1, function_name $L__info_string0+12, inlined_at 1 5 3\nmov.u32 %r1, 4;\n"
        ".loc 1 21 9\nret;"));
    static const uint32_t want[][4] = {{0, 0, 0, 0},  {1, 10, 0, 0}, {1, 5, 1, 10},
                                      {2, 7, 1, 10}, {2, 7, 1, 20}, {1, 21, 0, 0}};
    for (uint32_t k = 0; k < 6; k++) {
        const struct wg_instr *i = ptx_instr(m, k);
        assert_int_equal(i->file, want[k][0]);
        assert_int_equal(i->line, want[k][1]);
        assert_int_equal(i->inl_file, want[k][2]);
        assert_int_equal(i->inl_line, want[k][3]);
    }
    assert_int_equal(m->funcs[0]->line, 10);
    wg_ptx_free(m);
}

static void calls_direct_indirect_and_old_style(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                 ".func (.reg .u32 q) twice(.reg .u32 x) { add.u32 q, x, x; ret; }\n"
                 ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n"
                 "{ .param .b64 param0; st.param.b64 [param0+0], %rd1; .param .b64 param1; .param .b32 retval0;\n"
                 "call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0+0]; }\n"
                 "call (%r1), twice, (7);\n"
                 "{ .param .b32 retval0; .param .b64 param0;\n"
                 "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
                 "@%p1 call (retval0), %rd2, (param0), proto; }\n"
                 "list: .calltargets twice; call (%r2), %rd2, (%r1), list; ret; }\n");
    const struct wg_function *k = wg_ptx_function(m, "k"), *twice = wg_ptx_function(m, "twice");
    const struct wg_instr *i = &k->instrs[1];
    assert_int_equal(i->op, WG_OP_CALL);
    assert_string_equal(i->ops[0].sym->name, "vprintf");
    assert_int_equal(i->nret, 1);
    assert_int_equal(i->narg, 2);
    assert_int_equal(i->arg[0].kind, WG_OPERAND_SYMBOL);
    assert_int_equal(i->arg[0].sym->space, WG_SPACE_PARAM);
    assert_true(i->ops[0].sym->func->is_declaration);
    assert_int_equal(k->nlocals, 5);
    assert_int_equal(k->instrs[3].ret[0].kind, WG_OPERAND_REG);
    assert_int_equal(k->instrs[3].arg[0].imm, 7);
    i = &k->instrs[4];
    assert_int_equal(i->ops[0].kind, WG_OPERAND_REG);
    assert_non_null(i->proto);
    assert_int_equal(i->proto->narg, 1);
    assert_int_equal(i->proto->arg[0].bytes, 8);
    assert_true(i->guard >= 0);
    assert_int_equal(k->instrs[5].proto->nret, 1);
    assert_int_equal(twice->nregs, 2);
    assert_int_equal(twice->reg_rets[0], 0);
    assert_int_equal(twice->reg_params[0], 1);
    assert_int_equal(twice->instrs[0].ops[1].reg, 1);
    wg_ptx_free(m);
}

static void branch_tables_list_their_targets(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_BODY("ts: .branchtargets A, B, A;\n@%p1 brx.idx %r1, ts;\nA: ret;\nB: trap;"));
    const struct wg_operand *o = &ptx_instr(m, 0)->ops[1];
    assert_int_equal(o->kind, WG_OPERAND_LABEL);
    assert_int_equal(o->nelems, 3);
    assert_int_equal(o->elems[0].target, 1);
    assert_int_equal(o->elems[1].target, 2);
    assert_int_equal(o->elems[2].target, 1);
    wg_ptx_free(m);
}

static const struct wg_symbol *var(const struct wg_ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nvars; i++)
        if (strcmp(m->vars[i]->name, name) == 0)
            return m->vars[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void variables_and_initialisers(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".extern .shared .align 16 .b8 dyn[];\n.shared .f32 tile[32][33];\n"
                 ".global .align 4 .b8 bytes[4] = {1, 0xff, -1, 4};\n.const .f32 pi = 0f40490FDB;\n"
                 ".global .f64 d[2] = {1.5, 0d4000000000000000};\n.global .u32 grid[2][3] = {{1,2},{4,5,6}};\n"
                 ".global .v4 .u32 v = {1,2,3,4};\n.global .s16 n[] = {1,2,3};\n"
                 ".func f() { ret; }\n.global .u64 table[3] = {f, generic(bytes)+2, bytes};\n"
                 ".global .align 8 .b8 packed[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0xFF(generic(bytes)), "
                 "0xFF00(generic(bytes)), "
                 "0xFF0000(generic(bytes)), 0xFF000000(generic(bytes)), 0xFF00000000(generic(bytes)), "
                 "0xFF0000000000(generic(bytes)), 0xFF000000000000(generic(bytes)), "
                 "0xFF00000000000000(generic(bytes))};\n"
                 ".visible .global .attribute(.managed) .u32 managed;\n.weak .global .u8 w = 3;\n.global .texref t;\n"
                 ".extern .global .u32 later;\n.global .u32 later = 9;\n");
    const struct wg_symbol *s = var(m, "dyn");
    assert_true(s->is_extern && s->is_array && s->bytes == 0 && s->align == 16 && s->space == WG_SPACE_SHARED);
    s = var(m, "tile");
    assert_true(s->bytes == 32 * 33 * 4 && s->align == 4 && s->type == WG_T_F32 && !s->init);
    assert_memory_equal(var(m, "bytes")->init, "\x01\xff\xff\x04", 4);
    assert_memory_equal(var(m, "pi")->init, "\xdb\x0f\x49\x40", 4);
    double two[2];
    memcpy(two, var(m, "d")->init, 16);
    assert_true(two[0] == 1.5 && two[1] == 2.0);
    uint32_t g[6];
    memcpy(g, var(m, "grid")->init, 24);
    assert_true(g[0] == 1 && g[1] == 2 && g[2] == 0 && g[3] == 4 && g[5] == 6);
    s = var(m, "v");
    assert_true(s->bytes == 16 && s->align == 16 && s->init[12] == 4 && !s->is_array);
    assert_int_equal(var(m, "n")->bytes, 6);
    s = var(m, "table");
    assert_int_equal(s->nrelocs, 3);
    assert_string_equal(s->relocs[0].sym->name, "f");
    assert_true(s->relocs[1].generic && s->relocs[1].addend == 2 && s->relocs[1].at == 8 && s->relocs[1].bytes == 8);
    assert_false(s->relocs[2].generic);
    s = var(m, "packed");
    assert_int_equal(s->nrelocs, 1);
    assert_true(s->relocs[0].at == 8 && s->relocs[0].bytes == 8 && s->relocs[0].shift == 0 && s->relocs[0].generic);
    assert_true(var(m, "managed")->is_visible && var(m, "w")->is_weak);
    assert_string_equal(var(m, "t")->texmode, "texref");
    s = var(m, "later");
    assert_true(!s->is_extern && s->init && s->init[0] == 9);
    wg_ptx_free(m);
}

/* Scaled by the element's size, as ptxas does. */
static void array_elements_by_name(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".global .u32 g[8]; .entry k() { .reg .b64 %rd<9>; .reg .b32 %r<9>; .shared .b64 s[8];\n"
                 "mov.u64 %rd1, s[3]; mov.u64 %rd1, g[0]; ld.global.u32 %r1, g[2]; st.shared.u64 s[1+1], %rd1;\n"
                 "mov.u64 %rd1, g[1]+2; }");
    static const struct { unsigned operand, kind; int imm; } want[] = {
        {1, WG_OPERAND_SYMBOL, 24}, {1, WG_OPERAND_SYMBOL, 0}, {1, WG_OPERAND_MEM, 8},
        {0, WG_OPERAND_MEM, 16},    {1, WG_OPERAND_SYMBOL, 6},
    };
    for (unsigned k = 0; k < sizeof want / sizeof *want; k++) {
        const struct wg_operand *o = &ptx_instr(m, k)->ops[want[k].operand];
        assert_int_equal(o->kind, want[k].kind);
        assert_int_equal(o->imm, want[k].imm);
    }
    wg_ptx_free(m);
}

static void addresses_of_all_forms(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".global .u32 g; .entry k(.param .u64 p) { .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
                 ".local .align 8 .b8 depot[64]; .shared .u32 s[8];\n"
                 "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [g]; ld.global.u32 %r1, [g+8];\n"
                 "ld.global.u32 %r1, [%rd1-4];\n"
                 "ld.shared.u32 %r1, [s+%r2]; ld.global.u32 %r1, [4096]; mov.u64 %rd2, depot; mov.u64 %rd2, g+4;\n"
                 "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}]; mov.b64 {%r1, %r2}, %rd1;\n"
                 "mov.b64 %rd1, {%r1, %r2}; }");
    const struct wg_operand *o = &ptx_instr(m, 0)->ops[1];
    assert_true(o->sym == &m->funcs[0]->params[0] && o->reg < 0);
    assert_string_equal(ptx_instr(m, 1)->ops[1].sym->name, "g");
    assert_int_equal(ptx_instr(m, 2)->ops[1].imm, 8);
    assert_int_equal(ptx_instr(m, 3)->ops[1].imm, -4);
    o = &ptx_instr(m, 4)->ops[1];
    assert_true(o->sym && o->reg >= 0);
    o = &ptx_instr(m, 5)->ops[1];
    assert_true(!o->sym && o->reg < 0 && o->imm == 4096);
    assert_int_equal(ptx_instr(m, 6)->ops[1].kind, WG_OPERAND_SYMBOL);
    assert_int_equal(ptx_instr(m, 7)->ops[1].imm, 4);
    o = &ptx_instr(m, 8)->ops[1];
    assert_int_equal(o->nelems, 2);
    assert_int_equal(o->elems[1].nelems, 2);
    wg_ptx_free(m);
}

static void declarations_and_aliases_meet_their_definition(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_HEAD ".func f(.param .b32 a);\n.func g();\n.func f(.param .b32 a) { ret; }\n"
                                                ".alias g, f;\n.weak .func never() .noreturn;\n");
    assert_int_equal(m->nfuncs, 4);
    assert_true(m->funcs[0]->is_declaration && !m->funcs[2]->is_declaration);
    assert_ptr_equal(m->funcs[0]->sym, m->funcs[2]->sym);
    assert_ptr_equal(wg_ptx_function(m, "f"), m->funcs[2]);
    assert_ptr_equal(wg_ptx_function(m, "g"), m->funcs[2]);
    assert_true(wg_ptx_function(m, "never")->noreturn);
    wg_ptx_free(m);
}

static void text_of_an_instruction_is_kept(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".entry k() {\n .reg .b32 a; .reg .pred p;\n\n  @!p  add.u32 a,\n a, 1 ; ret;}");
    const struct wg_instr *i = ptx_instr(m, 0);
    assert_int_equal(i->ptx_line, 7);
    assert_int_equal(i->text_len, strlen("@!p  add.u32 a,\n a, 1"));
    assert_memory_equal(i->text, "@!p  add.u32 a,\n a, 1", i->text_len);
    assert_string_equal(i->mnemonic, "add.u32");
    assert_int_equal(ptx_instr(m, 1)->ptx_line, 8);
    wg_ptx_free(m);
}

static void debug_sections_and_pragmas_are_skipped(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(PTX_BODY(".pragma \"nounroll\";\nret;")
                                       ".section .debug_info\n{\n.b8 1, 2\n.b64 x+4\n{ }\n}\n"
                                       ".section\t.debug_macinfo\t{\t}\n");
    assert_int_equal(m->funcs[0]->ninstrs, 1);
    wg_ptx_free(m);
}

static void trailing_nuls_of_an_image_are_no_text(void **state)
{
    (void)state;
    struct wg_ptx_module *m;
    struct wg_diag d = {0};
    static const char text[] = PTX_HEAD "\0\0\0";
    assert_int_equal(wg_ptx_parse(text, sizeof text, "t", &m, &d), WG_OK);
    wg_ptx_free(m);
    wg_ptx_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_gives_version_target_and_files),
        cmocka_unit_test(parameters_are_packed_as_the_driver_does),
        cmocka_unit_test(mnemonic_fields_come_from_the_tables),
        cmocka_unit_test(cache_hints_vanish_and_unknown_modifiers_stay),
        cmocka_unit_test(matrix_instructions_keep_shape_layouts_and_types),
        cmocka_unit_test(immediates_in_all_notations),
        cmocka_unit_test(inner_scopes_shadow_registers_and_labels),
        cmocka_unit_test(register_ranges_cost_only_what_is_used),
        cmocka_unit_test(inlined_lines_resolve_to_the_outermost_call),
        cmocka_unit_test(calls_direct_indirect_and_old_style),
        cmocka_unit_test(branch_tables_list_their_targets),
        cmocka_unit_test(variables_and_initialisers),
        cmocka_unit_test(addresses_of_all_forms),
        cmocka_unit_test(array_elements_by_name),
        cmocka_unit_test(declarations_and_aliases_meet_their_definition),
        cmocka_unit_test(text_of_an_instruction_is_kept),
        cmocka_unit_test(debug_sections_and_pragmas_are_skipped),
        cmocka_unit_test(trailing_nuls_of_an_image_are_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
