#!/usr/bin/env python3
"""Measures how well `skel-model fit` finds the law of costs, and whether it knows when it does not.

Draws samples from known laws, fits a model without a basis, and predicts a run of 8 times the largest size in each
variable. Prints

    within 10 %   predictions that are at most 10 % off the law
    coverage      new runs, with noise, that lie in the 95 % interval: at the largest size of the samples, and at 8 times
    Extra-P       predictions within 10 % by the published search of Extra-P, on the same samples

Pairs are the 21 sums of two of seven functions; both contribute equally at N = 10,000. They have seven sizes from 1,000
to 64,000, each measured three times. Products have 48 samples of N and M; the smallest cases are single laws of both
kinds. Noise is normal, relative to the time.

Extra-P is reimplemented here: "one term" is a constant and one of the 42 default terms, chosen by the SMAPE of
leave-one-out cross-validation, with the sums and products of both variables' terms [A. Calotoiu et al.: Fast
multi-parameter performance modeling. CLUSTER 2016]. "Two terms" is the search of the first paper with up to two of n^i
log^j n, i = 0, 1/2 … 3 and j = 0, 1, 2: the best of each number of terms by cross-validation, another term as long as the
adjusted R² rises [A. Calotoiu et al.: Using automated performance modeling to find scalability bugs in complex codes. SC
2013]. Both use means of repetitions and ordinary least squares.

    benchmarks/model/laws.py                                # five seeds, about a minute
    benchmarks/model/laws.py --first-seed 100 --seeds 20
"""
import functools
import itertools
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile

sys.path.append(sys.path[0] + "/..")
import bench  # noqa: E402

HEAD = ("schema,program,skeleton,schedule,results,ranks,threads_per_rank,phase,level,tasks,seconds,busy_seconds,"
        "idle_seconds,communication_seconds,messages,bytes,problem\n")
FAR = 8  # times the largest size
NEAR = 0.1
MIDDLE = 1e4


def term(exponent, logs=0):
    return lambda n: n**exponent * math.log2(n)**logs


FUNCTIONS = {"log(N)": term(0, 1), "sqrt(N)": term(0.5), "N": term(1), "N log(N)": term(1, 1), "N^1.5": term(1.5),
             "N^2": term(2), "N^3": term(3)}
SIZES = [1000 * 2**k for k in range(7)]
PLANE = [(1000 * 2**k, 1000 * 2**l) for k in range(6) for l in range(8)]
PRODUCTS = {
    "N + N M": [lambda n, m: n, lambda n, m: n * m],
    "1 + N + M": [lambda n, m: 1, lambda n, m: n, lambda n, m: m],
    "N M": [lambda n, m: n * m],
    "1 + N M": [lambda n, m: 1, lambda n, m: n * m],
    "N + M^2": [lambda n, m: n, lambda n, m: m * m],
    "N log(N) + N M": [lambda n, m: n * math.log2(n), lambda n, m: n * m],
    "M + N sqrt(M)": [lambda n, m: m, lambda n, m: n * math.sqrt(m)],
    "N + M log(M)": [lambda n, m: n, lambda n, m: m * math.log2(m)],
}


class Law:
    """A sum of terms; `coefficients`, or terms that contribute equally in the middle."""

    def __init__(self, name, terms, points, coefficients=None):
        self.name, self.terms, self.points = name, terms, points
        middle = [MIDDLE] * len(points[0])
        self.coefficients = coefficients or [0.01 / f(*middle) for f in terms]

    def __call__(self, *at):
        return sum(c * f(*at) for c, f in zip(self.coefficients, self.terms))

    def largest(self, times=1):
        return tuple(times * max(values) for values in zip(*self.points))


PAIRS = [Law(f"{a} + {b}", [FUNCTIONS[a], FUNCTIONS[b]], [(n,) for n in SIZES])
         for a, b in itertools.combinations(FUNCTIONS, 2)]
PLANES = [Law(name, terms, PLANE) for name, terms in PRODUCTS.items()]
SMALL = [Law("1e-6 N + 1e-10 N^2", [FUNCTIONS["N"], FUNCTIONS["N^2"]], [(n,) for n in SIZES], [1e-6, 1e-10]),
         Law("2e-7 N + 1e-11 N M", PRODUCTS["N + N M"], PLANE, [2e-7, 1e-11])]
# Laws, noise, repetitions, share that is to be reached.
GROUPS = {"pairs, exact": (PAIRS, 0, 3, 1), "pairs, 1 %": (PAIRS, 0.01, 3, 95 / 105), "pairs, 5 %": (PAIRS, 0.05, 3, 78 / 105),
          "products, exact": (PLANES, 0, 1, 1), "products, 1 %": (PLANES, 0.01, 1, None),
          "smallest, exact": (SMALL, 0, 1, 1)}


