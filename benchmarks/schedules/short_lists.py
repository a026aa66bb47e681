#!/usr/bin/env python3
"""Simulates the farm's schedules with few and many tasks per rank on unequal machines, and compares auto with the others.

A cell is a platform, a number of tasks per rank and a kind of costs; its times are medians over draws of the costs. The
simulator makes the times, so every machine prints the same.

    benchmarks/schedules/short_lists.py                 # 400 cells, 16,000 simulations: some 15 minutes on two idle cores
    benchmarks/schedules/short_lists.py --sample 40     # some of the cells, each with a line of its own
    benchmarks/schedules/short_lists.py --luck          # auto against itself: the same costs in another order
"""
import collections
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from schedules import PRESETS, draws  # noqa: E402

RANKS = [16, 48, 100, 200]
TASKS_PER_RANK = [2, 4, 8, 16, 64]
COSTS = ["constant", "exponential", "pareto 2.5", "bimodal", "increasing"]
PLATFORMS = 4  # for each number of ranks
RIVAL = "ring:order=doubling,copies=yes"
SHUFFLED = "auto, another order"
Cell = collections.namedtuple("Cell", "ranks platform per_rank costs")


def cells(first_seed):
    """All cells. Platforms with other numbers of ranks have other seeds, or the smaller would be a part of the larger."""
    return [Cell(ranks, f"uneven:ranks={ranks},seed={first_seed + PLATFORMS * at + k}", per_rank, costs)
            for at, ranks in enumerate(RANKS) for k in range(PLATFORMS) for per_rank in TASKS_PER_RANK for costs in COSTS]


def measured(options, chosen, schedules):
    """Returns for each cell the median seconds of each schedule."""
    times = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs, reports = [], {}
        for at, cell in enumerate(chosen):
            for draw in range(options.draws):
                file = folder / f"{at}-{draw}.csv"
                costs = draws(cell.costs, cell.ranks * cell.per_rank, f"{cell} {draw}")
                file.write_text("".join(f"{c:.9f}\n" for c in costs))
                for k, schedule in enumerate(schedules):
                    report = folder / f"{at}-{draw}-{k}.json"
                    reports[cell, schedule, draw] = report
                    these, how = file, schedule
                    if schedule == SHUFFLED:
                        these, how = file.with_suffix(".shuffled"), PRESETS[0]
                        random.Random(f"{cell} {draw}").shuffle(costs)
                        these.write_text("".join(f"{c:.9f}\n" for c in costs))
                    runs.append(["--platform", cell.platform, "--costs", these, "--schedule", how, "--report", report])
        bench.simulate_all(options, runs)
        for cell in chosen:
            times[cell] = {s: statistics.median(json.loads(reports[cell, s, d].read_text())["seconds"]
                                                for d in range(options.draws)) for s in schedules}
    return times


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--sample", type=int, help="that many cells, chosen by chance")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS, choices=RANKS, help="only these numbers of ranks")
    parser.add_argument("--seed", type=int, default=2001, help="of the first platform")
    parser.add_argument("--draws", type=int, default=5, help="of the costs; a time is their median")
    parser.add_argument("--schedules", nargs="+", default=PRESETS[1:], help="those that auto is compared with")
    parser.add_argument("--luck", action="store_true", help="compares auto with itself, only where the order is by chance")
    options = parser.parse_args()
    bench.need(options, "skel-simulate")
    chosen = [c for c in cells(options.seed) if c.ranks in options.ranks]
    if options.luck:
        options.schedules = [SHUFFLED]
        chosen = [c for c in chosen if c.costs not in ("constant", "increasing")]
    if options.sample:
        chosen = sorted(random.Random(options.seed).sample(chosen, min(options.sample, len(chosen))), key=chosen.index)
    times = measured(options, chosen, [PRESETS[0], *options.schedules])

    def best(cell):
        return min((t, s) for s, t in times[cell].items() if s != PRESETS[0])

    share = {cell: best(cell)[0] / times[cell][PRESETS[0]] for cell in chosen}
    if options.sample:
        bench.head("platform", "tasks per rank", "costs", "auto, seconds", "best other", "its seconds", "best / auto")
    for cell in chosen if options.sample else ():
        seconds, schedule = best(cell)
        bench.row(cell.platform, cell.per_rank, cell.costs, f"{times[cell][PRESETS[0]]:.3f}", schedule, f"{seconds:.3f}",
                  f"{share[cell]:.3f}")
    print()

    good = True
    rival = RIVAL if RIVAL in options.schedules else options.schedules[0]
    name = "ring with copies" if rival == RIVAL else rival
    bench.head("cells", "number", f"{name} / auto", "best / auto: median", "least", "at least 0.97", "")
    groups = [("all", chosen)]
    groups += [(f"{n} tasks per rank", [c for c in chosen if c.per_rank == n]) for n in TASKS_PER_RANK]
    groups += [(kind, [c for c in chosen if c.costs == kind]) for kind in COSTS]
    groups += [(f"{n} ranks", [c for c in chosen if c.ranks == n]) for n in RANKS]
    for name, these in groups:
        if not these:
            continue
        shares = [share[c] for c in these]
        mean = statistics.geometric_mean(times[c][rival] / times[c][PRESETS[0]] for c in these)
        near = sum(s >= 0.97 for s in shares) / len(shares)
        met = mean >= 1 and (name != "all" or (near >= 0.95 and min(shares) >= 0.9))
        good = good and met
        bench.row(name, len(these), f"{mean:.3f}", f"{statistics.median(shares):.3f}", f"{min(shares):.3f}",
                  f"{100 * near:.1f} %", bench.word(met))
    print("\nThe ten worst cells:\n")
    bench.head("platform", "tasks per rank", "costs", *PRESETS[:1], "best other", "its seconds", "best / auto")
    for cell in sorted(chosen, key=share.get)[:10]:
        seconds, schedule = best(cell)
        bench.row(cell.platform, cell.per_rank, cell.costs, f"{times[cell][PRESETS[0]]:.3f}", schedule, f"{seconds:.3f}",
                  f"{share[cell]:.3f}")
    bench.finish(good, options)


if __name__ == "__main__":
    main()
