#!/bin/sh
# readers.sh: the files of runs, opened by VTK, meshio, GDAL, xarray and the validator of openPMD, each where it is installed.
# $BINNACLE_TEST_PYTHON is a Python that has them (pip install vtk meshio h5py netCDF4 xarray rasterio openpmd-validator; rasterio
# brings GDAL).
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
echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" = 0
