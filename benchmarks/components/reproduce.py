#!/usr/bin/env python3
"""Repeats sections 6 to 8 of "Hypercube Divide and Conquer" with one command: tables 1 to 4, figures 2 and 4, on this
machine's ranks and on the simulated cluster of 14 Pentium 4, beside the paper's numbers. Fits small runs, predicts large ones.

    benchmarks/components/reproduce.py                        # about fifteen minutes, on a quiet machine; build/components/
    benchmarks/components/reproduce.py --repetitions 3 --quick   # two, for a quick check

Simulated: real graphs, messages and labels. Each block of the job costs its time here, multiplied by the slowness of the
paper's Pentium 4, with 5 % noise. Every held-out configuration counts with the median of its repetitions. Writes CSV, SVG
and index.html.
"""
import csv
import json
import os
import pathlib
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

PAPER = pathlib.Path(__file__).resolve().parent / "paper"
PLATFORM, MACHINES = "pentium4-14", 14
NOISE = 0.05
TABLE_4 = [(n, m) for n in (1024000, 2048000) for m in (512000, 1024000, 2048000)]
# Median and 90th percentile of the errors in the simulator; median on real ranks, to which the spread is added.
SIMULATED_TARGET, REAL_TARGET = (0.03, 0.08), 0.05
# The variants: the paper's (its sequential part, the whole vector of roots) and skel's.
VARIANTS = {"paper": ["--local", "dfs", "--exchange", "dense"], "ours": ["--local", "union-find", "--exchange", "cheapest"]}
PAPER_BASES = ["divide=1 + M", "combine=1 + N", "sequential=N + M"]


