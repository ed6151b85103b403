"""Writes a small transformer that classifies token sequences, and data for it: block_model.py FOLDER."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
rng = np.random.default_rng(5)
TOKENS, WORDS, WIDTH, HEADS, HIDDEN, CLASSES = 6, 12, 16, 4, 32, 4
weights, nodes = {}, []


def weight(name, *shape):
    weights[name] = (rng.standard_normal(shape) * 0.3).astype(np.float32)
    return name


def constant(name, value, dtype):
    weights[name] = np.array(value, dtype)
    return name


def node(kind, inputs, output, **attributes):
    nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
    return output


def linear(x, name, size, to):
    product = node("MatMul", [x, weight(f"{name}.weight", size, to)], f"{name}/product")
    return node("Add", [product, weight(f"{name}.bias", to)], name)


def norm(x, name):
    weights[f"{name}.weight"], weights[f"{name}.bias"] = (
        np.ones(WIDTH, np.float32),
        np.zeros(WIDTH, np.float32),
    )
    return node("LayerNormalization", [x, f"{name}.weight", f"{name}.bias"], name, axis=-1)


def heads(x, order):
    split = node(
        "Reshape", [x, constant("heads", [0, 0, HEADS, WIDTH // HEADS], np.int64)], f"{x}/heads"
    )
    return node("Transpose", [split], f"{x}/turned", perm=order)


x = node("Gather", [weight("table.weight", WORDS, WIDTH), "tokens"], "table")
n = norm(x, "ln1")
q, k, v = (linear(n, name, WIDTH, WIDTH) for name in ("q", "k", "v"))
scores = node("MatMul", [heads(q, [0, 2, 1, 3]), heads(k, [0, 2, 3, 1])], "scores")
scaled = node("Mul", [scores, constant("scale", (WIDTH // HEADS) ** -0.5, np.float32)], "scaled")
read = node(
    "MatMul", [node("Softmax", [scaled], "softmax", axis=-1), heads(v, [0, 2, 1, 3])], "read"
)
joined = node(
    "Reshape",
    [
        node("Transpose", [read], "back", perm=[0, 2, 1, 3]),
        constant("width", [0, 0, WIDTH], np.int64),
    ],
    "joined",
)
h = node("Add", [x, linear(joined, "out", WIDTH, WIDTH)], "h")
up = linear(norm(h, "ln2"), "fc1", WIDTH, HIDDEN)
erf = node("Erf", [node("Mul", [up, constant("root", 0.5**0.5, np.float32)], "scaled_up")], "erf")
gelu = node(
    "Mul",
    [
        node("Mul", [up, node("Add", [erf, constant("one", 1, np.float32)], "shifted")], "twice"),
        constant("half", 0.5, np.float32),
    ],
    "gelu",
)
y = node("Add", [h, linear(gelu, "fc2", HIDDEN, WIDTH)], "y")
mean = node("ReduceMean", [y], "mean", axes=[1], keepdims=0)
node("Gemm", [mean, weight("head.weight", CLASSES, WIDTH)], "logits", transB=1)

graph = helper.make_graph(
    nodes,
    "block",
    [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", TOKENS])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(value, name) for name, value in weights.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, f"{folder}/block.onnx")

tokens = rng.integers(0, WORDS, (48, TOKENS))
np.savez(f"{folder}/tokens.npz", tokens=tokens, target=tokens.max(axis=1) % CLASSES)
np.save(f"{folder}/tokens.npy", tokens[:4])
