"""Compares ids and logits of dlc with those of llama.cpp (the package llama-cpp-python), with an f32 cache.

usage: llama_cpp_check.py TOLERANCE TOKENS IDS FOLDER|FILE.gguf[=REFERENCE.gguf]...

llama.cpp reads REFERENCE.gguf if it is given: the same weights in another format.

Prints for each file the error relative to the largest logit, and how many greedy ids are equal.
"""

import pathlib
import subprocess
import sys
import tempfile

import llama_cpp
import numpy as np

CONTEXT = 64


def reference(path, ids, context):
    """Returns the logits of each position after these ids."""
    model = llama_cpp.Llama(
        path, n_ctx=context, logits_all=True, type_k=0, type_v=0, flash_attn=False, verbose=False
    )
    model.eval(ids)
    return np.array(model.scores[: len(ids)])


def main():
    tolerance, tokens = float(sys.argv[1]), int(sys.argv[2])
    prompt, wrong = list(map(int, sys.argv[3].split(","))), 0
    models = []
    for argument in sys.argv[4:]:
        folder = pathlib.Path(argument)
        models += sorted(map(str, folder.glob("*.gguf"))) if folder.is_dir() else [argument]
    for files in models:
        path, _, other = files.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            command = ["dlc", "generate", path, "--ids", sys.argv[3], "--max-tokens", tokens]
            command += ["--context", max(CONTEXT, len(prompt) + tokens), "--prompt-step", 4]
            command += ["--accuracy", "strict", "--ignore-end", "--logits", folder + "/l.npy"]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            ids, found = list(map(int, done.stdout.split())), np.load(folder + "/l.npy")
        expected = reference(other or path, prompt + ids[:-1], max(CONTEXT, len(prompt) + tokens))
        expected = expected[len(prompt) - 1 :]
        error = np.abs(found - expected).max() / np.abs(expected).max()
        equal = int((expected.argmax(1) == ids).sum())
        wrong += error > tolerance
        print(f"{pathlib.Path(path).stem}: error {error:.1e}, {equal} of {tokens} ids equal")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
