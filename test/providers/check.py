#!/usr/bin/env python3
"""Finds names of kernel libraries outside of the library's own files and its rows (table.py).

usage: check.py SOURCE-ROOT
"""

import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table

CODE = (".cpp", ".h", ".hpp", ".td", ".py", "CMakeLists.txt")


def code_of(name, text):
    """The text without what only people read; lines stay where they are."""
    if name.endswith((".py", "CMakeLists.txt")):
        return re.sub(r"#.*", "", text)
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda found: found.group(1) or "", text)


def pattern(name, library):
    either = [rf'"{name}["#:]', rf"\b{name}::", rf"\b(library|providers)/{name}/"]
    if "words" in library:
        # Capitals alone are variables of the environment.
        either.append(rf"(?i:{library['words']})(?<![A-Z]{{4}})")
    return re.compile("|".join(either))


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, p) for p in patterns)


def files_of(root, rooms):
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in names:
                if name.endswith(CODE):
                    yield os.path.relpath(os.path.join(folder, name), root)


def named(root, rooms, name, library, besides=()):
    """Lines that name the library: (path, number, line)."""
    looked = pattern(name, library)
    for path in sorted(files_of(root, rooms)):
        if matches(path, besides):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(code_of(path, f.read()).split("\n"), 1):
                if looked.search(line):
                    yield path, number, line.strip()


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    problems = 0
    for name, library in table.LIBRARIES.items():
        for path in library["rows"]:
            if not os.path.isfile(os.path.join(root, path)):
                print(f"{path}: there is no such file, but the table has a row of '{name}' in it")
                problems += 1
        may = library["files"] + library["rows"] + list(library.get("uses", {}))
        for path, number, line in named(root, table.CHECKED, name, library, may):
            print(
                f"{path}:{number}: names the library '{name}', which is only allowed in its own files and rows: {line}"
            )
            problems += 1
    print(f"providers: {len(table.LIBRARIES)} libraries, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
