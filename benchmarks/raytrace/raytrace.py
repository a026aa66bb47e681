#!/usr/bin/env python3
"""Compares skel's ray tracer with Embree (same shading) and Tachyon on one core.

    benchmarks/raytrace/raytrace.py --bin build/release/bin [--parts pictures coherent rays]

pictures: whole images, beside Embree's single rays and Tachyon. Seconds are measured by the programs themselves:
building and rendering in skel and Embree, preprocessing and ray tracing in Tachyon. Parsing is not included.
coherent: primary rays and their shadow rays with shading (a depth of 1), beside Embree's packets of 16 and single rays.
rays: millions of rays a second without shading, by kind.

Every repetition runs all programs one after the other, so that a ratio compares neighbours in time; the order changes
from one repetition to the next. Seconds of `coherent` and `rays` are processor time.
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
PARTS = ["pictures", "coherent", "rays"]
KINDS = ["primary", "shadow", "incoherent"]
SIDE = 512  # pixels
COUNTERS = ["primary", "hits", "shadow", "reflected", "refracted"]


class Timed:
    """A program that prints build_seconds, render_seconds and ray counts."""

    def __init__(self, name, path, *arguments):
        self.name, self.path, self.arguments = name, path, arguments
        self.cpu = []  # processor seconds, comparable on a machine with other load

    def measure(self, scene):
        f = bench.fields(bench.run(self.path, scene, 1, *self.arguments))[-1]
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


def pictures(options, path, folder):
    programs = [Timed("skel", path("skel-bench-render"), "bvh", "", "", 5, SIDE)]
    if os.path.exists(path("skel-bench-embree")):
        programs.append(Timed("embree", path("skel-bench-embree")))
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
                line += f" ratio {ratio(seconds[p.name], seconds['skel'])}"
            if counts[p.name]:
                line += "  " + " ".join(f"{c}={counts[p.name][c]}" for c in COUNTERS)
            print(line)
        if counts.get("embree"):
            ours, theirs = (p.cpu[-options.repetitions:] for p in programs[:2])
            print(f"{scene:18} processor time: skel {describe(ours)}, embree {describe(theirs)}, "
                  f"ratio {ratio(theirs, ours)}")
            rays = sum(counts["skel"][c] for c in COUNTERS)
            unlike = sum(abs(counts["skel"][c] - counts["embree"][c]) for c in COUNTERS)
            print(f"{scene:18} counts differ by {unlike} of {rays} ({100 * unlike / rays:.4f} %)")


def in_turns(options, commands):
    """Runs the commands alternately. Returns, by name, the list of their outputs."""
    outputs = {name: [] for name in commands}
    names = list(commands)
    for repetition in range(options.repetitions):
        for name in names[repetition % len(names):] + names[:repetition % len(names)]:
            outputs[name].append(bench.fields(bench.run(*commands[name])))
    return outputs


def ratio(ours, theirs):
    """Of pairs: median [min-max]."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    return f"{statistics.median(ratios):5.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"


def coherent(options, path):
    print(f"\n{SIDE} x {SIDE}, primary and shadow rays with shading, {options.repetitions} repetitions; ms of processor time: "
          "median [min-max]; ratio: peer / skel of the same repetition")
    skel, embree = path("skel-bench-render"), path("skel-bench-embree")
    for scene in options.scenes:
        outputs = in_turns(options, {
            "skel": [skel, scene, 1, "bvh", "", "", 1, SIDE],
            "skel, rows": [skel, scene, 1, "bvh", "", "", 1, 1],
            "embree packets": [embree, scene, 1, "", 1, "packets"],
            "embree single": [embree, scene, 1, "", 1, "single"]})
        seconds = {name: [float(f[-1]["render_cpu_seconds"]) for f in runs] for name, runs in outputs.items()}
        for name, values in seconds.items():
            line = f"{scene:18} {name:15} {describe(values):28}"
            print(line if name == "skel" else f"{line} ratio {ratio(values, seconds['skel'])}")


def rays(options, path):
    print(f"\nMrays/s without shading, {options.repetitions} repetitions: median [min-max]; ratio: skel / peer of the same "
          "repetition")
    embree = path("skel-bench-embree")
    for scene in options.scenes:
        outputs = in_turns(options, {
            "skel": [path("skel-bench-render"), "rays", scene, 1],
            "embree packets": [embree, "rays", scene, 1, "packets"],
            "embree single": [embree, "rays", scene, 1, "single"]})
        for kind in KINDS:
            speeds = {name: [next(float(f["mrays"]) for f in lines if f["kind"] == kind) for lines in runs]
                      for name, runs in outputs.items()}
            for name, values in speeds.items():
                if kind == "incoherent" and name == "embree packets":
                    continue  # traces them singly
                line = (f"{scene:10} {kind:10} {name:15} {statistics.median(values):6.1f} "
                        f"[{min(values):.1f}-{max(values):.1f}]")
                print(line if name == "skel" else f"{line:54} ratio {ratio(speeds['skel'], values)}")


def main():
    parser = bench.parser(__doc__, repetitions=7)
    parser.add_argument("--scenes", nargs="*", default=SCENES)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    bench.need(options, "skel-bench-render")
    path = lambda name: os.path.join(options.bin, name)
    peer = os.path.exists(path("skel-bench-embree"))
    if not peer:
        print("no Embree peer: libembree-dev was not found when this was built")
    if "pictures" in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            pictures(options, path, folder)
    if peer and "coherent" in options.parts:
        coherent(options, path)
    if peer and "rays" in options.parts:
        rays(options, path)


main()
