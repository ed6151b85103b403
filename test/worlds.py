"""Starts a program on several ranks of this machine, for the tests of worlds."""

import glob
import json
import os
import re
import subprocess
import time

# What Open MPI asks of root, and of more ranks than cores.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def command(ranks, line, launcher="mpirun"):
    return [launcher, "--bind-to", "none", "-n", str(ranks), *map(str, line)]


def start(ranks, line, launcher="mpirun", environment=None, **options):
    env = {**os.environ, **ENVIRONMENT, **(environment or {})}
    return subprocess.Popen(
        command(ranks, line, launcher),
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def run(ranks, line, launcher="mpirun", environment=None, seconds=240):
    """(status, output, messages, seconds it took)"""
    begin = time.monotonic()
    process = start(ranks, line, launcher, environment)
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err, time.monotonic() - begin


def processes(process):
    """Those of the ranks that it started, in their order."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                text = file.read()
            with open(path.replace("environ", "stat")) as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", text)
        if rank and parent == process.pid:
            found[int(rank[1])] = int(path.split("/")[2])
    return [found[rank] for rank in sorted(found)]


def losses(text):
    """By step, of what dlc train --json says."""
    return {row["step"]: row["loss"] for row in map(json.loads, text.splitlines())}
