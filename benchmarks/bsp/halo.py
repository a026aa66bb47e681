#!/usr/bin/env python3
"""Compares a superstep of a 1-D halo exchange with MPI_Isend and MPI_Irecv: one table of ratios.

    benchmarks/bsp/halo.py                  # 2 real ranks and 64 simulated ones, about two minutes
    benchmarks/bsp/halo.py --simulated      # only the simulated ones, which need SimGrid 3.32 with SMPI

Real ranks: the programs alternate (by hand, skel, by hand ...), ten exchanges each, and medians of all exchanges are
compared. `MULTIPLE`: the program by hand with the thread level that skel needs for its heartbeats. Only an idle machine
gives meaningful figures. Simulated ranks: skel-simulate against the hand-written program under SMPI, on
the same platform with the same overheads per message; both are deterministic. `ring` ends every superstep with a
barrier; `neighbours` names the neighbours. The target of `neighbours` is 1.3.
"""
import pathlib
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

TARGET = 1.3
PATTERNS = ("ring", "neighbours")
EXCHANGES = 10  # of each program run: short ones, between which other processes may run


def microseconds(seconds):
    """The median, and the values at 10 % and 90 %."""
    if not seconds:
        return ""
    low, high = bench.tenths(seconds)
    spread = f" [{low * 1e6:.2f}..{high * 1e6:.2f}]" if len(seconds) > 1 else ""
    return f"{statistics.median(seconds) * 1e6:.2f} us{spread}"


def row(where, what, size, pattern, ours, theirs, theirs_multiple=()):
    ratio = statistics.median(ours) / statistics.median(theirs)
    shown = [microseconds(t) for t in (ours, theirs, theirs_multiple)]
    verdict = "" if pattern == "ring" else f"<= {TARGET} {bench.word(ratio <= TARGET)}"
    bench.row(where, what, f"{size} B", pattern, *shown, f"{ratio:.2f}", verdict)
    return pattern == "ring" or ratio <= TARGET


def real(options, work, size):
    steps = max(1000, int(1e6 / (work + 10)) // 4) // EXCHANGES
    seconds, hashes = {name: [] for name in ("by hand", "multiple", *PATTERNS)}, set()
    for _ in range(options.repetitions):
        for name, times in seconds.items():
            program = "skel-bench-halo" if name in PATTERNS else "skel-bench-halo-by-hand"
            text = bench.run(*bench.mpiexec(2), options.bin / program, size, steps, work, EXCHANGES,
                             *([] if name == "by hand" else [name]))
            for line in bench.fields(text):
                times.append(float(line["step_seconds"]))
                hashes.add(line["hash"])
    if len(hashes) != 1:
        bench.fail(f"results differ: {hashes}")
    what = "exchange only" if work == 0 else f"{work} us of work"
    return all([row("2 ranks", what, size, p, seconds[p], seconds["by hand"], seconds["multiple"]) for p in PATTERNS])


def simulated(options, size, folder):
    platform, steps = f"cluster:ranks={options.ranks}", 1000
    bench.run(options.bin / "skel-smpi-export", platform, options.ranks, "constant:1s", 1, 1, folder)
    bench.run("smpicxx", "-O2", "-std=c++20", "-I", bench.TOP / "benchmarks", bench.TOP / "benchmarks/bsp/halo_by_hand.cpp", "-o",
              f"{folder}/by_hand")
    overheads = pathlib.Path(folder, "overheads").read_text().split()
    settings = ["root.thresh:warning", "smpi/host-speed:1Gf", "smpi/simulate-computation:no",
                "smpi/coll-selector:ompi", f"smpi/ois:{overheads[0]}", f"smpi/or:{overheads[1]}", "network/model:CM02",
                "network/crosstraffic:0", "network/TCP-gamma:1e12"]
    text = bench.run("smpirun", "-np", options.ranks, "-platform", f"{folder}/platform.xml", "-hostfile",
                     f"{folder}/hostfile", f"{folder}/by_hand", size, steps, 0, 1, f"--log={settings[0]}",
                     *[f"--cfg={s}" for s in settings[1:]])
    theirs = [float(line["step_seconds"]) for line in bench.fields(text)]
    good = True
    for pattern in PATTERNS:
        def total(n, pattern=pattern):
            return bench.simulate(options, "--skeleton", "bsp", "--platform", platform, "--supersteps", n, "--costs",
                                  "constant:0.001us", "--message-bytes", size, "--pattern", pattern)["seconds"]

        # The difference of two runs leaves out their start and end.
        ours = [(total(2 * steps) - total(steps)) / steps]
        good &= row(f"{options.ranks} simulated", "exchange only", size, pattern, ours, theirs)
    return good


def main():
    parser = bench.parser(__doc__, repetitions=11, check=True)
    parser.add_argument("--ranks", type=int, default=64, help="simulated ranks")
    parser.add_argument("--simulated", action="store_true", help="no real runs")
    options = parser.parse_args()
    bench.need(options, "skel-simulate", "skel-smpi-export", "smpicxx", "smpirun",
               *([] if options.simulated else ["skel-bench-halo", "skel-bench-halo-by-hand", "mpiexec"]))
    bench.head("ranks", "superstep", "message", "pattern", "skel, median [10 % .. 90 %]", "by hand", "by hand, MULTIPLE",
               "ratio", "target")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for size in (8, 8192):
            good &= simulated(options, size, folder)
    for work in () if options.simulated else (0, 100):
        for size in (8, 8192):
            good &= real(options, work, size)
    bench.finish(good, options)


main()
