"""Values of enumerators and layouts of structures in our CUDA headers equal those of an installed CUDA 13 toolkit.

The names are read from our headers; one program prints what each header set says about them; the outputs must agree.
usage: layout_test.py INCLUDE_CUDA SCRATCH"""
import os
import re
import subprocess
import sys

OURS, SCRATCH = sys.argv[1:3]

# Names that CUDA 13 no longer has, kept for older programs.
DROPPED = {
    "cudaDevAttrCooperativeMultiDeviceLaunch", "cudaDevAttrMaxTimelineSemaphoreInteropSupported", "cudaKeyValuePair",
    "cudaCSV",
}
# cudaDeviceProp: members that live in what CUDA 13 calls reserved. The others: not of the toolkit.
DROPPED_MEMBERS = {
    "clockRate", "memoryClockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode",
    "cooperativeMultiDeviceLaunch", "singleToDoublePrecisionPerfRatio", "maxTexture1DLinear", "reservedEnd",
}
# CUDA 12 took texture references out.
DROPPED_STRUCTURES = {"textureReference"}
FILES = ["driver_types.h", "texture_types.h", "surface_types.h", "library_types.h", "wg/error_types.h",
         "wg/device_types.h", "wg/memory_types.h", "wg/launch_types.h", "wg/driver_enums.h", "wg/driver_structs.h"]


def toolkit():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for home in filter(None, homes):
        path = os.path.join(home, "include", "cuda.h")
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                version = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", f.read())
            if version and int(version.group(1)) // 1000 == 13:
                return os.path.join(home, "include")
    return None


def text_of(name):
    with open(os.path.join(OURS, name), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
    return re.sub(r"WG_ATTR\((\w+), (\d+)\)", r"CU_DEVICE_ATTRIBUTE_\1 = \2", re.sub(r"#define WG_ATTR.*", "", text))


def enumerators():
    for name in FILES:
        for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", text_of(name)):
            for item in body.split(","):
                word = re.match(r"\s*(\w+)", item)
                if word and word.group(1) not in DROPPED:
                    yield word.group(1)


def macros():
    for name in FILES:
        for word in re.findall(r"^#define\s+((?:cuda|CU)\w+)\s+\(?(?:0x)?[0-9]", text_of(name), re.M):
            yield word


def structures():
    """(name as C++ writes it, its plain members)"""
    for name in FILES:
        text = text_of(name)
        for m in re.finditer(r"\b(struct|union)\s+(?:__attribute__\(\(aligned\(\d+\)\)\)\s+)?(\w+)\s*\{", text):
            depth, at = 1, m.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            body = text[m.end():at - 1]
            while re.search(r"\{[^{}]*\}", body):
                body = re.sub(r"(?:struct|union)?\s*\{[^{}]*\}", "int", body)
            members = []
            for statement in body.split(";"):
                for part in statement.split(","):
                    word = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part.strip())
                    if word and word.group(1) not in ("int",) and not statement.strip().startswith("#"):
                        members.append(word.group(1))
            yield m.group(2), members


def program():
    lines = ["#include <cstddef>", "#include <cstdio>", "#include <cuda.h>", "#include <cuda_runtime_api.h>",
             "#include <library_types.h>",
             '#define V(x) printf("%s %lld\\n", #x, (long long)(x));',
             '#define S(x) printf("sizeof %s %zu align %zu\\n", #x, sizeof(x), alignof(x));',
             '#define M(x, m) printf("%s.%s %zu\\n", #x, #m, offsetof(x, m));',
             "int main()", "{"]
    lines += [f"    V({n})" for n in sorted(set(enumerators()) | set(macros()))]
    for name, members in structures():
        if name in DROPPED_STRUCTURES:
            continue
        lines.append(f"    S({name})")
        lines += [f"    M({name}, {m})" for m in members if m not in DROPPED_MEMBERS]
    for v in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float",
              "double"):
        lines += [f"    S({v}{n})" for n in (1, 2, 3)]
    lines += ["    S(char4)", "    S(short4)", "    S(int4)", "    S(float4)", "    S(double4_16a)", "    S(double4_32a)",
              "    S(longlong4_32a)", "    S(dim3)", "}"]
    return "\n".join(lines) + "\n"


def output(include, name, source):
    exe = os.path.join(SCRATCH, name)
    subprocess.run(["c++", "-std=c++17", "-w", "-isystem", include, source, "-o", exe], check=True)
    return subprocess.run([exe], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    theirs = toolkit()
    if not theirs:
        print("skipped: no CUDA 13 toolkit to compare with")
        return 77
    os.makedirs(SCRATCH, exist_ok=True)
    source = os.path.join(SCRATCH, "layout.cpp")
    with open(source, "w", encoding="utf-8") as f:
        f.write(program())
    ours, real = output(OURS, "layout_ours", source), output(theirs, "layout_real", source)
    wrong = [f"ours: {a}   toolkit: {b}" for a, b in zip(ours, real) if a != b]
    print("\n".join(wrong))
    print(f"{len(ours)} values and layouts compared, {len(wrong)} differ")
    return 1 if wrong or len(ours) != len(real) or len(ours) < 1000 else 0


sys.exit(main())
