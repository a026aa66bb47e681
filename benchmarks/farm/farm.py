#!/usr/bin/env python3
"""Compares the farm with a hand-written MPI master-worker on the same cores: one table of ratios.

    benchmarks/farm/farm.py                    # about five minutes
    benchmarks/farm/farm.py --us 0 --bytes 16  # one cell of the table

For every task length and result size, the opponent's grid (ranks x chunk x window) is tried briefly. Its best few
configurations then run interleaved with skel's (A, B, A, B ...), and the medians of all repetitions are compared,
the best of skel's with the best of the opponent's. Wall clock; the length of the work loop is measured once, for both.
"""
import os
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

TASKS = {0: {16: 1_000_000, 4096: 10_000}, 10: {16: 6_000, 4096: 4_000}, 100: {16: 800, 4096: 800},
         1000: {16: 100, 4096: 100}}
TARGETS = {0: None, 10: 0.85, 100: 0.95, 1000: 0.95}
CHUNKS = {0: (1, 8, 32, 256), 10: (1, 4, 8, 32), 100: (1, 2, 4), 1000: (1, 2)}
WINDOWS = {0: (2, 4), 10: (2, 4), 100: (2, 4), 1000: (1, 2)}
# Above 4 KiB shared memory changes its protocol. The faster one depends on the machine, so both are tried.
SINGLE_COPY = {16: ("default",), 4096: ("default", "none")}
SCHEDULES = {0: ("auto", "guided", "guided:min=32", "first-come:chunk=32", "first-come:chunk=256"),
             10: ("auto", "guided", "first-come:chunk=8", "first-come:chunk=1"),
             100: ("auto", "guided", "first-come:chunk=1", "first-come:chunk=2"),
             1000: ("auto", "guided", "first-come:chunk=1")}


class Program:
    """One configuration of one program, and its repetitions."""

    def __init__(self, name, ranks, arguments, mpi=()):
        self.name, self.ranks, self.arguments = name, ranks, arguments
        self.mpi = list(mpi) + (["--mca", "mpi_yield_when_idle", "1"] if ranks > (os.cpu_count() or 1) else [])
        self.rates = []

    def run(self, options, repetitions):
        text = bench.run("mpiexec", "-n", self.ranks, "--oversubscribe", *self.mpi, options.bin / self.name, *self.arguments,
                         "--repetitions", repetitions, timeout=120)
        self.rates += [float(line["tasks_per_second"]) for line in bench.fields(text)]

    @property
    def median(self):
        return statistics.median(self.rates)

    def spread(self):
        low, high = bench.tenths(self.rates)
        return f"{quantity(low)}..{quantity(high)}"

    def __str__(self):
        shown = dict(zip(self.arguments[::2], self.arguments[1::2]))
        what = [shown[key] if key == "--schedule" else f"{key[2:]} {shown[key]}"
                for key in ("--schedule", "--chunk", "--window", "--root") if key in shown]
        return f"{self.ranks} ranks, {', '.join(what)}{', no CMA' if 'none' in self.mpi[:3] else ''}"


def iterations_per_us(options):
    """The speed of the work loop."""
    return float(bench.run(*bench.mpiexec(1), options.bin / "skel-bench-master-worker", "--calibrate").split("=")[1])


def quantity(rate):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if rate >= limit:
            return f"{rate / limit:.3g} {unit}"
    return f"{rate:.3g}"


def work(options, us, size):
    return ["--us", str(us), "--bytes", str(size), "--tasks", str(TASKS[us][size]),
            "--iterations-per-us", str(options.iterations)]


def opponents(options, us, size):
    result = []
    for ranks in options.ranks:
        for chunk in CHUNKS[us]:
            for window in WINDOWS[us]:
                for copy in SINGLE_COPY[size]:
                    mpi = [] if copy == "default" else ["--mca", "btl_vader_single_copy_mechanism", copy]
                    result.append(Program("skel-bench-master-worker", ranks, work(options, us, size)
                                          + ["--chunk", str(chunk), "--window", str(window)], mpi))
    return result


def contenders(options, us, size):
    # With one rank per core the root works too; with one more it only serves, like the opponent's master.
    return [Program("skel-bench-farm", ranks, work(options, us, size)
                    + ["--schedule", schedule, "--root", "works" if ranks <= (os.cpu_count() or 1) else "serves"],
                    ["--bind-to", "none"])
            for ranks in options.ranks for schedule in SCHEDULES[us]]


def shortlist(options, programs, keep):
    """Selects the best few in a brief trial; slower ones are unlikely to win a longer one."""
    for program in programs:
        program.run(options, 5)
    best = sorted(programs, key=lambda p: p.median, reverse=True)[:keep]
    for program in best:
        program.rates.clear()
    return best


def compare(options, us, size):
    theirs = opponents(options, us, size)
    # `guided` has a target of its own: the opponent with chunks of 32, if that is among the best.
    chunks_of_32 = [p for p in theirs if "32" in p.arguments[p.arguments.index("--chunk"):][1:2]] if us == 0 else []
    best = shortlist(options, theirs, 3)
    named = sorted(chunks_of_32, key=lambda p: statistics.median(p.rates or [0]), reverse=True)[:1]
    best += [p for p in named if p not in best]
    for program in named:
        program.rates.clear()
    ours = contenders(options, us, size)
    if len(ours) > 4:
        keep = shortlist(options, ours, 3)
        keep += [p for p in ours if p not in keep and "guided" in p.arguments and p.ranks == min(options.ranks)]
        ours = keep
        for program in ours:
            program.rates.clear()
    rounds = 5
    each = -(-options.repetitions // rounds)
    for _ in range(rounds):
        for program in best + ours:
            program.run(options, each)
    return best, ours, named


def row(us, size, ours, theirs, target, label=""):
    mine, their = max(ours, key=lambda p: p.median), max(theirs, key=lambda p: p.median)
    ratio = mine.median / their.median
    verdict = "" if target is None else f">= {target:.2f} {bench.word(ratio >= target)}"
    shown = [f"{quantity(best.median)}/s [{best.spread()}] {best}" for best in (mine, their)]
    bench.row(f"{us} us", f"{size} B", *shown, f"{ratio:.2f}", f"{verdict} {label}".strip())
    return target is None or ratio >= target


def main():
    parser = bench.parser(__doc__, repetitions=25, check=True)
    parser.add_argument("--us", type=int, nargs="+", default=[0, 10, 100, 1000], choices=sorted(TASKS))
    parser.add_argument("--bytes", type=int, nargs="+", default=[16, 4096], choices=sorted(SINGLE_COPY))
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3])
    options = parser.parse_args()
    bench.need(options, "skel-bench-farm", "skel-bench-master-worker", "mpiexec")
    options.iterations = iterations_per_us(options)
    print(f"{options.iterations:.0f} iterations of the work loop per us; medians of {options.repetitions} "
          "repetitions [10 % .. 90 %]\n")
    bench.head("task", "result", "skel, its best", "master-worker, its best", "ratio", "target")
    good = True
    for us in options.us:
        for size in options.bytes:
            theirs, ours, chunks_of_32 = compare(options, us, size)
            good &= row(us, size, ours, theirs, TARGETS[us])
            if us == 0:
                guided = [p for p in ours if any(a.startswith("guided") for a in p.arguments)]
                good &= row(us, size, guided, chunks_of_32, 1.0, "guided against chunks of 32")
    bench.finish(good, options)


if __name__ == "__main__":
    main()
