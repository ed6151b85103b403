"""Writes scikit-learn's handwritten digits as digits.npz (for training) and digits-test.npz into a folder, as pictures [1, 8, 8], and resized to [1, 32, 32] as digits-32.npz and digits-32-test.npz."""

import sys

import numpy
from sklearn.datasets import load_digits

digits = load_digits()
order = numpy.random.default_rng(0).permutation(len(digits.target))
x = (digits.images[order] / 16).astype("float32")[:, None]
target = digits.target[order].astype("int64")
for kind, pictures in (("digits", x), ("digits-32", x.repeat(4, axis=2).repeat(4, axis=3))):
    for name, part in ((kind, slice(360, None)), (kind + "-test", slice(0, 360))):
        numpy.savez(f"{sys.argv[1]}/{name}.npz", x=pictures[part], target=target[part])