def measured(law, at, noise, rng):
    return law(*at) * (1 + noise * rng.gauss(0, 1))


# --- skel-model


def skel_model(options, samples, ats, folder):
    """Returns (seconds, low, high) at each of `ats`."""
    names = "NM"[:len(ats[0])]
    lines = [f"2,p,farm,,,1,1,run,,,{seconds!r},,,,,,{';'.join(f'{v}={x}' for v, x in zip(names, at))}\n"
             for at, seconds in samples]
    (folder / "s.csv").write_text(HEAD + "".join(lines))
    bench.run(options.bin / "skel-model", "fit", folder / "s.csv", "-o", folder / "m.json")
    found = []
    for at in ats:
        sizes = [f"--set={v}={x}" for v, x in zip(names, at)]
        out = json.loads(bench.run(options.bin / "skel-model", "predict", "--model", folder / "m.json", "--json", *sizes))[0]
        found.append((out["seconds"], out["low"], out["high"]))
    return found


# --- Extra-P


def least_squares(rows, values):
    """Coefficients by modified Gram-Schmidt; None if columns depend on each other."""
    columns = [list(c) for c in zip(*rows)]
    values, upper, right = list(values), [], []
    for k, column in enumerate(columns):
        length = math.sqrt(sum(x * x for x in column))
        if length == 0:
            return None
        column = [x / length for x in column]
        dots = [length]
        for j in range(k + 1, len(columns)):
            dot = sum(x * y for x, y in zip(column, columns[j]))
            dots.append(dot)
            before = math.sqrt(sum(y * y for y in columns[j]))
            columns[j] = [y - dot * x for x, y in zip(column, columns[j])]
            if math.sqrt(sum(y * y for y in columns[j])) <= 1e-12 * before:
                return None
        upper.append(dots)
        right.append(sum(x * y for x, y in zip(column, values)))
        values = [y - right[-1] * x for x, y in zip(column, values)]
    found = [0.0] * len(columns)
    for k in reversed(range(len(columns))):
        found[k] = (right[k] - sum(u * found[k + 1 + i] for i, u in enumerate(upper[k][1:]))) / upper[k][0]
    return found


def fitted(terms, points, values):
    """The curve of a constant and these terms, or None."""
    found = least_squares([[1, *(f(*at) for f in terms)] for at in points], values)
    return found and (lambda *at: found[0] + sum(c * f(*at) for c, f in zip(found[1:], terms)))


def smape(pairs):
    return statistics.fmean(200 * abs(p - v) / (abs(p) + abs(v)) if p or v else 0 for p, v in pairs)


def cross_validated(terms, points, values):
    pairs = []
    for i, (at, value) in enumerate(zip(points, values)):
        curve = fitted(terms, points[:i] + points[i + 1:], values[:i] + values[i + 1:])
        if curve is None:
            return math.inf
        pairs.append((curve(*at), value))
    return smape(pairs)


DEFAULT_TERMS = [term(i, j) for i, j in [
    (0, 1), (0, 2), (1 / 4, 0), (1 / 3, 0), (1 / 4, 1), (1 / 3, 1), (1 / 4, 2), (1 / 3, 2), (1 / 2, 0), (1 / 2, 1), (1 / 2, 2),
    (2 / 3, 0), (3 / 4, 0), (2 / 3, 1), (3 / 4, 1), (4 / 5, 0), (2 / 3, 2), (3 / 4, 2), (1, 0), (1, 1), (1, 2), (5 / 4, 0),
    (5 / 4, 1), (4 / 3, 0), (4 / 3, 1), (3 / 2, 0), (3 / 2, 1), (3 / 2, 2), (5 / 3, 0), (7 / 4, 0), (2, 0), (2, 1), (2, 2),
    (9 / 4, 0), (7 / 3, 0), (5 / 2, 0), (5 / 2, 1), (5 / 2, 2), (8 / 3, 0), (11 / 4, 0), (3, 0), (3, 1)]]
FIRST_TERMS = [term(i / 2, j) for i in range(7) for j in range(3) if i or j]


def means(samples):
    by_point = {}
    for at, value in samples:
        by_point.setdefault(at, []).append(value)
    return list(by_point), [statistics.fmean(values) for values in by_point.values()]


