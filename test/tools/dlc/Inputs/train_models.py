"""Writes small models for training, and data for them: train_models.py FOLDER."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
rng = np.random.default_rng(3)


def save(name, nodes, inputs, outputs, weights, opset=17):
    weights = [numpy_helper.from_array(w, n) for n, w in weights.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, f"{folder}/{name}.onnx")


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def floats(*shape):
    return (rng.standard_normal(shape) * 0.5).astype(np.float32)


# Two layers with a scalar between them that somebody wrote, and an integer shape: neither is trained.
save(
    "mlp",
    [
        helper.make_node("Reshape", ["x", "flat"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "hidden.weight", "hidden.bias"], ["h"], "hidden", transB=1),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("Mul", ["r", "half"], ["m"], "scale"),
        helper.make_node("Gemm", ["m", "out.weight", "out.bias"], ["y"], "out", transB=1),
    ],
    [value("x", ["batch", 2, 3])],
    [value("y", ["batch", 4])],
    {
        "hidden.weight": floats(5, 6),
        "hidden.bias": floats(5),
        "out.weight": floats(4, 5),
        "out.bias": floats(4),
        "half": np.float32(0.5),
        "flat": np.array([-1, 6], np.int64),
    },
)

# Exported for inference, with what training changes.
save(
    "norm",
    [
        helper.make_node("Gemm", ["x", "w"], ["h"], "first"),
        helper.make_node(
            "BatchNormalization", ["h", "scale", "bias", "mean", "var"], ["n"], "bn", momentum=0.75
        ),
        helper.make_node("Dropout", ["n", "ratio"], ["d"], "drop"),
        helper.make_node("Gemm", ["d", "v"], ["y"], "last"),
    ],
    [value("x", [8, 6])],
    [value("y", [8, 2])],
    {
        "w": floats(6, 16),
        "v": floats(16, 2),
        "scale": np.ones(16, np.float32),
        "bias": np.zeros(16, np.float32),
        "mean": np.zeros(16, np.float32),
        "var": np.ones(16, np.float32),
        "ratio": np.float32(0.5),
    },
)

# A float tensor that is a shape's figure: it is read while importing and stays as it is.
save(
    "resize",
    [
        helper.make_node("Resize", ["x", "", "scales"], ["r"], "up"),
        helper.make_node("Mul", ["r", "gain"], ["y"], "gain"),
    ],
    [value("x", [2, 3])],
    [value("y", [2, 6])],
    {"scales": np.array([1, 2], np.float32), "gain": floats(6)},
)

save(
    "softmax",
    [helper.make_node("MatMul", ["x", "w"], ["l"]), helper.make_node("Softmax", ["l"], ["y"])],
    [value("x", [8, 6])],
    [value("y", [8, 4])],
    {"w": floats(6, 4)},
)
save(
    "wide",
    [helper.make_node("MatMul", ["x", "w"], ["y"])],
    [value("x", [8, 6])],
    [value("y", [8, 5])],
    {"w": floats(6, 5)},
)

# What no gradient goes through: steps, places, and a loop that ends when its values say so.
save(
    "rounded",
    [helper.make_node("MatMul", ["x", "w"], ["l"]), helper.make_node("Round", ["l"], ["y"])],
    [value("x", [8, 6])],
    [value("y", [8, 2])],
    {"w": floats(6, 2)},
)
save(
    "chosen",
    [
        helper.make_node("MatMul", ["x", "w"], ["l"]),
        helper.make_node("ArgMax", ["l"], ["i"], axis=1),
        helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT),
    ],
    [value("x", [8, 6])],
    [value("y", [8, 1])],
    {"w": floats(6, 2)},
)
body = helper.make_graph(
    [
        helper.make_node("MatMul", ["v", "w"], ["next"]),
        helper.make_node("ReduceSum", ["next"], ["s"], keepdims=0),
        helper.make_node("Less", ["s", "most"], ["go"]),
    ],
    "body",
    [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [8, 6])],
    [value("go", [], TensorProto.BOOL), value("next", [8, 6])],
)
save(
    "until",
    [helper.make_node("Loop", ["", "yes", "x"], ["y"], "until_large", body=body)],
    [value("x", [8, 6])],
    [value("y", [8, 6])],
    {"w": floats(6, 6), "most": np.float32(9), "yes": np.array(True)},
)
save(
    "nothing",
    [helper.make_node("Relu", ["x"], ["y"])],
    [value("x", [8, 6])],
    [value("y", [8, 6])],
    {},
)

# Filters' gradients, which libraries add up by threads.
filters = np.random.default_rng(8)
save(
    "filters",
    [
        helper.make_node("Conv", ["x", "c", "b"], ["h"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w", "v"], ["y"], "out"),
    ],
    [value("x", ["batch", 3, 16, 16])],
    [value("y", ["batch", 4])],
    {
        "c": filters.standard_normal((32, 3, 3, 3)).astype(np.float32),
        "b": np.zeros(32, np.float32),
        "w": filters.standard_normal((32, 4)).astype(np.float32),
        "v": np.zeros(4, np.float32),
    },
)
np.savez(
    f"{folder}/pictures.npz",
    x=filters.standard_normal((128, 3, 16, 16)).astype(np.float32),
    target=filters.integers(0, 4, 128),
)

# Batch norm, of channels whose mean is far from 0 beside how they vary; and dropout.
others = np.random.default_rng(9)


def drawn(*shape):
    return others.standard_normal(shape).astype(np.float32)


def batch_norm(name, x, y, channels, weights):
    start = {
        "scale": 1 + 0.1 * drawn(channels),
        "bias": drawn(channels),
        "mean": np.zeros(channels, np.float32),
        "var": np.ones(channels, np.float32),
    }
    weights |= {f"{name}.{part}": value for part, value in start.items()}
    return helper.make_node(
        "BatchNormalization", [x, *(f"{name}.{part}" for part in start)], [y], name, momentum=0.75
    )


weights = {
    "a": drawn(8, 3, 3, 3),
    "ab": 30 + drawn(8),
    "b": drawn(16, 8, 3, 3) / 4,
    "w": drawn(16, 4),
    "v": drawn(4),
}
save(
    "normed",
    [
        helper.make_node("Conv", ["x", "a", "ab"], ["h"], "first", pads=[1, 1, 1, 1]),
        batch_norm("bn1", "h", "n", 8, weights),
        helper.make_node("Relu", ["n"], ["r"], "relu1"),
        helper.make_node("Conv", ["r", "b"], ["i"], "second", pads=[1, 1, 1, 1]),
        batch_norm("bn2", "i", "m", 16, weights),
        helper.make_node("Relu", ["m"], ["s"], "relu2"),
        helper.make_node("GlobalAveragePool", ["s"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w", "v"], ["y"], "out"),
    ],
    [value("x", ["batch", 3, 6, 6])],
    [value("y", ["batch", 4])],
    weights,
)
save(
    "dropped",
    [
        helper.make_node("Gemm", ["x", "w"], ["h"], "first"),
        helper.make_node("Dropout", ["h", "ratio"], ["d"], "drop"),
        helper.make_node("Gemm", ["d", "v"], ["y"], "last"),
    ],
    [value("x", ["batch", 6])],
    [value("y", ["batch", 4])],
    {"w": drawn(6, 16), "v": drawn(16, 4), "ratio": np.float32(0.5)},
)

x = rng.standard_normal((44, 2, 3)).astype(np.float32)
labels = rng.integers(0, 4, 44)
x += labels[:, None, None] * 0.7
np.savez(f"{folder}/data.npz", x=x, target=labels)
np.savez(f"{folder}/flat.npz", x=x.reshape(44, 6), target=labels)
np.savez_compressed(f"{folder}/packed.npz", x=x, target=labels)
np.savez(
    f"{folder}/values.npz",
    x=x.reshape(44, 6),
    target=rng.standard_normal((44, 2)).astype(np.float32),
)

# What is wrong with data.
bad = x.copy()
bad[17, 1, 2] = np.nan
np.savez(f"{folder}/nan.npz", x=bad, target=labels)
high = labels.copy()
high[30] = 4
np.savez(f"{folder}/label.npz", x=x, target=high)
np.savez(f"{folder}/name.npz", images=x, target=labels)
np.savez(f"{folder}/shape.npz", x=x.reshape(44, 3, 2), target=labels)
np.savez(f"{folder}/type.npz", x=x.astype(np.float64), target=labels)
np.savez(f"{folder}/few.npz", x=x[:7], target=labels[:7])
np.savez(f"{folder}/uneven.npz", x=x, target=labels[:40])
np.savez(f"{folder}/large.npz", x=x * 1e30, target=labels)

# Gradients of more than half a MiB each.
layers = [helper.make_node("Reshape", ["x", "flat"], ["v0"])]
weights = {"flat": np.array([-1, 6], np.int64)}
for i, (a, b) in enumerate(((6, 400), (400, 400), (400, 400), (400, 400), (400, 4))):
    weights |= {f"w{i}": floats(b, a) / np.float32(a**0.5), f"b{i}": floats(b)}
    layers += [
        helper.make_node("Gemm", [f"v{i}", f"w{i}", f"b{i}"], [f"h{i}"], transB=1),
        helper.make_node("Relu", [f"h{i}"], [f"v{i + 1}"]),
    ]
save("deep", layers[:-1], [value("x", ["batch", 2, 3])], [value("h4", ["batch", 4])], weights)
