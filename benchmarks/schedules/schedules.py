#!/usr/bin/env python3
"""Simulates the farm's schedules on several platforms and costs, and prints a table of the share of the ideal.

The ideal time is total cost / total power. A single long task may make it unreachable (pareto 1.5, one giant).

    benchmarks/schedules/schedules.py --build build/release --ranks 64
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PRESETS = ["auto", "blocks", "interleaved", "first-come", "guided", "hybrid", "ring", "ring:order=doubling,copies=yes"]
TASKS_PER_RANK = 64
MEAN = 0.1
HEAVY = ("pareto 1.5", "one giant")  # rows that the second target leaves out


def draws(name, tasks, seed):
    """Returns the costs of `tasks` tasks in seconds."""
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
    costs = [MEAN] * tasks  # one giant: a hundred times as long, in the middle
    costs[tasks // 2] *= 100
    return costs


def say(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def simulate(program, platform, costs, schedule, ranks):
    command = [str(program), "--platform", platform, "--costs", str(costs), "--schedule", schedule]
    if ranks:
        command += ["--ranks", str(ranks)]
    out = say(command)
    seconds = float(re.search(r"virtual seconds\s+(\S+)", out).group(1))
    ideal = float(re.search(r"ideal seconds\s+(\S+)", out).group(1))
    return seconds, ideal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree")
    parser.add_argument("--ranks", type=int, nargs="+", default=[64])
    parser.add_argument("--seeds", type=int, default=5, help="uneven platforms per number of ranks")
    parser.add_argument("--costs", nargs="+", default=["constant", "exponential", "pareto 2.5", "pareto 1.5", "decreasing",
                                                       "one giant"])
    options = parser.parse_args()
    program = Path(options.build) / "bin" / "skel-simulate"
    platforms = [("lee-1997-14", None, 14)]
    for n in options.ranks:
        platforms.append(("cluster-1024", n, n))
        platforms += [(f"uneven:ranks={n},seed={s}", None, n) for s in range(1, options.seeds + 1)]
    print("| platform | costs | " + " | ".join(PRESETS) + " | auto / best |")
    print("|---" * (len(PRESETS) + 3) + "|")
    best_shares, autos, low_best, low_bound = [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for platform, limit, ranks in platforms:
            for name in options.costs:
                file = Path(folder) / "costs.csv"
                costs = draws(name, ranks * TASKS_PER_RANK, 1)
                file.write_text("".join(f"{c:.9f}\n" for c in costs))
                shares = []
                for schedule in PRESETS:
                    seconds, ideal = simulate(program, platform, file, schedule, limit)
                    shares.append(ideal / seconds)
                ratio = shares[0] / max(shares)
                best_shares.append(ratio)
                autos.append(shares[0])
                low_best += ratio < 0.97
                low_bound += name not in HEAVY and shares[0] < 0.93
                where = platform + (f", {limit} ranks" if limit else "")
                print(f"| {where} | {name} | " + " | ".join(f"{s:.3f}" for s in shares) + f" | {ratio:.3f} |", flush=True)
    autos.sort()
    print(f"\n{len(autos)} rows: auto has a median of {autos[len(autos) // 2]:.3f} of the ideal; {low_best} rows are below 0.97 "
          f"of the best schedule, {low_bound} rows (pareto 1.5 and one giant left out) below 0.93 of the ideal.")


if __name__ == "__main__":
    main()
