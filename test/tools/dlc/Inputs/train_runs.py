"""Runs dlc train on several ranks of this machine, for the tests of worlds. Steps, data and checkpoints are in one folder."""

import glob
import json
import os
import re

import worlds


class Runs:
    def __init__(self, folder, epochs):
        self.folder, self.epochs = folder, epochs

    def line(self, step, *more, epochs=None, steps=None):
        length = ["--steps", steps] if steps else ["--epochs", epochs or self.epochs]
        data = f"{self.folder}/data.npz"
        return [
            "dlc",
            "train",
            f"{self.folder}/{step}.dlcx",
            "--data",
            data,
            *length,
            "--seed",
            7,
            "--json",
            *more,
        ]

    def train(self, ranks, step, *more, **options):
        status, out, err, _ = worlds.run(ranks, self.line(step, *more, **options))
        assert status == 0, (status, out, err)
        return losses(out)

    def checkpoint(self, name):
        for old in glob.glob(f"{self.folder}/{name}*"):
            os.unlink(old)
        return ["--checkpoint", f"{self.folder}/{name}.safetensors", "--checkpoint-every", 1]


def losses(text):
    return {row["step"]: row["loss"] for row in map(json.loads, text.splitlines())}


def alike(found, wanted):
    assert found and all(
        abs(found[step] - wanted[step]) < 1e-5 * max(1, abs(wanted[step])) for step in found
    ), (found, wanted)


def begun(process, steps):
    """What a running world says of so many steps; the steps are many."""
    return "".join(process.stdout.readline() for _ in range(steps))


def processes(process):
    """Those of the ranks, in their order."""
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
