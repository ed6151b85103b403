"""Prints the arrays of a folder: name, element type, shape and all elements, sorted by name."""

import glob
import os
import sys

import numpy as np

for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.npy"))):
    array = np.load(path)
    values = " ".join(
        f"{value:.6g}" if array.dtype.kind == "f" else str(int(value)) for value in array.ravel()
    )
    print(f"{os.path.basename(path)[:-4]} {array.dtype} {list(array.shape)}: {values}")
