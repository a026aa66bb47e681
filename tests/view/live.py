"""Tests the page of a run while it lasts: --live-report and --watch of programs, skel-view --follow."""
import http.server
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

VIEW, RAYTRACE, *MPIEXEC = sys.argv[1:]
PATIENCE = 60


def until(found, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited in vain for {what}")


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as answer:
        return answer.read().decode()


def share_of(text):
    found = re.search(r'<progress max="1" value="([\d.]+)"', text)
    return float(found[1]) if found else None


def listens(url):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", int(url.rsplit(":", 1)[1].rstrip("/")))) == 0


def children(pid):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"\nPPid:\t{pid}\n" in (folder / "status").read_text():
                found += [int(folder.name), *children(folder.name)]
        except OSError:
            pass  # it has ended
    return found


class Live(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report, self.err = self.folder / "live.json", self.folder / "err"

    def start(self, *command, **environment):
        with self.err.open("w") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                       env={**os.environ, **environment})

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        return process

    def url(self):
        return until(lambda: re.search(r"http://127\.0\.0\.1:\d+/", self.err.read_text()), "the address")[0]

    def raytrace(self, *options, size="1400x1400"):
        return self.start(*MPIEXEC, RAYTRACE, "--scene", "balls:4", "--size", size, "--accelerator", "slabs", "--quiet",
                          "-o", self.folder / "x.ppm", *options)

    def write(self, seconds, **progress):
        new = self.folder / "new"
        new.write_text(json.dumps({"schema": 1, "program": "skel-x", "ranks": 4, "seconds": seconds,
                                   "per_rank": [] if progress else [{"rank": 0, "busy_seconds": seconds}],
                                   **({"progress": progress} if progress else {"tasks": 80})}))
        new.rename(self.report)

    def test_a_report_is_followed_to_its_end(self):
        viewer = self.start(VIEW, "--follow", self.report)
        url = self.url()
        self.assertIn("live.json is not yet written", get(url))
        self.write(2.0, label="a <b>", done=10, total=80, unit="rows", failed=0, lost_ranks=0)
        text = get(url)
        self.assertEqual(share_of(text), 0.125)
        for words in ("a &lt;b&gt;", "10 of 80", ", in 0:14", "Running."):
            self.assertIn(words, text)
        self.assertNotIn("lost ranks", text)
        self.write(4.0, label="a", done=40, total=80, unit="rows", failed=3, lost_ranks=1)
        text = get(url)
        self.assertEqual(share_of(text), 0.5)
        for words in ("1 of 4", "failed rows", "Rows over time", "<polyline points=\"500.0,122.5 1000.0,10.0\"", ">40</text>",
                      ">0:04 after the start<"):
            self.assertIn(words, text)
        os.utime(self.report, (time.time() - 60,) * 2)
        self.assertIn("Last written 1:00 ago", get(url))
        self.write(0.5, label="b", done=7)  # the next call of the program, of unknown length
        text = get(url)
        self.assertIsNone(share_of(text))
        self.assertNotIn("<polyline", text)
        self.report.write_text("{")  # is not taken
        self.assertEqual(get(url), text)
        self.write(9.0)
        text = get(url)
        self.assertNotIn("Running", text)
        self.assertRegex(text, "tasks</th><td>80<")
        for path, headers in (("x", {}), ("", {"Host": "example.org"})):
            with self.assertRaises(urllib.error.HTTPError):
                get(url + path, **headers)
        viewer.send_signal(signal.SIGINT)
        self.assertEqual(viewer.wait(PATIENCE), 0)
        self.assertEqual(self.err.read_text().count("\n"), 1, self.err.read_text())

    def test_the_whole_report_needs_no_matplotlib(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError")
        self.start(VIEW, "--follow", self.report, PYTHONPATH=str(self.folder))
        self.write(9.0)
        text = get(self.url())
        self.assertRegex(text, "tasks</th><td>80<")
        self.assertIn("needs matplotlib", text)

    def test_a_run_is_watched_to_its_end(self):
        run = self.raytrace("--watch", "0", "--live-report", self.report)
        url = self.url()
        first = until(lambda: share_of(get(url)), "progress")
        self.assertLess(first, 1)
        self.assertGreater(until(lambda: (share_of(get(url)) or 0) > first and share_of(get(url)), "more progress"), first)
        self.assertIn("estimated end", get(url))
        self.assertIn("progress", json.loads(self.report.read_text()))
        viewer = next(pid for pid in children(run.pid) if b"--follow" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
        root = int(re.search(r"PPid:\t(\d+)", pathlib.Path(f"/proc/{viewer}/status").read_text())[1])
        held, roots = ({os.readlink(f) for f in pathlib.Path(f"/proc/{pid}/fd").iterdir()} for pid in (viewer, root))
        self.assertLessEqual(len(held & roots), 2)  # standard error, and /dev/null or the pipe to it
        last = ""
        while True:  # as a browser does
            try:
                last = get(url)
            except OSError:
                break
            time.sleep(0.2)
        self.assertEqual(run.wait(PATIENCE), 0)
        self.assertRegex(last, "(?s)Time of each rank.*<svg")
        self.assertFalse(pathlib.Path(f"/proc/{viewer}").exists())
        report = json.loads(self.report.read_text())
        self.assertNotIn("progress", report)
        self.assertEqual(report["tasks"], 1400)

    def test_the_viewer_ends_with_a_root_that_is_killed(self):
        run = self.raytrace("--watch", "0", size="4000x4000")
        url = self.url()
        for pid in children(run.pid):
            if pathlib.Path(f"/proc/{pid}/exe").resolve() == pathlib.Path(RAYTRACE).resolve():
                os.kill(pid, signal.SIGKILL)
        until(lambda: not listens(url), "the end of the viewer")

    def test_a_port_in_use_does_not_end_the_run(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            self.assertEqual(self.raytrace("--watch", port, size="64x64").wait(PATIENCE), 0)
        self.assertIn(f"skel-view: port {port} of 127.0.0.1: Address already in use; no page is served\n", self.err.read_text())
        self.assertTrue((self.folder / "x.ppm").exists())

    def test_a_browser_shows_what_has_changed(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("chromium not found")
        loader = importlib.machinery.SourceFileLoader("view", VIEW)
        view = importlib.util.module_from_spec(importlib.util.spec_from_loader("view", loader))
        loader.exec_module(view)
        answers = [0]

        def browse(url):
            return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3500",
                                   "--enable-logging=stderr", "--dump-dom", url],
                                  check=True, timeout=PATIENCE, capture_output=True, text=True)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                answers[0] += self.path == "/"
                now = view.running({"ranks": 2, "seconds": 1.0, "progress": {"done": 10 * answers[0], "total": 1000}}, [], 0)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(view.document(f"page {answers[0]}", now, view.REFRESH).encode())

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            done = browse(f"http://127.0.0.1:{server.server_address[1]}/")
            server.shutdown()
        self.assertGreaterEqual(answers[0], 3)
        shown = share_of(done.stdout)
        self.assertGreaterEqual(shown, 0.03)
        self.assertIn(f"<h1>page {shown * 100:.0f}</h1>", done.stdout)
        self.start(VIEW, "--follow", self.report)
        self.write(2.0, done=10, total=80)
        done = browse(self.url())
        self.assertEqual(share_of(done.stdout), 0.125)
        self.assertNotIn("CONSOLE", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
