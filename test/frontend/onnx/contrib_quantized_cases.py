"""Random cases of the quantized operators of the domain com.microsoft, as in contrib_cases.py."""

import math

import ml_dtypes
import numpy as np
from random_case import (
    F,
    I32,
    I64,
    S8,
    U8,
    Case,
    floats,
    integers,
    kind_of,
    maybe,
    real,
    rounded,
    shape_of,
    step,
    vector,
    window,
)


def own_scale(rng, y, kind):
    """A scale and a zero point under which most of y fits."""
    low, high = min(float(y.min()), 0.0), max(float(y.max()), 0.0)
    scale = F(max(high - low, 0.01) / 255 * rng.uniform(0.8, 1.3))
    limits = np.iinfo(kind)
    return scale, np.array(
        np.clip(round(limits.min - low / float(scale)), limits.min, limits.max)
    ).astype(kind)


def q_linear_binary(rng, f):
    kind = kind_of(rng)
    shape = shape_of(rng, 1, 3)
    other = (
        [1 if rng.random() < 0.3 else d for d in shape][rng.integers(len(shape)) :]
        if rng.random() < 0.4
        else shape
    )
    a, c = integers(rng, kind, *shape), integers(rng, kind, *other)
    sa, sc, za, zc = (
        step(rng),
        step(rng),
        maybe(rng, integers(rng, kind), 0.8),
        maybe(rng, integers(rng, kind), 0.8),
    )
    return Case(
        [a, sa, za, c, sc, zc, *own_scale(rng, f(real(a, sa, za), real(c, sc, zc)), kind)],
        constants=(1, 2, 4, 5, 6, 7),
    )


def q_linear_unary(rng, f, shape=None, **attributes):
    kind = kind_of(rng)
    x, scale, zero = (
        integers(rng, kind, *(shape or shape_of(rng))),
        step(rng),
        maybe(rng, integers(rng, kind), 0.8),
    )
    return Case(
        [x, scale, zero, *own_scale(rng, f(real(x, scale, zero)), kind)],
        constants=(1, 2, 3, 4),
        attributes=attributes,
    )


def q_linear_softmax(rng):
    kind, opset = kind_of(rng), (11, 13)[rng.integers(2)]
    shape = [int(d) for d in rng.integers(2, 6, rng.integers(2, 5))]
    # ONNX Runtime rounds 1 / scale down to an integer, and lets a weight of 1 wrap: none is so large.
    return Case(
        [
            integers(rng, kind, *shape),
            step(rng, 0.002, 0.012),
            integers(rng, kind),
            F(1 / 256),
            np.array(np.iinfo(kind).min, kind),
        ],
        constants=(1, 2, 3, 4),
        attributes={"opset": opset, "axis": int(rng.integers(len(shape)))},
    )


def q_linear_where(rng):
    kind, shape = kind_of(rng), shape_of(rng, 1, 3)
    x, y = integers(rng, kind, *shape), integers(rng, kind, *shape)
    sx, sy, zx, zy = step(rng), step(rng), integers(rng, kind), integers(rng, kind)
    both = np.concatenate([real(x, sx, zx).ravel(), real(y, sy, zy).ravel()])
    return Case(
        [rng.random(shape) < 0.5, x, sx, zx, y, sy, zy, *own_scale(rng, both, kind)],
        constants=(2, 3, 5, 6, 7, 8),
    )


def q_linear_concat(rng):
    kind, shape = kind_of(rng), shape_of(rng, 1, 3)
    axis, inputs, all_values = int(rng.integers(len(shape))), [], []
    for _ in range(int(rng.integers(1, 4))):
        shape[axis] = int(rng.integers(1, 5))
        x, scale, zero = integers(rng, kind, *shape), step(rng), integers(rng, kind)
        inputs += [x, scale, zero]
        all_values.append(real(x, scale, zero).ravel())
    return Case(
        [*own_scale(rng, np.concatenate(all_values), kind), *inputs],
        constants=[0, 1, *[i for i in range(2, 2 + len(inputs)) if (i - 2) % 3]],
        attributes={"axis": axis},
    )


def q_linear_average_pool(rng):
    last = int(rng.integers(2))
    c = int(rng.integers(1, 4))
    shape = [2, 7, 6, c] if last else [2, c, 7, 6]
    return q_linear_unary(
        rng,
        lambda x: x,
        shape,
        kernel_shape=[int(v) for v in rng.integers(2, 4, 2)],
        strides=[int(v) for v in rng.integers(1, 3, 2)],
        pads=[int(v) for v in rng.integers(0, 2, 4)],
        count_include_pad=int(rng.integers(2)),
        channels_last=last,
    )


