"""Tables and verdicts of reproduce.py."""
import bench
from jobs import PARTS, blocked_percent

PAPER_SIZES = [1350, 2700, 5400]                # 3 x 12 n^2 bytes
PAPER_INTERVALS = dict(zip(PAPER_SIZES, (54.8, 303.1, 616.1)))  # table 1: seconds between checkpoints
PAPER_LIMIT = 3.0                               # per cent: "the extra overhead was always below 3 percent"
BLOCKED_LIMIT = 0.5                             # per cent, with the full state every 10 s under IDA (8,2)
HEADINGS = ["storage", "seconds", "normalised", "checkpoints", "local MB", "stored MB", "sent MB", "blocked", "s per checkpoint",
            *(f"{part} s" for part in PARTS)]


def size_for(paper_size):
    """The matrices of 8-byte elements whose state has about as many bytes as the paper's with 12."""
    return round(paper_size * (12 / 8) ** 0.5)


def megabytes(size):
    return 3 * 8 * size * size / 1e6


def sizes_line(papers):
    return "state: " + ", ".join(f"{size_for(p)} x {size_for(p)}, {megabytes(size_for(p)):.1f} MB (the paper's {p} x {p}, "
                                 f"{3 * 12 * p * p / 1e6:.1f} MB)" for p in papers)


def cells(row):
    def shown(value, digits):
        return "–" if value is None else f"{value:.{digits}f}"

    return [row["storage"], f"{row['seconds']:.2f}", f"{row['normalised']:.3f}", str(row["checkpoints"]), shown(row["local_megabytes"], 1),
            shown(row["stored_megabytes"], 1), shown(row["sent_megabytes"], 1), f"{row['blocked_percent']:.2f} %",
            shown(row["seconds_per_checkpoint"], 2), *(shown(row[part], 3) for part in PARTS)]


def blocked_verdict(result):
    """One line for the run with the full state under IDA (8,2), and whether it reached its target."""
    saved, percent = result["checkpoint"]["saved"], blocked_percent(result)
    good = saved > 0 and percent < BLOCKED_LIMIT
    return (f"state {result['state_bytes'] / 1e6:.1f} MB, IDA (8,2), a checkpoint every 10 s: {saved} in {result['seconds']:.1f} s, "
            f"blocked {percent:.3f} % {bench.word(good)} (target < {BLOCKED_LIMIT:g} %)", good)


def overhead_verdict(row, plain, interval):
    """One line for the overhead of a checkpoint every `interval` seconds, from the seconds that one costs, and whether it is below the
    paper's limit. `plain`: seconds of all runs without storage; what they differ by is the uncertainty."""
    name = f"state {row['state_megabytes']:.1f} MB, {row['storage']}, a checkpoint every {interval:g} s: overhead"
    if not row["checkpoints"]:
        return f"{name} not measured MISSED (target < {PAPER_LIMIT:g} %)", False
    percent = 100 * row["seconds_per_checkpoint"] / interval
    noise = 100 * (max(plain) - min(plain)) / row["checkpoints"] / interval
    good = percent < PAPER_LIMIT
    word = "NOT DECIDED" if abs(percent - PAPER_LIMIT) < noise else bench.word(good)
    return f"{name} {percent:.2f} % (runs differ by {noise:.2f} %) {word} (target < {PAPER_LIMIT:g} %)", word == "ok"


def claim(rows, plain, interval):
    """The paper's claim at its own interval, for the strategy that costs most."""
    measured = [row for row in rows[1:] if row["checkpoints"]]
    if not measured:
        return "the paper's claim: not measured"
    worst = max(measured, key=lambda row: row["seconds_per_checkpoint"])
    line, _ = overhead_verdict(worst, plain, interval)
    words = {"NOT DECIDED": "not decided", "ok": "confirmed", "MISSED": "refuted"}
    return f"the paper's claim (always below {PAPER_LIMIT:g} %) {next(w for k, w in words.items() if k in line)}: {line.split(') ')[0]})"
