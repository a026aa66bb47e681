#!/usr/bin/python3
"""Builds the documentation as a site, in build/docs/site; run by scripts/docs.sh after Doxygen. Needs mkdocs-material.

The pages keep their places, so links between them need no change. Source files that a page links to become pages, and
so do Doxygen's pages of the API, whose names are in the search. The site refers to no other host, and its search also
works in pages that are opened as files. Checks every link, anchor and picture of the result and, where Chromium is
installed, searches for some names; prints a line for each mistake and exits with 1 if there is one.
"""
import concurrent.futures
import html
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
API = []  # entries of the search
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
            text = text.replace("all names, types and members", "all [names](../../api/namespacemembers.md), "
                                "[types](../../api/annotated.md), [concepts](../../api/concepts.md) and "
                                "[members](../../api/functions.md)")
        place = STAGE / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(adapted(text), encoding="utf-8")
    stage_api()


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


def stage_api():
    """Doxygen's pages of names, types and concepts as pages of the site, with what the search knows of them."""
    (STAGE / "api").mkdir()
    pages = sorted((BUILD / "html").glob("*.html"))
    kept = re.compile(r"annotated|functions|(class|struct|union|concept|namespace)(?!es$|s$|members_)\w+|concepts")
    members = "".join(contents(page) for page in pages if re.fullmatch(r"functions(_\w)?\.html", page.name))
    for page in pages:
        if kept.fullmatch(page.stem):
            text = page.read_text(encoding="utf-8")
            title = re.search(r"<title>\w+: (.*?)(?: \w+(?: Template)? Reference)?</title>", text)[1]
            above = re.findall(r'class="navelem">(<a.*?</a>)(?=</li><)', text)
            path = " › ".join(['<a href="../docs/reference/api.html">The API</a>', *above])
            body = members if page.name == "functions.html" else contents(page)
            API.extend(entries(f"api/{page.name}", html.unescape(title), body))
            (STAGE / "api" / f"{page.stem}.md").write_text(
                f'<p class="api-path">{path}</p>\n\n# {title}\n\n<div class="api">\n{body}</div>\n', encoding="utf-8")


def contents(page):
    """What a page of Doxygen shows, without pictures, and with links to pages of the site."""
    text = page.read_text(encoding="utf-8")
    text = text[text.index('<div class="contents">') + 22:text.index("</div><!-- contents -->")]
    text = re.sub(r'<hr/>The documentation for this .*', "", text, flags=re.DOTALL)  # #include says it
    for control in ('<div class="levels">.*?</div>', '<span id="arr_.*?</span>', "<img [^>]*>",
                    ' style="display:none;"', r' on\w+="[^"]*"'):
        text = re.sub(control, "", text)
    text = re.sub(r' *<a href="[^"]*#details">More\.\.\.</a>', "", text)
    text = re.sub(r'<a class="el" href="(?:dir_\w+|\w+_8hpp(?:_source)?)\.html[^"]*"[^>]*>(.*?)</a>', r"\1", text)
    for page in set(re.findall(r"\bdocs/[\w/-]+\.md\b", text)):
        if (ROOT / page).is_file():
            text = text.replace(page, f'<a href="../{page[:-3]}.html">{page}</a>')
    for header in re.findall(r"#include &lt;(skel/[\w/]+\.hpp)&gt;", text):
        folder = next(f for f in ("include", "examples/applications") if (ROOT / f / header).is_file())
        text = text.replace(f"&lt;{header}&gt;", f'&lt;<a href="../{folder}/{header}.html">{header}</a>&gt;')
    return text


def entries(location, title, body):
    """What the search knows of a page of the API: its name and description, and those of the members."""
    def plain(markup):
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup or "")).split())
    about = re.search(r'<div class="textblock">(.*?)</div>', body, re.DOTALL)
    for place in (location, f"{location}#top"):  # the theme takes a page's title from its first section
        yield {"location": place, "title": title, "text": plain(about and about[1])}
    member = r'<tr class="memitem:(\w+)[^>]*>(.*?)</tr>\s*(?:<tr class="memdesc:\1.*?Right">(.*?)</tr>)?'
    for identifier, row, text in re.findall(member, body, re.DOTALL):
        name = re.search(r'Right" valign="bottom">\s*(?:<a class="el" [^>]*>|<b>)(\w+)', row)
        if name and f'id="{identifier}"' in body:
            yield {"location": f"{location}#{identifier}", "title": name[1], "text": plain(text)}


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
    hidden = re.compile(r"(include|examples|src|benchmarks|api)/")
    index["docs"] = [d for d in index["docs"] if not hidden.match(d["location"])] + API
    (SITE / "search/index.js").write_text(TRANSFORM + f"__search.index = Promise.resolve({json.dumps(index)});\n",
                                          encoding="utf-8")


