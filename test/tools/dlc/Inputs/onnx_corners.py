"""make: writes corners.onnx, in which each operator has its own parameter, and data.npz. check: compares the changes of the parameters after one step of SGD
with a learning rate of 1 with the expected gradients. All results are above their targets, so the gradient of the l1 loss is 1 / number of results for
each of them."""

import json
import os
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: Name, operator, attributes, the parameter, its gradients, more operands.
CASES = [
    ("relu", "Relu", {}, [0, 1, -1], [0, 1, 0]),
    ("leaky_relu", "LeakyRelu", {"alpha": 0.25}, [0, 1, -1], [0.25, 1, 0.25]),
    ("prelu", "PRelu", {}, [0, 1, -1], [0.25, 1, 0.25], 0.25),
    ("elu", "Elu", {"alpha": 2.0}, [0, 1, 200], [2, 1, 1]),
    ("selu", "Selu", {"alpha": 2.0, "gamma": 0.5}, [0, 1, 200], [1, 0.5, 0.5]),
    ("celu", "Celu", {"alpha": 2.0}, [0, 1, 400], [1, 1, 1]),
    ("thresholded_relu", "ThresholdedRelu", {"alpha": 1.0}, [1, 2, 0], [0, 1, 0]),
    ("hard_sigmoid", "HardSigmoid", {"alpha": 0.25, "beta": 0.5}, [-2, 2, 0], [0, 0, 0.25]),
    ("hard_swish", "HardSwish", {}, [-3, 3, 0], [0, 1, 0.5]),
    ("softplus", "Softplus", {}, [0, 50, -50], [0.5, 1, 0]),
    ("softsign", "Softsign", {}, [0, 1, -1], [1, 0.25, 0.25]),
    ("mish", "Mish", {}, [0, 20, 50], [0.6, 1, 1]),
    ("shrink", "Shrink", {"lambd": 1.0, "bias": 0.5}, [1, -1, 2], [0, 0, 1]),
    ("abs", "Abs", {}, [0, 1, -1], [0, 1, -1]),
    ("max", "Max", {}, [0, 1, -1], [0.5, 1, 0], 0.0),
    ("max_of_one", "Max", {}, [1, 2, 0], [0.5, 1, 0], 1.0),
    ("min", "Min", {}, [0, 1, -1], [0.5, 0, 1], 0.0),
    ("clip", "Clip", {}, [0, 1, 6], [0, 1, 0], 0.0, 6.0),
    ("clip_below", "Clip", {}, [0, 1, -1], [0, 1, 0], 0.0),
    ("pow", "Pow", {}, [0, 0, 3], [0, 1, 6], np.array([0, 1, 2], "float32")),
    ("pow_two", "Pow", {}, [0, 1, 2], [0, 2, 4], 2.0),
    ("reduce_max", "ReduceMax", {}, [2, 2, 1], [0.5, 0.5, 0]),
    ("reduce_min", "ReduceMin", {}, [2, 1, 1], [0, 0.5, 0.5]),
    ("reduce_l1", "ReduceL1", {}, [0, 2, -1], [0, 1, -1]),
    ("reduce_l2", "ReduceL2", {}, [0, 0, 0], [0, 0, 0]),
    ("reduce_prod", "ReduceProd", {}, [0, 2, 3], [6, 0, 0]),
    ("reduce_log_sum_exp", "ReduceLogSumExp", {}, [0, 0, -200], [0.5, 0.5, 0]),
    ("lp_normalization", "LpNormalization", {"p": 1}, [1, 0, 1], [0, 0.5, 0]),
    ("top_k", "TopK", {"axis": 1}, [2, 2, 1], [1, 0, 0], np.array([1])),
    ("max_pool", "MaxPool", {"kernel_shape": [2]}, [1, 1, 0], [1, 1, 0]),
    ("lp_pool", "LpPool", {"kernel_shape": [2]}, [0, 0, 3], [0, 0, 1]),
    (
        "scatter_max",
        "ScatterElements",
        {"axis": 1, "reduction": "max"},
        [1, 2, 0],
        [0.5, 1, 0],
        np.array([[0, 1, 2]]),
        np.array([[1, 1, 1]], "float32"),
    ),
]
SPATIAL = {"MaxPool", "LpPool"}


def shape_of(operator):
    return (1, 1, 3) if operator in SPATIAL else (1, 3)


def operands_of(name, others):
    """Constants, which are not trained: their nodes and names."""
    nodes = []
    for i, other in enumerate(others):
        tensor = np.array(other, "float32") if isinstance(other, float) else other
        nodes.append(
            helper.make_node("Constant", [], [f"{name}_{i}"], value=numpy_helper.from_array(tensor))
        )
    return nodes, [f"{name}_{i}" for i in range(len(others))]


def make(folder):
    nodes, weights, parts, count = [], [], [], 0
    for name, operator, attributes, values, _, *others in CASES:
        weights.append(
            numpy_helper.from_array(np.array(values, "float32").reshape(shape_of(operator)), name)
        )
        constants, given = operands_of(name, others)
        results = [f"{name}_y", f"{name}_index"] if operator == "TopK" else [f"{name}_y"]
        nodes += [*constants, helper.make_node(operator, [name, *given], results, **attributes)]
        whole = operator.startswith("Reduce")
        nodes.append(helper.make_node("Reshape", [results[0], "row"], [f"{name}_row"]))
        parts.append(f"{name}_row")
        count += 1 if whole or operator == "TopK" else 2 if operator in SPATIAL else 3
    constants, _ = operands_of("c", [np.array([1, -1]), float(count)])
    constants[0].output[0] = "row"
    nodes = [*constants, *nodes]
    nodes.append(helper.make_node("Concat", parts, ["results"], axis=1))
    nodes.append(helper.make_node("Add", ["results", "x"], ["moved"]))
    # The loss is a mean.
    nodes.append(helper.make_node("Mul", ["moved", "c_1"], ["y"]))
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])]
        for name, size in (("x", 1), ("y", count))
    )
    graph = helper.make_graph(nodes, "corners", inputs, outputs, weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10),
        os.path.join(folder, "corners.onnx"),
    )
    np.savez(
        os.path.join(folder, "data.npz"),
        x=np.zeros((1, 1), "float32"),
        target=np.full((1, count), -1e9, "float32"),
    )


def tensors_of(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    return {
        name: np.frombuffer(data[slice(*of["data_offsets"])], "float32")
        for name, of in header.items()
        if of.get("dtype") == "F32"
    }


def check(folder):
    after, wrong = tensors_of(os.path.join(folder, "after.safetensors")), 0
    for name, operator, _, values, gradients, *_ in CASES:
        found = np.array(values, "float32") - after[name]
        if not np.allclose(found, gradients, rtol=1e-4, atol=1e-4):
            wrong += 1
            print(
                f"{name} ({operator}) at {values}: required: {gradients}; found: {found.tolist()}"
            )
    print(f"{len(CASES)} operators, {wrong} wrong")


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
