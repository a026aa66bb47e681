#!/usr/bin/env python3
"""Repeats section 5 of Asplin and Johansen, "Performance experiments with the StormView distributed parallel volume
renderer", on a simulated cluster of 28 HP 720 on 10 Mb/s Ethernet with the costs of our own renderer, and the four
algorithms on real ranks of this machine.

The paper's experiment is examples/volume/specs/bird.json on the wind field: 54,549 pixels in 219 tasks of 250. Fifteen
samples of each of D_S, D_C, S_S, S_C with 15, 20, 25 workers; means with 99.9 % confidence intervals (Student's t), quiet and
with other users' jobs (figures 8 and 7), and the distribution of the grid (figure 9). Every sample renders the picture
again: the seconds that its tasks took are the costs of the simulated run.

Writes DIR/index.html, DIR/*.svg and DIR/*.csv.

  benchmarks/volume/reproduce.py            # about five minutes on 2 cores
  benchmarks/volume/reproduce.py --quick    # three samples, a minute
"""
import argparse
import csv
import html
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[2]
SPEC = HERE / "examples/volume/specs/bird.json"
FIELD = "wind"
WORKERS = [15, 20, 25]
RAY_SECONDS = 0.052072  # table 1: the mean of rays that hit; here all do
PIXEL_BYTES = 5  # section 6.2
TASK, FINE = 250, 24  # pixels: of a dynamic task; of the pieces that a static one is dealt from (three tiles)
# (schedule, results, pixels of a task). Static: a worker's one task is every n-th piece; S_S sends 250 pixels at a time.
ALGORITHMS = {"D_S": ("first-come", "streamed:batch=1", TASK), "D_C": ("first-come", "concentrated", TASK),
              "S_S": ("interleaved", f"streamed:batch={TASK // FINE}", FINE), "S_C": ("interleaved", "concentrated", FINE)}
COLOURS = {"D_S": "#1e8449", "D_C": "#2471a3", "S_S": "#c0392b", "S_C": "#b9770e"}
NETWORKS = {"10 Mb/s Ethernet, shared": {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6},
            "155 Mb/s ATM, switched": {"kind": "switch", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.94e7}}
ETHERNET = next(iter(NETWORKS))
GRID_BYTES, GRID_WORKERS = 422532, 27  # figure 9
# Student's t for 99.9 % by degrees of freedom.
T_999 = {1: 636.62, 2: 31.60, 3: 12.92, 4: 8.610, 5: 6.869, 6: 5.959, 7: 5.408, 8: 5.041, 9: 4.781, 10: 4.587, 11: 4.437,
         12: 4.318, 13: 4.221, 14: 4.140, 19: 3.883, 29: 3.659}


def run(command, **keywords):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          **keywords)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def interval(values):
    """Mean, and half of the 99.9 % confidence interval for it."""
    n = len(values)
    if n < 2:
        return values[0], float("nan")
    t = T_999[max(k for k in T_999 if k <= n - 1)]  # fewer degrees of freedom: rather too wide
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(n)


def without_users(_rank, _chance):
    return {}


def other_users(_rank, chance):
    """By day other people use some of the stations: one in five has a job on it that takes half of it for minutes."""
    if chance.random() >= 0.2:
        return {}
    begin, length = chance.uniform(0, 60), chance.uniform(60, 180)
    return {"load": {"available": [[0, 1], [begin + 1e-3, 0.5], [begin + length, 1]], "repeat_seconds": begin + length + 60}}


def one_slowed(rank, _chance):
    """Section 5.2: another user's job takes half of one worker."""
    return {"power": 0.5} if rank == 1 else {}


SITUATIONS = {"quiet (figure 8, night)": without_users, "other users (figure 7, day)": other_users,
              "one worker slowed by half (5.2)": one_slowed}


