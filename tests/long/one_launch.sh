#!/bin/sh
# one_launch.sh: steps of flow in one launch (solver.launches = "one") by a single work-group, where several could not wait for
# each other: the bits of the reference. On devices whose work-groups run side by side the conformance suite sees to it.
. tests/cli_lib.subr
for heat in 0.07 0; do
    expect 0 '0 failed' "diffusivity $heat" "$BINNACLE" verify "$root/data/cases/flow/selftest-step.toml" --set solver.launches=one \
        --set "fluid.diffusivity=$heat"
done
finish
