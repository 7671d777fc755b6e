/* alu_table.h - redefines the row macros so that a second inclusion of alu.def lists the rows for wg_alu_select. */
#undef WG_ALU1
#undef WG_ALU1_HOT
#undef WG_ALU2
#undef WG_ALU2_HOT
#undef WG_ALU3
#undef WG_ALU3_HOT
#undef WG_ALU_CMP
#define WG_ALU1(name, key, ...) {key, 0x1, h_##name},
#define WG_ALU1_HOT(name, key, ...) {key, 0x3, h_##name},
#define WG_ALU2(name, key, ...) {key, 0x1, h_##name},
#define WG_ALU2_HOT(name, key, ...) {key, 0x7, h_##name},
#define WG_ALU3(name, key, ...) {key, 0x1, h_##name},
#define WG_ALU3_HOT(name, key, ...) {key, 0x7f, h_##name},
#define WG_ALU_CMP(name, key, ...) {key, 0x7, h_##name},
