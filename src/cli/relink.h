/* relink.h - the C file that joins the registrations of several units of device code (-rdc=true). */
#ifndef WG_CLI_RELINK_H
#define WG_CLI_RELINK_H
#include <stdbool.h>
#include <stdio.h>
#include <warpgrind/warpgrind.h>

/* Writes `path`, C to be compiled and linked with the n objects that clang made with -fgpu-rdc. IO: cannot be written. */
enum wg_status wg_relink(const char *const *objects, size_t n, const char *path);
#endif
