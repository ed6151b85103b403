"""Runs the example `ranks` in one process and in two: ranks.py PROGRAM FOLDER-WITH-DIGITS."""

import re
import subprocess
import sys

import worlds

program, folder = sys.argv[1:]


def losses(text):
    return [float(loss) for loss in re.findall(r"loss ([0-9.]+)", text)]


wanted = losses(
    subprocess.run([program, folder], check=True, text=True, stdout=subprocess.PIPE).stdout
)
# Gradients in bf16 have 8 significant bits.
for travel, bound in (("f32", 1e-3), ("bf16", 0.05)):
    status, out, err, _ = worlds.run(2, [program, folder, travel])
    assert status == 0, (out, err)
    assert len(wanted) == 10 and all(
        abs(a - b) <= bound * a for a, b in zip(wanted, losses(out), strict=True)
    ), (wanted, out)
    print(travel, out.splitlines()[-1], sep=": ")
