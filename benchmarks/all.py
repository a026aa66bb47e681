#!/usr/bin/env python3
"""Runs a row of every comparison with a peer, several times in turns, and prints one page: machine, versions, verdicts.

    benchmarks/all.py                              # at most twenty minutes
    benchmarks/all.py --rounds 1 --only bsp farm   # some of them
    benchmarks/all.py --page page.md --json all.json

A round runs each comparison once, so that a disturbance meets all of them. The order turns round in every second one. A
cell is the median of the rounds, from the least to the greatest. A comparison whose peer is not installed, or that fails, is
a line that says so. --json keeps all ratios of all rounds, and what every program printed.
"""
import collections
import datetime
import json
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time

import bench

Comparison = collections.namedtuple("Comparison", "name page command rows")
Row = collections.namedtuple("Row", "what pattern target at_most", defaults=[False])

# A pattern finds the ratio, its first group, in what a command prints.
COMPARISONS = [
    Comparison("codes", "measurements/checkpoint", "{bin}/skel-bench-codes --wide --rounds 3", [
        Row("(128,128) in the cache, encode, GB/s", r"^\(128,128\) 4096 B encode\s+skel\s+([0-9.]+) GB/s", 10),
        Row("(128,128) in the cache, repair, GB/s", r"^\(128,128\) 4096 B repair.*? skel\s+([0-9.]+) GB/s", 3),
        Row("(10,4), one loss, plan kept, over a plan made anew", r"^\(10,4\) 4096 B one loss skel, plan kept.* ([0-9.]+) x skel, plan",
            1.3)]),
    Comparison("bsp", "measurements/bsp", "bsp/halo.py --repetitions 1", [
        Row("halo of 8 B, time over MPI_Isend and MPI_Irecv", r"^\| 2 ranks \| exchange only \| 8 B \| neighbours.*\| ([0-9.]+) \|", 1.5,
            True),
        Row("halo of 8 kB, likewise", r"^\| 2 ranks \| exchange only \| 8192 B \| neighbours.*\| ([0-9.]+) \|", 1.3, True)]),
    Comparison("farm", "reference/farm", "farm/farm.py --us 0 --bytes 4096 --repetitions 5", [
        Row("empty tasks, results of 4 KiB, rate over a master-worker by hand", r"^\| 0 us \| 4096 B .*\| ([0-9.]+) \| +\|$", 1)]),
    Comparison("search", "reference/ring-steal", "search/search.py --trees T3 --repetitions 1", [
        Row("tree T3, two ranks, of the speed of two traversals", r"^\| T3 .*\| ([0-9.]+) (?:ok|MISSED) ", 0.9)]),
    Comparison("components", "measurements/components", "components/components.py --repetitions 1 --graphs uniform:n=2048000,m=2048000,seed=1", [
        Row("one core, speed over the plain union-find", r"^one core, .*: ([0-9.]+)", 1),
        Row("two threads, speed over one", r"^two threads, of one: ([0-9.]+)", 1),
        Row("two ranks, speed over one core", r"^two ranks with the skeleton.*: ([0-9.]+)", 0.9)]),
    Comparison("raytrace", "measurements/raytrace", "raytrace/raytrace.py --repetitions 1 --scenes balls:4 gears:4 --parts pictures coherent", [
        *(Row(f"{scene}, whole picture, speed over Embree's single rays", rf"^{scene}:4 +processor time: .* ratio +([0-9.]+)", 1.6)
          for scene in ("balls", "gears")),
        *(Row(f"{scene}, primary and shadow rays, speed over Embree's packets", rf"^{scene}:4 +embree packets .* ratio +([0-9.]+)", 1)
          for scene in ("balls", "gears"))]),
    Comparison("volume", "measurements/volume", "volume/volume.py --repetitions 1", [
        Row("storm, plain, speed over VTK", r"^wind +plain .* ratio ([0-9.]+)", 2.5),
        Row("256^3, lit, speed over VTK", r"^256\^3 +light .* ratio ([0-9.]+)", 2.5)]),
    Comparison("isosurface", "measurements/isosurface", "isosurface/isosurface.py --repetitions 1", [
        Row("order 1, triangles per second over VTK's Flying Edges", r"^sphere:512x512x65 +order 1: .* second ([0-9.]+) times", 1.5),
        Row("order 3, likewise", r"^sphere:512x512x65 +order 3: .* second ([0-9.]+) times", 0.8),
        Row("order 1, dense noise, likewise", r"^noise:256x256x256 +order 1: .* second ([0-9.]+) times", 1.5)]),
    Comparison("run", "measurements/run", "run/run.py --repetitions 1 --commands 2000", [
        Row("/bin/true, two ranks of skel-run, time over GNU parallel", r"^skel-run to GNU parallel: ([0-9.]+)", 1, True)]),
    Comparison("compile", "how-to/cmake", "compile_time/compile_time.py --repetitions 1", [
        Row("the README's program, time of the compiler over Boost.MPI by hand", r"^ratio of the medians: ([0-9.]+)", 0.35, True)]),
]


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{len(bench.cores())} cores of {model}, {bench.load()}"


