#!/bin/sh
# one_launch.sh: steps of flow, or its direct solutions, and steps of bpm in space in one launch (solver.launches = "one") by a single work-group, where
# several could not wait for each other: the bits of the reference. On devices whose work-groups run side by side the conformance suite sees to it.
. tests/cli_lib.subr
cases=$root/data/cases/flow
expect 0 '0 failed' 'with heat' "$BINNACLE" verify "$cases/selftest-step.toml" --set solver.launches=one
expect 0 '0 failed' 'without heat' "$BINNACLE" verify "$cases/cavity-re1000.toml" --set solver.launches=one \
    --set 'grid.nodes=[33, 65]' --set solver.steady_tolerance=0 --set stop.steps=40
expect 0 '0 failed' 'rows that are split' "$BINNACLE" verify "$cases/selftest-split.toml" --set solver.launches=one --set stop.steps=6
expect 0 '0 failed' 'rows that are split twice' "$BINNACLE" verify "$cases/selftest-step.toml" --set solver.launches=one \
    --set 'grid.nodes=[106, 22]' --set case.precision=double
for case in obstacle fft convolved direct; do
    expect 0 '0 failed' "direct solutions, $case" "$BINNACLE" verify "$cases/selftest-$case.toml" --set solver.launches=one
done
expect 0 '0 failed' "Newton's method, by GMRES" "$BINNACLE" verify "$cases/cavity-re100.toml" --steps 3 --set solver.launches=one \
    --set solver.steady=newton --set 'grid.nodes=[33, 29]'
export BINNACLE_DEVICE_TYPE=gpu
square=$root/data/cases/bpm/selftest-square.toml
for set in walls.kind=pml launch.kind=mode march.records=1 march.records=10 solver.chunk=5; do
    expect 0 '0 failed' "a beam in space, $set" "$BINNACLE" verify "$square" --set solver.launches=one --set "$set"
done
expect 0 '0 failed' 'with work-groups of eight' "$BINNACLE" verify "$square" --set solver.launches=one --work-group 8
finish
