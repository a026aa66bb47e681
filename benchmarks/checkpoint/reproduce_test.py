#!/usr/bin/env python3
"""Tests the modules of reproduce.py; with --bin, also runs on three hosts in network namespaces, where these are permitted.

    benchmarks/checkpoint/reproduce_test.py --bin build/release/bin
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import bench  # noqa: E402
import jobs  # noqa: E402
import network  # noqa: E402
import reproduce  # noqa: E402
import tables  # noqa: E402

programs = bench.tested_programs()


def result(seconds, saved=0, sent=None, blocked=0.0, digest="a"):
    costs = {"checkpoint": {"saved": saved, "blocked_seconds": blocked,
                            **{f"{part}_seconds": 3.6 for part in jobs.PARTS}}} if saved else {}
    return {"seconds": seconds, "order": 1653, "state_bytes": 65_577_816, "stored_bytes": 90_000_000 if saved else 0, "begun": saved, "sent_bytes": sent,
            "result_xxh3": digest, **costs}


class Sizes(unittest.TestCase):
    def test_state_has_the_papers_bytes(self):
        for paper, megabytes in zip(tables.PAPER_SIZES, (65.6, 262.4, 1049.8)):
            self.assertAlmostEqual(tables.megabytes(tables.size_for(paper)), megabytes, delta=0.15)

    def test_says_what_it_takes(self):
        self.assertEqual(tables.sizes_line([1350]), "state: 1653 x 1653, 65.6 MB (the paper's 1350 x 1350, 65.6 MB)")
        self.assertIn("3307 x 3307, 262.5 MB", reproduce.arguments(["--paper"]).sizes_line)

    def test_options(self):
        self.assertEqual(reproduce.arguments([]).every, [0.5] * 3)
        quick = reproduce.arguments(["--network"])
        self.assertEqual((quick.network, quick.ranks, quick.sizes, quick.every), (["100mbit", "1gbit"], 9, [1653], [10]))
        paper = reproduce.arguments(["--network", "1gbit", "--paper"])
        self.assertEqual((paper.network, paper.sizes, paper.every), (["1gbit"], [1653, 3307, 6614], [60] * 3))
        self.assertIn("--every: expected 1 or 3 numbers, found 2", bench.refusal(reproduce.arguments, ["--paper", "--every", "1", "2"]))


class Rows(unittest.TestCase):
    def test_row(self):
        plain = [result(100, sent=1_000_000_000), result(102, sent=1_000_000_000)]
        row = jobs.row_of("IDA (8,2)", "ida:8,2", [result(107, 2, 1_160_000_000, 0.107)], plain, 9)
        self.assertAlmostEqual(row["normalised"], 107 / 101)
        self.assertAlmostEqual(row["local_megabytes"], 8)
        self.assertAlmostEqual(row["seconds_per_checkpoint"], 3)
        self.assertAlmostEqual(row["sent_megabytes"], 80)
        self.assertAlmostEqual(row["blocked_percent"], 0.1)
        self.assertAlmostEqual(row["sync"], 0.2)
        self.assertEqual(tables.cells(row)[:9], ["IDA (8,2)", "107.00", "1.059", "2", "8.0", "90.0", "80.0", "0.10 %", "3.00"])

    def test_rows_without_checkpoints_and_counters(self):
        row = jobs.row_of("no storage", "none", [result(100)], [result(100)], 9)
        self.assertEqual(tables.cells(row)[4:9], ["–", "0.0", "–", "0.00 %", "–"])
        self.assertEqual(len(tables.cells(row)), len(tables.HEADINGS))

    def test_products_must_be_equal(self):
        place, options = types.SimpleNamespace(ranks=9), types.SimpleNamespace(repetitions=1)
        wrong = {"parity:9": "b"}
        with mock.patch.object(jobs, "run", lambda _o, _p, _s, code, *_: result(10, code != "none", digest=wrong.get(code, "a"))):
            with self.assertRaises(jobs.Failed):
                jobs.table(options, place, 1653, 1, 3)
            wrong.clear()
            rows, plain, rounds = jobs.table(options, place, 1653, 1, 3)
        self.assertEqual([row["storage"] for row in rows], [name for name, _ in jobs.SCENARIOS])
        self.assertEqual((plain, rounds), ([10, 10], 1))

    def test_runs_last(self):
        with mock.patch.object(jobs, "run", lambda *given: {"seconds": 0.5 + 2 * given[-1]}):
            self.assertEqual(jobs.lasting(None, None, 1, "none", None, 1)[0], 1)
            rounds, last = jobs.lasting(None, None, 1, "none", None, 100)
            self.assertIn(rounds, range(50, 60))
            self.assertEqual(last["seconds"], 0.5 + 2 * rounds)

    def test_bytes_of_the_newest_committed_generation(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(jobs.found_in([folder]), (0, 0))
            for name, size in (("results.1.0-of-1.000.shard", 7), ("rank.2.0-of-2.000.shard", 1),
                               ("rank.12.0-of-2.001.shard", 10), ("rank.12.1-of-2.000.shard", 100),
                               ("manifest.12.2-of-2.000.shard", 1000), ("rank.13.0-of-2.000.shard", 10000),
                               ("results.14.0-of-1.000.shard", 7), ("manifest.14.1-of-1.000.shard", 1000)):
                (pathlib.Path(folder) / name).write_bytes(bytes(size))
            self.assertEqual(jobs.found_in([folder]), (110, 12))

    def test_stores(self):
        place = jobs.Hosts(3, network.Network(4, "1gbit", "/f"))
        self.assertEqual(place.command("ida:2,2")[1], "ranks:/f/disk")
        self.assertEqual(place.command("central")[1], "rank:3:/f/disk")
        self.assertEqual(place.command("replicate:2")[1], "rank:0:/f/disk,rank:1:/f/disk,rank:2:/f/disk")


class Verdicts(unittest.TestCase):
    def row(self, cost, checkpoints=4):
        return {"state_megabytes": 65.6, "storage": "parity", "seconds_per_checkpoint": cost, "checkpoints": checkpoints}

    def test_overhead(self):
        line, good = tables.overhead_verdict(self.row(1.2), [100, 100.4], 60)
        self.assertTrue(good)
        self.assertIn("overhead 2.00 % (runs differ by 0.17 %) ok (target < 3 %)", line)
        self.assertIn("MISSED", tables.overhead_verdict(self.row(3), [100, 100.4], 60)[0])
        line, good = tables.overhead_verdict(self.row(1.2), [100, 104], 60)
        self.assertFalse(good)
        self.assertIn("NOT DECIDED", line)
        self.assertIn("not measured MISSED", tables.overhead_verdict(self.row(None, 0), [1], 60)[0])

    def test_claim_takes_the_worst_strategy(self):
        rows = [self.row(0), self.row(1.0), self.row(3.0) | {"storage": "central"}, self.row(None, 0)]
        self.assertIn("refuted: state 65.6 MB, central, a checkpoint every 60 s: overhead 5.00 %", tables.claim(rows, [100, 100], 60))
        self.assertIn("confirmed: state 65.6 MB, central", tables.claim(rows, [100, 100], 600))
        self.assertIn("not decided", tables.claim(rows, [100, 110], 60))

    def test_blocked(self):
        self.assertTrue(tables.blocked_verdict(result(100, 9, blocked=0.49))[1])
        self.assertFalse(tables.blocked_verdict(result(100, 9, blocked=0.51))[1])
        self.assertFalse(tables.blocked_verdict(result(1) | {"checkpoint": {"saved": 0, "blocked_seconds": 0}})[1])


# Prints why there is no network, or what was measured on two hosts that compute and one that stores.
ON_NETWORK = """
import json, os, pathlib, sys, tempfile, types
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
import jobs, network
try:
    network.enter()
    with tempfile.TemporaryDirectory() as folder, network.Network(3, "100mbit", folder) as net:
        found = {"speed": net.megabits_per_second(3), "idle": net.sent()}
        if sys.argv[2] != "-":
            options, place = types.SimpleNamespace(bin=pathlib.Path(sys.argv[2])), jobs.Hosts(2, net)
            plain = {}
            for code in ("none", "central", "replicate:2", "ida:2,1"):
                for rounds in (100, 500):  # a busy machine may take longer for a checkpoint than for 100 rounds
                    found[code] = jobs.run(options, place, 200, code, 0.05, rounds)
                    if code == "none" or found[code]["checkpoint"]["saved"] > 0:
                        break
                if rounds not in plain:
                    plain[rounds] = found[code] if code == "none" else jobs.run(options, place, 200, "none", 0.05, rounds)
                found[code]["expected"] = plain[rounds]["result_xxh3"]
                found[code]["disks"] = [sum(name.startswith("rank.") for name in os.listdir(d)) for d in net.directories]
        print(json.dumps(found))
