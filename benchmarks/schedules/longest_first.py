#!/usr/bin/env python3
"""Simulates farms of tasks of known cost: shares of the bound when tasks begin in the order of the list, and with the
most costly first (farm_options::per_task::cost). The bound is that of schedules.py, which also draws the costs: 64 tasks per rank.

    benchmarks/schedules/longest_first.py    # ten to twenty minutes; the same command gives the same table
"""
import concurrent.futures
import functools
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from schedules import TASKS_PER_RANK, draws, fastest_power, simulate  # noqa: E402


def cells(options, pool, folder, platform, ranks, costs):
    fastest = fastest_power(options, platform, ranks, ranks, folder)

    def share(job):
        seed, schedule, more = job
        drawn = draws(costs, ranks * TASKS_PER_RANK, seed)
        file = folder / f"{seed} {schedule} {more}.csv"
        file.write_text("".join(f"{c:.9f}\n" for c in drawn))
        report = simulate(options, platform, file, schedule, ranks, more)
        return max(report["ideal_seconds"], max(drawn) / fastest) / report["seconds"]

    def median(schedule, *more):
        return statistics.median(pool.map(share, [(seed, schedule, more) for seed in range(1, options.draws + 1)]))

    shares = [f"{median(s):.3f} → {median(s, '--longest-first'):.3f}" for s in options.schedules]
    return f"{platform}, {ranks} ranks", costs, *shares


def main():
    parser = bench.parser(__doc__, rows=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--platforms", nargs="+", default=["cluster-1024"])
    parser.add_argument("--costs", nargs="+", default=["exponential", "pareto 2.5", "pareto 1.5"])
    parser.add_argument("--schedules", nargs="+", default=["auto", "first-come", "guided", "blocks", "interleaved"])
    parser.add_argument("--draws", type=int, default=5, help="draws of the costs; a cell is the median")
    options = parser.parse_args()
    bench.need(options, "skel-simulate")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(bench.cores())) as pool:
        bench.table(options, ["platform", "costs", *options.schedules],
                    [functools.partial(cells, options, pool, Path(folder), platform, ranks, costs)
                     for platform in options.platforms for ranks in options.ranks for costs in options.costs])


main()
