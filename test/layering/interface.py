#!/usr/bin/env python3
"""Checks the interface that programs are linked to: the C functions that the libraries export, and that each public header compiles on its own.

usage: interface.py SOURCE-ROOT LIBRARY-FOLDER C-COMPILER C++-COMPILER
"""

import concurrent.futures
import os
import subprocess
import sys

HEADERS = ("runtime/include", "passes/include", "frontend/trace/include", "tools/compiler/include")
# What a C compiler must take too.
PLAIN_C = ("dlc/dlc.h", "dlc/device.h", "dlc/engine.h", "dlc/dlpack.h")
PLUGINS = {"libdlc_cuda.so": ["dlc_cuda_device_table"], "libdlc_mpi.so": ["dlc_mpi_engine_table"]}


def exported(library):
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    names = (line.split()[-1] for line in listed.stdout.splitlines() if line)
    return sorted(name for name in names if name.startswith("dlc_"))


def check_exports(root, folder, problems):
    with open(os.path.join(root, "test/layering/exports.txt")) as f:
        held = {"libdlc_runtime.so": f.read().split(), **PLUGINS}
    for library, wanted in held.items():
        found = exported(os.path.join(folder, library))
        for name in sorted(set(wanted) - set(found)):
            problems.append(f"{library}: no longer exports {name}, which programs call")
        for name in sorted(set(found) - set(wanted)):
            problems.append(
                f"{library}: exports {name}, which is not in test/layering/exports.txt; add it where it is to stay"
            )


def compile_alone(job):
    header, compiler, folders = job
    line = [
        *compiler,
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        *(f"-I{folder}" for folder in folders),
        "-",
    ]
    done = subprocess.run(line, input=f"#include <{header}>\n", capture_output=True, text=True)
    return (
        f"{header}: does not compile alone ({' '.join(compiler)}):\n{done.stderr[:800]}"
        if done.returncode
        else None
    )


def main():
    root, folder, c, cxx = sys.argv[1:5]
    folders = [os.path.join(root, part) for part in HEADERS]
    headers = sorted(
        "dlc/" + name for part in folders for name in os.listdir(os.path.join(part, "dlc"))
    )
    jobs = [(header, [cxx, "-xc++", "-std=c++20"], folders) for header in headers]
    jobs += [(header, [c, "-xc", "-std=c99", "-pedantic"], folders) for header in PLAIN_C]
    problems = []
    check_exports(root, folder, problems)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems += [text for text in pool.map(compile_alone, jobs) if text]
    print(
        "\n".join(problems + [f"interface: {len(jobs)} headers compiled, {len(problems)} problems"])
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