class Study:
    def __init__(self, options):
        self.o = options
        self.out = options.output
        self.page = bench.Page(self.out, "Hypercube divide and conquer, repeated")
        self.good = True
        self.cores = os.cpu_count() or 1

    # --- running

    def program(self, name):
        return self.o.bin / name

    def model(self, *words):
        return bench.run(self.program("skel-model"), *words)

    def on_ranks(self, ranks, *words):
        return bench.run(*bench.mpiexec(ranks), *words)

    def samples(self, name):
        path = self.out / f"{name}.csv"
        path.unlink(missing_ok=True)
        return path

    def simulate(self, samples, ranks, sizes, variant, seed):
        """Runs uniform graphs on the simulated cluster; returns the lines of the samples file. The repetitions follow one
        another in one process, so only the first of them waits for new memory."""
        graphs = [word for n, m in sizes for word in ("--generate", f"uniform:n={n},m={m},seed={seed}")]
        bench.run(self.program("skel-simulate"), "--skeleton", "divide_and_conquer", "--platform", PLATFORM, "--ranks", ranks,
                 *graphs, "--repetitions", self.o.repetitions, "--noise", NOISE, "--seed", seed, "--cost-scale",
                 self.scale, *VARIANTS[variant], "--samples", samples, "--quiet")

    def measure(self, runs, variant):
        """The same on real ranks, for (samples, ranks, nodes, edges). All configurations take turns, so that a disturbance
        does not affect only one of them, or only the predicted ones."""
        for repetition in range(self.o.repetitions):
            for samples, ranks, n, m in runs:
                self.on_ranks(ranks, self.program("skel-components"), "--generate", f"uniform:n={n},m={m},seed={repetition + 1}",
                              "--threads", 1, *VARIANTS[variant], "--samples", samples)

    # --- the page

    def say(self, text):
        print(text, flush=True)
        self.page.say(text)

    def head(self, text):
        print(f"\n{text}", flush=True)
        self.page.head(text)

    def table(self, name, columns, rows):
        """Prints the table and writes it as CSV."""
        def cell(x):
            return "" if x is None else f"{x:.6g}" if isinstance(x, float) else str(x)
        cells = [[cell(x) for x in row] for row in rows]
        widths = [max(len(c), *(len(row[i]) for row in cells)) for i, c in enumerate(columns)]
        text = "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths)) for row in [columns, *cells])
        print(text, flush=True)
        self.page.parts.append(bench.html_table(columns, cells))
        with open(self.out / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *cells])

    def figure(self, name, *words):
        self.model("plot", *words, "-o", self.out / f"{name}.svg")
        print(self.out / f"{name}.svg", flush=True)
        self.page.parts.append(f'<p><img src="{name}.svg" style="max-width:100%"></p>')

    def verdict(self, what, value, target):
        met = value <= target
        self.good = self.good and met
        self.say(f"{what}: {100 * value:.2f} % (target: {100 * target:.2f} %) {'reached' if met else 'NOT REACHED'}")

    # --- sections

    def tables_1_to_3(self):
        """Divide, combine and sequential, measured on this machine; their coefficients."""
        samples = self.samples("samples-small-paper")
        for ranks in sorted({1, min(2, self.cores)}):
            self.on_ranks(ranks, self.program("skel-components"), "--sweep", "--threads", 1, *VARIANTS["paper"],
                          "--samples", samples)
        def phase_and_size(row):
            n, m = row["sizes"].get("N"), row["sizes"].get("M")
            return row["phase"], {"divide": m, "combine": n, "sequential": (n, m)}.get(row["phase"])

        measured = {}
        for row in read_samples(samples):
            measured.setdefault(phase_and_size(row), []).append(row["seconds"])
        paper = {phase_and_size(row): row["seconds"] for table in (1, 2) for row in read_samples(PAPER / f"table-{table}.csv")}

        def here(*key):
            return statistics.median(measured[key]) if key in measured else None
        self.head("Table 1: divide and combine")
        sizes = sorted({k[1] for k in paper if k[0] == "divide"} | {k[1] for k in measured if k[0] == "combine"})
        self.table("table-1", ["size", "divide, paper", "here", "combine, paper", "here"],
                   [[int(s), paper.get(("divide", s)), here("divide", s), paper.get(("combine", s)), here("combine", s)]
                    for s in sizes])
        self.head("Table 2: sequential (adjacency list, depth-first search)")
        rows, factors = [], []
        for phase, size in sorted(paper, key=str):
            if phase != "sequential":
                continue
            ours = here("sequential", size)
            rows.append([int(size[0]), int(size[1]), paper[phase, size], ours, paper[phase, size] / ours])
            factors.append(rows[-1][-1])
        rows.sort()
        self.table("table-2", ["N", "M", "paper", "here", "paper / here"], rows)
        self.scale = statistics.median(factors)
        self.say(f"a Pentium 4 of the paper is {self.scale:.2f} times slower than one core here, the factor of the cost of "
                 "blocks on the simulated cluster")
        self.head("Table 3: coefficients")
        bases = [word for b in PAPER_BASES for word in ("--basis", b)]
        rows = []
        alike = self.samples("samples-as-table-2")  # only the paper's sizes, not those 64 times as large
        alike.write_text("".join(line for i, line in enumerate(samples.open(encoding="utf-8"))
                                 if i == 0 or float(line.split("N=")[1].split(";")[0]) <= 32000), encoding="utf-8")
        for name, files in (("paper's tables", [PAPER / "table-1.csv", PAPER / "table-2.csv"]), ("here", [alike])):
            fitted = self.out / "table-3.json"
            self.model("fit", *files, *bases, "--weights", "equal", "--halved", "M", "-o", fitted,
                       *(["--variables", "N,M"] if name == "here" else []))
            for term in json.loads(fitted.read_text())["skeletons"][0]["terms"]:
                if term["phase"] not in ("divide", "combine", "sequential") or term.get("quantity", "seconds") != "seconds":
                    continue
                for i, b in enumerate(term["basis"]):
                    rows.append([term["phase"], b, name, term["coefficients"][i], term["low"][i], term["high"][i], term["r2"]])
        rows.sort(key=lambda r: (r[0], r[1]))
        self.table("table-3", ["phase", "of", "from", "coefficient", "low", "high", "R²"], rows)
        self.say("The paper prints divide 2.25e-6 and 1.94e-8, combine 2.32e-4 and 2.19e-7 (columns corrected), sequential "
                 "1.35e-7 and 4.60e-7, which do not follow from its table 2: see benchmarks/components/paper.py.")

    def figure_2(self):
        """l(P) and g(P), simulated and real."""
        self.head("Figure 2: l and g")
        self.machines = {"simulated": self.out / "machine-simulated.json"}
        bench.run(self.program("skel-simulate"), "--skeleton", "calibrate", "--platform", PLATFORM, "--machine",
                 self.machines["simulated"])
        if self.cores > 1:
            self.machines["real"] = self.out / "machine-real.json"
            self.on_ranks(self.cores, self.program("skel-model"), "calibrate", "--least", "-o", self.machines["real"])
        rows = []
        for name, path in self.machines.items():
            for at in json.loads(path.read_text())["measured"]:
                if at["kind"] == "raw":
                    rows.append([name, at["ranks"], at["latency_seconds"], 4 * at["gap_seconds_per_byte"]])
            self.figure(f"figure-2-{name}", "--machine", path)
        self.table("figure-2", ["ranks are", "P", "l, s", "g, s per 32-bit word"], rows)
        self.say("The paper's, at P = 8: l = 2.43e-4 s, g = 1.51e-7 s.")

    def predictions(self, name, variant, held_out, samples, small, machine):
        """Fits the small samples and predicts the held-out ones. Returns the rows and the errors."""
        fitted = self.out / f"model-{name}.json"
        self.model("fit", small, "-o", fitted, "--variables", "N,M",
                   *(w for b in self.bases(variant) for w in ("--basis", b)))
        runs = {}
        for row in read_samples(samples):
            if row["phase"] == "run":
                runs.setdefault((row["ranks"], int(row["sizes"]["N"]), int(row["sizes"]["M"])), []).append(row["seconds"])
        rows, errors, spreads = [], [], []
        for ranks, n, m in held_out:
            words = ["predict", "--model", fitted, "--set", f"N={n}", "--set", f"M={m}", "--ranks", ranks, "--json"]
            words += ["--machine", machine] if ranks > 1 else []
            p = json.loads(self.model(*words))[0]
            seconds = runs[ranks, n, m]
            median = statistics.median(seconds)
            spread = (bench.quantile(seconds, 0.75) - bench.quantile(seconds, 0.25)) / 2 / median
            error = p["seconds"] / median - 1
            rows.append([ranks, n, m, median, f"{100 * spread:.1f} %", p["seconds"], p["low"], p["high"], f"{100 * error:+.1f} %"])
            errors.append(abs(error))
            spreads.append(spread)
        self.table(f"held-out-{name}", ["P", "N", "M", "measured", "± half of half", "predicted", "low", "high", "error"], rows)
        words = ["--machine", machine] if machine else []
        self.figure(f"figure-4-{name}", "--model", fitted, *words, small, samples)
        return rows, errors, spreads

    @staticmethod
    def bases(variant):
        """Uses the paper's basis functions for its variant; cross-validation chooses skel's. Kriging in both."""
        return PAPER_BASES if variant == "paper" else []

    def simulated(self):
        # Fitted: two and four ranks, at most half of the edges. Held out: the paper's table on eight ranks, and groups
        # that do not halve evenly, of which the model knows least.
        ranks = (2, 4)
        edges = (128000, 512000, 1024000) if self.o.quick else (64000, 128000, 256000, 362000, 512000, 724000, 1024000)
        sizes = [(n, m) for n in (128000, 256000, 512000, 1024000, 2048000) for m in edges]
        uneven = [(p, n, m) for p in (5, 14) for n, m in [(2048000, 2048000), (1024000, 2048000)]]
        held_out = [(8, n, m) for n, m in TABLE_4] + uneven
        for variant in VARIANTS:
            self.head(f"Table 4 and figure 4, simulated ({PLATFORM}, {100 * NOISE:.0f} % noise per block), "
                      f"{'as in the paper' if variant == 'paper' else 'union-find and shortest messages'}")
            small, large = self.samples(f"samples-simulated-{variant}"), self.samples(f"held-out-samples-{variant}")
            for p in ranks:
                self.simulate(small, p, sizes, variant, 1)
            for p in sorted({p for p, _, _ in held_out}):
                self.simulate(large, p, [(n, m) for q, n, m in held_out if q == p], variant, 2)
            rows, errors, _ = self.predictions(f"simulated-{variant}", variant, held_out, large, small,
                                               self.machines["simulated"])
            paper, others = errors[:len(TABLE_4)], errors[len(TABLE_4):]
            self.verdict("8 ranks: median error", statistics.median(paper), SIMULATED_TARGET[0])
            self.verdict("8 ranks: 90th percentile", bench.quantile(paper, 0.9), SIMULATED_TARGET[1])
            self.say(f"5 and 14 ranks, whose groups do not halve evenly: median error {100 * statistics.median(others):.2f} %, "
                     f"largest {100 * max(others):.2f} %; with the others: median {100 * statistics.median(errors):.2f} %, 90th "
                     f"percentile {100 * bench.quantile(errors, 0.9):.2f} %")
            if variant == "paper":
                self.beside_the_paper(large, small)

    def beside_the_paper(self, large, small):
        """The complete table 4: the paper's measurements, its predictions, and skel's."""
        measured = {}
        for row in read_samples(PAPER / "table-4.csv"):
            measured[int(row["sizes"]["N"]), int(row["sizes"]["M"])] = row["seconds"]
        ours = {}
        for row in read_samples(large):
            if row["phase"] == "run" and row["ranks"] == 8:
                ours.setdefault((int(row["sizes"]["N"]), int(row["sizes"]["M"])), []).append(row["seconds"])
        rows = []
        for n, m in TABLE_4:
            def predicted(model, machine, *words):
                return json.loads(self.model("predict", "--model", model, "--machine", machine, "--nodes", n, "--edges", m,
                                             "--ranks", 8, "--json", *words))[0]["seconds"]
            published = predicted(PAPER / "table-3.json", PAPER / "machine.json", "--bytes", "4*N")
            simulated = statistics.median(ours[n, m])
            fitted = predicted(self.out / "model-simulated-paper.json", self.machines["simulated"])
            rows.append([n, m, measured[n, m], published, f"{100 * (published / measured[n, m] - 1):+.1f} %", simulated, fitted,
                         f"{100 * (fitted / simulated - 1):+.1f} %"])
        self.say("Table 4, P = 8:")
        self.table("table-4", ["N", "M", "paper measured", "paper's model", "error", "simulated", "our model", "error"], rows)
        self.say("The paper's model is its formula with its table 3 (columns corrected); it predicts 1.916492 s for the third "
                 "row, which cannot be derived from them.")

    def real(self):
        if self.cores < 2:
            self.say("one core: no real ranks")
            return
        top = 1024000 if self.o.quick else 4096000
        sizes = [(n, m) for n in (top // 16, top // 8, top // 4, top // 2, top)
                 for m in (top // 32, top // 16, top // 8, top // 4, top // 2)]
        ranks = [p for p in (1, 2, 4, 8) if p <= self.cores]
        held_out = [(p, n, top) for p in ranks for n in (top // 4, top // 2, top)]
        for variant in VARIANTS:
            self.head(f"Figure 4 on real ranks of this machine, "
                      f"{'as in the paper' if variant == 'paper' else 'union-find and shortest messages'}")
            small, large = self.samples(f"samples-real-{variant}"), self.samples(f"held-out-samples-real-{variant}")
            self.measure([(small, p, n, m) for p in ranks for n, m in sizes] + [(large, *how) for how in held_out], variant)
            _, errors, spreads = self.predictions(f"real-{variant}", variant, held_out, large, small, self.machines["real"])
            spread = statistics.median(spreads)
            self.say(f"spread of the measurements: {100 * spread:.2f} %")
            self.verdict("median error", statistics.median(errors), REAL_TARGET + spread)

def read_samples(path):
    """Rows of a samples file, with sizes as numbers."""
    rows = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sizes = {}
            for item in row["problem"].split(";"):
                name, _, value = item.partition("=")
                try:
                    sizes[name] = float(value)
                except ValueError:
                    pass
            rows.append({"phase": row["phase"], "ranks": int(row["ranks"]), "seconds": float(row["seconds"]), "sizes": sizes})
    return rows


def main():
    parser = bench.parser(__doc__, repetitions=7, check=True)
    parser.add_argument("--output", type=pathlib.Path, default=bench.TOP / "build/components", help="directory for the results")
    parser.add_argument("--quick", action="store_true", help="smaller graphs")
    options = parser.parse_args()
    bench.need(options, "skel-model", "skel-simulate", "skel-components", "mpiexec")
    study = Study(options)
    study.say(f"{bench.load()}; {options.repetitions} repetitions of every held-out configuration, medians count")
    study.tables_1_to_3()
    study.figure_2()
    study.simulated()
    study.real()
    print(f"\n{study.page.write()}")
    bench.finish(study.good, options)


main()
