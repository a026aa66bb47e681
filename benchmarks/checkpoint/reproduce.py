#!/usr/bin/env python3
"""Repeats the experiments of de Camargo, Cerqueira and Kon 2006: figure 2, figure 3 and table 1, and the availability of its codes.

    benchmarks/checkpoint/reproduce.py                     # two ranks, three sizes, a checkpoint every half second; eight minutes
    sudo benchmarks/checkpoint/reproduce.py --network      # nine hosts and one that stores, 100 Mb/s and 1 Gb/s; nine minutes
    sudo benchmarks/checkpoint/reproduce.py --network --paper    # the same with the paper's state, every minute; four hours

Writes DIR/index.html, with the plots DIR/*.svg and their figures DIR/*.csv.

Figure 2: seconds to encode by size, number of slices and redundancy, on one core (skel-bench-codes --figure-2). Availability: the share of
sets of lost nodes that each code survives, counted exhaustively (skel-bench-codes --availability). Figure 3 and table 1: the cost of
checkpoints for a running program, skel-matmul. Scenarios, run in turn (A, B, C, ..., A, B, C ...): no storage, a central repository (one
copy in one directory), replication (2 copies), parity over ten slices, IDA (9,1) and IDA (8,2). All products must be equal.

--network needs root, iproute2 and Open MPI. Each rank is a host with a network namespace, a link and a directory of its own; they share
the cores. As in the paper a tenth host computes nothing: it has the tenth slice, and is the central repository. Everything is made in
namespaces of this process, and vanishes with it. The paper's 12-byte elements are 8-byte ones here, in larger matrices with as many bytes.

Columns: seconds of the whole run, also relative to no storage (medians of --repetitions); the fewest checkpoints of a run; megabytes of a
rank's checkpoint, of all shards of a checkpoint, and sent by all hosts per checkpoint (counters of their links, beyond the runs without
storage); `blocked`, the time during which the most affected rank stood still, in per cent of the run; seconds of the run per
checkpoint; and seconds per local checkpoint that its parts took. Coding, sending, writing and syncing run in threads beside the
computation, and so does packing the constant matrices A and B. A row with a run without checkpoints is meaningless, and is reported.

Targets: blocked below 0.5 % with the full state under IDA (8,2) every 10 s; with --network, an overhead below 3 % under IDA (8,2) with one
checkpoint per minute.
"""
import contextlib
import os
import pathlib
import signal
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402
import jobs  # noqa: E402
import network  # noqa: E402
import tables  # noqa: E402
from line_plot import plot  # noqa: E402

COLOURS = ["#b9770e", "#1e8449", "#8e44ad", "#2471a3", "#c0392b"]


def codes(options):
    """Writes figure 2 and the availability as plots."""
    for name, arguments in (("figure-2", ["--sizes", "1e8"]), ("availability", [])):
        print(f"{name} …", flush=True)
        bench.run(options.bin / "skel-bench-codes", f"--{name}", options.out / name, *arguments)


def figure_3(title, sizes):
    """Seconds relative to no storage, over the size of the state."""
    series = {}
    for k, (name, _) in enumerate(jobs.SCENARIOS[1:], 1):
        series[name] = (COLOURS[k - 1], [(rows[k]["state_megabytes"], rows[k]["normalised"]) for rows in sizes])
    return plot(f"Figure 3: {title}", "state, MB", "seconds relative to no storage", series)


class Results:
    """What is measured on one place: tables by size, with their headings, and remarks."""

    def __init__(self, options, place, name):
        self.options, self.place, self.name = options, place, name
        self.tables, self.headings, self.remarks, self.good = [], [], [], True

    def remark(self, line, good=True):
        self.remarks.append(line)
        self.good &= good
        print(line, flush=True)

    def measure(self, size, every):
        options = self.options
        rows, plain, rounds = jobs.table(options, self.place, size, every, (options.checkpoints + 0.5) * every if options.network else 0)
        self.tables.append(rows)
        self.headings.append(f"size {size}, state {rows[0]['state_megabytes']:.1f} MB, {self.place.about}, {rounds} x the product, a checkpoint "
                             f"every {every:g} s; without storage {min(plain):.2f} to {max(plain):.2f} s; load {os.getloadavg()[0]:.1f}")
        print(f"\n{self.headings[-1]}\n\n{bench.markdown(tables.HEADINGS, map(tables.cells, rows))}\n", flush=True)
        for row in rows[1:]:
            if row["checkpoints"] == 0:
                self.remark(f"No checkpoint: size {size}, {row['storage']}. This row is meaningless: use greater --sizes or a shorter --every.", False)
        if options.network:
            noise = [*plain, min(row["seconds"] for row in rows)]  # a strategy that is faster than no storage shows noise, too
            self.remark(*tables.overhead_verdict(rows[-1], noise, 60))
            if options.paper:
                self.remark(tables.claim(rows, noise, tables.PAPER_INTERVALS[options.papers[len(self.tables) - 1]]))

    def target(self, size):
        _, result = jobs.lasting(self.options, self.place, size, "ida:8,2", 10, 25)
        self.remark(*tables.blocked_verdict(result))


