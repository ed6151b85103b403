#!/usr/bin/env python3
"""Checks that object files compiled for an instruction set define no weak symbols. The linker keeps one copy of a weak symbol, such as an inline function, for
all files: if it kept the copy with AVX-512 instructions, older processors would execute it.

usage: weak_symbols.py BUILD [NM]
"""

import json
import os
import re
import shlex
import subprocess
import sys

INSTRUCTION_SET = re.compile(r"-m(sse3|ssse3|sse4|avx|fma|f16c|amx|arch=(?!x86-64$))")
# Mangled namespaces whose functions are only called on processors with the instruction set.
OWN = re.compile(r"4avx2|6avx512|3amx")


def find_weak_symbols(nm, path):
    """Returns the mangled names of the weak symbols that an object file defines."""
    lines = subprocess.run(
        [nm, "--defined-only", "--format=posix", path],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.splitlines()
    return [
        name
        for name, kind, *_ in map(str.split, lines)
        if kind in ("W", "V", "u") and not OWN.search(name)
    ]


def main():
    build, nm = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "nm"
    with open(os.path.join(build, "compile_commands.json")) as file:
        commands = json.load(file)
    count, wrong = 0, []
    for entry in commands:
        arguments = shlex.split(entry["command"])
        path = os.path.join(
            entry["directory"],
            entry["output"] if "output" in entry else arguments[arguments.index("-o") + 1],
        )
        if (
            "/test/" in entry["file"]
            or not any(INSTRUCTION_SET.match(each) for each in arguments)
            or not os.path.exists(path)
        ):
            continue
        count += 1
        wrong += [
            f"{entry['file']}: weak symbol {name}; required: internal linkage, such as an unnamed namespace"
            for name in find_weak_symbols(nm, path)
        ]
    print(
        "\n".join(
            wrong + [f"{count} object files for an instruction set, {len(wrong)} weak symbols"]
        )
    )
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
