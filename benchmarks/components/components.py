#!/usr/bin/env python3
"""Connected components from an edge array in memory to all labels: compares skel's union-find with peers, and ranks.

    benchmarks/components/components.py                # three minutes
    benchmarks/components/components.py --repetitions 5 --graphs uniform:n=2048000,m=2048000,seed=1

Everything takes turns, including processes (A, B, C, A, B, C ...), so that a disturbance affects all alike. All labels must
be equal. Peers: the plain sequential union-find, and Afforest after Sutton et al. 2018, which first builds its graph, as in
GAPBS. Ranks: skel-components on two ranks and on one, with new processes each time; the hand-written hypercube over MPI
with the same messages (skel-bench-components-ranks); and the skeleton in the same protocol
(skel-bench-components-skeleton): three times in a row, with one core measured in the same process. Two copies at once: the
slowdown of one core while the other does the same, which no division of the work can avoid. Medians [10 % .. 90 %] of wall
seconds. On a loaded machine use `processor`: processor seconds of all threads together.
"""
import statistics
import sys

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

UNIFORM, KRONECKER = "uniform:n=2048000,m=2048000,seed=1", "kronecker:scale=20,degree=16,seed=1"
ONE_CORE = 1.0  # relative to the speed of the plain union-find
THREADS = 1.5  # two threads relative to one core
RANKS = {UNIFORM: 0.9, KRONECKER: 1.5}  # two ranks relative to one core
MEMORY = 2.5  # relative to the size of edges and labels
IN_A_ROW = 3  # runs per process


def shown(values):
    return bench.shown(values, 4)


class Verdicts:
    def __init__(self):
        self.good = True

    def __call__(self, value, target, most=False):
        met = value <= target if most else value >= target
        self.good = self.good and met
        return f"{value:.2f} {bench.word(met)} (target {'<=' if most else '>='} {target})"


class Methods:
    """All methods in one process, on the same edges."""
    NAMES = ["union-find:1", "skel:1", "skel:2", "afforest:1", "afforest:2"]

    def __init__(self, options, graph):
        self.command = [options.bin / "skel-bench-components", ",".join(self.NAMES), graph, IN_A_ROW]
        self.graph, self.lines = graph, []

    def run(self):
        self.lines += bench.fields(bench.run(*self.command, timeout=900))
        if len({line["xxh3"] for line in self.lines}) != 1:
            bench.fail(f"the labels of {self.graph} differ between methods")
        return self.lines[0]["xxh3"]

    def tell(self, verdict):
        wall, cpu = ({n: [float(line[key]) for line in self.lines if line["method"] == n] for n in self.NAMES}
                     for key in ("seconds", "cpu"))
        bench.head("method", "seconds", "processor")
        for n in self.NAMES:
            bench.row(n, shown(wall[n]), shown(cpu[n]))
        print(f"\none core, of the plain union-find's speed: {verdict(bench.paired_ratio(wall['union-find:1'], wall['skel:1']), ONE_CORE)}")
        print(f"two threads, of one: {verdict(bench.paired_ratio(wall['skel:1'], wall['skel:2']), THREADS)}")


class Ranks:
    """Two ranks by hand or with the skeleton, and one core in the same process."""

    def __init__(self, options, graph, name, program, *words):
        self.command = [*bench.mpiexec(2), options.bin / program, graph, IN_A_ROW, *words]
        self.graph, self.name, self.lines = graph, name, []

    def run(self, xxh3):
        self.lines += bench.fields(bench.run(*self.command, timeout=900))
        if {line["xxh3"] for line in self.lines} != {xxh3}:
            bench.fail(f"the labels of {self.graph} differ on two ranks {self.name}")

    def of(self, key):
        return [float(line[key]) for line in self.lines]

    def tell(self, target=None):
        speed = bench.paired_ratio(self.of("alone"), self.of("seconds"))
        by_hand = "cpu" in self.lines[0]
        parts = {"processor": "cpu"} if by_hand else {name: name for name in ("sequential1", "exchange0", "combine0")}
        phases = ", ".join(f"{name} {shown(self.of(key))}" for name, key in parts.items())
        sent = f"{self.lines[0]['bytes']} bytes sent by {'each' if by_hand else 'both'}"
        print(f"two ranks {self.name}: {shown(self.of('seconds'))} s ({phases}), {sent}; of one core "
              f"({shown(self.of('alone'))} s): {target(speed) if target else f'{speed:.2f}'}")


