#!/usr/bin/env python3
"""Checks docs/**/*.md and the other pages (PAGES); run by scripts/test.sh, step docs.

Every relative link must name a file of the project, every anchor a heading of its page. docs/index.md must link to
every page below docs, and docs/reference/api.md to every public header. Prose has lines of at most 100 characters and
paragraphs of at most six lines. Prints a line for each mistake and exits with 1 if there is one. Links to other sites
are not followed. Needs only Python's standard library.

    scripts/check_docs.py [FOLDER]     # another folder than the project's
"""
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"\[[^\[\]]+\]\(([^()\s]+)\)")
ITEM = re.compile(r"\s*([-*]|\d+\.)\s")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "packaging/README.md",
         "examples/tutorial/README.md", "benchmarks/components/paper/README.md")
HEADING = re.compile(r"#{1,6} +(.*)")


def prose(page):
    """The lines of a page with their numbers, without blocks of code."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    found = set()
    for _, line in prose(page):
        if heading := HEADING.fullmatch(line):
            text = re.sub(r"[^\w\- ]", "", LINK.sub(lambda link: link[0].split("](")[0], heading[1]).lower())
            base = text.strip().replace(" ", "-")
            repeated = sum(a == base or re.fullmatch(re.escape(base) + r"-\d+", a) is not None for a in found)
            found.add(f"{base}-{repeated}" if repeated else base)
    return found


def links(page):
    """The relative links of a page: line, target as written, file and anchor."""
    lines = dict(prose(page))
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    text = re.sub(r"`(?:[^`\n]|\n(?!\n))*`", lambda code: re.sub(r"[^\n]", "x", code[0]), text)
    for link in LINK.finditer(text):
        if not re.match(r"[a-z]+:", link[1]):
            path, _, anchor = urllib.parse.unquote(link[1]).partition("#")
            number = text.count("\n", 0, link.start(1)) + 1
            yield number, link[1], (page.parent / path).resolve() if path else page, anchor


def layout(page):
    """Lines of prose that are too long, and paragraphs or items of lists that are."""
    previous, length = 0, 0
    for number, line in prose(page):
        text = line.strip()
        if not text or text[0] in "|#<!":
            length = 0
            continue
        if len(line) > 100 and len(re.sub(r"`[^`]*`", "", text)) > 3:  # a piece of code cannot be broken
            yield number, f"{len(line)} characters, expected at most 100"
        length = 1 if number != previous + 1 or ITEM.match(line) else length + 1
        previous = number
        if length == 7:
            yield number, "a paragraph of more than six lines"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    index = root / "docs/index.md"
    api = root / "docs/reference/api.md"
    headers = {header for where in ("include/skel", "examples/applications/skel") for header in (root / where).glob("**/*.hpp")
               if "detail" not in header.parts}
    pages = [root / name for name in PAGES] + sorted(root.glob("docs/**/*.md"))
    mistakes = []
    indexed = {index}
    checked = 0
    for page in pages:
        name = page.relative_to(root)
        mistakes += [f"{name}:{number}: {mistake}" for number, mistake in layout(page)]
        for number, target, file, anchor in links(page):
            checked += 1
            if root not in file.parents or not file.exists():
                mistakes.append(f"{name}:{number}: link to {target}: no such file")
            elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
                mistakes.append(f"{name}:{number}: link to {target}: no such heading")
            elif page == index:
                indexed.add(file)
            elif page == api:
                headers.discard(file)
    mistakes += [f"docs/index.md: no link to {page.relative_to(root)}"
                 for page in pages if root / "docs" in page.parents and page not in indexed]
    mistakes += [f"docs/reference/api.md: no link to {header.relative_to(root)}" for header in sorted(headers)]
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    print(f"{len(pages)} pages, {checked} links, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
