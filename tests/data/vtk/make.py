"""Writes the files of this folder with VTK's own writers, for tests/unit/test_vtk.c: python make.py FOLDER (needs the package vtk).

All hold the same grid of 3 x 2 x 2 cells at (1, 2, 3) with sides (0.5, 0.25, 2): cell data rho = (1 + i + 10 j + 100 k) / 8 and
pair = (rho, -rho), and point data p = (i + 10 j + 100 k) / 4. types.vti has a cell array of every type.
"""
import sys
from pathlib import Path

import vtk
from vtkmodules.util.numpy_support import numpy_to_vtk
import numpy as np

OUT = Path(sys.argv[1])
N, ORIGIN, H = (3, 2, 2), (1.0, 2.0, 3.0), (0.5, 0.25, 2.0)


def values(n):
    k, j, i = np.meshgrid(*[np.arange(m) for m in n[::-1]], indexing="ij")
    return (i + 10 * j + 100 * k).ravel()


def add(data, name, array):
    out = numpy_to_vtk(np.ascontiguousarray(array), deep=True)
    out.SetName(name)
    data.AddArray(out)
    return out


def fill(grid, points=True):
    rho = ((1 + values(N)) / 8).astype(np.float32)
    unit = add(grid.GetCellData(), "rho", rho)
    unit.GetInformation().Set(vtk.vtkDataArray.UNITS_LABEL(), "m-3")
    add(grid.GetCellData(), "pair", np.stack([rho, -rho], axis=1).astype(np.float64))
    if points:
        add(grid.GetPointData(), "p", values([n + 1 for n in N]) / 4)
    time = numpy_to_vtk(np.array([2.5]), deep=True)
    time.SetName("TimeValue")
    grid.GetFieldData().AddArray(time)
    title = vtk.vtkStringArray()
    title.SetName("Title")
    title.InsertNextValue("a box")
    grid.GetFieldData().AddArray(title)
    return grid


def image(first=(0, 0, 0), points=True):
    grid = vtk.vtkImageData()
    grid.SetExtent(*[e for d in range(3) for e in (first[d], first[d] + N[d])])
    grid.SetOrigin(*[ORIGIN[d] - first[d] * H[d] for d in range(3)])
    grid.SetSpacing(*H)
    return fill(grid, points)


def mesh(kind):
    """The same cells as VTK_VOXEL or VTK_HEXAHEDRON, in reverse order."""
    grid, points = vtk.vtkUnstructuredGrid(), vtk.vtkPoints()
    points.SetDataTypeToDouble()
    m = [n + 1 for n in N]
    for k in range(m[2]):
        for j in range(m[1]):
            for i in range(m[0]):
                points.InsertNextPoint(*[ORIGIN[d] + (i, j, k)[d] * H[d] for d in range(3)])
    grid.SetPoints(points)
    order = (0, 1, 2, 3, 4, 5, 6, 7) if kind == vtk.VTK_VOXEL else (0, 1, 3, 2, 4, 5, 7, 6)
    cells = [(i, j, k) for k in range(N[2]) for j in range(N[1]) for i in range(N[0])][::-1]
    for i, j, k in cells:
        corner = [(k + c) * m[0] * m[1] + (j + b) * m[0] + i + a for c in (0, 1) for b in (0, 1) for a in (0, 1)]
        ids = vtk.vtkIdList()
        for o in order:
            ids.InsertNextId(corner[o])
        grid.InsertNextCell(kind, ids)
    fill(grid)
    for name in ("rho", "pair"):
        array = grid.GetCellData().GetArray(name)
        back = np.array([array.GetTuple(i) for i in range(len(cells))])[::-1]
        for i, v in enumerate(back):
            array.SetTuple(i, v)
    return grid


def xml(name, grid, mode="Appended", encode=True, compressor="ZLib", header=64, big=False, block=None):
    writer = vtk.vtkXMLImageDataWriter() if name.endswith(".vti") else vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(OUT / name))
    writer.SetInputData(grid)
    getattr(writer, f"SetDataModeTo{mode}")()
    writer.SetEncodeAppendedData(encode)
    writer.SetCompressorType(getattr(writer, compressor.upper()))
    (writer.SetHeaderTypeToUInt64 if header == 64 else writer.SetHeaderTypeToUInt32)()
    (writer.SetByteOrderToBigEndian if big else writer.SetByteOrderToLittleEndian)()
    if block:
        writer.SetBlockSize(block)
    assert writer.Write()


def legacy(name, grid, binary, version=51):
    writer = vtk.vtkStructuredPointsWriter() if isinstance(grid, vtk.vtkImageData) else vtk.vtkUnstructuredGridWriter()
    writer.SetFileName(str(OUT / name))
    writer.SetInputData(grid)
    writer.SetHeader("a box")
    writer.SetFileVersion(version)
    (writer.SetFileTypeToBinary if binary else writer.SetFileTypeToASCII)()
    assert writer.Write()


xml("ascii.vti", image(), "Ascii")
xml("inline.vti", image(), "Binary", compressor="None", header=32)
xml("inline-zlib.vti", image(), "Binary")
xml("raw.vti", image(), encode=False, compressor="None")
xml("raw-zlib.vti", image(), encode=False, header=32, block=32)
xml("raw-big-endian.vti", image(), encode=False, compressor="None", header=32, big=True)
xml("appended.vti", image(), compressor="None", header=32)
xml("appended-zlib-big-endian.vti", image(), big=True, block=40)
xml("shifted.vti", image(first=(-2, 0, 5)), encode=False)
xml("lz4.vti", image(), compressor="LZ4")

types = image(points=False)
for name in ("rho", "pair"):
    types.GetCellData().RemoveArray(name)
for t in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"):
    add(types.GetCellData(), t, (values(N) - (0 if t[0] == "u" else 50)).astype(t))
xml("types.vti", types, encode=False, big=True)
xml("types-ascii.vti", types, "Ascii")

turned = image()
turned.SetDirectionMatrix(0, 1, 0, -1, 0, 0, 0, 0, 1)
xml("turned.vti", turned, "Ascii")

xml("voxels.vtu", mesh(vtk.VTK_VOXEL), encode=False)
xml("hexahedra.vtu", mesh(vtk.VTK_HEXAHEDRON), "Ascii")
legacy("points.vtk", image(), False)
legacy("points-binary.vtk", image(), True, version=42)
legacy("voxels.vtk", mesh(vtk.VTK_VOXEL), True)
legacy("voxels-42.vtk", mesh(vtk.VTK_VOXEL), False, version=42)

for name, low, high in (("piece-0", 0, 1), ("piece-1", 1, 3)):
    clip = vtk.vtkExtractVOI()
    clip.SetInputData(image())
    clip.SetVOI(low, high, 0, N[1], 0, N[2])
    clip.Update()
    xml(name + ".vti", clip.GetOutput(), encode=False)
(OUT / "pieces.pvti").write_text("""<?xml version="1.0"?>
<VTKFile type="PImageData" version="0.1" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">
  <PImageData WholeExtent="0 3 0 2 0 2" GhostLevel="0" Origin="1 2 3" Spacing="0.5 0.25 2">
    <Piece Extent="0 1 0 2 0 2" Source="piece-0.vti"/>
    <Piece Extent="1 3 0 2 0 2" Source="piece-1.vti"/>
  </PImageData>
</VTKFile>
""")
