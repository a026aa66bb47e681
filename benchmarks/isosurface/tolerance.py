#!/usr/bin/env python3
"""Compares meshes of skel-isosurface --tolerance with those of a uniform --level that are as far from the surface.

    benchmarks/isosurface/tolerance.py --bin build/release/bin [--levels 1 2] [--fields marschner-lobb] [--check]

Distances are measured from the kept model (skel-isosurface-eval): random points on the triangles, uniform by area, walk
to the isosurface along the gradient (Newton's method). For each level the script looks for the tolerance with the fewest
triangles whose largest distance is not above the level's, and for another one for the root mean square. Needs python3-numpy,
and --picture FILE.png, which draws a uniform mesh beside one with a tolerance instead, python3-matplotlib.
"""
import contextlib
import os
import sys
import tempfile

with contextlib.suppress(ImportError):  # see bench.need
    import numpy as np

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

VALUE = 0.5
TARGET = 1 / 3


def read_ply(path):
    counts, columns, element = {}, [], ""
    with open(path, "rb") as file:
        while (words := file.readline().decode().split()) != ["end_header"]:
            if words[0] == "element":
                element = words[1]
                counts[element] = int(words[2])
            elif words[0] == "property" and element == "vertex":
                columns.append((words[2], {"float": "<f4", "double": "<f8"}[words[1]]))
        vertices = np.frombuffer(file.read(counts["vertex"] * np.dtype(columns).itemsize), columns)
        faces = np.frombuffer(file.read(), [("n", "u1"), ("corners", "<i4", 3)])
    return np.stack([vertices[a] for a in "xyz"], 1).astype(float), faces["corners"]


class Field:
    def __init__(self, binaries, name, folder, points):
        self.modeler = os.path.join(binaries, "skel-isosurface")
        self.evaluator = os.path.join(binaries, "skel-isosurface-eval")
        self.name, self.points = name, points
        self.mesh = os.path.join(folder, "mesh.ply")
        self.model = os.path.join(folder, "field.model")
        self.surface("--level", 0, "--model", self.model)

    def surface(self, *options):
        bench.run(self.modeler, "--field", self.name, "--iso", VALUE, "--order", 3, "--quiet", "-o", self.mesh, *options)

    def evaluate(self, at):
        lines = "\n".join(f"{x:.17g} {y:.17g} {z:.17g}" for x, y, z in at)
        return np.array(bench.run(self.evaluator, self.model, given=lines).split(), float).reshape(-1, 4)

    def measure(self, *options):
        """Triangles, largest and root mean square distance."""
        self.surface(*options)
        positions, triangles = read_ply(self.mesh)
        a, b, c = (positions[triangles[:, i]] for i in range(3))
        area = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
        random = np.random.default_rng(1)
        chosen = np.searchsorted(area, random.random(self.points) * area[-1]).clip(0, len(area) - 1)
        u, v = random.random((2, self.points, 1))
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        start = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
        low, high = start.min(0), start.max(0)
        at = start
        for _ in range(3):
            here = self.evaluate(at)
            slope = here[:, 1:]
            step = (here[:, 0] - VALUE) / np.maximum((slope**2).sum(1), 1e-12)
            at = (at - step[:, None] * slope).clip(low, high)
        distance = np.linalg.norm(at - start, axis=1)
        return len(triangles), distance.max(), np.sqrt((distance**2).mean())

    def fewest(self, kind, limit, tolerance):
        """The result with the largest tolerance whose error is not above the limit."""
        best, low, high = None, tolerance / 4, tolerance * 4
        for _ in range(5):
            middle = np.sqrt(low * high)
            result = self.measure("--tolerance", middle)
            if result[kind] <= limit:
                best, low = (*result, middle), middle
            else:
                high = middle
        return best


def draw(binaries, folder, path):
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    field = Field(binaries, "marschner-lobb:25x25x25", folder, 0)
    figure = Figure(figsize=(9, 4))
    for i, options in enumerate((["--level", "2"], ["--tolerance", "0.01"])):
        field.surface(*options)
        positions, triangles = read_ply(field.mesh)
        triangles = triangles[(positions[triangles].mean(1)[:, :2] > 0).all(1)]  # a quarter
        axes = figure.add_subplot(1, 2, i + 1, projection="3d", computed_zorder=False)
        corners = positions[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        light = 0.65 + 0.35 * normals @ (0.5, -0.3, 0.8) / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)
        colours = np.clip(np.outer(light, (0.70, 0.83, 0.92)), 0, 1)
        axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, edgecolor="#08306b", linewidth=0.3))
        axes.set(xlim=(0, 1), ylim=(0, 1), zlim=(-0.5, 0.5), title=f"{' '.join(options)}: {len(triangles):,} triangles")
        axes.view_init(55, -60)
        axes.set_axis_off()
        axes.set_box_aspect((1, 1, 1), zoom=1.45)
    figure.subplots_adjust(0, 0, 1, 0.94, 0, 0)
    figure.savefig(path, dpi=80)


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--fields", nargs="+", default=["marschner-lobb", "metaballs"])
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--points", type=int, default=60000, help="at which distances are measured")
    parser.add_argument("--picture", metavar="FILE.png")
    options = parser.parse_args()
    bench.need(options, "skel-isosurface", "skel-isosurface-eval", "numpy", *(["matplotlib"] if options.picture else []))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if options.picture:
            draw(options.bin, folder, options.picture)
            return
        for name in options.fields:
            field = Field(options.bin, name, folder, options.points)
            for level in options.levels:
                triangles, *errors = field.measure("--level", level)
                print(f"{name} level {level}: {triangles} triangles, largest {errors[0]:.2e}, rms {errors[1]:.2e}")
                for kind, what in ((1, "largest"), (2, "rms")):
                    guess = errors[0] if kind == 1 else 2.5 * errors[1]
                    found = field.fewest(kind, errors[kind - 1], guess)
                    ratio = found[0] / triangles if found else float("inf")
                    good = good and ratio <= TARGET
                    if found:
                        print(f"  same {what}: {found[0]} triangles, largest {found[1]:.2e}, rms {found[2]:.2e}, "
                              f"--tolerance {found[3]:.3g}; {ratio:.2f} of the triangles", flush=True)
    bench.finish(good, options)


main()
