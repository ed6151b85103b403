#!/usr/bin/env python3
"""Sets the platform tag of a wheel: manylinux_2_NN, where NN is the minor version of the newest glibc that a library in the wheel requires. Libraries that
are not in the wheel must be among those that PEP 600 permits wheels to require; any other one is an error.

usage: tag.py WHEEL            writes the wheel under its new name in the same folder, prints its path, and removes the original
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

#: Libraries that PEP 600 permits wheels to require, as far as C and C++ programs need them.
EXPECTED = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libz.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}


def read_elf(option, path):
    return subprocess.run(
        ["readelf", option, path], capture_output=True, text=True, check=True
    ).stdout


def check_requirements(wheel):
    """Returns the newest glibc that a library of the wheel requires, as (2, NN), and error messages about libraries that are not permitted."""
    newest, problems = (2, 17), []
    with tempfile.TemporaryDirectory() as folder:
        wheel.extractall(folder)
        libraries = [name for name in wheel.namelist() if re.search(r"\.so(\.|$)", name)]
        inside = {os.path.basename(name) for name in libraries}
        for name in libraries:
            path = os.path.join(folder, name)
            newest = max(
                newest,
                *(
                    (2, int(minor))
                    for minor in re.findall(r"\bGLIBC_2\.(\d+)", read_elf("-VW", path))
                ),
                (0, 0),
            )
            for library in re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf("-dW", path)):
                if library not in EXPECTED | inside:
                    problems.append(
                        f"{name} needs {library}; required: a library of this wheel, or one of {', '.join(sorted(EXPECTED))}"
                    )
    return newest, problems


def row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def retag(wheel, path, tag):
    """Copies the files of a wheel to `path` with another platform tag: updates the tag in the file WHEEL, and the hash of WHEEL in the file RECORD."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        names = {
            os.path.basename(name): name
            for name in wheel.namelist()
            if os.path.dirname(name).endswith(".dist-info")
        }
        about = re.sub(
            r"(?m)^(Tag: [^-\n]+-[^-\n]+-).*$", rf"\g<1>{tag}", wheel.read(names["WHEEL"]).decode()
        ).encode()
        rows = wheel.read(names["RECORD"]).decode().splitlines()
        record = (
            "\n".join(
                row(names["WHEEL"], about) if each.startswith(names["WHEEL"] + ",") else each
                for each in rows
            )
            + "\n"
        )
        changed = {names["WHEEL"]: about, names["RECORD"]: record.encode()}
        for info in wheel.infolist():
            made.writestr(info, changed.get(info.filename) or wheel.read(info))


def main():
    [path] = sys.argv[1:]
    with zipfile.ZipFile(path) as wheel:
        (major, minor), problems = check_requirements(wheel)
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
