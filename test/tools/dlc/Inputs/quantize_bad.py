"""Writes models and data that `dlc quantize` must reject or quantize only in part into a folder."""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

os.chdir(sys.argv[1])
random = np.random.default_rng(0)


def weights(name, *shape, scale=1.0):
    return numpy_helper.from_array((random.standard_normal(shape) * scale).astype("float32"), name)


def save(path, nodes, tensors, shape=("n", 8), opset=17, out=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", out, None)],
        tensors,
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path
    )


product = helper.make_node("MatMul", ["x", "w"], ["y"], "first")
save("good.onnx", [product], [weights("w", 8, 16)])
save("fixed.onnx", [product], [weights("w", 8, 16)], (4, 8))
save("old.onnx", [product], [weights("w", 8, 16)], opset=12)
save("nothing.onnx", [helper.make_node("Relu", ["x"], ["y"], "r")], [])
save(
    "infinite.onnx",
    [
        helper.make_node("Exp", ["x"], ["e"], "e"),
        helper.make_node("MatMul", ["e", "w"], ["y"], "first"),
    ],
    [weights("w", 8, 16)],
)
# One row of weights of another size than the rest: its channel and block are fine, the input's range is not.
save(
    "rough.onnx",
    [
        helper.make_node("Mul", ["x", "m"], ["s"], "scaled"),
        helper.make_node("MatMul", ["s", "w"], ["h"], "rough"),
        helper.make_node("Tanh", ["h"], ["t"], "t"),
        helper.make_node("MatMul", ["t", "v"], ["y"], "fine"),
    ],
    [
        numpy_helper.from_array(np.array([1e5] + [1] * 7, "float32"), "m"),
        numpy_helper.from_array(np.array([[0] * 16] + [[1] * 16] * 7, "float32"), "w"),
        weights("v", 16, 4),
    ],
)
x = random.standard_normal((10, 8)).astype("float32")
np.savez("good.npz", x=x)
np.savez("name.npz", images=x)
np.savez("shape.npz", x=x[:, :7])
np.savez("type.npz", x=x.astype("float64"))
np.savez("few.npz", x=x[:3])
np.savez("large.npz", x=x * 1000)
