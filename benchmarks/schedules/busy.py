#!/usr/bin/env python3
"""Compares schedules on two ranks, one of which shares its core with a busy process.

Both ranks are pinned to a core each. The schedules run in turn, and medians are compared: `auto` should reach 0.95
of the best other schedule. Needs two cores, and taskset (util-linux).

    cmake --preset release && cmake --build --preset release
    benchmarks/schedules/busy.py
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

SCHEDULES = ["auto", "guided", "first-come", "first-come:chunk=4", "hybrid", "interleaved", "ring",
             "ring:order=doubling,copies=yes"]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")


def seconds(options, folder, schedule):
    report = folder / "report.json"
    program = [str(options.bin / "skel-raytrace"), "--scene", options.scene, "--size", options.size, "--threads", "1",
               "--quiet", "--schedule", schedule, "--report", str(report)]
    command = ["mpiexec", "--oversubscribe", "--bind-to", "none",
               "-n", "1", "taskset", "-c", "0", *program, ":", "-n", "1", "taskset", "-c", "1", *program]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"busy.py: exit code {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return json.loads(report.read_text())["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="directory of the programs")
    parser.add_argument("--scene", default="gears:4")
    parser.add_argument("--size", default="1024x1024")
    parser.add_argument("--repetitions", type=int, default=7)
    options = parser.parse_args()
    if shutil.which("taskset") is None or (os.cpu_count() or 1) < 2:
        sys.exit("busy.py: needs taskset and two cores")
    times = {s: [] for s in SCHEDULES}
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", "while True: pass"]) as busy:
            try:
                for _ in range(options.repetitions):
                    for s in SCHEDULES:
                        times[s].append(seconds(options, pathlib.Path(folder), s))
            finally:
                busy.kill()
    medians = {s: statistics.median(t) for s, t in times.items()}
    print("| schedule | seconds, median [least..most] |\n|---|---|")
    for s in sorted(SCHEDULES, key=medians.get):
        print(f"| {s} | {medians[s]:.3f} [{min(times[s]):.3f}..{max(times[s]):.3f}] |")
    best = min(m for s, m in medians.items() if s != "auto")
    print(f"\nauto: {best / medians['auto']:.3f} of the best other schedule (target 0.95)")


if __name__ == "__main__":
    main()