def q_linear_global_average_pool(rng):
    last = int(rng.integers(2))
    c = int(rng.integers(1, 6))
    shape = [2, 5, 4, c] if last else [2, c, 5, 4]
    case = q_linear_unary(rng, lambda x: 0.4 * x, shape, channels_last=last)
    kind = case.inputs[0].dtype.type
    case.inputs[2] = case.inputs[2] if case.inputs[2] is not None else np.zeros((), kind)
    return case


def q_linear_reduce_mean(rng):
    shape = shape_of(rng, 2, 4)
    axes, keep = [int(rng.integers(len(shape)))], int(rng.integers(2))
    case = q_linear_unary(rng, lambda x: x, shape, axes=axes, keepdims=keep)
    x, scale, zero, own, middle = case.inputs
    case.expected = [
        rounded(
            real(x, scale, zero).mean(axis=tuple(axes), keepdims=bool(keep), dtype=np.float64),
            float(own),
            middle,
            x.dtype.type,
        )
    ]
    return case


def q_linear_conv(rng):
    last, groups = int(rng.integers(2)), 1
    c, m, x_kind, w_kind = int(rng.integers(1, 5)), int(rng.integers(1, 5)), U8, kind_of(rng)
    x = integers(rng, x_kind, *([2, 6, 5, c] if last else [2, c, 6, 5]))
    w = integers(rng, w_kind, m, c, 3, 3)
    per_channel = rng.random() < 0.5
    sx, sw = (
        step(rng),
        rng.uniform(0.002, 0.01, m).astype(F) if per_channel else step(rng, 0.002, 0.01),
    )
    zw = np.zeros(m, w_kind) if per_channel else integers(rng, w_kind)
    own = F(float(sx) * float(np.max(sw)) * math.sqrt(9 * c) * 40)
    return Case(
        [
            x,
            sx,
            integers(rng, x_kind),
            w,
            sw,
            zw,
            own,
            integers(rng, x_kind),
            maybe(rng, rng.integers(-9999, 9999, m).astype(I32)),
        ],
        constants=(1, 2, 3, 4, 5, 6, 7, 8),
        attributes={**window(rng), "group": groups, "channels_last": last},
    )


def quantize_linear(rng):
    kind, shape = (U8, S8, np.uint16, np.int16)[rng.integers(4)], shape_of(rng, 2, 3)
    axis = int(rng.integers(len(shape)))
    per = rng.random() < 0.5
    n = [shape[axis]] if per else []
    return Case(
        [floats(rng, *shape), rng.uniform(0.01, 0.05, n).astype(F), integers(rng, kind, *n)],
        attributes={"axis": axis} if per else {},
    )


def dequantize_linear(rng):
    case = quantize_linear(rng)
    kind = case.inputs[2].dtype.type
    case.inputs[0] = integers(rng, kind, *case.inputs[0].shape)
    return case


def columns_of(rng, kind, n, low=0.002, high=0.02):
    per = rng.random() < 0.5
    scale = rng.uniform(low, high, n).astype(F) if per else step(rng, low, high)
    zero = integers(rng, kind, n) if per else integers(rng, kind)
    return scale, zero


def dynamic_quantize_mat_mul(rng):
    kind, (m, k, n) = kind_of(rng), (int(v) for v in rng.integers(1, 9, 3))
    batch = [int(d) for d in rng.integers(1, 4, rng.integers(0, 2))]
    x, w = floats(rng, *batch, m, k), integers(rng, kind, k, n)
    scale, zero = columns_of(rng, kind, n)
    zero = maybe(rng, zero, 0.7)
    unit = (
        (max(float(x.max()), 0) - min(float(x.min()), 0))
        / 255
        * float(np.max(np.abs(real(w, scale, zero))))
    )
    return Case([x, w, scale, zero, maybe(rng, vector(rng, n))], constants=(1, 2, 3, 4), unit=unit)


def mat_mul_integer_to_float(rng):
    a_kind, b_kind = ((U8, U8), (U8, S8), (S8, S8))[rng.integers(3)]
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    batch = [int(d) for d in rng.integers(1, 4, rng.integers(0, 2))]
    scale, zero = columns_of(rng, b_kind, n)
    return Case(
        [
            integers(rng, a_kind, *batch, m, k),
            integers(rng, b_kind, k, n),
            step(rng),
            scale,
            maybe(rng, integers(rng, a_kind)),
            maybe(rng, zero, 0.7),
            maybe(rng, vector(rng, n)),
        ],
        constants=(1, 3, 5),
    )


