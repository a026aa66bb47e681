#!/usr/bin/env python3
"""Simulates the farm's schedules on several platforms and costs, and prints a table of shares of the bound.

The bound is the larger of total cost / total power and largest task / fastest machine. A cell is the bound divided by
the simulated time. The same command gives the same table on every machine, except for --costs "traced gears": these tasks
cost what skel-raytrace needs for them here.

    benchmarks/schedules/schedules.py --ranks 64        # minutes
    benchmarks/schedules/schedules.py --ranks 64 256    # half an hour
    benchmarks/schedules/schedules.py --takeover        # which ranks take over from lost ones: minutes
"""
import concurrent.futures
import functools
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

PRESETS = ["auto", "blocks", "interleaved", "first-come", "guided", "hybrid", "ring", "ring:order=doubling,copies=yes"]
FEW = {"lee-1997-14": 14, "pentium4-14": 14, "athlon-11": 11, "hp720-28": 28}  # ranks
TASKS_PER_RANK = 64
MEAN = 0.1
COSTS = ["constant", "exponential", "pareto 2.5", "pareto 1.5", "decreasing", "one giant"]
TRACED = "traced gears"
HEAVY = ("pareto 1.5", "one giant")  # one task may take as long as all others
TAKEOVERS = ["everybody", "predecessor"]
LOSSES = {"the paper's nine stations, two lost": ["--platform", "lee-1997-loss-9", "--tasks", 512, "--fail", "7@300results",
                                                  "--fail", "8@300results"],
          "64 unequal ranks, three lost": ["--platform", "uneven:ranks=64,seed=1", "--tasks", 4096, "--fail", "7@20s",
                                           "--fail", "8@20s", "--fail", "40@30s"]}


def draws(name, tasks, seed, tiles=(), of=1):
    """Returns the costs of `tasks` tasks in seconds, draw `seed` of `of`."""
    if name == TRACED:  # neighbouring tiles cost about the same
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
    if name == "increasing":
        return sorted(draws("exponential", tasks, seed))
    if name == "bimodal":
        return [1.0 if rng.random() < 0.1 else 0.02 for _ in range(tasks)]
    costs = [MEAN] * tasks  # one giant: a hundred times as long, in the middle, or anywhere in a part for each draw
    costs[tasks // 2 if of == 1 else int((seed - rng.random()) * tasks / of)] *= 100
    return costs


def simulate(options, platform, costs, schedule, ranks, more=()):
    """Returns the report of one simulation."""
    return bench.simulate(options, "--platform", platform, "--costs", costs, "--schedule", schedule,
                          *(["--ranks", ranks] if ranks else []), *more)


def fastest_power(options, platform, ranks, limit, folder):
    """Returns the power of the fastest machine, from a run with one equal task per rank."""
    costs = folder / f"{ranks}-ones.csv"
    costs.write_text("1\n" * ranks)
    rows = simulate(options, platform, costs, "interleaved", limit)["per_rank"]
    return max(row["tasks"] / row["busy_seconds"] for row in rows if row["tasks"])


class Shares:
    """The rows of the table: shares of the bound."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.pool = concurrent.futures.ThreadPoolExecutor(len(bench.cores()))
        self.presets = [PRESETS[0], *options.schedules]
        self.found = []  # costs, auto's share, its ratio to the best
        self.tiles = functools.cache(lambda: bench.traced(options, folder, "--scene", "gears:4", "--unit", "tiles:4"))

    def cells(self, platform, limit, ranks, name):
        fastest = fastest_power(self.options, platform, ranks, limit, self.folder)
        jobs = []
        for seed in range(1, self.options.draws + 1):
            costs = draws(name, ranks * TASKS_PER_RANK, seed, self.tiles() if name == TRACED else (), self.options.draws)
            file = self.folder / f"costs-{seed}.csv"
            file.write_text("".join(f"{c:.9f}\n" for c in costs))
            jobs += [(file, schedule, max(costs) / fastest) for schedule in self.presets]

        def share(job):
            file, schedule, longest = job
            r = simulate(self.options, platform, file, schedule, limit)
            return max(r["ideal_seconds"], longest) / r["seconds"]

        each = list(self.pool.map(share, jobs))
        shares = [statistics.median(each[i::len(self.presets)]) for i in range(len(self.presets))]
        self.found.append((name, shares[0], shares[0] / max(shares)))
        return platform + (f", {limit} ranks" if limit else ""), name, *(f"{s:.3f}" for s in shares), f"{self.found[-1][-1]:.3f}"

    def summary(self):
        behind = [name in HEAVY for name, _, ratio in self.found if ratio < 0.97]
        low = sum(share < 0.93 and name not in HEAVY for name, share, _ in self.found)
        return (f"{len(self.found)} rows: `auto` has a median of {statistics.median(share for _, share, _ in self.found):.3f} of "
                f"the bound; {len(behind)} rows ({sum(behind)} of pareto 1.5 and one giant) are below 0.97 of the best schedule, "
                f"{low} rows (pareto 1.5 and one giant left out) below 0.93 of the bound.")


def takeover(options, pool, name, words):
    """Mean seconds over 16 draws of the costs when ranks are lost, by which ranks take over."""
    def seconds(job):
        how, seed = job
        return bench.simulate(options, *words, "--costs", "exponential:1s", "--seed", seed, "--schedule",
                              f"ring:takeover={how}")["seconds"]

    means = [statistics.fmean(pool.map(seconds, [(how, seed) for seed in range(1, 17)])) for how in TAKEOVERS]
    return name, *(f"{m:.1f} s" for m in means)


def main():
    parser = bench.parser(__doc__, rows=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[64])
    parser.add_argument("--costs", nargs="+", choices=[*COSTS, TRACED], default=COSTS)
    parser.add_argument("--seeds", type=int, default=5, help="uneven platforms per number of ranks")
    parser.add_argument("--no-few", action="store_true", help="without the platforms of few ranks")
    parser.add_argument("--schedules", nargs="+", default=PRESETS[1:], help="those that auto is compared with")
    parser.add_argument("--draws", type=int, default=1, help="draws of the costs; a cell is the median")
    parser.add_argument("--takeover", action="store_true", help="only which ranks take over the work of lost ones")
    options = parser.parse_args()
    bench.need(options, "skel-simulate", *(["skel-raytrace"] if TRACED in options.costs else []))
    with tempfile.TemporaryDirectory() as folder:
        shares = Shares(options, Path(folder))
        if options.takeover:
            bench.table(options, ["platform", *(f"`{how}`" for how in TAKEOVERS)],
                        [functools.partial(takeover, options, shares.pool, *case) for case in LOSSES.items()])
            return
        platforms = [] if options.no_few else [(name, None, ranks) for name, ranks in FEW.items()]
        for n in options.ranks:
            platforms.append(("cluster-1024", n, n))
            platforms += [(f"uneven:ranks={n},seed={s}", None, n) for s in range(1, options.seeds + 1)]
        bench.table(options, ["platform", "costs", *shares.presets, "auto / best"],
                    [functools.partial(shares.cells, *platform, name) for platform in platforms for name in options.costs])
        print(f"\n{shares.summary()}")


if __name__ == "__main__":
    main()
