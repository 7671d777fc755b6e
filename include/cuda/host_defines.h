/* host_defines.h - older name of crt/host_defines.h. */
#pragma once
#include "crt/host_defines.h"
