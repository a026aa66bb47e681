#!/usr/bin/env python3
"""Compares skel's isosurfaces with VTK's Flying Edges with normals: the same float32 volume in memory, on one core.

    benchmarks/isosurface/isosurface.py --bin build/release/bin [--repetitions 7] [--check]

Needs python3-vtk9. Programs run one after the other in each repetition, so that a ratio compares neighbours in time.
Both end with an indexed mesh in memory. Order 1: the same triangles. Order 3: about as many, from cells twice as wide in x
and y, divided once; the ratio is that of triangles per second.
"""
import os
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

VALUES = "0.2,0.3,0.4,0.5,0.6,0.7,0.8"
VOLUMES = [(512, 512, 65), (192, 128, 65)]
CASES = [("order 1", "1 1 0", 1.0), ("order 3", "3 2 1", 0.25)]


def run(command):
    lines = bench.fields(bench.run(*command))
    seconds = statistics.median(float(f["seconds"]) for f in lines[1:])  # skips the first one, which warms up
    return seconds, int(lines[0]["triangles"]), int(lines[0]["vertices"])


def measure(ours, folder, size, case, repetitions):
    name, arguments, target = case
    field = "sphere:" + "x".join(map(str, size))
    raw = os.path.join(folder, "x".join(map(str, size)) + ".raw")
    if not os.path.exists(raw):
        bench.run(ours, "field", field, raw)
    peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flying_edges.py")
    own_runs, peer_runs = [], []
    for _ in range(repetitions):
        own_runs.append(run([ours, "surfaces", field, VALUES, *arguments.split(), "4"]))
        peer_runs.append(run([bench.VTK_PYTHON, peer, raw, *map(str, size), VALUES, "4"]))
    ratio = statistics.median(a[1] / a[0] / (b[1] / b[0]) for a, b in zip(own_runs, peer_runs))
    own, other = statistics.median(r[0] for r in own_runs), statistics.median(r[0] for r in peer_runs)
    print(f"{field:18} {name}: skel {own * 1e3:7.1f} ms, {own_runs[0][1]} triangles, {own_runs[0][2]} vertices; "
          f"Flying Edges {other * 1e3:7.1f} ms, {peer_runs[0][1]} triangles, {peer_runs[0][2]} vertices; "
          f"triangles per second {ratio:.2f} times (target {target})")
    return ratio >= target and (name != "order 1" or own_runs[0][1:] == peer_runs[0][1:])


def main():
    options = bench.parser(__doc__, repetitions=7, check=True).parse_args()
    bench.need(options, "skel-bench-isosurface", "vtk")
    with tempfile.TemporaryDirectory() as folder:
        ours = options.bin / "skel-bench-isosurface"
        good = [measure(ours, folder, size, case, options.repetitions) for size in VOLUMES for case in CASES]
    bench.finish(all(good), options)


main()
