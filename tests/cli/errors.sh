#!/bin/sh
# errors.sh: everything that users and machines do to a program: a clear message, the documented exit code, no crash,
# and no partial file under its final name.
. tests/cli_lib.subr
b=$BINNACLE
case=$root/data/cases/flow/selftest.toml

# --- command line: 1
expect 1 'binnacle run' 'no arguments' "$b"
expect 1 'did you mean `verify`' 'unknown command' "$b" verfy
expect 1 'did you mean `--steps`' 'unknown option' "$b" run --stpes 3 "$case"
expect 1 'needs a value' 'option without its value' "$b" run "$case" --steps
expect 1 'whole number' 'number with a tail' "$b" run "$case" --steps 3x
expect 1 'whole number' 'negative steps' "$b" run "$case" --steps -3
expect 1 'whole number' 'number too large' "$b" run "$case" --boxes 99999999999999999999
expect 1 '64x1' 'work-group of nothing' "$b" run "$case" --work-group 0x1
expect 1 'KEY=VALUE' 'set without a value' "$b" run "$case" --set grid.nodes
expect 1 'takes no --measure' 'option of another command' "$b" verify "$case" --measure
expect 1 'did you mean `flow`' 'unknown solver' "$b" new flwo
for command in run verify check devices new plot bench completion; do
    expect 0 '130 interrupted' "help of $command" "$b" "$command" --help
done
expect 0 'binnacle [0-9]' 'version' "$b" --version
expect 0 'case.solver|solver' 'options behind arguments' "$b" check "$case" --json

# --- case file: 2, and nothing is created; a file that can't be read: 6
expect 6 'nowhere.toml' 'missing file' "$b" run "$work/nowhere.toml" --out "$work/none"
expect 6 "$work" 'folder instead of a file' "$b" check "$work"
printf '[case\nsolver = "flow"\n' >"$work/broken.toml"
expect 2 'broken.toml:1' 'broken TOML' "$b" run "$work/broken.toml" --out "$work/none"
sed 's/^nodes/noeds/' "$case" >"$work/unknown.toml"
expect 2 'unknown.toml:[0-9]+.*did you mean `nodes`' 'unknown key' "$b" run "$work/unknown.toml" --out "$work/none"
expect 2 'grid' 'negative size' "$b" run "$case" --set 'grid.nodes=[-5,13]' --out "$work/none"
"$b" check "$case" --set 'grid.nodes=[1000000,1000000]' >"$work/out" 2>"$work/err"
code=$?
ok 'a grid of 10^6 x 10^6' test "$code" = 2 -o "$code" = 3
ok '... says what would do' grep -Eq 'fit|must be|from' "$work/err"
ok 'nothing was created' test ! -e "$work/none"

# --- a folder that may not be written to is refused before anything is built; programs that are, are recorded
"$b" run "$case" --reference --steps 1 --quiet --out "$work/held" >/dev/null 2>&1
mkdir "$work/programs"
expect 6 'holds the results of an earlier run' 'folder of an earlier run' \
    env BINNACLE_PROGRAMS="$work/programs" "$b" run "$case" --steps 1 --out "$work/held"
ok '... before programs are built' test -z "$(ls "$work/programs")"
env BINNACLE_PROGRAMS="$work/programs" "$b" run "$case" --steps 1 --force --quiet --out "$work/held" >/dev/null 2>&1
ok '... which are there where it goes on' test -n "$(ls "$work/programs")"

# --- scripts: with --json a failure is a document on stdout, and the exit code is the same
printf '[case]\nsolver = "flow"\n[grid]\nnodes = [2, 13]\n[fluid]\nviscosty = 1\n' >"$work/wrong.toml"
tell() { # WHAT CODE PYTHON COMMAND...: the last line (of run), or all of stdout, is `d`; python asserts
    told=$1 code=$2 check=$3
    shift 3
    "$@" >"$work/stdout" 2>"$work/err"
    ok "$told: exit code" test $? = "$code"
    ok "$told: document" python3 -c "
import json, sys
text = open(sys.argv[1]).read()
d = json.loads(text if text.startswith('{\n') else text.splitlines()[-1])
assert d['exit_code'] == $code and d['status'] and d['error'] and len(d['errors']) > 0, d
assert all(set(e) == {'file', 'set', 'line', 'column', 'key', 'message'} and e['message'] for e in d['errors']), d
$check" "$work/stdout"
}
places="
where = [(e['line'], e['column'], e['key']) for e in d['errors'][:2]]
assert where == [(4, 10, 'grid.nodes'), (6, 1, 'fluid.viscosty')], d
assert d['errors'][0]['file'].endswith('wrong.toml') and d['errors'][0]['set'] is None, d
assert (d['errors'][-1]['file'], d['errors'][-1]['set'], d['errors'][-1]['key']) == (None, 'grid.x=3', 'grid.x'), d"
for command in run check verify tune; do
    tell "wrong case, $command --json" 2 "$places" "$b" $command --json "$work/wrong.toml" --set grid.x=3
done
tell 'wrong case, run --json: an event' 2 "assert d['event'] == 'end', d" "$b" run --json "$work/wrong.toml"
tell 'case that contradicts itself, check --json' 2 "assert d['errors'][0]['key'], d" \
    "$b" check --json "$case" --set 'grid.size=["1 m","1e-9 m"]' --set 'boundary.left.kind="inflow"'
