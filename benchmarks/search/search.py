#!/usr/bin/env python3
"""Compares skel-search on one rank per core with a plain sequential traversal: nodes per second and core.

    cmake --preset bench && cmake --build --preset bench
    benchmarks/search/search.py                  # two minutes
    benchmarks/search/search.py --trees T3       # one row of the table

For every tree and repetition, one after the other (A, B, C, A, B, C ...): the traversal alone; as many simultaneous copies
of it as there are ranks, which is the limit of the machine; skel-search on that number of ranks, and as one process with
that number of threads. Medians [10 % .. 90 %]. `per core` divides by the traversal alone and by the ranks; `of the machine`
divides by the copies. Needs only Python's standard library. With --check, exit code 1 if a target was missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TARGET = 0.9  # per core, on two ranks


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")


def fields(text):
    return dict(item.split("=", 1) for item in text.split())


def traverse(options, tree, copies):
    """Seconds of the slowest of `copies` simultaneous traversals."""
    running = [subprocess.Popen([options.bin / "skel-bench-traverse", tree], stdout=subprocess.PIPE, text=True)
               for _ in range(copies)]
    return max(float(fields(p.communicate()[0])["seconds"]) for p in running)


def search(options, tree, ranks, threads):
    """Seconds of the skeleton call from the report, the same part that the traversal measures."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [str(options.bin / "skel-search"), "--tree", tree, "--threads", str(threads), "--take", options.take,
                   "--quiet", "--report", report.name]
        if ranks > 1:
            command = ["mpiexec", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(), check=False)
        if done.returncode != 0:
            sys.exit(f"search.py: exit code {done.returncode}: {' '.join(command)}\n{done.stderr}")
        run = json.load(open(report.name, encoding="utf-8"))
    return run["seconds"], run["nodes"], run["steals"]


def shown(values):
    ordered = sorted(values)
    tenth = len(ordered) // 10
    return f"{statistics.median(ordered):.3f} [{ordered[tenth]:.3f} .. {ordered[-1 - tenth]:.3f}]"


def row(options, tree):
    alone, copies, by_ranks, by_threads, steals = [], [], [], [], []
    for _ in range(options.repetitions):
        alone.append(traverse(options, tree, 1))
        copies.append(traverse(options, tree, options.ranks))
        seconds, nodes, stolen = search(options, tree, options.ranks, 1)
        by_ranks.append(seconds)
        steals.append(stolen)
        by_threads.append(search(options, tree, 1, options.ranks)[0])
    base = statistics.median(alone) / options.ranks
    per_core = base / statistics.median(by_ranks)
    machine = statistics.median(copies) / options.ranks / statistics.median(by_ranks)
    threaded = base / statistics.median(by_threads)
    verdict = "ok" if per_core >= TARGET else "MISSED"
    print(f"| {tree} | {nodes} | {shown(alone)} | {shown(copies)} | {shown(by_ranks)} | {shown(by_threads)} | "
          f"{statistics.median(steals):.0f} | {per_core:.2f} {verdict} | {threaded:.2f} | {machine:.2f} |", flush=True)
    return per_core >= TARGET


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="directory of the programs")
    parser.add_argument("--trees", nargs="+", default=["T1", "T2", "T3", "T4", "T5"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--take", default="half", choices=["one", "half"])
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--check", action="store_true", help="exit code 1 if a target was missed")
    options = parser.parse_args()
    n = options.ranks
    print(f"seconds, medians of {options.repetitions} repetitions [10 % .. 90 %]; target: {TARGET} per core\n\n"
          f"| tree | nodes | traversal | {n} traversals at once | {n} ranks | {n} threads | steals | per core, ranks | "
          "per core, threads | of the machine |\n|---|---|---|---|---|---|---|---|---|---|")
    good = all([row(options, tree) for tree in options.trees])
    sys.exit(0 if good or not options.check else 1)


if __name__ == "__main__":
    main()
