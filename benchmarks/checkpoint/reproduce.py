#!/usr/bin/env python3
"""Repeats the experiments of de Camargo, Cerqueira and Kon 2006: figure 2, figure 3 and table 1, and the availability of its codes.

    cmake --preset bench && cmake --build --preset bench
    benchmarks/checkpoint/reproduce.py                     # about six minutes; three sizes, a checkpoint every half second
    benchmarks/checkpoint/reproduce.py --paper --every 0.1 # the paper's state: 65.6, 262.4 and 1049.8 MB in 12-byte elements

Writes DIR/index.html, with the plots DIR/*.svg and their figures DIR/*.csv.

Figure 2: seconds to encode by size, number of slices and redundancy, on one core (skel-bench-codes --figure-2). Availability: the share of
sets of lost nodes that each code survives, counted exhaustively (skel-bench-codes --availability). Figure 3 and table 1: the cost of
checkpoints for a running program, skel-matmul. Scenarios, run in turn (A, B, C, ..., A, B, C ...): no storage, a central repository (one
copy in one directory), replication (2 copies), parity over ten slices, IDA (9,1) and IDA (8,2). All products must be equal. Overhead is the
median of seconds relative to no storage, beside the paper's "below 3 %". `blocked` is measured directly: the time during which the most
affected rank stood still, in per cent of the run. Coding, writing and syncing run in threads beside it, and so does packing the constant
matrices A and B. `checkpoints` is the minimum over a row's runs; a row with a run without checkpoints is meaningless, and the script
reports it. The last line is the target: the full state under IDA (8,2) every 10 s, blocked below 1 %.
Needs only Python's standard library. With --check, exit code 1 if the target was missed or a row had no checkpoint.
"""
import argparse
import csv
import html
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from line_plot import plot  # noqa: E402

SCENARIOS = [("no storage", "none"), ("central", "central"), ("replication", "replicate:2"), ("parity", "parity:9"),
             ("IDA (9,1)", "ida:9,1"), ("IDA (8,2)", "ida:8,2")]
PAPER = [1350, 2700, 5400]  # 3 x 12 n^2 bytes
TARGET = 1.0  # per cent
PARTS = ["serialise", "code", "transfer", "write", "sync"]
COLOURS = ["#b9770e", "#1e8449", "#8e44ad", "#2471a3", "#c0392b"]


