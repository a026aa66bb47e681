#!/usr/bin/env python3
"""Compares programs on two ranks with two copies of themselves, and the memory of N ranks with one process.

    benchmarks/ranks.py                          # ray tracer, volume renderer, isosurface modeler: some minutes
    benchmarks/ranks.py --programs skel-volume

Speed: two independent single-threaded processes side by side show the limit of two cores; two ranks that share one job
should come close (target 0.92). Seconds are those of the report, without the start-up of processes; runs alternate
(copies, ranks, copies, ...); medians of all repetitions, with their spread.

Memory: peak resident set of each rank minus that of an empty MPI program, relative to a single process (target 1.2).
"""
import json
import pathlib
import statistics
import subprocess
import tempfile

import bench

# Jobs of one or two seconds.
JOBS = {
    "skel-raytrace": {scene: ["--scene", scene, "--size", "1024x1024"] for scene in ("balls:4", "gears:4", "tetra:6")},
    "skel-volume": {"wind, light": ["--field", "wind", "--size", "1200x900"],
                    "turbulence 128^3": ["--field", "turbulence:128x128x128", "--size", "1200x900"]},
    "skel-isosurface": {
        "sphere 512x512x65, order 1": ["--field", "sphere:512x512x65", "--iso", "0.2,0.3,0.4,0.5,0.6,0.7,0.8"],
        "sphere 512x512x65, order 3": ["--field", "sphere:512x512x65", "--iso", "0.2,0.3,0.4,0.5,0.6,0.7,0.8", "--order", "3",
                                       "--grid", "3"]},
}
def start(options, prefix, program, arguments, report):
    command = [*prefix, str(options.bin / program), *arguments, "--threads", "1", "--quiet", "--report", report]
    # Two launches that start at once would both create Open MPI's session folder.
    own = pathlib.Path(report).with_suffix(".tmp")
    own.mkdir(exist_ok=True)
    return subprocess.Popen(command, env=dict(bench.ENVIRONMENT, TMPDIR=str(own)), stdout=subprocess.DEVNULL)


def finish(processes, reports):
    if any(p.wait(timeout=600) != 0 for p in processes):
        bench.fail("a run failed")
    return [json.loads(pathlib.Path(r).read_text()) for r in reports]


def speed(options, folder, program, job, arguments):
    copies, ranks = [], []
    for _ in range(options.repetitions):
        names = [f"{folder}/copy{i}.json" for i in (0, 1)]
        both = finish([start(options, [], program, arguments, n) for n in names], names)
        copies.append(sum(1 / r["seconds"] for r in both))
        name = f"{folder}/ranks.json"
        ranks.append(1 / finish([start(options, bench.mpiexec(2), program, arguments, name)], [name])[0]["seconds"])
    ratios = sorted(r / c for r, c in zip(ranks, copies))
    ratio = statistics.median(ratios)
    bench.row(program, job, f"{statistics.median(copies):.3g}/s", f"{statistics.median(ranks):.3g}/s",
              f"{ratio:.3f} [{ratios[0]:.3f}..{ratios[-1]:.3f}]", f">= 0.92 {bench.word(ratio >= 0.92)}")
    return ratio >= 0.92


def memory(options, folder, scene, ranks):
    text = bench.run(*bench.mpiexec(ranks), options.bin / "skel-bench-empty-mpi")
    empty = max(int(line.split("=")[-1]) for line in text.splitlines())
    name = f"{folder}/memory.json"

    def peaks(prefix):
        picture = ["--scene", scene, "--size", "512x512"]
        report = finish([start(options, prefix, "skel-raytrace", picture, name)], [name])[0]
        return [r["peak_memory_bytes"] - empty for r in report["per_rank"]]

    single, many = peaks([])[0], peaks(bench.mpiexec(ranks))
    ratio = max(many) / single
    bench.row(scene, f"{single / 2**20:.1f} MiB", ranks, f"{max(many) / 2**20:.1f} MiB", f"{ratio:.2f}",
              f"<= 1.20 {bench.word(ratio <= 1.2)}")
    return ratio <= 1.2


def main():
    parser = bench.parser(__doc__, repetitions=7, check=True)
    parser.add_argument("--programs", nargs="+", choices=list(JOBS), default=list(JOBS))
    options = parser.parse_args()
    bench.need(options, *options.programs, "mpiexec", *(["skel-bench-empty-mpi"] if "skel-raytrace" in options.programs else []))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        bench.head("program", "job", "two copies", "two ranks", "ratio", "target")
        for program in options.programs:
            for job, arguments in JOBS[program].items():
                good &= speed(options, folder, program, job, arguments)
        if "skel-raytrace" in options.programs:
            print()
            bench.head("scene", "one process", "ranks", "largest rank", "ratio", "target")
            for ranks in (2, 4):
                good &= memory(options, folder, "balls:6", ranks)
    bench.finish(good, options)


main()
