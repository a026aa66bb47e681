#!/usr/bin/env python3
"""Repeats section 4 of Lee, Lee and Lu, "Comparisons of load balancing strategies for ray tracing on network
clustered environments", on a simulated cluster with the costs of skel's ray tracer, and on real ranks as far as this
machine permits.

The paper's protocol (4.1): environment configuration, problem size, data type, number of workstations, algorithm;
fifty measurements each, outliers removed, mean and variance. Every measurement is a trace of its own: the picture is
rendered again, and the seconds of each scan line are the costs of the simulated run.

Writes DIR/index.html (all tables, and the plots as SVG), DIR/*.csv.

  benchmarks/gdc/reproduce.py                      # about 15 minutes on 2 cores
  benchmarks/gdc/reproduce.py --measurements 3     # a quick look
  benchmarks/gdc/reproduce.py --beyond             # only a table of 256 and 1,024 unequal nodes: 64 lines of gears for each
"""

import functools
import json
import os
import pathlib
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
from line_plot import plot  # noqa: E402

# Table 1: seconds that the test picture takes (most, least, mean), and the power relative to an HP 715/33. The Sparc 10 takes no
# part in the speed-ups.
POWERS = {"HP 715/33": (101, 96, 97.86, 1.0), "Sparc 2": (225, 218, 221.42, 0.442), "Sparc 10": (110, 103, 105.3, 0.929),
          "Sparc 20": (96, 71, 72.65, 1.347)}
# Section 4.2: the stations in the order of addition, and their powers, inputs of the simulation.
STATIONS = [("HP 715/33", 1.0)] * 12 + [("Sparc 2", 0.442), ("Sparc 20", 1.347)]
# The loss test: powers relative to a Sparc 10 (the second table 3).
LOSS_STATIONS = [("Sparc 2", 0.77)] * 3 + [("Sparc 10", 1.0)] * 2 + [("Sparc 20", 1.96)] * 4
# The scenes at SPD size 2, and their costs relative to balls in the paper (the first table 3).
SCENES = {"balls": ("balls:2", "91 spheres", 1.0), "gears": ("gears:2", "1152 rectangles", 11.15),
          "tetra": ("tetra:2", "16 triangles", 0.455)}
VIEWS = ["balanced", "biased"]
# The paper's schemes: a serving host, one request at a time, one task per theft, one message per line.
PAPER = {"interleaved": "interleaved", "master-slave": "first-come:early=no", "hybrid": "hybrid:cut=400,threshold=1",
         "GDC": "ring:take=one,give=next"}
RANKING = ["GDC", "hybrid", "master-slave", "interleaved"]
OURS = {"master-slave, requests ahead": "first-come", "guided": "guided", "hybrid, cut 80 %": "hybrid:cut=80%",
        "ring, take half": "ring", "ring, doubling order": "ring:order=doubling"}
# Not given in the paper: the network (10 Mb/s Ethernet) and the picture (512 lines of 512 pixels, 3 bytes each).
LINES, LINE_BYTES = 512, 512 * 3
NETWORK = {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6}
BEYOND = [(256, "ring"), (256, "ring:copies=yes"), (256, "ring:order=doubling"), (256, "ring:order=doubling,copies=yes"),
          (256, "first-come"), (1024, "ring:order=doubling"), (1024, "ring:order=doubling,copies=yes")]
BEYOND_LINES, BEYOND_SEEDS = 64, (1, 2, 3)  # lines per node; seeds of the platform
HP_SECONDS = 97.86  # table 1: the test picture on an HP; costs are scaled so that balls, balanced, takes this time
SUSPECT_AFTER = 1.0
CORE = bench.cores()[0]
ON_ONE_CORE = ["taskset", "-c", CORE]
COLOURS = {"GDC": "#c0392b", "hybrid": "#2471a3", "master-slave": "#1e8449", "interleaved": "#7d6608"}


def without_outliers(values):
    """Tukey's rule: removes values more than 1.5 interquartile ranges outside of the quartiles."""
    if len(values) < 4:
        return values
    low, _, high = statistics.quantiles(values, n=4)
    reach = 1.5 * (high - low)
    return [v for v in values if low - reach <= v <= high + reach]


def mean_and_variance(values):
    kept = without_outliers(values)
    return statistics.mean(kept), statistics.variance(kept) if len(kept) > 1 else 0.0, len(kept)


