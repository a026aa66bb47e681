#!/usr/bin/env python3
"""Measures how well `skel-model compare --simulate` chooses.

Draws random problems: a platform, a distribution of the costs of tasks, and a set of candidates. A small run on eight
equal machines leaves samples and a trace. From these, and the description of the platform, `compare` chooses. Then all
candidates run with other draws of the costs: the truth. Prints

    right       how often the choice is the candidate with the least mean time, and how often it is within 1 % of it
    regret      mean time of the choice over the least mean time, less 1: median and 95th percentile
    coverage    how often the time of a run lies in the 95 % interval that compare gave for its candidate

    benchmarks/model/choice.py                                # 200 problems, about an hour on two idle cores
    benchmarks/model/choice.py --first-seed 1000              # other problems
    benchmarks/model/choice.py --kind graph --problems 30     # minutes
    benchmarks/model/choice.py --quick                        # three problems, half a minute

Three kinds of problems: lists (farm under all schedules, ring_steal), layers (farm, multi_host with groups of several
sizes) and supersteps (bsp on several numbers of ranks). Platforms and costs are drawn from the seed of the problem, so
a run can be repeated. A fourth kind must be asked for: graph (divide_and_conquer of three kinds on several numbers of
ranks), whose simulation measures blocks on this machine, so that figures vary.
"""
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

SCHEDULES = ["blocks", "first-come", "guided", "ring"]  # auto is always among the candidates
KINDS = {"list": 0.6, "layers": 0.2, "supersteps": 0.2}
DIVISIONS = ["hypercube", "tree", "embarrassing"]
COSTS = ["constant", "uniform", "exponential", "lognormal", "pareto", "bimodal"]
NEAR = 1.01  # a choice within this factor of the best is as good
# Runs of a candidate; how far behind the best one it may then be to get the next ones. With few runs, the best of
# several equal candidates is the one with the luckiest costs, and the regret is that luck.
TRUTH = [(2, 1.3), (4, 1.1), (12, None)]


def costs_of(rng, name):
    """Returns a function that draws costs of mean 1, and its description."""
    if name == "constant":
        return (lambda r: 1.0), name
    if name == "uniform":
        half = rng.uniform(0.1, 0.9)
        return (lambda r: r.uniform(1 - half, 1 + half)), f"uniform ±{half:.2f}"
    if name == "exponential":
        return (lambda r: r.expovariate(1)), name
    if name == "lognormal":
        sigma = rng.uniform(0.3, 1.2)
        return (lambda r: r.lognormvariate(-sigma * sigma / 2, sigma)), f"lognormal {sigma:.2f}"
    if name == "pareto":
        shape = rng.uniform(2, 4)
        return (lambda r: (shape - 1) / shape * r.paretovariate(shape)), f"pareto {shape:.2f}"
    share, ratio = rng.uniform(0.02, 0.2), rng.uniform(3, 20)
    low = 1 / (1 - share + share * ratio)
    return (lambda r: low * ratio if r.random() < share else low), f"bimodal {share:.2f} of {ratio:.1f}"


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def platform_of(rng, ranks):
    """Returns a random platform: equal machines, two kinds, or all unequal, some with load; and its description."""
    network = {"kind": "switch", "latency_seconds": log_uniform(rng, 2e-6, 5e-4),
               "bandwidth_bytes_per_second": log_uniform(rng, 1e8, 1e10)}
    overhead = log_uniform(rng, 1e-7, 1e-5)
    kind = rng.choice(["even", "two kinds", "uneven", "loaded"])
    hosts = [{"name": "node", "count": ranks}]
    if kind == "two kinds":
        old = rng.randint(1, ranks - 1)
        hosts = [{"name": "new", "count": ranks - old, "power": 1},
                 {"name": "old", "count": old, "power": rng.uniform(0.3, 0.9)}]
    if kind in ("uneven", "loaded"):
        hosts = [{"name": f"node-{i}", "power": round(log_uniform(rng, 0.25, 4), 3)} for i in range(ranks)]
    if kind == "loaded":
        for host in hosts:
            if rng.random() < 0.3:
                period = log_uniform(rng, 0.5, 20)
                host["load"] = {"available": [[0, 1], [period * rng.uniform(0.2, 0.8), rng.uniform(0.3, 0.9)]],
                                "repeat_seconds": period}
    return {"name": kind, "hosts": hosts, "network": network, "send_overhead_seconds": overhead,
            "receive_overhead_seconds": overhead}


