"""Compares the options of the tools, as listed by --help: options.py BIN-FOLDER."""

import os
import re
import subprocess
import sys

PHASES = [
    "import",
    "simplify",
    "grad",
    "precision",
    "place",
    "layout",
    "fuse",
    "select",
    "refine",
    "lower",
    "memory",
    "native",
]


def help_of(tool, *arguments):
    return subprocess.run(
        [os.path.join(sys.argv[1], tool), *arguments, "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def flags(text):
    return set(re.findall(r"^ +(?:-\w, ?)?--([a-z-]+)", text, re.MULTILINE))


def main():
    phases, at = {}, None
    for line in help_of("dlc-opt").splitlines():
        if found := re.match(r" +--(dlc[a-z-]*) ", line + " "):
            at = phases.setdefault(found.group(1), set())
        elif at is not None and (found := re.match(r" {6,}--([a-z-]+)=", line)):
            at.add(found.group(1))
        else:
            at = None
    compile_flags = flags(help_of("dlc", "compile"))
    asked = phases["dlc-phase-select"]
    assert {"device", "threads", "accuracy", "kernels", "db", "max-memory", "cache"} <= asked, asked
    for phase in PHASES:
        own = phases["dlc-phase-" + phase] - ({"output"} if phase == "native" else set())
        assert own == asked, (phase, own ^ asked)
    for command in ("compile", "run", "inspect", "tune"):
        taken = flags(help_of("dlc", command))
        assert asked <= taken, (command, asked - taken)
    for name, taken in phases.items():
        assert taken <= compile_flags | {
            "output",
            "costs",
            "gradients",
            "may-fail",
            "vector-bits",
            "operation",
            "passes",
            "rank",
            "ranks",
            "sizes",
        }, (name, taken)
    # What C++ users say too.
    for tool in ("dlc-network", "dlc-train-network"):
        if os.path.exists(os.path.join(sys.argv[1], tool)):
            taken = flags(help_of(tool))
            assert asked - {"kernels", "gpu-arch", "db", "on-miss", "workspace"} <= taken, (
                tool,
                asked - taken,
            )


main()
