#!/usr/bin/env python3
"""Prints the memory of each rank of skel-components on 1, 2 and 4 ranks, for a formula and for the same graph in a file.

    benchmarks/components/memory.py                                        # 64 million edges, some minutes
    benchmarks/components/memory.py --graph kronecker:scale=18,degree=16   # a quick trial

Peak resident set of the process, from the report, MPI included. The file is written to --directory, 8 bytes for each edge
(.skel-edges), and removed.
"""
import pathlib
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

TARGET = 0.45  # memory of the largest of four ranks, relative to one rank
labels = set()  # hashes of all results


def run(options, ranks, *words):
    return bench.report(*bench.mpiexec(ranks), options.bin / "skel-components", *words, "--threads", 1, timeout=1800)


def measure(options, name, words):
    one, good = None, True
    for ranks in (1, 2, 4):
        report = run(options, ranks, *words)
        peaks = [r["peak_memory_bytes"] for r in report["per_rank"]]
        one = one or max(peaks)
        ratio = max(peaks) / one
        verdict = "" if ranks < 4 else f" (target {TARGET}: {bench.word(ratio <= TARGET)})"
        good = good and (ranks < 4 or ratio <= TARGET)
        bench.row(name, ranks, ", ".join(f"{p / 1e6:.0f}" for p in peaks), f"{ratio:.2f}{verdict}")
        labels.add(report["result_xxh3"])
    if len(labels) > 1:
        bench.fail("the labels differ")
    return good


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--graph", default="kronecker:scale=22,degree=16", help="a formula of skel-components --generate")
    parser.add_argument("--directory", type=pathlib.Path, help="where the file is written (default: that of temporary files)")
    options = parser.parse_args()
    bench.need(options, "skel-components", "mpiexec")
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        print(f"{options.graph}\n")
        bench.head("edges from", "ranks", "peak memory of each rank, MB", "of one rank's")
        good = measure(options, "formula", ["--generate", options.graph])
        graph = pathlib.Path(folder) / "graph.skel-edges"
        nodes = run(options, 1, "--generate", options.graph, "--write-graph", graph)["nodes"]
        good = measure(options, graph.suffix, [graph, "--nodes", nodes]) and good
    bench.finish(good, options)


main()