class Experiment:
    def __init__(self, options):
        self.bin = pathlib.Path(options.bin)
        self.out = pathlib.Path(options.out)
        self.samples = options.samples
        self.work = self.out / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.costs = {}

    def trace(self):
        """Renders the picture as often as there are samples, in tasks of both sizes."""
        for i in range(self.samples):
            for pixels in (TASK, FINE):
                path = self.work / f"costs-{pixels}-{i}.csv"
                run([self.bin / "skel-volume", "--field", FIELD, "--spec", SPEC, "--pixels", pixels, "--threads", 1,
                     "--quiet", "--progress", "never", "--unit-costs", path])
                seconds = [float(line) for line in path.read_text().split()]
                scale = RAY_SECONDS * 261 * 209 / sum(seconds)
                path.write_text("".join(f"{scale * s:.9f}\n" for s in seconds))
                self.costs[pixels, i] = path, sum(seconds)
        return statistics.median(self.costs[TASK, i][1] for i in range(self.samples))

    def simulate(self, platform, algorithm, sample, extra=()):
        schedule, results, pixels = ALGORITHMS[algorithm]
        report = self.work / "report.json"
        run([self.bin / "skel-simulate", "--platform", platform, "--costs", self.costs[pixels, sample][0], "--schedule",
             schedule, "--results", results, "--root", "serves", "--result-bytes", PIXEL_BYTES * pixels, "--quiet", "--report",
             report, *extra])
        return json.loads(report.read_text())

    def platform(self, workers, situation, network, sample):
        """The controller is a station of its own, and rank 0."""
        chance = random.Random(1000 * workers + sample)
        stations = [{"name": "controller", "power": 1}]
        for rank in range(1, workers + 1):
            stations.append({"name": f"worker-{rank}", "power": 1, **SITUATIONS[situation](rank, chance)})
        path = self.work / "platform.json"
        path.write_text(json.dumps({"name": "hp720", "hosts": stations, "network": NETWORKS[network]}))
        return path

    def response_times(self, situation, network=ETHERNET, extra=()):
        """The paper's loop, section 5.3."""
        times = {}
        for sample in range(self.samples):
            for n in WORKERS:
                platform = self.platform(n, situation, network, sample)
                for a in ALGORITHMS:
                    times.setdefault((a, n), []).append(self.simulate(platform, a, sample, extra)["seconds"])
        rows = []
        for (a, n), values in times.items():
            mean, half = interval(values)
            rows.append({"situation": situation, "network": network, "algorithm": a, "workers": n, "mean": mean,
                         "half_interval": half, "deviation": statistics.stdev(values) if len(values) > 1 else 0.0,
                         "least": min(values), "most": max(values)})
        return rows

    def grid_distribution(self):
        rows = []
        for network, about in NETWORKS.items():
            path = self.work / "grid.json"
            path.write_text(json.dumps({"name": "grid", "hosts": [{"name": "hp-720", "count": GRID_WORKERS + 1}],
                                        "network": about}))
            for how in ("series", "broadcast"):
                line = run([self.bin / "skel-bench-grid-distribution", path, GRID_BYTES, how])
                got = dict(pair.split("=") for pair in line.split())
                rows.append({"network": network, "how": how, "seconds": float(got["seconds"]), "bytes": int(got["bytes"])})
        return rows

    def real_ranks(self, counts):
        """The four algorithms on this machine: a controller that serves, and workers; seconds of rendering."""
        report = self.work / "real.json"
        times = {}
        for _ in range(self.samples):
            for n in counts:
                for a, (schedule, results, pixels) in ALGORITHMS.items():
                    run(["mpiexec", "-n", n + 1, "--oversubscribe", "--bind-to", "none", self.bin / "skel-volume", "--field",
                         FIELD, "--spec", SPEC, "--size", "1044x836", "--pixels", pixels, "--schedule", schedule, "--results",
                         results, "--root", "serves", "--threads", 1, "--quiet", "--progress", "never", "--report", report],
                        env=mpi_environment())
                    times.setdefault((a, n), []).append(json.loads(report.read_text())["seconds"])
        rows = []
        for (a, n), values in times.items():
            mean, half = interval(values)
            rows.append({"algorithm": a, "workers": n, "mean": mean, "half_interval": half, "median": statistics.median(values)})
        return rows


def mpi_environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}


