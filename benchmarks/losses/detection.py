#!/usr/bin/env python3
"""Measures how soon the survivors know that a rank was killed, and how soon they go on.

    benchmarks/losses/detection.py                  # 100 kills on one host, 100 on two: ten minutes
    benchmarks/losses/detection.py --kills 20 --hosts 1
    benchmarks/losses/detection.py --kills 0 --farms 20

Four ranks run a farm. One of them, by turns the root and the last rank, sends SIGKILL to itself. Each survivor looks every
50 us whether it knows. Prints the time from the kill until the last of the survivors knew, and how they noticed it, see
docs/reference/report.md.

The two hosts are network namespaces of this machine with two ranks each, which needs root; they are gone with this process.
Targets: 99 of 100 kills are known after 5 ms on the victim's host, and after 50 ms on the other one. With --farms, a farm of
4 ranks runs undisturbed, and with a root that is killed at half time: it ends at most 1.35 times as late (4/3 is ideal), and
the first task of the next attempt begins after at most 100 ms. Tasks sleep, so other jobs matter little.

A process ends when its memory is free. The table begins with what the kernel takes for that: the time from SIGKILL until the
descriptor of a process tells its parent, for processes with some MB of memory and nothing else.
"""
import collections
import mmap
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [f"{sys.path[0]}/..", f"{sys.path[0]}/../checkpoint"]
import bench  # noqa: E402
import network  # noqa: E402

RANKS = 4
TASKS, TASK_MS = 1600, 5
TARGETS = {"the victim's": 5, "the other": 50}  # ms
PATIENCE = 60  # seconds for one run


