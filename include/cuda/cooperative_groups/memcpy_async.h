/* cooperative_groups/memcpy_async.h - asynchronous copies by a group. */
#pragma once
#include "../cooperative_groups.h"
#include "../wg/cg_async.h"
