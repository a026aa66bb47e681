#!/usr/bin/env python3
"""Compares schedules on two ranks, one of which shares its core with a busy process.

Both ranks are pinned to a core each. The schedules run in turn, and medians are compared: `auto` should reach 0.95
of the best other schedule. Needs two cores, and taskset (util-linux).

    benchmarks/schedules/busy.py
"""
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

SCHEDULES = ["auto", "guided", "first-come", "first-come:chunk=4", "hybrid", "interleaved", "ring",
             "ring:order=doubling,copies=yes"]

def seconds(options, folder, schedule):
    report = folder / "report.json"
    program = [options.bin / "skel-raytrace", "--scene", options.scene, "--size", options.size, "--threads", 1, "--quiet",
               "--schedule", schedule, "--report", report]
    bench.run("mpiexec", "--oversubscribe", "--bind-to", "none", "-n", 1, "taskset", "-c", 0, *program, ":", "-n", 1, "taskset",
              "-c", 1, *program, timeout=300)
    return json.loads(report.read_text())["seconds"]


def main():
    parser = bench.parser(__doc__, repetitions=7)
    parser.add_argument("--scene", default="gears:4")
    parser.add_argument("--size", default="1024x1024")
    options = parser.parse_args()
    bench.need(options, "skel-raytrace", "taskset", "mpiexec")
    if len(bench.cores()) < 2:
        bench.fail("needs two cores")
    times = {s: [] for s in SCHEDULES}
    with tempfile.TemporaryDirectory() as folder, bench.busy(1):
        for _ in range(options.repetitions):
            for s in SCHEDULES:
                times[s].append(seconds(options, pathlib.Path(folder), s))
    medians = {s: statistics.median(t) for s, t in times.items()}
    bench.head("schedule", "seconds, median [least..most]")
    for s in sorted(SCHEDULES, key=medians.get):
        bench.row(s, f"{medians[s]:.3f} [{min(times[s]):.3f}..{max(times[s]):.3f}]")
    best = min(m for s, m in medians.items() if s != "auto")
    print(f"\nauto: {best / medians['auto']:.3f} of the best other schedule (target 0.95)")


main()