except network.Missing as why:
    print(json.dumps(str(why)))
"""


class OnNetwork(unittest.TestCase):
    def test_three_hosts(self):
        mpi = shutil.which("mpiexec") and subprocess.run(["mpiexec", "--version"], capture_output=True, text=True, check=False).stdout
        runs = programs if programs and mpi and "Open" in mpi else "-"
        done = subprocess.run([sys.executable, "-c", ON_NETWORK, str(HERE), str(runs)], capture_output=True, text=True, timeout=240,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        if isinstance(found, str):
            self.skipTest(found)
        self.assertLess(found["speed"], 130)  # a burst passes unshaped; nothing but a busy machine makes it slow
        self.assertGreater(found["idle"], 3e6)
        self.assertFalse(pathlib.Path("/sys/class/net/switch").exists())  # not in the machine's own network
        if runs == "-":
            self.skipTest("the hosts exist; runs on them need --bin and Open MPI")
        for code in ("none", "central", "replicate:2", "ida:2,1"):
            self.assertEqual(found[code]["result_xxh3"], found[code]["expected"], code)
        self.assertEqual(found["none"]["disks"], [0, 0, 0])
        for code, used in (("central", [False, False, True]), ("replicate:2", [True, True, False]), ("ida:2,1", [True] * 3)):
            with self.subTest(code):
                self.assertGreater(found[code]["checkpoint"]["saved"], 0)
                self.assertEqual([count > 0 for count in found[code]["disks"]], used)
                self.assertGreater(found[code]["sent_bytes"], 100 * 200 * 200 * 8)  # each round, all of B goes to the other host
        self.assertGreater(found["replicate:2"]["stored_bytes"], 1.8 * found["central"]["stored_bytes"])


if __name__ == "__main__":
    unittest.main()
