#!/usr/bin/env python3
"""Simulates multi_host on delta-256 with the paper's slices [Bajaj93]: 65 of 1.22 s, 64 layers of 16.1 s, 128 rows each.

    benchmarks/multi_host/simulated.py paper    # its measures on 256 nodes; seconds
    benchmarks/multi_host/simulated.py sizes    # the automatic group size and all up to 10, 16 to 256 ranks; five minutes
    benchmarks/multi_host/simulated.py split    # few groups, with and without splitting shares

Speed per node is the time of one node, under the same options, over nodes times seconds, as in the paper. "In time" is the
work that was done while the clock ran over all that the nodes could have done: what hosts preload is not counted. The
simulator makes the times, so every machine gives the same tables. With --check, exit code 1 if an automatic size takes more
than 5 % longer than the best one.
"""
import functools
import json
import pathlib
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

MOST = 0.05
LARGEST = 10  # group size to try
# Options, and the paper's speed per node.
PAPER = [("--group-size 8", "0.564"), ("--group-size 8 --preload", "0.826"), ("--group-size 8 --without rows", ""),
         ("--ranks 64 --group-size 64", "0.175"), ("--group-size 8 --surface-share 0.1", ""),
         ("--group-size 8 --surface-share 0.1 --without reassign", "")]
SPLIT = ["--ranks 8 --group-size 1 --surface-share 0.3", "--ranks 16 --group-size 4 --surface-share 0.3",
         "--ranks 16 --group-size 4", "--ranks 64 --group-size 8"]


def simulate(options, words):
    """Returns the reports of several runs."""
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name) / f"{k}.json" for k in range(len(words))]
        common = ["--skeleton", "multi_host", "--platform", "delta-256", "--result-bytes", 1500]
        bench.simulate_all(options, [[*common, *some, "--report", file] for some, file in zip(words, files)])
        return [json.loads(file.read_text()) for file in files]


def paper(options, words, theirs):
    alone = words.split()
    if "--ranks" in alone:
        alone[alone.index("--ranks") + 1] = 1
    else:
        alone += ["--ranks", 1]
    alone[alone.index("--group-size") + 1] = 1
    all_of, one = simulate(options, [words.split(), alone])
    return (f"`{words}`", f"{all_of['seconds']:.2f}", f"{one['seconds'] / all_of['ranks'] / all_of['seconds']:.3f}", theirs,
            f"{all_of['efficiency']:.3f}")


def sizes(options, ranks, excesses):
    tried = range(0, min(ranks, LARGEST) + 1)
    seconds = [r["seconds"] for r in simulate(options, [["--ranks", ranks, "--group-size", size] for size in tried])]
    best = min(seconds[1:])
    excesses.append(seconds[0] / best - 1)
    return ranks, f"{seconds[0]:.2f}", seconds.index(best, 1), f"{best:.2f}", f"{excesses[-1]:.1%}"


def split(options, words):
    both = simulate(options, [words.split(), [*words.split(), "--without", "split"]])
    return (f"`{words}`", *(f"{r['seconds']:.2f}" for r in both), both[0]["groups"]["split"])


def main():
    parser = bench.parser(__doc__, check=True, rows=True)
    parser.add_argument("table", choices=["paper", "sizes", "split"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 32, 64, 128, 256], help="of the table sizes")
    options = parser.parse_args()
    bench.need(options, "skel-simulate")
    excesses = []
    columns, rows = {
        "paper": (["options", "virtual seconds", "speed per node", "the paper's", "in time"],
                  [functools.partial(paper, options, *case) for case in PAPER]),
        "sizes": (["ranks", "automatic", "best size", "its seconds", "excess"],
                  [functools.partial(sizes, options, ranks, excesses) for ranks in options.ranks]),
        "split": (["options", "virtual seconds", "`--without split`", "shares split"],
                  [functools.partial(split, options, words) for words in SPLIT])}[options.table]
    bench.table(options, columns, rows)
    if options.check and max(excesses, default=0) > MOST:
        bench.fail(f"{max(excesses):.1%} above the best size, expected at most {MOST:.0%}")


main()
