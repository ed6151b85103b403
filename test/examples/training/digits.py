"""Writes scikit-learn's handwritten digits as digits.npz (for training) and digits-test.npz into a folder, as pictures [1, 8, 8]."""
import sys

import numpy
from sklearn.datasets import load_digits

digits = load_digits()
order = numpy.random.default_rng(0).permutation(len(digits.target))
x = (digits.images[order] / 16).astype("float32")[:, None]
target = digits.target[order].astype("int64")
for name, part in (("digits", slice(360, None)), ("digits-test", slice(0, 360))):
    numpy.savez(f"{sys.argv[1]}/{name}.npz", x=x[part], target=target[part])