tell 'missing case, run --json' 6 "assert 'nowhere' in d['error'], d" "$b" run --json "$work/nowhere.toml"
tell 'unknown device, devices --json' 3 "assert 'nosuchdevice' in d['error'], d" "$b" devices --json nosuchdevice
tell 'unknown device, run --json' 3 "assert d['steps'] == 0 and d['summary'] is None, d" \
    "$b" run --json "$case" --device nosuchdevice --out "$work/none"
tell 'unknown solver, bench --json' 1 "assert 'nosuch' in d['error'], d" "$b" bench --json nosuch
tell 'option without its value' 1 "assert 'needs a value' in d['error'], d" "$b" check --json "$case" --set
ok 'nothing was created' test ! -e "$work/none"

# --- devices and kernels: 3
mkdir "$work/empty" "$work/bad"
echo /nonexistent/libnone.so >"$work/bad/bad.icd"
for vendors in empty bad; do
    expect 3 'OpenCL' "no platform ($vendors): run" env OCL_ICD_VENDORS="$work/$vendors" \
        "$b" run "$case" --out "$work/none"
    expect 3 'OpenCL' "no platform ($vendors): verify" env OCL_ICD_VENDORS="$work/$vendors" "$b" verify "$case"
    expect 3 'OpenCL' "no platform ($vendors): devices" env OCL_ICD_VENDORS="$work/$vendors" "$b" devices
    expect 0 'no OpenCL device' "no platform ($vendors): check" env OCL_ICD_VENDORS="$work/$vendors" "$b" check "$case"
    expect 0 '' "no platform ($vendors): --reference" env OCL_ICD_VENDORS="$work/$vendors" \
        "$b" run "$case" --reference --out "$work/reference-$vendors"
    ok '... with a summary' test -s "$work/reference-$vendors/summary.json"
done
expect 3 'libnone' 'devices --check names the broken file' env OCL_ICD_VENDORS="$work/bad" "$b" devices --check
expect 3 '/nonexistent' 'kernel override that is not there' env BINNACLE_KERNEL_PATH=/nonexistent "$b" run "$case" \
    --out "$work/none"
expect 3 'nosuchdevice' 'unknown device' "$b" run "$case" --device nosuchdevice --out "$work/none"
ok 'nothing was created' test ! -e "$work/none"

# --- not converged: 4; what did converge is there
expect 4 'not converged within 860 steps each: wavelength 700 nm;' 'a sweep with a wavelength that does not converge' \
    "$b" run "$root/data/cases/maxwell/selftest.toml" --reference --out "$work/sweep" --set stop.steps=860 \
    --set light.wavelength=600e-9 --set light.until=700e-9 --set light.count=2 --set solver.epsilon=1e-4
ok '... is named in sweep.csv' grep -Eq '^7e-07,860,.*,0$' "$work/sweep/sweep.csv"
ok '... and leaves the other its row' grep -Eq '^6e-07,0?\.[0-9]+' "$work/sweep/spectrum.csv"

# --- files: 6
: >"$work/file"
expect 6 'file' 'output below a regular file' "$b" run "$case" --reference --out "$work/file/sub"
expect 6 '/proc' 'output where nothing can be written' "$b" run "$case" --reference --out /proc/binnacle
# A disk that is full, by the limit on a file's size (blocks of 512 bytes).
expect 6 'small' 'full disk' \
    sh -c 'ulimit -f 1; exec "$0" run "$1" --reference --quiet --set "grid.nodes=[120,120]" --out "$2"' \
    "$b" "$case" "$work/small"
ok 'no part of a field under its final name' sh -c '! ls "$0"/fields/*.vti 2>/dev/null' "$work/small"
expect 6 'standard output' 'stdout is closed' sh -c 'exec "$0" new flow >&-' "$b"
if [ -c /dev/full ]; then
    expect 6 'standard output' 'stdout is full' sh -c 'exec "$0" check "$1" --json >/dev/full' "$b" "$case"
fi
expect 6 'no.vti' 'plot of a missing file' "$b" plot "$work/no.vti"
expect 1 'plot takes' 'plot of something else' "$b" plot "$case"

# --- data that the messages name are where the user has the program
printf '\n[[material]]\nname = "silver"\ntable = "Au-Nobody1900"\n' >"$work/table.part"
cat "$root/data/cases/maxwell/selftest.toml" "$work/table.part" >"$work/table.toml"
expect 2 'unknown material Ag-Jonson1972; did you mean "Ag-Johnson1972"[?] there are vacuum, .*c-Si-Green2008' 'a misspelt material' \
    "$b" check "$root/data/cases/maxwell/selftest.toml" --set structure.below=Ag-Jonson1972
expect 2 'no file Au-Nobody1900.*Ag-Johnson1972, .*c-Si-Green2008' 'unknown table of a material' \
    "$b" check "$work/table.toml"
"$b" check "$work/table.toml" 2>"$work/listed"
DESTDIR=$work/installed PREFIX=/usr BUILD=$(dirname "$b") VERSION=0.1.0 SOVERSION=0.1 LIBS='' \
    sh "$root/host/build/install.sh" install >"$work/out" 2>"$work/err"
for file in "$root"/data/materials/*.csv; do
    name=$(basename "$file" .csv)
    ok "$name is installed" test -s "$work/installed/usr/share/binnacle/materials/$name.csv"
    ok "... and named" grep -q "$name" "$work/listed"
done
finish
