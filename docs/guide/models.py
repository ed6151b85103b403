"""Writes the files that the guide uses into this folder: model.onnx (a small classifier of 8x8 images), normed.onnx (with batch norm), digits.npz to train it, image.npy to try it."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(0)


def weights(name, *shape):
    return numpy_helper.from_array(
        (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("float32"), name
    )


parameters = [
    weights("conv.weight", 16, 1, 3, 3),
    weights("conv.bias", 16),
    weights("head.weight", 10, 256),
    weights("head.bias", 10),
]


def save(path, convolved, between=(), more=()):
    """The classifier, with these nodes behind the convolution, the last of which gives `convolved`."""
    graph = helper.make_graph(
        [
            helper.make_node(
                "Conv", ["x", "conv.weight", "conv.bias"], ["c"], "conv", pads=[1, 1, 1, 1]
            ),
            *between,
            helper.make_node("Relu", [convolved], ["r"], "relu"),
            helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["p"], ["f"], "flatten"),
            helper.make_node("Gemm", ["f", "head.weight", "head.bias"], ["y"], "head", transB=1),
        ],
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])],
        [*parameters, *more],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )


save("model.onnx", "c")
start = {"bn.scale": 1, "bn.bias": 0, "bn.mean": 0, "bn.var": 1}
save(
    "normed.onnx",
    "n",
    [helper.make_node("BatchNormalization", ["c", *start], ["n"], "bn")],
    [numpy_helper.from_array(np.full(16, value, "float32"), name) for name, value in start.items()],
)

# Ten patterns, each seen many times through noise.
patterns = random.random((10, 1, 8, 8))
target = random.integers(0, 10, 640)
x = (patterns[target] + 0.3 * random.standard_normal((640, 1, 8, 8))).astype("float32")
np.savez("digits.npz", x=x, target=target)
np.save("image.npy", x[:1])
