#!/bin/sh
# Measures a GPU's latencies, rates and cache traffic for the time model: ./run.sh OUT [ARCH]. Needs nvcc and ncu; a few
# minutes. OUT gets cycles.csv, {launches,pairs}.csv (labels in launch order) and {launches,pairs}.ncu.csv (ncu's rows).
set -eu
out=${1:?usage: run.sh OUT [ARCH]}
arch=${2:-sm_90}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
nvcc -arch="$arch" -O3 -lineinfo "$here/hw_time.cu" -o "$out/hw_time"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv > "$out/device.csv" || true
echo "what,label,a,b,value,unit" > "$out/cycles.csv"
timeout 100 "$out/hw_time" cycles >> "$out/cycles.csv" || echo "cycles stopped with $?" >&2
m=gpu__time_duration.sum,sm__cycles_elapsed.max,sm__cycles_active.avg,smsp__inst_executed.sum
m=$m,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
m=$m,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum
m=$m,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum
m=$m,lts__t_sectors_srcunit_tex_lookup_hit.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
m=$m,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum,dram__bytes_read.sum,dram__bytes_write.sum
m=$m,launch__shared_mem_config_size,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum
for part in pairs launches; do
    [ $part = pairs ] && n=lts__t_sectors_srcunit_tex_op_read.sum || n=$m
    timeout 200 ncu --clock-control none -k 'regex:^t_' --csv --page raw --print-units base --metrics "$n" \
        --log-file "$out/$part.ncu.csv" "$out/hw_time" $part > "$out/$part.csv" || echo "$part stopped with $?" >&2
    sed -i '/^==/d' "$out/$part.csv"
done
ls -l "$out"
