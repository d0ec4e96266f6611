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
expect 1 'no field and no column of a table there is called `nosuch`' 'a field that is not there' "$b" plot "$work/flow" --field nosuch
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
# The plane x + 10 y + 200 along a line: from (0, 0) to (2, 6) of 2 x 3 steps of 1 and 2 m.
ok 'along a line' "$b" plot "$work/middle.vti" --line 0,0:2,6 --out "$work/p" --format svg
ok '... as SVG' python3 -c 'import sys, xml.dom.minidom as x; assert x.parse(sys.argv[1]).documentElement.tagName == "svg"' \
    "$work/p/middle-E-line.svg"
ok 'two runs in one chart, as PDF' "$b" plot "$work/flow" "$work/flow/series.csv" --field residual --overlay --out "$work/p" --format pdf
ok '... is one' sh -c 'head -c 5 "$0" | grep -q %PDF-' "$work/p/series-residual.pdf"
ok 'times of a run as one animation' "$b" plot "$work/flow" --field psi --animate --out "$work/p-animated"
ok '... without its frames' sh -c 'test "$(ls -A "$0")" = animation-psi.png && grep -qa acTL "$0/animation-psi.png"' "$work/p-animated"
expect 0 'series-000|psi' 'the files of a .pvd' "$b" plot "$work/flow/fields.pvd" --field psi --out "$work/p-pvd" --colours sequential
ok '... both' drawn p-pvd 2
ok 'flood, with all its files' "$b" run data/cases/flood/selftest.toml --reference --quiet --out "$work/flood" \
    --set output.pictures=false --set output.ugrid=true --set output.hdf5=true
layers=$(ls "$work/flood"/*.nc)
ok 'layers of NetCDF' "$b" plot $layers --field depth --out "$work/p-flood"
ok 'hexagons of VTK' "$b" plot "$work/flood"/fields/*.vtu --field depth --out "$work/p-flood"
ok 'HDF5' "$b" plot "$work/flood"/fields/*.h5 --field depth --out "$work/p-flood"
ok '... all drawn' drawn p-flood $(($(echo "$layers" | wc -l) + 2))
# Pictures that wait when a run ends are drawn once, to the scale of all; on the reference each is drawn at its time.
for engine in '' --reference; do
    ok "a film of a run $engine" "$b" run data/cases/flow/starter.toml $engine --steps 500 --set output.every=50 --quiet \
        --out "$work/film$engine"
done
ok '... with the same pictures' diff -r "$work/film/pictures" "$work/film--reference/pictures"
ok '... of each time' test "$(find "$work/film/pictures" -name 'temperature-*.png' | grep -c .)" = 10
expect 1 'sequential, diverging or cyclic' 'no colour map' "$b" plot "$work/cube.vti" --colours jet
expect 1 'mp4 goes with --animate' 'no film of one picture' "$b" plot "$work/cube.vti" --format mp4
expect 1 'two places in m' 'no line' "$b" plot "$work/cube.vti" --line 0,0:1
expect 1 'has 3 dimensions' 'a line of two coordinates in three dimensions' "$b" plot "$work/cube.vti" --line 0,0:1,1 --out "$work/p"
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
