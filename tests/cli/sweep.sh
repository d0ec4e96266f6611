#!/bin/sh
# sweep.sh: a case over values of its keys: the table, what resumes after a kill, points that fail, mistakes.
. tests/cli_lib.subr
b=$BINNACLE
"$b" new bpm >"$work/case.toml"
set -- "$work/case.toml" --reference --steps 20 --quiet --vary 'light.wavelength=1.5:1.6:6 um' \
    --vary 'structure.2.width=2.5 um,3 um'

ok 'a sweep of 12 points' "$b" sweep "$@" --out "$work/whole" --table port_1,n_eff
ok 'has 13 lines' test "$(wc -l <"$work/whole/sweep.csv")" = 13
ok '... with units' grep -qx 'light.wavelength \[um\],structure.2.width \[um\],port_1,n_eff,reason' "$work/whole/sweep.csv"
ok 'a chart' test -s "$work/whole/port_1.png"
ok 'a report with links to the reports of all points' sh -c 'python3 tests/cli/report.py "$0/whole/report.html" &&
    test "$(grep -c "href=.points/00[01][0-9]/report.html" "$0/whole/report.html")" = 12' "$work"
# The numbers are those of runs by hand.
"$b" run "$work/case.toml" --reference --steps 20 --quiet --out "$work/one" --set light.wavelength='1.54 um' \
    --set structure.2.width='3 um'
ok 'the numbers of a run' sh -c 'grep "^1.54,3," "$1/whole/sweep.csv" |
    grep -q "$(sed -n "s/.*\"port_1\": \([0-9.]*\).*/\1/p" "$1/one/summary.json" | cut -c 1-15)"' sh "$work"
# Killed in the middle, twice, and continued.
for after in 0.4 0.7; do
    timeout -s KILL $after "$b" sweep "$@" --out "$work/killed" --table port_1,n_eff >/dev/null 2>&1
done
there=$(ls "$work/killed/points" 2>/dev/null | wc -l)
ok 'continued' "$b" sweep "$@" --out "$work/killed" --table port_1,n_eff
ok "... from $there points, the same table" cmp "$work/whole/sweep.csv" "$work/killed/sweep.csv"
expect 6 'holds another sweep' 'another sweep does not go on with it' "$b" sweep "$@" --out "$work/killed" \
    --set grid.cells=300
ok '--force begins anew' "$b" sweep "$@" --out "$work/killed" --set grid.cells=300 --force
ok 'all keys together' "$b" sweep "$work/case.toml" --reference --steps 5 --quiet --zip --out "$work/zip" \
    --vary 'light.wavelength=1.5:1.6:3 um' --vary structure.1.width=2e-6,3e-6,4e-6
ok '... values without a unit have that of the key' \
    grep -q '^light.wavelength \[um\],structure.1.width \[m\],' "$work/zip/sweep.csv"
ok '... are three points' test "$(wc -l <"$work/zip/sweep.csv")" = 4
# A time step that no scheme survives: a row with its reason, the others as always.
printf '[case]\nsolver="flow"\n[grid]\nnodes=[17,17]\n' >"$work/flow.toml"
expect 4 '1 of 2 points failed' 'a point that fails' "$b" sweep "$work/flow.toml" --reference --steps 200 --quiet \
    --vary time.dt=1e-3,10 --out "$work/fails"
ok '... has its reason' grep -Eq '^10,,.*[a-z]' "$work/fails/sweep.csv"
ok '... in the report, too' sh -c 'python3 tests/cli/report.py "$0" && grep -q "point 1</a>" "$0" &&
    ! grep -q "point 2</a>" "$0" && grep -q "unstable" "$0"' "$work/fails/report.html"
ok '... the other its numbers' grep -Eq '^0.001,-[0-9.]+,' "$work/fails/sweep.csv"

