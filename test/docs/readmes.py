#!/usr/bin/env python3
"""Checks the form of README.md files, and the links and paths in all pages.

usage: readmes.py SOURCE-ROOT

A folder with more than five files must have a README.md of at most 60 lines, which names each of its subfolders. The top-level one has at most 150 lines. Targets of relative links and of images must exist.
A path in backquotes must exist if its first folder is one of the project's: relative to the root or to the page's folder, with `*`, or without its extension.
Folders in capitals are placeholders, such as `frontend/FORM/`. docs/architecture.md must name each folder in the folders of the compiler and the runtime.
"""

import collections
import fnmatch
import os
import re
import subprocess
import sys

MANY, LINES, TOP_LINES = 5, 60, 150
# Data, one test's operands, and public headers, which are installed as they lie: the README.md above says what they are.
WITHOUT = ("Inputs", "graphs", "include/dlc")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r'\b(?:src|srcset)="([^"]+)"')
#: The page with the tree of folders, and the folders whose subfolders it lists.
TREE, LISTED = "docs/architecture.md", ("frontend", "ir", "passes", "codegen", "runtime")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
QUOTED_PATH = re.compile(r"`([\w.*-]+(?:/[\w.*-]*)+)`")
PLACEHOLDER = re.compile(r"(^|/)[A-Z]{2,}(\.\w+)?(/|$)")


def anchors(text):
    """The names of headings as links spell them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in HEADING.findall(text)
    }


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def folders_of(names):
    found = set()
    for name in names:
        while name := os.path.dirname(name):
            found.add(name)
    return found


def missing_paths(page, text, folders, paths):
    """The paths in back quotes that do not exist."""
    here = os.path.dirname(page)
    for quoted in QUOTED_PATH.findall(text):
        first = quoted.split("/")[0]
        if PLACEHOLDER.search(quoted) or not {first, os.path.join(here, first)} & folders:
            continue
        wanted = {os.path.normpath(quoted), os.path.normpath(os.path.join(here, quoted))}
        if not wanted & paths and not any(fnmatch.filter(paths, path) for path in wanted):
            yield quoted


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    names = sorted({n for n in listed.stdout.splitlines() if os.path.isfile(os.path.join(root, n))})
    if not names:  # a source archive without git
        names = sorted(
            os.path.relpath(os.path.join(d, f), root)
            for d, _, fs in os.walk(root)
            for f in fs
            if not os.path.relpath(d, root).startswith(("build", ".git"))
        )
    problems = []
    folders = collections.Counter(os.path.dirname(n) for n in names)
    for folder, count in sorted(folders.items()):
        page = os.path.join(folder, "README.md")
        if page not in names:
            if count > MANY and not folder.endswith(WITHOUT):
                problems.append(
                    f"{folder}/: {count} files and no README.md that says what belongs there"
                )
            continue
        lines, most = (
            len(read(os.path.join(root, page)).splitlines()),
            LINES if folder else TOP_LINES,
        )
        if lines > most:
            problems.append(f"{page}: {lines} lines; at most {most}: details belong in docs/")
    pages = [n for n in names if n.endswith(".md")]
    known = folders_of(names)
    for folder in sorted(known):
        page = os.path.join(os.path.dirname(folder), "README.md")
        if (
            page in names
            and os.path.dirname(folder)
            and not folder.endswith(WITHOUT)
            and os.path.basename(folder) not in read(os.path.join(root, page))
        ):
            problems.append(
                f"{page}: required: a line about each folder; missing: {os.path.basename(folder)}/"
            )
    paths = known.union(names, (os.path.splitext(name)[0] for name in names))
    for page in pages:
        text = re.sub(r"```.*?```", "", read(os.path.join(root, page)), flags=re.S)
        problems += [
            f"{page}: `{path}` does not exist" for path in missing_paths(page, text, known, paths)
        ]
        # Text in back quotes is not a link.
        text = re.sub(r"`[^`\n]*`", "", text)
        for link in LINK.findall(text) + IMAGE.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (
                os.path.normpath(os.path.join(root, os.path.dirname(page), path))
                if path
                else os.path.join(root, page)
            )
            if not os.path.exists(target):
                problems.append(f"{page}: links to {link}, which is not there")
            elif anchor and target.endswith(".md") and anchor not in anchors(read(target)):
                problems.append(f"{page}: links to {link}, whose page has no such heading")
    if TREE in names:
        tree = read(os.path.join(root, TREE))
        problems += [
            f"{TREE}: required: each folder of {os.path.dirname(folder)}/; missing: {folder}/"
            for folder in sorted(known)
            if os.path.dirname(folder) in LISTED
            and not re.search(rf"^  {re.escape(os.path.basename(folder))}/ ", tree, re.M)
        ]
    for problem in problems:
        print(problem)
    print(f"readmes: {len(folders)} folders, {len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
