#!/bin/sh
# Measures rates of requests, chases and L1 loops: ./requests.sh OUT [ARCH] writes OUT/requests.csv; half a minute.
set -eu
out=${1:?usage: requests.sh OUT [ARCH]}
here=$(cd "$(dirname "$0")" && pwd)
nvcc -arch="${2:-sm_90}" -O3 "$here/requests.cu" -o /tmp/hw_requests
timeout 60 /tmp/hw_requests > "$out/requests.csv"
