#!/usr/bin/env python3
"""Checks that an elementwise operation that a layer does not implement is a compile error that names the operation.

usage: missing.py SOURCE-ROOT BUILD-ROOT

Adds an operation to the table of elementwise operations for each source that is generated from the table, and compiles that source only.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TABLE = "ir/dlc/ElementwiseTable.inc"
# The file, the section of the table that it reads, and what the compiler must say of `topk`.
PLACES = [
    ("passes/grad/rules/Elementwise.cpp", "DLC_ELEMENTWISE", "no gradient of topk"),
    ("codegen/cpu/emit/EmitElementwise.cpp", "DLC_ELEMENTWISE", "TopKOp"),
    ("codegen/cuda/emit/EmitElementwise.cpp", "DLC_ELEMENTWISE", "TopKOp"),
    ("codegen/cpu/math/Math.cpp", "DLC_FUNCTION", "topk"),
    ("codegen/cuda/Prelude.cpp", "DLC_FUNCTION", "no CUDA text of topk"),
    ("frontend/trace/ops/Elementwise.cpp", "DLC_TRACE", "topk"),
]


def command_of(source, build):
    with open(os.path.join(build, "compile_commands.json")) as file:
        entry = next(e for e in json.load(file) if e["file"] == source)
    words = shlex.split(entry["command"])
    words = words[words.index(next(w for w in words if re.search(r"(clang|g|c)\+\+[-\d.]*$", w))) :]
    at = words.index("-o")
    return words[:at] + words[at + 2 :], entry["directory"]


def check(place, root, build):
    name, section, wanted = place
    words, directory = command_of(os.path.join(root, name), build)
    with open(os.path.join(build, TABLE)) as file:
        table = file.read()
    assert f"#ifdef {section}\n" in table, section
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, os.path.dirname(TABLE)))
        with open(os.path.join(folder, TABLE), "w") as file:
            file.write(
                table.replace(
                    f"#ifdef {section}\n", f"#ifdef {section}\n{section}(TopKOp, topk, topk, 1)\n"
                )
            )
        run = subprocess.run(
            [words[0], "-fsyntax-only", "-I", folder] + words[1:],
            cwd=directory,
            capture_output=True,
            text=True,
        )
    if run.returncode == 0:
        return f"{name}: compiles with an operation that it knows nothing of"
    if not re.search(rf"error:.*{wanted}", run.stderr) and not (
        wanted in run.stderr and "error: no matching function" in run.stderr
    ):
        return f"{name}: required: an error that says '{wanted}'; found:\n{run.stderr[:2000]}"
    return ""


def main():
    root, build = (os.path.realpath(folder) for folder in sys.argv[1:])
    with ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(lambda place: check(place, root, build), PLACES) if p]
    print(
        "\n".join(problems) or f"{len(PLACES)} places refuse an operation that they know nothing of"
    )
    sys.exit(bool(problems))


main()
