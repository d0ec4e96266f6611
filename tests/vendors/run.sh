#!/bin/sh
# run.sh: `make vendors`. Leaves the programs of all self-test cases in build/vendors/programs, as a GPU would get them, and those
# of a beam whose lines fill 48 KiB of local memory, and compiles them for other vendors (vendors.py). The table of all kernels goes
# to build/vendors/kernels.md.
set -eu
: "${BUILD:=build}" "${BINNACLE:=$PWD/$BUILD/binnacle}"
work=$PWD/$BUILD/vendors
rm -rf "$work"
mkdir -p "$work/programs" "$work/cache"
export BINNACLE_PROGRAMS="$work/programs" BINNACLE_DEVICE_TYPE=gpu XDG_CACHE_HOME="$work/cache" POCL_CACHE_DIR="$work/cache"
for solver in $(sed -n 's/^BN_SOLVER(\(.*\)).*/\1/p' src/sim/solvers.def); do
    for precision in single double; do
        echo "programs of $solver, $precision precision"
        "$BINNACLE" self-test "$solver" --device "${DEVICE:-Portable}" --precision $precision
    done
done
echo 'programs of bpm, 1,024 nodes a line'
"$BINNACLE" verify data/cases/bpm/selftest-space.toml --device "${DEVICE:-Portable}" --steps 1 --quiet --set grid.cells=1025 \
    --set grid.width=260e-6 --set grid.cells_x=8 --set walls.kind=metal
exec python3 tests/vendors/vendors.py --programs "$work/programs" --out "$work/kernels.md"
