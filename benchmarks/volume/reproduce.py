#!/usr/bin/env python3
"""Repeats section 5 of Asplin and Johansen, "Performance experiments with the StormView distributed parallel volume
renderer", on a simulated cluster of 28 HP 720 on 10 Mb/s Ethernet with the costs of skel's renderer, and on real ranks of
this machine.

Table 1, times of single rays, is that of this machine's core. The paper's experiment is examples/volume/specs/bird.json on the wind field: 54,549 pixels in 219 tasks of 250. Fifteen
samples of each of D_S, D_C, S_S, S_C with 15, 20, 25 workers; means with 99.9 % confidence intervals (Student's t), on an
idle network and with other users' jobs (figures 8 and 7), with one worker slowed by another job (5.2), and the distribution
of the grid (figure 9). Every sample renders the picture again: the seconds of its tasks are the costs of the simulated run.
On real ranks each worker is bound to a core, and the other user's job is a busy process on the core of one of them.

Writes DIR/index.html, DIR/*.svg and DIR/*.csv.

  benchmarks/volume/reproduce.py            # a quarter of an hour or more on 2 cores
  benchmarks/volume/reproduce.py --quick    # three samples
  benchmarks/volume/reproduce.py --table-1  # table 1 only
"""
import contextlib
import json
import math
import random
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
import storm  # noqa: E402
from storm import ATM, ETHERNET, NETWORKS, PICTURES, QUIET, REAL_QUIET, REAL_SLOWED, SITUATIONS, WAYS  # noqa: E402

SPEC = bench.TOP / "examples/volume/specs/bird.json"
FIELD = "wind"
WORKERS = [15, 20, 25]
RAY_SECONDS = 0.052072  # table 1: the mean of rays that hit, as all do here
PIXEL_BYTES = 5  # section 6.2
TASK, FINE = 250, 32  # pixels of a dynamic task, and of the pieces of a static one (two tiles)
# (schedule, results, pixels of a task). Static: a worker's one task is every n-th piece; S_S sends 250 pixels at a time.
ALGORITHMS = {"D_S": ("first-come", "streamed:batch=1", TASK), "D_C": ("first-come", "concentrated", TASK),
              "S_S": ("interleaved", f"streamed:batch={TASK // FINE}", FINE), "S_C": ("interleaved", "concentrated", FINE)}
GRID_BYTES, GRID_WORKERS = 422532, 27  # figure 9
REAL_SIZE = "1044x836"  # 16 times the paper's pixels, because each takes less than a microsecond
# Table 1: a view of 200 x 200 rays of which about as many hit the grid as in the paper, and the paper's seconds.
RAYS = {"stretch": [1, 1, 75], "view": {"elevation": 60, "angle": 23.13}, "size": [200, 200], "rule": "trapezoid"}
TABLE_1 = [("rays", "rays", 35276, 4724), ("min", "seconds_minimum", 0.000741, 0.000074),
           ("max", "seconds_maximum", 1.587320, 0.001451), ("median", "seconds_median", 0.045469, 0.000077),
           ("mean", "seconds_mean", 0.052072, 0.000079), ("std. dev.", "seconds_deviation", 0.034094, 0.000033)]
# Student's t for 99.9 % by degrees of freedom.
T_999 = {1: 636.62, 2: 31.60, 3: 12.92, 4: 8.610, 5: 6.869, 6: 5.959, 7: 5.408, 8: 5.041, 9: 4.781, 10: 4.587, 11: 4.437,
         12: 4.318, 13: 4.221, 14: 4.140, 19: 3.883, 29: 3.659}


def interval(values):
    """Mean, and half of its 99.9 % confidence interval."""
    n = len(values)
    if n < 2:
        return values[0], float("nan")
    t = T_999[max(k for k in T_999 if k <= n - 1)]  # fewer degrees of freedom give a conservative interval
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(n)


def summary(times, **about):
    """One row per algorithm and number of workers."""
    rows = []
    for (a, n), values in times.items():
        mean, half = interval(values)
        rows.append({**about, "algorithm": a, "workers": n, "mean": mean, "half_interval": half,
                     "deviation": statistics.stdev(values), "least": min(values), "most": max(values)})
    return rows


