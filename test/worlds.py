"""Starts a program on some ranks of this machine, as the tests of worlds do."""
import os
import subprocess
import time

# What Open MPI asks of root, and of more ranks than cores.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def command(ranks, line, launcher="mpirun"):
    return [launcher, "--bind-to", "none", "-n", str(ranks), *map(str, line)]


def start(ranks, line, launcher="mpirun", environment=None, **options):
    env = {**os.environ, **ENVIRONMENT, **(environment or {})}
    return subprocess.Popen(command(ranks, line, launcher), env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def run(ranks, line, launcher="mpirun", environment=None, seconds=60):
    """(status, output, messages, seconds it took)"""
    begin = time.monotonic()
    process = start(ranks, line, launcher, environment)
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err, time.monotonic() - begin
