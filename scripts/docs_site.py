#!/usr/bin/python3
"""Builds the documentation as a site, in build/docs/site; run by scripts/docs.sh after Doxygen. Needs mkdocs-material.

The pages keep their places, so links between them need no change. Source files that a page links to become pages. The
site refers to no other host, and its search also works in pages that are opened as files. Checks every link, anchor
and picture of the result and, where Chromium is installed, searches for some names; prints a line for each mistake and
exits with 1 if there is one.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import mkdocs.commands.build
import mkdocs.config

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_docs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/docs"
STAGE, SITE = BUILD / "pages", BUILD / "site"
PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")]
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".txt": "cmake", ".py": "python", ".sh": "bash", ".json": "json"}


def slug(heading, _separator):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def adapted(text):
    """What GitHub's Markdown understands and Python's does not."""
    lines, fenced, in_item, blank = [], False, False, False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            if line.startswith("|"):
                line = re.sub(r"`([^`]*)`", in_table, line)
            if check_docs.ITEM.match(line):
                in_item = True
            elif line and not line.startswith(" "):
                in_item = in_item and not blank
            elif in_item and re.match(r" {2,3}\S", line):
                line = "    " + line.strip()  # a paragraph of an item
        blank = not line.strip()
        lines.append(line)
    return "\n".join(lines)


def in_table(code):
    """A piece of code in a table, with places where a line may break."""
    text = code[1].replace(r"\|", "|").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([,:|/=;])(?=\w|\.|…)", r"\1<wbr>", text) if len(text) > 16 else text
    for mark in "|*_[]":
        text = text.replace(mark, f"&#{ord(mark)};")
    return f"<code>{text}</code>"


def stage():
    """Copies the pages, the files that they show, and pages made of the source files that they link to."""
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = PAGES + sorted(ROOT.glob("docs/**/*.md")) + [ROOT / "examples/tutorial/README.md"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for _, target, file, anchor in check_docs.links(page):
            if file in pages:
                continue
            if file.suffix in (".png", ".svg"):
                copy(file)
                continue
            show(file)
            text = text.replace(f"]({target})", f"]({target.partition('#')[0]}.md{'#' + anchor if anchor else ''})")
        if page.name == "api.md":
            text = text.replace("all names, types and members", "all [names](../../api/namespacemembers.html), "
                                "[types](../../api/annotated.html) and [members](../../api/functions.html)")
        place = STAGE / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(adapted(text), encoding="utf-8")
    shutil.copytree(BUILD / "html", STAGE / "api")
    for page in (STAGE / "api").glob("*.html"):  # a way back from Doxygen's pages
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'(<div id="projectname">)(\w+)', r'\1<a href="../docs/index.html">\2</a>', text), encoding="utf-8")


def copy(file):
    place = STAGE / file.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, place)


def show(file):
    """A page with the text of a file."""
    name = file.relative_to(ROOT)
    place = STAGE / f"{name}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    language = LANGUAGES.get(file.suffix, "text")
    place.write_text(f"# {name}\n\n````{language}\n{file.read_text(encoding='utf-8')}````\n", encoding="utf-8")


def navigation():
    """The tabs and their pages, from the tables of docs/index.md: a tab for each kind of page."""
    tabs = {"Home": [{"What skel is": "README.md"}, {"All pages": "docs/index.md"}]}
    tab, subtab = "", ""
    for line in (ROOT / "docs/index.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## ([^:]+)(?:: (.*))?", line):
            tab, subtab = heading[1], heading[2].capitalize() if heading[1] == "Reference" else ""
        elif row := re.match(r"\| (\d+\. )?\[([^\]]+)\]\(([^)]+\.md)\)", line):
            page = {(row[1] or "") + row[2]: os.path.normpath(f"docs/{row[3]}")}
            pages = tabs.setdefault(tab, [])
            if subtab:
                if not pages or subtab not in pages[-1]:
                    pages.append({subtab: []})
                pages = pages[-1][subtab]
            pages.append(page)
    tabs["Reference"].append({"Terms": [{"Glossary": "docs/glossary.md"}, {"Bibliography": "docs/bibliography.md"}]})
    tabs["Home"] += [{"Changelog": "CHANGELOG.md"}, {"Security": "SECURITY.md"}]
    return [{name: pages} for name, pages in tabs.items()]


def build():
    theme = BUILD / "theme"
    theme.mkdir(exist_ok=True)
    (theme / "main.html").write_text(HEAD, encoding="utf-8")
    (STAGE / "site.css").write_text(STYLE, encoding="utf-8")
    (STAGE / "site.js").write_text(SCRIPT, encoding="utf-8")
    settings = BUILD / "mkdocs.yml"
    settings.write_text(json.dumps({  # JSON is YAML
        "site_name": "skel", "docs_dir": str(STAGE), "site_dir": str(SITE), "nav": navigation(), "strict": True,
        "use_directory_urls": False, "copyright": "BSL-1.0", "extra": {"homepage": "index.html"},
        "theme": {"name": "material", "custom_dir": str(theme), "font": False, "features": ["navigation.tabs", "navigation.top"],
                  "icon": {"logo": "material/sitemap"},
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo"},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo"}]},
        "plugins": [{"search": {"separator": SEPARATOR}}], "extra_css": ["site.css"],
        "markdown_extensions": ["tables", "sane_lists", {"pymdownx.highlight": {}}, "pymdownx.superfences", "toc"],
    }), encoding="utf-8")
    config = mkdocs.config.load_config(str(settings))
    config["mdx_configs"]["toc"] = {"slugify": slug, "permalink": True}
    mkdocs.commands.build.build(config)
    index = json.loads((SITE / "search/search_index.json").read_text(encoding="utf-8"))
    index["docs"] = [d for d in index["docs"] if not re.match(r"(include|examples|src|benchmarks)/", d["location"])]
    (SITE / "search/index.js").write_text(TRANSFORM + f"__search.index = Promise.resolve({json.dumps(index)});\n",
                                          encoding="utf-8")


# Separates the words of pages and of searches, which find the pages with all words. Names such as ring_steal are one word.
SEPARATOR = r"\W+"
TRANSFORM = f"var __search = {{transform: text => text.split(/{SEPARATOR}/).filter(Boolean).map(w => '+' + w).join(' ')}};\n"

# What the check searches for, and a page that must be among the first results.
SEARCHES = {"ring_steal": "docs/reference/ring-steal.html", "skel::on_error": "docs/how-to/failing-tasks.html",
            "--watch": "docs/how-to/observe.html", "run on hosts": "docs/how-to/run-on-several-hosts.html"}

STYLE = """
.md-grid { max-width: 75rem; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) :is(th, td) { min-width: 3rem; padding: .5em .8em; }
.md-typeset table:not([class]) code { word-break: normal; }
@media (max-width: 60em) { /* a diagram whose text is too small at the width of a phone scrolls */
  .md-typeset p:has(> img[src$=".svg"]) { overflow-x: auto; }
  .md-typeset img[src$=".svg"] { max-width: none; }
}
@media (min-width: 60em) { .md-typeset pre > code { font-size: .6rem; } }
@media (min-width: 76.25em) { .md-sidebar { width: 10.4rem; } }
[data-md-color-scheme=slate][data-md-color-primary] { --md-typeset-a-color: #9fa8ff; }
"""

# Both scripts must be there before the theme's own. All words are indexed: a search for "run on hosts" requires "on", too.
HEAD = """{% extends "base.html" %}
{% block config %}{{ super() | replace("stopWordFilter", "") }}{% endblock %}
{% block libs %}
<script src="{{ 'search/index.js' | url }}"></script>
<script src="{{ 'site.js' | url }}"></script>
{% endblock %}
"""

# The theme's search runs in a worker, which browsers refuse to pages that are opened as files: an inner frame is one.
SCRIPT = """
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
    inside.addEventListener = (kind, handler) => {
      if (kind !== "message") return;
      this.handler = handler;
      this.waiting.forEach(data => handler({data}));
    };
    const script = inside.document.createElement("script");
    script.src = new URL(url, location.href);
    inside.document.head.append(script);
  }
  postMessage(data) { this.handler ? this.handler({data}) : this.waiting.push(data); }
  terminate() {}
};
"""


class references(html.parser.HTMLParser):
    """The identifiers of a page, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.targets.append(attributes["href"])
        elif tag in ("img", "script", "iframe", "source") and attributes.get("src"):
            self.loads.append(attributes["src"])
        elif tag == "link" and attributes.get("rel") in ("stylesheet", "icon", "preconnect"):
            self.loads.append(attributes["href"])


