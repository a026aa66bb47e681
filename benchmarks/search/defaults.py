#!/usr/bin/env python3
"""Compares the defaults of ring_steal (a thief takes half, and asks at doubling distances) with its other options.

Simulates the search of two UTS trees: T1 (geometric) and T3 (binomial), 4.1 million nodes each, 10 us per node. A cell is
the ideal time divided by the simulated time. Every machine gives the same table.

    benchmarks/search/defaults.py    # about ten minutes on two idle cores
"""
import concurrent.futures
import functools
import itertools
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

PLATFORMS = ["cluster:ranks=16", "cluster:ranks=64", "cluster:ranks=256", "uneven:ranks=64,seed=1"]
ORDERS, TAKES = ["doubling", "successors", "predecessors"], ["half", "one"]


def share(options, tree, platform, order, take):
    r = bench.simulate(options, "--skeleton", "ring_steal", "--tree", tree, "--platform", platform, "--costs", "constant:10us",
                       "--order", order, "--take", take)
    return r["ideal_seconds"] / r["seconds"]


def cells(options, pool, kinds, tree, platform):
    shares = list(pool.map(lambda kind: share(options, tree, platform, *kind), kinds))
    return tree, platform, *(f"{s:.3f}" for s in shares), f"{shares[0] / max(shares):.3f}"


def main():
    options = bench.parser(__doc__, rows=True).parse_args()
    bench.need(options, "skel-simulate")
    kinds = list(itertools.product(ORDERS, TAKES))
    with concurrent.futures.ThreadPoolExecutor(len(bench.cores())) as pool:
        bench.table(options, ["tree", "platform", *(f"{o}, {t}" for o, t in kinds), "default / best"],
                    [functools.partial(cells, options, pool, kinds, *case) for case in itertools.product(["T1", "T3"], PLATFORMS)])


main()
