#!/usr/bin/env python3
"""Repeats tables 1 to 5 of Bajaj and Lin, "Scalar field modeling & visualization on the Intel Delta": the paper's input
(65 slices of a sphere's field, seven values) with skel-isosurface, its costs per row in the simulator on an
iPSC/860-like hypercube and a Delta-like mesh with 1 to 256 nodes, and real ranks as far as this machine permits.

Sources of the figures: skel-isosurface --trace-costs traces the time until each row of cells is ready on a host that reads,
the time of the row, and the bytes of its packet and of its surfaces. Times are scaled so that one node takes the paper's
time, of which 1.22 s are for each slice of 512 x 512 (table 2 minus table 4: two slices less); slices of 192 x 128 take
their share of that. Bytes are the program's. The paper's slices were computed, not read, so no disk is simulated.

Writes DIR/tables.md and DIR/tables.csv.

  benchmarks/isosurface/reproduce.py --bin build/release/bin              # one to ten minutes on 2 cores
  benchmarks/isosurface/reproduce.py --bin build/release/bin --check      # and exit code 1 below the targets
  benchmarks/isosurface/reproduce.py --bin build/release/bin --most-nodes 16 --repetitions 0      # two minutes
"""

import array
import csv
import heapq
import json
import math
import random
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

SLICES, LAYERS = 65, 64
CELLS = 64  # of a row, order 3
VALUES = "0.2,0.4,0.6,0.8,1,1.2,1.4"  # the paper does not give its seven values
READ = 1.22  # seconds per slice of 512 x 512

# Name: field, options of the modeler, seconds per slice, seconds of one node, the paper's polygons.
INPUTS = {
    "order 1": {"field": f"sphere:512x512x{SLICES}", "options": ["--order", "1", "--grid", "3"], "read": READ,
                "alone": 1110.0, "polygons": 121486},
    "order 3": {"field": f"sphere:192x128x{SLICES}", "options": ["--order", "3", "--grid", "3"],
                "read": READ * 192 * 128 / 512**2, "alone": 1165.0, "polygons": 78741},
    "uneven": {"field": None, "options": ["--order", "1", "--grid", "3"], "read": READ, "alone": 1110.0},
}
# The uneven volume: the sphere's field pressed into the first slices, all others far from every value.
BUSY_SLICES = 7

NODES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
# Table: input, group size (0: one group), options, and the paper's rows by number of nodes: total time, host idle and
# workers' idle time in per cent, spread in per cent, speed per node as recomputed from the times.
FEW = {1: (1110, 0, None, None), 2: (567, 0.5, 0.4, None), 4: (284, 0.1, 0.8, 0.0), 8: (143, 0.0, 1.7, 0.0)}
TABLES = {
    "1: one host": ("order 1", 0, [], {
        **FEW, 16: (90.7, 0.1, 22.3, 0.5), 32: (93.8, 0.1, 62.9, 0.4), 64: (99.1, 0.2, 82.3, 0.9), 128: (107.8, 0.3, 91.2, 0.7)}),
    "2: groups of 8": ("order 1", 8, [], {
        **FEW, 16: (73.8, 0.0, None, None), 32: (38.8, 0.0, None, None), 64: (20.90, 0.1, None, None),
        128: (12.06, 0.3, None, None), 256: (7.69, 0.3, None, None)}),
    "3: no re-assignment": ("order 1", 8, ["--without", "reassign"], {
        **FEW, 16: (76.5, 0.1, None, None), 32: (40.3, 0.2, None, None), 64: (22.23, 0.2, None, None),
        128: (13.39, 0.2, None, None), 256: (9.02, 0.5, None, None)}),
    "4: preloaded": ("order 1", 8, ["--preload"], {
        1: (1108, None, None, None), 2: (565, None, None, None), 4: (282, None, None, None), 8: (141, None, None, None),
        16: (71.38, None, None, None), 32: (36.36, None, None, None), 64: (18.45, None, None, None),
        128: (9.60, None, None, None), 256: (5.237, None, None, None)}),
    "5: order 3, groups of 16": ("order 3", 16, [], {
        1: (1165, 0, None, None), 2: (693, 4.9, 0.2, None), 4: (318, 1.2, 0.7, 0.1), 8: (156, 0.3, 2.4, 1.8),
        16: (76.4, 0.6, 1.4, 2.3), 32: (37.6, 0.7, None, None), 64: (18.8, 1.5, None, None),
        128: (10.7, 1.9, None, None), 256: (6.20, 3.1, None, None)}),
    "2, one mesh on the root (not in the paper)": ("order 1", 8, ["--sink", "root"], {n: None for n in NODES}),
    "5, preloaded (not in the paper)": ("order 3", 16, ["--preload"], {n: None for n in NODES}),
}
# At 256 nodes: of these tables at least this speed per node.
TARGETS = {"2: groups of 8": 0.80, "4: preloaded": 0.92, "5: order 3, groups of 16": 0.80}

