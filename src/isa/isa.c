/* isa.c - look-ups expanded from the instruction-set tables. */
#include "isa/isa.h"
#include <string.h>

const struct wg_op_info wg_op_infos[WG_OP_COUNT + 1] = {
#define WG_OP(id, text, shape, fields, group) {text, shape, fields, WG_GROUP_##group},
#include "isa/ops.def"
#undef WG_OP
    {"?", "", 0, WG_GROUP_FLOW},
};

const struct wg_type_info wg_type_infos[WG_T_COUNT] = {
#define WG_TYPE(id, text, kind, bytes) {text, #kind[0], bytes},
#include "isa/types.def"
#undef WG_TYPE
};

static const struct {
    const char *text;
    uint8_t type;
} sregs[] = {
#define WG_SREG(id, text, type) {text, WG_T_##type},
#include "isa/sregs.def"
#undef WG_SREG
};

static const struct {
    const char *text;
    uint8_t field, value;
} mods[] = {
#define VAL_SPACE(id) WG_SPACE_##id
#define VAL_VEC(id) WG_VEC_##id
#define VAL_ROUND(id) WG_ROUND_##id
#define VAL_CMP(id) WG_CMP_##id
#define VAL_BOOL(id) WG_BOOL_##id
#define VAL_HALF(id) WG_HALF_##id
#define VAL_ATOM(id) WG_ATOM_##id
#define VAL_SCOPE(id) WG_SCOPE_##id
#define VAL_ORDER(id) WG_ORDER_##id
#define VAL_SHFL(id) WG_SHFL_##id
#define VAL_VOTE(id) WG_VOTE_##id
#define VAL_DIR(id) WG_DIR_##id
#define VAL_SHIFT(id) WG_SHIFT_##id
#define VAL_PRMT(id) WG_PRMT_##id
#define VAL_TESTP(id) WG_TESTP_##id
#define VAL_LAYOUT(id) WG_LAYOUT_##id
#define VAL_SHAPE(id) WG_SHAPE_##id
#define VAL_COUNT(id) WG_COUNT_##id
#define VAL_FLAG(id) WG_FLAGBIT_##id
#define WG_MOD(field, id, text) {text, WG_FIELD_##field, VAL_##field(id)},
#include "isa/mods.def"
#undef WG_MOD
};
enum { NMODS = sizeof mods / sizeof *mods };

static bool same(const char *row, const char *text, size_t n) { return strlen(row) == n && memcmp(row, text, n) == 0; }

enum wg_op wg_isa_op(const char *mnemonic, size_t n, size_t *used)
{
    enum wg_op best = WG_OP_UNKNOWN;
    *used = 0;
    for (int i = 0; i < WG_OP_COUNT; i++) {
        size_t k = strlen(wg_op_infos[i].text);
        if (k > *used && k <= n && memcmp(wg_op_infos[i].text, mnemonic, k) == 0 && (k == n || mnemonic[k] == '.')) {
            *used = k;
            best = (enum wg_op)i;
        }
    }
    return best;
}

enum wg_type wg_isa_type(const char *text, size_t n)
{
    for (int i = 1; i < WG_T_COUNT; i++)
        if (same(wg_type_infos[i].text, text, n))
            return (enum wg_type)i;
    return WG_T_NONE;
}

bool wg_isa_mod(const char *text, size_t n, uint32_t fields, enum wg_field *field, int *value)
{
    for (int i = 0; i < NMODS; i++)
        if ((fields >> mods[i].field & 1) && same(mods[i].text, text, n)) {
            *field = (enum wg_field)mods[i].field;
            *value = mods[i].value;
            return true;
        }
    return false;
}

int wg_isa_sreg(const char *text, size_t n)
{
    for (int i = 0; i < WG_SREG_COUNT; i++)
        if (same(sregs[i].text, text, n))
            return i;
    return -1;
}

const char *wg_isa_sreg_text(enum wg_sreg s) { return sregs[s].text; }
enum wg_type wg_isa_sreg_type(enum wg_sreg s) { return (enum wg_type)sregs[s].type; }

const char *wg_isa_mod_text(enum wg_field field, int value)
{
    for (int i = 0; i < NMODS; i++)
        if (mods[i].field == field && mods[i].value == value && (value || field == WG_FIELD_FLAG))
            return mods[i].text;
    return "";
}
