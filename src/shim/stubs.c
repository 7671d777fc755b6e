/* stubs.c - calls of the runtime API that we lack: each names itself and answers cudaErrorNotSupported. */
#include "shim/state.h"

#define STUB(name, why)                                                                                                \
    WG_EXPORT int name(void);                                                                                          \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        struct wg_shim *s = wg_shim_lock();                                                                            \
        return (int)wg_shim_leave(s, wg_shim_refuse(#name, why), #name);                                               \
    }
#define ALIAS_ONE(name)
#define ALIAS_PTSZ(name) WG_ALIAS(name##_ptsz, name, (void));
#define ALIAS_PTDS(name) WG_ALIAS(name##_ptds, name, (void));

/* A row that is done or partial is defined elsewhere; the test of exports finds one that is not. */
#define WG_CALL_DONE(name, names, note)
#define WG_CALL_PARTIAL(name, names, note)
#define WG_CALL_REFUSED(name, names, note) STUB(name, note) ALIAS_##names(name)
#define WG_CALL(name, from, to, names, state, note) WG_CALL_##state(name, names, note)
#include "shim/calls.def"
#undef WG_CALL
#define WG_CALL(name, names, state, note) WG_CALL_##state(name, names, note)
#include "shim/driver.def"
