#!/usr/bin/env python3
"""Copies files of the source with all deliberate faults in them, each of which a number switches on.

usage: break_source.py FAULTS SRC TO

FAULTS is faults_in_source.txt. A fault whose text does not occur exactly once in its file is an error: it must be
changed together with the source. Writes TO/faults.inl, the names, too, and touches no file that stays the same.
"""
import pathlib
import sys


def read(path):
    blocks = pathlib.Path(path).read_text().split("\n\n")
    for block in blocks:
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("#"):
            continue
        name, file, *rest = lines
        old = "\n".join(line[2:] for line in rest if line.startswith("- "))
        new = "\n".join(line[2:] for line in rest if line.startswith("+ "))
        if not old or not new or any(line[:2] not in ("- ", "+ ") for line in rest):
            sys.exit(f"{path}: {name}: expected a file, and lines that begin with '- ' and '+ '")
        yield name, file, old, new


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    faults, src, to = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    texts, names = {}, []
    for name, file, old, new in read(faults):
        names.append(name)
        text = texts.get(file) or "extern int storm_fault;\n" + (src / file).read_text()
        if (count := text.count(old)) != 1:
            sys.exit(f"{faults}: {name}: its text occurs {count} times in {file}, expected once")
        texts[file] = text.replace(old, new.replace("BROKEN", f"(::storm_fault == {len(names)})"))
    for file, text in texts.items():
        write(to / file, text)
    write(to / "faults.inl", "".join(f'"{name}",\n' for name in names))


main()
