#!/bin/sh
# schemas.sh: what scripts read fits the schemas in data/schemas, of every solver, and of failures; tune.sh and bench.sh have
# theirs.
. tests/cli_lib.subr
b=$BINNACLE
fits() { python3 tests/cli/fits.py "$1" "data/schemas/$2.json"; }

for solver in bpm flood flow maxwell xray; do
    ok "$solver" "$b" run data/cases/$solver/selftest.toml --reference --steps 2 --quiet --out "$work/$solver"
    ok '... its summary.json fits' fits "$work/$solver/summary.json" summary
    "$b" check data/cases/$solver/selftest.toml --json >"$work/check.json"
    ok '... what check says, too' fits "$work/check.json" check
done
ok 'on a device' "$b" run data/cases/flow/selftest.toml --steps 2 --quiet --out "$work/device"
ok '... fits' fits "$work/device/summary.json" summary
ok 'a run that diverges' sh -c '"$0" run data/cases/flow/selftest-newton.toml --reference --steps 200 --set stop.steps=1 --quiet \
    --out "$1" 2>"$1.err"; test $? = 4' "$b" "$work/diverged"
ok '... fits' fits "$work/diverged/summary.json" summary
"$b" check data/cases/bpm/selftest.toml --measure --json >"$work/check.json"
ok 'check --measure fits' fits "$work/check.json" check
"$b" check data/cases/bpm/selftest.toml --set grid.cels=3 --json >"$work/check.json" 2>"$work/err"
ok 'a case that is refused fits' fits "$work/check.json" check
"$b" devices --json >"$work/devices.json"
ok 'devices fit' fits "$work/devices.json" devices
"$b" devices nosuch --json >"$work/devices.json" 2>"$work/err"
ok 'a device that is not there fits' fits "$work/devices.json" devices
ok 'a document of another kind does not fit' sh -c '! python3 tests/cli/fits.py "$0/bpm/summary.json" data/schemas/devices.json' "$work"
finish
