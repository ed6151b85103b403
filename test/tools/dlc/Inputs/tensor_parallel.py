"""Runs and trains the programs of tensor-parallel.test, unsplit and split: tensor_parallel.py FOLDER."""

import json
import subprocess
import sys

import numpy as np
import worlds

folder = sys.argv[1]


def run(ranks, *line):
    status, out, err, _ = worlds.run(ranks, ["dlc", *line]) if ranks > 1 else (*alone(line), 0)
    assert status == 0, (status, out, err)
    return out


def alone(line):
    done = subprocess.run(["dlc", *map(str, line)], text=True, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def logits(ranks, program):
    out = run(
        ranks,
        "run",
        f"{folder}/{program}.dlcx",
        "--input",
        f"tokens={folder}/tokens.npy",
        "--output-dir",
        f"{folder}/{program}",
    )
    assert out.count("compiled in") == 1, out  # one rank prints
    return np.load(f"{folder}/{program}/logits.npy")


def losses(ranks, program, *more, epochs=3):
    out = run(
        ranks,
        "train",
        f"{folder}/{program}.dlcx",
        "--data",
        f"{folder}/tokens.npz",
        "--epochs",
        epochs,
        "--json",
        *more,
    )
    return [json.loads(line)["loss"] for line in out.splitlines()]


whole, parts = logits(1, "whole"), logits(2, "parts")
assert np.abs(whole - parts).max() < 1e-5 * np.abs(whole).max(), (whole, parts)
print("2 ranks run: as one")

wanted, found = losses(1, "step"), losses(2, "step2", "--checkpoint", f"{folder}/parts.safetensors")
assert len(wanted) == len(found) == 18 and np.allclose(wanted, found, rtol=1e-5), (wanted, found)
assert wanted[-1] < wanted[0], wanted
print("2 ranks train: as one")

# The checkpoint is whole: one process goes on from it, and two from one's.
longer = losses(
    1, "step", "--checkpoint", f"{folder}/one.safetensors", "--checkpoint-every", 18, epochs=5
)
resumed = losses(1, "step", "--checkpoint", f"{folder}/parts.safetensors", "--resume", epochs=5)
assert np.allclose(longer[18:], resumed, rtol=1e-5), (longer[18:], resumed)
losses(1, "step", "--checkpoint", f"{folder}/again.safetensors", epochs=3)
resumed = losses(2, "step2", "--checkpoint", f"{folder}/again.safetensors", "--resume", epochs=5)
assert np.allclose(longer[18:], resumed, rtol=1e-5), (longer[18:], resumed)
print("checkpoints go on in one process and in two")

for line in (
    ("run", f"{folder}/parts.dlcx"),
    ("train", f"{folder}/step2.dlcx", "--data", f"{folder}/tokens.npz"),
):
    status, _, err = alone(line)
    assert status == 1 and "required: 2 ranks; found: 1" in err and "mpirun -n 2" in err, err
status, _, err, _ = worlds.run(3, ["dlc", "run", f"{folder}/parts.dlcx"])
assert status != 0 and err.count("required: 2 ranks; found: 3") == 1, err
print("another world is refused")