def run(options, size, code, every):
    with tempfile.TemporaryDirectory(dir=options.stores) as place:
        stores = [os.path.join(place, f"d{i}") for i in range(10)]
        for store in stores:
            os.mkdir(store)
        report = os.path.join(place, "report.json")
        command = ["mpiexec", "-n", options.ranks, "--oversubscribe", "--bind-to", "none", options.bin / "skel-matmul", "--size", size,
                   "--threads", 1, "--quiet", "--progress", "never", "--report", report, "--checkpoint", code, "--store", ",".join(stores)]
        command += [] if code == "none" else ["--every", f"{every}s"]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=3600, env=environment, check=False)
        if done.returncode != 0:
            sys.exit(f"reproduce.py: exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stderr}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def blocked(result):
    return 100 * result.get("checkpoint", {}).get("blocked_seconds", 0) / result["seconds"]


def measure(options, size):
    """One row per scenario: table 1 and figure 3 for one size."""
    results = {code: [] for _, code in SCENARIOS}
    for _ in range(options.repetitions):
        for _, code in SCENARIOS:
            results[code].append(run(options, size, code, options.every))
    if len({r["result_xxh3"] for all_of in results.values() for r in all_of}) != 1:
        sys.exit(f"reproduce.py: the products of size {size} differ")
    plain = statistics.median(r["seconds"] for r in results["none"])
    rows = []
    for name, code in SCENARIOS:
        seconds = statistics.median(r["seconds"] for r in results[code])
        costs = [r.get("checkpoint", {}) for r in results[code]]
        row = {"storage": name, "size": size, "state_megabytes": 3 * 8 * size * size / 1e6, "seconds": seconds,
               "normalised": seconds / plain, "checkpoints": min(c.get("saved", 0) for c in costs),
               "blocked_percent": statistics.median(blocked(r) for r in results[code])}
        for part in PARTS:
            row[part] = statistics.median(c.get(f"{part}_seconds", 0) for c in costs)
        rows.append(row)
    return rows


def cells(row):
    return [row["storage"], f"{row['seconds']:.2f}", f"{row['normalised']:.3f}", str(row["checkpoints"]), f"{row['blocked_percent']:.2f} %",
            *(f"{row[part]:.3f}" for part in PARTS)]


HEADINGS = ["storage", "seconds", "normalised", "checkpoints", "blocked", *PARTS]


def about(options, rows):
    return (f"size {rows[0]['size']}, state {rows[0]['state_megabytes']:.1f} MB, {options.ranks} ranks, a checkpoint every {options.every:g} s; "
            "the paper: below 3 %")


def print_table(options, rows):
    print(f"\n{about(options, rows)}\n\n| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for row in rows:
        print(f"| {' | '.join(cells(row))} |", flush=True)


def html_table(options, rows):
    def line(tag, texts):
        return "<tr>" + "".join(f"<{tag}>{html.escape(t)}</{tag}>" for t in texts) + "</tr>"

    return "\n".join([f"<p>{html.escape(about(options, rows))}</p>", '<table border="1" cellpadding="4" cellspacing="0">',
                      line("th", HEADINGS), *(line("td", cells(row)) for row in rows), "</table>"])


def figure_3(sizes):
    """Seconds relative to no storage, over the size of the state."""
    series = {}
    for k, (name, _) in enumerate(SCENARIOS[1:], 1):
        series[name] = (COLOURS[k - 1], [(rows[k]["state_megabytes"], rows[k]["normalised"]) for rows in sizes])
    return plot("Figure 3: overhead of checkpoints", "state, MB", "seconds relative to no storage", series)


def codes(options):
    """Writes figure 2 and the availability as plots."""
    program = options.bin / "skel-bench-codes"
    if not program.exists():
        sys.exit(f"reproduce.py: {program} is missing: cmake --preset bench && cmake --build --preset bench")
    for name, arguments in (("figure-2", ["--sizes", "1e8"]), ("availability", [])):
        print(f"{name} …", flush=True)
        subprocess.run([str(program), f"--{name}", str(options.out / name), *arguments], check=True, timeout=3600, stdout=subprocess.DEVNULL)


def target(options):
    """Returns the line of the target, and whether it was reached."""
    size, saved = options.target_size, 0
    while saved == 0:  # repeats while the run ends before its first checkpoint
        result = run(options, size, "ida:8,2", 10)
        saved, last, size = result["checkpoint"]["saved"], size, math.ceil(size * 1.25)
    good = blocked(result) < TARGET
    return (f"size {last}, IDA (8,2), every 10 s: {saved} checkpoints in {result['seconds']:.1f} s, blocked {blocked(result):.3f} % "
            f"{'ok' if good else 'MISSED'} (target < {TARGET:g} %)", good)


def write_page(options, sizes, remarks):
    with open(options.out / "table-1.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, list(sizes[0][0]))
        rows.writeheader()
        rows.writerows(row for table in sizes for row in table)
    plots = {"figure-3": figure_3(sizes)}
    (options.out / "figure-3.svg").write_text(plots["figure-3"] + "\n")
    for name in ("figure-2", "availability"):
        plots[name] = (options.out / f"{name}.svg").read_text()
    parts = ["<!doctype html><meta charset=utf-8><title>Checkpoints</title><style>body{font-family:sans-serif;margin:2em}</style>",
             "<h1>Checkpoint-based fault-tolerance on idle machines, repeated</h1>", "<h2>Figure 2: time to code</h2>", plots["figure-2"],
             "<h2>Table 1 and figure 3: checkpoints of a running program</h2>", *(html_table(options, rows) for rows in sizes),
             plots["figure-3"], *(f"<p>{html.escape(r)}</p>" for r in remarks), "<h2>Availability</h2>", plots["availability"]]
    (options.out / "index.html").write_text("\n".join(parts) + "\n")


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="directory of the programs")
    parser.add_argument("--out", type=pathlib.Path, default=here / "out/checkpoint", help="directory for page, plots and CSV files")
    parser.add_argument("--stores", default=None, help="directory for the stores [the system's temporary directory]")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2800, 3400, 4000])
    parser.add_argument("--paper", action="store_true", help=f"sizes {PAPER}")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between checkpoints")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--target-size", type=int, default=5860, help="size of the target's run, which must last long enough for a checkpoint every 10 s")
    parser.add_argument("--check", action="store_true", help="exit code 1 if the target was missed or a row had no checkpoint")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    codes(options)
    sizes = []
    for size in PAPER if options.paper else options.sizes:
        sizes.append(measure(options, size))
        print_table(options, sizes[-1])
    empty = [f"size {r['size']}, {r['storage']}" for rows in sizes for r in rows[1:] if r["checkpoints"] == 0]
    remarks = []
    if empty:
        remarks.append(f"No checkpoint in: {'; '.join(empty)}. These rows are meaningless: use greater --sizes or a shorter --every.")
    line, good = target(options)
    remarks.append(line)
    print("\n" + "\n".join(remarks))
    write_page(options, sizes, remarks)
    print(f"\n{options.out / 'index.html'}")
    sys.exit(1 if options.check and (empty or not good) else 0)


if __name__ == "__main__":
    main()
