"""Writes ONNX models whose initializers are also inputs, and arrays for them: defaults.py FOLDER"""

import sys

import numpy as np
from onnx import TensorProto as T, helper, numpy_helper

folder = sys.argv[1]


def write(name, node, kinds, defaults):
    """A model of one node with the inputs `kinds`: {name: (type, shape)}."""
    inputs = [helper.make_tensor_value_info(n, *kind) for n, kind in kinds.items()]
    graph = helper.make_graph(
        [node],
        "g",
        inputs,
        [helper.make_tensor_value_info("y", T.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), n) for n, array in defaults.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=3)
    with open(f"{folder}/{name}.onnx", "wb") as f:
        f.write(model.SerializeToString())


write(
    "add",
    helper.make_node("Add", ["x", "w"], ["y"]),
    {"x": (T.FLOAT, [2, 3]), "w": (T.FLOAT, [2, 3])},
    {"w": np.full((2, 3), 10, np.float32)},
)
write(
    "open",
    helper.make_node("Add", ["x", "w"], ["y"]),
    {"x": (T.FLOAT, [2, 3]), "w": (T.FLOAT, ["n", 3])},
    {"w": np.full((1, 3), 10, np.float32)},
)
write(
    "reshape",
    helper.make_node("Reshape", ["x", "s"], ["y"]),
    {"x": (T.FLOAT, [2, 3]), "s": (T.INT64, [2])},
    {"s": [1, 6]},
)
np.save(f"{folder}/x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
np.save(f"{folder}/w.npy", np.full((2, 3), 2, np.float32))
np.save(f"{folder}/s.npy", np.array([3, 2]))
