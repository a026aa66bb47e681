#!/usr/bin/env python3
"""Compares programs on two ranks with two copies of themselves, and the memory of N ranks with one process.

    cmake --preset bench && cmake --build --preset bench
    benchmarks/ranks.py                          # ray tracer, volume renderer, isosurface modeler: some minutes
    benchmarks/ranks.py --programs skel-volume

Speed: two independent single-threaded processes side by side show the limit of two cores; two ranks that share one job
should come close (target 0.92). Seconds are those of the report, without the start-up of processes; runs alternate
(copies, ranks, copies, ...); medians of all repetitions, with their spread.

Memory: peak resident set of each rank minus that of an empty MPI program, relative to a single process (target 1.2).
Needs only Python's standard library. With --check, exit code 1 if a target was missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

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
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")


def mpiexec(ranks):
    return ["mpiexec", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"]


def start(options, prefix, program, arguments, report):
    command = [*prefix, str(options.bin / program), *arguments, "--threads", "1", "--quiet", "--report", report]
    # Two launches that start at once would both create Open MPI's session folder.
    own = pathlib.Path(report).with_suffix(".tmp")
    own.mkdir(exist_ok=True)
    return subprocess.Popen(command, env=dict(ENVIRONMENT, TMPDIR=str(own)), stdout=subprocess.DEVNULL)


def finish(processes, reports):
    if any(p.wait(timeout=600) != 0 for p in processes):
        sys.exit("ranks.py: a run failed")
    return [json.loads(pathlib.Path(r).read_text()) for r in reports]


def speed(options, folder, program, job, arguments):
    copies, ranks = [], []
    for _ in range(options.repetitions):
        names = [f"{folder}/copy{i}.json" for i in (0, 1)]
        both = finish([start(options, [], program, arguments, n) for n in names], names)
        copies.append(sum(1 / r["seconds"] for r in both))
        name = f"{folder}/ranks.json"
        ranks.append(1 / finish([start(options, mpiexec(2), program, arguments, name)], [name])[0]["seconds"])
    ratios = sorted(r / c for r, c in zip(ranks, copies))
    ratio = statistics.median(ratios)
    print(f"| {program} | {job} | {statistics.median(copies):.3g}/s | {statistics.median(ranks):.3g}/s | {ratio:.3f} "
          f"[{ratios[0]:.3f}..{ratios[-1]:.3f}] | >= 0.92 {'ok' if ratio >= 0.92 else 'MISSED'} |", flush=True)
    return ratio >= 0.92


def memory(options, folder, scene, ranks):
    text = subprocess.run([*mpiexec(ranks), str(options.bin / "skel-bench-empty-mpi")], env=ENVIRONMENT, check=True,
                          capture_output=True, text=True).stdout
    empty = max(int(line.split("=")[-1]) for line in text.splitlines())
    name = f"{folder}/memory.json"

    def peaks(prefix):
        picture = ["--scene", scene, "--size", "512x512"]
        report = finish([start(options, prefix, "skel-raytrace", picture, name)], [name])[0]
        return [r["peak_memory_bytes"] - empty for r in report["per_rank"]]

    single, many = peaks([])[0], peaks(mpiexec(ranks))
    ratio = max(many) / single
    print(f"| {scene} | {single / 2**20:.1f} MiB | {ranks} | {max(many) / 2**20:.1f} MiB | {ratio:.2f} | "
          f"<= 1.20 {'ok' if ratio <= 1.2 else 'MISSED'} |", flush=True)
    return ratio <= 1.2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[1]
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="directory of the programs")
    parser.add_argument("--programs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--memory-scene", default="balls:6", help="scene whose size dominates the memory")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a target was missed")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        print("| program | job | two copies | two ranks | ratio | target |\n|---|---|---|---|---|---|")
        for program in options.programs:
            for job, arguments in JOBS[program].items():
                good &= speed(options, folder, program, job, arguments)
        if "skel-raytrace" in options.programs:
            print("\n| scene | one process | ranks | largest rank | ratio | target |\n|---|---|---|---|---|---|")
            for ranks in (2, 4):
                good &= memory(options, folder, options.memory_scene, ranks)
    sys.exit(0 if good or not options.check else 1)


if __name__ == "__main__":
    main()