def version(*command):
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return (said.stdout or said.stderr).strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return f"{command[0]}: none"


def versions():
    commit = version("git", "-C", str(bench.TOP), "describe", "--always", "--dirty")
    return [f"skel {commit}", version("g++", "--version"), version("mpiexec", "--version"), platform.platform()]


def run(comparison, options, left):
    """What the command printed, and why it gave nothing; None if it did."""
    words = shlex.split(comparison.command.format(bin=options.bin))
    if words[0].endswith(".py"):
        words = [sys.executable, bench.TOP / "benchmarks" / words[0], *words[1:], "--bin", options.bin]
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=bench.ENVIRONMENT, timeout=left,
                              check=False)
    except subprocess.TimeoutExpired:
        return "", f"no end within {left:.0f} s"
    except OSError as bad:
        return "", bad.strerror
    why = None if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return done.stdout, why


def cells(row, found):
    median = statistics.median(found)
    good = median <= row.target if row.at_most else median >= row.target
    return [row.what, f"{median:.2f} [{min(found):.2f} .. {max(found):.2f}]", len(found),
            f"{'at most' if row.at_most else 'at least'} {row.target:g}", "reached" if good else "not reached"]


def page(comparisons, runs, seconds):
    columns = ["comparison", "median [all]", "rounds", "to be reached", "verdict", "figures"]
    rows = []
    for comparison in comparisons:
        link = f"[{comparison.name}](docs/{comparison.page}.md)"
        for row in comparison.rows:
            found = [one["ratios"][row.what] for one in runs if one["name"] == comparison.name and row.what in one["ratios"]]
            whys = [one["why"] for one in runs if one["name"] == comparison.name and one["why"]]
            rows.append([*cells(row, found), link] if found
                        else [row.what, "–", 0, "", whys[-1] if whys else "not in what the program printed", link])
    return "\n".join([f"# skel and its peers, {datetime.date.today():%-d %B %Y}", "", machine(), "", *(f"- {v}" for v in versions()), "",
                      bench.markdown(columns, rows), "", f"{seconds / 60:.1f} minutes."])


def main():
    parser = bench.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="[3]")
    parser.add_argument("--minutes", type=float, default=20, help="no more rounds after these [20]")
    parser.add_argument("--only", nargs="+", choices=[c.name for c in COMPARISONS], help="some of the comparisons")
    parser.add_argument("--page", type=pathlib.Path, help="write the page here as well")
    parser.add_argument("--json", type=pathlib.Path, help="write all ratios, and what programs printed")
    options = parser.parse_args()
    comparisons = [c for c in COMPARISONS if not options.only or c.name in options.only]
    bench.need(options, "skel-bench-farm", "mpiexec")
    begin, runs = time.monotonic(), []
    end = begin + 60 * options.minutes
    for k in range(options.rounds):
        for comparison in comparisons if k % 2 == 0 else reversed(comparisons):
            at = time.monotonic()
            if at >= end or (k > 0 and at + max(r["seconds"] for r in runs if r["name"] == comparison.name) > end):
                continue
            print(f"round {k + 1}: {comparison.command}", file=sys.stderr)
            text, why = run(comparison, options, end - at)
            found = {row.what: re.search(row.pattern, text, re.MULTILINE) for row in comparison.rows}
            runs.append({"round": k + 1, "name": comparison.name, "seconds": time.monotonic() - at, "why": why, "printed": text,
                         "ratios": {what: float(match.group(1)) for what, match in found.items() if match}})
    text = page(comparisons, runs, time.monotonic() - begin)
    print(text)
    if options.page:
        options.page.write_text(text + "\n", encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "versions": versions(), "runs": runs}, indent=1), encoding="utf-8")


main()
