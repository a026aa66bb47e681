#!/usr/bin/python3
"""Regenerates the files of this folder with VTK's own writers (Debian: python3-vtk9).

Each holds the volume of ../files.hpp as point scalars, behind arrays that must be ignored: a vector, a tensor,
text, integers of 64 bits. Names need escapes, arrays have units, and cells have data of the same name.
"""
import html
import os

import vtk

NAME = html.escape('speed "10 m" & <gust>')  # as VTK 9.2 and later do; 9.1 writes names unescaped
SIZE = (5, 4, 3)
POINTS = SIZE[0] * SIZE[1] * SIZE[2]
CELLS = (SIZE[0] - 1) * (SIZE[1] - 1) * (SIZE[2] - 1)
FOLDER = os.path.dirname(os.path.abspath(__file__))


def array(kind, name, count, components=1, value=lambda i: i, unit=None):
    made = kind()
    made.SetName(name)
    made.SetNumberOfComponents(components)
    for i in range(count * components):
        if kind is vtk.vtkStringArray:
            made.InsertNextValue(f"<{i}>")
        elif kind is vtk.vtkCharArray:
            made.InsertNextValue(chr(value(i)))
        else:
            made.InsertNextValue(value(i))
    if unit:
        made.GetInformation().Set(vtk.vtkDataArray.UNITS_LABEL(), unit)
    return made


def filled(grid, kind):
    points = grid.GetPointData()
    points.AddArray(array(vtk.vtkFloatArray, "velocity", POINTS, 3, unit="m/s > 0"))
    points.AddArray(array(vtk.vtkDoubleArray, "stress", POINTS, 9))
    points.AddArray(array(vtk.vtkStringArray, "label", POINTS))
    points.AddArray(array(vtk.vtkTypeInt64Array, "id", POINTS))
    points.SetScalars(array(kind, NAME, POINTS, value=lambda i: i * 7 % 120, unit="m/s <mean>"))
    grid.GetCellData().SetScalars(array(vtk.vtkTypeInt32Array, NAME, CELLS))
    grid.GetFieldData().AddArray(array(vtk.vtkDoubleArray, "TimeValue", 1))
    return grid


def image(kind):
    grid = vtk.vtkImageData()
    grid.SetDimensions(SIZE)
    grid.SetOrigin(1, 2, 3)
    grid.SetSpacing(0.5, 1, 2)
    return filled(grid, kind)


def rectilinear(kind):
    grid = vtk.vtkRectilinearGrid()
    grid.SetDimensions(SIZE)
    for set_axis, values in ((grid.SetXCoordinates, (0, 1, 3, 4, 8)), (grid.SetYCoordinates, (-1, 0, 0.5, 2)),
                             (grid.SetZCoordinates, (0, 0.25, 4))):
        set_axis(array(vtk.vtkDoubleArray, "axis", len(values), value=lambda i, v=values: v[i]))
    return filled(grid, kind)


def write(name, kind, mode, compressor=None, encode=False, wide=False, big=False):
    even = name.endswith(".vti")
    writer = vtk.vtkXMLImageDataWriter() if even else vtk.vtkXMLRectilinearGridWriter()
    writer.SetInputData(image(kind) if even else rectilinear(kind))
    writer.SetFileName(os.path.join(FOLDER, name))
    {"ascii": writer.SetDataModeToAscii, "binary": writer.SetDataModeToBinary,
     "appended": writer.SetDataModeToAppended}[mode]()
    writer.SetCompressor(compressor)
    writer.SetEncodeAppendedData(encode)
    writer.SetBlockSize(64 if compressor and mode != "ascii" else 32768)
    (writer.SetHeaderTypeToUInt64 if wide else writer.SetHeaderTypeToUInt32)()
    (writer.SetByteOrderToBigEndian if big else writer.SetByteOrderToLittleEndian)()
    assert writer.Write() == 1


def main():
    zlib, lz4, lzma = vtk.vtkZLibDataCompressor(), vtk.vtkLZ4DataCompressor(), vtk.vtkLZMADataCompressor()
    write("ascii-float32.vti", vtk.vtkFloatArray, "ascii", lz4)  # text is never compressed
    write("ascii-int32.vtr", vtk.vtkTypeInt32Array, "ascii")
    write("binary-int64.vti", vtk.vtkTypeInt64Array, "binary")
    write("binary-big-uint32.vtr", vtk.vtkTypeUInt32Array, "binary", wide=True, big=True)
    write("binary-zlib-uint64.vti", vtk.vtkTypeUInt64Array, "binary", zlib)
    write("raw-float64.vti", vtk.vtkDoubleArray, "appended", wide=True)
    write("raw-big-int32.vtr", vtk.vtkTypeInt32Array, "appended", big=True)
    write("raw-zlib-uint8.vtr", vtk.vtkUnsignedCharArray, "appended", zlib, wide=True)
    write("base64-int16.vti", vtk.vtkShortArray, "appended", encode=True)
    write("base64-zlib-big-int64.vtr", vtk.vtkTypeInt64Array, "appended", zlib, encode=True, big=True)
    write("raw-lz4.vti", vtk.vtkFloatArray, "appended", lz4)
    write("binary-lzma.vtr", vtk.vtkFloatArray, "binary", lzma)


if __name__ == "__main__":
    main()
