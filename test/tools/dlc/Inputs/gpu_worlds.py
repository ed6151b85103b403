"""Trains on GPUs in one process and in two: gpu_worlds.py FOLDER, which contains whole.dlcx, half.dlcx and data.npz."""

import os
import re
import signal
import sys
import time

import worlds

folder = sys.argv[1]


def line(step, epochs=4):
    return [
        "dlc",
        "train",
        f"{folder}/{step}.dlcx",
        "--data",
        f"{folder}/data.npz",
        "--epochs",
        epochs,
        "--seed",
        7,
        "--json",
    ]


def train(ranks, step):
    status, out, err, _ = worlds.run(ranks, line(step))
    assert status == 0, (status, out, err)
    return worlds.losses(out)


def fault(number, wanted, **environment):
    """Sends the signal to each rank in turn; the other one must end, and say so."""
    for rank in (0, 1) if number == signal.SIGKILL else (1,):
        process = worlds.start(2, line("half", 10000), environment=environment)
        for _ in range(5):
            process.stdout.readline()
        began = time.monotonic()
        os.kill(worlds.processes(process)[rank], number)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - began
        assert process.returncode != 0 and took < 30, (process.returncode, took)
        assert re.search(rf"rank {1 - rank} of 2, step \d+: rank {rank} {wanted}", err), err
        print(f"rank {rank} {'killed' if number == signal.SIGKILL else 'stopped'}: all end")


def refused(line, wanted, **environment):
    status, out, err, took = worlds.run(2, line, environment=environment)
    assert status != 0 and took < 40 and re.search(wanted, err), (status, took, out, err)


whole, half = train(1, "whole"), train(2, "half")
assert len(whole) >= 8 and len(half) == len(whole), (half, whole)
assert all(abs(half[step] - whole[step]) < 1e-5 * max(1, abs(whole[step])) for step in whole), (
    half,
    whole,
)
print("2 ranks: as one")

fault(signal.SIGKILL, r"died in step \d+")
fault(signal.SIGSTOP, r"has sent no heartbeat for \d+ s", DLC_WORLD_TIMEOUT="3")

refused(
    line("half"), r"ranks 0 and 1 use the same device \(0000:01:00\.0\)", DLC_EMULATED_DEVICES="1"
)
print("one device: told")
other = 'test "$OMPI_COMM_WORLD_RANK" = 0 || export DLC_EMULATED_NCCL=22005; exec "$@"'
refused(
    ["sh", "-c", other, "sh", *line("half")],
    r"rank 1 has NCCL 2\.20\.5, and rank 0 has NCCL 2\.28\.9; install the same version for all ranks",
)
print("other versions: told")
