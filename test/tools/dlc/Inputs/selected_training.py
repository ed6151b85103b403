"""Writes selected.onnx, which computes x w and its logarithm in the rows that a condition selects, and data in which the other rows are 0, where a
logarithm has no gradient."""

import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper, parser

folder = sys.argv[1]
model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 20]>
    agraph (float[6, 3] x) => (float[6, 4] y) {
        none = Constant<value_float=0.0>() ones = Constant<value_ints=[1]>()
        h = MatMul(x, w) s = ReduceSum<keepdims=0>(x, ones) m = Greater(s, none) i = NonZero(m) at = Transpose<perm=[1, 0]>(i)
        g = GatherND(h, at) l = Log(g) y = ScatterND(h, at, l) }""")
random = np.random.default_rng(3)
model.graph.initializer.append(
    numpy_helper.from_array(random.uniform(0.5, 1.5, (3, 4)).astype(np.float32), "w")
)
onnx.save(model, os.path.join(folder, "selected.onnx"))
x = random.uniform(0.5, 2, (8, 6, 3)).astype(np.float32)
x[:, 1] = 0
x[:4, 4] = 0
np.savez(os.path.join(folder, "data.npz"), x=x.reshape(48, 3), target=random.integers(0, 4, 48))
