"""Our own small programs, one for each group of headers, compile with clang alone, and their PTX has what they say.

In each file, `// wants: REGEX` must be found in its PTX and `// never: REGEX` must not.
usage: headers_test.py INCLUDE_CUDA SCRATCH FILE.cu..."""
import os
import re
import shutil
import subprocess
import sys

INCLUDE, SCRATCH, FILES = sys.argv[1], sys.argv[2], sys.argv[3:]
CLANG = next(filter(None, map(shutil.which, ("clang++-19", "clang++-18", "clang++-17", "clang++-16"))), None)


def compile_with(source, *args):
    """Messages of the compiler, or None when it was content. No toolkit: what lies in /usr/local is not searched."""
    command = [CLANG, "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "--cuda-gpu-arch=sm_90",
               "-std=c++17", "-Wall", "-Werror", "-isystem", INCLUDE, "-include", "cuda_runtime.h",
               "-Xclang", "-target-sdk-version=11.0", "-Wno-unused-but-set-variable", *args, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr


def check(source):
    name = os.path.splitext(os.path.basename(source))[0]
    ptx, obj = (os.path.join(SCRATCH, name + e) for e in (".ptx", ".o"))
    wrong = compile_with(source, "--cuda-device-only", "-S", "-O3", "-Xclang", "-target-feature", "-Xclang", "+ptx78",
                         "-o", ptx)
    wrong = wrong or compile_with(source, "--cuda-host-only", "-c", "-O1", "-Xclang", "-fcuda-include-gpubinary",
                                  "-Xclang", ptx, "-o", obj)
    if wrong:
        return [wrong]
    with open(source, encoding="utf-8") as f:
        rules = re.findall(r"^// (wants|never): (.*?)\n", f.read(), re.M)
    with open(ptx, encoding="utf-8") as f:
        text = f.read()
    return [f"{kind} {what!r}" for kind, what in rules if (re.search(what, text) is None) == (kind == "wants")]


def main():
    if not CLANG:
        print("skipped: no clang++-19, -18, -17 or -16 in PATH")
        return 77
    os.makedirs(SCRATCH, exist_ok=True)
    failed = 0
    for source in FILES:
        wrong = check(source)
        print(f"{'FAIL' if wrong else 'ok  '} {os.path.basename(source)}", *wrong, sep="\n     ")
        failed += bool(wrong)
    print(f"{len(FILES)} files, {failed} failed")
    return 1 if failed or not FILES else 0


sys.exit(main())
