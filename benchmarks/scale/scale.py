#!/usr/bin/env python3
"""Simulates runs on many ranks, and prints how efficiency, messages, and the simulator's own cost grow with the ranks.

    benchmarks/scale/scale.py                              # farm on 256 to 4,096 ranks: minutes
    benchmarks/scale/scale.py --ranks 256 1024 4096 16384  # about ten minutes
    benchmarks/scale/scale.py --skeleton ring_steal        # tree search on 256 and 1,024 ranks: half an hour

farm: 64 tasks of 100 ms per rank with the default schedule, on the platforms cluster (equal nodes, 100 Gb/s) and uneven
(power 0.25 to 4, load that changes, 10 Gb/s). ring_steal: the tree T1L of the UTS benchmark, 102 million nodes of 1, 10
and 100 us. Efficiency is the time of a perfect distribution divided by the simulated time. Every machine gives the same
first table; the second has the processor seconds and the memory of skel-simulate here.
"""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from line_plot import plot  # noqa: E402

PLATFORMS = {"cluster": "cluster:ranks={}", "uneven": "uneven:ranks={},seed=1"}
COLOURS = {"cluster": ("#1a5276", "#5dade2"), "uneven": ("#922b21", "#e59866")}  # all messages, the root's
TASKS_PER_RANK = 64
TASK = "100ms"
NODES = ["1us", "10us", "100us"]
COLUMNS = ["platform", "ranks", "task", "efficiency", "messages per rank", "root: messages sent per rank",
           "root: bytes sent per rank"]


def cases(options):
    """Pairs of a description of the work and skel-simulate's arguments, in the order of the table."""
    for kind, platform in PLATFORMS.items():
        for ranks in options.ranks:
            where = ["--platform", platform.format(ranks), "--skeleton", options.skeleton]
            if options.skeleton == "farm":
                yield kind, ranks, TASK, where + ["--tasks", str(TASKS_PER_RANK * ranks), "--costs", f"constant:{TASK}"]
                continue
            for node in NODES:
                yield kind, ranks, node, where + ["--tree", options.tree, "--costs", f"constant:{node}"]


def simulate(program, arguments, report):
    """Returns the report, the processor seconds and the megabytes of one simulation."""
    with subprocess.Popen([str(program), *arguments, "--quiet", "--report", str(report)]) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        bench.fail(f"exit code {child.returncode}: {program} {' '.join(arguments)}")
    return json.loads(report.read_text()), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def row(kind, ranks, work, r):
    """The cells of one run; `r` is its report."""
    root = r["per_rank"][0]
    return [kind, f"{ranks:,}", work, f"{r['efficiency']:.3f}", f"{r['messages_per_rank']:.1f}",
            f"{root['messages_sent'] / ranks:.1f}", f"{root['bytes_sent'] / ranks:.0f}"]


def main():
    parser = bench.parser(__doc__, rows=True)
    parser.add_argument("--ranks", type=int, nargs="+", help="default: 256 1024 4096; ring_steal: 256 1024")
    parser.add_argument("--skeleton", choices=["farm", "ring_steal"], default="farm")
    parser.add_argument("--tree", default="T1L", help="of ring_steal")
    parser.add_argument("--plot", type=pathlib.Path, metavar="FILE.svg",
                        help="draws messages per rank, and the root's, against the number of ranks")
    options = parser.parse_args()
    options.ranks = options.ranks or ([256, 1024, 4096] if options.skeleton == "farm" else [256, 1024])
    bench.need(options, "skel-simulate")
    series, costs = {}, []

    def simulated(kind, ranks, work, arguments):
        r, seconds, megabytes = simulate(options.bin / "skel-simulate", arguments, pathlib.Path(folder) / "report.json")
        root = r["per_rank"][0]["messages_sent"] / ranks
        for k, (name, value) in enumerate(((kind, r["messages_per_rank"]), (f"{kind}: sent by the root", root))):
            name += f", {work}" if options.skeleton != "farm" else ""
            series.setdefault(name, (COLOURS[kind][k], []))[1].append((ranks, value))
        costs.append((kind, f"{ranks:,}", work, f"{seconds:.1f}", f"{1e6 * seconds / max(1, r['messages']):.0f}", f"{megabytes:.0f}"))
        return row(kind, ranks, work, r)

    with tempfile.TemporaryDirectory() as folder:
        bench.table(options, COLUMNS, [functools.partial(simulated, *case) for case in cases(options)])
    print("\n" + bench.markdown([*COLUMNS[:3], "processor s", "us per message", "MB"], costs))
    if options.plot and not options.rows:
        options.plot.write_text(plot(f"{options.skeleton}: messages", "ranks", "messages per rank of the run", series,
                                     log_x=True))


main()
