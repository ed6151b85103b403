"""Writes an ONNX model of four matmuls with 8-bit weights (one scale per column) and 64 rows, and an input: weight_copies.py FOLDER."""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

random = np.random.default_rng(0)
nodes, constants = [], []
for i in range(4):
    constants.append(
        numpy_helper.from_array(random.integers(-127, 128, (384, 384)).astype("int8"), f"w{i}")
    )
    constants.append(
        numpy_helper.from_array(random.uniform(0.0005, 0.001, 384).astype("float32"), f"s{i}")
    )
    nodes.append(helper.make_node("DequantizeLinear", [f"w{i}", f"s{i}"], [f"f{i}"], axis=1))
    nodes.append(helper.make_node("MatMul", [f"y{i - 1}" if i else "x", f"f{i}"], [f"y{i}"]))
values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 384]) for name in ("x", "y3")]
graph = helper.make_graph(nodes, "weight_copies", values[:1], values[1:], constants)
save(
    helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
    sys.argv[1] + "/model.onnx",
)
np.save(sys.argv[1] + "/x.npy", random.standard_normal((64, 384)).astype("float32"))
