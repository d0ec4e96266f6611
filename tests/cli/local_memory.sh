#!/bin/sh
# local_memory.sh: a device with the 32 KiB of local memory that OpenCL 1.2 promises gets other forms of the kernels than one with 48 KiB,
# and none that does not fit: a run is refused where one needs more than the device says. The kernels are those of GPUs.
. tests/cli_lib.subr
export BINNACLE_DEVICE_TYPE=gpu
small=32768 large=49152

# wide NAME LOCAL_BYTES OPTIONS...: a beam in space, 1,024 nodes a line along y, on a device with so much local memory
wide()
{
    mkdir -p "$work/$1"
    env BINNACLE_PROGRAMS="$work/$1" BINNACLE_DEVICE_LOCAL="$2" "$BINNACLE" verify data/cases/bpm/selftest-space.toml --steps 1 --quiet \
        --set grid.cells=1025 --set grid.width=260e-6 --set grid.cells_x=8 --set walls.thickness=7e-7
}
# held NAME BYTES: lines of 1,024 nodes that are held at once, with BYTES a real number
held()
{
    for options in "$work/$1"/*.opt; do
        tr ' ' '\n' <"$options" | awk -F = -v bytes="$2" '{ o[$1] = $2 } END { if (o["-DNX"] == 1024 && o["-DREAL_BYTES"] == bytes) print o["-DHELD"] }'
    done
}
fewer() { [ "$(held small "$1")" -lt "$(held large "$1")" ]; }

expect 0 '' 'lines of 1,024 nodes with 48 KiB' wide large $large
expect 0 '' 'the same with 32 KiB' wide small $small
ok 'fewer lines are held where local memory is less, single precision' fewer 4
ok 'the same in double precision' fewer 8
expect 3 'needs [0-9]+ bytes of local memory' 'a kernel that does not fit is refused' wide none 4096
expect 0 '' 'as many chunks as there may be fit' env BINNACLE_DEVICE_LOCAL=$small "$BINNACLE" verify data/cases/bpm/selftest.toml --quiet \
    --steps 1 --set grid.cells=1025 --set solver.chunk=2
expect 0 '' 'hexagons with 32 KiB' env BINNACLE_DEVICE_LOCAL=$small "$BINNACLE" verify data/cases/flood/selftest.toml --quiet
finish
