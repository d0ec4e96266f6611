#!/bin/sh
# local_memory.sh: a device with the 32 KiB of local memory that OpenCL 1.2 promises gets other forms of the kernels than one with 48 KiB,
# and the same bits; kernels that do not fit are refused when they are made. The kernels are those of GPUs, unless said.
. tests/cli_lib.subr
if [ -n "${SAN:-}" ]; then # sanitizers want to be loaded before all else
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
ok 'faults/opencl' "${CC:-cc}" -std=gnu11 -O1 -shared -fPIC -o "$work/opencl.so" tests/faults/opencl.c -ldl -pthread
export BINNACLE_DEVICE_TYPE=gpu
small() { env BN_PRETEND=local LD_PRELOAD="$work/opencl.so" "$@"; }
"$BINNACLE" devices 0 | awk '/local memory/ { exit !($4 == "MiB" || $3 >= 48) }' && plenty=yes || plenty=no

# lines NAME COMMAND...: a beam in space, 1,024 nodes a line along y; its programs go to a folder NAME
lines()
{
    export BINNACLE_PROGRAMS="$work/$1"
    shift
    mkdir -p "$BINNACLE_PROGRAMS"
    "$@" verify data/cases/bpm/selftest-space.toml --steps 1 --quiet --set grid.cells=1025 --set grid.width=260e-6 --set grid.cells_x=8 \
        --set walls.thickness=7e-7
    code=$?
    unset BINNACLE_PROGRAMS
    return $code
}
# held NAME BYTES: lines of 1,024 nodes that are held at once, with BYTES a real number
held()
{
    for options in "$work/$1"/*.opt; do
        tr ' ' '\n' <"$options" | awk -F = -v bytes="$2" '{ o[$1] = $2 } END { if (o["-DNX"] == 1024 && o["-DREAL_BYTES"] == bytes) print o["-DHELD"] }'
    done
}
fewer() { [ "$(held small "$1")" -lt "$(held large "$1")" ]; }

expect 0 '' 'lines of 1,024 nodes with 32 KiB' lines small small "$BINNACLE"
if [ $plenty = yes ]; then
    expect 0 '' 'the same with what there is' lines large "$BINNACLE"
    ok 'fewer lines are held where local memory is less, single precision' fewer 4
    ok 'the same in double precision' fewer 8
fi
expect 0 '' 'as many chunks as there may be fit' small "$BINNACLE" verify data/cases/bpm/selftest.toml --quiet --steps 1 \
    --set grid.cells=1025 --set solver.chunk=2
expect 0 '' 'in lines that go by in windows, too' small "$BINNACLE" verify data/cases/bpm/selftest-windows.toml --quiet --steps 1 \
    --precision single --set grid.cells_x=2049 --set grid.cells=9 --set solver.chunk=2
# A CPU whose local memory holds no line keeps the chunks of lines in memory, one after the other.
apart()
{
    export BINNACLE_PROGRAMS="$work/apart"
    mkdir -p "$BINNACLE_PROGRAMS"
    env -u BINNACLE_DEVICE_TYPE "$@" --quiet --steps 1 --set grid.cells=1025
    code=$?
    unset BINNACLE_PROGRAMS
    return $code
}
without_lanes() { grep -q -e -DLANES_FIT=0 "$work"/apart/bpm*.opt; }
expect 0 '' 'lines on a CPU with 32 KiB' apart env BN_PRETEND=local LD_PRELOAD="$work/opencl.so" "$BINNACLE" verify \
    data/cases/bpm/selftest.toml
ok 'they are no lanes' without_lanes
# In double precision they need the more.
set -- --precision double
[ -z "${BN_TEST_LONG:-}" ] || set --
expect 0 '' 'hexagons with 32 KiB' small "$BINNACLE" verify data/cases/flood/selftest.toml --quiet "$@"
finish
