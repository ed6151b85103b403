#!/usr/bin/env python3
"""Builds the documentation site and checks its pages, or checks a site that is already built.

usage: site.py SOURCE-ROOT BUILD-FOLDER
       site.py --built FOLDER [--page PAGE...]

Each link must have a target, and each `#anchor` an element with that id. Resources (scripts, styles, images, frames) must be files of the site, in pages and in
style sheets. An element that HTML does not define is an error: text such as `<model>` without backquotes disappears from a page. Each page has a title and an entry
in the index of the search, which is stored as JSON and as a script with the same content. --page requires that a page exists.

Without MkDocs in BUILD-FOLDER/venv-docs (`tools/setup --docs`), nothing is checked.
"""

import argparse
import glob
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

#: Attributes whose URL the browser loads when it shows the page, and the elements that have them.
RESOURCES = {
    "src": {"script", "img", "iframe", "source", "video", "audio", "embed", "track", "input"},
    "srcset": {"img", "source"},
    "poster": {"video"},
    "data": {"object"},
}
#: Kinds of <link> that the browser does not load.
NOT_LOADED = {"canonical", "next", "prev", "alternate", "license", "author"}
ELEMENTS = set(
    """html head body title meta link style script noscript base template slot main header footer nav article section aside address h1 h2 h3 h4 h5 h6 hgroup p hr
pre blockquote ol ul li dl dt dd figure figcaption div a em strong small s cite q dfn abbr code var samp kbd sub sup i b u mark bdi bdo span br wbr ins del picture source
img iframe embed object video audio track map area table caption colgroup col tbody thead tfoot tr td th form label input button select datalist optgroup option textarea
output progress meter fieldset legend details summary dialog menu canvas time data svg path g circle rect line polyline polygon ellipse text defs use
symbol lineargradient stop clippath""".split()
)
STYLE_URL = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(html.parser.HTMLParser):
    """The ids, links, resources, element names and title of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.resources, self.elements, self.title, self.in_title = (
            set(),
            [],
            [],
            set(),
            "",
            False,
        )
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.elements.add(tag)
        self.ids |= {
            values[name]
            for name in ("id", "name")
            if values.get(name) and (name == "id" or tag == "a")
        }
        self.in_title = tag == "title" and not self.title
        if tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])
        elif (
            tag in ("link", "use", "image")
            and "href" in values
            and not NOT_LOADED & set(values.get("rel", "").split())
        ):
            self.resources.append(values["href"])
        elif tag == "link" and "href" in values:
            self.links.append(values["href"])
        for name, tags in RESOURCES.items():
            if tag in tags and name in values:
                self.resources += (
                    [part.split()[0] for part in values[name].split(",") if part.strip()]
                    if name == "srcset"
                    else [values[name]]
                )
        self.resources += style_urls(values.get("style", ""))

    def handle_data(self, data):
        if self.in_title:
            self.title, self.in_title = data.strip(), False


def style_urls(text):
    return [a or b for a, b in STYLE_URL.findall(text)]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check(folder, required):
    """Problems of a built site, and its number of pages and links."""
    names = sorted(
        os.path.relpath(os.path.join(d, f), folder)
        for d, _, files in os.walk(folder)
        for f in files
    )
    pages = {
        name: Page(read(os.path.join(folder, name))) for name in names if name.endswith(".html")
    }
    problems, links = [f"{name}: the page is missing" for name in required if name not in pages], 0

    def resolve(page, url):
        """Path and anchor in the site, or None for a link to another site."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme or parts.netloc:
            return None
        path = urllib.parse.unquote(parts.path)
        return os.path.normpath(
            os.path.join(os.path.dirname(page), path)
        ) if path else page, urllib.parse.unquote(parts.fragment)

    def check_resource(page, url):
        target = resolve(page, url)
        if url.startswith(("data:", "#")):
            return
        if not target or url.startswith("/"):
            problems.append(f"{page}: loads {url}; required: a path relative to the page")
        elif not os.path.isfile(os.path.join(folder, target[0])):
            problems.append(f"{page}: loads {url}, which does not exist")

    for name, page in pages.items():
        for url in page.links:
            target = resolve(name, url)
            if not target:
                continue
            links += 1
            if not os.path.isfile(os.path.join(folder, target[0])):
                problems.append(f"{name}: links to {url}, which does not exist")
            elif target[1] and target[0] in pages and target[1] not in pages[target[0]].ids:
                problems.append(f"{name}: links to {url}, but the page has no such anchor")
        for url in page.resources:
            check_resource(name, url)
        problems += [
            f"{name}: unknown element <{element}>: write it in backquotes"
            for element in sorted(page.elements - ELEMENTS)
            if "-" not in element
        ]
        if not page.title:
            problems.append(f"{name}: the page has no title")
    for name in names:
        if name.endswith(".css"):
            for url in style_urls(
                re.sub(r"/\*.*?\*/", "", read(os.path.join(folder, name)), flags=re.S)
            ):
                check_resource(name, url)
    index = os.path.join(folder, "search", "search_index.json")
    if os.path.exists(index):
        indexed = {entry["location"].partition("#")[0] for entry in json.loads(read(index))["docs"]}
        problems += [
            f"{name}: the search index has no entry of the page"
            for name in sorted(pages.keys() - indexed)
        ]
        script = index.removesuffix("on")
        if not os.path.exists(script) or read(index) not in read(script):
            problems.append(
                "search/search_index.js: required: the content of search_index.json, for pages opened from files"
            )
    else:
        problems.append("search/search_index.json does not exist")
    return problems, len(pages), links


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("folders", nargs="*", metavar="SOURCE-ROOT BUILD-FOLDER")
    a.add_argument("--built", metavar="FOLDER")
    a.add_argument("--page", action="append", default=[])
    o = a.parse_args()
    if o.built:
        problems, pages, links = check(o.built, o.page)
    else:
        root, build = o.folders
        if not glob.glob(
            os.path.join(build, "venv-docs", "lib", "python3*", "site-packages", "mkdocs")
        ):
            print(
                "MkDocs is not installed: run tools/setup --docs\nsite: 0 passed, 0 failed, 1 skipped"
            )
            return 0
        required = [
            os.path.splitext(os.path.relpath(path, root))[0].replace("README", "index") + ".html"
            for path in [
                os.path.join(root, "README.md"),
                *glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True),
            ]
        ]
        with tempfile.TemporaryDirectory(prefix="dlc-site-") as folder:
            done = subprocess.run(
                [
                    os.path.join(root, "tools", "site"),
                    "--to",
                    folder,
                    "--python",
                    os.path.join(build, "venv-docs", "bin", "python"),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            problems, pages, links = (
                ([done.stdout.rstrip()], 0, 0)
                if done.returncode
                else check(folder, o.page + required)
            )
    print("\n".join(problems + [f"site: {pages} pages, {links} links, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
