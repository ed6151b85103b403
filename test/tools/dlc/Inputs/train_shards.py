"""Trains in several processes with split optimizer state: train_shards.py FOLDER, which contains the steps and data.npz."""

import glob
import json
import os
import random
import shutil
import signal
import sys
import time

import worlds
from train_runs import Runs, alike, begun, processes

folder = sys.argv[1]
EPOCHS = 6
runs = Runs(folder, EPOCHS)


def files(name):
    return sorted(os.path.basename(path) for path in glob.glob(f"{folder}/{name}*"))


def names_in(path):
    with open(path, "rb") as file:
        return set(json.loads(file.read(int.from_bytes(file.read(8), "little"))))


whole = runs.train(1, "whole", epochs=EPOCHS)
for ranks, step in ((2, "two"), (4, "four")):
    alike(runs.train(ranks, step, epochs=EPOCHS), whole)
    print(f"{ranks} ranks: as one")

# From one number of ranks to the next, and to a step that has no shares.
keep = runs.checkpoint("passed")
runs.train(2, "two", *keep, epochs=2)
names = files("passed")
assert (
    len(names) == 3
    and names[0] == "passed.safetensors"
    and all(n.endswith("of2.part") for n in names[1:])
), names
# What all have alike is a file that any reader knows.
assert {"hidden.weight", "out.bias", "step"} <= names_in(f"{folder}/passed.safetensors")
alike(runs.train(4, "four", *keep, "--resume", epochs=3), whole)
assert len(files("passed")) == 5 and all(n.endswith("of4.part") for n in files("passed")[1:]), (
    files("passed")
)
alike(runs.train(1, "whole", *keep, "--resume", epochs=4), whole)
assert files("passed") == ["passed.safetensors"], files("passed")
alike(runs.train(2, "two", *keep, "--resume", epochs=5), whole)
print("parts are read by 1, 2 and 4 ranks")

same = [runs.train(ranks, f"same{ranks}", epochs=EPOCHS) for ranks in (1, 2, 4)]
assert same[0] and same[0] == same[1] == same[2], same
keep = runs.checkpoint("chunks")
runs.train(4, "same4", *keep, epochs=2)
again = runs.train(2, "same2", *keep, "--resume", epochs=4)
again.update(runs.train(1, "same1", *keep, "--resume", epochs=EPOCHS))
assert again and all(again[step] == same[0][step] for step in again), (again, same[0])
print("1, 2 and 4 ranks: the same bits")

LONG = 100
long = runs.train(2, "two", epochs=LONG)
pause = random.Random(5)
for rank in (0, 1):
    keep = runs.checkpoint(f"killed{rank}")
    done = 0
    for attempt in range(2):
        process = worlds.start(2, runs.line("two", *keep, "--resume", epochs=LONG))
        begun(process, 2)
        time.sleep(pause.random() * 0.02)
        os.kill(processes(process)[rank], signal.SIGKILL)
        out, err = process.communicate(timeout=60)
        assert process.returncode != 0, (out, err)
        # Whatever it was at, what the first file names is whole.
        found = runs.train(
            2,
            "two",
            *keep,
            "--resume",
            steps=LONG * 3 if attempt == 1 else None,
            epochs=None if attempt == 1 else 1,
        )
        assert all(found[step] == long[step] for step in found), "losses after the kill"
        if found:
            assert min(found) > done
            done = max(found)
    assert done == LONG * 3, done
    assert len(files(f"killed{rank}")) == 3, files(f"killed{rank}")
    print(f"rank {rank} killed: old or new, nothing is left")

keep = runs.checkpoint("full")
runs.train(2, "two", *keep, epochs=1)
before = {name: open(f"{folder}/{name}", "rb").read() for name in files("full")}
status, out, err, _ = worlds.run(
    2,
    [
        "bash",
        "-c",
        "ulimit -f 1; trap '' XFSZ; exec \"$@\"",
        "limited",
        *map(str, runs.line("two", *keep, "--resume", epochs=2)),
    ],
)
assert status != 0 and "cannot write" in err, (status, out, err)
assert all(open(f"{folder}/{name}", "rb").read() == bytes for name, bytes in before.items())
alike(runs.train(2, "two", *keep, "--resume", epochs=2), whole)
assert len(files("full")) == 3, files("full")
print("a full disk: the checkpoint before stands")

part = f"{folder}/{files('full')[2]}"
shutil.copy(part, f"{folder}/kept")
for spoil, told in (
    (os.unlink, "No such file"),
    (lambda path: os.truncate(path, 100), "not a usable .safetensors file"),
):
    spoil(part)
    status, out, err, _ = worlds.run(2, runs.line("two", *keep, "--resume", epochs=3))
    assert status != 0 and os.path.basename(part) in err and told in err, (status, err)
    shutil.copy(f"{folder}/kept", part)
print("what is cut or missing is told")
