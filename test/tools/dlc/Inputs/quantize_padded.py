"""Writes padded.onnx, a network that pads with -infinity before a maximum, and data.npz. With a second argument, compares the named file with padded.onnx."""

import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

os.chdir(sys.argv[1])
rng = np.random.default_rng(0)


def write():
    weights = {
        "w0": rng.standard_normal((16, 3, 3, 3)),
        "w1": rng.standard_normal((8, 16, 3, 3)) / 12,
    }
    constants = [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items()]
    constants += [
        numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads"),
        numpy_helper.from_array(np.float32(-np.inf), "least"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Pad", ["b", "pads", "least"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["d"], kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("Conv", ["d", "w1"], ["y"]),
    ]
    floats = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        nodes, "padded", [floats("x", [1, 3, 16, 16])], [floats("y", None)], constants
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        "padded.onnx",
    )
    np.savez("data.npz", x=rng.standard_normal((4, 3, 16, 16)).astype(np.float32))


def hold(path):
    x = {"x": np.load("data.npz")["x"][:1]}
    wanted, found = (
        ort.InferenceSession(p, providers=["CPUExecutionProvider"]).run(None, x)[0]
        for p in ("padded.onnx", path)
    )
    off = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert off < 0.05, off


hold(sys.argv[2]) if len(sys.argv) > 2 else write()
