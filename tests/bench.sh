#!/bin/sh
# bench.sh: how far the kernels of each solver are from the limit of a device: the time of every kernel by device events,
# the bytes it must move, and the share of the measured copy bandwidth that makes. Never part of the tests.
#   make bench            on the device that `auto` picks
#   DEVICE=gpu make bench
set -eu
: "${BINNACLE:=build/binnacle}" "${DEVICE:=auto}" "${SIZES:=257 1025 4097}" "${STEPS:=20}"
# Every solver by the clock: sizes and precision can be chosen, see the heads of tests/bench/bench_*.c.
missing=0
for program in ${BENCH:-}; do
    "$program" "$DEVICE" || missing=1
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
"$BINNACLE" devices --measure
for precision in single double; do
    for n in $SIZES; do
        echo
        echo "flow, cavity Re 1000, $n x $n nodes, $precision, $STEPS steps"
        "$BINNACLE" run data/cases/flow/cavity-re1000.toml --device "$DEVICE" --out "$work/$precision-$n" --steps "$STEPS" \
            --set "grid.nodes=[$n,$n]" --set "case.precision=$precision" --set time.dt=0 --set output.pictures=false \
            --set output.vtk=false --profile --quiet || echo "  not available here"
    done
done
[ "$missing" = 0 ] || echo 'bench: some rows are not shown; the reasons stand in their places' >&2
exit "$missing"
