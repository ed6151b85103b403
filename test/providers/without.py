#!/usr/bin/env python3
"""Removes a kernel library's files and rows (table.py) from a copy of the sources, builds the copy and runs its tests.

usage: without.py NAME [--runtime-only] [--build BUILD] [--keep]

BUILD is a configured build folder, whose compilers and packages are used (default: build). The copy and its build folder are
in BUILD/without. With --runtime-only, only libdlc_runtime and libdlc_cuda are built and tested, which does not need LLVM.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check
import table

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What another build folder was configured with that this one needs too.
KEPT = re.compile(
    r"^((?:CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS_RELEASE|CMAKE_(?:EXE|SHARED)_LINKER_FLAGS|CMAKE_(?:C|CXX)_COMPILER(?:_LAUNCHER)?|DLC_VENV|dnnl_DIR|MLIR_DIR|LLVM_DIR|CMAKE_PREFIX_PATH):[A-Z]+=.+)$",
    re.M,
)


def copy(to):
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if not name or not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # What has not changed keeps its time, so that a second run builds little.
        shutil.copy2(source, target)


def without_rows(text, looked):
    """The text without the lines that name the library, each with what its brackets enclose."""
    kept, depth = [], 0
    for line in text.split("\n"):
        if depth == 0:
            if not looked.search(line):
                kept.append(line)
                continue
        depth += sum(line.count(c) for c in "({[") - sum(line.count(c) for c in ")}]")
        assert depth >= 0, f"a row closes a bracket that it has not opened: {line}"
    return "\n".join(kept)


def take_out(root, name):
    library = table.LIBRARIES[name]
    looked = check.pattern(name, library)
    for folder, _, names in os.walk(root):
        for file in names:
            path = os.path.join(folder, file)
            if check.matches(os.path.relpath(path, root), library["files"]):
                os.remove(path)
    for row in library["rows"]:
        path = os.path.join(root, row)
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(without_rows(text, looked))
    return list(check.named(root, table.CHECKED, name, library, library.get("uses", {})))


def run(*command, **more):
    print("+", " ".join(command), flush=True)
    return subprocess.run(command, **more).returncode


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("name", choices=table.LIBRARIES)
    arguments.add_argument("--runtime-only", action="store_true")
    arguments.add_argument("--build", default="build")
    arguments.add_argument(
        "--keep", action="store_true", help="keep the copy, so that the next run builds little"
    )
    a = arguments.parse_args()
    # One place for all of them, so that the compiler cache serves what names none.
    library, base = table.LIBRARIES[a.name], os.path.abspath(a.build)
    place = os.path.join(base, "without")
    source, build = os.path.join(place, "source"), os.path.join(place, "build")
    shutil.rmtree(source, ignore_errors=True)
    copy(source)
    left = take_out(source, a.name)
    for path, number, line in left:
        print(f"{path}:{number}: still names '{a.name}': {line}")
    if left:
        return 1
    with open(os.path.join(base, "CMakeCache.txt")) as f:
        kept = KEPT.findall(f.read())
    only = ["-DDLC_RUNTIME_ONLY=ON"] if a.runtime_only else []
    tests = library["tests"] if a.runtime_only else library["tests"] + library.get("whole", [])
    targets = (
        library["targets"]
        if a.runtime_only
        else library["targets"] + ["bin/dlc", "bin/conformance"]
    )
    failed = (
        run(
            "cmake",
            "-G",
            "Ninja",
            "-S",
            source,
            "-B",
            build,
            *only,
            *("-D" + entry for entry in kept),
        )
        or run("cmake", "--build", build, "--target", *targets)
        or run(
            "ctest",
            "--test-dir",
            build,
            "--output-on-failure",
            "--no-tests=error",
            "-R",
            "^(" + "|".join(tests) + ")$",
        )
    )
    if not failed and not a.keep:
        shutil.rmtree(place)
    print(f"without {a.name}: {'failed' if failed else 'builds and passes ' + ', '.join(tests)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
