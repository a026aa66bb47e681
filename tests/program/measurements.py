"""Tests scripts/measurements.py: a copy of it in a project of one page.

    measurements.py PROJECT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGE = """# Page

    benchmarks/table.sh

<!-- simulated, sample 2 -->

| a | b |
|---|---|
| 1 | 2 |
| 3 | old |

<!-- simulated -->

old

Rows without a head:

    echo '| 5 | 6 |'

<!-- simulated -->

| c | d |
|---|---|
| old | old |

    echo "never run" && false

<!-- measured -->

| e |
|---|
| 7 |
"""
MADE = PAGE.replace("| 3 | old |", "| 3 | 4 |").replace("\nold\n", "\nTwo rows.\n").replace("| old | old |", "| 5 | 6 |")
COMMAND = """#!/bin/sh
echo "a line that belongs to no figure" >&2
echo "| a | b |"
echo "|---|---|"
if [ "$1" = --rows ]; then echo "| 3 | 4 |"; exit; fi
echo "| 1 | 2 |"
echo "| 3 | 4 |"
echo
echo Two
echo rows.
"""


class Measurements(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        top = pathlib.Path(self.folder.name)
        for name in ("scripts", "docs", "benchmarks"):
            (top / name).mkdir()
        self.script, self.page, self.command = top / "scripts/measurements.py", top / "docs/page.md", top / "benchmarks/table.sh"
        shutil.copy(pathlib.Path(sys.argv[1]) / "scripts/measurements.py", self.script)
        self.page.write_text(PAGE)
        self.command.write_text(COMMAND)
        self.command.chmod(0o755)

    def run_it(self, *words):
        done = subprocess.run([sys.executable, self.script, *words], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    def test_rewrites_tables_and_paragraphs_in_place(self):
        self.assertEqual(self.run_it("--write"), (0, "3 tables and paragraphs: 3 changed, 0 commands failed\n"))
        self.assertEqual(self.page.read_text(), MADE)
        self.assertEqual(self.run_it("--check", "--all"), (0, "3 tables and paragraphs: 0 differ, 0 commands failed\n"))

    def test_compares_the_sample_alone(self):
        code, said = self.run_it("--check")
        self.assertEqual(code, 1)
        self.assertIn("-| 3 | old |\n+| 3 | 4 |\n1 tables and paragraphs: 1 differ", said)
        self.page.write_text(PAGE.replace("| 3 | old |", "| 3 | 4 |").replace("| 1 | 2 |", "| not in the sample |"))
        self.assertEqual(self.run_it("--check")[0], 0)
        self.assertEqual(self.run_it("--check", "--all")[0], 1)

    def test_chooses_by_words(self):
        self.assertEqual(self.run_it("--write", "echo")[0], 0)
        self.assertEqual(self.page.read_text(), PAGE.replace("| old | old |", "| 5 | 6 |"))

    def test_goes_on_after_a_command_that_fails(self):
        self.command.write_text("#!/bin/sh\nexit 3\n")
        code, said = self.run_it("--write")
        self.assertEqual(code, 1)
        self.assertIn("exit code 3: benchmarks/table.sh\n", said)
        self.assertEqual(self.page.read_text(), PAGE.replace("| old | old |", "| 5 | 6 |"))

    def test_rows_that_are_not_there(self):
        self.command.write_text(COMMAND.replace('echo "| 3 | 4 |"; exit', "exit"))
        code, said = self.run_it("--check")
        self.assertEqual(code, 1)
        self.assertIn("docs/page.md:7: expected the rows [2], found 0 of 2", said)


unittest.main(argv=sys.argv[:1])