def small(platform):
    """Eight equal machines with the network of `platform`: where the samples come from."""
    return {**platform, "hosts": [{"name": "node", "count": 8}]}


class Problem:
    """A problem drawn from its seed, and the options that describe it to skel-simulate and skel-model."""

    def __init__(self, seed, most_ranks, kind=None):
        rng = random.Random(seed)
        self.seed = seed
        self.kind = rng.choices(list(KINDS), KINDS.values())[0]
        self.kind = kind or self.kind
        if self.kind != "list":
            most_ranks = min(most_ranks, 64)
        ranks = round(log_uniform(rng, 4, most_ranks))
        if self.kind == "graph":
            ranks = 1 << ranks.bit_length() - 1  # as a hypercube needs
        self.platform = platform_of(rng, ranks)
        self.draw, self.costs = costs_of(rng, rng.choice(COSTS))
        self.mean = log_uniform(rng, 1e-3, 1e-1)
        self.ranks = [ranks]
        if self.kind == "supersteps":
            self.ranks = sorted({max(1, ranks // 4), max(1, ranks // 2), ranks})
        elif rng.random() < 0.25:
            self.ranks = sorted({max(1, ranks // 2), ranks})
        self.tasks = round(ranks * log_uniform(rng, 4, 12)) if self.kind == "list" else \
            round(ranks * log_uniform(rng, 1, 6)) if self.kind == "layers" else rng.randint(20, 60)
        self.rows = rng.choice([8, 16, 32])
        self.read = self.mean * rng.uniform(0.02, 0.2)  # seconds per slice
        # A rank's share of a superstep is large enough for the exchange, on the least number of ranks.
        self.message_bytes = rng.choice([64, 1024, 16384])
        if self.kind == "graph":
            self.ranks = sorted({1 << k for k in range(1, ranks.bit_length())})
            self.nodes, self.costs = round(log_uniform(rng, 1e5, 1e6)), "measured"
            self.tasks = round(self.nodes * log_uniform(rng, 0.5, 8))  # edges
        self.group_sizes = [size for size in (2, 4, 8, 16) if size <= ranks]

    def units(self, rng, tasks):
        return [self.mean * self.draw(rng) for _ in range(tasks)]

    def simulation(self, candidate, tasks, rng, folder):
        """Options of skel-simulate for `tasks` tasks with costs drawn by `rng`; (skeleton, schedule, ranks)."""
        skeleton, schedule, ranks = candidate
        file = folder / f"{skeleton}-{schedule.replace(':', '-').replace('=', '-')}-{ranks}.csv"
        options = ["--skeleton", skeleton, "--ranks", str(ranks)]
        if skeleton == "divide_and_conquer":
            nodes = round(tasks * self.nodes / self.tasks)
            graph = f"uniform:n={nodes},m={tasks},seed={rng.randrange(1 << 30)}"
            return options + ["--kind", schedule, "--generate", graph]
        if skeleton == "bsp":
            costs = [c / ranks for c in self.units(rng, tasks * ranks)]
            options += ["--supersteps", str(tasks), "--message-bytes", str(self.message_bytes)]
        else:
            costs = self.units(rng, tasks)
        if skeleton == "multi_host":
            lines = ["what,layer,row,seconds,bytes"] + [f"slice,{k},,{self.read:.12f}," for k in range(tasks + 1)]
            lines += [f"row,{k},{row},{cost / self.rows:.12f},8" for k, cost in enumerate(costs)
                      for row in range(self.rows)]
            file.write_text("\n".join(lines) + "\n")
            return options + ["--layer-costs", str(file), "--read-seconds", f"{self.read:.12f}", "--unit-seconds",
                              f"{statistics.fmean(costs):.12f}", "--group-size", schedule.split("=")[1]]
        if self.kind == "layers":  # a task of a farm reads both slices of its layer
            costs = [c + 2 * self.read for c in costs]
        file.write_text("".join(f"{c:.12f}\n" for c in costs))
        if skeleton != "bsp":
            options += ["--tasks", str(tasks)]
        if skeleton == "farm":
            options += ["--schedule", schedule, "--result-bytes", "8"]
        return options + ["--costs", str(file)]

    def sampled(self):
        """The skeletons of the small runs."""
        return {"list": [("farm", "auto"), ("ring_steal", "")], "supersteps": [("bsp", "")],
                "layers": [("farm", "auto"), ("multi_host", "size=4")],
                "graph": [("divide_and_conquer", kind) for kind in DIVISIONS]}[self.kind]

    def small_sizes(self):
        """Numbers of tasks, or of edges, of the small runs."""
        if self.kind == "graph":
            return [self.tasks // part for part in (16, 8, 4)]
        return [100, 200, 400] if self.kind == "list" else [20, 40, 60]


def leave_samples(options, problem, folder):
    """Runs the small problem on 4 and 8 ranks, graphs also on 1 and 2, and fits a model."""
    platform = folder / "small.json"
    platform.write_text(json.dumps(small(problem.platform)))
    rng = random.Random(f"samples {problem.seed}")
    commands, samples, trace = [], [], None
    for skeleton, schedule in problem.sampled():
        for ranks in (4, 8) if problem.kind != "graph" else (1, 2, 4, 8):
            for tasks in problem.small_sizes():
                if skeleton == "farm" and problem.kind == "layers":
                    tasks *= 5
                here = folder / f"sample-{len(samples)}"
                here.mkdir()
                samples.append(here / "samples.csv")
                command = ["--platform", platform, "--samples", samples[-1],
                           *problem.simulation((skeleton, schedule, ranks), tasks, rng, here)]
                if skeleton in ("farm", "bsp"):  # a span is a task
                    trace = here / "trace.json"
                    command += ["--trace", trace]
                commands.append(command)
    bench.simulate_all(options, commands)
    if trace:
        trace.rename(folder / "trace.json")  # of the largest run
    busy = "tasks + P" if problem.kind == "layers" else "tasks"  # each group reads one slice more than it has layers
    bases = [f"run.busy_seconds={busy}", "run=tasks/P", "run.bytes=tasks"] if problem.kind != "graph" else []
    bench.run(options.bin / "skel-model", "fit", *samples, *(f"--basis={basis}" for basis in bases), "-o", folder / "model.json")


def choose(options, problem, folder):
    """Returns the candidates as `compare` describes them: dictionaries with skeleton, schedule, ranks, interval."""
    command = [options.bin / "skel-model", "compare", "--simulate", "--model", folder / "model.json", "--platform",
               folder / "platform.json", "--ranks", ",".join(map(str, problem.ranks)), "--tolerance", "0", "--json"]
    if problem.kind == "graph":
        command += ["--set", f"N={problem.nodes}", "--set", f"M={problem.tasks}"]
    else:
        command += ["--set", f"tasks={problem.tasks}", "--costs", folder / "trace.json"]
    if problem.kind == "list":
        command += ["--schedules", ";".join(SCHEDULES)]
    if problem.kind == "layers":
        command += ["--schedules", "first-come;guided", "--rows", problem.rows, "--read-seconds", f"{problem.read:.12f}",
                    "--group-sizes", ",".join(map(str, problem.group_sizes))]
    if problem.kind == "supersteps":
        command += ["--message-bytes", problem.message_bytes]
    return json.loads(bench.run(*command))["candidates"]


def find_truth(options, problem, candidates, folder):
    """Adds `true` to each candidate: the seconds of its runs. Candidates far behind get two.

    All candidates have the same tasks for one seed, except those of bsp, whose shares depend on the ranks.
    """
    def run(some, seeds):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            commands, reports = [], []
            for c in some:
                for seed in seeds:
                    here = pathlib.Path(name) / str(len(reports))
                    here.mkdir()
                    reports.append((c, here / "report.json"))
                    rng = random.Random(f"truth {problem.seed} {seed}")
                    commands.append(["--platform", folder / "platform.json", "--report", reports[-1][1], *problem.simulation(
                        (c["skeleton"], c["schedule"], c["ranks"]), problem.tasks, rng, here)])
            bench.simulate_all(options, commands)
            for c, report in reports:
                c.setdefault("true", []).append(json.loads(report.read_text())["seconds"])

    had, some = 0, candidates
    for seeds, near in TRUTH:
        run(some, range(had, seeds))
        had = seeds
        best = min(statistics.fmean(c["true"]) for c in some)
        some = [c for c in some if c["chosen"] or near and statistics.fmean(c["true"]) <= near * best]


def judge(candidates):
    """Returns the figures of one problem."""
    longest = max(len(c["true"]) for c in candidates)
    means = {id(c): statistics.fmean(c["true"]) for c in candidates if len(c["true"]) == longest}
    best = min((c for c in candidates if id(c) in means), key=lambda c: means[id(c)])
    chosen = next(c for c in candidates if c["chosen"])

    def inside(some):
        return [c["low"] <= t <= c["high"] for c in some for t in c["true"]]

    return {"chosen": f"{chosen['name']}, {chosen['ranks']}", "best": f"{best['name']}, {best['ranks']}",
            "regret": means[id(chosen)] / means[id(best)] - 1, "right": chosen is best,
            "inside": inside([chosen]), "inside_all": inside(candidates), "candidates": len(candidates)}


def measure(options, seed):
    problem = Problem(seed, options.most_ranks, options.kind)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "platform.json").write_text(json.dumps(problem.platform))
        leave_samples(options, problem, folder)
        begin = time.monotonic()
        candidates = choose(options, problem, folder)
        took = time.monotonic() - begin
        find_truth(options, problem, candidates, folder)
    return {**judge(candidates), "kind": problem.kind, "platform": problem.platform["name"], "costs": problem.costs,
            "ranks": problem.ranks[-1], "tasks": problem.tasks, "seed": seed, "took": took}


def share(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def row(name, found):
    regrets = [f["regret"] for f in found]
    return [name, len(found), f"{share(f['right'] for f in found):.1%}", f"{share(r <= NEAR - 1 for r in regrets):.1%}",
            f"{bench.quantile(regrets, 0.5):.2%}", f"{bench.quantile(regrets, 0.95):.2%}", f"{max(regrets):.1%}",
            f"{share(x for f in found for x in f['inside']):.1%}", f"{share(x for f in found for x in f['inside_all']):.1%}"]


def table(found):
    rows = [row("all", found)]
    for key in ("kind", "platform"):
        rows += [row(value, [f for f in found if f[key] == value]) for value in sorted({f[key] for f in found})]
    names = sorted({f["costs"].split()[0] for f in found})
    rows += [row(name, [f for f in found if f["costs"].split()[0] == name]) for name in names]
    return bench.markdown(["problems", "number", "right", "within 1 %", "regret: median", "95th percentile", "most",
                           "coverage: choice", "all candidates"], rows)


def worst(found):
    rows = [(f["seed"], f"{f['kind']}, {f['tasks']} tasks, {f['costs']}; {f['platform']}, {f['ranks']} ranks", f["chosen"],
             f["best"], f"{f['regret']:.1%}") for f in sorted(found, key=lambda f: -f["regret"])[:8]]
    return bench.markdown(["seed", "problem", "chosen", "best", "regret"], rows)


def arguments(argv=None):
    parser = bench.parser(__doc__)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=1, help="of the problems")
    parser.add_argument("--most-ranks", type=int, default=256, help="of a platform")
    parser.add_argument("--kind", choices=[*KINDS, "graph"], help="of all problems [drawn, without graph]")
    parser.add_argument("--quick", action="store_true", help="three problems on at most 8 ranks")
    options = parser.parse_args(argv)
    if options.problems < 1:
        parser.error(f"argument --problems: expected at least 1, found {options.problems}")
    if options.most_ranks < 4:
        parser.error(f"argument --most-ranks: expected at least 4, found {options.most_ranks}")
    if options.quick:
        options.problems, options.most_ranks = 3, 8
    return options


def main():
    options = arguments()
    bench.need(options, "skel-simulate", "skel-model")
    found = []
    for seed in range(options.first_seed, options.first_seed + options.problems):
        found.append(measure(options, seed))
        f = found[-1]
        print(f"{seed}: {f['kind']}, {f['costs']}, {f['platform']}, {f['ranks']} ranks, {f['tasks']} tasks: chose "
              f"{f['chosen']}, regret {f['regret']:.2%} ({f['best']}), inside {sum(f['inside'])} of {len(f['inside'])}, "
              f"{sum(f['inside_all'])} of {len(f['inside_all'])}; {f['took']:.1f} s", file=sys.stderr, flush=True)
    print(f"{table(found)}\n\n{worst(found)}\n")
    took = [f["took"] for f in found]
    print(f"`compare` took {statistics.median(took):.1f} s per problem (median; longest {max(took):.0f} s).")


if __name__ == "__main__":
    main()
