#!/usr/bin/env python3
"""Connected components from an edge array in memory to all labels: skel's union-find against peers, and ranks.

    cmake --preset bench && cmake --build --preset bench
    benchmarks/components/components.py                # three minutes
    benchmarks/components/components.py --repetitions 5 --graphs uniform:n=2048000,m=2048000,seed=1

All methods take turns in one process, on the same edges (A, B, C, A, B, C ...); all labels must be the same. Peers: the
plain sequential union-find, and Afforest, written after Sutton et al. 2018, with the graph it needs first, as GAPBS does.
Ranks: skel-components, which measures one core in the same run; beside it the hypercube by hand over MPI with the same
messages (skel-bench-components-ranks), and the skeleton in the same protocol (skel-bench-components-skeleton): again and
again in memory that has been used before, while skel-components is one run of new processes. Two copies at once: how much
slower one core is while the other does the same, which no division of the work can avoid. Medians [10 % .. 90 %] of wall seconds. On a loaded machine
look at `processor` instead: seconds of the processor, of all threads together.
Needs only Python's standard library. Exit code 1 with --check: a target was missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

UNIFORM, KRONECKER = "uniform:n=2048000,m=2048000,seed=1", "kronecker:scale=20,degree=16,seed=1"
ONE_CORE = 1.0  # of the plain union-find's speed
THREADS = 1.5  # two threads, of one core
RANKS = {UNIFORM: 0.9, KRONECKER: 1.5}  # two ranks, of one core
MEMORY = 2.5  # of edges and labels


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")


def output(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900, env=environment(), check=False)
    if done.returncode != 0:
        sys.exit(f"components.py: exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stderr}")
    return [dict(item.split("=", 1) for item in line.split()) for line in done.stdout.splitlines()
            if line and all("=" in item for item in line.split())]


def shown(values):
    ordered = sorted(values)
    tenth = len(ordered) // 10
    return f"{statistics.median(ordered):.4f} [{ordered[tenth]:.4f} .. {ordered[-1 - tenth]:.4f}]"


def ratio(above, below):
    """The median of paired ratios."""
    return statistics.median(a / b for a, b in zip(above, below))


class Verdicts:
    def __init__(self):
        self.good = True

    def __call__(self, value, target, most=False):
        met = value <= target if most else value >= target
        self.good = self.good and met
        return f"{value:.2f} {'ok' if met else 'MISSED'} (target {'<=' if most else '>='} {target})"


def methods(options, graph, verdict):
    names = ["union-find:1", "skel:1", "skel:2", "afforest:1", "afforest:2"]
    lines = output([options.bin / "skel-bench-components", ",".join(names), graph, options.repetitions])
    if len({line["xxh3"] for line in lines}) != 1:
        sys.exit(f"components.py: the labels of {graph} differ between methods")
    wall = {n: [float(line["seconds"]) for line in lines if line["method"] == n] for n in names}
    cpu = {n: [float(line["cpu"]) for line in lines if line["method"] == n] for n in names}
    print(f"\n{graph}\n\n| method | seconds | processor |\n|---|---|---|")
    for n in names:
        print(f"| {n} | {shown(wall[n])} | {shown(cpu[n])} |")
    print(f"\none core, of the plain union-find's speed: {verdict(ratio(wall['union-find:1'], wall['skel:1']), ONE_CORE)}")
    print(f"two threads, of one: {verdict(ratio(wall['skel:1'], wall['skel:2']), THREADS)}")
    return lines[0]["xxh3"]


def ranks(options, graph, xxh3, verdict):
    for mode in ("cheapest", "dense"):
        command = ["mpiexec", "-n", "2", "--oversubscribe", "--bind-to", "none", options.bin / "skel-bench-components-ranks",
                   graph, options.repetitions] + (["dense"] if mode == "dense" else [])
        lines = output(command)
        if {line["xxh3"] for line in lines} != {xxh3}:
            sys.exit(f"components.py: the labels of {graph} differ on two ranks")
        wall, alone = ([float(line[key]) for line in lines] for key in ("seconds", "alone"))
        cpu, alone_cpu = ([float(line[key]) for line in lines] for key in ("cpu", "alone_cpu"))
        speed = ratio(alone, wall)
        print(f"two ranks by hand, {mode}: {shown(wall)} s, {lines[0]['bytes']} bytes sent by each; of one core "
              f"({shown(alone)} s): {speed:.2f}; processor {shown(cpu)}, one core {shown(alone_cpu)}")


def skeleton(options, graph, xxh3, verdict):
    lines = output(["mpiexec", "-n", "2", "--oversubscribe", "--bind-to", "none", options.bin / "skel-bench-components-skeleton",
                    graph, options.repetitions])
    if {line["xxh3"] for line in lines} != {xxh3}:
        sys.exit(f"components.py: the labels of {graph} differ with the skeleton")
    wall, alone = ([float(line[key]) for line in lines] for key in ("seconds", "alone"))
    phases = ", ".join(f"{key} {shown([float(line[key]) for line in lines])}"
                       for key in ("sequential1", "exchange0", "combine0"))
    text = verdict(ratio(alone, wall), RANKS[graph]) if graph in RANKS else f"{ratio(alone, wall):.2f}"
    print(f"two ranks with the skeleton: {shown(wall)} s ({phases}); of one core ({shown(alone)} s): {text}")


def copies(options, graph):
    """Two processes that solve all of it at once, against one alone."""
    command = [str(options.bin / "skel-bench-components"), "skel:1", graph, str(3 * options.repetitions)]

    def seconds(count):
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) for _ in range(count)]
        texts = [process.communicate(timeout=900)[0] for process in running]
        return [float(line.split("seconds=")[1].split()[0]) for text in texts for line in text.splitlines()]

    alone, both = seconds(1), seconds(2)
    print(f"two copies at once: {shown(both)} s each, alone {shown(alone)} s: "
          f"{statistics.median(both) / statistics.median(alone):.2f} times as long")


def program(options, graph, verdict):
    """skel-components itself: seconds and memory, from its report."""
    for count in (1, 2):
        seconds, alone, memory, sent = [], [], 0, 0
        for _ in range(options.repetitions):
            with tempfile.NamedTemporaryFile(suffix=".json") as report:
                output(["mpiexec", "-n", count, "--oversubscribe", "--bind-to", "none", options.bin / "skel-components",
                        "--generate", graph, "--threads", "1", "--report", report.name])
                run = json.load(open(report.name, encoding="utf-8"))
            seconds.append(run["seconds"])
            alone.append(run.get("one_core_seconds", run["seconds"]))
            sent = run.get("bytes", 0)
            memory = max([memory] + [r.get("peak_memory_bytes", 0) for r in run.get("per_rank", [])])
            size = 8 * run["edges"] + 4 * run["nodes"]
        text = f"skel-components on {count} ranks: {shown(seconds)} s, {sent} bytes sent"
        if count == 2 and graph in RANKS:
            text += f"; of one core in the same run ({shown(alone)} s): {verdict(ratio(alone, seconds), RANKS[graph])}"
        print(text + (f"; memory, of edges and labels: {verdict(memory / size, MEMORY, most=True)}" if memory else ""))


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="where the programs are")
    parser.add_argument("--graphs", nargs="+", default=[UNIFORM, KRONECKER])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--check", action="store_true", help="exit code 1 if a target was missed")
    options = parser.parse_args()
    verdict = Verdicts()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for graph in options.graphs:
        xxh3 = methods(options, graph, verdict)
        ranks(options, graph, xxh3, verdict)
        skeleton(options, graph, xxh3, verdict)
        copies(options, graph)
        program(options, graph, verdict)
    sys.exit(0 if verdict.good or not options.check else 1)


if __name__ == "__main__":
    main()
