/* traffic.h - carries the traces of a launch's blocks from the workers to the models of caches and time. */
#ifndef WG_EXEC_TRAFFIC_H
#define WG_EXEC_TRAFFIC_H
#include "exec/engine.h"
#include "model/replay.h"

/* Opens the replay of r when the device models caches; false: no memory. */
bool wg_traffic_open(struct wg_run *r, struct wg_kernel *k);
/* A block begins, or has ended; begin gives its warps a trace. false: no memory. */
bool wg_traffic_begin(struct wg_block *b);
void wg_traffic_end(struct wg_block *b);
/* Whether a worker other than the first may start: how finely to look is known once the first block has ended. */
void wg_traffic_wait(struct wg_run *r);
/* The launch is over: the results, valid until wg_traffic_close. */
const struct wg_replay_result *wg_traffic_finish(struct wg_run *r);
void wg_traffic_close(struct wg_run *r);
#endif