# A coating of 100 nm on an index of 2.25 reflects nothing at 600 nm where its own is 1.5; the scheme's dispersion with 20
# cells per wavelength, (pi/20)^2/6 = 0.4 %, moves that.
cat >"$work/coat.toml" <<'EOF'
[case]
solver    = "maxwell"
precision = "double"
[grid]
cells   = [1, 1, 80]
spacing = "20 nm"
[light]
wavelength = "600 nm"
[pml]
cells = 10
[structure]
above = "air"
below = "glass"
top   = "800 nm"
[[material]]
name = "air"
n    = 1
[[material]]
name = "glass"
n    = 2.25
[[material]]
name = "coat"
n    = 1.2
[[layer]]
material  = "coat"
thickness = "100 nm"
EOF
best="--reference --vary material.3.n=1.1:2.2 --optimize reflectance=min --evaluations 30"
# shellcheck disable=SC2086 # several words
best() { "$b" sweep "$work/coat.toml" $best --out "$@"; }
expect 0 'smallest: [0-9.]+e-[0-9]+ at material.3.n = 1.49' 'the best index of a coating' best "$work/best"
ok '... as a case of its own' sh -c 'grep -Eq "^n = 1\.(49|50)" "$0" && "$1" check "$0"' "$work/best/best.toml" "$b"
ok '... reflects a thousandth of what index 1.2 does' sh -c '
    python3 -c "import csv, sys; r = [float(l[\"reflectance\"]) for l in csv.DictReader(open(sys.argv[1]))]; assert min(r) < 1e-5 < 1e-2 < max(r)" "$0"' \
    "$work/best/sweep.csv"
ok '... a chart of convergence' test -s "$work/best/convergence.png"
# shellcheck disable=SC2086
timeout -s KILL 0.5 "$b" sweep "$work/coat.toml" $best --out "$work/again" >/dev/null 2>&1
ok 'an optimisation that was killed goes on' best "$work/again" --quiet
ok '... with the same table' cmp "$work/best/sweep.csv" "$work/again/sweep.csv"
ok 'points that fail are rows with their reasons' "$b" sweep "$work/flow.toml" --reference --steps 200 --quiet \
    --vary time.dt=0.001:0.03 --optimize psi_min=max --evaluations 8 --out "$work/unstable"
ok '... the others have values' sh -c 'grep -q ",,.*unstable" "$0" && grep -Eq "^[0-9.e-]+,-?[0-9]" "$0"' "$work/unstable/sweep.csv"
expect 1 'no result .reflectanse.; there are .*reflectance' 'no such result' "$b" sweep "$work/coat.toml" --reference \
    --vary material.3.n=1.1:2 --optimize reflectanse=min --out "$work/none"
expect 1 'expected KEY=FROM:TO' 'bounds with a count' "$b" sweep "$work/coat.toml" --vary material.3.n=1:2:3 --optimize R=max
expect 1 'FROM is not below TO' 'bounds upside down' "$b" sweep "$work/coat.toml" --vary material.3.n=2:1 --optimize R=max
expect 1 'RESULT=max or RESULT=min' 'no direction' "$b" sweep "$work/coat.toml" --vary material.3.n=1:2 --optimize R

expect 1 'needs --vary' 'nothing varied' "$b" sweep "$work/case.toml"
expect 1 'TO is no number' 'half a range' "$b" sweep "$work/case.toml" --vary grid.cells=1:
expect 1 'COUNT is not' 'no count' "$b" sweep "$work/case.toml" --vary grid.cells=1:2:0
expect 1 'no values' 'no values' "$b" sweep "$work/case.toml" --vary grid.cells
expect 1 'no key' 'no key' "$b" sweep "$work/case.toml" --vary 1:2:3
expect 1 'at most 100000 points' 'too many points' "$b" sweep "$work/case.toml" --vary grid.cells=1:2:1000 --vary \
    march.records=1:2:1000
expect 1 'grid.cells has 2 values, march.records has 3' 'lists of two lengths' "$b" sweep "$work/case.toml" --zip --vary grid.cells=100,200 --vary \
    march.records=1,2,3
expect 2 'did you mean .wavelength.' 'a key that is not there' "$b" sweep "$work/case.toml" --vary light.wavelenth=1,2
expect 2 'must be' 'a value out of range, before anything runs' "$b" sweep "$work/case.toml" --vary grid.cells=100,-1 \
    --out "$work/never"
ok '... leaves nothing' test ! -e "$work/never"
expect 1 'there is no result .prot_1.; there are power' 'a result that is not there' "$b" sweep "$@" --out "$work/whole" \
    --table prot_1
finish
