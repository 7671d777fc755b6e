"""Running kernels and programs, and their figures as Python sees them."""
import collections.abc
import ctypes as c
import json
import os
import shutil
import subprocess
import sys
import tempfile

from . import library


class Error(Exception):
    """What libwarpgrind or the program says went wrong."""


def _names():
    lib = library.load()
    return [lib.wg_metrics_name(i).decode() for i in range(lib.wg_metrics_count())]


def _called(readable):
    """What a kernel may be called: "void n::k<4>(int*)" is also n::k<4>, n::k and k."""
    s, depth, end = readable[5:] if readable.startswith("void ") else readable, 0, 0
    for end, letter in enumerate(s + "("):
        depth += (letter == "<") - (letter == ">" and depth > 0)
        if letter == "(" and not depth and not s[end:].startswith("(anonymous"):
            break
    label = s[:end]
    bare = label[:label.index("<")] if label.endswith(">") and "<" in label else label
    return {readable, label, bare, bare.split("::")[-1]}


class Finding(dict):
    """A finding: its members are attributes too. file, line: where; other_file, other_line: the second place."""
    __getattr__ = dict.get


class Line(dict):
    """What one source line counted, by counter name."""
    __getattr__ = dict.__getitem__


class Kernel(collections.abc.Mapping):
    """One launch. A mapping from the names of metrics to values; short names are attributes: k.bank_conflicts."""

    def __init__(self, profile, position):
        self._profile, self._position = profile, position
        self.data = profile.data["launches"][position]
        self.name, self.mangled = self.data.get("kernel", ""), self.data.get("mangled", "")
        self.grid, self.block = tuple(self.data.get("grid", ())), tuple(self.data.get("block", ()))
        self.status = self.data.get("status", "OK")

    def _value(self, name):
        value, unit, fidelity = c.c_double(), c.c_char_p(), c.c_char_p()
        status = library.load().wg_metrics_launch(self._profile._pointer, self._position, name.encode(), value, unit, fidelity)
        return status, value.value, unit.value, fidelity.value

    def __getitem__(self, name):
        status, value, _, _ = self._value(name)
        if status != library.OK:
            raise KeyError(name if status == library.NOT_FOUND else f"{name} has no value in {self.name}")
        return int(value) if value == int(value) else value

    def __iter__(self):
        return (n for n in _names() if self._value(n)[0] == library.OK)

    def __len__(self):
        return sum(1 for _ in self)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(*e.args) from None

    def fidelity(self, name):
        """exact, modelled or estimated: how far to trust the figure."""
        status, _, _, fidelity = self._value(name)
        if status == library.NOT_FOUND:
            raise KeyError(name)
        return fidelity.decode()

    def unit(self, name):
        status, _, unit, _ = self._value(name)
        if status == library.NOT_FOUND:
            raise KeyError(name)
        return unit.decode()

    @property
    def findings(self):
        return [self._profile._finding(f) for f in self.data.get("findings", [])]

    @property
    def errors(self):
        return [f for f in self.findings if f.severity == "error"]

    @property
    def lines(self):
        """{(file, line): Line} of the counts of each source line."""
        p, out = self._profile.data, {}
        launch = p["launches"][self.data["counts_of"]] if "counts_of" in self.data else self.data
        for site, *values in launch.get("counts", []):
            at = p["code"][self.data["code"]][site].get("at")
            if at:
                line = out.setdefault((p["sources"][at[0]]["path"], at[1]), Line.fromkeys(p["counters"], 0))
                for name, value in zip(p["counters"], values):
                    line[name] += int(value, 16) if isinstance(value, str) else value
        return out

    def __repr__(self):
        return f"<warpgrind.Kernel {self.name} {self.grid} x {self.block}>"

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


class Profile:
    """A saved profile: its launches in `kernels`, its JSON in `data`."""

    def __init__(self, path):
        lib, self._pointer, err = library.load(), c.c_void_p(), c.create_string_buffer(1024)
        if lib.wg_profile_read(os.fsencode(path), self._pointer, err, len(err)) != library.OK:
            raise Error(err.value.decode(errors="replace"))
        with open(path, encoding="utf-8") as f:
            self.data = json.load(f)
        self.kernels = [Kernel(self, i) for i in range(len(self.data.get("launches", [])))]

    def __del__(self):
        if getattr(self, "_pointer", None):
            library.load().wg_profile_free(self._pointer)
            self._pointer = None

    def _finding(self, f):
        f = Finding(f)
        for at, name in (("at", ""), ("other_at", "other_")):
            if at in f:
                f[name + "file"], f[name + "line"] = self.data["sources"][f[at][0]]["path"], f[at][1]
        return f

    def kernel(self, name):
        """The last launch of the kernel of that name: as the report shows it, mangled, or without result, parameter types,
        template arguments or scopes, if only one kernel is called so."""
        found = [k for k in self.kernels if name == k.mangled or name in _called(k.name)]
        names = sorted({k.name for k in found or self.kernels})
        if not found:
            raise KeyError(f"no kernel named {name}; there are {', '.join(names) or 'none'}")
        if len(names) > 1:
            raise KeyError(f"several kernels are called {name}: {', '.join(names)}")
        return found[-1]

    @property
    def findings(self):
        """Of all launches, and of the program's use of CUDA."""
        return [f for k in self.kernels for f in k.findings] + [self._finding(f) for f in self.data.get("host_findings", [])]

    @property
    def errors(self):
        return [f for f in self.findings if f.severity == "error"]


