#!/usr/bin/env python3
"""Simulates the farm's schedules on several platforms and costs, and prints a table of shares of the bound.

The bound is the larger of total cost / total power and largest task / fastest machine. A cell is the bound divided by
the simulated time. The machine does not matter, but for the tasks that are traced here (skel-raytrace, gears): the same
command gives the same table.

    benchmarks/schedules/schedules.py --ranks 64        # minutes
    benchmarks/schedules/schedules.py --ranks 64 256    # half an hour
"""
import concurrent.futures
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

PRESETS = ["auto", "blocks", "interleaved", "first-come", "guided", "hybrid", "ring", "ring:order=doubling,copies=yes"]
HISTORICAL = {"lee-1997-14": 14, "pentium4-14": 14, "athlon-11": 11, "hp720-28": 28}  # ranks
TASKS_PER_RANK = 64
MEAN = 0.1
COSTS = ["constant", "exponential", "pareto 2.5", "pareto 1.5", "decreasing", "one giant", "traced gears"]
HEAVY = ("pareto 1.5", "one giant")  # rows that the second target leaves out


def traced(program, folder):
    """Returns the seconds that skel-raytrace needs here for each of the 16,384 tiles of a picture, row by row: the least of
    five runs, since other processes interrupt some tiles for a hundred times as long."""
    file = folder / "gears.csv"
    runs = []
    for _ in range(5):
        bench.run(program, "--scene", "gears:4", "--unit", "tiles:4", "--unit-costs", file, "--threads", 1, "--quiet", "-o",
                  folder / "gears.ppm")
        runs.append([float(line) for line in file.read_text().split()])
    return [min(seconds) for seconds in zip(*runs)]


def draws(name, tasks, seed, tiles=(), of=1):
    """Returns the costs of `tasks` tasks in seconds, draw `seed` of `of`."""
    if name == "traced gears":  # neighbouring tiles cost about the same
        some = [tiles[i * len(tiles) // tasks] for i in range(tasks)]
        return [c * MEAN * tasks / sum(some) for c in some]
    rng = random.Random(seed)
    if name == "constant":
        return [MEAN] * tasks
    if name == "exponential":
        return [rng.expovariate(1 / MEAN) for _ in range(tasks)]
    if name.startswith("pareto"):
        shape = float(name.split()[1])
        least = MEAN * (shape - 1) / shape
        return [least * rng.paretovariate(shape) for _ in range(tasks)]
    if name == "decreasing":
        return [2 * MEAN * (tasks - i) / tasks for i in range(tasks)]
    costs = [MEAN] * tasks  # one giant: a hundred times as long, in the middle, or anywhere in a part for each draw
    costs[tasks // 2 if of == 1 else int((seed - rng.random()) * tasks / of)] *= 100
    return costs


def simulate(options, platform, costs, schedule, ranks, more=()):
    """Returns the report of one simulation."""
    return bench.simulate(options, "--platform", platform, "--costs", costs, "--schedule", schedule,
                          *(["--ranks", ranks] if ranks else []), *more)


def fastest_power(options, platform, ranks, limit, folder):
    """Returns the power of the fastest machine, from a run with one equal task per rank."""
    costs = folder / "ones.csv"
    costs.write_text("1\n" * ranks)
    rows = simulate(options, platform, costs, "interleaved", limit)["per_rank"]
    return max(row["tasks"] / row["busy_seconds"] for row in rows if row["tasks"])


def main():
    parser = bench.parser(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[64])
    parser.add_argument("--costs", nargs="+", choices=COSTS, default=COSTS)
    parser.add_argument("--seeds", type=int, default=5, help="uneven platforms per number of ranks")
    parser.add_argument("--schedules", nargs="+", default=PRESETS[1:], help="those that auto is compared with")
    parser.add_argument("--draws", type=int, default=1, help="draws of the costs; a cell is the median")
    options = parser.parse_args()
    platforms = [(name, None, ranks) for name, ranks in HISTORICAL.items()]
    for n in options.ranks:
        platforms.append(("cluster-1024", n, n))
        platforms += [(f"uneven:ranks={n},seed={s}", None, n) for s in range(1, options.seeds + 1)]
    presets = [PRESETS[0], *options.schedules]
    bench.head("platform", "costs", *presets, "auto / best")
    autos, low_best, low_bound = [], 0, 0
    with tempfile.TemporaryDirectory() as name_of_folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name_of_folder)
        tiles = traced(options.bin / "skel-raytrace", folder) if "traced gears" in options.costs else ()
        for platform, limit, ranks in platforms:
            fastest = fastest_power(options, platform, ranks, limit, folder)
            for name in options.costs:
                jobs = []
                for seed in range(1, options.draws + 1):
                    costs = draws(name, ranks * TASKS_PER_RANK, seed, tiles, options.draws)
                    file = folder / f"costs-{seed}.csv"
                    file.write_text("".join(f"{c:.9f}\n" for c in costs))
                    jobs += [(file, schedule, max(costs) / fastest) for schedule in presets]

                def share(job):
                    file, schedule, longest = job
                    r = simulate(options, platform, file, schedule, limit)
                    return max(r["ideal_seconds"], longest) / r["seconds"]

                found = list(pool.map(share, jobs))
                shares = [statistics.median(found[i::len(presets)]) for i in range(len(presets))]
                ratio = shares[0] / max(shares)
                autos.append(shares[0])
                low_best += ratio < 0.97
                low_bound += name not in HEAVY and shares[0] < 0.93
                where = platform + (f", {limit} ranks" if limit else "")
                bench.row(where, name, *(f"{s:.3f}" for s in shares), f"{ratio:.3f}")
    print(f"\n{len(autos)} rows: auto has a median of {statistics.median(autos):.3f} of the bound; {low_best} rows are below "
          f"0.97 of the best schedule, {low_bound} rows (pareto 1.5 and one giant left out) below 0.93 of the bound.")


if __name__ == "__main__":
    main()
