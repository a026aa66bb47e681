#!/usr/bin/env python3
"""Compares steered farms with one farm per generation, on 8 simulated ranks, for tasks of 1 s with a spread of 20 %.

A steered farm should be idle for at most 5 % of the time.

    benchmarks/farm/steered.py
"""
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

MODES = [("as results come", "come"), *((f"reproducible, window {w}", "window", w) for w in (8, 12, 16, 24, 32)),
         *((f"generations of {p}", "generations", p) for p in (16, 32, 64))]


def main():
    options = bench.parser(__doc__, check=True).parse_args()
    bench.need(options, "skel-bench-steered")
    bench.head("tasks are asked for", "idle, %", "seconds", "least error")
    idle = {}
    for name, *mode in MODES:
        values = bench.run(options.bin / "skel-bench-steered", *mode).split()
        idle[name] = float(values[0])
        bench.row(name, *values)
    good = idle["as results come"] <= 5
    print(f"\nas results come: {idle['as results come']} % idle (target 5): {bench.word(good)}")
    bench.finish(good, options)


main()
