"""Invalid nodes of the operators in frontend/onnx/contrib. Each case is a node and words that its error message must contain."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

F, I32, U8, S8 = np.float32, np.int32, np.uint8, np.int8


def zeros(kind, *shape):
    return np.zeros(shape, kind)


def q(kind=U8, *shape, zero=None, scale=None):
    """A quantized tensor, its scale and its zero point."""
    return [
        zeros(kind, *(shape or (2, 4))),
        zeros(F) + 1 if scale is None else scale,
        zeros(kind) if zero is None else zero,
    ]


def own(kind=U8, zero=None):
    return [zeros(F) + 1, zeros(kind) if zero is None else zero]


def wrong():
    """operator, inputs, attributes, words of the message."""
    yield (
        "QLinearAdd",
        [*q(zero=zeros(S8)), *q(), *own()],
        {},
        ["zero point (input 2)", "ui8", "i8"],
    )
    yield (
        "QLinearAdd",
        [*q(), *q(zero=zeros(U8, 3)), *own()],
        {},
        ["zero point (input 5)", "as many elements", "3"],
    )
    yield (
        "QLinearAdd",
        [*q(scale=zeros(F, 2)), *q(), *own()],
        {},
        ["scale (input 1)", "one element"],
    )
    yield "QLinearAdd", [*q(scale=zeros(I32)), *q(), *own()], {}, ["scale (input 1)", "floats"]
    yield "QLinearAdd", [*q(), *q(S8), *own()], {}, ["one element type"]
    yield "QLinearAdd", [*q(), *q()], {}, ["scale (input 6)", "must be given"]
    yield "QLinearAdd", [*q(), None, *q()[1:], *own()], {}, ["input 3", "integers"]
    yield "QLinearMul", [zeros(F, 2), *q()[1:], *q(), *own()], {}, ["input 0", "integers"]
    yield "QLinearMul", [*q(), *q(), *own(zero=zeros(S8))], {}, ["zero point (input 7)"]
    yield "QLinearSigmoid", [*q(), *own(zero=zeros(S8))], {}, ["zero point (input 4)"]
    yield "QLinearSigmoid", [*q(), *own()], {"alpha": 1.0}, ["alpha", "required: none"]
    yield "QLinearLeakyRelu", [*q(), None], {}, ["scale (input 3)"]
    yield "QLinearSoftmax", [*q(), *own()], {}, ["'opset'", "required"]
    yield "QLinearSoftmax", [*q(), *own()], {"opset": 13, "axis": 2}, ["axis", "2"]
    yield "QLinearWhere", [zeros(bool, 2, 4), *q(), *q(S8), *own()], {}, ["one element type"]
    yield "QLinearConcat", [*own(), *q(), *q()[:2]], {"axis": 0}, ["scale and zero point", "7"]
    yield "QLinearConcat", [*own(), *q()], {}, ["'axis'", "required"]
    yield "QLinearConcat", [*own(), *q(S8)], {"axis": 0}, ["type of Y's zero point"]
    yield "QLinearAveragePool", [*q(U8, 1, 1, 4, 4), *own()], {}, ["kernel_shape"]
    yield "QLinearGlobalAveragePool", [*q(), *own()], {}, ["spatial"]
    yield "QLinearReduceMean", [*q(), *own()], {}, ["'axes'"]
    yield "QLinearReduceMean", [*q(), *own()], {"axes": [2]}, ["axis", "2"]
    yield (
        "QLinearConv",
        [*q(U8, 1, 1, 4, 4), *q(S8, 1, 1, 3, 3, zero=zeros(U8)), *own()],
        {},
        ["B's zero point", "i8"],
    )
    yield (
        "QLinearConv",
        [*q(U8, 1, 1, 4, 4), zeros(S8), zeros(F, 2), zeros(S8, 2), *own()],
        {},
        ["one per channel", "2", "scalar"],
    )
    yield (
        "QuantizeLinear",
        [zeros(F, 2, 3), zeros(F, 3), zeros(U8, 2)],
        {"axis": 1},
        ["zero point", "as many elements"],
    )
    yield (
        "QuantizeLinear",
        [zeros(F, 2, 3), zeros(F, 2), zeros(U8, 2)],
        {"axis": 1},
        ["a scale per index of axis 1", "3"],
    )
    yield "DequantizeLinear", [zeros(S8, 2, 3), zeros(F), zeros(U8)], {}, ["zero point", "ui8"]
    yield (
        "DynamicQuantizeMatMul",
        [zeros(F, 2, 4), zeros(S8, 4, 3), zeros(F, 2)],
        {},
        ["scale (input 2)", "3"],
    )
    yield (
        "DynamicQuantizeMatMul",
        [zeros(F, 2, 4), zeros(S8, 4, 3), zeros(F), zeros(U8)],
        {},
        ["zero point (input 3)"],
    )
    yield (
        "DynamicQuantizeMatMul",
        [zeros(F, 2, 4), zeros(S8, 4, 3), zeros(F), None, zeros(F, 2)],
        {},
        ["bias", "3"],
    )
    yield "DynamicQuantizeMatMul", [zeros(F, 2, 4), zeros(S8, 5, 3), zeros(F)], {}, ["C2"]
    yield (
        "MatMulIntegerToFloat",
        [zeros(U8, 2, 4), zeros(S8, 4, 3), zeros(F, 2), zeros(F)],
        {},
        ["scale (input 2)", "one element"],
    )
    yield (
        "MatMulIntegerToFloat",
        [zeros(U8, 2, 4), zeros(S8, 4, 3), zeros(F), zeros(F), zeros(S8)],
        {},
        ["zero point (input 4)"],
    )
    yield "QGemm", [*q(), *q(S8, 4, 3), zeros(F, 3)], {}, ["C must be", "i32"]
    yield "QGemm", [*q(), *q(S8, 4, 3), None, None, zeros(U8)], {}, ["scale of Y"]
    yield "QGemm", [*q(U8, 2, 4, 1), *q(S8, 4, 3)], {}, ["matrices"]
    weights = [zeros(F, 2, 64), zeros(U8, 3, 2, 16), zeros(F, 3, 2)]
    nbits = {"K": 64, "N": 3, "block_size": 32}
    yield "MatMulNBits", weights, {**nbits, "bits": 3}, ["'bits'=3", "2, 4, 8"]
    yield "MatMulNBits", weights, {**nbits, "block_size": 24}, ["'block_size'", "24"]
    yield "MatMulNBits", weights, {**nbits, "block_size": 8}, ["'block_size'", "8"]
    yield "MatMulNBits", weights, {"block_size": 32}, ["'K' and 'N'"]
    yield "MatMulNBits", weights, {**nbits, "N": 4}, ["B must be", "[4, 2, 16]"]
    yield "MatMulNBits", weights, {**nbits, "K": 65}, ["last dimension", "65"]
    yield "MatMulNBits", [*weights[:2], zeros(F, 5)], nbits, ["6 scales", "5"]
    yield "MatMulNBits", [*weights, zeros(U8, 5)], nbits, ["zero_points", "3 bytes", "5"]
    yield "MatMulNBits", [*weights, zeros(S8, 6)], nbits, ["zero_points", "bytes"]
    yield "MatMulNBits", [*weights, None, zeros(I32, 64)], nbits, ["g_idx"]
    table = [zeros(U8, 4, 16), zeros(np.int64, 2), zeros(F, 4, 1)]
    yield "GatherBlockQuantized", table, {"block_size": 32, "quantize_axis": 0}, ["quantize_axis"]
    yield (
        "GatherBlockQuantized",
        [*table[:2], zeros(F, 4, 2)],
        {"block_size": 32},
        ["scales", "1 in the last"],
    )
    yield (
        "GatherBlockQuantized",
        [*table, zeros(U8, 4, 2)],
        {"block_size": 32},
        ["zero_points", "1 in the last"],
    )
    moe = [
        zeros(F, 3, 32),
        zeros(F, 3, 2),
        zeros(U8, 2, 16, 16),
        zeros(F, 2, 16),
        None,
        zeros(U8, 2, 32, 8),
        zeros(F, 2, 32),
    ]
    yield "MoE", [*moe[:2], zeros(F, 2, 16, 31)], {}, ["fc1: weights", "[2, n, 32]"]
    yield (
        "MoE",
        [*moe[:2], zeros(F, 2, 16, 32), None, zeros(F, 2, 32, 16), None, zeros(F, 2, 16, 32)],
        {},
        ["input 6", "third matmul"],
    )
    yield (
        "MatMulBnb4",
        [zeros(F, 2, 4), zeros(U8, 6), zeros(F, 2)],
        {"K": 4, "N": 3, "block_size": 16},
        ["absmax", "1"],
    )
    yield (
        "MatMulBnb4",
        [zeros(F, 2, 4), zeros(U8, 5), zeros(F, 1)],
        {"K": 4, "N": 3, "block_size": 16},
        ["B must have 6 bytes"],
    )
    yield (
        "MatMulBnb4",
        [zeros(F, 2, 4), zeros(U8, 6), zeros(F, 1)],
        {"K": 4, "N": 3, "block_size": 16, "quant_type": 2},
        ["'quant_type'=2", "NF4"],
    )
    yield "GatedRMSNorm", [zeros(F, 2, 4), zeros(F, 3), zeros(F, 2, 4)], {}, ["scale", "divides"]
    yield (
        "GatedRMSNorm",
        [zeros(F, 2, 4), zeros(F, 4), zeros(F, 2, 4)],
        {"activation": "relu"},
        ["'activation'=relu", "silu"],
    )
    yield "BranchwiseRMSNorm", [zeros(F, 2, 4)], {"num_branches": 3}, ["num_branches"]
    yield "CDist", [zeros(F, 2, 4), zeros(F, 2, 3)], {}, ["rows of one length"]
    yield (
        "CDist",
        [zeros(F, 2, 4), zeros(F, 2, 4)],
        {"metric": "cosine"},
        ["'metric'=cosine", "euclidean"],
    )
    yield "QMoE", moe, {"k": 3}, ["'k'", "3"]
    yield "QMoE", moe, {"quant_type": "fp8"}, ["'quant_type'=fp8", "int"]
    yield "QMoE", moe, {"activation_type": "tanh"}, ["'activation_type'=tanh", "swiglu"]
    yield "QMoE", moe, {"activation_type": "swiglu"}, ["'swiglu_fusion'"]
    yield "QMoE", moe, {"expert_weight_bits": 3}, ["2, 4 or 8 bits", "3"]
    yield "QMoE", moe, {"expert_weight_bits": 8}, ["fc1: weights", "[2, n, 32]"]
    yield "QMoE", moe, {"block_size": 24}, ["'block_size'", "24"]
    yield "QMoE", moe, {"block_size": 16}, ["fc1: there must be 64 scales", "32"]
    yield "QMoE", moe[:5], {}, ["fc2: weights"]
    yield "QMoE", [*moe[:4], zeros(F, 16), *moe[5:]], {}, ["fc1: the bias", "[2, 16]"]
    yield "QMoE", [*moe, None, zeros(U8, 2, 16, 16)], {}, ["input 8", "third matmul"]
    lstm = [
        zeros(F, 3, 1, 2),
        zeros(S8, 1, 2, 16),
        zeros(S8, 1, 4, 16),
        None,
        None,
        None,
        None,
        None,
        zeros(F, 1),
        zeros(S8, 1),
        zeros(F, 1),
        zeros(S8, 1),
    ]
    yield "DynamicQuantizeLSTM", lstm[:8], {"hidden_size": 4}, ["scales must be floats"]
    yield (
        "DynamicQuantizeLSTM",
        [*lstm[:8], zeros(F, 3), *lstm[9:]],
        {"hidden_size": 4},
        ["one per direction", "3"],
    )
    yield (
        "DynamicQuantizeLSTM",
        [*lstm[:9], zeros(U8, 1), *lstm[10:]],
        {"hidden_size": 4},
        ["zero points", "type"],
    )
    yield (
        "DynamicQuantizeLSTM",
        [lstm[0], zeros(S8, 1, 16, 2), *lstm[2:]],
        {"hidden_size": 4},
        ["[directions, inputs, gates * hidden]"],
    )
    yield "Attention", [zeros(F, 1, 2, 4), zeros(F, 4, 12)], {}, ["num_heads"]
    yield "Attention", [zeros(F, 1, 2, 4), zeros(F, 4, 12)], {"num_heads": 3}, ["heads", "divide"]
    yield (
        "Attention",
        [zeros(F, 1, 2, 4), zeros(F, 4, 12), None, zeros(I32, 5)],
        {"num_heads": 2},
        ["the mask must be", "5 elements"],
    )
    yield (
        "Attention",
        [zeros(F, 1, 2, 4), zeros(F, 4, 12)],
        {"num_heads": 2, "do_rotary": 1},
        ["do_rotary"],
    )
    yield (
        "Attention",
        [zeros(F, 1, 2, 4), zeros(F, 4, 12)],
        {"num_heads": 2, "qkv_hidden_sizes": [4, 4, 8]},
        ["qkv_hidden_sizes"],
    )
    yield (
        "QAttention",
        [zeros(U8, 1, 2, 4), zeros(S8, 4, 12), zeros(F, 12), zeros(F, 2), zeros(F)],
        {"num_heads": 2},
        ["scale (input 3)"],
    )
    yield "MultiHeadAttention", [zeros(F, 1, 2, 4)], {"num_heads": 2}, ["key and value"]
    yield "MultiHeadAttention", [zeros(F, 1, 2, 4)] * 3 + [zeros(F, 5)], {"num_heads": 2}, ["bias"]
    yield (
        "MultiHeadAttention",
        [zeros(F, 1, 2, 4)] * 3 + [None] * 3 + [zeros(F, 1, 2, 1, 2)],
        {"num_heads": 2},
        ["together"],
    )
    yield (
        "RotaryEmbedding",
        [zeros(F, 1, 2, 8), zeros(np.int64, 1, 2), zeros(F, 4, 2), zeros(F, 4, 3)],
        {},
        ["caches"],
    )
    yield (
        "RotaryEmbedding",
        [zeros(F, 1, 2, 8), zeros(np.int64, 1, 2) + 4, zeros(F, 4, 2), zeros(F, 4, 2)],
        {},
        ["index 4", "out of range"],
    )
    group = [
        zeros(F, 1, 1, 8),
        zeros(F, 1, 1, 4),
        zeros(F, 1, 1, 4),
        zeros(F, 1, 1, 2, 4),
        zeros(F, 1, 1, 2, 4),
        zeros(I32, 1) + 2,
        zeros(I32, 1) + 3,
    ]
    heads = {"num_heads": 2, "kv_num_heads": 1}
    yield "GroupQueryAttention", group, {"num_heads": 2}, ["kv_num_heads"]
    yield (
        "GroupQueryAttention",
        [*group[:6], zeros(I32, 1) + 9],
        heads,
        ["total sequence length, 9"],
    )
    yield (
        "GroupQueryAttention",
        group[:6],
        heads,
        ["total sequence length", "does not have that input"],
    )
    yield "GroupQueryAttention", group, {**heads, "do_rotary": 1}, ["do_rotary", "caches"]
    yield "GroupQueryAttention", group, {**heads, "kv_cache_bit_width": 8}, ["kv_cache_bit_width"]
    yield "GroupQueryAttention", [*group[:4], None, *group[5:]], heads, ["together"]
    yield (
        "SkipLayerNormalization",
        [zeros(F, 1, 2, 4), zeros(F, 1, 2, 3), zeros(F, 4)],
        {},
        ["skip"],
    )
    yield (
        "SkipLayerNormalization",
        [zeros(F, 1, 2, 4), zeros(F, 1, 2, 4), zeros(F, 3)],
        {},
        ["gamma", "4"],
    )
    yield (
        "SkipSimplifiedLayerNormalization",
        [zeros(F, 1, 2, 4), zeros(F, 1, 2, 4)],
        {},
        ["input 2", "required"],
    )
    embeddings = [
        zeros(I32, 1, 2) + 5,
        None,
        zeros(F, 5, 4),
        zeros(F, 5, 4),
        None,
        zeros(F, 4),
        zeros(F, 4),
    ]
    yield "EmbedLayerNormalization", embeddings, {}, ["index 5", "out of range"]
    yield (
        "EmbedLayerNormalization",
        [zeros(I32, 1, 2), zeros(I32, 1, 2), *embeddings[2:]],
        {},
        ["together"],
    )
    yield (
        "FusedConv",
        [zeros(F, 1, 1, 4, 4), zeros(F, 1, 1, 3, 3)],
        {"activation": "Magic"},
        ["'activation'=Magic", "Relu"],
    )
    yield (
        "FusedConv",
        [zeros(F, 1, 1, 4, 4), zeros(F, 1, 1, 3, 3), None, zeros(F, 1, 1, 4, 4)],
        {},
        ["Z must have"],
    )
    yield "FusedGemm", [zeros(F, 2, 3, 4), zeros(F, 4, 2)], {}, ["matrices"]
    yield "FusedMatMul", [zeros(F, 2, 3), zeros(F, 4, 2)], {}, ["C2"]
    yield "Inverse", [zeros(F, 2, 3)], {}, ["square"]
    yield "BiasSplitGelu", [zeros(F, 1, 1, 3), zeros(F, 3)], {}, ["even"]
    yield "Rfft", [zeros(F, 2, 4)], {"signal_ndim": 2}, ["signal_ndim=1"]
    yield "Pad", [zeros(F, 2, 3), zeros(np.int64, 3)], {}, ["pads", "4"]
    yield "CropAndResize", [zeros(F, 1)], {}, ["com.microsoft.CropAndResize", "not supported"]


def cases():
    """Yields name, bytes of the model, words of the message. The first input is given at run time, the others are constants."""
    for number, (op, inputs, attributes, words) in enumerate(wrong()):
        names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
        constant = op in ("RotaryEmbedding", "EmbedLayerNormalization", "QLinearConcat")
        given = (
            []
            if constant
            else [
                helper.make_tensor_value_info(
                    "i0", helper.np_dtype_to_tensor_dtype(inputs[0].dtype), inputs[0].shape
                )
            ]
        )
        initializers = [
            numpy_helper.from_array(value, name)
            for name, value in list(zip(names, inputs))[len(given) :]
            if value is not None
        ]
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], name="n", domain="com.microsoft", **attributes)],
            "g",
            given,
            [onnx.ValueInfoProto(name="y")],
            initializers,
        )
        model = helper.make_model(
            graph,
            ir_version=10,
            opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)],
        )
        yield f"contrib-{number}-{op}", model.SerializeToString(), ["'n'", *words]
