#!/usr/bin/python3
"""Writes the volume of files.hpp with h5py (Debian: python3-h5py): write_hdf5.py FOLDER.

Files of all types, byte orders, filters, layouts and versions of the format, with dimension scales, packed, with times,
and VTKHDF. VTK itself (python3-vtk9), if it is installed, must read the latter as we mean them. Prints a line for each, as
the hidden test case of written_test.cpp reads it: FILE TYPE TIME VARIABLE.
"""
import itertools
import os
import sys

import h5py
import numpy as np

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

SHAPE = (3, 4, 5)
SCALES = {"lev": (0, 0.25, 4), "lat": (-1, 0, 0.5, 2), "lon": (0, 1, 3, 4, 8)}
KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "f16")
SMALL = ("i1", "u1", "i2", "u2", "f2", "f4")  # delivered as float32, others as float64
FILTERS = ({}, {"chunks": (1, 2, 3)}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True, "chunks": SHAPE},
           {"fletcher32": True}, {"maxshape": (None, 4, None)}, {"scaleoffset": 0})
VERSIONS = ({}, {"libver": "latest"}, {"userblock_size": 512}, {"track_order": True})


def field(time=0):
    return ((np.arange(60) * 7 + time) % 120).reshape(SHAPE)


class Folder:
    def __init__(self, path):
        self.path, self.count = path, 0

    def create(self, ending="h5", **options):
        self.count += 1
        self.name = f"{self.count}.{ending}"
        return h5py.File(os.path.join(self.path, self.name), "w", **options)

    def wrote(self, kind, time=0, name="wind"):
        print(self.name, "float32" if kind in SMALL else "float64", time, name)


def scale(data, variable, first=0):
    """Coordinates of the last dimensions."""
    for d, (name, values) in enumerate(SCALES.items(), first):
        if name not in data:
            data[name] = np.array(values, "f8")
            data[name].make_scale(name)
        variable.dims[d].attach_scale(data[name])


def check_by_vtk(path, kind):
    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    assert grid.GetExtent() == (0, 4, 0, 3, 0, 2), grid.GetExtent()
    assert grid.GetPoint(0) == (1, 2, 3), grid.GetPoint(0)
    assert grid.GetPoint(59) == (3, 5, 7), grid.GetPoint(59)
    array = vtk_to_numpy(grid.GetPointData().GetArray("wind"))
    assert array.dtype == np.dtype(kind) and (array.reshape(SHAPE) == field()).all()


def write_image(data, kind, times=None, offsets=None, first=(0, 0, 0)):
    root = data.create_group("VTKHDF")
    root.attrs["Version"] = np.array((1 if times is None else 2, 0), "i4")
    root.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", 9))
    root.attrs["WholeExtent"] = np.array([(f, f + n - 1) for f, n in zip(first, (5, 4, 3))], "i4").ravel()
    spacing = np.array((0.5, 1, 2))
    root.attrs["Origin"], root.attrs["Spacing"] = (1, 2, 3) - first * spacing, spacing
    root.attrs["Direction"] = np.eye(3).ravel()
    points = root.create_group("PointData")
    points.attrs["Scalars"] = np.bytes_("wind")
    if times is None:
        points["a"] = np.zeros(SHAPE)
        points.create_dataset("wind", data=field().astype(kind), chunks=(2, 3, 2), compression="gzip")
        points["velocity"] = np.zeros(SHAPE + (3,), "f4")
        if any(first):  # VTK 9.1 fails to read cells, and extents that do not begin at 0
            root.create_group("CellData")["c"] = np.zeros((2, 3, 4))
        return
    points["wind"] = np.array([field(t) for t in times], kind)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = len(times) if offsets is None else len(offsets)
    steps["Values"] = np.arange(steps.attrs["NSteps"], dtype="f8")
    if offsets is not None:
        steps["PointDataOffsets/wind"] = np.array(offsets, "i8")


def main():
    folder = Folder(sys.argv[1])
    for kind, order, filters in itertools.product(KINDS, "<>", FILTERS):
        if "scaleoffset" in filters and kind[0] == "f":
            continue
        with folder.create() as data:
            scale(data, data.create_dataset("wind", data=field().astype(order + kind), **filters))
            data["name"], data["flag"], data["pair"] = "a", np.zeros(SHAPE, bool), np.zeros(SHAPE, "i2,f4")
        folder.wrote(kind)
    for version, filters in itertools.product(VERSIONS, FILTERS):
        with folder.create(**version) as data:
            scale(data, data.create_dataset("wind", data=field().astype("i4"), **filters))
        folder.wrote("i4")
        with folder.create("hdf5", **version) as data:  # four dimensions: one with values, one of length 1
            inner = data.create_dataset("model/run/wind", data=field().astype("f4")[:, None])
            inner.attrs["units"], inner.attrs["long_name"] = "m s-1", "Höhe"
            for d, name in ((0, "lev"), (2, "lat"), (3, "lon")):
                data[name] = np.array(SCALES[name], "f4")
                inner.dims[d].attach_scale(data[name])
            data["time"] = np.zeros(1)
            inner.dims[1].attach_scale(data["time"])
            data["soft"] = h5py.SoftLink("/model")
            data["lost"], data["far"] = h5py.SoftLink("/nowhere"), h5py.ExternalLink("none.h5", "/a")
        folder.wrote("f4", name="/model/run/wind")
    for maximum in (None, 3):  # the first of four dimensions is time: unlimited, or nothing says what it is
        with folder.create() as data:
            data.create_dataset("wind", data=np.array([field(t) for t in range(3)], "u2"), maxshape=(maximum,) + SHAPE)
            scale(data, data["wind"], 1)
        for time in range(3):
            folder.wrote("u2", time)
    with folder.create() as data:  # packed
        packed = field().astype("i2") * 2 - 120
        data.create_dataset("wind", data=packed, fillvalue=-32768)
        data["wind"].attrs["scale_factor"], data["wind"].attrs["add_offset"] = 0.5, np.array([60.0])
        data["wind"].attrs["_FillValue"], data["wind"].attrs["valid_min"] = np.int16(-32768), np.int16(-120)
        scale(data, data["wind"])
    folder.wrote("i2")
    for kind in KINDS:
        if kind in ("f2", "f16"):  # no type of VTK
            continue
        with folder.create("vtkhdf") as data:
            write_image(data, kind)
        for name in ("wind", ""):
            folder.wrote(kind, name=name)
        if vtk:
            check_by_vtk(os.path.join(folder.path, folder.name), kind)
    with folder.create("hdf") as data:
        write_image(data, "f4", first=(2, -1, 0))
    folder.wrote("f4")
    for offsets in (None, (2, 0, 1, 1)):
        with folder.create("vtkhdf") as data:
            write_image(data, "f4", (0, 1, 2) if offsets is None else (1, 2, 0), offsets)
        for time in range(3):
            folder.wrote("f4", time)


if __name__ == "__main__":
    main()
