#!/usr/bin/env python3
"""Compares the defaults of ring_steal (a thief takes half, and asks at doubling distances) with its other options.

Simulates the search of two UTS trees: T1 (geometric) and T3 (binomial), 4.1 million nodes each, 10 us per node. A cell is
the ideal time divided by the simulated time. Every machine gives the same table.

    benchmarks/search/defaults.py    # about ten minutes on two idle cores
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PLATFORMS = ["cluster:ranks=64", "cluster:ranks=256", "uneven:ranks=64,seed=1"]
ORDERS, TAKES = ["doubling", "successors", "predecessors"], ["half", "one"]


def share(program, folder, tree, platform, order, take):
    report = folder / f"{tree}-{platform}-{order}-{take}.json"
    command = [str(program), "--skeleton", "ring_steal", "--tree", tree, "--platform", platform, "--costs", "constant:10us",
               "--order", order, "--take", take, "--quiet", "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    r = json.loads(report.read_text())
    return r["ideal_seconds"] / r["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build/release",
                        help="build tree")
    options = parser.parse_args()
    program = options.build / "bin/skel-simulate"
    kinds = list(itertools.product(ORDERS, TAKES))
    print("| tree | platform | " + " | ".join(f"{o}, {t}" for o, t in kinds) + " | default / best |")
    print("|---" * (len(kinds) + 3) + "|")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        for tree, platform in itertools.product(["T1", "T3"], PLATFORMS):
            shares = list(pool.map(lambda k: share(program, folder, tree, platform, *k), kinds))
            print(f"| {tree} | {platform} | " + " | ".join(f"{s:.3f}" for s in shares) +
                  f" | {shares[0] / max(shares):.3f} |", flush=True)


if __name__ == "__main__":
    main()
