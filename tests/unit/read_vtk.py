"""Opens image files with VTK itself and prints what it finds, for test_vtk.c to compare.

read_vtk.py FILE.vti OUT   writes OUT: a line of text per fact, then for each array its values in VTK's order as raw bytes
read_vtk.py FILE.pvd       checks that the collection is XML and that every file it names exists and opens; prints the times
"""
import os
import sys
import xml.etree.ElementTree

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray
from vtkmodules.vtkIOXML import vtkXMLImageDataReader


def open_image(path):
    reader = vtkXMLImageDataReader()
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


if sys.argv[1].endswith(".pvd"):
    check_collection(sys.argv[1])
else:
    dump(sys.argv[1], sys.argv[2])
