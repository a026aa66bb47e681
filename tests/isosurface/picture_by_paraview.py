#!/usr/bin/python3
"""Opens every mesh that skel-isosurface writes in ParaView and compares its pictures of a sphere with the disc that it
must be: picture_by_paraview.py SKEL_ISOSURFACE [FOLDER, which keeps the pictures]. Exit code 77, skipped, without
pvpython (Debian: python3-paraview) or a display (a virtual one: xvfb)."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SIZE, RADIUS = 240, 0.7  # pixels; the picture is two units high
ENDINGS = (".ply", ".obj", ".vtp", ".pvtp")


def picture(mesh, path):
    """The red values of its picture, in rows of pixels, white where there is no mesh."""
    from paraview import simple
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOImage import vtkPNGReader
    view = simple.CreateRenderView(ViewSize=[SIZE, SIZE], UseColorPaletteForBackground=0, Background=[1, 1, 1],
                                   OrientationAxesVisibility=0, CameraParallelProjection=1, CameraParallelScale=1,
                                   CameraPosition=[0, 0, 5], CameraFocalPoint=[0, 0, 0], CameraViewUp=[0, 1, 0])
    source = simple.OpenDataFile(str(mesh))
    shown = simple.Show(source, view)
    shown.ColorArrayName = ["POINTS", ""]
    shown.DiffuseColor = shown.AmbientColor = [0.5, 0.5, 0.5]
    simple.SaveScreenshot(str(path), view, ImageResolution=[SIZE, SIZE])
    simple.Delete(view)
    reader = vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())[:, 0].reshape(SIZE, SIZE).astype(int)


def check_disc(found, mesh):
    import numpy as np
    at = (np.arange(SIZE) + 0.5) / SIZE * 2 - 1
    radius = np.hypot(*np.meshgrid(at, at))
    pixel = 2 / SIZE
    assert (found[radius < RADIUS - 2 * pixel] < 200).all(), f"{mesh}: a hole in the sphere"
    assert (found[radius > RADIUS + 2 * pixel] == 255).all(), f"{mesh}: something beside the sphere"
    assert found[radius < 0.1].mean() > found[(radius > 0.6) & (radius < 0.65)].mean() + 20, f"{mesh}: no light"


def compare(program, folder):
    first = None
    for ending in ENDINGS:
        mesh = folder / ("sphere" + ending)
        subprocess.run([program, "--field", "sphere", "--iso", str(RADIUS), "--quiet", "-o", mesh], check=True)
        found = picture(mesh, folder / f"sphere{ending}.png")
        check_disc(found, mesh.name)
        first = found if first is None else first
        assert abs(found - first).max() <= 2, f"{mesh.name}: not the picture of {ENDINGS[0]}"
    print(f"the same pictures of {', '.join(ENDINGS)}")


@contextlib.contextmanager
def display():
    """The user's, or one without a screen."""
    if "DISPLAY" in os.environ:
        yield os.environ["DISPLAY"]
        return
    ready, tell = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(tell)], pass_fds=[tell], stderr=subprocess.DEVNULL)
    os.close(tell)
    try:
        with open(ready) as number:
            yield ":" + number.readline().strip()
    finally:
        server.terminate()
        server.wait()


def main():
    inside = "--in-pvpython"
    if sys.argv[1] == inside:
        return compare(sys.argv[2], pathlib.Path(sys.argv[3]))
    if not shutil.which("pvpython") or not ("DISPLAY" in os.environ or shutil.which("Xvfb")):
        print("pvpython, or a display (xvfb), is not installed: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder, display() as number:
        done = subprocess.run(["pvpython", __file__, inside, sys.argv[1], *(sys.argv[2:] or [folder])], timeout=200,
                              env={**os.environ, "DISPLAY": number})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
