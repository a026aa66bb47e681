"""The pictures of reproduce.py's page, and the columns of its tables."""
from line_plot import plot

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
