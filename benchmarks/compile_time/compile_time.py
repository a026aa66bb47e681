#!/usr/bin/env python3
"""Compares the compilation costs of the README's program with those of the same job over Boost.MPI.

Compiles each program REPEAT times, in turn, and prints the CPU seconds of the compiler (median, least and most)
and the lines after preprocessing. Target: the README's program takes at most LIMIT times as long as by_hand.cpp.
"""
import pathlib
import resource
import shlex
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def seconds(command):
    """CPU seconds of one compilation. Other processes would slow down wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bench.run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = bench.parser(__doc__)
    parser.add_argument("--compiler", default="g++", help="default: g++")
    parser.add_argument("--flags", default="-std=c++20 -O2", help="default: -std=c++20 -O2")
    parser.add_argument("--repeat", type=int, default=11, help="compilations of each program, default: 11")
    parser.add_argument("--limit", type=float, default=0.6, help="exit code 1 above this ratio of the medians, default: 0.6")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error(f"--repeat must be at least 1, found {options.repeat}")

    mpi = shlex.split(bench.run("mpicxx", "--showme:compile"))
    compiler = [options.compiler, *shlex.split(options.flags)]
    programs = {
        "README": ["-DSKEL_WITH_MPI=1", f"-I{bench.TOP / 'include'}", str(bench.TOP / "examples" / "readme" / "main.cpp")],
        "by hand": [*mpi, str(HERE / "by_hand.cpp")],
    }
    times = {name: [] for name in programs}
    for _ in range(options.repeat):
        for name, arguments in programs.items():
            times[name].append(seconds([*compiler, *arguments, "-c", "-o", "/dev/null"]))

    print(f"{shlex.join(compiler)}, {options.repeat} compilations each")
    print(f"{'program':<10}{'median s':>10}{'least s':>10}{'most s':>10}{'lines':>10}")
    for name, arguments in programs.items():
        text = bench.run(*compiler, *arguments, "-E", "-P")
        t = times[name]
        print(f"{name:<10}{statistics.median(t):>10.2f}{min(t):>10.2f}{max(t):>10.2f}{text.count(chr(10)):>10}")
    ratio = statistics.median(times["README"]) / statistics.median(times["by hand"])
    print(f"ratio of the medians: {ratio:.2f}, expected: at most {options.limit:.2f}")
    return 0 if ratio <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
