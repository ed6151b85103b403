#!/usr/bin/env python3
"""Adds errors that check.py must detect to a copy of the sources, one at a time: an include cycle between folders, an include that no row
permits, a public header of another room. Fails if check.py does not report one.

usage: planted.py SOURCE-ROOT
"""

import os
import shutil
import subprocess
import sys
import tempfile

from check import CODE, MAY

# What is planted: file, line, and what the check must say.
PLANTED = [
    ("runtime/program/Program.h", '#include "runtime/session/Session.h"', "a circle of folders: "),
    (
        "passes/simplify/Simplify.cpp",
        '#include "passes/fuse/analysis/Classify.h"',
        "passes/simplify/ may include of passes/ only passes",
    ),
    (
        "runtime/session/Session.cpp",
        '#include "dlc/trace.hpp"',
        "runtime/ may include runtime only",
    ),
    ("ir/dlc/Dialect.h", '#include "passes/Passes.h"', "ir/ may include ir only"),
    (
        "codegen/cpu/emit/Emitter.h",
        '#include "runtime/device/cpu/Memory.h"',
        "codegen/ may use of the runtime only",
    ),
]


def check(root):
    ran = subprocess.run(
        [
            sys.executable,
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "check.py"),
            root,
        ],
        capture_output=True,
        text=True,
    )
    return ran.returncode, ran.stdout


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else "."
    failures = []
    with tempfile.TemporaryDirectory() as copy:
        for room in MAY:
            for folder, _, names in os.walk(os.path.join(source, room)):
                to = os.path.join(copy, os.path.relpath(folder, source))
                os.makedirs(to, exist_ok=True)
                for name in names:
                    if name.endswith(CODE) or name == "README.md":
                        shutil.copy(os.path.join(folder, name), to)
        status, said = check(copy)
        if status != 0:
            sys.exit(f"planted: the copy has problems of its own:\n{said}")
        for file, line, wanted in PLANTED:
            path = os.path.join(copy, file)
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                f.write(text + line + "\n")
            status, said = check(copy)
            if status == 0 or wanted not in said:
                failures.append(f"{line} in {file}: the check said\n{said}")
            with open(path, "w") as f:
                f.write(text)
    for failure in failures:
        print(failure)
    print(f"planted: {len(PLANTED) - len(failures)} of {len(PLANTED)} found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