# The disks of 64 nodes. The paper describes none; all disks of another iPSC/860 together took 7 MB/s [Nitzberg92].
WRITE = 700000  # bytes per second, assumed
WRITTEN = {"not written": [], "own disks": ["--write-bandwidth", WRITE],
           "4 disks": ["--write-bandwidth", WRITE, "--disks", "4", "--computed-slices"],
           "1 disk": ["--write-bandwidth", WRITE, "--disks", "1", "--computed-slices"]}
READ_FROM = {"own disks": [], "16 disks": ["--disks", "16"], "8 disks": ["--disks", "8"], "4 disks": ["--disks", "4"],
             "2 disks": ["--disks", "2"]}
DISKS = {"order 1, polygons written": ("order 1", WRITTEN), "order 3, polygons written": ("order 3", WRITTEN),
         "order 1, slices read": ("order 1", READ_FROM)}
DISK_NODES = 64
CHANCE = 0.25  # seconds: half a row of order 3. The trace shifts the end of a run's last rows by as much

# As the ready platform ipsc860 with its 16 nodes; here as many as the paper's tables have.
HYPERCUBE = {"name": "ipsc860-256", "about": "a hypercube of iPSC/860 nodes, larger than any that was built",
             "hosts": [{"name": "node", "count": 256}],
             "network": {"kind": "hypercube", "latency_seconds": 1e-5, "bandwidth_bytes_per_second": 2.8e6},
             "send_overhead_seconds": 4e-5, "receive_overhead_seconds": 3.5e-5}


