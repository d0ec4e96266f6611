"""Opens image files with VTK itself and prints what it finds, for test_vtk.c to compare.

read_vtk.py FILE.vti OUT   writes OUT: a line of text per fact, then for each array its values in VTK's order as raw bytes
read_vtk.py same A B       checks that A (.vti, .vtr, .vtu) and B (the same, or .pvti, .pvtr, .pvtu with their pieces) hold the same grid and values
read_vtk.py FILE.pvd       checks that the collection is XML and that every file it names exists and opens; prints the times
"""
import os
import sys
import xml.etree.ElementTree

import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray
from vtkmodules.vtkIOXML import (vtkXMLImageDataReader, vtkXMLPImageDataReader, vtkXMLPRectilinearGridReader,
                                 vtkXMLPUnstructuredGridReader, vtkXMLRectilinearGridReader, vtkXMLUnstructuredGridReader)

READERS = {".vti": vtkXMLImageDataReader, ".pvti": vtkXMLPImageDataReader, ".vtr": vtkXMLRectilinearGridReader,
           ".pvtr": vtkXMLPRectilinearGridReader, ".vtu": vtkXMLUnstructuredGridReader,
           ".pvtu": vtkXMLPUnstructuredGridReader}


def open_image(path):
    reader = READERS[os.path.splitext(path)[1]]()
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(path))
    if not reader.CanReadFile(path):
        sys.exit(f"VTK cannot read {path}")
    reader.SetFileName(path)
    reader.Update()
    if errors or reader.GetErrorCode():
        sys.exit(f"VTK reports an error in {path}")
    return reader.GetOutput()


def dump(path, out):
    image = open_image(path)
    numbers = lambda values: " ".join(repr(float(v)) for v in values)
    field = image.GetFieldData()
    title = field.GetAbstractArray("Title")
    with open(out, "wb") as stream:
        def line(*words):
            stream.write((" ".join(str(w) for w in words) + "\n").encode())
        line("extent", *image.GetExtent())
        line("origin", numbers(image.GetOrigin()))
        line("spacing", numbers(image.GetSpacing()))
        line("time", numbers([field.GetArray("TimeValue").GetValue(0)]))
        line("title", title.GetValue(0) if title else "-")
        line("points", image.GetPointData().GetNumberOfArrays(), "cells", image.GetCellData().GetNumberOfArrays())
        for data in image.GetPointData(), image.GetCellData():
            for i in range(data.GetNumberOfArrays()):
                array = data.GetArray(i)
                values = vtk_to_numpy(array)
                unit = array.GetInformation().Get(vtkDataArray.UNITS_LABEL())
                line("array", array.GetName(), "unit", (unit or "-").strip().replace(" ", "_"), "type", values.dtype.name,
                     "components", array.GetNumberOfComponents(), "tuples", array.GetNumberOfTuples(), "bytes", values.nbytes)
                stream.write(values.tobytes())


def check_collection(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "VTKFile" and root.get("type") == "Collection"
    for data in root.find("Collection"):
        open_image(os.path.join(os.path.dirname(path), data.get("file")))
        print(float(data.get("timestep")))


def centres(grid):
    """Middles of the cells, to a millionth of the box, and the order that they have by place."""
    corners = vtk_to_numpy(grid.GetPoints().GetData())
    ids = [[grid.GetCell(c).GetPointId(k) for k in range(grid.GetCell(c).GetNumberOfPoints())]
           for c in range(grid.GetNumberOfCells())]
    places = numpy.array([corners[i].mean(axis=0) for i in ids])
    places = numpy.round(places / max(grid.GetLength(), 1e-300) * 1e6).astype(int)
    order = numpy.lexsort(places.T)
    return places[order], order


def compare(a, b):
    one, two = open_image(a), open_image(b)
    orders = (slice(None), slice(None))
    if one.IsA("vtkUnstructuredGrid"):
        (places, first), (others, second) = centres(one), centres(two)
        assert numpy.array_equal(places, others), "cells lie elsewhere"
        orders = (first, second)
    elif one.IsA("vtkRectilinearGrid"):
        assert one.GetExtent() == two.GetExtent(), "other grids"
        for axis in "XYZ":
            lines = [vtk_to_numpy(getattr(grid, f"Get{axis}Coordinates")()) for grid in (one, two)]
            assert numpy.array_equal(*lines), "other places"
    else:
        assert one.GetExtent() == two.GetExtent() and one.GetOrigin() == two.GetOrigin(), "other grids"
        assert one.GetSpacing() == two.GetSpacing(), "other spacings"
    count = 0
    for data, other in ((one.GetPointData(), two.GetPointData()), (one.GetCellData(), two.GetCellData())):
        assert data.GetNumberOfArrays() == other.GetNumberOfArrays(), "other arrays"
        for i in range(data.GetNumberOfArrays()):
            name = data.GetArrayName(i)
            x, y = vtk_to_numpy(data.GetArray(i))[orders[0]], vtk_to_numpy(other.GetArray(name))[orders[1]]
            assert x.dtype == y.dtype and numpy.array_equal(x, y, equal_nan=x.dtype.kind == "f"), name
            count += 1
    assert count > 0, "no arrays"


if sys.argv[1] == "same":
    compare(sys.argv[2], sys.argv[3])
elif sys.argv[1].endswith(".pvd"):
    check_collection(sys.argv[1])
else:
    dump(sys.argv[1], sys.argv[2])
