#!/usr/bin/env python3
"""Compares a superstep of a 1-D halo exchange with MPI_Isend and MPI_Irecv: one table of ratios.

    cmake --preset bench && cmake --build --preset bench
    benchmarks/bsp/halo.py                  # 2 real ranks and 64 simulated ones, about two minutes
    benchmarks/bsp/halo.py --simulated      # only the simulated ones, which need SimGrid 3.32 with SMPI

Real ranks: the programs alternate (by hand, skel, by hand ...), and medians of all repetitions are compared. Only an
idle machine gives meaningful figures. Simulated ranks: skel-simulate against the hand-written program under SMPI, on
the same platform with the same overheads per message; both are deterministic. `ring` ends every superstep with a
barrier; `neighbours` names the neighbours. The target of `neighbours` is 1.3.
Needs only Python's standard library. With --check, exit code 1 if a target was missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGET = 1.3
PATTERNS = ("ring", "neighbours")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")


def run(command):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, env=ENVIRONMENT,
                              check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"halo.py: no end after 300 s: {command}")
    if done.returncode != 0:
        sys.exit(f"halo.py: exit code {done.returncode}: {command}\n{done.stderr}")
    return done.stdout


def lines(text):
    return [dict(item.split("=", 1) for item in line.split()) for line in text.splitlines() if "step_seconds=" in line]


def row(where, what, size, pattern, ours, theirs):
    ratio = statistics.median(ours) / statistics.median(theirs)
    shown = [f"{statistics.median(t) * 1e6:.2f} us [{min(t) * 1e6:.2f}..{max(t) * 1e6:.2f}]" for t in (ours, theirs)]
    verdict = "" if pattern == "ring" else f"<= {TARGET} {'ok' if ratio <= TARGET else 'MISSED'}"
    print(f"| {where} | {what} | {size} B | {pattern} | {shown[0]} | {shown[1]} | {ratio:.2f} | {verdict} |", flush=True)
    return pattern == "ring" or ratio <= TARGET


def real(options, microseconds, size):
    steps = max(1000, int(1e6 / (microseconds + 10)) // 4)
    mpi = ["mpiexec", "-n", "2", "--bind-to", "none"]
    arguments = [size, steps, microseconds, 1]
    seconds, hashes = {name: [] for name in ("by hand", *PATTERNS)}, set()
    for _ in range(options.repetitions):
        for name, times in seconds.items():
            program = ["skel-bench-halo-by-hand"] if name == "by hand" else ["skel-bench-halo"]
            text = run([*mpi, options.bin / program[0], *arguments, *([] if name == "by hand" else [name])])
            for line in lines(text):
                times.append(float(line["step_seconds"]))
                hashes.add(line["hash"])
    if len(hashes) != 1:
        sys.exit(f"halo.py: results differ: {hashes}")
    what = "exchange only" if microseconds == 0 else f"{microseconds} us of work"
    return all([row("2 ranks", what, size, p, seconds[p], seconds["by hand"]) for p in PATTERNS])


def simulated(options, size, folder):
    platform, steps = f"cluster:ranks={options.ranks}", 1000
    run([options.bin / "skel-smpi-export", platform, options.ranks, "constant:1s", 1, 1, folder])
    run(["smpicxx", "-O2", "-std=c++20", HERE / "halo_by_hand.cpp", "-o", f"{folder}/by_hand"])
    overheads = pathlib.Path(folder, "overheads").read_text().split()
    settings = ["root.thresh:warning", "smpi/host-speed:1Gf", "smpi/simulate-computation:no",
                "smpi/coll-selector:ompi", f"smpi/ois:{overheads[0]}", f"smpi/or:{overheads[1]}", "network/model:CM02",
                "network/crosstraffic:0", "network/TCP-gamma:1e12"]
    text = run(["smpirun", "-np", options.ranks, "-platform", f"{folder}/platform.xml", "-hostfile",
                f"{folder}/hostfile", f"{folder}/by_hand", size, steps, 0, 1, f"--log={settings[0]}",
                *[f"--cfg={s}" for s in settings[1:]]])
    theirs = [float(line["step_seconds"]) for line in lines(text)]
    good = True
    for pattern in PATTERNS:
        report = f"{folder}/report.json"

        def total(n, pattern=pattern, report=report):
            run([options.bin / "skel-simulate", "--skeleton", "bsp", "--platform", platform, "--supersteps", n, "--costs",
                 "constant:0.001us", "--message-bytes", size, "--pattern", pattern, "--quiet", "--report", report])
            return json.loads(pathlib.Path(report).read_text())["seconds"]

        # The difference of two runs leaves out their start and end.
        ours = [(total(2 * steps) - total(steps)) / steps]
        good &= row(f"{options.ranks} simulated", "exchange only", size, pattern, ours, theirs)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[1] / "build/release/bin",
                        help="directory of the programs")
    parser.add_argument("--ranks", type=int, default=64, help="simulated ranks")
    parser.add_argument("--repetitions", type=int, default=11, help="of real runs")
    parser.add_argument("--simulated", action="store_true", help="no real runs")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a target was missed")
    options = parser.parse_args()
    print("| ranks | superstep | message | pattern | skel, median [all] | by hand | ratio | target |\n|---|---|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for size in (8, 8192):
            good &= simulated(options, size, folder)
    for microseconds in () if options.simulated else (0, 100):
        for size in (8, 8192):
            good &= real(options, microseconds, size)
    sys.exit(0 if good or not options.check else 1)


if __name__ == "__main__":
    main()
