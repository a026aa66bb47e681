"""Tests skel-view on reports and traces of simulated runs, and on hostile files."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

VIEW, SIMULATE, MODEL = sys.argv[1:4]
HEAD = ("schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,seconds,busy_seconds,idle_seconds,"
        "communication_seconds,messages,bytes,problem\n")
VOID = {"meta", "br", "link"}


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order; collects the text and the cells of tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.text, self.tags = [], [], "", set()
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    def cell(self, head):
        return next(row[1] for row in self.rows if row[0] == head)


def pixels(png):
    """The grey values of an 8-bit PNG without interlacing, by its filters."""
    at, data, header = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    width, height, _, colour = header
    depth = {0: 1, 2: 3, 6: 4}[colour]
    raw, above, rows = zlib.decompress(data), bytearray(width * depth), []
    for y in range(height):
        line = bytearray(raw[y * (width * depth + 1) + 1:(y + 1) * (width * depth + 1)])
        kind = raw[y * (width * depth + 1)]
        for x, _ in enumerate(line):
            left, up = line[x - depth] if x >= depth else 0, above[x]
            corner = above[x - depth] if x >= depth else 0
            p = left + up - corner
            nearest = min((left, up, corner), key=lambda v: abs(p - v))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
        rows.append(line)
        above = line
    return [row[x] for row in rows for x in range(0, width * depth, depth)]


class View(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def simulate(self, name, ranks, tasks, *more):
        report, trace = self.folder / f"{name}.json", self.folder / f"{name}-trace.json"
        subprocess.run([SIMULATE, "--platform", f"uneven:ranks={ranks},seed=1", "--tasks", str(tasks), "--costs",
                        "exponential:100ms", "--report", report, "--trace", trace, "--quiet", *more], check=True)
        return report, trace

    def view(self, *files, fails=None):
        page = self.folder / "page.html"
        path = {"PATH": f"{pathlib.Path(MODEL).parent}:{os.environ['PATH']}"}
        done = subprocess.run([VIEW, *files, "-o", page], capture_output=True, text=True, check=False, env={**os.environ, **path})
        if fails is not None:
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(fails, done.stderr)
            self.assertFalse(page.exists())
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertNotRegex(text, r'(src|href)="?(https?:)?//')  # self-contained
        for svg in re.findall(r"<svg.*?</svg>", text, re.S):
            xml.etree.ElementTree.fromstring(svg)
        return Page(text), text

    def test_one_run(self):
        report, trace = self.simulate("one", 4, 40)
        page, text = self.view(report, trace)
        r = json.loads(report.read_text())
        self.assertEqual(page.cell("schedule"), "auto")
        self.assertEqual(page.cell("tasks"), "40")
        self.assertAlmostEqual(float(page.cell("seconds")), r["seconds"], delta=1e-3)
        self.assertEqual(text.count("<svg"), 3)
        for row in r["per_rank"]:
            self.assertIn(f"rank {row['rank']} on {row['host']}, thread 0", page.text)
        # The slowest task, from the trace itself.
        spans = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("name") == "compute"]
        slowest = max(spans, key=lambda e: e["dur"] / e["args"]["tasks"])
        rows = page.rows[page.rows.index(["task", "seconds each", "rank", "thread", "begins at"]) + 1:]
        self.assertEqual(rows[0][0].split()[0], str(slowest["args"]["first_task"]))
        self.assertAlmostEqual(float(rows[0][1]), slowest["dur"] / 1e6 / slowest["args"]["tasks"], delta=1e-3)
        self.assertEqual(rows[0][2], str(slowest["pid"]))

    def test_the_order_of_files_does_not_matter(self):
        report, trace = self.simulate("one", 3, 10)
        self.assertEqual(self.view(report, trace)[1], self.view(trace, report)[1])

    def test_several_runs(self):
        reports = [self.simulate(f"r{n}", n, 100)[0] for n in (8, 2, 4)]
        page, text = self.view(*reports)
        seconds = {n: json.loads((self.folder / f"r{n}.json").read_text())["seconds"] for n in (2, 4, 8)}
        rows = [row for row in page.rows if row[0].endswith(" ranks")]
        self.assertEqual([row[0] for row in rows], ["auto, 2 ranks", "auto, 4 ranks", "auto, 8 ranks"])
        for row, n in zip(rows, (2, 4, 8)):
            self.assertAlmostEqual(float(row[2]), seconds[n] / min(seconds.values()), delta=0.01 * float(row[2]))
        for word in ("Speed-up", "Efficiency"):
            self.assertIn(word, page.text)
        self.assertEqual(text.count("<svg"), 3 + 3)

    def test_a_loss_and_left_out_tasks_are_shown(self):
        report, trace = self.simulate("loss", 4, 40, "--fail", "2@0.05")
        page, _ = self.view(report, trace)
        self.assertIn("rank 2 lost", page.text)
        self.assertNotIn("steal", page.text)
        r = json.loads(report.read_text())
        self.assertEqual(r["lost_ranks"], [2])
        r["failed_tasks"] = [{"task": 7, "rank": 1, "times": 3, "text": "bad <b>input</b> & more"}]
        r["attempt"] = 2
        r["losses"] = [{"rank": 0, "attempt": 1, "was_root": True, "noticed": "ended"},
                       {"rank": 3, "attempt": 2, "noticed": "silence"}]
        report.write_text(json.dumps(r))
        page, _ = self.view(report)
        self.assertEqual(page.cell("lost ranks"), "2")
        self.assertEqual(page.cell("attempt"), "2")
        self.assertEqual(page.cell("losses of the job"), "rank 0 (root, ended), rank 3 (silence)")
        self.assertIn(["7", "1", "3", "bad <b>input</b> & more"], page.rows)

    def test_steals_are_shown(self):
        report, trace = self.simulate("steal", 3, 60, "--skeleton", "ring_steal")
        steals = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("name") == "steal"]
        self.assertGreater(len(steals), 0)
        page, text = self.view(report, trace)
        self.assertIn("steal", page.text)
        self.assertNotIn("lost", page.text.split("Timeline")[1])
        self.assertGreaterEqual(text.count("<use "), len(steals))  # a mark each, and those of axes

    def test_many_ranks(self):
        report, trace = self.simulate("many", 300, 6000)
        page, text = self.view(report, trace)
        self.assertEqual(page.cell("ranks"), "300, 1 thread each")
        # 601 rows: those of every fifth rank are named, once in the timeline.
        self.assertEqual([int(rank) for rank in re.findall(r">rank (\d+) on node-\d+<", text)], list(range(0, 300, 5)))
        self.assertIn("image", page.tags)  # a picture of that many spans consists of points
        self.assertLess(len(text), 3_000_000)

    def test_work_over_time(self):
        report = self.simulate("two", 2, 2)[0]
        trace = self.folder / "trace.json"
        # Both ranks compute for 1 s. For another second, rank 0 computes in every other millisecond only.
        spans = [(0, 0, 1), (1, 0, 2)] + [(0, 1 + i / 500, 0.001) for i in range(500)]
        trace.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "name": "compute", "pid": rank, "tid": 0, "ts": 1e6 * begin, "dur": 1e6 * seconds,
             "args": {"first_task": 0, "tasks": 1}} for rank, begin, seconds in spans]}))
        svg = self.view(report, trace)[1].split("<h2>Work over time</h2>")[1].split("</svg>")[0]
        lines = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: #0072b2', svg, re.I)
        points = [tuple(map(float, point)) for point in re.findall(r"[ML] (\S+) (\S+)", lines[0])]
        (left, zero), (_, two) = points[:2]
        right = points[-1][0]
        for second, expected in ((0.5, 2), (1.1, 1.5), (1.5, 1.5), (1.95, 1.5)):
            y = [y for x, y in points if x <= left + second / 2 * (right - left)][-1]
            self.assertAlmostEqual(2 * (zero - y) / (zero - two), expected, delta=0.2)

    def samples(self, seconds, problem="size=3"):
        """Samples of 1000 tasks, and of other phases, which are no runs."""
        file = self.folder / "samples.csv"
        file.write_text(HEAD + "".join(f"2,skel-x,farm,auto,streamed,{p},1,run,,1000,{s},{p * s},0,0,0,0,{problem}\n"
                                       f"2,skel-x,farm,auto,streamed,{p},1,divide,0,,{s / 2},,,,,,M=9\n"
                                       for p, s in seconds.items()))
        return file

    def test_samples(self):
        page, text = self.view(self.samples({4: 30, 1: 100, 2: 60}))
        self.assertEqual(text.count("<svg"), 2)
        for word in ("Speed-up", "Efficiency", "skel-x, auto, 1000 tasks, size=3"):
            self.assertIn(word, page.text)
        self.assertEqual([row[3:6] for row in page.rows[1:]], [[str(p), "1000", str(s)] for p, s in ((4, 30), (1, 100), (2, 60))])

    def test_long_names_are_not_cut(self):
        problem = "scene=storm;width=512;height=512;samples=16;view=balanced;unit=rows"
        _, text = self.view(self.samples({1: 100, 2: 60}, problem))
        self.assertIn(f"{problem}</text>", text)

    def test_text_is_no_formula_and_may_begin_with_a_mark(self):
        file = self.samples({1: 100, 2: 60}, "scene=$x^{_$")
        file.write_text("\ufeff" + file.read_text())
        _, text = self.view(file)
        self.assertIn("scene=$x^{_$</text>", text)

    def test_a_full_disk(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([VIEW, self.samples({1: 100, 2: 60}), "-o", self.folder / "page.html"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "skel-view: standard output cannot be written: No space left on device\n"))

    def test_samples_and_a_model(self):
        seconds = {1: 98, 2: 52, 4: 27.5, 8: 13}
        file, model = self.samples(seconds), self.folder / "model.json"
        subprocess.run([MODEL, "fit", file, "-o", model, "--only", "phase=run", "--basis", "tasks/P", "--no-kriging"], check=True,
                       stdout=subprocess.DEVNULL)
        page, text = self.view(model, file)
        self.assertEqual(text.count("<svg"), 3 + 2)
        slope = next(t["coefficients"][0] for t in json.loads(model.read_text())["skeletons"][0]["terms"]
                     if t["quantity"] == "seconds")
        rows = page.rows[page.rows.index(["runs", "measured, s", "predicted, s", "difference"]) + 1:][:4]
        for (p, measured), row in zip(seconds.items(), rows, strict=True):
            predicted = slope * 1000 / p
            self.assertAlmostEqual(float(row[1]), measured, delta=0.01 * measured)
            self.assertAlmostEqual(float(row[2]), predicted, delta=0.01 * predicted)
            self.assertAlmostEqual(float(row[3].removesuffix(" %")), 100 * (predicted / measured - 1), delta=0.1)
        (self.folder / "page.html").unlink()
        self.view(model, fails="expected either reports and traces, or samples")
        self.view(file, model, model, fails="a second model")
        self.view(file, self.simulate("one", 2, 4)[0], fails="expected either reports")
        file.write_text(HEAD + "2,p,farm,auto,streamed,two,1,run,,1,1,1,0,0,0,0,\n")
        self.view(file, fails="samples.csv: a sample without ranks or seconds")
        file.write_text(HEAD + "2,p,farm,auto,streamed,0,1,run,,1,1,1,0,0,0,0,\n")
        self.view(file, fails="samples.csv: a sample without ranks or seconds")
        file.write_text(HEAD + '2,p,"farm ""of ""x,1,run,\n' + 200000 * "a")  # csv has a limit
        self.view(file, fails="samples.csv: no samples: field larger than")
        file.write_text(HEAD + "2,p,bsp,,,2,1,run,,1,1,1,0,0,0,0,\n")
        self.view(file, model, fails="the samples contain no whole run")

    def test_no_tasks(self):
        report, trace = self.simulate("none", 2, 4)
        report.write_text(json.dumps({**json.loads(report.read_text()), "tasks": 0, "seconds": 0, "per_rank": []}))
        trace.write_text('{"traceEvents": []}')
        page, _ = self.view(report, trace)
        self.assertEqual(page.cell("tasks"), "0")
        self.view(report, report)  # no division by zero

    def test_wrong_options(self):
        self.view(fails="arguments are required: FILE.json; --help-all lists the options")
        self.view("a.json", "--colour", fails="unrecognized arguments: --colour; --help")
        self.view("a.json", "--ouptut=b", fails="--ouptut=b; did you mean --output? --help-all lists the options")

    def test_hostile_files(self):
        good = json.loads(self.simulate("good", 2, 4)[0].read_text())
        bad = self.folder / "bad.json"
        self.view(self.folder / "missing.json", fails="missing.json: No such file")
        self.view(self.folder, fails="Is a directory")
        for text, words in (("", "no JSON"), ("{", "no JSON"), ("[" * 100000, "no JSON"), ("3", "no report, trace"), ("{}", "no report, trace"),
                            ('{"schema": 2}', "schema 2"), ('{"schema": 1}', "seconds is no number"),
                            ('{"traceEvents": 3}', "no list"), ('{"traceEvents": [3]}', "no object"),
                            ('{"traceEvents": []}', "no report"),
                            ('{"traceEvents": [{"ph": "X", "ts": "a"}]}', "no number")):
            bad.write_text(text)
            self.view(bad, fails=words)
        for key, value in (("seconds", "1"), ("seconds", float("nan")), ("ranks", None), ("per_rank", 3), ("per_rank", [3]),
                           ("per_rank", [{"rank": 0, "busy_seconds": []}])):
            bad.write_text(json.dumps({**good, key: value}))
            self.view(bad, fails="bad.json")
        bad.write_bytes(b"\xff\xfe{}")
        self.view(bad, fails="no JSON")
        # Any other value may have any type; and text is never markup.
        for value in (None, [], {}, "<script>x</script>", -1, 1e300, True):
            others = ("program", "schedule", "tasks", "busy_share", "messages", "threads_per_rank", "tasks_handed_out_again",
                      "efficiency", "platform", "failed_tasks", "lost_ranks")
            bad.write_text(json.dumps({**good, **{key: value for key in others}}))
            page, _ = self.view(bad)
            self.assertNotIn("script", page.tags)

    def test_in_a_browser(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("chromium not found")
        runs = [self.simulate(f"r{n}", n, 40) for n in (2, 4)]
        # Widths, and the least share of inked pixels: without the pictures it is half of that or less.
        for files, shares in ((runs[1], {1200: 0.05, 400: 0.15}), ([report for report, _ in runs], {1200: 0.03}),
                              ([self.samples({1: 100, 2: 60, 4: 30})], {400: 0.03})):
            self.view(*files)
            for width, least in shares.items():
                png = self.folder / f"{width}.png"
                done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                                       f"--window-size={width},1200", f"--screenshot={png}", f"file://{self.folder / 'page.html'}"],
                                      check=True, timeout=60, capture_output=True, text=True)
                self.assertNotIn("CONSOLE", done.stderr)
                values = pixels(png.read_bytes())
                self.assertGreater(sum(v != values[0] for v in values) / len(values), least)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
