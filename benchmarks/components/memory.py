#!/usr/bin/env python3
"""Prints the memory of each rank of skel-components on 1, 2 and 4 ranks, for a formula and for the same graph in a file.

    benchmarks/components/memory.py                                        # 64 million edges, some minutes
    benchmarks/components/memory.py --graph kronecker:scale=18,degree=16   # a quick trial

Peak resident set of the process, from the report, MPI included. The file is written to --directory, 8 bytes for each edge
(.skel-edges), and removed. With --text it is an edge list instead. Needs only Python's standard library. With --check, exit
code 1 if four ranks miss the target.
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

TARGET = 0.45  # memory of the largest of four ranks, relative to one rank
labels = set()  # hashes of all results


def run(options, ranks, *words):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = ["mpiexec", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", str(options.bin / "skel-components"), *words,
                   "--threads", "1", "--quiet", "--report", report.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=1800,
                       env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never"))
        return json.load(open(report.name, encoding="utf-8"))


def write_text(binary, text):
    """Turns a .skel-edges file into an edge list."""
    with open(binary, "rb") as source, open(text, "w", encoding="ascii") as to:
        source.seek(40)
        while some := source.read(8 << 20):
            to.writelines(f"{u}\t{v}\n" for u, v in struct.iter_unpack("<II", some))


def measure(options, name, words):
    one, good = None, True
    for ranks in (1, 2, 4):
        report = run(options, ranks, *words)
        peaks = [r["peak_memory_bytes"] for r in report["per_rank"]]
        one = one or max(peaks)
        ratio = max(peaks) / one
        verdict = "" if ranks < 4 else f" (target {TARGET}: {'ok' if ratio <= TARGET else 'MISSED'})"
        good = good and (ranks < 4 or ratio <= TARGET)
        print(f"| {name} | {ranks} | {', '.join(f'{p / 1e6:.0f}' for p in peaks)} | {ratio:.2f}{verdict} |", flush=True)
        labels.add(report["result_xxh3"])
    if len(labels) > 1:
        sys.exit("memory.py: the labels differ")
    return good


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="directory of the programs")
    parser.add_argument("--graph", default="kronecker:scale=22,degree=16", help="a formula of skel-components --generate")
    parser.add_argument("--directory", type=pathlib.Path, help="where the file is written (default: that of temporary files)")
    parser.add_argument("--text", action="store_true", help="write an edge list, which takes minutes")
    parser.add_argument("--check", action="store_true", help="exit code 1 if the target was missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        print(f"{options.graph}\n\n| edges from | ranks | peak memory of each rank, MB | of one rank's |\n|---|---|---|---|")
        good = measure(options, "formula", ["--generate", options.graph])
        graph = pathlib.Path(folder) / "graph.skel-edges"
        nodes = run(options, 1, "--generate", options.graph, "--write-graph", str(graph))["nodes"]
        if options.text:
            binary, graph = graph, graph.with_suffix(".el")
            write_text(binary, graph)
            binary.unlink()
        good = measure(options, graph.suffix, [str(graph), "--nodes", str(nodes)]) and good
    sys.exit(0 if good or not options.check else 1)


if __name__ == "__main__":
    main()
