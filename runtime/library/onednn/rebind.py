#!/usr/bin/env python3
"""Makes a copy of oneDNN that calls dlc's thread pool (libdlct) instead of libgomp: rebind.py libdnnl.so COPY

Replaces names in the string table by names of the same length: the name of libgomp and those of its functions. Nothing else changes.
"""

import os
import subprocess
import sys

FUNCTIONS = {"GOMP_": "DLCP_", "omp_": "dlc_"}


def read_openmp_imports(path):
    """Returns the names of the OpenMP functions that a library imports."""
    lines = subprocess.run(
        ["nm", "-D", "--undefined-only", path], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    names = [line.split()[-1].split("@")[0] for line in lines]
    return [name for name in names if name.startswith(tuple(FUNCTIONS))]


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()

    def rename(old, new):
        nonlocal data
        old, new = b"\0" + old.encode() + b"\0", b"\0" + new.encode() + b"\0"
        if len(old) != len(new) or data.count(old) != 1:
            sys.exit(
                f"{source}: {old!r} was expected once, found {data.count(old)} times: another build of oneDNN?"
            )
        data = data.replace(old, new)

    names = read_openmp_imports(source)
    if not names:
        sys.exit(f"{source}: does not use OpenMP; required: a build of oneDNN for libgomp")
    for name in names:
        prefix = next(p for p in FUNCTIONS if name.startswith(p))
        rename(name, FUNCTIONS[prefix] + name[len(prefix) :])
    rename("libgomp.so.1", "libdlct.so.1")
    with open(target + ".part", "wb") as file:
        file.write(data)
    os.chmod(target + ".part", 0o755)
    os.rename(target + ".part", target)


main()