def best_term(points, values):
    """The term that cross-validation chooses, or None for the constant."""
    mean = statistics.fmean(values)
    best, least = None, smape([(mean, v) for v in values])
    for f in DEFAULT_TERMS:
        error = cross_validated([f], points, values)
        if error < least:
            best, least = f, error
    return best


def one_term(samples):
    points, values = means(samples)
    if len(points[0]) == 1:
        best = best_term(points, values)
        return fitted([best] if best else [], points, values)
    kept = []
    for axis in (0, 1):
        lines = means([((at[axis],), value) for at, value in zip(points, values)])
        best = best_term(*lines)
        if best:
            kept.append(lambda *at, f=best, axis=axis: f(at[axis]))
    choices = [kept]
    if len(kept) == 2:
        both = lambda *at: kept[0](*at) * kept[1](*at)  # noqa: E731
        choices += [[both], [kept[0], both], [kept[1], both]]
    curves = [c for c in (fitted(terms, points, values) for terms in choices) if c]
    return min(curves, key=lambda c: smape([(c(*at), v) for at, v in zip(points, values)]))


def two_terms(samples):
    points, values = means(samples)
    mean = statistics.fmean(values)
    total = sum((v - mean)**2 for v in values)
    curve, quality = fitted([], points, values), -math.inf
    for count in (1, 2):
        terms = min(itertools.combinations(FIRST_TERMS, count), key=lambda t: cross_validated(t, points, values))
        next_curve = fitted(terms, points, values)
        squares = sum((next_curve(*at) - v)**2 for at, v in zip(points, values))
        adjusted = 1 - squares / total * (len(points) - 1) / (len(points) - count - 1)
        if adjusted <= quality:
            break
        curve, quality = next_curve, adjusted
    return curve


# --- the table


def judge(options, law, noise, repetitions, seed, folder):
    rng = random.Random(f"{law.name} {noise} {seed}")
    samples = [(at, measured(law, at, noise, rng)) for at in law.points for _ in range(repetitions)]
    ats = [law.largest(), law.largest(FAR)]
    truth = law(*ats[1])
    runs = [measured(law, at, noise, rng) for at in ats]
    predicted = skel_model(options, samples, ats, folder)
    # A law without noise is found to the precision of the printed digits.
    inside = [low * (1 - 1e-6) <= run <= high * (1 + 1e-6) for run, (_, low, high) in zip(runs, predicted)]

    def near(seconds):
        return abs(seconds / truth - 1) <= NEAR

    return {"law": law.name, "near": near(predicted[1][0]), "inside": inside, "ratio": predicted[1][0] / truth,
            "one": near(one_term(samples)(*ats[1])),
            "two": near(two_terms(samples)(*ats[1])) if len(ats[0]) == 1 else None}


def arguments(argv=None):
    parser = bench.parser(__doc__, check=True, rows=True)
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each law with noise [5]")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--group", action="append", choices=GROUPS, help="only this group; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="name the laws that were missed")
    options = parser.parse_args(argv)
    if options.seeds < 1:
        parser.error(f"argument --seeds: expected at least 1, found {options.seeds}")
    return options


def row(options, name, reached):
    """The cells of a group. Adds to `reached` whether its target was."""
    laws, noise, repetitions, needed = GROUPS[name]
    with tempfile.TemporaryDirectory() as folder:
        found = [judge(options, law, noise, repetitions, seed, pathlib.Path(folder)) for law in laws
                 for seed in range(options.first_seed, options.first_seed + (options.seeds if noise else 1))]
    count = len(found)
    near = sum(f["near"] for f in found)
    covered = [sum(f["inside"][i] for f in found) / count for i in (0, 1)]
    needed = needed and math.ceil(needed * count - 1e-9)
    reached.append(needed is None or near >= needed)
    two = [f["two"] for f in found if f["two"] is not None]
    if options.verbose:
        for f in found:
            if not f["near"] or not f["inside"][1]:
                print(f"  {f['law']}: {f['ratio']:.3g} of the truth, inside {f['inside'][1]}", file=sys.stderr)
    return (name, count, near, "" if needed is None else needed, *(f"{c:.3f}" for c in covered), sum(f["one"] for f in found),
            f"{sum(two)} of {len(two)}" if two else "")


def main(argv=None):
    options = arguments(argv)
    bench.need(options, "skel-model")
    reached = []
    bench.table(options, ["samples", "fits", "within 10 %", "to be reached", "coverage: largest", f"{FAR} times",
                          "Extra-P: one term", "two terms"],
                [functools.partial(row, options, name, reached) for name in options.group or GROUPS])
    bench.finish(all(reached), options)


if __name__ == "__main__":
    main()
