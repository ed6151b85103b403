"""Small models for the tests, as ONNX bytes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F32 = TensorProto.FLOAT


def made(nodes, inputs, outputs, initializers=(), opset=17):
    """Nodes as (type, inputs, outputs, attributes); values as {name: (type, shape)}."""
    nodes = [
        helper.make_node(kind, given, results, name=f"n{i}", **attributes)
        for i, (kind, given, results, attributes) in enumerate(nodes)
    ]
    values = [
        [helper.make_tensor_value_info(name, *what) for name, what in these.items()]
        for these in (inputs, outputs)
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        *values,
        [numpy_helper.from_array(array, name) for name, array in dict(initializers).items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10
    ).SerializeToString()


def ten_operations():
    """Ten operations on 16 floats."""
    kinds = ["Relu", "Neg", "Abs", "Sqrt", "Tanh", "Neg", "Exp", "Sigmoid", "Relu", "Neg"]
    names = ["x", *(f"v{i}" for i in range(9)), "y"]
    return made(
        [(kind, [names[i]], [names[i + 1]], {}) for i, kind in enumerate(kinds)],
        {"x": (F32, [16])},
        {"y": (F32, [16])},
    )


def ten_operations_reference(x):
    t = np.exp(-np.tanh(np.sqrt(np.abs(-np.maximum(x, 0)))))
    return -np.maximum(1 / (1 + np.exp(-t)), 0)


def doubled(onnx_type, shape=(2, 3)):
    """y = x + x."""
    return made(
        [("Add", ["x", "x"], ["y"], {})],
        {"x": (onnx_type, list(shape))},
        {"y": (onnx_type, list(shape))},
    )


def two():
    """Two inputs, one of them with a name that is no identifier, and two outputs."""
    f = (F32, [2, 3])
    return made(
        [("Add", ["a", "b/1"], ["sum"], {}), ("Sub", ["a", "b/1"], ["difference"], {})],
        {"a": f, "b/1": f},
        {"sum": f, "difference": f},
    )


def open_batch():
    """y = 2 x, of any number of rows."""
    return made(
        [("Mul", ["x", "two"], ["y"], {})],
        {"x": (F32, ["batch", 3])},
        {"y": (F32, ["batch", 3])},
        {"two": np.array(2, "float32")},
    )


def with_default():
    """y = x + w, where w is an input with a default of 10."""
    f = (F32, [2, 3])
    return made(
        [("Add", ["x", "w"], ["y"], {})],
        {"x": f, "w": f},
        {"y": f},
        {"w": np.full((2, 3), 10, "float32")},
    )


def reshaped():
    """Shapes that depend on an input's value."""
    return made(
        [("Reshape", ["x", "shape"], ["y"], {})],
        {"x": (F32, [6]), "shape": (TensorProto.INT64, [2])},
        {"y": (F32, ["a", "b"])},
    )


def enormous():
    """An outer product of a million by a million elements on the way."""
    return made(
        [("MatMul", ["x", "w"], ["a"], {}), ("ReduceMax", ["a"], ["y"], {"keepdims": 0})],
        {"x": (F32, [1 << 20, 1])},
        {"y": (F32, [])},
        {"w": np.ones((1, 1 << 20), "float32")},
    )


def long_to_compile(layers=150, batch=4):
    """Many kernels, no two alike."""
    nodes, constants, before = [], {}, "x"
    for i in range(layers):
        constants[f"w{i}"] = np.full((8 + i, 9 + i), 0.01 * (i + 1), "float32")
        nodes += [
            ("MatMul", [before, f"w{i}"], [f"m{i}"], {}),
            ("Softmax", [f"m{i}"], [f"s{i}"], {}),
            ("Tanh", [f"s{i}"], [f"t{i}"], {}),
        ]
        before = f"t{i}"
    return made(nodes, {"x": (F32, [batch, 8])}, {before: (F32, [batch, 8 + layers])}, constants)
