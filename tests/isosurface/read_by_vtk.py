#!/usr/bin/python3
"""Reads every mesh that skel-isosurface writes with VTK's readers (Debian: python3-vtk9), and compares them with the
volume, which VTK wrote: read_by_vtk.py SKEL_ISOSURFACE. Exit code 77, skipped, if there is no VTK."""
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError:
    print("python3-vtk9 is not installed: skipped")
    sys.exit(77)

PROGRAM = sys.argv[1]
ISO = [0.35, 0.6]
SIZE = (23, 19, 17)


def volume(path):
    """Two Gaussian balls; the surfaces of both values are closed."""
    grid = vtk.vtkImageData()
    grid.SetDimensions(*SIZE)
    grid.SetSpacing(0.1, 0.12, 0.13)
    grid.SetOrigin(-1, -1, -1)
    values = vtk.vtkFloatArray()
    values.SetName("balls")
    for i in range(grid.GetNumberOfPoints()):
        x, y, z = grid.GetPoint(i)
        values.InsertNextValue(sum(math.exp(-6 * ((x - c) ** 2 + y * y + z * z)) for c in (-0.35, 0.4)))
    grid.GetPointData().SetScalars(values)
    writer = vtk.vtkXMLImageDataWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(grid)
    writer.Write()
    return grid


def read(path):
    reader = {".ply": vtk.vtkPLYReader, ".obj": vtk.vtkOBJReader, ".vtp": vtk.vtkXMLPolyDataReader,
              ".pvtp": vtk.vtkXMLPPolyDataReader}[path.suffix]()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def points(mesh):
    return [mesh.GetPoint(i) for i in range(mesh.GetNumberOfPoints())]


def triangles(mesh):
    return [tuple(mesh.GetCell(i).GetPointId(k) for k in range(3)) for i in range(mesh.GetNumberOfCells())]


def corners(mesh):
    """The triangles by their corners, in any order of triangles."""
    p = points(mesh)
    return sorted(min((p[a], p[b], p[c]), (p[b], p[c], p[a]), (p[c], p[a], p[b])) for a, b, c in triangles(mesh))


def joined(mesh):
    """Points at the same place become one."""
    clean = vtk.vtkCleanPolyData()
    clean.SetInputData(mesh)
    clean.SetTolerance(0)
    clean.Update()
    return clean.GetOutput()


def normals(mesh):
    found = mesh.GetPointData().GetNormals()
    return [found.GetTuple3(i) for i in range(mesh.GetNumberOfPoints())]


def same(a, b, tolerance):
    return len(a) == len(b) and all(abs(x - y) <= tolerance for p, q in zip(a, b) for x, y in zip(p, q))


def check(condition, text):
    if not condition:
        sys.exit("failed: " + text)


def values_at(grid, mesh):
    probe = vtk.vtkProbeFilter()
    probe.SetInputData(mesh)
    probe.SetSourceData(grid)
    probe.Update()
    found = probe.GetOutput().GetPointData().GetArray("balls")
    return [found.GetValue(i) for i in range(mesh.GetNumberOfPoints())]


def open_edges(mesh):
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(mesh)
    edges.BoundaryEdgesOn()
    edges.NonManifoldEdgesOn()
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.Update()
    return edges.GetOutput().GetNumberOfCells()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    grid = volume(folder / "balls.vti")
    meshes = {}
    for ending in (".vtp", ".ply", ".obj"):
        path = folder / ("mesh" + ending)
        subprocess.run([PROGRAM, folder / "balls.vti", "--iso", ",".join(map(str, ISO)), "--quiet", "-o", path], check=True)
        meshes[ending] = read(path)
    first = meshes[".vtp"]
    check(first.GetNumberOfCells() > 500, "too few triangles")
    for ending, mesh in meshes.items():
        check(same(points(mesh), points(first), 1e-6), f"positions of {ending}")
        check(triangles(mesh) == triangles(first), f"triangles of {ending}")
        check(same(normals(mesh), normals(first), 1e-6), f"normals of {ending}")
        check(open_edges(mesh) == 0, f"{ending} is not closed")
    # In parts: the same triangles, and the same points once they are joined.
    path = folder / "parts.pvtp"
    subprocess.run([PROGRAM, folder / "balls.vti", "--iso", ",".join(map(str, ISO)), "--quiet", "-o", path], check=True)
    parts = read(path)
    check(len(list((folder / "parts").iterdir())) == SIZE[2] - 1, "a part for each layer")
    check(corners(parts) == corners(first), "triangles of .pvtp")
    check(parts.GetNumberOfPoints() > first.GetNumberOfPoints(), "layers have points of their own")
    check(joined(parts).GetNumberOfPoints() == joined(first).GetNumberOfPoints(), "points of .pvtp")
    check(open_edges(joined(parts)) == open_edges(joined(first)), ".pvtp is not closed")
    by_place = dict(zip(points(first), normals(first)))
    check(all(by_place[p] == n for p, n in zip(points(parts), normals(parts))), "normals of .pvtp")
    # Every position is where VTK interpolates the value that the file says.
    said = first.GetPointData().GetArray("isovalue")
    said = [said.GetValue(i) for i in range(first.GetNumberOfPoints())]
    check(sorted(set(said)) == ISO, "isovalue")
    check(all(abs(a - b) < 1e-4 for a, b in zip(values_at(grid, first), said)), "values at the positions")
    # Normals point to lower values.
    ahead = vtk.vtkPolyData()
    moved = vtk.vtkPoints()
    for p, n in zip(points(first), normals(first)):
        moved.InsertNextPoint(*(x + 0.01 * y for x, y in zip(p, n)))
    ahead.SetPoints(moved)
    check(all(a < b for a, b in zip(values_at(grid, ahead), said)), "normals point to lower values")
    print(f"{first.GetNumberOfPoints()} positions, {first.GetNumberOfCells()} triangles, the same in {', '.join(meshes)}")
