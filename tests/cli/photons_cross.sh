#!/bin/sh
# photons_cross.sh: xray with a density that is cut into slabs, one on each device: the bits of the run with all of it on one
# device, on parts of a CPU that stand for several devices and on ranks; what a density that is too large for one device says, and
# that it runs on two.
. tests/cli_lib.subr
. tests/cli_devices.subr
# shellcheck disable=SC2034 # same() reads it
first=whole

# cut NAME: whether that run's density was cut
cut() { grep -q '"a slab on each"' "$work/$1/summary.json"; }

# try NAME OPTIONS COMMAND...: with slabs
try()
{
    name=$1 more="$common $2"
    shift 2
    ok "$case $common: $name runs" run_as "$name" "$@"
    ok "$case $common: $name has the same bits" same "$name"
    ok "$case $common: $name is cut" cut "$name"
}

slabs='--set solver.density=slabs'

# Across y: several scatterings, polarised, a coherence time.
case=data/cases/xray/selftest.toml common=''
more='--set solver.density=whole'
ok "$case: the whole density" run_as whole "$BINNACLE"
try parts3 "$slabs --device all" env BINNACLE_PARTITION=3 "$BINNACLE"
[ $mpi = no ] || try ranks3 "$slabs" mpirun -n 3 "$BINNACLE"
if [ -n "${BN_TEST_LONG:-}" ]; then
    try one "$slabs" "$BINNACLE"
    try parts2 "$slabs --device all" env BINNACLE_PARTITION=2 "$BINNACLE"
    try reference "$slabs --reference" "$BINNACLE"
    [ $mpi = no ] || try both "$slabs --device all" env BINNACLE_PARTITION=4 mpirun -n 2 "$BINNACLE"
fi

# What three devices began, one ends.
more="$slabs --device all --set output.checkpoint=true --steps 2"
ok "$case: two steps on three devices" run_as begun env BINNACLE_PARTITION=3 "$BINNACLE"
# shellcheck disable=SC2086
ok "$case: the rest on one" "$BINNACLE" run $case --out "$work/begun" --quiet --resume $slabs \
    --set output.every=0 --set output.pictures=false --set output.checkpoint=true
ok "$case: the bits of one device" same begun

# Across z, in double precision: photons that go everywhere.
if [ -n "${BN_TEST_LONG:-}" ]; then
    case=data/cases/xray/selftest-slabs.toml common='--set case.precision=double'
    more="$common --set solver.density=whole"
    ok "$case: the whole density" run_as whole "$BINNACLE"
    try parts4 '--device all' env BINNACLE_PARTITION=4 "$BINNACLE"
    [ $mpi = no ] || try ranks4 '' mpirun -n 4 "$BINNACLE"
fi

# Across x, where all photons cross, and more than one device has room for: the case does not ask for slabs.
case=data/cases/xray/selftest.toml
common='--set density.cells=[40000,8,8] --set density.cell=[1e-11,4e-9,5e-9] --set density.value=1e-4 --set flight.block=4'
# shellcheck disable=SC2086
bytes=$("$BINNACLE" check $case $common --json 2>/dev/null | tr -d '\n' | sed 's/.*"device_bytes": *\([0-9]*\).*/\1/')
ok 'check tells the bytes, the density among them' test "$bytes" -gt $((4 * 40000 * 4 * 8))
limit=$((bytes * 9 / 10))
# shellcheck disable=SC2034 # run_as reads it
more="$common"
ok 'a large density: with all memory it runs' run_as whole "$BINNACLE"
ok 'a large density: then it is not cut' test "$(cut whole; echo $?)" = 1
# shellcheck disable=SC2086
expect 3 'on 2 such devices' 'too large for one device: how many it takes' \
    env BINNACLE_DEVICE_BYTES=$limit "$BINNACLE" run $case $common --out "$work/big" --quiet
try two '--device all' env BINNACLE_DEVICE_BYTES=$limit BINNACLE_PARTITION=2 "$BINNACLE"
[ $mpi = no ] || try ranks '' env BINNACLE_DEVICE_BYTES=$limit mpirun -n 2 "$BINNACLE"
# shellcheck disable=SC2086
expect 3 'no coarser grid makes room$' 'all of it on each device: no number is enough' \
    env BINNACLE_DEVICE_BYTES=$limit "$BINNACLE" run $case $common --set solver.density=whole --out "$work/big" --quiet
finish
