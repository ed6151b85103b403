"""Writes the files that the guide uses into this folder: model.onnx (a small classifier of 8x8 images), normed.onnx (with batch norm), digits.npz to train it, image.npy to try it, language.gguf (a language model with random weights)."""

import gguf
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

# A language model with two layers and 64 tokens. Its weights are random.
writer = gguf.GGUFWriter("language.gguf", "llama")
writer.add_context_length(128)
writer.add_embedding_length(32)
writer.add_feed_forward_length(64)
writer.add_block_count(2)
writer.add_head_count(4)
writer.add_head_count_kv(2)
writer.add_layer_norm_rms_eps(1e-5)
matrices = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32)}
matrices |= {"ffn_gate": (64, 32), "ffn_up": (64, 32), "ffn_down": (32, 64)}
tensors = {"token_embd": (64, 32), "output": (64, 32), "output_norm": (32,)}
for layer in ("blk.0.", "blk.1."):
    tensors |= {layer + name: shape for name, shape in matrices.items()}
    tensors |= {layer + name: (32,) for name in ("attn_norm", "ffn_norm")}
for name, shape in tensors.items():
    values = np.ones(shape) if len(shape) == 1 else random.standard_normal(shape) / 4
    writer.add_tensor(name + ".weight", values.astype("float32"))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
