#!/usr/bin/env python3
"""What checkpoints cost a running program: figure 3 and table 1 of de Camargo, Cerqueira and Kon 2006, with skel-matmul.

    cmake --preset release && cmake --build --preset release --target skel-matmul
    benchmarks/checkpoint/overhead.py                     # about five minutes; three sizes, a checkpoint each half second
    benchmarks/checkpoint/overhead.py --paper --every 0.1 # the paper's state: 65.6, 262.4 and 1049.8 MB in 12-byte elements

Scenarios: no storage, a central repository (one copy in one directory), replication (2 copies), parity over ten slices, IDA (9,1)
and IDA (8,2), in turn (A, B, C, ..., A, B, C ...). Each run's product must be the same. Overhead is the median of seconds over that of no
storage, beside the paper's "below 3 %". What counts is accounted and not subtracted: `blocked` is the time for which the rank that stood
still longest did so, in per cent of the run; coding, writing and syncing happen in threads beside it, and so does the packing of what never
changes, A and B. `checkpoints` are the fewest of a row's runs; a row with a run that had none says nothing, and the script says so. The last
line is the target: the full state under IDA (8,2) every 10 s, blocked below 1 %.
Needs only Python's standard library. Exit code 1 with --check: the target was missed, or a row had no checkpoint.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SCENARIOS = [("no storage", "none"), ("central", "central"), ("replication", "replicate:2"), ("parity", "parity:9"),
             ("IDA (9,1)", "ida:9,1"), ("IDA (8,2)", "ida:8,2")]
PAPER = [1350, 2700, 5400]  # 3 x 12 n^2 bytes
TARGET = 1.0  # per cent


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
            sys.exit(f"overhead.py: exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stderr}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def blocked(result):
    return 100 * result.get("checkpoint", {}).get("blocked_seconds", 0) / result["seconds"]


def table(options, size):
    """Prints the table of one size; returns its rows in which a run had no checkpoint."""
    results = {code: [] for _, code in SCENARIOS}
    for _ in range(options.repetitions):
        for _, code in SCENARIOS:
            results[code].append(run(options, size, code, options.every))
    if len({r["result_xxh3"] for all_of in results.values() for r in all_of}) != 1:
        sys.exit(f"overhead.py: the products of size {size} differ")
    plain = statistics.median(r["seconds"] for r in results["none"])
    print(f"\nsize {size}, state {3 * 8 * size * size / 1e6:.1f} MB, {options.ranks} ranks, a checkpoint every {options.every:g} s; the paper: "
          "below 3 %\n\n| storage | seconds | normalised | checkpoints | blocked | serialise | code | transfer | write | sync |\n|" + "---|" * 10)
    empty = []
    for name, code in SCENARIOS:
        seconds = statistics.median(r["seconds"] for r in results[code])
        costs = [r.get("checkpoint", {}) for r in results[code]]
        of = {key: statistics.median(c.get(key, 0) for c in costs) for key in
              ("serialise_seconds", "code_seconds", "transfer_seconds", "write_seconds", "sync_seconds")}
        saved = min(c.get("saved", 0) for c in costs)
        if saved == 0 and code != "none":
            empty.append(f"size {size}, {name}")
        share = statistics.median(blocked(r) for r in results[code])
        print(f"| {name} | {seconds:.2f} | {seconds / plain:.3f} | {saved} | {share:.2f} % | {of['serialise_seconds']:.3f} | "
              f"{of['code_seconds']:.3f} | {of['transfer_seconds']:.3f} | {of['write_seconds']:.3f} | {of['sync_seconds']:.3f} |")
    return empty


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here / "build/release/bin", help="where the programs are")
    parser.add_argument("--stores", default=None, help="where the directories of the stores are made [the system's temporary directory]")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2800, 3400, 4000])
    parser.add_argument("--paper", action="store_true", help=f"sizes {PAPER}")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between checkpoints")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--target-size", type=int, default=5860, help="of the run that lasts long enough for a checkpoint every 10 s")
    parser.add_argument("--check", action="store_true", help="exit code 1 if the target was missed or a row had no checkpoint")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    empty = [row for size in (PAPER if options.paper else options.sizes) for row in table(options, size)]
    if empty:
        print(f"\nNo checkpoint in: {'; '.join(empty)}. These rows say nothing: choose greater --sizes or a shorter --every.")
    size, saved = options.target_size, 0
    while saved == 0:  # as long as a run is over before its first checkpoint
        result = run(options, size, "ida:8,2", 10)
        saved, last, size = result["checkpoint"]["saved"], size, math.ceil(size * 1.25)
    good = blocked(result) < TARGET
    print(f"\nsize {last}, IDA (8,2), every 10 s: {saved} checkpoints in {result['seconds']:.1f} s, blocked {blocked(result):.3f} % "
          f"{'ok' if good else 'MISSED'} (target < {TARGET:g} %)")
    sys.exit(1 if options.check and (empty or not good) else 0)


if __name__ == "__main__":
    main()
