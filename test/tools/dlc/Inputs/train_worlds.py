"""Trains the same model in one process and in several: train_worlds.py FOLDER, which contains whole.dlcx, half.dlcx, third.dlcx and data.npz."""

import glob
import json
import os
import re
import signal
import sys
import time

import worlds
from train_runs import Runs, alike, begun, losses, processes

folder = sys.argv[1]
EPOCHS = 6
runs = Runs(folder, EPOCHS)
line, train, checkpoint = runs.line, runs.train, runs.checkpoint

whole = train(1, "whole")
assert len(whole) >= 12, whole
for ranks, step in ((2, "half"), (3, "third")):
    found = train(ranks, step)
    assert len(found) == len(whole), (found, whole)
    alike(found, whole)
    print(f"{ranks} ranks: as one")

train(2, "half", "--trace", f"{folder}/trace.json", epochs=4)
with open(f"{folder}/trace.json") as file:
    rows = json.load(file)["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in rows if e["ph"] == "M"}
assert {name for (_, row), name in names.items() if row == 0} == {"rank 0 of 2", "rank 1 of 2"}, (
    names
)
meet = [
    sorted(
        (e["ts"], e["ts"] + e["dur"])
        for e in rows
        if e["ph"] == "X"
        and e["pid"] == rank
        and e["cat"] == "library"
        and names[rank, e["tid"]] == "cpu, collectives"
    )
    for rank in (0, 1)
]
# Of one clock: none ends before the other rank's has begun.
assert len(meet[0]) == len(meet[1]) > 8 and min(meet[0] + meet[1])[0] >= 0, meet
assert all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(*meet)), meet
print("trace: both ranks meet")

LONG = 200
long = train(2, "half", epochs=LONG)
for rank in (0, 1):
    keep = checkpoint(f"killed{rank}")
    process = worlds.start(2, line("half", *keep, epochs=LONG))
    before = begun(process, 5)
    began = time.monotonic()
    os.kill(processes(process)[rank], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - began
    assert process.returncode != 0 and took < 30, (process.returncode, took)
    assert re.search(rf"rank {1 - rank} of 2, step \d+: rank {rank} died in step \d+", err), err
    found = losses(before + "\n".join(out.splitlines()[:-1]))
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
os.kill(processes(process)[1], signal.SIGINT)
out, err = process.communicate(timeout=60)
found = losses(before + out)
assert process.returncode == 130, (process.returncode, err)
again = train(2, "half", *keep, "--resume", steps=max(found) + 5)
assert min(again) == max(found) + 1 and all(again[step] == long[step] for step in again), (
    found,
    again,
)
print("interrupted: all stop, and it goes on")

status, out, err, _ = worlds.run(2, line("whole"))
assert status != 0 and err.count("the step is compiled for a single process") == 1, (
    status,
    out,
    err,
)
os.rename(f"{folder}/data.npz", f"{folder}/gone.npz")
status, out, err, _ = worlds.run(2, line("half"))
os.rename(f"{folder}/gone.npz", f"{folder}/data.npz")
assert status != 0 and err.count("data.npz") == 1 and "rank 0 of 2" in err, (status, out, err)
print("what cannot be is told once")
