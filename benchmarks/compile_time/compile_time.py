#!/usr/bin/env python3
"""Compares the compilation costs of the README's program with those of the same job over Boost.MPI.

Compiles both in turn, and prints the CPU seconds of the compiler and the lines after preprocessing. Target: the README's
program takes at most 0.6 times as long as by_hand.cpp.
"""
import resource
import shlex
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

COMPILER = ["g++", "-std=c++20", "-O2"]
LIMIT = 0.6


def seconds(command):
    """CPU seconds of one compilation. Other processes would slow down wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bench.run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    options = bench.parser(__doc__, repetitions=11, check=True).parse_args()
    bench.need(options, COMPILER[0], "mpicxx")
    include, mpi = f"-I{bench.TOP / 'include'}", shlex.split(bench.run("mpicxx", "--showme:compile"))
    programs = {"README": [*COMPILER, "-DSKEL_WITH_MPI=1", include, bench.TOP / "examples/readme/main.cpp"],
                "by hand": [*COMPILER, *mpi, bench.TOP / "benchmarks/compile_time/by_hand.cpp"]}
    times = {name: [] for name in programs}
    for _ in range(options.repetitions):
        for name, command in programs.items():
            times[name].append(seconds([*command, "-c", "-o", "/dev/null"]))
    print(f"{shlex.join(COMPILER)}, {options.repetitions} compilations each\n")
    bench.head("program", "seconds, median [10 % .. 90 %]", "lines")
    for name, command in programs.items():
        bench.row(name, bench.shown(times[name], 2), bench.run(*command, "-E", "-P").count("\n"))
    ratio = statistics.median(times["README"]) / statistics.median(times["by hand"])
    print(f"\nratio of the medians: {ratio:.2f} {bench.word(ratio <= LIMIT)} (target <= {LIMIT:.2f})")
    bench.finish(ratio <= LIMIT, options)


main()
