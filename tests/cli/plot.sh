#!/bin/sh
# plot.sh: `plot` draws all of a run's folder, slices of three dimensions, logarithms and ranges; a file that is refused
# does not stop the others.
. tests/cli_lib.subr
b=$BINNACLE
drawn() { test "$(find "$work/$1" -name '*.png' | wc -l)" = "$2"; }

ok 'a run in two dimensions' "$b" run data/cases/flow/selftest.toml --reference --quiet --steps 4 --out "$work/flow" \
    --set output.every=2 --set output.pictures=false
columns=$(awk -F, 'FNR == 1 { n += NF - 1 } END { print n }' "$work/flow"/*.csv)
arrays=$(cat "$work/flow"/fields/*.vti | grep -c '<DataArray.*NumberOfComponents')
ok 'its folder' "$b" plot "$work/flow" --out "$work/p-flow"
ok '... all columns and fields' drawn p-flow $((columns + arrays))
ok 'one field of a folder' "$b" plot "$work/flow" --field psi --out "$work/p-psi"
ok '... of two output times' drawn p-psi 2
expect 1 'nothing there' 'a folder without a run' "$b" plot tests/cli
expect 6 '2 of 3 files were not drawn' 'files that are refused' "$b" plot "$work/none.vti" "$work/flow/series.csv" \
    Makefile --field residual --out "$work/p-some"
ok '... do not stop the others' drawn p-some 1
ok '... and are told' sh -c 'grep -q "cannot read .*none.vti" "$0" && grep -q "Makefile: plot takes" "$0"' "$work/err"

# E = (x + 10 y + 100 z) of nodes 0 ... 2, 0 ... 3, 0 ... 4 at distances of 1, 2, 3 m: a slice has the values that stand there.
python3 - "$work/cube.vti" <<'PY'
import sys
values = " ".join(str(x + 10 * y + 100 * z) for z in range(5) for y in range(4) for x in range(3))
open(sys.argv[1], "w").write('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian">\n'
    '<ImageData WholeExtent="0 2 0 3 0 4" Origin="0 0 0" Spacing="1 2 3"><Piece Extent="0 2 0 3 0 4"><PointData>'
    '<DataArray type="Float64" Name="E" format="ascii">' + values + '</DataArray></PointData></Piece></ImageData></VTKFile>\n')
for name, rows in (("middle", [[x + 10 * y + 200 for x in range(3)] for y in range(4)]),
                   ("side", [[10 * y + 100 * z + 1 for y in range(4)] for z in range(5)])):
    h = "1 2" if name == "middle" else "2 3"
    n = "0 %d 0 %d 0 0" % (len(rows[0]) - 1, len(rows) - 1)
    open(sys.argv[1].replace("cube", name), "w").write('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" '
        'byte_order="LittleEndian">\n<ImageData WholeExtent="%s" Origin="0 0 0" Spacing="%s 1"><Piece Extent="%s"><PointData>'
        '<DataArray type="Float64" Name="E" format="ascii">' % (n, h, n) + " ".join(str(v) for r in rows for v in r)
        + '</DataArray></PointData></Piece></ImageData></VTKFile>\n')
PY
# pixels FILE: of the field, without titles and axes: columns right of those, rows below them
colours() { python3 tests/cli/frame.py "$1"; }
ok 'the middle of a cube' "$b" plot "$work/cube.vti" --out "$work/p"
ok '... as a file of its own' "$b" plot "$work/middle.vti" --out "$work/p"
ok '... with the same colours' sh -c 'test -n "$1" && test "$1" = "$2"' sh "$(colours "$work/p/cube-E.png")" \
    "$(colours "$work/p/middle-E.png")"
ok 'a slice across x' "$b" plot "$work/cube.vti" --slice x=1.2 --out "$work/p"
ok 'the same as a file' "$b" plot "$work/side.vti" --out "$work/p"
ok '... with the same colours' sh -c 'test -n "$1" && test "$1" = "$2"' sh "$(colours "$work/p/cube-E.png")" \
    "$(colours "$work/p/side-E.png")"
ok 'another range' "$b" plot "$work/cube.vti" --slice x=1.2 --range 0:1000 --out "$work/p"
ok '... has others' sh -c 'test "$1" != "$2"' sh "$(colours "$work/p/cube-E.png")" "$(colours "$work/p/side-E.png")"
ok 'logarithms' "$b" plot "$work/cube.vti" "$work/flow/series.csv" --log --range 1:1000 --out "$work/p"
expect 6 'reaches from 0 to 12 m' 'a slice outside' "$b" plot "$work/cube.vti" --slice z=14 --out "$work/p"
expect 1 'like z=0.5' 'a slice that is none' "$b" plot "$work/cube.vti" --slice w=1
expect 1 'LOW below HIGH' 'no range' "$b" plot "$work/cube.vti" --range 1:1
expect 1 'above 0' 'no range for logarithms' "$b" plot "$work/cube.vti" --range 0:1 --log
finish