class Experiment(bench.Experiment):
    def __init__(self, arguments):
        super().__init__(arguments, arguments.jobs)
        self.most_nodes = arguments.most_nodes
        hypercube = self.work / "ipsc860-256.json"
        hypercube.write_text(json.dumps(HYPERCUBE))
        self.platforms = {"hypercube": hypercube, "mesh": "delta-256"}

    def model(self, name, *options, prefix=()):
        """Runs the modeler on an input; its report."""
        what = INPUTS[name]
        volume = ["--field", what["field"]] if what["field"] else [self.uneven_volume()]
        return bench.report(*prefix, self.options.bin / "skel-isosurface", *volume, "--iso", VALUES, *what["options"], "--threads",
                            1, *options, env=bench.YIELDING)

    def uneven_volume(self):
        sidecar, n = self.work / "uneven.json", 512
        if sidecar.exists():
            return sidecar
        at = [2 * i / (n - 1) - 1 for i in range(n)]
        with open(self.work / "uneven.raw", "wb") as file:
            for k in range(SLICES):
                z = 2 * k / (BUSY_SLICES - 1) - 1
                for y in at:
                    row = (math.sqrt(x * x + y * y + z * z) for x in at) if k < BUSY_SLICES else (9.0 for _ in at)
                    file.write(array.array("f", row).tobytes())
        sidecar.write_text(json.dumps({"file": "uneven.raw", "size": [n, n, SLICES], "type": "float32",
                                       "byte_order": sys.byteorder}))
        return sidecar

    def trace(self):
        found = {}
        for name in INPUTS:
            found[name] = self.model(name, "--trace-costs", self.costs(name))
            print(f"traced {name}: {found[name]['polygons']} polygons", flush=True)
        return found

    def costs(self, name):
        return self.work / f"{name.replace(' ', '-')}.csv"

    def simulate(self, platform, name, nodes, group, options, costs=None):
        what, costs = INPUTS[name], costs or self.costs(name)
        unit = (what["alone"] - SLICES * what["read"]) / LAYERS
        return bench.simulate(self.options, "--skeleton", "multi_host", "--platform", self.platforms[platform], "--ranks", nodes,
                              "--group-size", min(group or nodes, nodes), "--layer-costs", costs, "--read-seconds", what["read"],
                              "--unit-seconds", unit, "--without", "split", *options)  # the paper only lends ranks

    def tables(self):
        """One row per platform, table and number of nodes."""
        jobs = {}
        for platform in self.platforms:
            for table, (name, group, options, paper) in TABLES.items():
                for nodes in (n for n in paper if n <= self.most_nodes):
                    jobs[platform, table, nodes] = self.pool.submit(self.simulate, platform, name, nodes, group, options)
        rows = []
        for (platform, table, nodes), job in jobs.items():
            r, paper = job.result(), TABLES[table][3]
            seconds, alone = r["seconds"], jobs[platform, table, 1].result()["seconds"]
            groups, percent = r["groups"], 100 / r["seconds"]
            row = {"platform": platform, "table": table, "nodes": nodes, "seconds": seconds,
                   "host_idle": groups.get("host_idle_seconds", 0) * percent,
                   "slave_idle": groups.get("worker_idle_seconds", 0) * percent,
                   "spread": groups.get("worker_idle_spread_seconds", 0) * percent, "speed_per_node": alone / (nodes * seconds),
                   "done_in_time": r["efficiency"]}
            if paper[nodes]:
                total, host, slave, spread = paper[nodes]
                row |= {"paper_seconds": total, "paper_host_idle": host, "paper_slave_idle": slave, "paper_spread": spread,
                        "paper_speed_per_node": paper[1][0] / (nodes * total)}
            rows.append(row)
        return rows

    def uneven(self):
        rows = []
        for platform in self.platforms:
            for nodes in (n for n in (64, 256) if n <= self.most_nodes):
                with_it = self.simulate(platform, "uneven", nodes, 8, [])["seconds"]
                without = self.simulate(platform, "uneven", nodes, 8, ["--without", "reassign"])["seconds"]
                rows.append({"platform": platform, "nodes": nodes, "seconds": with_it, "without": without,
                             "gain": without / with_it})
        return rows

    def disks(self):
        """One row per experiment with disks and size of groups."""
        if DISK_NODES > self.most_nodes:
            return []
        rows = []
        for experiment, (name, kinds) in DISKS.items():
            for group in (n for n in NODES if n <= DISK_NODES):
                jobs = {kind: self.pool.submit(self.simulate, "mesh", name, DISK_NODES, group, options)
                        for kind, options in kinds.items()}
                row = {"experiment": experiment, "group": group}
                for kind, r in ((kind, job.result()) for kind, job in jobs.items()):
                    row |= {kind: r["seconds"],
                            f"{kind}, idle": 100 * r["groups"].get("worker_idle_seconds", 0) / r["seconds"]}
                rows.append(row)
        return rows

    def dip(self):
        """Table 5 with few nodes: the paper's host, and skel's, with the traced rows and with rows of random cost."""
        name, lines = "order 3", list(csv.DictReader(open(self.costs("order 3"))))
        dice = random.Random(1)
        for line in lines:
            if line["what"] == "row":
                line["seconds"] = float(line["seconds"]) * dice.expovariate(1)
        uneven = self.work / "order-3-random.csv"
        bench.write_csv(uneven, lines)
        rows, alone, read = [], INPUTS[name]["alone"], INPUTS[name]["read"]
        for nodes in (n for n in (2, 4, 8) if n <= self.most_nodes):
            total, host, slave, _ = TABLES["5: order 3, groups of 16"][3][nodes]
            row = {"nodes": nodes, "paper": alone / (nodes * total), "lost": nodes * total - alone,
                   "idle": total * (host + (nodes - 1) * slave) / 100}
            for kind, costs in (("traced", self.costs(name)), ("random", uneven)):
                seconds, row[f"waits, {kind}"] = paper_host(read_rows(costs, alone - SLICES * read), read, nodes)
                row[f"model, {kind}"] = alone / (nodes * seconds)
                row[f"skel, {kind}"] = alone / (nodes * self.simulate("mesh", name, nodes, nodes, [], costs)["seconds"])
            rows.append(row)
        return rows

    def real(self, repetitions):
        rows = []
        for name in ("order 1", "order 3"):
            for ranks, group in ((1, 1), (2, 1), (2, 2)):
                runs = [self.model(name, "--group-size", group, prefix=bench.mpiexec(ranks)) for _ in range(repetitions)]
                best = min(runs, key=lambda r: r["seconds"])
                if ranks == 1:
                    alone = best["seconds"]
                rows.append({"input": name, "ranks": ranks, "group": group, "seconds": best["seconds"],
                             "speed_per_rank": alone / (ranks * best["seconds"]),
                             "host_idle": best["groups"].get("host_idle_seconds", 0)})
        return rows