def search():
    """Returns a mistake for each of SEARCHES that fails in a browser, in a page that is opened as a file."""
    browser = shutil.which("chromium")
    if not browser:
        print("The search is not checked: chromium not found")
        return []
    mistakes = []
    for words, page in SEARCHES.items():
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom",
                               f"{SITE.as_uri()}/index.html?q={urllib.parse.quote(words)}"],
                              check=True, capture_output=True, text=True, timeout=60)
        results = re.findall(r'href="([^"]*)" class="md-search-result__link"', done.stdout)
        if not any(urllib.parse.urlsplit(result).path == f"{SITE}/{page}" for result in results):
            mistakes.append(f"index.html: a search for {words} does not find {page}")
    return mistakes


def check():
    pages = {page: references(page.read_text(encoding="utf-8")) for page in SITE.rglob("*.html")
             if page.name != "404.html" and SITE / "api" not in page.parents}
    mistakes, checked = [], 0
    for page, found in pages.items():
        name = page.relative_to(SITE)
        mistakes += [f"{name}: loads {load} from another host" for load in found.loads if re.match(r"(https?:)?//", load)]
        for target in found.targets + found.loads:
            if re.match(r"[a-z]+:|//", target):
                continue
            checked += 1
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            file = (page.parent / path.partition("?")[0]).resolve() if path else page
            if not file.is_file():
                mistakes.append(f"{name}: link to {target}: no such file")
            elif anchor and file in pages and anchor not in pages[file].ids:
                mistakes.append(f"{name}: link to {target}: no such heading")
    mistakes += search()
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    print(f"{SITE.relative_to(ROOT)}/index.html: {len(pages)} pages, {checked} links, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    stage()
    build()
    sys.exit(check())
