#!/usr/bin/env python3
"""Compares skel-search on one rank per core with a plain sequential traversal: nodes per second and core.

    benchmarks/search/search.py                  # two minutes
    benchmarks/search/search.py --trees T3       # one row of the table

For every tree and repetition, one after the other (A, B, C, A, B, C ...): the traversal alone; as many simultaneous copies
of it as there are ranks, which is the limit of the machine; skel-search on that number of ranks, and as one process with
that number of threads. Medians [10 % .. 90 %]. `per core` divides by the traversal alone and by the ranks; `of the machine`
divides by the copies.
"""
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

TARGET = 0.9  # per core, on two ranks


def traverse(options, tree, copies):
    """Seconds of the slowest of `copies` simultaneous traversals."""
    outputs = bench.at_once(copies, options.bin / "skel-bench-traverse", tree)
    return max(float(bench.fields(text)[0]["seconds"]) for text in outputs)


def search(options, tree, ranks, threads):
    """Seconds of the skeleton call from the report, the same part that the traversal measures."""
    run = bench.report(*(bench.mpiexec(ranks) if ranks > 1 else []), options.bin / "skel-search", "--tree", tree, "--threads",
                       threads, timeout=300)
    return run["seconds"], run["nodes"], run["steals"]


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
    bench.row(tree, nodes, *map(bench.shown, (alone, copies, by_ranks, by_threads)), f"{statistics.median(steals):.0f}",
              f"{per_core:.2f} {bench.word(per_core >= TARGET)}", f"{threaded:.2f}", f"{machine:.2f}")
    return per_core >= TARGET


def main():
    parser = bench.parser(__doc__, repetitions=15, check=True)
    parser.add_argument("--trees", nargs="+", default=["T1", "T2", "T3", "T4", "T5"])
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    bench.need(options, "skel-bench-traverse", "skel-search", "mpiexec")
    n = options.ranks
    print(f"seconds, medians of {options.repetitions} repetitions [10 % .. 90 %]; target: {TARGET} per core\n")
    bench.head("tree", "nodes", "traversal", f"{n} traversals at once", f"{n} ranks", f"{n} threads", "steals", "per core, ranks",
               "per core, threads", "of the machine")
    good = all([row(options, tree) for tree in options.trees])
    bench.finish(good, options)


main()