def read_rows(costs, seconds):
    """The seconds of all rows by layer, scaled to the sum `seconds`."""
    layers = [[] for _ in range(LAYERS)]
    for line in csv.DictReader(open(costs)):
        if line["what"] == "row":
            layers[int(line["layer"])].append(float(line["seconds"]))
    factor = seconds / sum(map(sum, layers))
    return [[row * factor for row in layer] for layer in layers]


def paper_host(layers, read, nodes):
    """The total time, and the host's waits in per cent of it, of one group with the paper's listing 4, without messages: the
    host reads a slice while workers take rows of the layer before it, then processes cells of that layer itself, but not the
    last one: it goes on to the next layer when a worker has asked for that. As in skel, a worker gets 1 / (2 N) of what N
    workers have before them, at least a row."""
    workers = [0.0] * (nodes - 1)  # each is busy until then
    now, waits = 2 * read, 0.0
    for number, rows in enumerate(layers):
        cells = [row / CELLS for row in rows for _ in range(CELLS)]
        opened, taken = now, 0
        now += read if number + 1 < len(layers) else 0
        while taken < len(cells):
            asks, left = max(workers[0], opened), len(cells) - taken
            if asks > now and left > 1:
                now += cells[taken]
                taken += 1
                continue
            packet = cells[taken:taken + max(CELLS, left // (2 * len(workers)))]
            heapq.heapreplace(workers, asks + sum(packet))
            taken += len(packet)
        waits += max(0.0, asks - now)
        now = max(now, asks)
    seconds = max(now, *workers)
    return seconds, 100 * waits / seconds


def cell(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def markdown(rows, columns):
    """columns: key -> (title, digits)."""
    return bench.markdown([title for title, _ in columns.values()],
                          [[cell(row.get(key), digits) for key, (_, digits) in columns.items()] for row in rows]) + "\n"


def write(experiment, traced, rows, uneven, disks, dip, real):
    parts = ["# Tables 1 to 5, again\n\nPaper's figures in the columns behind skel's; idle times in per cent of the total. Speed per "
             "node is the time of one node, with the same measures, over nodes times seconds, as in the paper; \"done in time\" is "
             "the work that was done while the clock ran over what all nodes could have done: what hosts preload is not counted.\n"]
    for name, r in traced.items():
        paper = f" (paper: {INPUTS[name]['polygons']})" if name != "uneven" else ""
        parts.append(f"- {name}: {r['polygons']} polygons{paper}, {r['triangles']} triangles\n")
    columns = {"nodes": ("nodes", 0), "seconds": ("seconds", 2), "paper_seconds": ("paper", 2), "host_idle": ("hosts idle", 1),
               "paper_host_idle": ("paper", 1), "slave_idle": ("workers idle", 1), "paper_slave_idle": ("paper", 1),
               "spread": ("spread", 1), "paper_spread": ("paper", 1), "speed_per_node": ("speed per node", 3),
               "paper_speed_per_node": ("paper", 3), "done_in_time": ("done in time", 3)}
    for platform in experiment.platforms:
        for table in TABLES:
            parts.append(f"\n## {platform}, table {table}\n\n")
            parts.append(markdown([r for r in rows if (r["platform"], r["table"]) == (platform, table)], columns))
    parts.append("\n## All surface in a tenth of the slices, groups of 8\n\n")
    parts.append(markdown(uneven, {"platform": ("network", 0), "nodes": ("nodes", 0), "seconds": ("seconds", 2),
                                   "without": ("without re-assignment", 2), "gain": ("gain", 2)}))
    for name, (_, kinds) in DISKS.items() if disks else ():
        parts.append(f"\n## {name}: {DISK_NODES} nodes of the mesh, seconds\n\n")
        columns = {"group": ("group size", 0)}
        for kind in kinds:
            columns |= {kind: (kind, 2), f"{kind}, idle": ("workers idle, %", 1)}
        parts.append(markdown([r for r in disks if r["experiment"] == name], columns))
    parts.append("\n## Table 5 with few nodes: speed per node\n\n")
    parts.append(markdown(dip, {
        "nodes": ("nodes", 0), "paper": ("paper", 3), "lost": ("paper: lost, node-s", 0), "idle": ("idle, node-s", 0),
        "model, traced": ("paper's host, traced rows", 3), "waits, traced": ("it waits, %", 1),
        "model, random": ("rows of random cost", 3), "waits, random": ("it waits, %", 1),
        "skel, traced": ("skel, traced rows", 3), "skel, random": ("rows of random cost", 3)}))
    if real:
        parts.append("\n## Real ranks on this machine\n\n")
        parts.append(markdown(real, {"input": ("input", 0), "ranks": ("ranks", 0), "group": ("group size", 0),
                                     "seconds": ("seconds", 3), "speed_per_rank": ("speed per rank", 3),
                                     "host_idle": ("hosts idle, s", 3)}))
    (experiment.out / "tables.md").write_text("".join(parts))
    bench.write_csv(experiment.out / "tables.csv", rows)


def misses(rows, uneven, disks):
    found = []
    for row in rows:
        target = TARGETS.get(row["table"])
        if row["nodes"] == 256 and target and row["speed_per_node"] < target:
            found.append(f"{row['platform']}, table {row['table']}: {row['speed_per_node']:.3f}, target: {target}")
        if row["nodes"] == 1 and row.get("paper_seconds") and abs(row["seconds"] / row["paper_seconds"] - 1) > 0.005:
            found.append(f"{row['platform']}, table {row['table']}: one node takes {row['seconds']:.1f} s")
    for row in uneven:
        if row["gain"] < 2:
            found.append(f"{row['platform']}, {row['nodes']} nodes, uneven: re-assignment gains {row['gain']:.2f}, target: 2")
    for experiment in ("order 1, polygons written", "order 3, polygons written"):
        written = [row for row in disks if row["experiment"] == experiment]
        longer = [(row["own disks, idle"] * row["own disks"] - row["not written, idle"] * row["not written"]) / 100
                  for row in written[1:]]  # groups of one have no workers
        for row, seconds in zip(written[1:], longer):
            if seconds < -CHANCE:
                found.append(f"{experiment}, groups of {row['group']}: workers are idle for {-seconds:.2f} s less")
        small = [seconds for row, seconds in zip(written[1:], longer) if row["group"] <= 16]
        if small and statistics.mean(small) <= 0:
            found.append(f"{experiment}, groups of up to 16: workers are not idle for longer on average")
        slower = [row["own disks"] / row["not written"] for row in written]
        if written and slower[-1] < slower[0] + 0.1:
            found.append(f"{experiment}: one group is slower by {slower[-1]:.3f}, groups of one by {slower[0]:.3f}; target: "
                         "0.1 more")
    return found


def main():
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--out", default="build/tables-isosurface", help="the folder to write to")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at a time")
    parser.add_argument("--most-nodes", type=int, default=NODES[-1], help="leave out the rows with more nodes")
    parser.add_argument("--repetitions", type=int, default=3, help="of real runs, of which the fastest counts; 0: none")
    arguments = parser.parse_args()
    bench.need(arguments, "skel-isosurface", "skel-simulate", *(["mpiexec"] if arguments.repetitions > 0 else []))
    experiment = Experiment(arguments)
    traced = experiment.trace()
    rows, uneven = experiment.tables(), experiment.uneven()
    disks, dip = experiment.disks(), experiment.dip()
    real = experiment.real(arguments.repetitions) if arguments.repetitions > 0 else []
    write(experiment, traced, rows, uneven, disks, dip, real)
    print((experiment.out / "tables.md").read_text())
    missed = misses(rows, uneven, disks)
    for line in missed:
        print(line)
    bench.finish(not missed, arguments)


main()