class Copies:
    """Two processes that solve the whole graph at once, compared with one alone."""

    def __init__(self, options, graph):
        self.command = [options.bin / "skel-bench-components", "skel:1", graph, 2 * IN_A_ROW]
        self.alone, self.both = [], []

    def seconds(self, count):
        return [float(line["seconds"]) for text in bench.at_once(count, *self.command) for line in bench.fields(text)]

    def run(self):
        self.alone += self.seconds(1)
        self.both += self.seconds(2)

    def tell(self):
        print(f"two copies at once: {shown(self.both)} s each, alone {shown(self.alone)} s: "
              f"{statistics.median(self.both) / statistics.median(self.alone):.2f} times as long")


class Program:
    """skel-components: seconds and memory, from its report."""

    def __init__(self, options, graph, count):
        self.command = [*bench.mpiexec(count), options.bin / "skel-components", "--generate", graph, "--threads", 1]
        self.count, self.runs = count, []

    def run(self):
        self.runs.append(bench.report(*self.command, timeout=900))

    def seconds(self):
        return [run["seconds"] for run in self.runs]

    def tell(self, verdict, one=None, target=None):
        seconds = self.seconds()
        text = f"skel-components on {self.count} ranks: {shown(seconds)} s, {self.runs[0].get('bytes', 0)} bytes sent"
        if one:
            text += f"; of one rank's speed: {target(bench.paired_ratio(one.seconds(), seconds))}"
        memory = max(r.get("peak_memory_bytes", 0) for run in self.runs for r in run.get("per_rank", [{}]))
        size = 8 * self.runs[0]["edges"] + 4 * self.runs[0]["nodes"]
        print(text + (f"; memory, of edges and labels: {verdict(memory / size, MEMORY, most=True)}" if memory else ""))


def measure(options, graph, verdict):
    methods, both, programs = Methods(options, graph), Copies(options, graph), [Program(options, graph, n) for n in (1, 2)]
    by_hand = [Ranks(options, graph, "by hand, cheapest", "skel-bench-components-ranks"),
               Ranks(options, graph, "by hand, dense", "skel-bench-components-ranks", "dense")]
    skeleton = Ranks(options, graph, "with the skeleton", "skel-bench-components-skeleton")
    for _ in range(options.repetitions):
        xxh3 = methods.run()
        for ranks in (*by_hand, skeleton):
            ranks.run(xxh3)
        both.run()
        for program in programs:
            program.run()

    def target(speed):
        return verdict(speed, RANKS[graph]) if graph in RANKS else f"{speed:.2f}"

    print(f"\n{graph}\n")
    methods.tell(verdict)
    for ranks in by_hand:
        ranks.tell()
    skeleton.tell(target)
    both.tell()
    programs[0].tell(verdict)
    programs[1].tell(verdict, programs[0], target)


def main():
    parser = bench.parser(__doc__, repetitions=9, check=True)
    parser.add_argument("--graphs", nargs="+", default=[UNIFORM, KRONECKER])
    options = parser.parse_args()
    bench.need(options, "skel-bench-components", "skel-bench-components-ranks", "skel-bench-components-skeleton", "skel-components",
               "mpiexec")
    verdict = Verdicts()
    print(bench.load())
    for graph in options.graphs:
        measure(options, graph, verdict)
    bench.finish(verdict.good, options)


main()
