#!/usr/bin/env python3
"""Simulates farms of tasks of known cost: shares of the bound when tasks begin in the order of the list, and with the
most costly first (farm_options::per_task::cost). The bound is that of schedules.py, which also draws the costs: 64 tasks per rank.

    benchmarks/schedules/longest_first.py    # ten to twenty minutes; the same command gives the same table
"""
import concurrent.futures
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from schedules import TASKS_PER_RANK, draws, fastest_power, simulate  # noqa: E402


def main():
    parser = bench.parser(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--platforms", nargs="+", default=["cluster-1024"])
    parser.add_argument("--costs", nargs="+", default=["exponential", "pareto 2.5", "pareto 1.5"])
    parser.add_argument("--schedules", nargs="+", default=["auto", "first-come", "guided", "blocks", "interleaved"])
    parser.add_argument("--draws", type=int, default=5, help="draws of the costs; a cell is the median")
    options = parser.parse_args()
    bench.head("platform", "costs", *options.schedules)
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)

        def share(job):
            platform, ranks, seed, costs, schedule, more = job
            drawn = draws(costs, ranks * TASKS_PER_RANK, seed)
            file = folder / f"{abs(hash(job))}.csv"
            file.write_text("".join(f"{c:.9f}\n" for c in drawn))
            report = simulate(options, platform, file, schedule, ranks, more)
            return max(report["ideal_seconds"], max(drawn) / fastest[platform, ranks]) / report["seconds"]

        where = [(p, n) for p in options.platforms for n in options.ranks]
        fastest = {(p, n): fastest_power(options, p, n, n, folder) for p, n in where}
        for platform, ranks in where:
            for costs in options.costs:
                cells = []
                for schedule in options.schedules:
                    before, after = (
                        statistics.median(pool.map(share, [(platform, ranks, seed, costs, schedule, more)
                                                           for seed in range(1, options.draws + 1)]))
                        for more in ((), ("--longest-first",)))
                    cells.append(f"{before:.3f} → {after:.3f}")
                bench.row(f"{platform}, {ranks} ranks", costs, *cells)


main()
