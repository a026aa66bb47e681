#!/usr/bin/env python3
"""VTK's Flying Edges on one core, with normals, on a volume in memory; run by isosurface.py.

    flying_edges.py VOLUME.raw A B C VALUES REPETITIONS

The volume has A x B x C float32 on [-1, 1]^3. Prints seconds, seconds of the processor, triangles and
points of each repetition.
"""
import sys
import time

from vtkmodules.vtkCommonCore import vtkSMPTools
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D
from vtkmodules.vtkIOImage import vtkImageReader2


def main():
    path, values, repetitions = sys.argv[1], sys.argv[5].split(","), int(sys.argv[6])
    size = [int(n) for n in sys.argv[2:5]]
    vtkSMPTools.Initialize(1)
    reader = vtkImageReader2()
    reader.SetFileName(path)
    reader.SetDataScalarTypeToFloat()
    reader.SetFileDimensionality(3)
    reader.SetDataByteOrderToLittleEndian()
    reader.SetDataExtent(0, size[0] - 1, 0, size[1] - 1, 0, size[2] - 1)
    reader.SetDataSpacing(*(2 / (n - 1) for n in size))
    reader.SetDataOrigin(-1, -1, -1)
    reader.Update()
    for _ in range(repetitions):
        edges = vtkFlyingEdges3D()
        edges.SetInputData(reader.GetOutput())
        edges.ComputeNormalsOn()
        edges.ComputeScalarsOff()
        edges.ComputeGradientsOff()
        edges.SetNumberOfContours(len(values))
        for i, value in enumerate(values):
            edges.SetValue(i, float(value))
        begin, processor = time.perf_counter(), time.process_time()
        edges.Update()
        seconds, processor = time.perf_counter() - begin, time.process_time() - processor
        out = edges.GetOutput()
        print(f"seconds={seconds:.6f} processor={processor:.6f} triangles={out.GetNumberOfPolys()} vertices={out.GetNumberOfPoints()}")


main()
