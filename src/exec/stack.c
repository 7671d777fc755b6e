/* stack.c - alloca, stacksave and stackrestore: local memory that a function takes while it runs. */
#include "exec/handlers.h"
#include "exec/lanes.h"

static uint32_t *tops(char *R)
{
    return (uint32_t *)(R + wg_frame_of(R)->code->top_slot);
}
static uint64_t base_of(const struct wg_frame *f)
{
    return f->local_base + ((f->code->local_bytes + 15ull) & ~15ull);
}
static void put(char *R, const struct wg_inst *i, unsigned l, uint64_t v)
{
    if (i->bytes == 8)
        ((uint64_t *)(R + i->d))[l] = v;
    else
        ((uint32_t *)(R + i->d))[l] = (uint32_t)v;
}
static uint64_t get(const char *R, const struct wg_inst *i, unsigned l)
{
    return i->bytes == 8 ? ((const uint64_t *)(R + i->a))[l] : ((const uint32_t *)(R + i->a))[l];
}

/* d: address; a: bytes; imm: alignment; all of `bytes` a lane */
H(alloca)
{
    uint64_t base = base_of(wg_frame_of(R)), most = 0;
    uint32_t *top = tops(R), on = WG_ON;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = (base + top[l] + (uint64_t)i->imm - 1) & ~((uint64_t)i->imm - 1), n = get(R, i, l), end = at + n;
        if (n > UINT32_MAX / 2 || end > UINT32_MAX / 2)
            return wg_fault(w, i, WG_KERNEL_FAULT, "stack-overflow", (int)l, n, "alloca of %llu bytes",
                            (unsigned long long)n);
        put(R, i, l, at);
        top[l] = (uint32_t)(end - base);
        most = end > most ? end : most;
    }
    if (!wg_local_reserve(w, most))
        return wg_fault(w, i, WG_KERNEL_FAULT, "stack-overflow", __builtin_ctz(on), most,
                        "Stack overflow: alloca asks for more local memory than a thread can have");
    return i + 1;
}
H(stacksave)
{
    for (uint32_t m = WG_ON; m; m &= m - 1)
        put(R, i, (unsigned)__builtin_ctz(m), base_of(wg_frame_of(R)) + tops(R)[__builtin_ctz(m)]);
    return i + 1;
}
H(stackrestore)
{
    for (uint32_t m = WG_ON; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = get(R, i, l), base = base_of(wg_frame_of(R));
        if (v < base || v - base > tops(R)[l])
            return wg_fault(w, i, WG_KERNEL_FAULT, "stack-overflow", (int)l, v,
                            "stackrestore to 0x%llx, which no stacksave of this call gave", (unsigned long long)v);
        tops(R)[l] = (uint32_t)(v - base);
    }
    return i + 1;
}