class Experiment(bench.Experiment):
    def __init__(self, arguments):
        super().__init__(arguments, arguments.jobs)
        self.measurements = arguments.measurements
        self.costs = {}

    def renderer(self, scene, size, *words):
        return [self.options.bin / "skel-raytrace", "--scene", scene, "--size", size, "--threads", 1, *words]

    # --- costs

    def trace(self):
        """Renders every scene once per measurement, with one process and thread."""
        rows = []
        for name, (scene, size, paper) in SCENES.items():
            for view in VIEWS:
                command = self.renderer(scene, f"{LINES}x{LINES}", "--view", view, "--accelerator", "slabs")
                traces = []
                for i in range(self.measurements):
                    path = self.work / f"{name}-{view}-{i}.csv"
                    bench.run(*command, "--quiet", "--unit-costs", path)
                    traces.append([float(line) for line in path.read_text().split()])
                self.costs[name, view] = traces
                of_pixels = bench.report(*command, "--costs")
                lines = [line for t in traces for line in t]
                rows.append({"scene": name, "view": view, "size": size,
                             "seconds": statistics.mean(sum(t) for t in traces), "paper": paper,
                             "line_variance": statistics.mean(statistics.variance(t) for t in traces),
                             "line_variation": statistics.stdev(lines) / statistics.mean(lines),
                             "pixel_variance": of_pixels["pixel_seconds_variance"],
                             "pixel_variation": of_pixels["pixel_seconds_variance"]**0.5
                             / of_pixels["pixel_seconds_mean"]})
                print(f"traced {name}, {view}: {rows[-1]['seconds']:.3f} s", flush=True)
        self.scale = HP_SECONDS / rows[0]["seconds"]
        for row in rows:
            row["relative"] = row["seconds"] / rows[0]["seconds"]
        for key, traces in self.costs.items():
            for i, t in enumerate(traces):
                self.cost_file(key, i).write_text("".join(f"{self.scale * s:.9f}\n" for s in t))
        return rows

    def cost_file(self, key, i):
        return self.work / f"{key[0]}-{key[1]}-{i}.scaled.csv"

    # --- simulated runs

    def platform(self, stations, what):
        """The serving host is a separate machine, and rank 0."""
        path = self.work / f"{what}.json"
        path.write_text(json.dumps({"name": what, "hosts": [{"name": "host", "power": 1}] + [
            {"name": f"station-{i}", "power": power} for i, (_, power) in enumerate(stations, 1)], "network": NETWORK}))
        return path

    def simulate(self, platform, costs, schedule, extra=()):
        return bench.simulate(self.options, "--platform", platform, "--costs", costs, "--schedule", schedule, "--root", "serves",
                              "--result-bytes", LINE_BYTES, "--suspect-after", f"{SUSPECT_AFTER}s", *extra)

    def speedups(self, schedules, counts, measurements):
        """(scene, view, name of schedule, stations) -> mean and variance of the speed-up over one HP."""
        jobs = {}
        for n in counts:
            platform = self.platform(STATIONS[:n], f"stations-{n}")
            for key in self.costs:
                for name, schedule in schedules.items():
                    for i in range(measurements):
                        jobs.setdefault((*key, name, n), []).append(
                            self.pool.submit(self.simulate, platform, self.cost_file(key, i), schedule))
        rows = {}
        for key, runs in jobs.items():
            values = [r.result()["cost_seconds_at_power_1"] / r.result()["seconds"] for r in runs]
            mean, variance, kept = mean_and_variance(values)
            power = sum(p for _, p in STATIONS[:key[3]])
            rows[key] = {"scene": key[0], "view": key[1], "schedule": key[2], "stations": key[3], "power": power,
                         "speedup": mean, "variance": variance, "measurements": len(values), "kept": kept,
                         "efficiency": mean / power,
                         "messages": statistics.mean(r.result()["messages"] for r in runs)}
        return rows

    def relative_power(self):
        """Table 1 as the paper measured it: the sequential program and the test picture on stations of different power, which
        are here one core with no, one, and two other processes."""
        rows = []
        for others in range(3):
            renderer = self.renderer(SCENES["balls"][0], f"{LINES}x{LINES}", "--accelerator", "slabs")
            with bench.busy(CORE, others):
                seconds = [bench.report(*ON_ONE_CORE, *renderer)["seconds"] for _ in range(max(3, self.measurements // 5))]
            rows.append({"station": f"this core, {others} other processes", "max": max(seconds), "min": min(seconds),
                         "mean": statistics.mean(seconds)})
        for row in rows:
            row["power"] = rows[0]["mean"] / row["mean"]
        return rows

    def losses(self):
        """The second table 3: two Sparc 20 are removed when the host has received 300 lines."""
        platform = self.platform(LOSS_STATIONS, "loss")
        before = sum(p for _, p in LOSS_STATIONS)
        after = before - 2 * 1.96
        rows = []
        for schedule in ["ring:take=one", "ring:take=one,takeover=predecessor", "ring", "ring:takeover=predecessor",
                         "first-come:early=no", "interleaved"]:
            whole, lost, again = [], [], []
            for i in range(self.measurements):
                costs = self.cost_file(("balls", "balanced"), i)
                whole.append(self.simulate(platform, costs, schedule)["seconds"])
                r = self.simulate(platform, costs, schedule, ["--fail", "8@300results", "--fail", "9@300results"])
                lost.append(r["seconds"])
                again.append(r["tasks_handed_out_again"])
            t, _, _ = mean_and_variance(whole)
            with_loss, _, _ = mean_and_variance(lost)
            share = 300 / LINES
            explained = t * (share + (1 - share) * before / after)
            rows.append({"schedule": schedule, "before": t, "after": with_loss, "growth": with_loss / t - 1,
                         "explained": explained, "bound": 1.05 * explained + SUSPECT_AFTER,
                         "within": with_loss <= 1.05 * explained + SUSPECT_AFTER, "again": statistics.mean(again)})
        return rows

    # --- real ranks

    def real_ranks(self, counts, repetitions):
        """The four schemes on this machine: speed-up over one process with one thread."""
        def seconds(prefix, *words):
            return bench.report(*prefix, *self.renderer("balls:4", "768x768", *words), env=bench.YIELDING)["seconds"]

        alone = statistics.median(seconds([]) for _ in range(repetitions))
        rows = []
        for n in counts:
            for name, schedule in PAPER.items():
                times = [seconds(bench.mpiexec(n), "--schedule", schedule.replace("cut=400", "cut=80%"))
                         for _ in range(repetitions)]
                rows.append({"ranks": n, "schedule": name, "speedup": alone / statistics.median(times),
                             "least": alone / max(times), "most": alone / min(times)})
        return rows

    def slaves_per_station(self, counts, repetitions):
        """Figure 13: one core with a competing process and a growing number of workers."""
        rows = []
        renderer = self.renderer("balls:4", "400x400", "--root", "serves", "--schedule", "first-come")
        for n in counts:
            with bench.busy(CORE):
                times = [bench.report(*ON_ONE_CORE, *bench.mpiexec(n + 1), *renderer, env=bench.YIELDING)["seconds"]
                         for _ in range(repetitions)]
            rows.append({"slaves": n, "seconds": statistics.median(times)})
            rows[-1]["relative"] = rows[-1]["seconds"] / rows[0]["seconds"]
        return rows


def beyond(options, costs, nodes, schedule):
    reports = [bench.simulate(options, "--platform", f"uneven:ranks={nodes},seed={seed}", "--tasks", BEYOND_LINES * nodes,
                              "--costs", costs, "--schedule", schedule) for seed in BEYOND_SEEDS]
    return (nodes, f"`{schedule}`", *(f"{r['efficiency']:.2f}" for r in reports),
            f"{statistics.mean(r['messages_per_rank'] for r in reports):.0f}")


def observations(rows):
    """The seven observations of section 4.3 and the ranking, as yes or no with details."""
    last = max(n for *_, n in rows)
    at = {(s, v, a): rows[s, v, a, last]["speedup"] for s, v, a, n in rows if n == last}
    pictures = [(s, v) for s in SCENES for v in VIEWS]
    found = bench.Findings()
    def where(test):
        return [f"{s} {v}" for s, v in pictures if not test(s, v)]

    # Schemes within half a percent of each other count as equal.
    def at_least(a, b):
        return a >= 0.995 * b

    found.say("1. GDC performs best for all types of data",
        where(lambda s, v: all(at_least(at[s, v, "GDC"], at[s, v, a]) for a in RANKING)), 6)
    found.say("2. The hybrid scheme comes second",
        where(lambda s, v: all(at_least(at[s, v, "hybrid"], at[s, v, a]) for a in ("master-slave", "interleaved"))), 6)
    found.say("3. Interleaved performs worst",
        where(lambda s, v: all(at_least(at[s, v, a], at[s, v, "interleaved"]) for a in RANKING)), 6)
    found.say("The ranking GDC, hybrid, master-slave, interleaved",
        where(lambda s, v: all(at_least(at[s, v, a], at[s, v, b]) for a, b in zip(RANKING, RANKING[1:]))), 6)
    found.say("4. The more complex the data, the better the speed-up (gears, balls, tetra)",
        [f"{v} {a}" for v in VIEWS for a in RANKING
         if not (at_least(at["gears", v, a], at["balls", v, a]) and at_least(at["balls", v, a], at["tetra", v, a]))], 8)
    found.say("5. The performance is worse with the biased view",
        [f"{s} {a}" for s in SCENES for a in RANKING if not at_least(at[s, "balanced", a], at[s, "biased", a])], 12)

    def saturation(s, v, a):  # number of stations up to which 90 % of the power is used
        good = [n for s2, v2, a2, n in rows if (s2, v2, a2) == (s, v, a) and rows[s, v, a, n]["efficiency"] >= 0.9]
        return max(good, default=0)

    found.say("6. The lower the complexity, the earlier the saturation",
        [f"{v} {a}" for v in VIEWS for a in RANKING
         if not saturation("gears", v, a) >= saturation("balls", v, a) >= saturation("tetra", v, a)], 8)
    found.say("7. A light and biased scene gives a low speed-up (tetra biased below the average of the others)",
        [a for a in RANKING
         if at["tetra", "biased", a] > statistics.mean(at[s, v, a] for s, v in pictures if (s, v) != ("tetra", "biased"))],
        4)
    return found


def page(e, complexity, power, rows, found, ours, slaves, losses, real):
    last = max(n for *_, n in rows)
    total = sum(p for _, p in STATIONS)
    columns = ("station", "max", "min", "mean", "power")
    picture = ("scene", lambda r: f"{r['scene']}, {r['view']}")
    speeds = [("speed-up", "speedup"), ("share of the power", "efficiency"), ("messages", "messages")]
    shown = [(f"{c}, s" if c in ("max", "min", "mean") else c, c) for c in columns]
    out = bench.Page(e.out, "Load balancing strategies for ray tracing, repeated")
    out.say("Section 4 of Lee, Lee and Lu on a simulated cluster: skel's schedules and protocol in virtual time, with the costs of the "
            f"scan lines traced from skel-raytrace. {e.measurements} measurements each (each a trace of its own), outliers removed by "
            "Tukey's rule. Assumed, since the paper does not say: 10 Mb/s shared Ethernet with 1 ms latency, 512 lines of 512 pixels. "
            "The host that collects is a machine of its own and does not render. Costs are scaled so that balls, balanced, takes "
            f"{HP_SECONDS} s on an HP 715/33.")
    out.head("Relative power (the paper's table 1)")
    out.say("The paper's, which are inputs of the simulated cluster:")
    out.table([dict(zip(columns, (name, *row))) for name, row in POWERS.items()], shown)
    out.say("Measured in the same way here, with the sequential program on one core that other processes share:")
    out.table(power, shown)
    out.head("The scenes")
    out.table(complexity, [picture, ("size", "size"), ("traced here, s", "seconds"), ("relative to balls", "relative"),
                           ("paper", "paper"), ("variance of lines, s²", "line_variance"), ("their deviation / mean", "line_variation"),
                           ("variance of pixels, s²", "pixel_variance"), ("their deviation / mean", "pixel_variation")])
    out.say("Traced with the accelerator of the paper (Kay and Kajiya's slabs). Relative costs still differ: background pixels, most of "
            "tetra, cost skel's renderer almost nothing.")
    out.head("Speed-up against normalised computing power (figures 10 to 12)")
    for s in SCENES:
        for v in VIEWS:
            series = {a: (COLOURS[a], [(rows[s, v, a, n]["power"], rows[s, v, a, n]["speedup"])
                                       for n in sorted({n for *_, n in rows})]) for a in RANKING}
            out.picture(f"{s}-{v}", plot(f"{s}, {v}", "normalised computing power", "speed-up", series, diagonal=True))
    out.head(f"With all {last} stations (power {total:.3f})")
    out.table([rows[s, v, a, last] for s in SCENES for v in VIEWS for a in RANKING],
              [picture, ("scheme", "schedule"), *speeds, ("variance", "variance"), ("measurements kept", "kept")])
    out.head("The paper's observations")
    out.table(found, bench.FINDINGS)
    out.say(f"GDC on gears, balanced: {rows['gears', 'balanced', 'GDC', last]['efficiency']:.3f} of the total relative power (target: "
            "0.95).")
    out.head("skel's variants of the schemes")
    out.table(ours.values(), [picture, ("schedule", "schedule"), *speeds])
    out.head("Time against workers per workstation (figure 13)")
    out.say("Real ranks on one core, shared with a competing process: without competition more workers gain nothing.")
    out.picture("slaves", plot("workers on one station", "workers", "time relative to one worker",
                               {"real ranks": ("#c0392b", [(r["slaves"], r["relative"]) for r in slaves])}))
    out.head("Two Sparc 20 lost after 300 lines (the second table 3)")
    out.say("Explained: T (f + (1 - f) 12.15 / 8.23) with f = 300/512; the bound is that plus 5 % and the "
            f"{SUSPECT_AFTER:g} s after which a silent rank counts as lost. The paper has 14 s and 19 s, which is 35.7 % "
            "(it prints 42.85); the lost power explains 16.8 s.")
    out.table(losses, [("schedule", "schedule"), ("without loss, s", "before"), ("with, s", "after"), ("growth", "growth"),
                       ("explained, s", "explained"), ("bound, s", "bound"), ("within", "within"), ("lines done again", "again")])
    if real:
        out.head("Real ranks on this machine")
        out.say(f"{os.cpu_count()} cores; speed-up over one process with one thread, median and range.")
        out.table(real, [("ranks", "ranks"), ("scheme", "schedule"), ("speed-up", "speedup"), ("least", "least"), ("most", "most")])
    return out.write()


def main():
    parser = bench.parser(__doc__, rows=True)
    parser.add_argument("--beyond", action="store_true", help="only the table of more nodes than the paper's")
    parser.add_argument("--out", default=bench.TOP / "out/gdc", help="directory for page and CSV files")
    parser.add_argument("--measurements", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simultaneous simulations")
    parser.add_argument("--no-real", action="store_true", help="only the simulated cluster")
    arguments = parser.parse_args()
    if arguments.measurements < 1:
        parser.error("--measurements must be at least 1")
    bench.need(arguments, "skel-simulate", "skel-raytrace", "taskset", "mpiexec")
    if arguments.beyond:
        with tempfile.TemporaryDirectory() as folder:
            costs = pathlib.Path(folder) / "lines.csv"
            lines = bench.traced(arguments, costs.parent, "--scene", "gears:4", "--accelerator", "slabs")
            costs.write_text("".join(f"{20 * seconds:.9f}\n" for seconds in lines))
            bench.table(arguments, ["nodes", "schedule", *(f"seed {seed}" for seed in BEYOND_SEEDS), "messages per rank"],
                        [functools.partial(beyond, arguments, costs, *case) for case in BEYOND])
        return
    e = Experiment(arguments)
    complexity = e.trace()
    power = e.relative_power()
    print("speed-ups of the paper's schemes ...", flush=True)
    rows = e.speedups(PAPER, range(1, len(STATIONS) + 1), arguments.measurements)
    found = observations(rows)
    print("skel's variants, losses, slaves per station ...", flush=True)
    ours = e.speedups(OURS, [len(STATIONS)], min(arguments.measurements, 10))
    losses = e.losses()
    slaves = e.slaves_per_station([1, 2, 3, 4, 6, 8], 1 if arguments.measurements < 10 else 3)
    real = [] if arguments.no_real else e.real_ranks([1, 2, 3, 4], 3 if arguments.measurements < 10 else 7)
    for name, data in (("scenes", complexity), ("power", power), ("speedup", list(rows.values())),
                       ("observations", found), ("variants", list(ours.values())), ("losses", losses),
                       ("slaves", slaves), ("real", real)):
        if data:
            bench.write_csv(e.out / f"{name}.csv", data)
    written = page(e, complexity, power, rows, found, ours, slaves, losses, real)
    found.tell()
    gears = rows["gears", "balanced", "GDC", len(STATIONS)]["efficiency"]
    print(f"GDC on gears at 14 stations: {gears:.3f} of the total relative power (target: 0.95)")
    for row in losses:
        print(f"loss, {row['schedule']}: {row['before']:.1f} s, with the loss {row['after']:.1f} s, bound {row['bound']:.1f} s: "
              f"{'within' if row['within'] else 'NOT within'}")
    print(f"page: {written}")


main()
