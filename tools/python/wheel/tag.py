#!/usr/bin/env python3
"""Gives a wheel the tag of the machines that it runs on: manylinux_2_NN, where NN is the newest glibc that a library inside asks for. What is needed from
outside must be among the libraries that PEP 600 lets wheels expect of a machine; another one is an error.

usage: tag.py WHEEL            makes the wheel with the new name beside it, prints its path, and removes the other
"""
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

#: By PEP 600, of those that programs of C and C++ need.
EXPECTED = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def read_elf(option, path):
    return subprocess.run(["readelf", option, path], capture_output=True, text=True, check=True).stdout


def needs(wheel):
    """The newest glibc as (2, NN), and what is wrong."""
    newest, problems = (2, 17), []
    with tempfile.TemporaryDirectory() as folder:
        wheel.extractall(folder)
        libraries = [name for name in wheel.namelist() if re.search(r"\.so(\.|$)", name)]
        inside = {os.path.basename(name) for name in libraries}
        for name in libraries:
            path = os.path.join(folder, name)
            newest = max(newest, *((2, int(minor)) for minor in re.findall(r"\bGLIBC_2\.(\d+)", read_elf("-VW", path))), (0, 0))
            for library in re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf("-dW", path)):
                if library not in EXPECTED | inside:
                    problems.append(f"{name} needs {library}; required: a library of this wheel, or one of {', '.join(sorted(EXPECTED))}")
    return newest, problems


def row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def retag(wheel, path, tag):
    """The same files; the tag stands in WHEEL, and RECORD knows WHEEL."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        names = {os.path.basename(name): name for name in wheel.namelist() if os.path.dirname(name).endswith(".dist-info")}
        about = re.sub(r"(?m)^(Tag: [^-\n]+-[^-\n]+-).*$", rf"\g<1>{tag}", wheel.read(names["WHEEL"]).decode()).encode()
        rows = wheel.read(names["RECORD"]).decode().splitlines()
        record = "\n".join(row(names["WHEEL"], about) if each.startswith(names["WHEEL"] + ",") else each for each in rows) + "\n"
        changed = {names["WHEEL"]: about, names["RECORD"]: record.encode()}
        for info in wheel.infolist():
            made.writestr(info, changed.get(info.filename) or wheel.read(info))


def main():
    [path] = sys.argv[1:]
    with zipfile.ZipFile(path) as wheel:
        (major, minor), problems = needs(wheel)
        if problems:
            sys.exit("tag: " + "\ntag: ".join(problems))
        tag = f"manylinux_{major}_{minor}_{platform.machine()}"
        stem = os.path.basename(path).removesuffix(".whl").rsplit("-", 1)[0]
        target = os.path.join(os.path.dirname(path), f"{stem}-{tag}.whl")
        if target != path:
            retag(wheel, target + ".part", tag)
            os.unlink(path)
            os.rename(target + ".part", target)
    print(target)


if __name__ == "__main__":
    sys.exit(main())
