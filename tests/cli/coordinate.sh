#!/bin/sh
# coordinate.sh: a beam goes along z, and nothing that the program says or writes calls that a time; complex fields go to
# TIFF and HDF5.
. tests/cli_lib.subr
b=$BINNACLE
case=$root/data/cases/bpm/selftest.toml
out=$work/out-bpm

expect 0 'ended by: steps' 'two steps of a beam' "$b" run "$case" --out "$out" --steps 2 --checkpoint-every 1
expect 0 'going on from step 2, z = 1e-06 m:' 'resumed at a z' "$b" run "$case" --out "$out" --resume \
    --set output.tiff=true --set output.hdf5=true
ok 'series: z [m], once' grep -Eq '^step[^,]*,z \[m\],residual[^,]*,power' "$out/series.csv"
ok '... and no time' sh -c '! grep -q time "$0/series.csv"' "$out"
ok 'summary: z' grep -Eq '"z": 1\.[45][0-9]*e-0?6,' "$out/summary.json"
ok '... and no time' sh -c '! grep -q "\"time\":" "$0/summary.json"' "$out"
for part in re im; do
    ok "TIFF of a beam in a plane: $part" test -s "$out/fields/envelope-$part-000003.tif"
done
for part in real imag; do
    ok "HDF5: $part" grep -q "$part" "$out/fields/fields-3.h5"
done
expect 0 'ended by: z' 'stop.time is a z' "$b" run "$case" --out "$work/stopped" --set stop.time=9e-7

# Time stays time elsewhere.
"$b" run "$root/data/cases/flow/selftest.toml" --out "$work/flow" --steps 2 -q
ok 'series of a flow: time [s]' grep -Eq '^step[^,]*,time \[s\],' "$work/flow/series.csv"
finish
