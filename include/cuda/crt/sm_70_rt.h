/* crt/sm_70_rt.h - a name that programs include; cuda_runtime.h has all of it. */
#pragma once
#include "../cuda_runtime.h"
