"""Trains the same model in one process and in several: train_worlds.py FOLDER, with whole.dlcx, half.dlcx, third.dlcx and data.npz in it."""
import glob
import os
import re
import signal
import sys
import time

import worlds

folder = sys.argv[1]
EPOCHS = 6


def line(step, *more, epochs=EPOCHS, steps=None):
    length = ["--steps", steps] if steps else ["--epochs", epochs]
    return ["dlc", "train", f"{folder}/{step}.dlcx", "--data", f"{folder}/data.npz", *length, "--seed", 7, "--json", *more]


def train(ranks, step, *more, **options):
    status, out, err, _ = worlds.run(ranks, line(step, *more, **options))
    assert status == 0, (status, out, err)
    return worlds.losses(out)


def alike(found, wanted):
    assert found and all(abs(found[step] - wanted[step]) < 1e-5 * max(1, abs(wanted[step])) for step in found), (found, wanted)


def checkpoint(name):
    for old in glob.glob(f"{folder}/{name}*"):
        os.unlink(old)
    return ["--checkpoint", f"{folder}/{name}.safetensors", "--checkpoint-every", 1]


def begun(process, steps):
    """What a running world says of so many steps; the steps are many."""
    return "".join(process.stdout.readline() for _ in range(steps))


whole = train(1, "whole")
assert len(whole) >= 12, whole
for ranks, step in ((2, "half"), (3, "third")):
    found = train(ranks, step)
    assert len(found) == len(whole), (found, whole)
    alike(found, whole)
    print(f"{ranks} ranks: as one")

LONG = 200
long = train(2, "half", epochs=LONG)
for rank in (0, 1):
    keep = checkpoint(f"killed{rank}")
    process = worlds.start(2, line("half", *keep, epochs=LONG))
    before = begun(process, 5)
    began = time.monotonic()
    os.kill(worlds.processes(process)[rank], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - began
    assert process.returncode != 0 and took < 30, (process.returncode, took)
    assert re.search(rf"rank {1 - rank} of 2, step \d+: rank {rank} died in step \d+", err), err
    found = worlds.losses(before + "\n".join(out.splitlines()[:-1]))
    assert all(found[step] == long[step] for step in found), "losses before the kill"
    again = train(2, "half", *keep, "--resume", steps=max(found) + 20)
    assert again and all(again[step] == long[step] for step in again), "losses after it"
    assert not glob.glob(f"{folder}/killed{rank}*.tmp"), "temporary files"
    print(f"rank {rank} killed: all end, nothing is left, and it goes on")

keep = checkpoint("others")
train(2, "half", *keep, epochs=2)
alike(train(3, "third", *keep, "--resume"), whole)
print("other number of ranks: goes on")

keep = checkpoint("interrupted")
process = worlds.start(2, line("half", *keep, epochs=LONG))
before = begun(process, 5)
os.kill(worlds.processes(process)[1], signal.SIGINT)
out, err = process.communicate(timeout=60)
found = worlds.losses(before + out)
assert process.returncode == 130, (process.returncode, err)
again = train(2, "half", *keep, "--resume", steps=max(found) + 5)
assert min(again) == max(found) + 1 and all(again[step] == long[step] for step in again), (found, again)
print("interrupted: all stop, and it goes on")

status, out, err, _ = worlds.run(2, line("whole"))
assert status != 0 and err.count("the step is one of a single process") == 1, (status, out, err)
os.rename(f"{folder}/data.npz", f"{folder}/gone.npz")
status, out, err, _ = worlds.run(2, line("half"))
os.rename(f"{folder}/gone.npz", f"{folder}/data.npz")
assert status != 0 and err.count("data.npz") == 1 and "rank 0 of 2" in err, (status, out, err)
print("what cannot be is told once")