def findings(tables):
    """What the paper observes (sections 5.3 and 6), with what was found here."""
    found = []

    def say(text, exceptions, of):
        found.append({"finding": text, "here": "yes" if not exceptions else "no",
                      "details": f"{of - len(exceptions)} of {of}" + (f"; not: {', '.join(exceptions)}" if exceptions else "")})

    places = [(s, n) for s in tables for n in WORKERS]
    at = {(s, r["algorithm"], r["workers"]): r for s, rows in tables.items() for r in rows}
    say("the dynamic algorithms are never slower than the static ones (half a percent counts as equal)",
        [f"{s}, {n} workers" for s, n in places if max(at[s, "D_S", n]["mean"], at[s, "D_C", n]["mean"])
         > 1.005 * min(at[s, "S_S", n]["mean"], at[s, "S_C", n]["mean"])], len(places))
    users = [s for s in tables if s.startswith("other")]
    say("by day the dynamic algorithms are more stable (smaller deviation)",
        [f"{n} workers" for s in users for n in WORKERS
         if max(at[s, "D_S", n]["deviation"], at[s, "D_C", n]["deviation"])
         > min(at[s, "S_S", n]["deviation"], at[s, "S_C", n]["deviation"])], len(users) * len(WORKERS))
    say("scattering and concentrating the transfer make no difference (less than 2 %)",
        [f"{s}, {n} workers, {a}" for s, n in places for a in "DS"
         if abs(at[s, a + "_S", n]["mean"] / at[s, a + "_C", n]["mean"] - 1) > 0.02], 2 * len(places))
    quiet = next(iter(tables))
    say("without other users the two are similar (less than 10 % apart)",
        [f"{n} workers" for n in WORKERS if at[quiet, "S_S", n]["mean"] > 1.1 * at[quiet, "D_S", n]["mean"]], len(WORKERS))
    slowed = [s for s in tables if s.startswith("one worker")]
    say("with one worker slowed the dynamic algorithms are faster by more than a third",
        [f"{n} workers" for s in slowed for n in WORKERS if at[s, "S_S", n]["mean"] < 4 / 3 * at[s, "D_S", n]["mean"]],
        len(slowed) * len(WORKERS))
    return found


# --- the page


def plot(title, rows):
    """Means with their intervals, as figures 7 and 8."""
    width, height, left, bottom, top, right = 460, 320, 52, 40, 30, 12
    most = 1.1 * max(r["mean"] + (r["half_interval"] if r["half_interval"] == r["half_interval"] else 0) for r in rows)
    x_of = {n: left + (width - left - right) * (k + 0.5) / len(WORKERS) for k, n in enumerate(WORKERS)}

    def y_of(v):
        return height - bottom - (height - top - bottom) * v / most

    out = [f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg" '
           'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{width / 2}" y="16" text-anchor="middle" font-size="13">{html.escape(title)}</text>']
    for i in range(6):
        y = y_of(most * i / 5)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{most * i / 5:.3g}</text>')
    for n in WORKERS:
        out.append(f'<text x="{x_of[n]:.1f}" y="{height - bottom + 16}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">workers</text>')
    out.append(f'<text x="12" y="{height / 2}" text-anchor="middle" transform="rotate(-90 12 {height / 2})">'
               'response time, s, with 99.9 % confidence interval</text>')
    for k, (a, colour) in enumerate(COLOURS.items()):
        for r in (r for r in rows if r["algorithm"] == a):
            x, y = x_of[r["workers"]] + 14 * (k - 1.5), y_of(r["mean"])
            half = r["half_interval"]
            if half == half:
                low, high = y_of(max(0, r["mean"] - half)), y_of(r["mean"] + half)
                out.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8" '
                           f'stroke="{colour}" fill="none"/>')
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        out.append(f'<text x="{width - right - 120 + 30 * k}" y="{top + 6}" fill="{colour}">{a}</text>')
    return "\n".join(out + ["</svg>"])


def table(rows, columns):
    def cell(value):
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    head = "".join(f"<th>{html.escape(h)}</th>" for h, _ in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell(r[key]))}</td>" for _, key in columns) + "</tr>" for r in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


