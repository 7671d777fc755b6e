/* crt/host_config.h - nothing here depends on the host compiler. */
#pragma once
