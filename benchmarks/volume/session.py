#!/usr/bin/env python3
"""Measures user pattern 1 of [Storm95, section 6.3]: one grid, a picture of it from each of several views.

    benchmarks/volume/session.py [--bin build/release/bin] [--ranks 2] [--views 12] [--field wind] [--repetitions 5]

Renders the same views in one session and in a run of their own each, in turn, and compares the pictures' bytes. In the
session, a picture counts from its command to the line that reports it; the first one, which waits for the grid, is apart.
A single run counts as a whole: the start of MPI, the grid, the picture. Prints medians of all repetitions.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402


def median(values):
    return f"{statistics.median(values):8.3f} s (least {min(values):.3f}, most {max(values):.3f})"


def session(command, views):
    """Seconds up to the first picture, and of each later one."""
    seconds = []
    with subprocess.Popen([*command, "--session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=bench.YIELDING) as job:
        start = time.perf_counter()
        for k, view in enumerate(views):
            job.stdin.write(f"view {json.dumps(view)}\nrender session-{k}.png\n")
            job.stdin.flush()
            if not job.stdout.readline().startswith(f"session-{k}.png: "):
                bench.fail("the session has ended early")
            seconds.append(time.perf_counter() - start)
            start = time.perf_counter()
        job.stdin.close()
        job.stdout.read()
        if job.wait() != 0:
            bench.fail(f"the session ended with {job.returncode}")
    return seconds[0], seconds[1:]


def single_runs(command, views):
    seconds = []
    for k, view in enumerate(views):
        spec = json.loads((bench.TOP / "examples/volume/specs/storm.json").read_text())
        spec["view"].update(view)
        pathlib.Path("spec.json").write_text(json.dumps(spec))
        start = time.perf_counter()
        bench.run(*command, "--quiet", "--spec", "spec.json", "-o", f"single-{k}.png", env=bench.YIELDING)
        seconds.append(time.perf_counter() - start)
    return seconds


def main():
    parser = bench.parser(__doc__, repetitions=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--views", type=int, default=12)
    parser.add_argument("--field", default="wind", help="a field named wind, of any size")
    options = parser.parse_args()
    if options.views < 2 or options.ranks < 1 or options.repetitions < 1:
        parser.error("expected at least two views, one rank and one repetition")
    bench.need(options, "skel-volume", "mpiexec")
    command = [*bench.mpiexec(options.ranks), options.bin / "skel-volume", "--field", options.field, "--threads", "1"]
    views = [{"azimuth": 360 * k / options.views} for k in range(options.views)]
    first, later, alone = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in range(options.repetitions):
            begin, rest = session(command, views)
            first.append(begin)
            later += rest
            alone += single_runs(command, views)
            for k in range(options.views):
                if pathlib.Path(f"session-{k}.png").read_bytes() != pathlib.Path(f"single-{k}.png").read_bytes():
                    bench.fail(f"view {k}: the session's picture differs")
        os.chdir("/")
    print(f"{options.ranks} ranks, {options.views} views of {options.field}, {options.repetitions} repetitions")
    print(f"session, first picture {median(first)}")
    print(f"session, a picture     {median(later)}")
    print(f"single run             {median(alone)}")
    print(f"ratio                  {statistics.median(alone) / statistics.median(later):8.2f}")


main()
