#!/usr/bin/env python3
"""Counts words and phrases that have no ordinary meaning in the project's text. The counts may only decrease.

usage: words.py SOURCE-ROOT [--update] [--where WORD] [--list FILE]

words.txt has a line `COUNT WORD` for each word. Whole words are counted in any case, in sources, tests, scripts and pages, and as parts of names such as `isTurned`.
A higher count is a failure. A lower count is a failure, too, until --update writes it to words.txt. --where prints the lines with one word.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "words.txt")
ENDINGS = (
    ".cpp",
    ".h",
    ".hpp",
    ".cuh",
    ".c",
    ".td",
    ".def",
    ".py",
    ".md",
    ".txt",
    ".mlir",
    ".test",
    ".cmake",
)
#: The check and its list.
WITHOUT = ("test/docs/words.txt", "test/docs/words.py", "test/docs/words.test")


def pattern(word):
    """A word by itself, or as a part of a name in camel case: `turned`, `Turned`, `isTurned`, `turned_rows`; not `returned`."""
    text = r"\s+".join(re.escape(part) for part in word.split())
    return re.compile(
        rf"(?<![A-Za-z])(?i:{text})(?![a-z])|(?<=[a-z0-9]){re.escape(word[0].upper() + word[1:])}(?![a-z])"
    )


def texts(root):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in sorted(set(listed.stdout.splitlines())):
        if (
            name.endswith(ENDINGS)
            and name not in WITHOUT
            and os.path.isfile(os.path.join(root, name))
        ):
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as f:
                yield name, f.read()


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("root")
    a.add_argument("--update", action="store_true")
    a.add_argument("--where", metavar="WORD")
    a.add_argument("--list", default=LIST, metavar="FILE", help="another words.txt")
    o = a.parse_args()
    if o.where:
        for name, text in texts(o.root):
            for number, line in enumerate(text.splitlines(), 1):
                if pattern(o.where).search(line):
                    print(f"{name}:{number}: {line.strip()}")
        return 0
    with open(o.list, encoding="utf-8") as f:
        limits = {
            word: int(count)
            for count, word in (line.strip().split(" ", 1) for line in f if line.strip())
        }
    found = dict.fromkeys(limits, 0)
    patterns = {word: pattern(word) for word in limits}
    for _, text in texts(o.root):
        lower = text.lower()
        for word in limits:
            if word.split()[0] in lower:
                found[word] += len(patterns[word].findall(text))
    more = {word for word in limits if found[word] > limits[word]}
    fewer = {word for word in limits if found[word] < limits[word]}
    for word in sorted(more):
        print(
            f"'{word}' occurs {found[word]} times, at most {limits[word]} are allowed: write the field's term; words.py --where '{word}' lists them"
        )
    if o.update and not more:
        with open(o.list, "w", encoding="utf-8") as f:
            f.writelines(f"{found[word]} {word}\n" for word in limits)
    elif fewer:
        print(f"fewer than listed: {', '.join(sorted(fewer))}; run test/docs/words.py . --update")
    print(f"words: {sum(found.values())} of {sum(limits.values())}")
    return 1 if more or (fewer and not o.update) else 0


if __name__ == "__main__":
    sys.exit(main())
