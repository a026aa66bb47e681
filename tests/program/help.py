"""Tests --help and --help-all of all programs, and that the reference has the options that they share.

The names of options come from the programs' sources: the first arguments of the functions that add options.
"""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

PROJECT, *PATHS = map(pathlib.Path, sys.argv[1:])
SCRIPTS = [PROJECT / "scripts" / name for name in ("skel-view", "skel-mpiexec")]
LINES, COLUMNS = 2 * 40, 100


@functools.cache
def help_of(path, *words):
    done = subprocess.run([path, *words], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert not done.stderr, done.stderr
    return done.stdout


def options_in(*files):
    """The first long name of each option."""
    added = r'\b(?:option|add\w*|number|choice)(?:<[^>]*>)?\(\s*(?:[\w*.]+,\s*)*"(?:-\w,)?(--[a-z][a-z0-9-]*)'
    return set(re.findall(added, "".join(file.read_text() for file in files)))


def options_of(program):
    name = program.removeprefix("skel-")
    folder = PROJECT / ("examples" if (PROJECT / "examples" / name).is_dir() else "src/tools") / name
    jobs = set(PROJECT.glob("examples/*/simulation.cpp"))  # of skel-simulate
    own = set(folder.rglob("*.cpp"))
    return options_in(*(own | jobs if name == "simulate" else own - jobs))


def listed(text):
    """The options that a help text has lines for, by their first long names."""
    return re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", text, re.M)


class Help(unittest.TestCase):
    def test_help_fits_two_screens(self):
        for path in PATHS + SCRIPTS:
            verbs = help_of(path, "--help").partition("Subcommands:\n")[2].partition("\n\n")[0]
            for words in [(), *((verb,) for verb in re.findall(r"^  (\w+)", verbs, re.M))]:
                with self.subTest(path.name, words=words):
                    text = help_of(path, *words, "--help")
                    self.assertLessEqual(text.count("\n"), LINES)
                    self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)

    def test_help_all_names_every_option(self):
        found = 0
        for path in PATHS + SCRIPTS:
            with self.subTest(path.name):
                text = help_of(path, "--help-all")
                self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)
                names = options_of(path.name)
                self.assertLessEqual(names, set(listed(text)))
                found += len(names)
        self.assertGreater(found, 100)

    def test_help_names_the_formats_of_results(self):
        for path in PATHS:
            with self.subTest(path.name):
                line = re.search(r"(?m)^  -o,--output FILE +result file.*", help_of(path, "--help"))
                if line:
                    self.assertRegex(line[0], r"result file: \.\w+")

    def test_help_counts_what_it_leaves_out(self):
        for path in PATHS:
            with self.subTest(path.name):
                if "Subcommands:" in help_of(path, "--help"):
                    continue
                some, every = (listed(help_of(path, option)) for option in ("--help", "--help-all"))
                self.assertEqual([name for name in every if name in some], some)
                left_out = re.findall(r"--help-all shows (\d+) more option", help_of(path, "--help"))
                self.assertEqual(sum(map(int, left_out)), len(every) - len(some))

    def test_the_reference_has_the_shared_options(self):
        rows = (PROJECT / "src/program/option_rows.cpp").read_text()
        shared = options_in(PROJECT / "src/program/options.cpp") | set(re.findall(r'{"(--[a-z][a-z0-9-]*)",', rows))
        self.assertLess({"--output", "--schedule", "--resume"}, shared)
        page = (PROJECT / "docs/reference/options.md").read_text()
        raytrace = next(path for path in PATHS if path.name == "skel-raytrace")
        self.assertLessEqual(shared, set(listed(help_of(raytrace, "--help-all"))))
        for name in shared:
            self.assertRegex(page, rf"(?m)^\|.*{name}\b.*\|", name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
