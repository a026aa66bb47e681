"""The paper's observations, and whether reproduce.py confirms them."""
import statistics

import bench
from situations import DAY, ETHERNET, QUIET, REAL_QUIET, REAL_SLOWED, SLOWED, WAYS


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
