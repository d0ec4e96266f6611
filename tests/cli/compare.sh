#!/bin/sh
# compare.sh: `compare` tells apart what differs between two runs, by how much and where, and fails by the tolerance.
. tests/cli_lib.subr
b=$BINNACLE
"$b" new bpm >"$work/case.toml"
for run in one two; do
    ok "run $run" "$b" run "$work/case.toml" --reference --quiet --steps 5 --out "$work/$run" --set output.pictures=false
done
ok 'another wavelength' "$b" run "$work/case.toml" --reference --quiet --steps 5 --out "$work/other" \
    --set output.pictures=false --set light.wavelength=1.56e-6
ok 'a key of an item of a list' "$b" run "$work/case.toml" --reference --quiet --steps 5 --out "$work/guide" \
    --set output.pictures=false --set 'structure.2.width=2 um' --set structure.2.width=2.5e-6
expect 0 'structure.2.width +3e-6 m +2.5e-6 m' '... the last --set counts' "$b" compare "$work/one" "$work/guide"
expect 2 'of which the file has 2 items' 'an item that is not there' "$b" check "$work/case.toml" --set structure.3.width=1
expect 2 'unknown key `widht`.*`width`' 'a key that is not there' "$b" check "$work/case.toml" --set structure.1.widht=1
ok 'other cells' "$b" run "$work/case.toml" --reference --quiet --steps 5 --out "$work/cells" \
    --set output.pictures=false --set grid.cells=300
ok 'equal runs, no tolerance at all' "$b" compare "$work/one" "$work/two" --tolerance 0
expect 0 'no key differs' 'equal runs' "$b" compare "$work/one" "$work/two"
expect 0 'light.wavelength +1.55e-6 m +1.56e-6 m' 'the key that differs' \
    "$b" compare "$work/one" "$work/other" --out "$work/pictures"
ok 'the largest difference of a field has its place' grep -Eq 'envelope 1 +largest at \([0-9.e-]+\) m +L1 ' "$work/out"
ok '... pictures stand behind what differs' sh -c 'sed -n "/^fields/,\$p" "$0" | grep -q "^pictures of the differences:"' "$work/out"
ok '... and a picture' test -s "$work/pictures/intensity.vti-intensity-difference.png"
expect 5 'things differ by more than the tolerance of 1e-06' 'beyond the tolerance' \
    "$b" compare "$work/one" "$work/other" --tolerance 1e-6
expect 5 '299 x 1 x 1|beyond' 'another grid' "$b" compare "$work/one" "$work/cells" --tolerance 1
expect 0 '"beyond_tolerance": false' 'for scripts' "$b" compare "$work/one" "$work/other" --json
ok 'a difference that is known: a value moved by 1' python3 - "$work" <<'PY'
import json, os, re, subprocess, sys
work = sys.argv[1]
path = os.path.join(work, "two", "powers.csv")
lines = open(path).read().splitlines()
row = lines[3].split(",")
row[1] = repr(float(row[1]) + 1)
lines[3] = ",".join(row)
open(path, "w").write("\n".join(lines) + "\n")
out = subprocess.run([os.environ["BINNACLE"], "compare", work + "/one", work + "/two", "--json"], capture_output=True, text=True)
found = json.loads(out.stdout)["tables"]
assert [t["name"] for t in found] == ["powers.csv: power"], found
assert abs(found[0]["largest"] - 1) < 1e-12, found
PY
expect 6 'not the folder of a run' 'no run' "$b" compare "$work" "$work/one"
expect 1 'expected a number' 'no tolerance' "$b" compare "$work/one" "$work/two" --tolerance much
expect 0 'all equal' 'two files' "$b" compare "$work/one/intensity.vti" "$work/two/intensity.vti"
# Files made here: a cube of 2 x 3 x 2 nodes with one more array, and one half a step away.
python3 - "$work" <<'PY'
import sys
def write(name, arrays, origin="0 0 0"):
    open(sys.argv[1] + "/" + name, "w").write('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" '
        'byte_order="LittleEndian">\n<ImageData WholeExtent="0 1 0 2 0 1" Origin="%s" Spacing="1 1 1"><Piece '
        'Extent="0 1 0 2 0 1"><PointData>' % origin + "".join('<DataArray type="Float64" Name="%s" format="ascii">%s</DataArray>'
        % (n, " ".join(str(v) for v in values)) for n, values in arrays) + '</PointData></Piece></ImageData></VTKFile>\n')
write("a.vti", [("E", range(12))])
write("b.vti", [("E", [v + (v == 9) for v in range(12)]), ("H", range(12))])
write("moved.vti", [("E", range(12))], "0.5 0 0")
PY
expect 5 'H +in the second alone' 'what the second alone has' "$b" compare "$work/a.vti" "$work/b.vti" --tolerance 1e9
expect 0 'E +largest at .1, 1, 1. m' 'the largest difference in three dimensions' "$b" compare "$work/a.vti" "$work/b.vti" --out "$work/cube"
ok '... as a picture' test -s "$work/cube/E-difference.png"
expect 5 'other places' 'the same values elsewhere' "$b" compare "$work/a.vti" "$work/moved.vti" --tolerance 1e9
ok 'flood twice' sh -c 'for k in 1 2; do "$0" run data/cases/flood/selftest.toml --reference --quiet --steps 2 --out "$1/flood$k" \
    --set output.pictures=false --set output.hdf5=true --set fluid.manning=0.0$k || exit; done' "$b" "$work"
expect 5 'binnacle: 1 thing differs' 'hexagons of VTK and HDF5 hold the same values; HDF5 says nothing of shifted rows' \
    "$b" compare "$work/flood1"/fields/*.vtu "$work/flood1"/fields/*.h5 --tolerance 0 --field depth
expect 0 'velocity 1 +largest at' 'hexagons differ' "$b" compare "$work/flood1" "$work/flood2" --out "$work/hexagons"
ok '... in pictures' sh -c 'ls "$0"/*depth-difference.png' "$work/hexagons"
finish
