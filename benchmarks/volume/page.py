"""The page of reproduce.py: plots as SVG, tables, findings."""
import html
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from line_plot import ticks  # noqa: E402

COLOURS = {"D_S": "#1e8449", "D_C": "#2471a3", "S_S": "#c0392b", "S_C": "#b9770e",
           "one message to each": "#c0392b", "skel::broadcast": "#2471a3"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 320, 52, 40, 44, 12


def y_of(value, most):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most


def frame(title, about, most, across, up):
    """Title, legend of the series `about`, and horizontal lines up to `most`."""
    out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
           'font-family="sans-serif" font-size="11">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{WIDTH / 2:g}" y="16" text-anchor="middle" font-size="13">{html.escape(title)}</text>']
    for value in ticks(most):
        y = y_of(value, most)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>')
    out.append(f'<text x="{WIDTH / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">{html.escape(across)}</text>')
    out.append(f'<text x="12" y="{HEIGHT / 2:g}" text-anchor="middle" transform="rotate(-90 12 {HEIGHT / 2:g})">'
               f'{html.escape(up)}</text>')
    for k, name in enumerate(about):
        x = LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / len(about)
        out.append(f'<text x="{x:.1f}" y="33" text-anchor="middle" fill="{COLOURS[name]}">{html.escape(name)}</text>')
    return out


def known(number):
    return number == number  # not NaN


def plot(title, rows):
    """Means with intervals over the number of workers, as in figures 7 and 8."""
    workers = sorted({r["workers"] for r in rows})
    algorithms = [a for a in COLOURS if any(r["algorithm"] == a for r in rows)]
    most = 1.1 * max(r["mean"] + (r["half_interval"] if known(r["half_interval"]) else 0) for r in rows)
    x_of = {n: LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / len(workers) for k, n in enumerate(workers)}
    out = frame(title, algorithms, most, "workers", "response time, s, with 99.9 % confidence interval")
    for n in workers:
        out.append(f'<text x="{x_of[n]:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{n}</text>')
    for k, a in enumerate(algorithms):
        for r in (r for r in rows if r["algorithm"] == a):
            x, y = x_of[r["workers"]] + 14 * (k - 1.5), y_of(r["mean"], most)
            if known(r["half_interval"]):
                low = y_of(max(0, r["mean"] - r["half_interval"]), most)
                high = y_of(r["mean"] + r["half_interval"], most)
                out.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8" '
                           f'stroke="{COLOURS[a]}" fill="none"/>')
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[a]}"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def profile(title, series):
    """Seconds of each sample, as in figure 9; a line for a simulated cluster, whose samples are equal."""
    most = 1.1 * max(max(values) for values in series.values())
    out = frame(title, list(series), most, "sample", "seconds until all have the grid")
    for name, values in series.items():
        if len(values) == 1:
            y = y_of(values[0], most)
            out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{COLOURS[name]}" '
                       f'stroke-width="2"/>')
        for k, value in enumerate(values if len(values) > 1 else []):
            x = LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / len(values)
            out.append(f'<circle cx="{x:.1f}" cy="{y_of(value, most):.1f}" r="2.5" fill="{COLOURS[name]}"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def table(rows, columns):
    def cell(value):
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    head = "".join(f"<th>{html.escape(h)}</th>" for h, _ in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell(r[key]))}</td>" for _, key in columns) + "</tr>" for r in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


TIMES = [("situation", "situation"), ("algorithm", "algorithm"), ("workers", "workers"), ("mean, s", "mean"),
         ("± (99.9 %)", "half_interval"), ("deviation", "deviation"), ("least", "least"), ("most", "most")]
FINDINGS = [("the paper finds", "finding"), ("here", "here"), ("details", "details")]
RAYS = [("seconds", "seconds"), ("rays that hit: paper", "paper_hit"), ("here", "here_hit"),
        ("rays that miss: paper", "paper_miss"), ("here", "here_miss")]
GRIDS = [("where", "where"), ("how", "how"), ("mean, s", "mean"), ("± (99.9 %)", "half_interval"), ("samples", "samples")]


class Page:
    """Also writes each plot to a file beside the page."""

    def __init__(self, folder):
        self.folder = folder
        self.parts = ["<!doctype html><meta charset='utf-8'><title>StormView, repeated</title><style>body{font:15px sans-serif;"
                      "max-width:62em;margin:2em auto;padding:0 1em}table{border-collapse:collapse;margin:1em 0}td,th{border:"
                      "1px solid #ccc;padding:3px 8px;text-align:right}td:first-child,th:first-child{text-align:left}</style>",
                      "<h1>StormView's performance experiments, repeated</h1>"]

    def head(self, text):
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def say(self, text):
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def picture(self, name, svg):
        (self.folder / f"{name}.svg").write_text(svg)
        self.parts.append(svg)

    def table(self, rows, columns):
        self.parts.append(table(rows, columns))

    def write(self):
        path = self.folder / "index.html"
        path.write_text("\n".join(self.parts) + "\n")
        return path


def cores():
    return sorted(os.sched_getaffinity(0))
