"""Kills or stops random ranks of `dlc train` at random times and continues with worlds of other sizes. The losses must equal those of an
undisturbed run bit by bit.

usage: kills.py DLC MODELS FOLDER [KILLS]: MODELS is the script that makes models and data in FOLDER
"""

import os
import random
import re
import signal
import subprocess
import sys
import time

import worlds

dlc, models, folder = sys.argv[1:4]
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 50
STEPS, BATCH, CHUNKS = 6000, 8, 4

os.makedirs(folder, exist_ok=True)
subprocess.run([sys.executable, models, folder], check=True)
for ranks in (1, 2, 4):
    subprocess.run(
        [
            dlc,
            "compile",
            f"{folder}/dropped.onnx",
            "--train",
            "--optimizer",
            "adam",
            "--data-parallel",
            "--batch",
            str(BATCH // ranks),
            "--world",
            str(ranks),
            "--reproducible-reductions",
            str(CHUNKS),
            "--shard-optimizer",
            "--cache",
            "none",
            "-o",
            f"{folder}/{ranks}.dlcx",
        ],
        check=True,
    )


def line(ranks, *more):
    return [
        dlc,
        "train",
        f"{folder}/{ranks}.dlcx",
        "--data",
        f"{folder}/flat.npz",
        "--steps",
        STEPS,
        "--seed",
        5,
        "--json",
        "--threads",
        1,
        *more,
    ]


checkpoint = ["--checkpoint", f"{folder}/killed.safetensors", "--checkpoint-every", 7, "--resume"]


def take(text, into):
    found = worlds.losses("\n".join(row for row in text.splitlines() if row.endswith("}")))
    for step, loss in found.items():
        assert into.setdefault(step, loss) == loss, (step, loss, into[step])
    return found


def runs(pid):
    """Also while it is on its way out, but not where only nobody has asked for its end."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


for name in os.listdir(folder):
    if ".safetensors" in name:
        os.remove(os.path.join(folder, name))
undisturbed = {}
status, out, err, _ = worlds.run(1, line(1), seconds=600)
assert status == 0, err
take(out, undisturbed)

random.seed(11)
seen, named, longest = {}, 0, 0.0
for kill in range(KILLS):
    ranks, stops = random.choice((2, 4)), kill % 10 == 9
    process = worlds.start(
        ranks, line(ranks, *checkpoint), environment={"DLC_WORLD_TIMEOUT": "5"}, pipesize=4096
    )
    out = ""
    if (
        kill % 5 != 3
    ):  # after some steps, and anywhere in one: as it computes, meets others, writes or renames
        out = "".join(process.stdout.readline() for _ in range(random.randrange(1, 60)))
        time.sleep(random.uniform(0, 0.02))
    else:  # while it starts
        time.sleep(random.uniform(0.2, 1.2))
    there = worlds.processes(process)
    if len(there) == ranks:
        victim, began = random.randrange(ranks), time.monotonic()
        os.kill(there[victim], signal.SIGSTOP if stops else signal.SIGKILL)
    else:  # the launcher has not come so far
        victim, began = None, time.monotonic()
        process.terminate()
    rest, err = process.communicate(timeout=120)
    took = time.monotonic() - began
    longest = max(longest, took)
    assert process.returncode != 0 and took < 30, (kill, process.returncode, took, err)
    while any(map(runs, there)) and time.monotonic() - began < 30:
        time.sleep(0.1)
    assert not any(map(runs, there)), (kill, there)
    named += victim is not None and bool(
        re.search(rf"rank {victim} (died|has sent no heartbeat)", err)
    )
    take(out + rest, seen)
# The last world begins where the others have come to.
status, out, err, _ = worlds.run(1, line(1, *checkpoint), seconds=600)
assert status == 0, err
take(out, seen)
# What a rank had said when it was killed may be lost on its way through the launcher.
wrong = [step for step, loss in seen.items() if undisturbed[step] != loss]
assert not wrong and STEPS in seen and len(seen) > STEPS / 2, (wrong[:3], len(seen))
left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
assert not left, left
print(
    f"{KILLS} kills, {named} times the rank was named, all ended within {longest:.1f} s; {len(seen)} of {STEPS} losses seen, all as undisturbed"
)
