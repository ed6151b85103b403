#!/usr/bin/env python3
"""Makes a copy of oneDNN that asks dlc's own threads where it asks libgomp: rebind.py libdnnl.so COPY

Names in its string table become others of the same length: the library's, and those of the functions. Nothing else changes.
"""
import os
import subprocess
import sys

FUNCTIONS = {"GOMP_": "DLCP_", "omp_": "dlc_"}


def asked(path):
    """The functions of OpenMP that a library wants from others."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", path], check=True, capture_output=True, text=True).stdout.splitlines()
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
            sys.exit(f"{source}: {old!r} was expected once, found {data.count(old)} times: another build of oneDNN?")
        data = data.replace(old, new)
    names = asked(source)
    if not names:
        sys.exit(f"{source}: does not use OpenMP; required: a build of oneDNN for libgomp")
    for name in names:
        prefix = next(p for p in FUNCTIONS if name.startswith(p))
        rename(name, FUNCTIONS[prefix] + name[len(prefix):])
    rename("libgomp.so.1", "libdlct.so.1")
    with open(target + ".part", "wb") as file:
        file.write(data)
    os.chmod(target + ".part", 0o755)
    os.rename(target + ".part", target)


main()
