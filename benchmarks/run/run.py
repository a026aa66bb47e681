#!/usr/bin/env python3
"""Time of short commands: skel-run on two ranks, GNU parallel on two cores, and the processes alone.

Every command is /bin/true. The programs take turns, so that a load of the machine meets all of them. The time of
mpiexec, and of starting and ending MPI, is that of a run without commands. --check: two ranks of skel-run, with all
of that, must take at most the time of GNU parallel, and a command on one rank at most 1 ms more than posix_spawn()
and wait."""
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import bench  # noqa: E402


def timed(call, *arguments, **how):
    begin = time.perf_counter()
    call(*arguments, **how)
    return time.perf_counter() - begin


def spawn(count):
    for _ in range(count):
        os.waitpid(os.posix_spawn("/bin/true", ["/bin/true"], os.environ), 0)


def main():
    made = bench.parser(__doc__, repetitions=5, check=True)
    made.add_argument("--commands", type=int, default=10000, help="commands of a run [10000]")
    options = made.parse_args()
    bench.need(options, "skel-run", "mpiexec", "parallel")
    with tempfile.TemporaryDirectory() as folder:
        full, empty = pathlib.Path(folder) / "list", pathlib.Path(folder) / "empty"
        full.write_text("/bin/true\n" * options.commands)
        empty.write_text("")
        files = pathlib.Path(folder) / "out"

        def skel_run(ranks, *words):
            bench.run(*bench.mpiexec(ranks), options.bin / "skel-run", "--quiet", "--threads", 1, *words, env=bench.YIELDING)

        def parallel():
            with full.open() as list_of_commands:
                bench.run("sh", "-c", f"parallel --will-cite -j 2 <{list_of_commands.name}")

        runs = {
            "skel-run, 2 ranks": lambda: timed(skel_run, 2, full),
            "skel-run, 2 ranks, output in files": lambda: timed(skel_run, 2, "--files", files, full),
            "skel-run, 2 ranks, no commands": lambda: timed(skel_run, 2, empty),
            "GNU parallel -j 2": lambda: timed(parallel),
            "skel-run, 1 rank": lambda: timed(skel_run, 1, full),
            "skel-run, 1 rank, no commands": lambda: timed(skel_run, 1, empty),
            "posix_spawn() and wait, one after the other": lambda: timed(spawn, options.commands),
        }
        seconds = {name: [] for name in runs}
        for _ in range(options.repetitions):
            for name, run in runs.items():
                seconds[name].append(run())
    print(f"{options.commands} commands, {options.repetitions} runs each; median [10 % .. 90 %]; {bench.load()}\n")
    bench.head("", "seconds", "ms per command")
    for name, values in seconds.items():
        share = "" if "no commands" in name else f"{1e3 * statistics.median(values) / options.commands:.3f}"
        bench.row(name, bench.shown(values, 2), share)
    ratio = bench.paired_ratio(seconds["skel-run, 2 ranks"], seconds["GNU parallel -j 2"])
    over = [1e3 * (one - start - alone) / options.commands
            for one, start, alone in zip(seconds["skel-run, 1 rank"], seconds["skel-run, 1 rank, no commands"],
                                         seconds["posix_spawn() and wait, one after the other"])]
    print(f"\nskel-run to GNU parallel: {ratio:.3f}, {bench.word(ratio <= 1)}")
    print(f"ms per command on one rank beyond posix_spawn(): {bench.shown(over)}, {bench.word(statistics.median(over) <= 1)}")
    bench.finish(ratio <= 1 and statistics.median(over) <= 1, options)


if __name__ == "__main__":
    main()
