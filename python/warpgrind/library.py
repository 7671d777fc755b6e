"""libwarpgrind's functions and structures, as include/warpgrind/*.h declares them."""
import ctypes as c
import ctypes.util
import os


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("device", c.c_char_p), ("sm_target", c.c_char_p), ("jobs", c.c_uint),
                ("no_counters", c.c_bool), ("host_addresses", c.c_bool), ("as_written", c.c_bool),
                ("models", c.c_bool), ("keep_caches", c.c_bool), ("sample_level", c.c_uint), ("any_block_order", c.c_bool),
                ("ptxas", c.c_char_p),
                ("tools", c.c_uint), ("schedule", c.c_int), ("stored", c.c_bool), ("seed", c.c_uint64), ("memory", c.c_uint64),
                ("printf_sink", c.c_void_p), ("progress", c.c_void_p), ("ctx", c.c_void_p), ("cancel", c.c_void_p)]


class Launch(c.Structure):
    _fields_ = [("size", c.c_size_t), ("grid", c.c_uint * 3), ("block", c.c_uint * 3), ("cluster", c.c_uint * 3),
                ("shared_bytes", c.c_size_t), ("args", c.POINTER(c.c_void_p)), ("cooperative", c.c_bool)]


class Param(c.Structure):
    _fields_ = [("offset", c.c_size_t), ("bytes", c.c_size_t), ("type", c.c_char_p)]


class KernelInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("nparams", c.c_size_t), ("params", c.POINTER(Param)), ("param_bytes", c.c_size_t),
                ("static_shared", c.c_size_t), ("local_bytes", c.c_size_t), ("const_bytes", c.c_size_t),
                ("max_threads", c.c_uint), ("registers", c.c_uint), ("registers_exact", c.c_bool),
                ("registers_low", c.c_uint), ("registers_high", c.c_uint), ("ptx_version", c.c_uint),
                ("sm", c.c_uint)]


FUNCTIONS = {
    "wg_status_text": (c.c_char_p, [c.c_int]),
    "wg_open": (c.c_int, [c.POINTER(Options), c.POINTER(c.c_void_p), c.c_char_p, c.c_size_t]),
    "wg_close": (None, [c.c_void_p]),
    "wg_error": (c.c_char_p, [c.c_void_p]),
    "wg_module_load": (c.c_int, [c.c_void_p, c.c_char_p, c.c_size_t, c.c_char_p, c.c_char_p, c.POINTER(c.c_void_p)]),
    "wg_module_kernel": (c.c_void_p, [c.c_void_p, c.c_char_p]),
    "wg_module_kernel_count": (c.c_size_t, [c.c_void_p]),
    "wg_module_kernel_at": (c.c_void_p, [c.c_void_p, c.c_size_t]),
    "wg_kernel_get_info": (c.c_int, [c.c_void_p, c.POINTER(KernelInfo)]),
    "wg_alloc": (c.c_int, [c.c_void_p, c.c_size_t, c.c_size_t, c.POINTER(c.c_uint64)]),
    "wg_copy": (c.c_int, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_size_t]),
    "wg_launch": (c.c_int, [c.c_void_p, c.c_void_p, c.POINTER(Launch)]),
    "wg_get_profile": (c.c_void_p, [c.c_void_p]),
    "wg_profile_read": (c.c_int, [c.c_char_p, c.POINTER(c.c_void_p), c.c_char_p, c.c_size_t]),
    "wg_profile_write": (c.c_int, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_size_t]),
    "wg_profile_free": (None, [c.c_void_p]),
    "wg_metrics_count": (c.c_size_t, []),
    "wg_metrics_name": (c.c_char_p, [c.c_size_t]),
    "wg_metrics_meaning": (c.c_char_p, [c.c_size_t]),
    "wg_metrics_launch": (c.c_int, [c.c_void_p, c.c_size_t, c.c_char_p, c.POINTER(c.c_double), c.POINTER(c.c_char_p),
                                    c.POINTER(c.c_char_p)]),
}
OK, NOT_FOUND, KERNEL_FAULT, HANG = 0, 2, 8, 9  # rows of status.def, whose order is fixed
_loaded = None


def load():
    global _loaded
    if _loaded is None:
        path = os.environ.get("WARPGRIND_LIBRARY") or ctypes.util.find_library("warpgrind") or "libwarpgrind.so"
        lib = c.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            f = getattr(lib, name)
            f.restype, f.argtypes = result, arguments
        _loaded = lib
    return _loaded
