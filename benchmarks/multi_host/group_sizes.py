#!/usr/bin/env python3
"""Compares the automatic group size of multi_host with all others, simulated on delta-256 with the paper's slices.

    benchmarks/multi_host/group_sizes.py    # 16 to 256 ranks; five minutes

Prints the virtual seconds with the automatic size and with the best size, and the excess of the first. The simulator
makes the times, so every machine gives the same table. With --check, exit code 1 if an excess is above 5 %.
"""
import json
import pathlib
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

MOST = 0.05


def simulate(options, ranks, sizes):
    """Returns the virtual seconds for each group size; several simulations run at a time."""
    with tempfile.TemporaryDirectory() as name:
        reports = {size: pathlib.Path(name) / f"{size}.json" for size in sizes}
        words = ["--skeleton", "multi_host", "--platform", "delta-256", "--result-bytes", 1500, "--ranks", ranks]
        bench.simulate_all(options, [[*words, "--group-size", size, "--report", file] for size, file in reports.items()])
        return {size: json.loads(file.read_text())["seconds"] for size, file in reports.items()}


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 32, 64, 128, 256])
    parser.add_argument("--largest", type=int, default=10, help="group size to try")
    options = parser.parse_args()
    bench.head("ranks", "automatic", "best size", "its seconds", "excess")
    worst = 0
    for ranks in options.ranks:
        seconds = simulate(options, ranks, range(0, min(ranks, options.largest) + 1))
        chosen = seconds.pop(0)
        best = min(seconds, key=seconds.get)
        excess = chosen / seconds[best] - 1
        worst = max(worst, excess)
        bench.row(ranks, f"{chosen:.2f}", best, f"{seconds[best]:.2f}", f"{excess:.1%}")
    if options.check and worst > MOST:
        bench.fail(f"{worst:.1%} above the best size, expected at most {MOST:.0%}")


main()
