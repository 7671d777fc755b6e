/* libdevice_undef.h - forgets the row macros of libdevice.def, for another expansion. No include guard: included often.
 */
#undef WG_NVV1
#undef WG_NVV2
#undef WG_NVV3
#undef WG_NVS1
#undef WG_NVS2
#undef WG_NV1
#undef WG_NV2
#undef WG_NV3
#undef WG_NV4
#undef WG_NVR1
#undef WG_NVR2
#undef WG_NVR3
#undef WG_NVP1
#undef WG_NVP2
#undef WG_NVP3
