"""Runs the example `resnet` in one process and in two: resnet.py PROGRAM FOLDER-WITH-DIGITS. Both must reach the same accuracy on a test set."""

import re
import subprocess
import sys

import worlds

program, folder = sys.argv[1:]
ACCURACY = r"processes: accuracy ([0-9.]+) of digits never seen"

alone = subprocess.run([program, folder], check=True, text=True, stdout=subprocess.PIPE).stdout
status, together, err, _ = worlds.run(2, [program, folder])
assert status == 0, (together, err)
one, two = (float(re.search(ACCURACY, text)[1]) for text in (alone, together))
# Sums of halves round otherwise, and of 360 digits one in fifty more or less is the luck of that.
assert one >= 0.95 and two >= one - 0.02, (alone, together)
print("accuracy", one, two)
