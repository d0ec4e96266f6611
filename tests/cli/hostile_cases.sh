#!/bin/sh
# hostile_cases.sh: cases and files that `check` and `run` did not end with; each ends within seconds.
. tests/cli_lib.subr
b=$BINNACLE

# Killed, not asked to end: a program in an endless loop does not get to it.
soon() { timeout -s KILL "$@"; }

# ends CODES TEXT WHAT COMMAND...: as `expect`, with several codes
ends() {
    codes=$1 text=$2 what=$3
    shift 3
    "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    ok "$what: exit $got, one of $codes" expr " $codes " : ".* $got "
    ok "$what: $text" grep -Eq "$text" "$work/out" "$work/err"
}

# --- bpm: an end of a structure far behind the last step was no integer any more
for length in 1e-30 5e-324; do
    printf '[case]\nsolver = "bpm"\n[material]\nindex = 1.45\n[march]\nlength = %s\n[[structure]]\nindex = 1.46
width = "3 um"\nto = "50 um"\n' $length >"$work/short.toml"
    expect 0 '^steps: 1' "bpm: check of $length m" soon 20 "$b" check "$work/short.toml"
    ends '0 4' . "bpm: run of $length m" soon 60 "$b" run "$work/short.toml" --out "$work/short" --force
done

# --- geometries in each other: the time of GEOS grew with the square of the depth, and its stack with the depth
nested() { # DEPTH FILE
    python3 -c "
import sys
n = int(sys.argv[1])
print('# plan\n' + ' GEOMETRYCOLLECTION (' * n + 'POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))' + ')' * n)" $1 >"$2"
}
printf '[case]\nsolver = "flood"\n[grid]\nspacing = 1\n[[storey]]\nplan = "plan.wkt"\nheight = 0\n' >"$work/plan.toml"
nested 14 "$work/plan.wkt"
expect 0 'steps' 'collections in each other' soon 20 "$b" check "$work/plan.toml"
for depth in 15 1000 200000; do
    nested $depth "$work/plan.wkt"
    ends '2 6' 'plan.wkt, line 2, column [0-9]+, shape 1: more than 16 brackets' "$depth collections" \
        soon 20 "$b" check "$work/plan.toml"
done

# --- what is no file: a pipe that nobody writes to, a device without an end
mkfifo "$work/pipe.png" "$work/pipe.tif" "$work/pipe.h5"
for mask in "$work/pipe.png" /dev/zero; do
    expect 6 'cannot read' "flow: mask $mask" soon 20 "$b" check "$root/data/cases/flow/obstacle.toml" \
        --set "obstacle.mask=\"$mask\""
done
for file in tif h5; do
    expect 6 'it is no file' "xray: density from pipe.$file" soon 20 "$b" check "$root/data/cases/xray/starter.toml" \
        --set 'density.kind="file"' --set "density.file=\"$work/pipe.$file\""
done

# --- HDF5 1.10 crashes over an attribute with more data than its message holds; others may read the rest, or refuse it
cp "$root/tests/fuzz/corpus/openpmd/attribute-freed" "$work/damaged.h5"
expect '[06]' . 'plot of a damaged HDF5 file' soon 20 "$b" plot "$work/damaged.h5" --out "$work/damaged"
expect '[0236]' . 'density from a damaged HDF5 file' soon 20 "$b" check "$root/data/cases/xray/starter.toml" \
    --set 'density.kind="file"' --set "density.file=\"$work/damaged.h5\""

# --- links in an output folder: nothing is written or removed behind them
mkdir "$work/mine"
: >"$work/mine/flow-000001.vti"
"$b" run "$root/data/cases/flow/selftest.toml" --out "$work/linked" -q --reference --steps 1 >"$work/log" 2>&1
rm -rf "$work/linked/fields"
ln -s "$work/mine" "$work/linked/fields"
expect 6 'linked/fields is a symbolic link' 'a link in an output folder' \
    "$b" run "$root/data/cases/flow/selftest.toml" --out "$work/linked" -q --reference --steps 1 --force
ok '... keeps what it leads to' test -e "$work/mine/flow-000001.vti" -a "$(ls "$work/mine" | wc -l)" = 1

# --- counted, not looked at
cells() { # CASE KEY=VALUE WHAT: ends, with either verdict on this device
    ends '0 3' 'GiB' "$3" soon 10 "$b" check "$root/data/cases/$1.toml" --set "$2"
}
cells flow/cavity-re1000 'grid.nodes=[16384,16384]' 'flow of 2^28 nodes'
cells flow/cavity-re1000 'grid.nodes=[32768,32768]' 'flow of 2^30 nodes'
cells flood/lake-at-rest 'grid.cells=[65536,4096]' 'flood of 2^28 cells'
finish
