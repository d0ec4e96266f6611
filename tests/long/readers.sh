#!/bin/sh
# readers.sh: the files of runs opened by VTK, meshio, GDAL, MDAL, xarray and the validator of openPMD, each where it is installed.
# $BINNACLE_TEST_PYTHON is a Python that has them (pip install vtk meshio h5py netCDF4 xarray xugrid rasterio openpmd-validator;
# rasterio brings GDAL).
. tests/cli_lib.subr
b=$BINNACLE
python=${BINNACLE_TEST_PYTHON:-python3}
skipped=0
# with MODULE WHAT CODE FILE...: a Python text on files
with()
{
    if ! "$python" -c "import $1" 2>/dev/null; then
        skipped=$((skipped + 1))
        return
    fi
    code="import sys, $1
$3"
    what=$2
    shift 3
    ok "$what" "$python" -c "$code" "$@"
}
for solver in bpm flood flow maxwell xray; do
    more=
    [ $solver != flood ] || more='--set output.ugrid=true'
    # shellcheck disable=SC2086 # several words
    ok "$solver" "$b" run data/cases/$solver/selftest.toml --reference --steps 2 --quiet --out "$work/$solver" --set output.hdf5=true \
        --set output.tiff=true $more
    for file in "$work/$solver"/fields/*.vti "$work/$solver"/fields/*.vtu; do
        [ -e "$file" ] || continue
        with vtkmodules.vtkIOXML "VTK opens $file" '
reader = vtkmodules.vtkIOXML.vtkXMLGenericDataObjectReader()
reader.SetFileName(sys.argv[1]); reader.Update(); data = reader.GetOutput()
assert data and data.GetNumberOfPoints() > 0, data
arrays = data.GetPointData().GetNumberOfArrays() + data.GetCellData().GetNumberOfArrays()
assert arrays > 0 and reader.GetErrorCode() == 0, arrays' "$file"
    done
    for file in "$work/$solver"/fields/*.h5; do
        [ -e "$file" ] || continue
        if command -v "$(dirname "$(command -v "$python")")/openPMD_check_h5" >/dev/null; then
            expect 0 'No error|0 error|Result: 0 Errors' "openPMD's validator takes $file" "$(dirname "$(command -v "$python")")/openPMD_check_h5" -i "$file"
        else
            skipped=$((skipped + 1))
        fi
    done
    for file in "$work/$solver"/fields/*.tif; do
        [ ! -e "$file" ] || with rasterio "GDAL opens $file" '
with rasterio.open(sys.argv[1]) as image: assert image.width > 1 and image.read(1).dtype.kind == "f", image.profile' "$file"
    done
done
for file in "$work"/flood/fields/*.vtu; do
    with meshio "meshio opens $file" 'mesh = meshio.read(sys.argv[1]); assert len(mesh.points) and mesh.cell_data["depth"], mesh' "$file"
done
for file in "$work"/flood/*.nc; do
    with xarray "xarray opens $file" '
data = xarray.open_dataset(sys.argv[1])
assert data.mesh2d_depth.dims == ("time", "mesh2d_nFaces") and data.mesh2d_depth.units == "m" and (data.mesh2d_depth >= 0).all(), data' "$file"
    with netCDF4 "netCDF4 opens $file" '
data = netCDF4.Dataset(sys.argv[1])
assert data["mesh2d"].cf_role == "mesh_topology" and len(data["mesh2d_face_nodes"]) == len(data["mesh2d_face_x"]), data' "$file"
done
# Where things are: a hexagon of 2 m is two pixels of 1 m, rows are sqrt(3) m apart, the first pixel begins a quarter of a cell
# before the corner.
ok 'a valley' "$b" run data/cases/flood/valley.toml --reference --steps 1 --quiet --out "$work/valley" --set output.tiff=true \
    --set output.every=1 --set output.pictures=false
for file in "$work"/valley/fields/depth*.tif; do
    with rasterio "rasterio places $file" '
map = rasterio.open(sys.argv[1])
t, rows = map.transform, map.height
assert map.crs.to_epsg() == 25832 and map.nodata != map.nodata, (map.crs, map.nodata)
assert abs(t.a - 1) < 1e-9 and abs(t.e + 3 ** 0.5) < 1e-9 and abs(t.c - 612001.5) < 1e-6, t
assert rows == 229 and abs(t.f - (5312002 + 229 * 3 ** 0.5)) < 1e-6, t' "$file"
done
for file in "$work"/valley/*.nc; do
    with xugrid "xugrid opens $file" '
data = xugrid.open_dataset(sys.argv[1])
assert data.ugrid.grid.n_face == 318 * 229 and "mesh2d_depth" in data, data' "$file"
    if command -v mdalinfo >/dev/null; then
        expect 0 72822 "MDAL opens $file" mdalinfo "$file"
    else
        skipped=$((skipped + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
