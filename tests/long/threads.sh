#!/bin/sh
# threads.sh: ThreadSanitizer over the threads of the program: writers, rows in parallel, checkpoints beside steps, several
# devices, a sweep of several points at once, programs compiled beside children. It builds a program of its own, in
# build/san-thread.
. tests/cli_lib.subr
unset MAKEFLAGS MAKELEVEL BUILD
ok 'a program with ThreadSanitizer' make -s DEPS=skip SAN=thread build/san-thread/binnacle build/san-thread/tests/unit/test_builds
[ "$failed" = 0 ] || { finish; exit; }
b=build/san-thread/binnacle
export BINNACLE_SELFTEST=off
export TSAN_OPTIONS="suppressions=$root/tests/threads.supp exitcode=66 ignore_noninstrumented_modules=1"
all='--set output.every=1 --set output.hdf5=true --set output.tiff=true --checkpoint-every 1 -q'
# quiet COMMAND...: whether ThreadSanitizer has nothing to say (66), and the run ends as it should
quiet() { "$@" && return; [ $? = 4 ]; }
for solver in flow flood maxwell xray bpm; do
    case=data/cases/$solver/selftest.toml
    # shellcheck disable=SC2086 # options
    ok "$solver" quiet "$b" run "$case" --out "$work/$solver" --steps 2 $all
    # shellcheck disable=SC2086
    ok "$solver, guarded, from its checkpoint" quiet "$b" run "$case" --out "$work/$solver" --resume --guard 1 $all
    # shellcheck disable=SC2086
    ok "$solver on three devices" quiet env BINNACLE_PARTITION=3 "$b" run "$case" --device all --out "$work/three" --force --steps 4 $all
    # shellcheck disable=SC2086
    ok "$solver without OpenCL" quiet "$b" run "$case" --reference --out "$work/reference" --force --steps 4 $all
done
# shellcheck disable=SC2086
ok 'flood, fluxes ahead, on three devices' quiet env BINNACLE_PARTITION=3 "$b" run data/cases/flood/selftest-ahead.toml --device all \
    --out "$work/ahead" --steps 4 --set grid.cells=[70,60] --set solver.ahead=10000 $all
# shellcheck disable=SC2086
ok 'flow, columns cut, on three devices' quiet env BINNACLE_PARTITION=3 "$b" run data/cases/flow/selftest-split.toml --device all \
    --out "$work/cut" --set grid.nodes=[5,3137] --set grid.size=[0.4,313.6] $all
ok 'a sweep' quiet "$b" sweep data/cases/bpm/selftest.toml --jobs 3 -q --steps 2 --out "$work/sweep" --vary material.index=1.44:1.46:4
ok 'programs compiled beside children' env BINNACLE="$root/$b" build/san-thread/tests/unit/test_builds
finish
