"""Kills `dlc train` at twenty random times, resumes it each time, and compares the final result with that of an undisturbed run.

train_kill.py FOLDER STEP.dlcx: uses data.npz of the folder.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

folder, program = sys.argv[1:]
steps = 5000


def command(name):
    return [
        "dlc",
        "train",
        program,
        "--data",
        f"{folder}/data.npz",
        "--steps",
        str(steps),
        "--seed",
        "5",
        "--json",
        "--checkpoint",
        f"{folder}/{name}.safetensors",
        "--checkpoint-every",
        "7",
        "--resume",
        "--threads",
        "1",
    ]


def losses(text, into):
    for line in text.decode().splitlines():
        if line.endswith("}"):
            entry = json.loads(line)
            # A step that is run again after a kill must have the same loss to the last digit.
            assert into.setdefault(entry["step"], entry["loss"]) == entry["loss"], entry


for name in ("whole", "killed"):
    if os.path.exists(f"{folder}/{name}.safetensors"):
        os.remove(f"{folder}/{name}.safetensors")
undisturbed = {}
losses(subprocess.run(command("whole"), check=True, stdout=subprocess.PIPE).stdout, undisturbed)
assert len(undisturbed) == steps

random.seed(11)
seen, resumed = {}, set()
for kill in range(20):
    # A small pipe, so that it cannot run far ahead of what is read here and come to its end.
    process = subprocess.Popen(command("killed"), stdout=subprocess.PIPE, pipesize=4096)
    out = b""
    if kill % 4 == 3:  # while it starts
        time.sleep(random.uniform(0, 0.3))
    else:  # after some steps, and anywhere in one: as it computes, writes or renames
        for _ in range(random.randrange(1, 150)):
            out += process.stdout.readline()
        time.sleep(random.uniform(0, 0.01))
    process.send_signal(signal.SIGKILL)
    out += process.communicate()[0]
    assert process.returncode == -signal.SIGKILL, process.returncode
    losses(out, seen)
    if b"}" in out:
        resumed.add(json.loads(out.decode().splitlines()[0])["step"])
losses(subprocess.run(command("killed"), check=True, stdout=subprocess.PIPE).stdout, seen)

assert seen == undisturbed, [s for s in undisturbed if seen.get(s) != undisturbed[s]][:3]
whole, killed = (open(f"{folder}/{n}.safetensors", "rb").read() for n in ("whole", "killed"))
assert whole == killed, "the checkpoints differ"
left = [f for f in os.listdir(folder) if f.startswith("killed.") and f != "killed.safetensors"]
assert not left, left
assert len(resumed) >= 10, resumed
print(f"20 kills, {len(resumed)} places resumed at, the same {len(whole)} bytes")
