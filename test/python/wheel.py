#!/usr/bin/env python3
"""Builds the wheel from the objects of the build, checks its contents, installs it into an empty folder, and runs the tests with it.

usage: wheel.py SOURCE-ROOT [--bare]
With --bare that folder is a virtual environment in a bare Debian 12 (needs root).
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

MOST = 60 << 20
NEWEST_GLIBC = 36
INSIDE = (
    "dlc/__init__.py",
    "dlc/_torch/backend.py",
    "dlc/_training/train_step.py",
    "dlc/bin/dlc",
    "dlc/py.typed",
    "dlc/_runtime.pyi",
    "dlc/lib/libdlc_runtime.so.0",
    "dlc/lib/libdlc_compiler.so.0",
    "dlc/lib/libdnnl.so.3",
    "dlc/lib/libdlct.so.1",
    "dlc/lib/libdlc_cuda.so",
    "dlc/lib/gcc/libstdc++.so.6",
    "dlc/licences/llvm-mlir",
    "dlc/licences/onednn",
    "dlc/licences/nanobind",
)


def run(*command, **options):
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
    )
    if done.returncode:
        sys.exit(
            f"wheel: {' '.join(command)} ended with status {done.returncode}:\n{done.stdout[-4000:]}"
        )
    return done.stdout


def check(wheel, folder):
    names = zipfile.ZipFile(wheel).namelist()
    problems = [f"{name} is missing" for name in INSIDE if name not in names]
    if (size := os.path.getsize(wheel)) > MOST:
        problems.append(f"{size >> 20} MiB; at most {MOST >> 20}")
    if not (tag := re.search(r"-manylinux_2_(\d+)_\w+\.whl$", wheel)) or int(tag[1]) > NEWEST_GLIBC:
        problems.append(f"required: the tag of a glibc of at most 2.{NEWEST_GLIBC}")
    for module in glob.glob(os.path.join(folder, "dlc", "*.so")):
        for place in re.findall(r"PATH\).*\[(.*)\]", run("readelf", "-dW", module)):
            if place != "$ORIGIN/lib":
                problems.append(f"{module} looks into {place}")
    if problems:
        sys.exit("wheel: " + "\nwheel: ".join(problems))
    return size


def check_set_up(root, folder):
    """Where tools/setup has not been, the error says so."""
    place = os.path.join(folder, "clone", "tools", "python", "wheel")
    shutil.copytree(os.path.join(root, "tools", "python", "wheel"), place)
    done = subprocess.run(
        ["cmake", "-S", place, "-B", os.path.join(folder, "none")],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode == 0 or not re.search(r"run\s+\S*tools/setup\s+first", done.stdout):
        sys.exit(f"wheel: required: an error that names tools/setup; found:\n{done.stdout}")


# Of a model that was compiled and run, all libraries of ours must be those of the wheel.
LIBRARIES = """
import re, sys
sys.path.append(sys.argv[1])
import models, numpy, dlc
dlc.compile(models.ten_operations())(numpy.zeros(16, "float32"))
for path in sorted(set(re.findall(r"/\\S*\\.so\\S*", open("/proc/self/maps").read()))):
    if re.search("dlc|dnnl|LLVM|MLIR", path.rsplit("/", 1)[1]):
        print(path)
"""


def main():
    root = os.path.abspath(sys.argv[1])
    here = os.path.join(root, "test", "python")
    scratch = tempfile.mkdtemp(prefix="dlc-wheel-")
    try:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        check_set_up(root, scratch)
        run(*pip, "wheel", root, "--no-deps", "--no-build-isolation", "-w", scratch)
        wheel = run(
            sys.executable,
            os.path.join(root, "tools", "python", "wheel", "tag.py"),
            *glob.glob(os.path.join(scratch, "*.whl")),
        ).strip()
        folder = os.path.join(scratch, "installed")
        run(*pip, "install", "--no-deps", "--no-index", "--target", folder, wheel)
        size = check(wheel, folder)
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        for library in run(
            sys.executable, "-c", LIBRARIES, here, env=environment, cwd=scratch
        ).split():
            if not library.startswith(folder):
                sys.exit(f"wheel: {library} is not the wheel's")
        if not run(os.path.join(folder, "bin", "dlc"), "--version", env=environment).startswith(
            "dlc "
        ):
            sys.exit("wheel: the command dlc does not print its version")
        print(f"wheel: {os.path.basename(wheel)}: {size / (1 << 20):.1f} MiB", flush=True)
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", here]
        if "--bare" in sys.argv:
            tests = [os.path.join(here, "bare"), wheel]
        return subprocess.run(tests, env=environment, cwd=scratch).returncode
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
