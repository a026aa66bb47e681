#!/usr/bin/env python3
"""Tests choice.py and laws.py; with --bin, also three small problems and two laws.

    benchmarks/model/choice_test.py --bin build/release/bin
"""
import contextlib
import io
import pathlib
import random
import statistics
import sys
import unittest
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import bench  # noqa: E402
import choice  # noqa: E402
import laws  # noqa: E402

programs = bench.tested_programs()


def candidate(name, chosen, low, high, true):
    return {"name": name, "ranks": 4, "chosen": chosen, "low": low, "high": high, "true": true}


class Judgement(unittest.TestCase):
    def test_regret_and_coverage(self):
        found = choice.judge([candidate("a", True, 1.0, 1.15, [1.1, 1.1, 1.2, 1.0]),
                              candidate("b", False, 0.9, 1.1, [1.0, 1.0, 1.0, 1.0]),
                              candidate("c", False, 2.0, 3.0, [0.5, 4.0])])  # left early
        self.assertFalse(found["right"])
        self.assertEqual(found["best"], "b, 4")
        self.assertAlmostEqual(found["regret"], 0.1)
        self.assertEqual(found["inside"], [True, True, False, True])
        self.assertEqual(sum(found["inside_all"]), 7)
        self.assertEqual(len(found["inside_all"]), 10)

    def test_right(self):
        found = choice.judge([candidate("a", True, 0, 1, [1.0]), candidate("b", False, 0, 1, [1.5])])
        self.assertTrue(found["right"])
        self.assertEqual(found["regret"], 0)

    def test_quantile(self):
        self.assertAlmostEqual(bench.quantile([3, 1, 2], 0.5), 2)
        self.assertAlmostEqual(bench.quantile(range(101), 0.95), 95)


class Draws(unittest.TestCase):
    def test_costs_have_mean_one(self):
        rng = random.Random(1)
        for name in choice.COSTS:
            draw, _ = choice.costs_of(rng, name)
            self.assertAlmostEqual(statistics.fmean(draw(rng) for _ in range(100_000)), 1, delta=0.03, msg=name)

    def test_problems_repeat(self):
        for seed in range(20):
            kind = "graph" if seed > 16 else None
            one, two = choice.Problem(seed, 256, kind), choice.Problem(seed, 256, kind)
            self.assertEqual((one.platform, one.tasks, one.costs, one.ranks), (two.platform, two.tasks, two.costs, two.ranks))
            self.assertGreaterEqual(one.ranks[0], 1)
            self.assertEqual(sum(h.get("count", 1) for h in one.platform["hosts"]), one.ranks[-1])

    def test_refuses_few_ranks(self):
        self.assertIn("expected at least 4, found 3", bench.refusal(choice.arguments, ["--most-ranks", "3"]))


class ExtraP(unittest.TestCase):
    def test_least_squares(self):
        found = laws.least_squares([[1, x, x * x] for x in range(1, 6)], [3 + 2 * x + 5 * x * x for x in range(1, 6)])
        for value, expected in zip(found, (3, 2, 5)):
            self.assertAlmostEqual(value, expected)
        self.assertIsNone(laws.least_squares([[1, 2], [2, 4], [3, 6]], [1, 2, 3]))

    def test_searches(self):
        one = [((n,), 2 + 3e-6 * n**1.5) for n in laws.SIZES]
        two = [((n,), 3e-6 * n + 1e-9 * n * n) for n in laws.SIZES]
        product = [((n, m), 1 + 1e-9 * n * m) for n, m in laws.PLANE]
        self.assertAlmostEqual(laws.one_term(one)(1e6), 2 + 3e-6 * 1e9, places=3)
        self.assertAlmostEqual(laws.two_terms(two)(1e6), 3 + 1e3, places=3)
        self.assertAlmostEqual(laws.one_term(product)(1e5, 1e5), 11, places=3)


class Programs(unittest.TestCase):
    def test_laws(self):
        if programs is None:
            self.skipTest("needs --bin")
        with contextlib.redirect_stdout(io.StringIO()) as table, self.assertRaises(SystemExit) as end:
            laws.main(["--bin", str(programs), "--group", "smallest, exact", "--check"])
        self.assertEqual(end.exception.code, 0, table.getvalue())
        self.assertIn("| smallest, exact | 2 | 2 |", table.getvalue())

    def test_quick(self):
        if programs is None:
            self.skipTest("needs --bin")
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as table, \
                mock.patch("sys.argv", ["choice.py", "--bin", str(programs), "--quick"]):
            choice.main()
        row = next(line for line in table.getvalue().splitlines() if line.startswith("| all |"))
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        self.assertEqual(cells[1], "3")
        self.assertIn("| seed | problem | chosen | best | regret |", table.getvalue())
        # Far from the targets, so that three problems pass: a choice at random loses more.
        self.assertLess(float(cells[4].rstrip("%")), 20)
        self.assertGreater(float(cells[8].rstrip("%")), 60)


if __name__ == "__main__":
    unittest.main()
