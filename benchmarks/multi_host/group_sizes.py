#!/usr/bin/env python3
"""Compares the automatic group size of multi_host with all others, simulated on delta-256 with the paper's slices.

    benchmarks/multi_host/group_sizes.py    # 16 to 256 ranks; five minutes

Prints the virtual seconds with the automatic size and with the best size, and the excess of the first. The simulator
makes the times, so every machine gives the same table. With --check, exit code 1 if an excess is above 5 %.
Needs only Python's standard library.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MOST = 0.05


def simulate(program, ranks, sizes):
    """Returns the virtual seconds for each group size; several simulations run at a time."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = ["--skeleton", "multi_host", "--platform", "delta-256", "--result-bytes", "1500", "--quiet"]
        (folder / "batch").write_text("".join(
            "\n".join([*words, "--ranks", str(ranks), "--group-size", str(size), "--report", str(folder / f"{size}.json")]) + "\n\n"
            for size in sizes))
        subprocess.run([str(program), "--batch", str(folder / "batch")], check=True, stdout=subprocess.DEVNULL)
        return {size: json.loads((folder / f"{size}.json").read_text())["seconds"] for size in sizes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="build tree",
                        default=pathlib.Path(__file__).resolve().parents[2] / "build/release")
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 32, 64, 128, 256])
    parser.add_argument("--largest", type=int, default=10, help="group size to try")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print("| ranks | automatic | best size | its seconds | excess |\n|---|---|---|---|---|")
    worst = 0
    for ranks in options.ranks:
        seconds = simulate(options.build / "bin/skel-simulate", ranks, range(0, min(ranks, options.largest) + 1))
        chosen = seconds.pop(0)
        best = min(seconds, key=seconds.get)
        excess = chosen / seconds[best] - 1
        worst = max(worst, excess)
        print(f"| {ranks} | {chosen:.2f} | {best} | {seconds[best]:.2f} | {excess:.1%} |", flush=True)
    if options.check and worst > MOST:
        sys.exit(f"group_sizes.py: {worst:.1%} above the best size, expected at most {MOST:.0%}")


if __name__ == "__main__":
    main()
