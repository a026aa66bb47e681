#!/usr/bin/env python3
"""Compares skel's isosurfaces with VTK's Flying Edges with normals: the same float32 volume in memory, on one core.

    benchmarks/isosurface/isosurface.py --bin build/release/bin [--repetitions 7] [--check]

Needs python3-vtk9. Programs run one after the other in each repetition, so that a ratio compares neighbours in time.
Both end with an indexed mesh in memory. Order 1: the same triangles. Order 3: about as many, from cells twice as wide in x
and y, divided once; the ratio is that of triangles per second. Spheres are sparse: most samples are far from a surface. The
noise is dense: one surface cuts most cells. Times are those of the processor, which other programs disturb less.
"""
import os
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

VALUES = "0.2,0.3,0.4,0.5,0.6,0.7,0.8"
ORDER_1, ORDER_3 = ("order 1", "1 1 0"), ("order 3", "3 2 1")
CASES = [("sphere", (512, 512, 65), VALUES, ORDER_1, 1.0),  # field, size, values, order, target
         ("sphere", (512, 512, 65), VALUES, ORDER_3, 0.25),
         ("sphere", (192, 128, 65), VALUES, ORDER_1, 1.0),
         ("sphere", (192, 128, 65), VALUES, ORDER_3, 0.25),
         ("noise", (256, 256, 256), "0.5", ORDER_1, 1.5)]


def run(command):
    lines = bench.fields(bench.run(*command))
    # Time of the processor, which other programs on the machine take less from. Skips the first one, which warms up.
    seconds = statistics.median(float(f["processor"]) for f in lines[1:])
    return seconds, int(lines[0]["triangles"]), int(lines[0]["vertices"])


def measure(ours, folder, case, repetitions):
    field, size, values, (name, arguments), target = case
    words = [str(n) for n in size]
    volume = field + ":" + "x".join(words)
    raw = os.path.join(folder, volume + ".raw")
    if not os.path.exists(raw):
        bench.run(ours, "field", volume, raw)
    peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flying_edges.py")
    own_runs, peer_runs = [], []
    for _ in range(repetitions):
        own_runs.append(run([ours, "surfaces", volume, values, *arguments.split(), "4"]))
        peer_runs.append(run([bench.VTK_PYTHON, peer, raw, *words, values, "4"]))
    ratios = [a[1] / a[0] / (b[1] / b[0]) for a, b in zip(own_runs, peer_runs)]
    ratio = statistics.median(ratios)

    def text(runs):
        seconds, triangles, vertices = statistics.median(r[0] for r in runs), *runs[0][1:]
        return f"{seconds * 1e3:7.1f} ms, {triangles} triangles, {triangles / seconds / 1e6:.1f} M/s, {vertices} vertices"

    print(f"{volume:18} {name}: skel {text(own_runs)}; Flying Edges {text(peer_runs)}; "
          f"triangles per second {ratio:.2f} times, {min(ratios):.2f} to {max(ratios):.2f} (target {target})", flush=True)
    return ratio >= target and (name != "order 1" or own_runs[0][1:] == peer_runs[0][1:])


def main():
    options = bench.parser(__doc__, repetitions=7, check=True).parse_args()
    bench.need(options, "skel-bench-isosurface", "vtk")
    with tempfile.TemporaryDirectory() as folder:
        ours = options.bin / "skel-bench-isosurface"
        good = [measure(ours, folder, case, options.repetitions) for case in CASES]
    bench.finish(all(good), options)


main()
