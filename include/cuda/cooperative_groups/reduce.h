/* cooperative_groups/reduce.h - reductions and scans. */
#pragma once
#include "../cooperative_groups.h"
#include "../wg/cg_reduce.h"
