#!/usr/bin/env python3
"""Draws the diagrams of the documentation, docs/images/*.svg, from data:

  house            the rooms of the source tree, and which rooms each includes (cmake/check_rooms.cmake)
  schedule-NAME    the time of four unequal ranks under each schedule, from a trace of skel-simulate
  after-death      the messages after the death of a rank, from such a trace

    scripts/diagrams.py [--simulate PROGRAM]    # default: build/release/bin/skel-simulate
    scripts/diagrams.py --check                 # exit code 1 if the house has changed since it was drawn

The same simulation gives the same picture. Colours follow the reader's light or dark mode. Needs only Python's standard
library.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
POWERS = {"rank 0": 1, "rank 1": 2, "rank 2": 1, "rank 3": 0.5}
SCHEDULES = {"auto": "adaptive", "blocks": "blocks", "interleaved": "interleaved", "first-come": "first_come",
             "guided": "guided", "hybrid": "hybrid", "ring": "ring"}
STYLE = """
text { font: 13px sans-serif; fill: #222; }
.small { font-size: 12px; }
.line { stroke: #888; fill: none; }
.box { fill: #eef1fb; stroke: #4051b5; }
.inner { fill: #d5dcf5; stroke: #4051b5; }
.task { fill: #7f9cf5; stroke: #fff; }
.on-task { fill: #000; }
.again { fill: #f6ad55; stroke: #fff; }
.arrow { stroke: #4051b5; fill: none; stroke-width: 1.5; }
.head { fill: #4051b5; }
.dead { stroke: #c53030; stroke-width: 2; stroke-dasharray: 4 4; fill: none; }
.mark { fill: #c53030; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e6ee; }
  .line { stroke: #999; }
  .box { fill: #2d3352; stroke: #9fa8ff; }
  .inner { fill: #3d4675; stroke: #9fa8ff; }
  .task, .again { stroke: #222; }
  .on-task { fill: #000; }
  .arrow { stroke: #9fa8ff; }
  .head { fill: #9fa8ff; }
  .dead { stroke: #fc8181; }
  .mark { fill: #fc8181; }
}
"""


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def box(x, y, width, height, kind, rounded=3):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{rounded}" class="{kind}"/>'


def line(x1, y1, x2, y2, kind="line"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def picture(title, width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
                      f"<title>{title}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


# --- the house

def rooms():
    """The rooms that each room includes, by the includes of the source."""
    output = subprocess.run(["cmake", "-D", "GRAPH=ON", "-P", "cmake/check_rooms.cmake"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stderr
    return {name.strip(): set(uses.split()) for name, uses in (row.split("->") for row in output.splitlines() if "->" in row)}


def reduced(uses):
    """Without the includes that follow from others."""
    def below(room):
        return uses[room] | {far for near in uses[room] for far in below(near)}
    return {room: {one for one in direct if not any(one in below(other) for other in direct - {one})}
            for room, direct in uses.items()}


def house():
    """A floor above all that it includes. The roles of a skeleton are drawn inside of its room."""
    uses = rooms()
    whole = {name: {use.removesuffix("/role") for use in direct} - {name} for name, direct in uses.items()
             if not name.endswith("/role")}
    floors = {}

    def floor(room):
        if room not in floors:
            floors[room] = 1 + max((floor(use) for use in whole[room]), default=-1)
        return floors[room]

    for room in whole:
        floor(room)
    width, step, top, high, lane = 860, 92, 20, 48, 12
    # A line that leads past a floor has a lane there, between the rooms. Lines to the same room share their lanes.
    below = {}
    for room, direct in reduced(whole).items():
        for use in direct:
            lanes = [(use, level) for level in range(floors[room] - 1, floors[use], -1)]
            for upper, lower in zip([room, *lanes], [*lanes, use]):
                below.setdefault(upper, set()).add(lower)
    highest = max(floors.values())
    places, parts = {}, []
    for level in range(highest + 1):
        def middle(item):  # of what is below, so that few lines cross
            under = [places[use][0] for use in below.get(item, ())]
            return sum(under) / len(under) if under else 0
        items = [room for room in whole if floors[room] == level] + [item for item in below if item not in whole and item[1] == level]
        items.sort(key=lambda item: (middle(item), str(item)))
        lanes = sum(item not in whole for item in items)
        size = min(150.0, (width - 20 - lanes * (lane + 14)) / (len(items) - lanes) - 14)
        sizes = [size if item in whole else lane for item in items]
        gap = (width - sum(sizes)) / (len(items) + 1)
        x, y = gap, top + (highest - level) * step
        for item, size in zip(items, sizes):
            centre = x + size / 2
            x += size + gap
            places[item] = centre, y
            for use in sorted(below.get(item, ()), key=str):
                to_x, to_y = places[use]
                parts.append(f'<path d="M{centre:.1f} {y + high} C{centre:.1f} {y + 72} {to_x:.1f} {to_y - 24} {to_x:.1f} {to_y}" '
                             'class="line"/>')
            if item not in whole:
                parts.append(line(centre, y, centre, y + high))
                continue
            inner = f"{item}/role" in uses
            parts += [box(centre - size / 2, y, size, high, "box"),
                      text(centre, y + (19 if inner else 29), item, "small" if len(item) > 12 else "", "middle")]
            if inner:
                parts += [box(centre - 26, y + 26, 52, 17, "inner"), text(centre, y + 38, "role/", "small", "middle")]
    return picture("The rooms of the source tree; a line leads down to a room that is included", width,
                   top * 2 + highest * step + high, parts)


# --- simulated runs

def simulate(program, *options):
    """The events and the report of a run on four unequal ranks."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: f"{folder}/{name}.json" for name in ("platform", "trace", "report")}
        hosts = [{"name": name, "power": power} for name, power in POWERS.items()]
        network = {"kind": "switch", "latency_seconds": 1e-4, "bandwidth_bytes_per_second": 1e8}
        pathlib.Path(files["platform"]).write_text(json.dumps({"name": "four", "hosts": hosts, "network": network}))
        subprocess.run([program, "--platform", files["platform"], "--trace", files["trace"], "--report", files["report"],
                        "--quiet", *options], check=True)
        read = {name: json.loads(pathlib.Path(files[name]).read_text()) for name in ("trace", "report")}
    return [event for event in read["trace"]["traceEvents"] if event["ph"] == "X"], read["report"]


def axis(left, y, scale, seconds, every):
    parts = [line(left, y, left + seconds * scale, y)]
    for i in range(int(seconds / every) + 1):
        x = left + i * every * scale
        parts += [line(x, y, x, y + 4), text(x, y + 17, f"{i * every:g} s", "small", "middle")]
    return parts


def timeline(program, schedule, seconds):
    events, report = simulate(program, "--tasks", "32", "--seed", "3", "--costs", "exponential:100ms", "--schedule", schedule)
    left, row, width = 120, 30, 640
    scale = (width - left - 15) / seconds
    parts, seen = [], set()
    for rank, (name, power) in enumerate(POWERS.items()):
        parts.append(text(5, 20 + row * rank + 15, f"{name}, power {power}", "small"))
    for event in sorted((e for e in events if e["name"] == "compute"), key=lambda e: (e["ts"] + e["dur"], e["pid"])):
        task = event["args"]["first_task"]
        x, size = left + event["ts"] / 1e6 * scale, event["dur"] / 1e6 * scale
        y = 20 + row * event["pid"]
        parts.append(box(x, y, size, 22, "again" if task in seen else "task", 2))
        if size > 16:
            parts.append(text(x + size / 2, y + 15, task, "small on-task", "middle"))
        seen.add(task)
    end = left + report["seconds"] * scale
    parts += [line(end, 14, end, 20 + 4 * row, "dead"), *axis(left, 20 + 4 * row + 2, scale, seconds, 0.2)]
    return picture(f"{SCHEDULES[schedule]}: 32 tasks on four unequal ranks in {report['seconds']:.2f} s", width, 170, parts)


# The trace has the bytes of a message, not its name. In this run each kind has another length: the packed fields of
# src/farm/role/message.hpp. An unknown length is an error, so a change of the protocol cannot go unnoticed.
TO_WORKER = {3: "take stock", 5: "grant the suspect task", 2: "stop"}
TO_ROOT = {4: "stock: holds nothing", 7: "begins the task", 17: "result, and nothing left"}


def after_death(program):
    """Rank 2 dies inside its third task; the root notices its silence, takes stock, and grants the task to rank 1."""
    died, dead = 0.45, 2
    events, _ = simulate(program, "--tasks", "12", "--seed", "3", "--costs", "constant:200ms", "--schedule", "first-come",
                         "--suspect-after", "1s", "--fail", f"{dead}@{died}s")
    sends = [e for e in events if e["name"] == "send"]
    noticed = min(e["ts"] for e in sends if e["pid"] == 0 and e["args"]["bytes"] == 3 and e["ts"] > died * 1e6)
    messages = sorted((e["ts"], e["pid"], e["args"]["peer"], e["args"]["bytes"]) for e in sends
                      if e["ts"] >= noticed and dead not in (e["pid"], e["args"]["peer"]))
    stop = next(i for i, m in enumerate(messages) if m[1] == 0 and m[3] == 2)
    messages = [m for m in messages if m[0] <= messages[stop][0]]
    again = min((e["ts"], e["args"]["first_task"]) for e in events if e["name"] == "compute" and e["ts"] >= noticed)[1]
    columns = [130 + 170 * rank for rank in range(4)]
    parts, y = [], 40
    for rank, x in enumerate(columns):
        parts.append(text(x, 20, f"rank {rank}" + (", the root" if rank == 0 else ""), "", "middle"))
    y += 25
    parts += [text(8, y + 4, f"{died:.2f} s", "small"), text(columns[dead] + 8, y + 4, f"dies inside task {again}", "small mark")]
    death = y
    y += 34
    parts += [text(8, y + 4, f"{noticed / 1e6:.2f} s", "small"), text(columns[0] + 8, y + 4, "counts rank 2 as lost", "small mark")]
    shown = noticed
    for at, sender, receiver, size in messages:
        y += 32
        label = (TO_WORKER if sender == 0 else TO_ROOT)[size]
        x1, x2 = columns[sender], columns[receiver]
        tip = -7 if x2 > x1 else 7
        if at - shown > 1e3:
            parts.append(text(8, y + 4, f"{at / 1e6:.2f} s", "small"))
            shown = at
        parts += [line(x1, y, x2 + tip, y, "arrow"),
                  f'<path d="M{x2} {y} l{tip} -4 l0 8 z" class="head"/>',
                  text(min(x1, x2) + 12, y - 6, label, "small")]
    bottom = y + 25
    lives = [line(x, 28, x, death if rank == dead else bottom) for rank, x in enumerate(columns)]
    lives.append(line(columns[dead], death, columns[dead], bottom, "dead"))
    return picture("Messages after the death of a rank in a farm", 720, bottom + 10, lives + parts)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--simulate", default=str(ROOT / "build/release/bin/skel-simulate"), help="the program skel-simulate")
    options.add_argument("--check", action="store_true", help="only check that the house is up to date")
    given = options.parse_args()
    if given.check:
        if (IMAGES / "house.svg").read_text(encoding="utf-8") != house():
            sys.exit("docs/images/house.svg is out of date: run scripts/diagrams.py")
        return
    pictures = {"house": house(), "after-death": after_death(given.simulate)}
    pictures |= {f"schedule-{name}": timeline(given.simulate, name, 1.4) for name in SCHEDULES}
    for name, svg in pictures.items():
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
