/* alu_table.h - redefines the row macros so that a second inclusion of a .def lists its rows for wg_alu_select. */
#undef WG_ALU1_C
#undef WG_ALU1_DC
#undef WG_ALU2_C
#undef WG_ALU2_DC
#undef WG_ALU3_C
#undef WG_ALU3_DC
#undef WG_ALU1
#undef WG_ALU1_HOT
#undef WG_ALU2
#undef WG_ALU2_HOT
#undef WG_ALU3
#undef WG_ALU3_HOT
#undef WG_ALU3_K
#undef WG_ALU4
#undef WG_ALU2_WARM
#undef WG_ALU3_WARM
#undef WG_ALU_CMP
#undef WG_ALU_REL
#undef WG_ALU1_D
#undef WG_ALU2_D
#undef WG_ALU3_D
#undef WG_ALU_TEST
#undef WG_ALU_MASK
#undef WG_ALU_SEL
#undef WG_ALU_CC
#define WG_ALU1(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU1_C(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU2_C(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU3_C(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU1_DC(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU2_DC(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU3_DC(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU1_HOT(name, key, ...) {key, 0x3, h_##name, NULL},
#define WG_ALU2(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU2_HOT(name, key, ...) {key, 0x7, h_##name, NULL},
#define WG_ALU3(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU3_HOT(name, key, ...) {key, 0x7f, h_##name, NULL},
#define WG_ALU3_K(name, key, ...) {key, 0x1, h_##name, NULL},
#define WG_ALU4(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU1_D(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU2_D(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU3_D(name, key, ...) {key, 0, NULL, &h_##name},
#define WG_ALU2_WARM(name, key, ...) {key, 0x1, h_##name, NULL},
#define WG_ALU3_WARM(name, key, ...) {key, 0x1, h_##name, NULL},
#define WG_ALU_CMP(name, key, ...) {(key) | WG_KEY_OP(SETP), 0x7, h_##name, NULL},
#define WG_ALU_REL(name, key, ...)                                                                                     \
    {(key) | WG_KEY_OP(SETP) | WG_KEY_FLAGS(WG_KF_ANY), 0x1, h_##name, NULL},                                          \
        {(key) | WG_KEY_OP(SET) | WG_KEY_FLAGS(WG_KF_ANY), 0x1, h_##name##_set, NULL},
#define WG_ALU_TEST(name, key, ...) {key, 0x1, h_##name, NULL},
#define WG_ALU_MASK(name, key, ...) {key, 0x1, h_##name, NULL},
#define WG_ALU_SEL(name, key, ...) {key, 0xf, h_##name, NULL},
#define WG_ALU_CC(name, key, ...) {key, 0x1, h_##name, NULL},
