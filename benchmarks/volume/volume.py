#!/usr/bin/env python3
"""Compares skel's volume renderer with VTK's fixed-point ray caster: the same field, view, mapping and size on one core.

    benchmarks/volume/volume.py --bin build/release/bin [--repetitions 7] [--instructions avx2] [--check]

Needs python3-vtk9, xvfb and xauth. Programs run one after the other in each repetition, so that a ratio compares
neighbours in time. VTK's fixed part (showing the picture) is measured with almost no samples and subtracted. Errors are
root mean squares of the colours (0 to 1) relative to skel's trapezoid rule refined to 1e-6, without early termination, on
every fifth pixel of every fifth row: a picture of a fifth of the size has its rays exactly there.
"""
import array
import json
import os
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

FIELDS = {"wind": ("wind:121x97x18", "3", [-40, -70, 110], [60, 48, 25]),
          "256^3": ("turbulence:256x256x256", "1", [-150, -250, 360], [127, 127, 127])}
# VTK samples once per unit of length, about once or three times per cell; so does skel. The errors are printed.
LIGHT = {"ambient": 0.3, "diffuse": 0.6, "specular": 0.2, "shininess": 10, "samples": 1}
CASES = [("wind", False), ("wind", True), ("256^3", False), ("256^3", True)]
LIMIT = 0.99  # VTK terminates rays at about this opacity
TARGET = 1.5
SIZE, EVERY = 500, 5  # EVERY is odd: the middle of EVERY pixels is the centre of one


def run(*command, env=None):
    return bench.fields(bench.run(*command, env=env))


def specification(name, lit):
    _, _, eye, at = FIELDS[name]
    spec = {"view": {"from": eye, "at": at, "up": [0, 0, 1], "angle": 36}, "size": [SIZE, SIZE], "background": "#000000",
            "mapping": {"color": [[1000, "#2040c0"], [4000, "#40c0c0"], [7000, "#e0e060"], [10000, "#e02020"]],
                        "opacity": [[2000, 0], [5000, 0.03], [10000, 0.3]], "unit": 1},
            "visibility_limit": LIMIT, "tolerance": 0.01}
    if lit:
        spec["light"] = LIGHT
    return spec


def read_pfm(path):
    with open(path, "rb") as file:
        _, size, _, data = file.read().split(b"\n", 3)
    width, height = map(int, size.split())
    numbers = array.array("f", data)
    return [numbers[3 * width * y:3 * width * (y + 1)] for y in reversed(range(height))]


def read_ppm(path):
    with open(path, "rb") as file:
        lines, data = [], file.read()
    while len(lines) < 3:
        line, data = data.split(b"\n", 1)
        if not line.startswith(b"#"):
            lines.append(line)
    width, height = map(int, lines[1].split())
    return [[v / 255 for v in data[3 * width * y:3 * width * (y + 1)]] for y in range(height)]


def error(picture, reference):
    """Error on the pixels that the reference contains."""
    middle = EVERY // 2
    squares = []
    for y, row in enumerate(reference):
        for x in range(len(row) // 3):
            there = 3 * (EVERY * x + middle)
            squares += [(a - b) ** 2 for a, b in zip(picture[EVERY * y + middle][there:there + 3], row[3 * x:3 * x + 3])]
    return (sum(squares) / len(squares)) ** 0.5


def vtk(volume, spec, step, repetitions, out):
    caster = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vtk_caster.py")
    lines = run("xvfb-run", "-a", "-s", "-screen 0 640x640x24", bench.VTK_PYTHON, caster, volume, spec, step, repetitions, out,
                env=dict(bench.ENVIRONMENT, LP_NUM_THREADS="1"))
    return [float(f["render_seconds"]) for f in lines]


def measure(ours, folder, name, lit, repetitions, instructions):
    field, spacing, _, _ = FIELDS[name]
    path = {key: os.path.join(folder, key) for key in
            ("volume.nrrd", "spec.json", "fine.json", "fine.pfm", "ours.pfm", "vtk.ppm", "empty.ppm")}
    run(ours, "field", field, spacing, path["volume.nrrd"])
    spec = specification(name, lit)
    with open(path["spec.json"], "w", encoding="utf-8") as file:
        json.dump(spec, file)
    with open(path["fine.json"], "w", encoding="utf-8") as file:
        json.dump(dict(spec, rule="trapezoid", tolerance=1e-6, visibility_limit=1, size=[SIZE // EVERY] * 2), file)
    run(ours, "render", path["volume.nrrd"], path["fine.json"], 1, path["fine.pfm"])
    seconds, peer, fixed, counts = [], [], [], {}
    for _ in range(repetitions):
        lines = run(ours, "render", path["volume.nrrd"], path["spec.json"], 5, path["ours.pfm"], instructions)
        counts = lines[0]
        seconds.append(statistics.median(float(f["render_seconds"]) for f in lines))
        peer.append(statistics.median(vtk(path["volume.nrrd"], path["spec.json"], 1, 5, path["vtk.ppm"])))
        fixed.append(statistics.median(vtk(path["volume.nrrd"], path["spec.json"], 1000, 5, path["empty.ppm"])))
    reference = read_pfm(path["fine.pfm"])
    own, base = statistics.median(seconds), statistics.median(fixed)
    ratio = statistics.median((p - f) / s for s, p, f in zip(seconds, peer, fixed))
    errors = error(read_pfm(path["ours.pfm"]), reference), error(read_ppm(path["vtk.ppm"]), reference)
    # VTK does not count its samples; at most, it takes one per unit of length of skel's rays.
    print(f"{name:7} {'light' if lit else 'plain':6} skel {own * 1e3:7.1f} ms, {int(counts['segments']) / own / 1e6:6.1f} M segments/s, "
          f"{int(counts['cells']) / own / 1e6:6.1f} M cells/s, error {errors[0]:.2e}; VTK {statistics.median(peer) * 1e3:7.1f} ms "
          f"(fixed {base * 1e3:.1f}), error {errors[1]:.2e}; ratio {ratio:.2f}")
    return ratio, errors


def main():
    parser = bench.parser(__doc__, repetitions=7, check=True)
    parser.add_argument("--instructions", default="", help="instruction set of skel's kernel [the best available]")
    options = parser.parse_args()
    bench.need(options, "skel-bench-volume", "xvfb-run", "vtk")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, lit in CASES:
            ratio, errors = measure(options.bin / "skel-bench-volume", folder, name, lit,
                                    options.repetitions, options.instructions)
            if ratio < TARGET or errors[0] > errors[1]:
                failed = True
                print(f"  below the target: at least {TARGET} times as fast at no larger error")
    bench.finish(not failed, options)


main()
