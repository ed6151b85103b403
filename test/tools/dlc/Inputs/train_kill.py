"""Kills `dlc train` at twenty random moments, resumes each time, and compares the end with an undisturbed run's.

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
steps = 4000


def command(name):
    return ["dlc", "train", program, "--data", f"{folder}/data.npz", "--steps", str(steps), "--seed", "5", "--json",
            "--checkpoint", f"{folder}/{name}.safetensors", "--checkpoint-every", "7", "--resume", "--threads", "1"]


def losses(text, into):
    for line in text.decode().splitlines():
        if line.endswith("}"):
            entry = json.loads(line)
            # A step that is run again after a kill must have the same loss to the last digit.
            assert into.setdefault(entry["step"], entry["loss"]) == entry["loss"], entry


for name in ("whole", "killed"):
    if os.path.exists(f"{folder}/{name}.safetensors"):
        os.remove(f"{folder}/{name}.safetensors")
begin = time.monotonic()
undisturbed = {}
losses(subprocess.run(command("whole"), check=True, stdout=subprocess.PIPE).stdout, undisturbed)
seconds = time.monotonic() - begin
assert len(undisturbed) == steps

random.seed(11)
seen, kills, resumed, runs = {}, 0, set(), 0
while True:
    runs += 1
    assert runs < 200, f"{kills} kills in {runs} runs"
    process = subprocess.Popen(command("killed"), stdout=subprocess.PIPE)
    if kills < 20:
        # Anywhere: while it loads, steps, writes, and (about the length of a whole run apart) at the end.
        time.sleep(random.uniform(0, min(seconds / 6, 3)))
        process.send_signal(signal.SIGKILL)
    out, _ = process.communicate()
    before = len(seen)
    losses(out, seen)
    if out:
        resumed.add(json.loads(out.decode().splitlines()[0])["step"])
    if process.returncode == -signal.SIGKILL:
        kills += 1
    else:
        assert process.returncode == 0, process.returncode
        if kills == 20:
            break
        # It came to its end before all kills: once more from the beginning, with what was seen.
        os.remove(f"{folder}/killed.safetensors")

assert seen == undisturbed, [s for s in undisturbed if seen.get(s) != undisturbed[s]][:3]
whole, killed = (open(f"{folder}/{n}.safetensors", "rb").read() for n in ("whole", "killed"))
assert whole == killed, "the checkpoints differ"
left = [f for f in os.listdir(folder) if f.startswith("killed.") and f != "killed.safetensors"]
assert not left, left
assert len(resumed) >= 3, resumed
print(f"{kills} kills, {len(resumed)} places resumed at, the same {len(whole)} bytes")
