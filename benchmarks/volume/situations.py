"""The settings of reproduce.py's experiments: networks, other users' load, ways to send a grid."""

ETHERNET, ATM = "10 Mb/s Ethernet, shared", "155 Mb/s ATM, switched"
NETWORKS = {ETHERNET: {"kind": "bus", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.25e6},
            ATM: {"kind": "switch", "latency_seconds": 1e-3, "bandwidth_bytes_per_second": 1.94e7}}
WAYS = {"series": "one message to each", "broadcast": "skel::broadcast"}


def without_users(_rank, _chance):
    return {}


def other_users(_rank, chance):
    """Other users by day: one station in five runs a job that takes half of it for minutes."""
    if chance.random() >= 0.2:
        return {}
    begin, length = chance.uniform(0, 60), chance.uniform(60, 180)
    return {"load": {"available": [[0, 1], [begin + 1e-3, 0.5], [begin + length, 1]], "repeat_seconds": begin + length + 60}}


def one_slowed(rank, _chance):
    """Section 5.2: another user's job takes half of one worker."""
    return {"power": 0.5} if rank == 1 else {}


QUIET, DAY, SLOWED = "quiet (figure 8, night)", "other users (figure 7, day)", "one worker slowed by half (5.2)"
SITUATIONS = {QUIET: without_users, DAY: other_users, SLOWED: one_slowed}
REAL_QUIET, REAL_SLOWED = "real ranks, quiet", "real ranks, one worker slowed by another job"
PICTURES = {QUIET: "figure-8", DAY: "figure-7", SLOWED: "slowed", REAL_QUIET: "real-quiet", REAL_SLOWED: "real-slowed"}