class Experiment(bench.Experiment):
    def __init__(self, options):
        super().__init__(options)
        self.samples = options.samples
        self.costs = {}

    def renderer(self, spec, *words):
        return [self.options.bin / "skel-volume", "--field", FIELD, "--spec", spec, "--threads", 1, *words]

    def trace(self):
        """Renders the picture once per sample, in tasks of both sizes."""
        for i in range(self.samples):
            for pixels in (TASK, FINE):
                path = self.work / f"costs-{pixels}-{i}.csv"
                bench.run(*self.renderer(SPEC, "--pixels", pixels), "--quiet", "--unit-costs", path)
                seconds = [float(line) for line in path.read_text().split()]
                scale = RAY_SECONDS * 261 * 209 / sum(seconds)
                path.write_text("".join(f"{scale * s:.9f}\n" for s in seconds))
                self.costs[pixels, i] = path, sum(seconds)
        return statistics.median(self.costs[TASK, i][1] for i in range(self.samples))

    def table_1(self):
        """Medians over the samples; each sample times every ray by itself."""
        spec = self.work / "rays.json"
        mapping = json.loads((SPEC.parent / "storm.json").read_text())["mapping"]
        spec.write_text(json.dumps({**RAYS, "mapping": mapping}))
        samples = [bench.report(*self.renderer(spec, "--ray-statistics")) for _ in range(self.samples)]
        rows = []
        for name, key, hit, miss in TABLE_1:
            here = [statistics.median(s[kind][key] for s in samples) for kind in ("rays_hitting", "rays_missing")]
            rows.append({"seconds": name, "paper_hit": hit, "here_hit": here[0], "paper_miss": miss, "here_miss": here[1]})
        return rows

    def simulate(self, platform, algorithm, sample, extra=()):
        schedule, results, pixels = ALGORITHMS[algorithm]
        return bench.simulate(self.options, "--platform", platform, "--costs", self.costs[pixels, sample][0], "--schedule", schedule,
                              "--results", results, "--root", "serves", "--result-bytes", PIXEL_BYTES * pixels, *extra)["seconds"]

    def platform(self, workers, situation, network, sample):
        """The controller is a separate station, and rank 0."""
        chance = random.Random(1000 * workers + sample)
        stations = [{"name": "controller", "power": 1}]
        for rank in range(1, workers + 1):
            stations.append({"name": f"worker-{rank}", "power": 1, **SITUATIONS[situation](rank, chance)})
        path = self.work / "platform.json"
        path.write_text(json.dumps({"name": "hp720", "hosts": stations, "network": NETWORKS[network]}))
        return path

    def response_times(self, situation, network=ETHERNET, extra=(), name=None):
        """The paper's loop, section 5.3."""
        times = {}
        for sample in range(self.samples):
            for n in WORKERS:
                platform = self.platform(n, situation, network, sample)
                for a in ALGORITHMS:
                    times.setdefault((a, n), []).append(self.simulate(platform, a, sample, extra))
        return summary(times, situation=name or situation, network=network)

    def grid_distribution(self):
        """Figure 9 on simulated networks, where all samples are equal."""
        found = {}
        for network, about in NETWORKS.items():
            path = self.work / "grid.json"
            path.write_text(json.dumps({"name": "grid", "hosts": [{"name": "hp-720", "count": GRID_WORKERS + 1}],
                                        "network": about}))
            for how, name in WAYS.items():
                line = bench.run(self.options.bin / "skel-bench-grid-distribution", path, GRID_BYTES, how)
                found.setdefault(network, {})[name] = [float(bench.fields(line)[0]["seconds"])]
        return found

    def real_grid_distribution(self, workers):
        found = {}
        for how, name in WAYS.items():
            text = bench.run(*bench.mpiexec(workers + 1), self.options.bin / "skel-bench-grid-ranks", GRID_BYTES, how,
                             2 * self.samples, env=bench.YIELDING)
            found[name] = [float(line.split("=")[1]) for line in text.split()]
        return found

    def on_ranks(self, algorithm, workers):
        """A controller that serves, and workers, each on a core of its own (if there are enough); seconds of rendering."""
        schedule, results, pixels = ALGORITHMS[algorithm]
        report = self.work / "real.json"
        program = self.renderer(SPEC, "--size", REAL_SIZE, "--pixels", pixels, "--schedule", schedule, "--results", results,
                                "--root", "serves", "--quiet", "--report", report)
        command = [*bench.mpiexec(1), *program]
        for k in range(workers):
            command += [":", "-n", 1, "taskset", "-c", core_of(k), *program]
        bench.run(*command, env=bench.YIELDING)
        return json.loads(report.read_text())["seconds"]

    def real_response_times(self, counts, slowed):
        times = {}
        for _ in range(self.samples):
            for n in counts:
                for a in ALGORITHMS:
                    with bench.busy(core_of(0)) if slowed else contextlib.nullcontext():
                        times.setdefault((a, n), []).append(self.on_ranks(a, n))
        return summary(times, situation=REAL_SLOWED if slowed else REAL_QUIET)


def core_of(worker):
    return bench.cores()[worker % len(bench.cores())]


def rows_of_text(rays):
    yield f"{'table 1, s':<12}{'hit: paper':>14}{'here':>14}{'miss: paper':>14}{'here':>14}"
    for r in rays:
        yield f"{r['seconds']:<12}" + "".join(f"{r[k]:>14.6g}" for k in ("paper_hit", "here_hit", "paper_miss", "here_miss"))