TIMES = [("situation", "situation"), ("algorithm", "algorithm"), ("workers", "workers"), ("mean, s", "mean"),
         ("± (99.9 %)", "half_interval"), ("deviation", "deviation"), ("least", "least"), ("most", "most")]


def page(e, alone, tables, atm, careful, found, grids, real):
    parts = ["<!doctype html><meta charset='utf-8'><title>StormView, repeated</title><style>body{font:15px sans-serif;max-width:"
             "62em;margin:2em auto;padding:0 1em}table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:"
             "3px 8px;text-align:right}td:first-child,th:first-child{text-align:left}</style>",
             "<h1>StormView's performance experiments, repeated</h1>",
             f"<p>{e.samples} samples each. Our renderer needs {alone:.3f} s for the picture on one core, "
             f"{alone / 54549 * 1e6:.2f} µs a ray; costs are scaled to the paper's {RAY_SECONDS} s a ray.</p>",
             "<h2>What the paper finds</h2>", table(found, [("finding", "finding"), ("here", "here"), ("details", "details")]),
             "<h2>Response times of the four algorithms</h2>"]
    for k, (name, rows) in enumerate(tables.items()):
        svg = plot(name, rows)
        (e.out / f"response-{k + 1}.svg").write_text(svg + "\n")
        parts.append(svg)
    parts += [table([r for rows in tables.values() for r in rows], TIMES),
              "<h2>Distribution of the grid (figure 9)</h2>",
              f"<p>{GRID_BYTES} bytes to {GRID_WORKERS} workers: one message to each, as ISIS 3.0.7 did, and skel::broadcast.</p>",
              table(grids, [("network", "network"), ("how", "how"), ("seconds", "seconds"), ("bytes sent", "bytes")]),
              "<h2>A faster network, and what handling losses costs (section 7)</h2>", table(atm + careful, TIMES)]
    if real:
        parts += [f"<h2>Real ranks on this machine ({os.cpu_count()} cores)</h2>",
                  table(real, [("algorithm", "algorithm"), ("workers", "workers"), ("mean, s", "mean"),
                               ("± (99.9 %)", "half_interval"), ("median", "median")])]
    (e.out / "index.html").write_text("\n".join(parts) + "\n")


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=HERE / "build/release/bin", help="where the programs are")
    parser.add_argument("--out", default=HERE / "out/volume", help="directory for page, plots and CSV files")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="three samples")
    parser.add_argument("--no-real", action="store_true", help="only the simulated cluster")
    options = parser.parse_args()
    if options.quick:
        options.samples = 3
    if options.samples < 2:
        parser.error("--samples must be at least 2")
    e = Experiment(options)
    alone = e.trace()
    print(f"one core: {alone:.3f} s, {alone / 54549 * 1e6:.2f} us a ray", flush=True)
    tables = {}
    for situation in SITUATIONS:
        tables[situation] = e.response_times(situation)
        for r in tables[situation]:
            print(f"{situation}: {r['algorithm']} {r['workers']} workers {r['mean']:.2f} ± {r['half_interval']:.2f} s", flush=True)
    quiet = next(iter(SITUATIONS))
    atm = e.response_times(quiet, "155 Mb/s ATM, switched")
    careful = e.response_times(quiet, ETHERNET, ["--suspect-after", "100h"])
    for r, name in [(r, "155 Mb/s ATM") for r in atm] + [(r, "no handling of losses") for r in careful]:
        r["situation"] = name
    grids = e.grid_distribution()
    found = findings(tables)
    real = [] if options.no_real else e.real_ranks([1, 2])
    for name, rows in (("response", [r for t in tables.values() for r in t]), ("atm", atm), ("losses", careful),
                       ("grid", grids), ("findings", found), ("real", real)):
        if rows:
            write_csv(e.out / f"{name}.csv", rows)
    page(e, alone, tables, atm, careful, found, grids, real)
    for row in grids:
        print(f"grid, {row['network']}, {row['how']}: {row['seconds']:.2f} s")
    for row in found:
        print(f"{row['here']:<4}{row['finding']}: {row['details']}")
    print(f"page: {e.out / 'index.html'}")


if __name__ == "__main__":
    main()
