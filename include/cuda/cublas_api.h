/* cublas_api.h - a name that programs include; cublas_v2.h has all of it. */
#pragma once
#include "cublas_v2.h"
