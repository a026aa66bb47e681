"""Runs skel-matmul with and without checkpoints, on this machine or on a network.Network, for reproduce.py."""
import math
import os
import re
import shutil
import statistics
import tempfile

import bench

SCENARIOS = [("no storage", "none"), ("central", "central"), ("replication", "replicate:2"), ("parity", "parity:9"),
             ("IDA (9,1)", "ida:9,1"), ("IDA (8,2)", "ida:8,2")]
PARTS = ["serialise", "code", "transfer", "write", "sync"]
COPIES = {"none": 0, "central": 1, "replicate:2": 2, "parity:9": 10 / 9, "ida:9,1": 10 / 9, "ida:8,2": 10 / 8}  # bytes stored per byte
SHARD = re.compile(r"rank\.(\d+)\.(\d+)-of-(\d+)\.(\d+)\.shard")  # generation, part, parts, index


class Failed(Exception):
    """A run that did not end as expected."""


class Directories:
    """Ranks on this machine that reach ten directories."""

    def __init__(self, ranks, folder):
        self.ranks = ranks
        self.directories = [os.path.join(folder, f"d{i}") for i in range(10)]
        self.about = f"{ranks} ranks on this machine, ten directories"

    def command(self, _):
        return bench.mpiexec(self.ranks), ",".join(self.directories), []

    @staticmethod
    def sent():
        return None


class Hosts:
    """Ranks on hosts of their own, and one host more, which computes nothing and only stores, as in the paper."""

    def __init__(self, ranks, net):
        self.ranks, self.net, self.directories, self.sent = ranks, net, net.directories, net.sent
        self.about = f"{ranks} ranks and a host that only stores, links of {net.rate}, a disk each"

    def command(self, code):
        store = "ranks:" + self.net.disk
        if code == "central":
            store = f"rank:{self.ranks}:{self.net.disk}"
        elif code.startswith("replicate"):  # among the hosts that compute
            store = ",".join(f"rank:{r}:{self.net.disk}" for r in range(self.ranks))
        return self.net.mpiexec(self.ranks + 1), store, ["--idle-ranks", 1]


def found_in(directories):
    """Bytes of all shards of the newest committed checkpoint, and how many were begun: generation 1 is the log of calls."""
    names = [(name, os.path.getsize(os.path.join(d, name))) for d in directories for name in os.listdir(d)]
    shards = [(int(at[1]), size) for name, size in names if (at := SHARD.fullmatch(name))]
    begun = {number for number, _ in shards}
    committed = max((n for name, _ in names if name.startswith("manifest.") and (n := int(name.split(".")[1])) in begun), default=0)
    return sum(size for number, size in shards if number == committed), max(begun, default=1) - 1


def run(options, place, size, code, every=None, rounds=1):
    """The report of one run, with the bytes that a checkpoint occupies and that all nodes sent in the run."""
    for directory in place.directories:
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
    start, store, more = place.command(code)
    if code != "none":
        more = [*more, "--checkpoint", code, "--store", store, "--every", f"{every}s"]
    with tempfile.TemporaryDirectory() as folder:
        before = place.sent()
        result = bench.report(*start, options.bin / "skel-matmul", "--size", size, "--panel", 32, "--rounds", rounds, "--threads", 1,
                              *more, env=dict(bench.ENVIRONMENT, TMPDIR=folder))
    result["stored_bytes"], result["begun"] = found_in(place.directories)
    result["sent_bytes"] = None if before is None else place.sent() - before
    return result


def blocked_percent(result):
    return 100 * result.get("checkpoint", {}).get("blocked_seconds", 0) / result["seconds"]


def lasting(options, place, size, code, every, seconds):
    """How many products last at least this long, and the result of that run."""
    rounds = 1
    while True:
        result = run(options, place, size, code, every, rounds)
        if result["seconds"] >= seconds:
            return rounds, result
        rounds = math.ceil(rounds * min(8, 1.1 * seconds / result["seconds"]))


def row_of(name, code, results, plain, ranks):
    """A line of table 1: medians over the runs of one strategy; `plain` are those without storage. Costs are divided by the checkpoints
    that were begun: one at the end of a run costs its time, though it may not be committed."""
    def median(values):
        return statistics.median(list(values))

    def per_checkpoint(cost):
        return median(cost(r) / r["begun"] for r in results) if saved else None

    costs = [r.get("checkpoint", {}) for r in results]
    saved = min(c.get("saved", 0) for c in costs)
    base = median(r["seconds"] for r in plain)
    row = {"storage": name, "size": results[0]["order"], "state_megabytes": results[0]["state_bytes"] / 1e6,
           "seconds": median(r["seconds"] for r in results), "checkpoints": saved,
           "stored_megabytes": median(r["stored_bytes"] for r in results) / 1e6, "sent_megabytes": None,
           "blocked_percent": median(blocked_percent(r) for r in results)}
    row["normalised"] = row["seconds"] / base
    row["local_megabytes"] = row["stored_megabytes"] / COPIES[code] / ranks if saved else None
    row["seconds_per_checkpoint"] = per_checkpoint(lambda r: r["seconds"] - base)
    if results[0]["sent_bytes"] is not None:
        others = median(r["sent_bytes"] for r in plain)
        row["sent_megabytes"] = per_checkpoint(lambda r: (r["sent_bytes"] - others) / 1e6)
    for part in PARTS:
        row[part] = per_checkpoint(lambda r, part=part: r["checkpoint"][f"{part}_seconds"] / ranks)
    return row


def table(options, place, size, every, seconds):
    """The rows of table 1 for one size, the seconds of all runs without storage, and how many products a run computes, so that it lasts
    at least `seconds` without storage. Strategies alternate; each turn ends without storage, so that these runs show the noise."""
    rounds, first = lasting(options, place, size, "none", None, seconds)
    results = {code: [] for _, code in SCENARIOS}
    results["none"].append(first)
    for _ in range(options.repetitions):
        for code in [*results][1:] + ["none"]:
            results[code].append(run(options, place, size, code, every, rounds))
    if len({r["result_xxh3"] for all_of in results.values() for r in all_of}) != 1:
        raise Failed(f"the products of size {size} differ")
    rows = [row_of(name, code, results[code], results["none"], place.ranks) for name, code in SCENARIOS]
    return rows, [r["seconds"] for r in results["none"]], rounds
