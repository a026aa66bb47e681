#!/usr/bin/env python3
"""Measures the minimum effective task granularity of the farm, METG(50 %) of Task Bench [Slaughter20].

METG(50 %) is the task length at which half of the processor time is useful: efficiency = tasks x length /
(processors x wall time) = 0.5. Two parts, each a table and a curve per program or number of ranks:

    benchmarks/farm/metg.py                          # both, some minutes
    benchmarks/farm/metg.py --parts real             # this machine; leave it alone meanwhile
    benchmarks/farm/metg.py --parts simulated --task-overhead 30 --message-overhead 900

real: skel's farm (schedule auto) on one rank per core, and the hand-written MPI master-worker: one task per message,
and chunks of about 100 us. The master-worker also runs with one rank more than cores, so that every core computes,
and the better of both counts. Runs are interleaved; medians of all repetitions, with the 10 % and 90 % quantiles.

simulated: skel-simulate on the network of the platform cluster-1024. A task costs its length and --task-overhead, a
message costs --message-overhead at either end. Overheads that are not given are measured here first, with tasks of
length 0 on two ranks: the task's with the schedule auto, which sends thousands of tasks per message; the message's with
a serving root and two messages per task.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from farm import Program, iterations_per_us  # noqa: E402
from line_plot import plot  # noqa: E402

LENGTHS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]  # microseconds
LONGER = [2000, 5000]  # for many simulated ranks
RESULT_BYTES = 16
QUANTUM = 100  # microseconds; the farm computes and sends in portions of this length
# A steady state: a rank has many quanta and many tasks. The root sends and receives some messages per rank at the start
# and at the end. With 300 ns per message that takes about 7 us per rank, so the work grows with the ranks.
REAL_WORK, REAL_TASKS = 20_000, 64  # microseconds and tasks per core
MOST_REAL_TASKS = 400_000  # per core, or single messages would take seconds
SIMULATED_WORK, SIMULATED_TASKS, WORK_BY_RANKS = 5_000, 64, 100  # per rank; microseconds of it per rank of the run
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#7d6608", "#7d3c98", "#555555"]


def metg(points, share=0.5):
    """Returns the least length from which on the efficiency is `share` or more, or None if the last point is below it.

    `points` are pairs of length and efficiency in ascending order. Interpolates linearly in the logarithm of the length.
    Returns the first length if all points reach the share: the METG is then at most that.
    """
    if not points or points[-1][1] < share:
        return None
    above = len(points) - 1
    while above > 0 and points[above - 1][1] >= share:
        above -= 1
    if above == 0:
        return points[0][0]
    (x0, y0), (x1, y1) = points[above - 1], points[above]
    part = (share - y0) / (y1 - y0)
    return math.exp(math.log(x0) + part * (math.log(x1) - math.log(x0)))


def shown_metg(points):
    found = metg(points)
    if found is None:
        return f"> {points[-1][0]:g} us" if points else "-"
    return f"{'<= ' if found == points[0][0] else ''}{float(f'{found:.3g}'):g} us"


def tasks_per_processor(length, work, least):
    """Tasks of `length` microseconds for at least `work` microseconds, and at least `least` of them."""
    return max(least, math.ceil(work / length))


def simulated_tasks(length, ranks):
    return tasks_per_processor(length, max(SIMULATED_WORK, WORK_BY_RANKS * ranks), SIMULATED_TASKS)


# --- real ranks


def exact(length, iterations):
    """The length of the work loop, which is a whole number of iterations."""
    return round(length * iterations) / iterations


def contenders(length, iterations):
    """Programs by the name of their curve; a curve takes the best of its programs."""
    n = len(bench.cores())
    work = ["--us", repr(length), "--bytes", str(RESULT_BYTES), "--iterations-per-us", str(iterations), "--tasks",
            str(n * min(MOST_REAL_TASKS, tasks_per_processor(length, REAL_WORK, REAL_TASKS)))]
    chunk = max(1, min(4096, round(QUANTUM / length)))  # a result message has at most 64 KiB

    def peers(size):
        return [Program("skel-bench-master-worker", ranks, work + ["--chunk", str(size), "--window", "4"])
                for ranks in (max(2, n), n + 1)]

    return {"skel, auto": [Program("skel-bench-farm", n, work + ["--schedule", "auto"])],
            "master-worker, single tasks": peers(1), "master-worker, chunks of 100 us": peers(chunk)}


def measure_real(options, iterations):
    """Returns curves of (length, efficiency, 10 % and 90 % quantiles)."""
    curves = {}
    for length in options.lengths:
        programs = contenders(length, iterations)
        for _ in range(options.rounds):
            for group in programs.values():
                for program in group:
                    program.run(options, options.repetitions)
        useful = exact(length, iterations) * 1e-6 / len(bench.cores())
        for name, group in programs.items():
            best = max(group, key=lambda p: p.median)
            low, high = bench.tenths(best.rates)
            curves.setdefault(name, []).append((exact(length, iterations), useful * best.median, useful * low, useful * high))
        print(f"{length:g} us: " + ", ".join(f"{name} {data[-1][1]:.3f}" for name, data in curves.items()),
              file=sys.stderr, flush=True)
    return curves


# --- overheads


def measured_overheads(options):
    """Nanoseconds per task, and per message at one end: the least of all repetitions, since other load adds to them."""
    empty = ["--us", "0", "--bytes", str(RESULT_BYTES), "--iterations-per-us", "1"]
    many = Program("skel-bench-farm", 2, empty + ["--tasks", "1000000", "--schedule", "auto"])
    pair = Program("skel-bench-farm", 2, empty + ["--tasks", "20000", "--schedule", "first-come:chunk=1", "--results",
                                                  "streamed:batch=1", "--root", "serves"])
    for _ in range(options.rounds):
        for program in (many, pair):
            program.run(options, options.repetitions)
    return 2e9 / max(many.rates), 1e9 / max(pair.rates) / 2


# --- simulated ranks


def platform(overhead):
    """The network of the platform cluster-1024 with this overhead per message, in seconds."""
    return {"name": "metg", "hosts": [{"name": "node", "count": 1024}],
            "network": {"kind": "fat-tree", "down": [32, 32], "up": [1, 32], "parallel": [1, 1], "latency_seconds": 5e-7,
                        "bandwidth_bytes_per_second": 1.25e10},
            "send_overhead_seconds": overhead, "receive_overhead_seconds": overhead}


def simulate(options, platform_file, ranks, length):
    """Returns the efficiency, and the tasks per rank."""
    tasks = simulated_tasks(length, ranks)
    cost = f"constant:{length * 1e-6 + options.task_overhead * 1e-9:.12f}s"
    report = bench.simulate(options, "--platform", platform_file, "--ranks", ranks, "--tasks", tasks * ranks, "--costs", cost,
                            "--schedule", "auto", "--result-bytes", RESULT_BYTES)
    return tasks * length * 1e-6 / report["seconds"], tasks


def measure_simulated(options):
    """Returns curves of (length, efficiency, tasks per rank)."""
    jobs = [(ranks, length) for ranks in options.ranks for length in options.simulated_lengths
            if ranks * simulated_tasks(length, ranks) <= options.most_tasks]
    if not jobs:
        bench.fail("every simulation has more tasks than --most-tasks allows; give longer --lengths or fewer --ranks")
    curves = {}
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(len(bench.cores())) as pool:
        file = pathlib.Path(name) / "platform.json"
        file.write_text(json.dumps(platform(options.message_overhead * 1e-9)))
        results = pool.map(lambda job: simulate(options, file, *job), jobs)
        for (ranks, length), (efficiency, tasks) in zip(jobs, results):
            curves.setdefault(f"{ranks} ranks", []).append((length, efficiency, tasks))
            print(f"{ranks} ranks, {length:g} us, {tasks} tasks per rank: {efficiency:.3f}", file=sys.stderr, flush=True)
    return curves


# --- output


def print_table(curves, lengths, cell, whole=True):
    """One row per length; `cell` makes text of a point. A `whole` table ends with the METG."""
    bench.head("task", *curves)
    for length in lengths:
        bench.row(f"{length:g} us", *(next((cell(p) for p in data if math.isclose(p[0], length, rel_tol=0.1)), "-")
                                      for data in curves.values()))
    if whole:
        bench.row("METG(50 %)", *(shown_metg([p[:2] for p in data]) for data in curves.values()))
    print()


def draw(path, title, curves):
    series = {f"{name}: {shown_metg([p[:2] for p in data])}": (COLOURS[k % len(COLOURS)], [p[:2] for p in data])
              for k, (name, data) in enumerate(curves.items())}
    path.write_text(plot(title, "length of a task, us", "efficiency", series, log_x=True) + "\n")


def positive(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text}")
    return value


def arguments(argv=None):
    parser = bench.parser(__doc__, repetitions=5, rows=True)
    parser.add_argument("--parts", nargs="+", choices=["real", "simulated"], default=["real", "simulated"])
    parser.add_argument("--lengths", type=positive, nargs="+", help="of the tasks, in microseconds")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 16, 256, 1024], help="simulated ranks, at most 1024")
    parser.add_argument("--rounds", type=int, default=5, help="starts of each program")
    parser.add_argument("--task-overhead", type=positive, help="nanoseconds per simulated task; default: measured")
    parser.add_argument("--message-overhead", type=positive, help="nanoseconds at either end; default: measured")
    parser.add_argument("--most-tasks", type=int, default=14_000_000, help="leave out longer simulations")
    parser.add_argument("--out", type=pathlib.Path, help="directory for metg-real.svg and metg-simulated.svg")
    options = parser.parse_args(argv)
    for ranks in options.ranks:
        if not 1 <= ranks <= 1024:
            parser.error(f"argument --ranks: expected 1 to 1024, found {ranks}")
    options.simulated_lengths = sorted(options.lengths or LENGTHS + LONGER)
    if options.rows:
        options.simulated_lengths = [options.simulated_lengths[n - 1] for n in options.rows]
    options.lengths = sorted(options.lengths or LENGTHS)
    return options


def main():
    options = arguments()
    if "simulated" in options.parts:
        bench.need(options, "skel-simulate")
    if "real" in options.parts or None in (options.task_overhead, options.message_overhead):
        bench.need(options, "skel-bench-farm", "skel-bench-master-worker", "mpiexec")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    if "real" in options.parts:
        iterations = iterations_per_us(options)
        print(f"{len(bench.cores())} cores, {iterations:.0f} iterations of the work loop per us; medians of "
              f"{options.rounds * options.repetitions} repetitions [10 % .. 90 %]\n")
        curves = measure_real(options, iterations)
        print_table(curves, options.lengths, lambda p: f"{p[1]:.3f} [{p[2]:.3f}..{p[3]:.3f}]")
        if options.out:
            draw(options.out / "metg-real.svg", f"{len(bench.cores())} cores", curves)
    if "simulated" in options.parts:
        if options.task_overhead is None or options.message_overhead is None:
            task, message = measured_overheads(options)
            options.task_overhead = options.task_overhead or task
            options.message_overhead = options.message_overhead or message
        print(f"simulated, {options.task_overhead:.3g} ns per task, {options.message_overhead:.3g} ns per message at either "
              f"end; at least {SIMULATED_TASKS} tasks and {SIMULATED_WORK / 1000:g} ms of work per rank, and {WORK_BY_RANKS} us of it "
              "per rank of the run\n")
        curves = measure_simulated(options)
        print_table(curves, options.simulated_lengths, lambda p: f"{p[1]:.3f}", not options.rows)
        if options.out and not options.rows:
            draw(options.out / "metg-simulated.svg", "simulated ranks", curves)


if __name__ == "__main__":
    main()
