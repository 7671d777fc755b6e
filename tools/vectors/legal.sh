#!/bin/bash
# legal.sh - assembles every variant of legal.def with ptxas and lists those it refuses: legal.sh [ARCH], else sm_90.
# The table is right when nothing is listed. Needs ptxas and cc; takes a minute or two.
set -u
arch=${1:-sm_90}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc -O1 -std=gnu11 -D_GNU_SOURCE -I"$root/src" -I"$root/include" "$root"/tests/ref/{gen,variant,pool,kernel}.c \
    "$root/src/isa/isa.c" -o "$tmp/gen" || exit 2
count=$("$tmp/gen" count)
step=200
bad=0
for ((from = 0; from < count; from += step)); do
    "$tmp/gen" module "$from" $((from + step)) | sed "s/^\.target .*/.target $arch/" >"$tmp/m.ptx"
    ptxas -arch="$arch" -O1 "$tmp/m.ptx" -o /dev/null 2>"$tmp/err" && continue
    # report: the variant whose entry holds the line, once, with the first complaint
    awk -v bad="$tmp/bad" 'NR == FNR { if (match($0, /^\/\/ [0-9]+ /)) name[FNR] = $0; lines = FNR; next }
        match($0, /line [0-9]+;/) { n = substr($0, RSTART + 5, RLENGTH - 6) + 0
            while (n > 0 && !(n in name)) n--
            sub(/.*; */, ""); if (!(n in seen)) { seen[n] = 1; print name[n] "  |  " $0 } next }
        !/aborted/ { print "?? " $0 }' "$tmp/m.ptx" "$tmp/err" >"$tmp/out"
    cat "$tmp/out"
    bad=$((bad + $(wc -l <"$tmp/out")))
done
echo "$count variants, $bad refused for $arch"
[ "$bad" = 0 ]
