#!/usr/bin/env python3
"""Makes the simulated figures of the pages again, in place, or compares them with what their commands print now.

The simulator makes the times, so every machine gives the same figures until a protocol changes. A comment in a page,

    <!-- simulated -->

says that the table or paragraph below it is printed by the command above it, the last indented block. If several comments
follow one command, its tables come in turn, and so do its paragraphs. Rows without a head get that of the page.
`<!-- simulated, sample 2 5 -->` names the rows that --check makes without --all, by adding `--rows 2 5` to the command;
`<!-- simulated, sample -->` is a command that is quick as it is. Below `<!-- measured -->` stands what this machine makes,
such as traced costs: only --write --measured rewrites it, on an idle machine.

    scripts/measurements.py --check              # the samples, two to three minutes on two cores
    scripts/measurements.py --check --all        # everything: many hours
    scripts/measurements.py --write              # the same, rewrites the pages
    scripts/measurements.py --write ring-steal   # only tables whose page or command has one of these words

Needs the programs: cmake --preset bench && cmake --build --preset bench. --check prints a diff and ends with 1 if a figure
differs.
"""
import argparse
import difflib
import itertools
import os
import pathlib
import re
import resource
import subprocess
import sys
import textwrap
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
PATH = f"{TOP / 'build/release/bin'}:{os.environ['PATH']}"
MARK = re.compile(r"<!-- (simulated|measured)(, sample((?: \d+)*))? -->")


class Failed(Exception):
    """A command that does not print what a page expects. The others go on."""


class Figures:
    """A table or paragraph of a page, lines `begin` to `end`: number `number` of what `command` prints."""

    def __init__(self, page, mark, command, number, lines, begin):
        self.page, self.command, self.number, self.begin = page, command, number, begin
        self.measured, self.sampled = mark[1] == "measured", mark[2] is not None
        self.rows = [int(n) for n in (mark[3] or "").split()]
        self.end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
        self.lines = lines[begin:self.end]

    def name(self):
        return f"{self.page.relative_to(TOP)}:{self.begin + 1}"

    def is_same(self, other):
        return (self.command, self.is_table(), self.number) == (other.command, other.is_table(), other.number)

    def is_table(self):
        return self.lines[0].startswith("|")

    def now(self, output, sample):
        """The lines as they should be."""
        parts = [part for part in parts_of(output) if self.is_table() == part[0].startswith("|")]
        if self.number >= len(parts):
            raise Failed(f"{self.name()}: expected {self.number + 1} tables or paragraphs like it, found {len(parts)}: {self.command}")
        made = parts[self.number]
        if self.is_table() and not (len(made) > 1 and made[1].startswith("|---")):
            made = self.lines[:2] + made
        if not sample or not self.rows:
            return made
        lines = made[:2] + self.lines[2:]
        for row, line in itertools.zip_longest(self.rows, made[2:]):
            if row is None or line is None or row + 1 >= len(lines):
                raise Failed(f"{self.name()}: expected the rows {self.rows}, found {len(made) - 2} of {len(lines) - 2}: {self.command}")
            lines[row + 1] = line
        return lines


def parts_of(output):
    """Tables as lines, and paragraphs as lines of the pages' width."""
    found = []
    for kind, lines in itertools.groupby(output.splitlines(), lambda line: line and ("|" if line.startswith("|") else "text")):
        if kind == "|":
            found.append(list(lines))
        elif kind:
            found.append(textwrap.wrap(" ".join(lines), 100, break_long_words=False, break_on_hyphens=False))
    return found


def figures_of(page):
    found, block, command, numbers = [], [], None, {}
    lines = page.read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        if line.startswith("    "):
            block.append(line[4:])
            command, numbers = "\n".join(block), {}
            continue
        block = []
        if mark := MARK.fullmatch(line):
            if command is None:
                sys.exit(f"{page.relative_to(TOP)}:{i + 1}: no command above it")
            begin = next((k for k in range(i + 1, len(lines)) if lines[k]), len(lines))
            kind = lines[begin].startswith("|")
            numbers[kind] = numbers.get(kind, -1) + 1
            found.append(Figures(page, mark, command, numbers[kind], lines, begin))
    return found


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command):
    start, used = time.monotonic(), processor_seconds()
    print(command, file=sys.stderr, flush=True)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=TOP, env={**os.environ, "PATH": PATH}, text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}: {command}")
    print(f"  {time.monotonic() - start:.1f} s, {processor_seconds() - used:.1f} s of processors", file=sys.stderr, flush=True)
    return done.stdout


def compare(page, command, figures, sample, write):
    """Returns how many of the figures differ from what the command prints."""
    output, differ = run(command), 0
    for known in figures:
        f = next(g for g in figures_of(page) if g.is_same(known))  # another command may have moved it
        now = f.now(output, sample)
        if now == f.lines:
            continue
        differ += 1
        if write:
            lines = page.read_text(encoding="utf-8").splitlines()
            lines[f.begin:f.end] = now
            page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        else:
            print("\n".join(difflib.unified_diff(f.lines, now, f.name(), command, lineterm="", n=1)), flush=True)
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="compare")
    what.add_argument("--write", action="store_true", help="rewrite")
    what.add_argument("--list", action="store_true", help="print the commands")
    parser.add_argument("--all", action="store_true", help="compare all rows, not only the samples")
    parser.add_argument("--measured", action="store_true", help="also what this machine makes")
    parser.add_argument("words", nargs="*", help="only tables whose page or command has one of these")
    options = parser.parse_args()
    sample = options.check and not options.all
    chosen = {}
    for page in sorted(TOP.glob("docs/**/*.md")):
        for f in figures_of(page):
            said = f"{f.name()} {f.command}"
            if (f.sampled or not sample) and (options.measured or not f.measured) and (
                    not options.words or any(word in said for word in options.words)):
                command = f.command + ("".join(f" {n}" for n in ["--rows", *f.rows]) if sample and f.rows else "")
                chosen.setdefault((f.page, command), []).append(f)
    differ, failed = 0, 0
    for (page, command), figures in chosen.items():
        if options.list:
            print(f"{figures[0].name()}\n{textwrap.indent(command, '    ')}")
            continue
        try:
            differ += compare(page, command, figures, sample, options.write)
        except Failed as why:
            print(why, flush=True)
            failed += 1
    if not options.list:
        print(f"{sum(map(len, chosen.values()))} tables and paragraphs: {differ} {'changed' if options.write else 'differ'}, "
              f"{failed} commands failed")
    return 1 if failed or differ and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