def read(path):
    """A saved .wgprof file."""
    return Profile(path)


def run_program(program, *args, check=False, device=None, options=(), timeout=None, status=0):
    """Runs a .cu file or an executable under the warpgrind program. The program's exit status must be `status` (None: any)."""
    command = os.environ.get("WARPGRIND_PROGRAM") or shutil.which("warpgrind")
    if not command:
        raise Error("the warpgrind program is not in PATH; WARPGRIND_PROGRAM may name it")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.wgprof")
        words = [command, "--quiet", "--export", path, *(["--tool", "all"] if check else []),
                 *(["--device", device] if device else []), *options, os.fspath(program), *map(str, args)]
        r = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout)
        if status is not None and r.returncode != status:
            raise Error(f"{' '.join(words)} ended with {r.returncode}:\n{r.stderr[-4000:]}")
        if not os.path.exists(path):
            raise Error(f"{program} did not use the CUDA runtime:\n{r.stderr[-4000:]}")
        profile = Profile(path)
        profile.stdout, profile.stderr, profile.returncode = r.stdout, r.stderr, r.returncode
        return profile


SCALARS = {"f32": c.c_float, "f64": c.c_double, **{f"{s}{n}": getattr(c, f"c_{'int' if s == 's' else 'uint'}{n}")
                                                    for s in "usb" for n in (8, 16, 32, 64)}}


def _scalar(value, param):
    """The bytes of one argument."""
    if isinstance(value, (c._SimpleCData, c.Structure, c.Array)):
        data = bytes(value)
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
    elif isinstance(value, float) and param.type.decode()[0] in "bu" and param.bytes in (4, 8):
        data = bytes((c.c_float if param.bytes == 4 else c.c_double)(value))
    else:
        data = bytes(SCALARS[param.type.decode()](value))
    if len(data) != param.bytes:
        raise Error(f"an argument has {len(data)} bytes, its parameter {param.bytes}")
    return data


def _dims(v):
    v = (v,) if isinstance(v, int) else tuple(v)
    return (v + (1, 1, 1))[:3]


def run_ptx(ptx, kernel=None, *, grid, block, args=(), shared=0, device=None, check=False, jobs=0):
    """Launches a kernel of PTX text. args: numbers, ctypes values, bytes of a structure; or writable buffers (array.array,
    bytearray, a numpy array), which are copied to the device and, afterwards, back."""
    lib, g, err = library.load(), c.c_void_p(), c.create_string_buffer(4096)
    options = library.Options(size=c.sizeof(library.Options), device=device.encode() if device else None, jobs=jobs,
                              tools=15 if check else 0)
    if lib.wg_open(options, g, err, len(err)) != library.OK:
        raise Error(err.value.decode(errors="replace"))

    def must(status):
        if status != library.OK:
            raise Error(lib.wg_error(g).decode(errors="replace"))
    try:
        module, info = c.c_void_p(), library.KernelInfo()
        text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
        must(lib.wg_module_load(g, text, len(text), b"python", None, module))
        if kernel is None and lib.wg_module_kernel_count(module) != 1:
            raise Error("the PTX has several kernels: name one")
        entry = lib.wg_module_kernel(module, kernel.encode()) if kernel else lib.wg_module_kernel_at(module, 0)
        if not entry:
            raise Error(f"the PTX has no kernel {kernel}")
        must(lib.wg_kernel_get_info(entry, info))
        if len(args) != info.nparams:
            raise Error(f"the kernel takes {info.nparams} arguments, not {len(args)}")
        values, buffers = [], []
        for i, value in enumerate(args):
            try:
                view = None if isinstance(value, (bytes, c._SimpleCData, c.Structure)) else memoryview(value).cast("B")
            except TypeError:
                view = None
            if view is None:
                values.append(c.create_string_buffer(_scalar(value, info.params[i]), info.params[i].bytes))
                continue
            address, host = c.c_uint64(), (c.c_char * max(len(view), 1)).from_buffer(view)
            must(lib.wg_alloc(g, len(view), 256, address))
            must(lib.wg_copy(g, address.value, c.addressof(host), len(view)))
            buffers.append((address, host, len(view)))
            values.append(address)
        pointers = (c.c_void_p * max(len(values), 1))(*[c.addressof(v) for v in values])
        launch = library.Launch(size=c.sizeof(library.Launch), grid=_dims(grid), block=_dims(block), shared_bytes=shared,
                                args=pointers)
        status = lib.wg_launch(g, entry, launch)
        if status not in (library.KERNEL_FAULT, library.HANG):  # those are the kernel's, and in the profile
            must(status)
        for address, host, n in buffers:
            must(lib.wg_copy(g, c.addressof(host), address.value, n))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.wgprof")
            if lib.wg_profile_write(lib.wg_get_profile(g), os.fsencode(path), err, len(err)) != library.OK:
                raise Error(err.value.decode(errors="replace"))
            return Profile(path)
    finally:
        sys.stdout.flush()
        lib.wg_close(g)