# Separates the words of pages and of searches, which find the pages with all words. Names such as ring_steal are one word.
SEPARATOR = r"\W+"
TRANSFORM = f"var __search = {{transform: text => text.split(/{SEPARATOR}/).filter(Boolean).map(w => '+' + w).join(' ')}};\n"

# What the check searches for, and a page that must be among the first results.
SEARCHES = {"ring_steal": "docs/reference/ring-steal.html", "skel::on_error": "docs/how-to/failing-tasks.html",
            "--watch": "docs/how-to/observe.html", "run on hosts": "docs/how-to/run-on-several-hosts.html",
            "gpu": "docs/how-to/accelerators.html", "ssh": "docs/how-to/run-on-several-hosts.html",
            "OpenMP": "docs/reference/threads.html", "thread safety": "docs/reference/threads.html",
            "results on all ranks": "docs/how-to/farm-results.html",
            "stop at a good solution": "docs/how-to/farm-results.html",
            "which process is rank 0": "docs/how-to/run.html", "memory of the root": "docs/how-to/farm-results.html",
            "skel::farm_options": "api/structskel_1_1farm__options.html"}

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
.api-path { font-size: .7rem; }
.api :is(.memItemLeft, .memTemplItemLeft, .memTemplParams, .memItemRight, .memTemplItemRight, .memproto, .fieldname,
    .entry) {
  font: .68rem/1.5 var(--md-code-font-family, monospace); vertical-align: top;
}
.api :is(.memItemLeft, .memTemplItemLeft, .memTemplParams) {
  padding-right: .6em; color: var(--md-default-fg-color--light);
}
.api :is(.memItemRight, .memTemplItemRight) { width: 100%; }
.api :is(.mdescRight, .fielddoc, .desc) { font-size: .72rem; vertical-align: top; }
.api :is(.mdescRight p, .fielddoc p) { margin: 0; }
.api .mdescRight { padding-bottom: .6em; }
.api .mdescRight br { display: none; }
.api .memSeparator { font-size: .2rem; border-bottom: .05rem solid var(--md-default-fg-color--lightest); }
.api .memtitle { font-size: .9rem; font-weight: 700; margin-bottom: .4em; }
.api .memtitle .permalink { display: none; }
.api .memproto { padding: .6em .9em; background: var(--md-code-bg-color); overflow-x: auto; }
.api .memproto td { font: inherit; }
.api .memname { font-weight: 700; }
.api .memdoc { padding: 0 .9em; border-left: .1rem solid var(--md-code-bg-color); }
.api .mlabel { padding: 0 .4em; font-weight: 400; color: var(--md-default-fg-color--light); }
.api pre.fragment { padding: .8em 1.1em; font-size: .6rem; background: var(--md-code-bg-color); overflow-x: auto; }
.api div.fragment { padding: .8em 1.1em; font: .6rem/1.4 var(--md-code-font-family, monospace);
  background: var(--md-code-bg-color); overflow-x: auto; white-space: pre; }
.api .icon { padding-right: .6em; color: var(--md-default-fg-color--light); }
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
# Results of the API follow those of the pages, unless they have the very name.
SCRIPT = r"""
const ordered = event => {
  const found = event.data.data && event.data.data.items;
  if (!found) return event;
  const named = d => d.title.replace(/<[^>]*>/g, "").toLowerCase().split(/\W+/).some(word => word in d.terms);
  const late = group => /(^|\/)api\//.test(group[0].location) && !group.some(named);
  const items = [...found.filter(group => !late(group)), ...found.filter(late)];
  return new MessageEvent("message", {data: {...event.data, data: {...event.data.data, items}}});
};
window.Worker = location.protocol !== "file:" ? class extends Worker {
  addEventListener(kind, handler, ...more) {
    super.addEventListener(kind, kind === "message" ? event => handler(ordered(event)) : handler, ...more);
  }
} : class extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.postMessage = data => this.dispatchEvent(ordered(new MessageEvent("message", {data})));
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

    def found(words, page):
        address = f"{SITE.as_uri()}/index.html?q={urllib.parse.quote(words)}"
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000",
                               "--dump-dom", address], check=True, capture_output=True, text=True, timeout=60)
        results = re.findall(r'href="([^"]*)" class="md-search-result__link"', done.stdout)
        return any(urllib.parse.urlsplit(result).path == f"{SITE}/{page}" for result in results)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        all_found = pool.map(lambda search: found(*search), SEARCHES.items())
        return [f"index.html: a search for {words} does not find {page}"
                for (words, page), is_found in zip(SEARCHES.items(), all_found) if not is_found]


def check():
    pages = {page: references(page.read_text(encoding="utf-8")) for page in SITE.rglob("*.html")
             if page.name != "404.html"}
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