def q_gemm(rng):
    a_kind, b_kind = ((U8, U8), (U8, S8), (S8, S8))[rng.integers(3)]
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    ta, tb = int(rng.integers(2)), int(rng.integers(2))
    scale, zero = columns_of(rng, b_kind, n)
    sa, alpha = step(rng), float(rng.uniform(0.5, 2))
    to_floats = rng.random() < 0.4
    own = F(float(sa) * float(np.max(scale)) * alpha * math.sqrt(k) * 60)
    return Case(
        [
            integers(rng, a_kind, *((k, m) if ta else (m, k))),
            sa,
            integers(rng, a_kind),
            integers(rng, b_kind, *((n, k) if tb else (k, n))),
            scale,
            zero,
            maybe(
                rng, rng.integers(-9999, 9999, [(n,), (m, n), (1, n)][rng.integers(3)]).astype(I32)
            ),
            None if to_floats else own,
            None if to_floats else integers(rng, a_kind),
        ],
        constants=(1, 2, 3, 4, 5, 7, 8),
        attributes={"transA": ta, "transB": tb, "alpha": alpha},
    )


def mat_mul_n_bits(rng, bits=None):
    bits = bits or (4, 8)[rng.integers(2)]
    block = (16, 32, 64)[rng.integers(3)]
    k, n, m = int(rng.integers(1, 100)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    if rng.random() < 0.4:  # more than is folded while importing
        k, n, m = int(rng.integers(300, 400)), int(rng.integers(230, 300)), int(rng.integers(1, 19))
    blocks = -(-k // block)
    batch = [int(d) for d in rng.integers(1, 4, rng.integers(0, 2))]
    zero = (
        rng.integers(0, 256, (n, -(-blocks * bits // 8))).astype(U8) if rng.random() < 0.5 else None
    )
    if bits == 4 and zero is None and rng.random() < 0.4:
        zero = floats(rng, n, blocks, scale=4) + 8
    scales = floats(rng, n, blocks, scale=0.05)
    if rng.random() < 0.3:  # as files of earlier exporters have them
        scales = scales.reshape(-1)
    return Case(
        [
            floats(rng, *batch, m, k),
            rng.integers(0, 256, (n, blocks, block * bits // 8)).astype(U8),
            scales,
            zero,
            None,
            maybe(rng, vector(rng, n)),
        ],
        constants=(1, 2, 3, 5),
        attributes={"K": k, "N": n, "bits": bits, "block_size": block},
    )


def q_moe(rng):
    bits, block, kind = (
        (2, 4, 8)[rng.integers(3)],
        (0, 16, 32)[rng.integers(3)],
        ("relu", "silu", "gelu", "identity", "swiglu")[rng.integers(5)],
    )
    if bits == 8:
        block = 0  # ONNX Runtime rounds the other operand there
    experts, rows, hidden, inner = (
        int(rng.integers(1, 6)),
        int(rng.integers(1, 6)),
        32 * int(rng.integers(1, 3)),
        32 * int(rng.integers(1, 3)),
    )

    def weights(n, k):
        blocks = (k // block,) if block else ()
        zeros = (experts, n, -(-blocks[0] * bits // 8)) if block else (experts, -(-n * bits // 8))
        scales = (0.2 / 2**bits * (1 + rng.random((experts, n, *blocks)))).astype(F)
        return (
            rng.integers(0, 256, (experts, n, k * bits // 8)).astype(U8),
            scales,
            maybe(rng, floats(rng, experts, n)),
            rng.integers(0, 256, zeros).astype(U8),
        )

    first, second = weights(inner * (2 if kind == "swiglu" else 1), hidden), weights(hidden, inner)
    zeros = [first[3], second[3]] if rng.random() < 0.5 else [None, None]
    attributes = {
        "k": int(rng.integers(1, experts + 1)),
        "expert_weight_bits": bits,
        "activation_type": kind,
        "normalize_routing_weights": int(rng.integers(2)),
    }
    if block:
        attributes["block_size"] = block
    if kind == "swiglu":
        attributes.update(
            {
                "swiglu_fusion": 1,
                "activation_alpha": 1.702,
                "activation_beta": 1.0,
                "swiglu_limit": float(rng.uniform(0.2, 7)),
            }
        )
    x = floats(rng, *([1, rows, hidden] if rng.random() < 0.3 else [rows, hidden]))
    aside = [None, rng.random((rows, experts)).astype(F)] if rng.random() < 0.3 else []
    return Case(
        [x, floats(rng, rows, experts), *first[:3], *second[:3], None, None, None, *zeros, *aside],
        constants=(2, 3, 4, 5, 6, 7, 11, 12),
        attributes=attributes,
    )


def mat_mul_bnb4(rng):
    block = (16, 32, 64)[rng.integers(3)]
    m, k, n = int(rng.integers(1, 5)), int(rng.integers(1, 70)), int(rng.integers(1, 9))
    return Case(
        [
            floats(rng, m, k),
            rng.integers(0, 256, (n * k + 1) // 2).astype(U8),
            (0.1 + rng.random(-(-n * k // block))).astype(F),
        ],
        constants=(1, 2),
        attributes={"K": k, "N": n, "block_size": block, "quant_type": int(rng.integers(2))},
    )


def moe(rng):
    kind = ("relu", "silu", "gelu", "identity", "swiglu")[rng.integers(5)]
    experts, rows, hidden, inner = (int(d) for d in rng.integers(1, 6, 4))
    wide = inner * (2 if kind == "swiglu" else 1)
    attributes = {
        "k": int(rng.integers(1, experts + 1)),
        "activation_type": kind,
        "normalize_routing_weights": int(rng.integers(2)),
    }
    if kind == "swiglu":
        attributes.update(
            {
                "swiglu_fusion": 1,
                "activation_alpha": 1.702,
                "activation_beta": 1.0,
                "swiglu_limit": float(rng.uniform(0.2, 7)),
            }
        )
    x = floats(rng, *([1, rows, hidden] if rng.random() < 0.3 else [rows, hidden]))
    return Case(
        [
            x,
            floats(rng, rows, experts),
            floats(rng, experts, wide, hidden),
            maybe(rng, floats(rng, experts, wide)),
            floats(rng, experts, hidden, inner),
            maybe(rng, floats(rng, experts, hidden)),
        ],
        constants=(2, 3, 4, 5),
        attributes=attributes,
    )


def gather_block_quantized(rng):
    bits, block = (4, 8)[rng.integers(2)], (16, 32)[rng.integers(2)]
    rows, blocks = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    width = blocks * block - (0 if rng.random() < 0.5 else 8)
    indices = rng.integers(0, rows, shape_of(rng, 1, 2)).astype(I64)
    zero = (
        rng.integers(0, 256, (rows, -(-blocks * bits // 8))).astype(U8)
        if rng.random() < 0.5
        else None
    )
    return Case(
        [
            rng.integers(0, 256, (rows, width * bits // 8)).astype(U8),
            indices,
            floats(rng, rows, blocks, scale=0.05),
            zero,
        ],
        constants=(0, 2, 3),
        attributes={"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1},
    )


def four_bits(rng):
    kind = (ml_dtypes.int4, ml_dtypes.uint4)[rng.integers(2)]
    low = -8 if kind is ml_dtypes.int4 else 0
    return lambda *shape: rng.integers(low, low + 16, shape).astype(kind)


def gather_four_bits(rng):
    draw, block = four_bits(rng), (16, 32)[rng.integers(2)]
    rows, blocks = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    width = blocks * block - (0 if rng.random() < 0.5 else 7)
    indices = rng.integers(0, rows, shape_of(rng, 1, 2)).astype(I64)
    return Case(
        [
            draw(rows, width),
            indices,
            floats(rng, rows, blocks, scale=0.05),
            maybe(rng, draw(rows, blocks)),
        ],
        constants=(0, 2, 3),
        attributes={"block_size": block, "gather_axis": 0, "quantize_axis": 1},
    )


def dequantize_four_bits(rng):
    """As block-wise quantization of weights leaves them in the standard's own operators."""
    draw, block = four_bits(rng), (16, 32)[rng.integers(2)]
    rows, blocks = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    return Case(
        [
            draw(rows, blocks * block),
            floats(rng, rows, blocks, scale=0.05),
            maybe(rng, draw(rows, blocks)),
        ],
        constants=(0, 1, 2),
        attributes={"block_size": block, "axis": 1},
        domain="",
    )


def dynamic_quantize_lstm(rng):
    t, b, i, h = (int(rng.integers(1, n)) for n in (6, 3, 6, 6))
    direction = ("forward", "reverse", "bidirectional")[rng.integers(3)]
    d, kind = (2 if direction == "bidirectional" else 1), kind_of(rng)
    per = rng.random() < 0.4

    def weights(rows):
        shape = (d, 4 * h) if per else (d,)
        zero = np.zeros(shape, kind) if per else integers(rng, kind, *shape)
        return integers(rng, kind, d, rows, 4 * h), rng.uniform(0.002, 0.006, shape).astype(F), zero

    (w, ws, wz), (r, rs, rz) = weights(i), weights(h)
    x = floats(rng, t, b, i)
    lengths = maybe(rng, np.full(b, t, I32), 0.2)
    return Case(
        [
            x,
            w,
            r,
            maybe(rng, floats(rng, d, 8 * h, scale=0.2), 0.7),
            lengths,
            maybe(rng, floats(rng, d, b, h, scale=0.5)),
            maybe(rng, floats(rng, d, b, h, scale=0.5)),
            maybe(rng, floats(rng, d, 3 * h, scale=0.2), 0.2),
            ws,
            wz,
            rs,
            rz,
        ],
        outputs=[True, True, True],
        constants=(1, 2, 3, 4, 7, 8, 9, 10, 11),
        attributes={"direction": direction, "hidden_size": h},
        unit=0.02,
    )
