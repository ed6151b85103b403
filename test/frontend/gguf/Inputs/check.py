"""Generates with dlc from the models that families.py or folders.py wrote, and compares ids and logits with decoder.py.

usage: check.py FOLDER [PATTERN]
"""

import json
import pathlib
import subprocess
import sys

import decoder
import numpy as np

PROMPT = [5, 17, 90, 3, 44, 8, 71, 20, 63, 2, 31]
ANSWER, TOLERANCE = 12, 1e-4
# Tokens per step of the prompt, and capacity of the cache: a step per token, padded steps, and steps that would end outside of the cache.
SETTINGS = ((1, 64), (4, 64), (8, 24))


def generate(path, folder, step, capacity):
    command = ["dlc", "generate", path, "--ids", ",".join(map(str, PROMPT)), "--cache", "none"]
    command += ["--max-tokens", ANSWER, "--prompt-step", step, "--context", capacity]
    command += ["--logits", folder / "logits.npy", "--ignore-end", "--accuracy", "strict"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(map(int, done.stdout.split())), np.load(folder / "logits.npy")


def main():
    folder = pathlib.Path(sys.argv[1])
    for options in sorted(folder.glob((sys.argv[2] if len(sys.argv) > 2 else "*") + ".json")):
        o, weights = json.loads(options.read_text()), dict(np.load(options.with_suffix(".npz")))
        path = options.with_suffix(".gguf")
        path = path if path.exists() else options.with_suffix("")
        for step, capacity in SETTINGS if path.stem in ("llama", "gemma3") else SETTINGS[1:2]:
            ids, found = generate(path, folder, step, capacity)
            assert len(ids) == ANSWER, ids
            expected = decoder.logits(o, weights, PROMPT + ids[:-1], capacity)[len(PROMPT) - 1 :]
            error = np.abs(found - expected).max() / np.abs(expected).max()
            assert error <= TOLERANCE, f"{path.stem}: error {error:.2e}"
            assert ids == list(expected.argmax(1)), (path.stem, ids, expected.argmax(1))
            assert np.ptp(expected, axis=0).max() > 0.05 * np.abs(expected).max(), path.stem
        print(f"{path.stem}: right")


main()
