"""The settings of reproduce.py's experiments (networks, other users' load, ways to send a grid), its pictures and findings."""
import statistics

import bench
from line_plot import plot

ETHERNET, ATM = "10 Mb/s Ethernet, shared", "155 Mb/s ATM, switched"
NETWORKS = {ETHERNET: {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6},
            ATM: {"kind": "switch", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.94e7}}
WAYS = {"series": "one message to each", "broadcast": "skel::broadcast"}


def without_users(_rank, _chance):
    return {}


def other_users(_rank, chance):
    """Other users by day: one station in five runs a job that takes half of it for minutes."""
    if chance.random() >= 0.2:
        return {}
    begin, length = chance.uniform(0, 60), chance.uniform(60, 180)
    return {"load": {"available": [[0, 1], [begin + 1e-3, 0.5], [begin + length, 1]], "repeat_seconds": begin + length + 60}}


def one_slowed(rank, _chance):
    """Section 5.2: another user's job takes half of one worker."""
    return {"power": 0.5} if rank == 1 else {}


QUIET, DAY, SLOWED = "quiet (figure 8, night)", "other users (figure 7, day)", "one worker slowed by half (5.2)"
SITUATIONS = {QUIET: without_users, DAY: other_users, SLOWED: one_slowed}
REAL_QUIET, REAL_SLOWED = "real ranks, quiet", "real ranks, one worker slowed by another job"
PICTURES = {QUIET: "figure-8", DAY: "figure-7", SLOWED: "slowed", REAL_QUIET: "real-quiet", REAL_SLOWED: "real-slowed"}
COLOURS = {"D_S": "#1e8449", "D_C": "#2471a3", "S_S": "#c0392b", "S_C": "#b9770e",
           "one message to each": "#c0392b", "skel::broadcast": "#2471a3"}


def response_times(title, rows):
    """Means with intervals over the number of workers, as in figures 7 and 8; the algorithms stand beside each other."""
    apart = 0.02 * max(r["workers"] for r in rows)
    algorithms = [a for a in COLOURS if any(r["algorithm"] == a for r in rows)]
    series = {a: (COLOURS[a], [(r["workers"] + apart * (k - 1.5), r["mean"], r["half_interval"])
                               for r in rows if r["algorithm"] == a]) for k, a in enumerate(algorithms)}
    return plot(title, "workers", "response time, s, with 99.9 % confidence interval", series)


def profile(title, series):
    """Seconds of each sample, as in figure 9; all samples of a simulated cluster are equal."""
    most = max(len(values) for values in series.values())
    return plot(title, "sample", "seconds until all have the grid", {
        name: (COLOURS[name], list(enumerate(values if len(values) > 1 else values * max(2, most), 1)))
        for name, values in series.items()})


TIMES = [("situation", "situation"), ("algorithm", "algorithm"), ("workers", "workers"), ("mean, s", "mean"),
         ("± (99.9 %)", "half_interval"), ("deviation", "deviation"), ("least", "least"), ("most", "most")]
RAYS = [("seconds", "seconds"), ("rays that hit: paper", "paper_hit"), ("here", "here_hit"),
        ("rays that miss: paper", "paper_miss"), ("here", "here_miss")]
GRIDS = [("where", "where"), ("how", "how"), ("mean, s", "mean"), ("± (99.9 %)", "half_interval"), ("samples", "samples")]


def findings(tables, grids):
    """The paper's observations (sections 5.2 to 6.3) with the results here. `tables`: by situation."""
    found = bench.Findings()
    at = {(s, r["algorithm"], r["workers"]): r for s, rows in tables.items() for r in rows}
    places = sorted({(s, n) for s, _, n in at}, key=lambda p: (list(tables).index(p[0]), p[1]))
    several = [(s, n) for s, n in places if n > 1]

    def dynamic(s, n, what="mean"):
        return max(at[s, "D_S", n][what], at[s, "D_C", n][what])

    def static(s, n, what="mean"):
        return min(at[s, "S_S", n][what], at[s, "S_C", n][what])

    def of(*situations):
        return [(s, n) for s, n in several if s in situations]

    found.say("the dynamic algorithms are never slower than the static ones (half a percent counts as equal)",
        [f"{s}, {n} workers" for s, n in several if dynamic(s, n) > 1.005 * static(s, n)], len(several))
    found.say("by day the dynamic algorithms are more stable (smaller deviation)",
        [f"{n} workers" for s, n in of(DAY) if dynamic(s, n, "deviation") > static(s, n, "deviation")], len(of(DAY)))
    found.say("scattering and concentrating the transfer make no difference (less than 2 %, or within both intervals)",
        [f"{s}, {n} workers, {a}" for s, n in several for a in "DS" if differ(at[s, a + "_S", n], at[s, a + "_C", n])],
        2 * len(several))
    found.say("without other users the two are similar (less than 10 % apart)",
        [f"{s}, {n} workers" for s, n in of(QUIET, REAL_QUIET) if at[s, "S_S", n]["mean"] > 1.1 * at[s, "D_S", n]["mean"]],
        len(of(QUIET, REAL_QUIET)))
    found.say("with one worker slowed the dynamic algorithms are faster by more than a third",
        [f"{s}, {n} workers" for s, n in of(SLOWED, REAL_SLOWED)
         if at[s, "S_S", n]["mean"] < 4 / 3 * at[s, "D_S", n]["mean"]], len(of(SLOWED, REAL_SLOWED)))
    found.say("by day the static algorithms take longer with 20 workers than with 15 (inefficient ones are among the new)",
        [f"{a}" for a in ("S_S", "S_C") if at[DAY, a, 20]["mean"] <= at[DAY, a, 15]["mean"]], 2)
    seconds = {n: statistics.mean(values) for n, values in grids[ETHERNET].items()}
    fastest = at[QUIET, "D_S", 25]["mean"]
    found.say("distributing the grid takes a significant time (more than 5 % of rendering with 25 workers)",
        [] if seconds[WAYS["series"]] > 0.05 * fastest else [ETHERNET], 1)
    return found


def differ(a, b):
    apart = abs(a["mean"] - b["mean"])
    return apart > 0.02 * b["mean"] and apart > a["half_interval"] + b["half_interval"]