def events_of(command, arguments, complete):
    """Runs the program until complete(events). Returns its lines as tuples (event, rank, seconds, way)."""
    job = subprocess.Popen([*map(str, command), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, env=bench.YIELDING)
    timer = threading.Timer(PATIENCE, job.kill)
    timer.start()
    events = []
    for line in job.stdout:
        what, rank, when, *way = line.split()
        events.append((what, int(rank), int(when) * 1e-9, "".join(way)))
        if complete(events):
            break
    timer.cancel()
    # On several hosts, Open MPI 4 does not end after a loss.
    job.send_signal(signal.SIGTERM)
    try:
        job.wait(10)
    except subprocess.TimeoutExpired:
        job.kill()
        job.wait()
    job.stdout.close()
    if not complete(events):
        bench.fail(f"no end after {PATIENCE} s: {' '.join(map(str, arguments))}: {events}")
    return events


def times(events, what):
    return [when for event, _, when, _ in events if event == what]


def kill_once(command, victim, megabytes):
    """Runs the program until all survivors know. Returns the milliseconds until each did, and the ways."""
    events = events_of(command, (victim, 300, 0, 1, megabytes),
                       lambda e: times(e, "killed") and len(times(e, "known")) == RANKS - 1)
    killed, = times(events, "killed")
    return {rank: ((when - killed) * 1e3, how) for event, rank, when, how in events if event == "known"}


def ends_of_process(megabytes, repetitions):
    """Milliseconds from SIGKILL until the descriptor of a process tells that it has ended."""
    taken = []
    for _ in range(repetitions):
        ready, says = os.pipe()
        child = os.fork()
        if child == 0:
            memory = mmap.mmap(-1, max(1, megabytes << 20), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, megabytes << 20, mmap.PAGESIZE):
                memory[at] = 1
            os.write(says, b"x")
            signal.pause()
        os.read(ready, 1)
        descriptor = os.pidfd_open(child)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        time.sleep(0.02)
        begin = time.perf_counter()
        os.kill(child, signal.SIGKILL)
        poll.poll()
        taken.append((time.perf_counter() - begin) * 1e3)
        os.waitpid(child, 0)
        for opened in (ready, says, descriptor):
            os.close(opened)
    return taken


def print_limit(repetitions):
    bench.head("a process of", "kills", "median, ms", "99 of 100", "most")
    for megabytes in (0, 30, 100, 300):
        taken = ends_of_process(megabytes, repetitions)
        bench.row(f"{megabytes} MB", repetitions, f"{statistics.median(taken):.1f}", f"{bench.quantile(taken, 0.99):.1f}",
                  f"{max(taken):.1f}")
    print()


def measure_farms(options, command):
    """Prints what the loss of the root costs a farm. Returns whether the targets are met."""
    farm = (TASKS, TASK_MS)
    begins_and_ends = lambda e: bool(times(e, "done"))  # noqa: E731
    whole, with_loss, to_task, again = [], [], [], []
    for _ in range(options.farms):
        events = events_of(command, (-1, 0, *farm), begins_and_ends)
        whole.append(times(events, "done")[0] - times(events, "began")[0])
        half = statistics.median(whole) / 2
        events = events_of(command, (0, round(half * 1e3), *farm), begins_and_ends)
        killed, = times(events, "killed")
        with_loss.append(times(events, "done")[0] - times(events, "began")[0])
        to_task.append((min(times(events, "again")) - killed) * 1e3)
        again.append(TASKS - next(int(way) for what, _, _, way in events if what == "done"))
    ratio = statistics.median(with_loss) / statistics.median(whole)
    good = ratio <= 1.35 and statistics.median(to_task) <= 100
    bench.head("farms", "undisturbed, s", "root killed at half time, s", "ratio", "tasks after the loss",
               "kill to the next task: median, ms", "most", "target")
    bench.row(options.farms, f"{statistics.median(whole):.3f}", f"{statistics.median(with_loss):.3f}", f"{ratio:.3f}",
              round(statistics.median(again)), f"{statistics.median(to_task):.1f}", f"{max(to_task):.1f}", bench.word(good))
    return good


def measure(options, command, host_of, hosts):
    """Prints a row for each kind of survivors. Returns whether the targets are met."""
    good = True
    bench.head("hosts", "killed", "survivors' host", "kills", "median, ms", "99 of 100", "most", "noticed", "target")
    by_victim = {victim: [kill_once(command, victim, options.megabytes) for _ in range(options.kills // 2)]
                 for victim in (0, RANKS - 1)}
    for victim, kills in by_victim.items():
        for place, most in TARGETS.items():
            taken, ways = [], collections.Counter()
            for known in kills:
                here = [seen for rank, seen in known.items() if (host_of(rank) == host_of(victim)) == (place == "the victim's")]
                if here:
                    taken.append(max(ms for ms, _ in here))
                    ways.update(how for _, how in here)
            if taken:
                met = bench.quantile(taken, 0.99) <= most
                good &= met
                bench.row(hosts, "the root" if victim == 0 else "the last rank", place, len(taken),
                          f"{statistics.median(taken):.1f}", f"{bench.quantile(taken, 0.99):.1f}", f"{max(taken):.1f}",
                          ", ".join(f"{way} {n}" for way, n in ways.most_common()), bench.word(met))
    return good


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--kills", type=int, default=100, help="on one host, and on two [100]")
    parser.add_argument("--farms", type=int, default=0, help="undisturbed, and as many with a loss [0]")
    parser.add_argument("--hosts", type=int, nargs="+", choices=(1, 2), default=[1, 2])
    parser.add_argument("--megabytes", type=int, default=0, help="that each rank has filled [0]")
    options = parser.parse_args()
    bench.need(options, "skel-bench-detection", "mpiexec")
    program = options.bin / "skel-bench-detection"
    print(bench.load())
    good = True
    recovers = ["--mca", "orte_enable_recovery", "1"]  # skel-mpiexec, without what outlives it
    if options.farms > 0:
        good &= measure_farms(options, [*bench.mpiexec(RANKS), *recovers, program])
    if options.kills > 0:
        print_limit(options.kills)
    if options.kills > 0 and 1 in options.hosts:
        good &= measure(options, [*bench.mpiexec(RANKS), *recovers, program], lambda rank: 0, 1)
    if options.kills > 0 and 2 in options.hosts:
        try:
            network.enter()
            with tempfile.TemporaryDirectory() as folder, \
                 network.Network(nodes=2, rate="1gbit", folder=folder, slots=RANKS // 2) as net:
                good &= measure(options, [*net.mpiexec(RANKS), *recovers, program], lambda rank: rank // 2, 2)
        except network.Missing as why:
            bench.fail(f"two hosts: {why}")
    bench.finish(good, options)


main()
