"""Classifies all files of the repository with dlc-magika and with the magika package. The answers must be equal.

usage: compare.py DLC-MAGIKA SOURCE-ROOT
"""

import json
import os
import subprocess
import sys

import magika

runner, root = sys.argv[1:3]
files = [
    os.path.join(root, f)
    for f in subprocess.run(
        ["git", "-C", root, "ls-files"], capture_output=True, text=True
    ).stdout.splitlines()
]
files = [f for f in files if os.path.isfile(f)][::3]
model = os.path.join(os.path.dirname(magika.__file__), "models")
model = os.path.join(model, sorted(os.listdir(model))[-1])
run = subprocess.run(
    [runner, "--model-dir", model, "--json"] + files, capture_output=True, text=True
)
if run.returncode:
    sys.exit(run.stderr)
package = magika.Magika()
wrong = 0
for answer, result in zip(json.loads(run.stdout), package.identify_paths(files)):
    want = result.prediction
    apart = abs(answer["score"] - want.score)
    if apart > 1e-3:
        # Between two labels scores amplify rounding: the package's own may be another for the file alone.
        apart -= abs(package.identify_path(answer["path"]).prediction.score - want.score)
    if answer["label"] != str(want.output.label) or apart > 1e-3:
        wrong += 1
        print(
            f"{answer['path']}: {answer['label']} {answer['score']:.4f}, the package says {want.output.label} {want.score:.4f}"
        )
print(f"{len(files)} files, {wrong} named differently")
sys.exit(wrong != 0 or not files)
