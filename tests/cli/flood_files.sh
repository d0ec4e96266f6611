#!/bin/sh
# flood_files.sh: what the solver flood reads and writes, as the program does it: plans of polygons and of pictures
# that make no sense (exit 2, storey and pixel or line named), meshes and outlines of each storey, none of them half
# written.
. tests/cli_lib.subr
b=$BINNACLE
cases=$root/data/cases/flood
cp "$cases"/house*.png "$cases"/station-* "$cases"/building-1.png "$cases/valley.tif" "$work"

# --- outputs
ok 'a station of polygons' "$b" run "$cases/station.toml" --reference --quiet --out "$work/station" \
    --set grid.spacing=1 --set stop.time=6 --set output.every=3 --set output.pictures=false --set output.first=true
for file in storey1.nc storey2.nc outlines.csv outlines/flooded-storey1-000000.wkt \
    outlines/flooded-storey2-000006.wkt; do
    ok "$file" test -s "$work/station/$file"
done
ok 'an empty storey has an empty outline' \
    grep -qx 'MULTIPOLYGON EMPTY' "$work/station/outlines/flooded-storey1-000006.wkt"
ok 'a wet one has polygons' grep -q '^MULTIPOLYGON (((' "$work/station/outlines/flooded-storey2-000006.wkt"
ok 'three times, two storeys' test "$(wc -l <"$work/station/outlines.csv")" = 7
ok 'no temporary file stays' sh -c '! ls -A "$0" | grep -q tmp' "$work/station"
if command -v ncdump >/dev/null; then
    ok 'three times in the mesh' sh -c 'ncdump -h "$0" | grep -q "3 currently"' "$work/station/storey1.nc"
fi
ok 'the folder again, with fewer times' "$b" run "$cases/station.toml" --reference --quiet --out "$work/station" \
    --force --set grid.spacing=1 --set stop.time=3 --set output.pictures=false --set output.ugrid=false
ok 'old outlines are gone' sh -c 'test "$(ls "$0")" = "flooded-storey1-000003.wkt
flooded-storey2-000003.wkt"' "$work/station/outlines"
ok 'three storeys as pictures of a TIFF' "$b" run "$cases/house.toml" --reference --quiet --out "$work/house" --steps 1 \
    --set output.tiff=true --set output.vtk=false --set output.pictures=false
ok '... all of them on the map' python3 -c '
import struct, sys
data, pages = open(sys.argv[1], "rb").read(), []
at = struct.unpack_from("<I", data, 4)[0]
while at:
    count = struct.unpack_from("<H", data, at)[0]
    pages.append({struct.unpack_from("<H", data, at + 2 + 12 * n)[0] for n in range(count)})
    at = struct.unpack_from("<I", data, at + 2 + 12 * count)[0]
assert len(pages) == 3 and all({33550, 33922, 42113} <= page for page in pages), pages' "$work/house/fields/depth-000001.tif"
# Stopped after seven of twelve steps and gone on with: the files of an undisturbed run.
short="--reference --quiet --set grid.spacing=1 --set stop.time=12 --set output.every=2"
short="$short --set output.pictures=false"
ok 'a run' "$b" run "$cases/station.toml" $short --out "$work/whole" --set output.checkpoint=true
ok 'the same, stopped' "$b" run "$cases/station.toml" $short --out "$work/parts" --set output.checkpoint=true --steps 7
ok '... and gone on with' \
    "$b" run "$cases/station.toml" $short --out "$work/parts" --set output.checkpoint=true --resume
for file in storey1.nc storey2.nc outlines.csv outlines/flooded-storey2-000004.wkt; do
    ok "$file is the same" cmp "$work/whole/$file" "$work/parts/$file"
done
expect 6 'storey1.nc' 'a full disk' \
    sh -c 'ulimit -f 8; exec "$0" run "$1" --reference --quiet --out "$2" --set grid.spacing=0.5 --set stop.time=1 \
        --set output.pictures=false' "$b" "$cases/station.toml" "$work/full"
ok 'no part of a mesh under its name' sh -c '! ls "$0"/*.nc 2>/dev/null' "$work/full"
ok 'a valley from a GeoTIFF' "$b" run "$cases/valley.toml" --reference --quiet --out "$work/valley" \
    --set grid.spacing=8 --set 'grid.cells=[79,57]' --set stop.time=3 --set output.pictures=false
ok '... in its coordinate system' grep -aq 'EPSG:25832' "$work/valley/storey1.nc"

# --- plans that make no sense
wrong() # SED-SCRIPT TEXT WHAT [CASE]
{
    sed "$1" "$cases/${4:-house}.toml" >"$work/bad.toml"
    expect 2 "$2" "$3" "$b" run "$work/bad.toml" --out "$work/none"
}
wrong 's/#ffcc00/#ffcc01/' 'storey 1: the pixel in column [0-9]+, row [0-9]+ has the colour #ffcc00' \
    'unknown colour'
wrong 's/house-2/building-1/' 'storey 2: the plan has [0-9]+ x [0-9]+ pixels, those below have' \
    'pictures of different size'
wrong 's/house-2/station-1/; s/station-1.png/station-1.wkt/; s/house-1/house-3/' \
    'storey 1: the stair in column' 'a stair downwards from below'
wrong '0,/at     = .*/s//at     = ["200 m", "4 m"]/' \
    'source 1: \(200 m, 4 m\) lies outside of storey 1' 'source outside'
wrong '0,/storey = 1/s//storey = 4/' 'source 1: there are only 3 storeys' 'source in no storey'
wrong '0,/at     = .*/s//at     = ["0 m", "0 m"]/' \
    'source 1: .*lies in a wall of storey 1 \(column 0, row [0-9]+\)' 'source in a wall'
wrong 's/^colour = "#ff0000"/colour = "red"/' 'six hexadecimal digits' 'colour of another kind'
wrong 's/^height = "3.5 m"/height = "9 m"/' 'from the lowest to the highest' 'storeys in disorder'
wrong 's/name = "kiosk"/name = "kiosc"/' \
    'storey 2: station-2.csv, line 15, shape 14: the meaning "kiosk".*did you mean .kiosc' \
    'unknown meaning' station
sed 's/38 20, 37 18, 38 16)/38 20, 37 18)/' "$cases/station-2.csv" >"$work/station-2.csv"
wrong '' 'station-2.csv, line 15, shape 14 \(kiosk\): .*closed' 'a ring that is not closed' station
wrong 's/5312002 m/5311950 m/' 'the terrain reaches from' 'a domain that the terrain does not cover' valley
wrong 's/valley.tif/house-1.png/' 'house-1.png' 'a terrain that is none' valley
wrong 's/^kind   = "terrain"/kind   = "slope"/' 'belongs to kind = "terrain"' 'a file for a slope' valley
ok 'nothing was created' test ! -e "$work/none"
finish
