#!/usr/bin/python3
"""Writes the volume of files.hpp with netCDF4 (Debian: python3-netcdf4): write_netcdf.py FOLDER.

Files of all formats, types, filters and byte orders, packed, with missing values, masked, and with times. Prints a
line for each, as the hidden test case of written_test.cpp reads it: FILE TYPE TIME VARIABLE.
"""
import itertools
import os
import sys

import netCDF4
import numpy as np

SHAPE = (3, 4, 5)
FIELD = (np.arange(60) * 7 % 120).reshape(SHAPE)
CLASSIC = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC")
SMALL = ("i1", "u1", "i2", "u2", "f4")  # delivered as float32, others as float64
FILTERS = ({}, {"zlib": True}, {"zlib": True, "shuffle": False, "complevel": 9}, {"fletcher32": True},
           {"chunksizes": (1, 2, 3)}, {"endian": "big"}, {"zlib": True, "endian": "big", "chunksizes": SHAPE})


class Folder:
    def __init__(self, path):
        self.path, self.count = path, 0

    def create(self, format):
        self.count += 1
        self.name = f"{self.count}.nc"
        data = netCDF4.Dataset(os.path.join(self.path, self.name), "w", format=format)
        for name, values in (("lev", (0, 0.25, 4)), ("lat", (-1, 0, 0.5, 2)), ("lon", (0, 1, 3, 4, 8))):
            data.createDimension(name, len(values))
            data.createVariable(name, "f8", (name,))[:] = values
        data["lat"].units, data["lon"].units, data["lev"].positive = "degrees_north", "degrees_east", "up"
        return data

    def wrote(self, kind, time=0, name="wind"):
        print(self.name, "float32" if kind in SMALL else "float64", time, name)


def main():
    folder = Folder(sys.argv[1])
    for format, kind in itertools.chain(itertools.product(CLASSIC, ("i1", "i2", "i4", "f4", "f8")),
                                        itertools.product(("NETCDF3_64BIT_DATA", "NETCDF4"),
                                                          ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"))):
        for filters in FILTERS if format.startswith("NETCDF4") else ({},):
            with folder.create(format) as data:
                data.createVariable("wind", kind, ("lev", "lat", "lon"), **filters)[:] = FIELD
                data.createVariable("name", "S1", ("lev",))[:] = "a"
            folder.wrote(kind)
    for format in CLASSIC:
        with folder.create(format) as data:  # packed by netCDF4 itself
            wind = data.createVariable("wind", "i2", ("lev", "lat", "lon"), fill_value=-32768)
            wind.scale_factor, wind.add_offset = 0.5, 60.0
            wind[:] = FIELD
        folder.wrote("i2")
        with folder.create(format) as data:
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01 00:00:00"
            wind = data.createVariable("wind", "f4", ("time", "lev", "lat", "lon"), zlib=format == "NETCDF4_CLASSIC")
            for time in range(3):
                data["time"][time] = 6 * time
                wind[time] = (np.arange(60) * 7 + time).reshape(SHAPE) % 120
        for time in range(3):
            folder.wrote("f4", time)
    with folder.create("NETCDF4") as data:
        inner = data.createGroup("model/run")
        inner.createVariable("wind", "f4", ("lev", "lat", "lon"))[:] = FIELD
        inner["wind"].units = "m s-1"  # of NC_CHAR; the next is an NC_STRING
        inner["wind"].setncattr_string("long_name", "Höhe")
        data.createVariable("text", str, ("lev",))[0] = "a"
    folder.wrote("f4", name="/model/run/wind")


if __name__ == "__main__":
    main()
