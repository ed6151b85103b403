"""Writes arrays: arrays.py FOLDER NAME=EXPRESSION... makes FOLDER/NAME.npy, where f32, i32, u32 and bool make arrays of lists."""

import os
import sys

import numpy as np

NAMES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.bool_}
scope = {
    name: (lambda values, dtype=dtype: np.array(values, dtype)) for name, dtype in NAMES.items()
}
scope.update(nan=np.nan, inf=np.inf, arange=np.arange)
for argument in sys.argv[2:]:
    name, expression = argument.split("=", 1)
    np.save(os.path.join(sys.argv[1], name + ".npy"), eval(expression, scope))
