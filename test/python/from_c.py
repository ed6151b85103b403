"""Builds and runs the C program that runs saved training steps (train.c), and returns its output."""

import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def built(folder):
    """The program, linked to the runtime that this process has; None without a C compiler or the headers."""
    cc = shutil.which("cc") or shutil.which("clang")
    headers = os.path.join(HERE, "..", "..", "runtime", "include")
    if cc is None or not os.path.isdir(headers):
        return None
    with open("/proc/self/maps") as maps:
        [library] = set(re.findall(r"/\S*libdlc_runtime\S*", maps.read()))
    made = os.path.join(folder, "train")
    subprocess.run(
        [
            cc,
            "-I",
            headers,
            os.path.join(HERE, "train.c"),
            library,
            f"-Wl,-rpath,{os.path.dirname(library)}",
            "-o",
            made,
        ],
        check=True,
    )
    return made


def losses(program, step, count, inputs):
    """Of that many steps; `inputs` are files, in the order of the step's inputs."""
    done = subprocess.run([program, step, str(count), *inputs], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]
