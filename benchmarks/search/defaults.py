#!/usr/bin/env python3
"""Compares the defaults of ring_steal (a thief takes half, and asks at doubling distances) with its other options.

Simulates the search of two UTS trees: T1 (geometric) and T3 (binomial), 4.1 million nodes each, 10 us per node. A cell is
the ideal time divided by the simulated time. Every machine gives the same table.

    benchmarks/search/defaults.py    # about ten minutes on two idle cores
"""
import concurrent.futures
import itertools
import os
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

PLATFORMS = ["cluster:ranks=64", "cluster:ranks=256", "uneven:ranks=64,seed=1"]
ORDERS, TAKES = ["doubling", "successors", "predecessors"], ["half", "one"]


def share(options, tree, platform, order, take):
    r = bench.simulate(options, "--skeleton", "ring_steal", "--tree", tree, "--platform", platform, "--costs", "constant:10us",
                       "--order", order, "--take", take)
    return r["ideal_seconds"] / r["seconds"]


def main():
    options = bench.parser(__doc__).parse_args()
    kinds = list(itertools.product(ORDERS, TAKES))
    bench.head("tree", "platform", *(f"{o}, {t}" for o, t in kinds), "default / best")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for tree, platform in itertools.product(["T1", "T3"], PLATFORMS):
            shares = list(pool.map(lambda k: share(options, tree, platform, *k), kinds))
            bench.row(tree, platform, *(f"{s:.3f}" for s in shares), f"{shares[0] / max(shares):.3f}")


main()
