"""Computes the expected results of one step of update-run.mlir: w = 2 - 0.5 * 1, m = 0.75 * 4 + 2."""

import sys

import numpy

for folder in sys.argv[1:]:
    y, z = numpy.load(folder + "/y.npy"), numpy.load(folder + "/z.npy")
    assert (y == 96 * 0.25 * 2).all(), (folder, y)
    assert (z == 96 * 0.25 * (1.5 + 5)).all(), (folder, z)