def parse():
    parser = bench.parser(__doc__)
    parser.add_argument("--out", default=bench.TOP / "out/volume", help="directory for page, plots and CSV files")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="three samples")
    parser.add_argument("--table-1", action="store_true", help="only table 1")
    parser.add_argument("--no-real", action="store_true", help="only the simulated cluster")
    parser.add_argument("--real-workers", default=sorted({1, 2, len(bench.cores())}), metavar="N,N",
                        type=lambda text: [int(n) for n in text.split(",")], help="on real ranks [1, 2, and one per core]")
    parser.add_argument("--real-grid-workers", type=int, default=GRID_WORKERS, metavar="N", help="workers of figure 9 on real ranks")
    options = parser.parse_args()
    if options.quick:
        options.samples = 3
    if options.samples < 2:
        parser.error("--samples must be at least 2")
    if min(options.real_workers) < 1 or options.real_grid_workers < 1:
        parser.error("there must be at least one worker")
    return options


def main():
    options = parse()
    bench.need(options, "skel-volume", *([] if options.table_1 else ["skel-simulate", "skel-bench-grid-distribution"]),
               *([] if options.table_1 or options.no_real else ["skel-bench-grid-ranks", "mpiexec", "taskset"]))
    e = Experiment(options)
    paper = bench.Page(e.out, "StormView's performance experiments, repeated")

    def tell(rows):
        for r in rows:
            print(f"{r['situation']}: {r['algorithm']} {r['workers']} workers {r['mean']:.4g} ± {r['half_interval']:.2g} s",
                  flush=True)
        return rows

    rays = e.table_1()
    for r in rows_of_text(rays):
        print(r, flush=True)
    if options.table_1:
        return
    alone = e.trace()
    print(f"one core: {alone:.3f} s, {alone / 54549 * 1e6:.2f} us a ray", flush=True)
    tables = {s: tell(e.response_times(s)) for s in SITUATIONS}
    others = tell(e.response_times(QUIET, ATM, name="155 Mb/s ATM"))
    others += tell(e.response_times(QUIET, ETHERNET, ["--suspect-after", "100h"], "without detection of losses"))
    grids = e.grid_distribution()
    if not options.no_real:
        tables[REAL_QUIET] = tell(e.real_response_times(options.real_workers, slowed=False))
        several = [n for n in options.real_workers if n > 1]
        if several:
            tables[REAL_SLOWED] = tell(e.real_response_times(several, slowed=True))
        grids[f"real ranks, {options.real_grid_workers} workers"] = e.real_grid_distribution(options.real_grid_workers)
    found = storm.findings(tables, grids)

    paper.say(f"{e.samples} samples each. skel's renderer needs {alone:.3f} s for the picture on one core, "
              f"{alone / 54549 * 1e6:.2f} µs a ray; simulated costs are scaled to the paper's {RAY_SECONDS} s a ray.")
    paper.head("The paper's findings")
    paper.table(found, bench.FINDINGS)
    paper.head("Times of single rays (table 1)")
    paper.say("The paper's HP 720, and one core of this machine, by the paper's rule of integration and with the storm's mapping.")
    paper.table(rays, storm.RAYS)
    paper.head("Response times of the four algorithms")
    if not options.no_real:
        paper.say(f"Real ranks: this machine's {len(bench.cores())} cores, {REAL_SIZE} pixels, each worker bound to a core.")
    for s, rows in tables.items():
        paper.picture(PICTURES[s], storm.response_times(s, rows))
    times = [{"network": "", **r} for rows in tables.values() for r in rows]
    paper.table(times, storm.TIMES)
    paper.head("Distribution of the grid (figure 9)")
    paper.say(f"{GRID_BYTES} bytes to {GRID_WORKERS} workers: one message to each, as ISIS 3.0.7 did, and skel::broadcast.")
    for k, (where, series) in enumerate(grids.items()):
        paper.picture(f"figure-9-{k + 1}", storm.profile(where, series))
    grid_rows = [dict(zip(("where", "how", "mean", "half_interval", "samples"), (where, how, *interval(values), len(values))))
                 for where, series in grids.items() for how, values in series.items()]
    paper.table(grid_rows, storm.GRIDS)
    paper.head("A faster network, and the cost of detecting losses (section 7)")
    paper.table(others, storm.TIMES)
    for name, rows in (("response", times), ("network", others), ("grid", grid_rows), ("findings", found),
                       ("table-1", rays)):
        bench.write_csv(e.out / f"{name}.csv", rows)
    for row in grid_rows:
        print(f"grid, {row['where']}, {row['how']}: {row['mean']:.4g} s")
    found.tell()
    print(f"page: {paper.write()}")


main()
