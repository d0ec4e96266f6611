#!/bin/sh
# stop.sh: SIGTERM and Ctrl-C end a run soon, also where a step takes long: what stands in the queue is bounded, and a long
# batch of photons is left in its middle, from where --resume goes on. MOMENTS=10 (tests/long/stop.sh): as often, at random
# moments, and within 2 s and a step.
. tests/cli_lib.subr
b=$BINNACLE

moments=${MOMENTS:-1} moment=0
# One thread of PoCL is as busy as all: what is computed until the signal comes is thrown away.
[ "$moments" -gt 1 ] || export POCL_MAX_PTHREAD_COUNT=1

# begun FOLDER: waits until the steps have begun, and a moment
begun()
{
    wait_for "$1/.binnacle-lock"
    if [ "$moments" = 1 ]; then sleep 1; else sleep "$(awk -v seed=$moment 'BEGIN { srand(seed); print 3 * rand() }')"; fi
}

# ends SIGNAL CODE WORD WHAT FOLDER OPTION...: a run that would take hours, ended by a signal; 20 s are a guard against a hang
ends()
{
    signal=$1 code=$2 word=$3 what=$4 out=$5
    shift 5
    rm -f "$out/.binnacle-lock"
    "$b" run "$@" --out "$out" -q >"$work/log" 2>&1 &
    pid=$!
    begun "$out"
    kill -"$signal" $pid
    asked=$(date +%s%N)
    (sleep 20 && kill -KILL $pid) 2>/dev/null &
    guard=$!
    wait $pid
    got=$?
    took=$((($(date +%s%N) - asked) / 1000000))
    kill $guard 2>/dev/null
    ok "$what: $signal exits $code (here $got)" test $got = "$code"
    ok "... and says so" grep -q "$word after step" "$work/log"
    ok "... in the summary too" grep -q "\"exit_code\": $code" "$out/summary.json"
    ok "... and leaves a checkpoint" test -s "$out/checkpoint/manifest.json"
    if [ "$moments" -gt 1 ]; then
        ok "... within 2 s and a step ($took ms)" python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
assert float(sys.argv[2]) <= 2000 + 1000 * s["timings"]["steps"] / max(s["steps"], 1), s["timings"]' "$out/summary.json" "$took"
    fi
}

# terminated WHAT FOLDER OPTION...: by SIGTERM, at each of the moments
terminated()
{
    what=$1 out=$2
    shift 2
    for moment in $(seq "$moments"); do
        rm -rf "$out"
        ends TERM 143 terminated "$what" "$out" "$@"
    done
}

# Photons that are scattered some eighty times each: a batch of 67 million takes minutes.
cat >"$work/turbid.toml" <<'CASE'
[case]
solver = "xray"
[density]
kind  = "slab"
cells = [60, 60, 60]
cell  = ["1 mm", "1 mm", "1 mm"]
value = 0.633955
absorption = 0.005
[source]
wavelength = 1e-6
profile    = "pencil"
photons    = 1e11
[scattering]
order     = "multiple"
angle     = "henyey-greenstein"
g         = 0.01
theta_max = 3.14159265358979
[detector]
cells      = [256, 256]
cell_angle = 1e-3
spacing    = "lengths"
distance   = 1000
beam_stop  = 0
[output]
pictures = false
CASE
photons()
{
    python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["results"]["photons"]))' "$1/summary.json"
}
terminated 'xray' "$work/turbid" "$work/turbid.toml" --set source.batch=1024
first=$(photons "$work/turbid")
ok "... in the middle of a batch ($first photons)" test "$first" -gt 0 -a "$first" -lt 67108864
ends INT 130 interrupted 'xray, gone on with' "$work/turbid" "$work/turbid.toml" --set source.batch=1024 --resume
second=$(photons "$work/turbid")
ok "... with more photons ($second)" test "$second" -gt "$first"

# Each step is two launches that no one waits for; some 20 ms on two cores.
cat >"$work/cube.toml" <<'CASE'
[case]
solver = "maxwell"
[grid]
cells   = [128, 128, 128]
spacing = "10 nm"
[light]
wavelength = "600 nm"
[solver]
watch_every = 100000
[output]
pictures = false
[stop]
steps = 1000000
CASE
[ "$moments" = 1 ] || set -- --set 'grid.cells=[64, 64, 64]' # a checkpoint of 25 MB instead of 200
terminated 'maxwell' "$work/cube" "$work/cube.toml" --set output.vtk=false "$@"
terminated 'flow' "$work/cavity" data/cases/flow/cavity-re3200.toml
terminated 'flood' "$work/bowl" data/cases/flood/bowl.toml --set stop.time=44857.014655
terminated 'bpm' "$work/coupler" data/cases/bpm/coupler.toml --set "march.length=10 m" --set march.records=100000
finish
