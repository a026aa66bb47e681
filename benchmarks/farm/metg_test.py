#!/usr/bin/env python3
"""Tests metg.py and the logarithmic axis of line_plot.py; with --bin, also a small simulation and, where
skel-bench-farm is built, a few real tasks.

    benchmarks/farm/metg_test.py --bin build/release/bin
"""
import contextlib
import io
import math
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import bench  # noqa: E402
import line_plot  # noqa: E402
import metg  # noqa: E402

programs = bench.tested_programs()


class Metg(unittest.TestCase):
    def test_interpolates_in_the_logarithm(self):
        # 10 is the middle of 1 and 100, and 0.5 that of 0.2 and 0.8.
        self.assertAlmostEqual(metg.metg([(1, 0.2), (100, 0.8)]), 10)
        self.assertAlmostEqual(metg.metg([(1, 0.1), (10, 0.4), (100, 0.8)]), 10 * 10**0.25)

    def test_of_a_known_overhead(self):
        # With an overhead h per task, the efficiency is x / (x + h), and METG(50 %) is h.
        points = [(1.1**k, 1.1**k / (1.1**k + 7)) for k in range(60)]
        self.assertAlmostEqual(metg.metg(points), 7, delta=0.01)
        self.assertAlmostEqual(metg.metg(points, 0.9), 63, delta=0.5)

    def test_takes_the_last_crossing(self):
        self.assertGreater(metg.metg([(1, 0.6), (10, 0.4), (100, 0.9)]), 10)

    def test_outside_of_the_curve(self):
        self.assertIsNone(metg.metg([(1, 0.1), (10, 0.4)]))
        self.assertIsNone(metg.metg([]))
        self.assertEqual(metg.metg([(2, 0.5), (10, 0.9)]), 2)
        self.assertEqual(metg.shown_metg([(1, 0.1), (10, 0.4)]), "> 10 us")
        self.assertEqual(metg.shown_metg([(2, 0.6), (10, 0.9)]), "<= 2 us")
        self.assertEqual(metg.shown_metg([(1, 0.2), (100, 0.8)]), "10 us")

    def test_tasks(self):
        self.assertEqual(metg.tasks_per_processor(1000, 5000, 64), 64)
        self.assertEqual(metg.tasks_per_processor(0.5, 5000, 64), 10000)
        self.assertEqual(metg.exact(0.05, 501.0), 25 / 501)

    def test_refuses_lengths(self):
        self.assertIn("expected a number above 0, found 0", bench.refusal(metg.arguments, ["--lengths", "0"]))

    def test_refuses_ranks(self):
        self.assertIn("expected 1 to 1024, found 5000", bench.refusal(metg.arguments, ["--ranks", "16", "5000"]))

    def test_says_that_nothing_is_short_enough(self):
        with self.assertRaises(SystemExit) as ended:
            metg.measure_simulated(metg.arguments(["--ranks", "1024", "--lengths", "0.01"]))
        self.assertIn("--most-tasks", str(ended.exception))


class LinePlot(unittest.TestCase):
    def test_ticks_are_powers_of_ten(self):
        self.assertEqual(line_plot.log_ticks(0.05, 1000), [0.1, 1, 10, 100, 1000])
        self.assertEqual(line_plot.log_ticks(1, 10), [1, 2, 5, 10])

    def test_decades_have_equal_widths(self):
        picture = line_plot.plot("t", "x", "y", {"a": ("red", [(1, 0), (10, 1), (100, 2)])}, log_x=True)
        xml.fromstring(picture)
        x = [float(v) for v in re.findall(r'<circle cx="([0-9.]+)"', picture)]
        self.assertEqual(len(x), 3)
        self.assertAlmostEqual(x[1] - x[0], x[2] - x[1], delta=0.11)
        self.assertGreaterEqual(x[0], 52)

    def test_linear_axis_stays(self):
        picture = line_plot.plot("t", "x", "y", {"a": ("red", [(1, 0), (10, 1), (100, 2)])})
        x = [float(v) for v in re.findall(r'<circle cx="([0-9.]+)"', picture)]
        self.assertAlmostEqual((x[2] - x[1]) / (x[1] - x[0]), 10, delta=0.1)

    def test_no_diagonal_on_a_logarithmic_axis(self):
        with self.assertRaises(ValueError):
            line_plot.plot("t", "x", "y", {"a": ("red", [(1, 1)])}, diagonal=True, log_x=True)


class Programs(unittest.TestCase):
    def run_script(self, part, *options):
        """Returns the cells of each row of the table, and the picture."""
        if programs is None:
            self.skipTest("needs --bin")
        command = ["metg.py", "--bin", str(programs), "--parts", part, *options, "--out"]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()), \
                contextlib.redirect_stdout(io.StringIO()) as table, mock.patch("sys.argv", [*command, folder]):
            metg.main()
            picture = xml.parse(pathlib.Path(folder) / f"metg-{part}.svg").getroot()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.getvalue().splitlines() if "|" in line]
        return {row[0]: row[1:] for row in rows}, picture

    def test_simulated(self):
        rows, picture = self.run_script("simulated", "--ranks", "4", "--lengths", "1", "4", "16", "64",
                                        "--task-overhead", "4000", "--message-overhead", "100")
        self.assertEqual(len(picture.findall("{*}circle")), 4)
        # Four microseconds per task dominate: the efficiency of a task of 4 us is just below one half.
        self.assertLess(float(rows["4 us"][0]), 0.5)
        self.assertGreater(float(rows["4 us"][0]), 0.4)
        self.assertTrue(math.isclose(float(rows["METG(50 %)"][0].split()[0]), 4.2, rel_tol=0.1), rows)

    def test_real(self):
        if programs is None or not (programs / "skel-bench-farm").exists():
            self.skipTest("skel-bench-farm is not built")
        rows, picture = self.run_script("real", "--lengths", "1", "500", "--rounds", "1", "--repetitions", "1")
        self.assertEqual(len(picture.findall("{*}circle")), 6)
        for length in ("1 us", "500 us"):
            self.assertEqual(len(rows[length]), 3)
            for cell in rows[length]:
                self.assertGreater(float(cell.split()[0]), 0)
                self.assertLess(float(cell.split()[0]), 1.2)


if __name__ == "__main__":
    unittest.main()
