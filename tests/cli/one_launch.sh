#!/bin/sh
# one_launch.sh: many steps of bpm in space in one launch (solver.launches = "one"), here by a single work-group of the kernels of GPUs: the bits of the
# reference, with records that begin along x and along y; a cross-section that is not square goes without.
. tests/cli_lib.subr
export BINNACLE_DEVICE_TYPE=gpu
expect 0 '0 failed' 'a square cross-section' "$BINNACLE" verify data/cases/bpm/selftest-square.toml --set solver.launches=one
"$BINNACLE" run data/cases/bpm/selftest-square.toml --set solver.launches=one --profile --out "$work/one" >"$work/log" 2>&1
ok 'its steps are one launch a record' grep -q 'bpm_steps *5 ' "$work/log"
ok 'and no other' sh -c '! grep bpm_half_step "$1"' sh "$work/log"
expect 0 '0 failed' 'one that is not square' "$BINNACLE" verify data/cases/bpm/selftest-space.toml --precision single --set solver.launches=one
finish
