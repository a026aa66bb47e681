"""Shared by the benchmarks: options, launching programs, repeated runs, medians, tables and pages.

Like the benchmarks, needs only Python's standard library, unless a benchmark names more."""
import argparse
import concurrent.futures
import contextlib
import csv
import html
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
NAME = pathlib.Path(sys.argv[0]).name
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SKEL_PROGRESS="never")
# For ranks that share cores.
YIELDING = dict(ENVIRONMENT, OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
VTK_PYTHON = "/usr/bin/python3"  # Debian's, which has python3-vtk9
MODULES = {"vtk": (VTK_PYTHON, "vtkmodules"), "numpy": (sys.executable, "numpy"), "matplotlib": (sys.executable, "matplotlib")}
PACKAGES = {"mpiexec": "openmpi-bin", "smpicxx": "libsimgrid-dev", "smpirun": "libsimgrid-dev", "taskset": "util-linux",
            "vtk": "python3-vtk9", "numpy": "python3-numpy", "matplotlib": "python3-matplotlib", "xvfb-run": "xvfb xauth"}
LONGEST_JOB = 3600  # processor seconds of another job, should this process be killed
STYLE = ("body{font:15px sans-serif;max-width:62em;margin:2em auto;padding:0 1em}table{border-collapse:collapse;margin:1em 0}"
         "td,th{border:1px solid #ccc;padding:3px 8px;text-align:right}td:first-child,th:first-child{text-align:left}")


def fail(text):
    sys.exit(f"{NAME}: {text}")


# --- options


def parser(doc, repetitions=None, check=False, rows=False):
    """With `repetitions`, their default, also takes --repetitions; with `check`, also --check; with `rows`, also --rows."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--bin", type=lambda path: pathlib.Path(path).resolve(), default=TOP / "build/release/bin",
                      help="directory of the programs, from: cmake --preset bench && cmake --build --preset bench")
    made.add_argument("--build", dest="bin", type=lambda tree: pathlib.Path(tree).resolve() / "bin", metavar="DIR",
                      help="build tree of the programs")
    if repetitions:
        made.add_argument("--repetitions", type=int, default=repetitions, help=f"of each measurement [{repetitions}]")
    if check:
        made.add_argument("--check", action="store_true", help="exit code 1 if a target was missed")
    if rows:
        made.add_argument("--rows", type=int, nargs="+", metavar="N", help="only these rows of a table; the first one is 1")
    return made


def need(options, *programs):
    """Ends the benchmark with one line, before it computes anything, unless these programs are there: skel's in the folder of
    --bin, others on the PATH, and those of MODULES for Python."""
    def there(name):
        if name.startswith("skel-"):
            return (options.bin / name).exists()
        if name in MODULES:
            python, module = MODULES[name]
            return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
        return shutil.which(name) is not None

    missing = [name for name in programs if not there(name)]
    if ours := [name for name in missing if name.startswith("skel-")]:
        fail(f"missing {', '.join(ours)} in {options.bin}: cmake --preset bench && cmake --build --preset bench")
    if missing:
        packages = " ".join(PACKAGES.get(name, name) for name in missing)
        fail(f"missing {', '.join(missing)}: apt-get install --no-install-recommends {packages}")


def finish(good, options):
    sys.exit(0 if good or not options.check else 1)


def word(good):
    return "ok" if good else "MISSED"


# --- programs


def mpiexec(ranks):
    return ["mpiexec", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"]


def run(*command, timeout=7200, given=None, env=None):
    """Returns the output of a program. Ends the benchmark if it fails, or runs for more than `timeout` seconds."""
    words = [str(w) for w in command]
    try:
        done = subprocess.run(words, input=given, capture_output=True, text=True, timeout=timeout, env=env or ENVIRONMENT,
                              check=False)
    except subprocess.TimeoutExpired:
        fail(f"no end after {timeout} s: {' '.join(words)}")
    except OSError as bad:
        fail(f"{words[0]}: {bad.strerror}")
    if done.returncode != 0:
        fail(f"exit code {done.returncode}: {' '.join(words)}\n{done.stderr}")
    return done.stdout


def at_once(count, *command):
    """Outputs of simultaneous runs of the same program."""
    running = [subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
               for _ in range(count)]
    return [process.communicate(timeout=900)[0] for process in running]


def report(*command, **how):
    """Runs a program with --quiet and --report, and returns its report."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        run(*command, "--quiet", "--report", file, **how)
        return json.loads(file.read_text())


def simulate(options, *words):
    """Returns the report of a simulation."""
    return report(options.bin / "skel-simulate", *words)


def simulate_all(options, runs):
    """Runs skel-simulate once for each list of words, several at a time."""
    with tempfile.NamedTemporaryFile("w", suffix=".batch") as batch:
        batch.write("".join("".join(f"{w}\n" for w in words) + "--quiet\n\n" for words in runs))
        batch.flush()
        run(options.bin / "skel-simulate", "--batch", batch.name)


def traced(options, folder, *words):
    """Returns the seconds that skel-raytrace needs here for each unit of a picture: the least of five runs, since other
    processes interrupt some units for a hundred times as long."""
    runs = []
    for _ in range(5):
        run(options.bin / "skel-raytrace", *words, "--unit-costs", folder / "units.csv", "--threads", 1, "--quiet", "-o",
            folder / "picture.ppm")
        runs.append([float(line) for line in (folder / "units.csv").read_text().split()])
    return [min(seconds) for seconds in zip(*runs)]


def fields(text):
    """A dictionary for each line of KEY=VALUE words."""
    lines = [line.split() for line in text.splitlines()]
    return [dict(w.split("=", 1) for w in words if "=" in w) for words in lines if words and "=" in words[0]]


@contextlib.contextmanager
def busy(core, count=1):
    """Keeps a core busy with other processes."""
    loop = (f"import os, time; os.sched_setaffinity(0, {{{core}}})\n"
            f"print('busy', flush=True)\nwhile time.process_time() < {LONGEST_JOB}: pass")
    jobs = [subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for job in jobs:
            job.stdout.readline()
        yield
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


def cores():
    return sorted(os.sched_getaffinity(0))


def load():
    return f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


# --- figures


def quantile(values, share):
    """Linear between neighbours (type 7 of Hyndman and Fan)."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def tenths(values):
    """The values at 10 % and at 90 %."""
    ordered = sorted(values)
    return ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def shown(values, digits=3):
    low, high = tenths(values)
    return f"{statistics.median(values):.{digits}f} [{low:.{digits}f} .. {high:.{digits}f}]"


def paired_ratio(above, below):
    return statistics.median(a / b for a, b in zip(above, below))


# --- tables


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*columns):
    row(*columns)
    print("|" + "---|" * len(columns), flush=True)


def table(options, columns, rows):
    """Prints the table as it is made: each of `rows` is a function that returns cells. With --rows, only those."""
    head(*columns)
    for number, make in enumerate(rows, 1):
        if not options.rows or number in options.rows:
            row(*make())


def markdown(columns, rows):
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def html_table(columns, rows):
    """Numbers have four digits."""
    def cell(value):
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    lines = [("th", columns), *(("td", cells) for cells in rows)]
    return "<table>" + "\n".join("<tr>" + "".join(f"<{tag}>{html.escape(cell(c))}</{tag}>" for c in cells) + "</tr>"
                                 for tag, cells in lines) + "</table>"


class Experiment:
    """Options, the folder that --out names, and files in between."""

    def __init__(self, options, jobs=1):
        self.options, self.out = options, pathlib.Path(options.out)
        self.work = self.out / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)


class Page:
    """A page of texts, tables and pictures, and files beside it."""

    def __init__(self, folder, title):
        self.folder, self.parts = pathlib.Path(folder), []
        self.folder.mkdir(parents=True, exist_ok=True)
        self.head(title, 1)

    def head(self, text, level=2):
        self.parts.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def say(self, text):
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def table(self, rows, columns):
        """Rows are dictionaries; columns are pairs of a heading, and a key or a function of a row."""
        cells = [[what(r) if callable(what) else r[what] for _, what in columns] for r in rows]
        self.parts.append(html_table([heading for heading, _ in columns], cells))

    def picture(self, name, svg):
        (self.folder / f"{name}.svg").write_text(svg + "\n")
        self.parts.append(svg)

    def write(self):
        path = self.folder / "index.html"
        path.write_text(f"<!doctype html><meta charset='utf-8'><title>{NAME}</title><style>{STYLE}</style>\n"
                        + "\n".join(self.parts) + "\n", encoding="utf-8")
        return path


class Findings(list):
    """The observations of a paper, as rows of a table."""

    def say(self, text, exceptions, of):
        but = f"; not: {', '.join(exceptions)}" if exceptions else ""
        self.append({"finding": text, "here": "no" if exceptions else "yes", "details": f"{of - len(exceptions)} of {of}{but}"})

    def tell(self):
        for found in self:
            print(f"{found['here']:<4}{found['finding']}: {found['details']}")


FINDINGS = [("the paper finds", "finding"), ("here", "here"), ("details", "details")]


def refusal(parse, words):
    """What argparse says of words that it must refuse; None if it does not."""
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(SystemExit):
        parse(words)
        return None
    return said.getvalue()


def tested_programs():
    """Takes --bin DIR from the command line of a test; None without it."""
    if sys.argv[1:2] != ["--bin"]:
        return None
    path = pathlib.Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    return path


def write_csv(path, rows):
    """Rows are dictionaries; the columns are all their keys."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for cells in rows for key in cells)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
