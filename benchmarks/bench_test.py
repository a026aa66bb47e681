#!/usr/bin/env python3
"""Tests bench.py: what is missing is named in one line, and tables are made by rows."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bench  # noqa: E402


class Need(unittest.TestCase):
    def test_names_programs_modules_and_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            options = bench.parser("").parse_args(["--bin", folder])
            (options.bin / "skel-here").touch()
            bench.need(options, "skel-here", "sh")
            with self.assertRaises(SystemExit) as end:
                bench.need(options, "skel-here", "skel-bench-farm", "skel-model")
            self.assertIn(f"missing skel-bench-farm, skel-model in {options.bin}: cmake --preset bench", str(end.exception))
            bench.MODULES["none"] = (sys.executable, "no_such_module")
            with self.assertRaises(SystemExit) as end:
                bench.need(options, "none", "no-such-program")
            self.assertIn("missing none, no-such-program: apt-get install", str(end.exception))

    def test_every_script_says_so_before_it_computes(self):
        scripts = [HERE / "ranks.py"] + [path for path in sorted(HERE.glob("*/*.py")) if "bench.parser(" in path.read_text()]
        self.assertGreater(len(scripts), 20)
        with tempfile.TemporaryDirectory() as empty:
            running = {script: subprocess.Popen(
                [sys.executable, script, "--bin", empty, *(["paper"] if script.parent.name == "multi_host" else [])], cwd=empty,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for script in scripts if script.name != "compile_time.py"}  # which needs no program of a build
            for script, process in running.items():
                with self.subTest(script=script.relative_to(HERE)):
                    out, said = process.communicate(timeout=240)
                    self.assertEqual((process.returncode, out), (1, ""))
                    self.assertRegex(said, r"\A\w+\.py: missing .*\n\Z")
            self.assertEqual(list(pathlib.Path(empty).iterdir()), [])


class Table(unittest.TestCase):
    def test_makes_only_the_rows_that_are_asked_for(self):
        made = []

        def row(k):
            made.append(k)
            return k, k * k

        with contextlib.redirect_stdout(io.StringIO()) as out:
            bench.table(bench.parser("", rows=True).parse_args(["--rows", "3", "1"]), ["k", "square"],
                        [lambda k=k: row(k) for k in range(10, 14)])
        self.assertEqual(out.getvalue(), "| k | square |\n|---|---|\n| 10 | 100 |\n| 12 | 144 |\n")
        self.assertEqual(made, [10, 12])


if __name__ == "__main__":
    unittest.main()
