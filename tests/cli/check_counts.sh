#!/bin/sh
# check_counts.sh: `check` counts huge grids without memory for them, and says on how many devices they fit; `run` refuses them
# before it takes any; `check --measure` runs steps, and its time follows from them.
. tests/cli_lib.subr
b=$BINNACLE
d=$root/data/cases

# A program that allocates a byte for each of these cells gets none: 1.5 GB of address space hold it and the OpenCL libraries.
small() { ( ulimit -v 1500000 && exec "$@" ); }

# On a device with more memory than this the grids here fit, and are counted all the same.
memory=$("$b" devices --json | sed -n 's/^ *"bytes": \([0-9]*\),*/\1/p' | head -n 1)
too_large=3 and_says=', but on [0-9]+ such devices'
[ "${memory:-0}" -lt 20000000000 ] || too_large='[03]' and_says=''

# counts CASE KEY=VALUE...: too large for a device, for so many of these together not
counts()
{
    case=$1
    shift
    set -- "$@" END
    while [ "$1" != END ]; do
        set -- "$@" --set "$1"
        shift
    done
    shift
    expect "$too_large" "fits|does not fit$and_says" "$case: how many devices" small "$b" check "$d/$case.toml" "$@"
    ok "$case: and that cells were not looked at" grep -q 'counted, not looked at' "$work/out"
}
counts flow/cavity-re1000 'grid.nodes=[32768,32768]'
counts flow/obstacle 'grid.nodes=[32768,32768]'
counts flow/channel-heat 'grid.nodes=[32768,32768]'
counts flood/lake-at-rest 'grid.cells=[65536,65536]'
counts flood/valley 'grid.cells=[65536,65536]'
counts flood/house 'grid.spacing=2 mm'
counts bpm/fibre-3d grid.cells=16384 grid.cells_x=16384 grid.width=4e-3 grid.width_x=4e-3
counts maxwell/solar-cell 'grid.cells=[2000,2000,2000]'
counts maxwell/sphere-n1.5 'grid.cells=[2000,2000,2000]'
expect 3 'points needs .* GiB.*such devices' 'run refuses it, too' small "$b" run "$d/maxwell/stack-600nm.toml" \
    --set 'grid.cells=[2000,2000,2000]' --out "$work/none"
ok 'nothing was created' test ! -e "$work/none"
# The density of a shape is that of the box around it.
expect 0 'counted, not looked at' 'xray: a ball in 2^30 cells' small "$b" check "$d/xray/sphere.toml" --set 'density.cells=[1024,1024,1024]'
ok '... of which photons visit the box around it, a cell wider' grep -q 'visit, at most: 140608$' "$work/out"
expect "$too_large" 'fits|does not fit' 'xray: a detector of 2^28 cells' small "$b" check "$d/xray/sphere.toml" \
    --set 'detector.cells=[16384,16384]' --set detector.cell_angle=1e-6
# What counting finds for 2^3 times the cells is 8 times what looking at them finds, but for the margins around a grid, which
# weigh twice as much in the small one: rows of 256 take 288 places, of 512 544; 258 and 514 rows.
bytes() { "$b" check "$@" --json 2>/dev/null | sed -n 's/.*"device_bytes": *\([0-9]*\).*/\1/p'; }
looked=$(bytes "$d/maxwell/stack-600nm.toml" --set 'grid.cells=[256,256,400]')
counted=$(bytes "$d/maxwell/stack-600nm.toml" --set 'grid.cells=[512,512,800]')
ok "maxwell: $counted bytes counted, $looked looked at" test $((counted / looked)) = 7 -a $((counted / 75)) -gt $((looked / 10))

# --- several devices: by the model, large grids gain, small ones do not
several() { expect 0 "devices 0,1 .*$1" "on two devices: $2" env BINNACLE_PARTITION=2 "$b" check "$d/$3.toml" --device 0,1 --set "$4"; }
several '2 of them make a step (1.[5-9][0-9]*|2) times as fast as one' '128 million cells' maxwell/stack-600nm 'grid.cells=[512,512,512]'
several 'one alone is as fast' 'a direct solver' flow/cavity-re1000 'grid.nodes=[257,257]'
BINNACLE_PARTITION=2 "$b" check "$d/maxwell/stack-600nm.toml" --device 0,1 --set 'grid.cells=[512,512,512]' --json >"$work/several.json"
ok '... and in JSON' grep -q '"taken": 2' "$work/several.json"

# --- time: not without --measure, and then from steps that were run
# It measures for three seconds: one thread of PoCL is enough to be busy for so long.
export POCL_MAX_PTHREAD_COUNT=1
case=$d/flow/selftest.toml
expect 0 'not known before steps have run: binnacle check --measure' 'check runs nothing' "$b" check "$case"
expect 0 'measured: the first step in .* more in' 'measured' "$b" check "$d/bpm/coupler.toml" --measure
cat >"$work/sum.py" <<'END'
import json, sys
t = json.load(sys.stdin)["time"]
rest = 0 if t["ended"] else (t["steps"] - t["measured_steps"]) * t["seconds_per_step"]
total = t["first_step_seconds"] + t["measured_seconds"] + rest
ok = t["measured_steps"] >= 2 and abs(t["seconds"] / total - 1) < 1e-9
ok = ok and t["steps"] == float(sys.argv[1]) and t["until_converged"] == (sys.argv[2] == "open")
sys.exit(0 if ok else str(t))
END
# sum STEPS open|known CASE OPTION...
sum()
{
    steps=$1 kind=$2 what=$3
    shift 2
    "$b" check "$@" --measure --json 2>"$work/err" | python3 "$work/sum.py" $steps $kind >"$work/log" 2>&1
    ok "$what: $steps steps, $kind: $(cat "$work/log")" test ! -s "$work/log"
}
sum 1400000 open "$d/maxwell/selftest.toml" --set stop.steps=200000 --set light.until=700e-9 --set light.count=7 \
    --set solver.epsilon=1e-30
sum 12000 known "$d/flood/stoker.toml" --set stop.time=12 --set time.interval=0.001
finish
