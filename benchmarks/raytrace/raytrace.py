#!/usr/bin/env python3
"""Compares skel's ray tracer with Embree (single rays, same shading) and Tachyon: whole images on one core.

    benchmarks/raytrace/raytrace.py --bin build/release/bin

Every repetition runs all programs one after the other, so that a ratio compares neighbours in time; the order changes
from one repetition to the next. Seconds are measured by the programs themselves: building and rendering in skel and
Embree, preprocessing and ray tracing in Tachyon. Parsing is not included.
"""
import os
import re
import shutil
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

SCENES = ["balls:4", "gears:4", "tetra:6"]
COUNTERS = ["primary", "hits", "shadow", "reflected", "refracted"]


class Timed:
    """A program that prints build_seconds, render_seconds and ray counts."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        self.cpu = []  # processor seconds, comparable on a machine with other load

    def measure(self, scene):
        f = bench.fields(bench.run(self.path, scene))[-1]
        seconds = float(f["build_seconds"]) + float(f["render_seconds"])
        self.cpu.append(float(f["cpu_seconds"]))
        return seconds, {c: int(f[c]) for c in COUNTERS}


class Tachyon:
    """Debian's `tachyon` with one thread. Its library may be the MPI build; a private link selects the threaded one."""

    name = "tachyon"

    def __init__(self, program, converter, folder):
        self.program, self.converter, self.folder = program, converter, folder
        self.environment = dict(os.environ)
        for place in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"]:
            library = os.path.join(place, "libtachyon-mt-thr.so.0")
            if os.path.exists(library):
                os.symlink(library, os.path.join(folder, "libtachyon.so.0"))
                self.environment["LD_LIBRARY_PATH"] = folder
                break

    def measure(self, scene):
        data = os.path.join(self.folder, scene.replace(":", "-").replace(",", "-") + ".dat")
        if not os.path.exists(data):
            with open(data, "w", encoding="ascii") as file:
                file.write(bench.run(self.converter, scene))
        output = bench.run(self.program, data, "+V", "-numthreads", 1, "-format", "PPM", "-o", data + ".ppm",
                           env=self.environment)
        times = [float(t) for t in re.findall(r"(?:Preprocessing|Ray Tracing) Time:\s+([0-9.]+)", output)]
        return sum(times), None


def describe(values):
    return f"{1e3 * statistics.median(values):8.1f} [{1e3 * min(values):.1f}-{1e3 * max(values):.1f}]"


def main():
    parser = bench.parser(__doc__, repetitions=7)
    parser.add_argument("--scenes", nargs="*", default=SCENES)
    options = parser.parse_args()
    bench.need(options, "skel-bench-render")
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(options.bin, name)
        programs = [Timed("skel", path("skel-bench-render"))]
        if os.path.exists(path("skel-bench-embree")):
            programs.append(Timed("embree", path("skel-bench-embree")))
        else:
            print("no Embree peer: libembree-dev was not found when this was built")
        tachyon = shutil.which("tachyon")
        if tachyon:
            programs.append(Tachyon(tachyon, path("skel-bench-tachyon-scene"), folder))
        else:
            print("no Tachyon: package `tachyon` is not installed")

        print(f"512 x 512, depth 5, one core, {options.repetitions} repetitions; ms: median [min-max]; "
              "ratio: peer / skel of the same repetition, median [min-max]")
        for scene in options.scenes:
            seconds = {p.name: [] for p in programs}
            counts = {}
            for p in programs:  # warms up
                counts[p.name] = p.measure(scene)[1]
            for repetition in range(options.repetitions):
                for p in programs[repetition % len(programs):] + programs[:repetition % len(programs)]:
                    seconds[p.name].append(p.measure(scene)[0])
            for p in programs:
                line = f"{scene:18} {p.name:8} {describe(seconds[p.name]):28}"
                if p.name != "skel":
                    ratios = [a / b for a, b in zip(seconds[p.name], seconds["skel"])]
                    line += f" ratio {statistics.median(ratios):5.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"
                if counts[p.name]:
                    line += "  " + " ".join(f"{c}={counts[p.name][c]}" for c in COUNTERS)
                print(line)
            if counts.get("embree"):
                ours, theirs = (statistics.median(p.cpu[-options.repetitions:]) for p in programs[:2])
                print(f"{scene:18} processor time: skel {1e3 * ours:.1f}, embree {1e3 * theirs:.1f}, "
                      f"ratio {theirs / ours:5.2f}")
                rays = sum(counts["skel"][c] for c in COUNTERS)
                unlike = sum(abs(counts["skel"][c] - counts["embree"][c]) for c in COUNTERS)
                print(f"{scene:18} counts differ by {unlike} of {rays} ({100 * unlike / rays:.4f} %)")


main()
