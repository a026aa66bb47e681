#!/usr/bin/python3
"""Writes the volume of files.hpp with VTK's own writers (Debian: python3-vtk9): write_vtk.py FOLDER.

Files of all types, encodings, compressors, byte orders, sizes of counts and orders of arrays, of several pieces and
times. Prints a line for each, as the hidden test case of written_test.cpp reads it: FILE TYPE TIME VARIABLE.
"""
import functools
import html
import itertools
import os
import pathlib
import sys

import vtk

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "vtk_files"))
from write_files import CELLS, POINTS, SIZE, array  # noqa: E402

TYPES = {
    "int8": (vtk.vtkSignedCharArray, vtk.vtkCharArray), "uint8": (vtk.vtkUnsignedCharArray,),
    "int16": (vtk.vtkShortArray,), "uint16": (vtk.vtkUnsignedShortArray,), "int32": (vtk.vtkIntArray,),
    "uint32": (vtk.vtkUnsignedIntArray,),
    "int64": (vtk.vtkLongArray, vtk.vtkLongLongArray, vtk.vtkIdTypeArray),
    "uint64": (vtk.vtkUnsignedLongArray, vtk.vtkUnsignedLongLongArray), "float32": (vtk.vtkFloatArray,),
    "float64": (vtk.vtkDoubleArray,), "bit": (vtk.vtkBitArray,)}
COMPRESSORS = (None, vtk.vtkZLibDataCompressor, vtk.vtkLZ4DataCompressor, vtk.vtkLZMADataCompressor)
MODES = ("ascii", "binary", "raw", "base64")
# VTK before 9.2 does not escape names.
VERSION = (vtk.vtkVersion().GetVTKMajorVersion(), vtk.vtkVersion().GetVTKMinorVersion())
NAME = 'Höhe "10 m" & <gust>'
WRITTEN = NAME if VERSION >= (9, 2) else html.escape(NAME)


@functools.cache
def others():
    return (array(vtk.vtkFloatArray, "velocity", POINTS, 3, unit="m/s > 0"),
            array(vtk.vtkDoubleArray, "stress", POINTS, 9), array(vtk.vtkStringArray, "label", POINTS),
            array(vtk.vtkTypeInt64Array, "id", POINTS))


@functools.cache
def field(kind, time=0, name=WRITTEN):
    most = 2 if kind is vtk.vtkBitArray else 120
    return array(kind, name, POINTS, value=lambda i: (i * 7 + time) % 120 % most, unit="m/s <mean>")


def grid_of(suffix, kind, order, name=WRITTEN):
    if suffix == "vti":
        grid = vtk.vtkImageData()
        grid.SetDimensions(SIZE)
        grid.SetOrigin(1, 2, 3)
        grid.SetSpacing(0.5, 1, 2)
    else:
        grid = vtk.vtkRectilinearGrid()
        grid.SetDimensions(SIZE)
        for set_axis, values in ((grid.SetXCoordinates, (0, 1, 3, 4, 8)), (grid.SetYCoordinates, (-1, 0, 0.5, 2)),
                                 (grid.SetZCoordinates, (0, 0.25, 4))):
            set_axis(array(vtk.vtkDoubleArray, "axis", len(values), value=lambda i, v=values: v[i]))
    arrays = list(others())
    arrays.insert(order, field(kind, name=name))
    for a in arrays:
        grid.GetPointData().AddArray(a)
    grid.GetPointData().SetActiveScalars(name)
    grid.GetPointData().SetActiveVectors("velocity")
    grid.GetCellData().SetScalars(array(vtk.vtkTypeInt32Array, WRITTEN, CELLS))
    grid.GetFieldData().AddArray(array(vtk.vtkDoubleArray, "TimeValue", 1))
    return grid


class Folder:
    def __init__(self, path):
        self.path, self.count = path, 0

    def writer(self, suffix, mode, compressor, wide, big):
        writer = vtk.vtkXMLImageDataWriter() if suffix == "vti" else vtk.vtkXMLRectilinearGridWriter()
        self.count += 1
        self.name = f"{self.count}.{suffix}"
        writer.SetFileName(os.path.join(self.path, self.name))
        {"ascii": writer.SetDataModeToAscii, "binary": writer.SetDataModeToBinary}.get(
            mode, writer.SetDataModeToAppended)()
        writer.SetEncodeAppendedData(mode == "base64")
        writer.SetCompressor(compressor() if compressor else None)
        if compressor:
            writer.SetBlockSize(64)
        (writer.SetHeaderTypeToUInt64 if wide else writer.SetHeaderTypeToUInt32)()
        (writer.SetByteOrderToBigEndian if big else writer.SetByteOrderToLittleEndian)()
        return writer

    def wrote(self, type_name, time=0, name=NAME):
        print(self.name, type_name, time, name)


def main():
    folder = Folder(sys.argv[1])
    orders = itertools.cycle(range(5))  # of other lengths than the loops below, so that all pairs occur
    flags = itertools.cycle([("vti", True, False), ("vtr", False, True), ("vti", False, True), ("vtr", True, False),
                             ("vti", False, False), ("vtr", True, True), ("vtr", False, False)])
    for (type_name, kinds), mode, compressor in itertools.product(TYPES.items(), MODES, COMPRESSORS):
        for kind in kinds:
            suffix, wide, big = next(flags)
            writer = folder.writer(suffix, mode, compressor, wide, big)
            writer.SetInputData(grid_of(suffix, kind, next(orders)))
            assert writer.Write() == 1
            folder.wrote(type_name)
    for suffix, mode, (pieces, ghosts) in itertools.product(("vti", "vtr"), MODES, ((2, 1), (9, 0))):
        # Of a reader, because it makes only the requested part. VTK 9.1 exchanges the arrays of later pieces unless
        # the scalars are the first, crashes with text, and does not end with cells.
        whole = folder.writer(suffix, mode, None, False, False)
        grid = grid_of(suffix, vtk.vtkFloatArray, 0, "wind")
        grid.GetPointData().RemoveArray("label")
        grid.GetCellData().Initialize()
        whole.SetInputData(grid)
        assert whole.Write() == 1
        reader = vtk.vtkXMLImageDataReader() if suffix == "vti" else vtk.vtkXMLRectilinearGridReader()
        reader.SetFileName(whole.GetFileName())
        writer = folder.writer(suffix, mode, vtk.vtkZLibDataCompressor, False, False)
        writer.SetInputConnection(reader.GetOutputPort())
        writer.SetNumberOfPieces(pieces)
        writer.SetGhostLevel(ghosts)
        assert writer.Write() == 1
        folder.wrote("float32", name="wind")
    for suffix, mode in itertools.product(("vti", "vtr"), ("raw", "base64")):  # VTK crashes in text
        writer = folder.writer(suffix, mode, None, False, False)
        grid = grid_of(suffix, vtk.vtkShortArray, 1)
        writer.SetInputData(grid)
        writer.SetNumberOfTimeSteps(3)
        writer.Start()
        for time in range(3):
            grid.GetPointData().SetScalars(field(vtk.vtkShortArray, time))
            writer.WriteNextTime(time / 2)
        writer.Stop()
        for time in range(3):
            folder.wrote("int16", time)


if __name__ == "__main__":
    main()