def measure_all(options, place, name):
    results = Results(options, place, name)
    for size, every in zip(options.sizes, options.every):
        results.measure(size, every)
    results.target(options.target_size or max(options.sizes))
    return results


def places(options, folder):
    """Yields each place and its short name."""
    if not options.network:
        yield jobs.Directories(options.ranks, folder), "this machine"
    for rate in options.network:
        inside = os.path.join(folder, rate)
        os.mkdir(inside)
        with network.Network(options.ranks + 1, rate, inside) as net:
            print(f"\n{options.ranks + 1} hosts, links of {rate}: one TCP connection moves {net.megabits_per_second():.0f} Mb/s", flush=True)
            yield jobs.Hosts(options.ranks, net), rate


def write_page(options, all_of):
    bench.write_csv(options.out / "table-1.csv", [{"place": results.name, **row} for results in all_of for table in results.tables
                                                  for row in table])
    page = bench.Page(options.out, "Checkpoint-based fault-tolerance on idle machines, repeated")
    page.say(options.sizes_line)
    for results in all_of:
        page.head(f"Table 1 and figure 3: checkpoints of a running program, {results.name}")
        for heading, rows in zip(results.headings, results.tables):
            page.say(heading)
            page.parts.append(bench.html_table(tables.HEADINGS, map(tables.cells, rows)))
        page.picture(f"figure-3-{results.name.replace(' ', '-')}", figure_3(f"overhead of checkpoints, {results.name}", results.tables))
        for remark in results.remarks:
            page.say(remark)
    for name, title in () if options.network else (("figure-2", "Figure 2: time to code"), ("availability", "Availability")):
        page.head(title)
        page.parts.append((options.out / f"{name}.svg").read_text())
    return page.write()


def arguments(given=None):
    parser = bench.parser(__doc__, check=True)
    parser.add_argument("--out", type=pathlib.Path, default=bench.TOP / "out/checkpoint", help="directory for page, plots and CSV files")
    parser.add_argument("--stores", default=None, help="directory for the stores [the system's temporary directory]")
    parser.add_argument("--network", nargs="*", metavar="RATE", default=None,
                        help="hosts with links of these rates, as tc names them [100mbit 1gbit]; figure 2 and the availability are left out")
    parser.add_argument("--ranks", type=int, help="that compute [2, with --network 9]")
    parser.add_argument("--sizes", type=int, nargs="+", help="[2800 3400 4000, with --network 1653]")
    parser.add_argument("--paper", action="store_true", help="the paper's bytes: " + tables.sizes_line(tables.PAPER_SIZES))
    parser.add_argument("--every", type=float, nargs="+", metavar="SECONDS",
                        help="between checkpoints, for all sizes or for each [0.5, with --network 10, with --paper too 60]; "
                             f"the paper's are {' '.join(map(str, tables.PAPER_INTERVALS.values()))}")
    parser.add_argument("--checkpoints", type=int, help="with --network, runs last for this number [2, with --paper 3] and a half")
    parser.add_argument("--repetitions", type=int, help="[3, with --network 1]")
    parser.add_argument("--target-size", type=int, help="size of the run with a checkpoint every 10 s [5860, with --network the largest of --sizes]")
    options = parser.parse_args(given)
    if options.paper and options.sizes:
        parser.error("--paper and --sizes: expected one of them")
    on_network, options.papers = options.network is not None, tables.PAPER_SIZES if options.paper else []
    options.network = (options.network or ["100mbit", "1gbit"]) if on_network else []
    options.ranks = options.ranks or (9 if on_network else 2)
    options.sizes = options.sizes or [tables.size_for(p) for p in options.papers] or ([1653] if on_network else [2800, 3400, 4000])
    options.every = options.every or [(60 if options.paper else 10) if on_network else 0.5]
    if len(options.every) == 1:
        options.every *= len(options.sizes)
    if len(options.every) != len(options.sizes):
        parser.error(f"--every: expected 1 or {len(options.sizes)} numbers, found {len(options.every)}")
    options.checkpoints = options.checkpoints or (3 if options.paper else 2)
    options.repetitions = options.repetitions or (1 if on_network else 3)
    options.target_size = options.target_size or (None if on_network else 5860)
    options.sizes_line = (tables.sizes_line(options.papers) if options.paper else
                          "state: " + ", ".join(f"{s} x {s}, {tables.megabytes(s):.1f} MB" for s in options.sizes))
    return options


def main():
    options = arguments()
    bench.need(options, "skel-matmul", "mpiexec", *([] if options.network else ["skel-bench-codes"]))
    signal.signal(signal.SIGTERM, lambda *_: bench.fail("terminated"))  # so that runs and namespaces end, too
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{bench.load()}\n{options.sizes_line}")
    try:
        if options.network:
            network.enter()
        else:
            codes(options)
        with tempfile.TemporaryDirectory(dir=options.stores) as folder, contextlib.closing(places(options, folder)) as each:
            all_of = [measure_all(options, place, name) for place, name in each]
    except (jobs.Failed, network.Missing) as bad:
        bench.fail(bad)
    print(f"\n{write_page(options, all_of)}")
    bench.finish(all(results.good for results in all_of), options)


if __name__ == "__main__":
    main()
