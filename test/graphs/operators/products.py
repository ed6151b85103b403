"""Specifications of matmuls, convolutions and pooling, and recurrent layers."""

import numpy as np
from graph import SIZES, spec


@spec("MatMul")
def matmul(g, operator):
    x = g.ranked(1, 2, 3, 4, kind=g.one(["f32"] * 8 + ["f64", "i32"]))
    n, k = int(g.one(SIZES)), x.shape[-1]
    if g.chance(0.4):
        batched = lambda v: all(
            a == b or 1 in (a, b) for a, b in zip(v.shape[-3::-1], x.shape[-3::-1])
        )
        y = g.pick(
            kind=x.kind, fits=lambda v: v.rank >= 2 and v.shape[-2] == k and v.size and batched(v)
        )
    else:
        y = g.weight((k, n), k**-0.5) if x.kind == "f32" else g.random((k, n), x.kind)
    if x.kind == "i32":
        x, y = g.bounded(x, -1000, 1000), g.bounded(y, -1000, 1000)
    g.emit(operator, [x, y], x.kind == "i32")


@spec("Gemm")
def gemm(g, operator):
    x = g.ranked(2)
    a, b = g.integer(0, 1), g.integer(0, 1)
    k, m, n = x.shape[1 - a], x.shape[a], int(g.one(SIZES))
    y = g.weight((n, k) if b else (k, n), k**-0.5)
    bias = g.weight(g.one([(n,), (m, n), (1, n), (m, 1), (1,), ()]), 1.0) if g.chance(0.7) else None
    g.emit(
        operator,
        [x, y, bias] if bias else [x, y],
        transA=a,
        transB=b,
        alpha=float(g.one([1, 0.5])),
        beta=float(g.one([1, 2])),
    )


@spec("Einsum")
def einsum(g, operator):
    equation = g.one(
        ["bij,bjk->bik", "bij,bkj->bki", "bij->bji", "bij,bij->b", "bij->i", "bij,b->bij"]
    )
    x = g.ranked(3)
    left, right = equation.split("->")
    parts = left.split(",")
    if len(parts) == 1:
        return g.emit(operator, [x], equation=equation)
    sizes = dict(zip("bij", x.shape), k=int(g.one(SIZES)))
    g.emit(operator, [x, g.weight(tuple(sizes[c] for c in parts[1]), 0.3)], equation=equation)


@spec("Det")
def determinant(g, operator):
    n = g.integer(1, 4)
    g.emit(operator, [g.shaped((*g.shape(g.integer(0, 2), 30), n, n))])


def window(g, x):
    """Attributes of a window over x's images, each of whose results holds a pixel at least."""
    spatial = x.shape[2:]
    kernel = [g.integer(1, min(3 if len(spatial) == 3 else 5, d)) for d in spatial]
    strides = [g.integer(1, 3) for _ in spatial]
    more = {"kernel_shape": kernel, "strides": strides}
    if g.chance(0.25):
        more["auto_pad"] = g.one(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif g.chance(0.7):
        more["pads"] = [g.integer(0, (k - 1)) for k in kernel] + [
            g.integer(0, (k - 1)) for k in kernel
        ]
    return more


def dilations(g, x, more):
    return [
        g.integer(1, 2) if 2 * (k - 1) < d else 1 for k, d in zip(more["kernel_shape"], x.shape[2:])
    ]


@spec("Conv")
def conv(g, operator):
    x = g.ranked(3, 4, 4, 4, 5)
    c = x.shape[1]
    group = g.one([1, 1, c, g.divisor(c)])
    out = group * g.integer(1, max(1, 24 // group))
    more = window(g, x)
    if g.chance(0.3) and more.get("auto_pad") is None:
        more["dilations"] = dilations(g, x, more)
    w = g.weight((out, c // group, *more["kernel_shape"]))
    g.emit(
        operator, [x, w] + ([g.weight((out,), 0.5)] if g.chance(0.6) else []), group=group, **more
    )


@spec("ConvTranspose")
def conv_transpose(g, operator):
    x = g.ranked(3, 4, 4, 5)
    c = x.shape[1]
    group = g.one([1, 1, c, g.divisor(c)])
    out = g.integer(1, max(1, 16 // group))
    more = window(g, x)
    more.pop("auto_pad", None)
    if g.chance(0.3):
        more["dilations"] = dilations(g, x, more)
    if g.chance(0.3):
        more["output_padding"] = [g.integer(0, s - 1) for s in more["strides"]]
    w = g.weight((c, out, *more["kernel_shape"]))
    g.emit(
        operator,
        [x, w] + ([g.weight((out * group,), 0.5)] if g.chance(0.6) else []),
        group=group,
        **more,
    )


@spec("MaxPool", "AveragePool", "LpPool")
def pool(g, operator):
    x = g.ranked(3, 4, 4, 5)
    more = window(g, x)
    if operator != "LpPool" and more.get("auto_pad") is None:
        more["ceil_mode"] = g.integer(0, 1)
        if more[
            "ceil_mode"
        ]:  # the onnx package counts windows that start in the padding at the end
            more["strides"] = [min(k, s) for k, s in zip(more["kernel_shape"], more["strides"])]
            more.pop("pads", None)
    if more.get("auto_pad", "").startswith(
        "SAME"
    ):  # frameworks crop where windows leave elements out, or do not
        more["strides"] = [min(k, s) for k, s in zip(more["kernel_shape"], more["strides"])]
    if operator == "AveragePool":
        more["count_include_pad"] = g.integer(0, 1)
    if (
        operator == "MaxPool" and g.chance(0.2) and "auto_pad" not in more
    ):  # ONNX Runtime does not count dilations there
        more["dilations"] = dilations(g, x, more)
    if operator == "LpPool":
        x = g.positive(x)
    g.emit(
        operator,
        [x],
        x.exact and operator == "MaxPool",
        2 if operator == "MaxPool" and x.exact and g.chance(0.3) else 1,
        **more,
    )


@spec("GlobalAveragePool", "GlobalMaxPool")
def global_pool(g, operator):
    x = g.ranked(3, 4, 5)
    g.emit(operator, [x], x.exact and operator == "GlobalMaxPool")


@spec("GlobalLpPool")
def global_lp_pool(g, operator):
    g.emit(operator, [g.positive(g.ranked(3, 4, 5))], p=g.integer(1, 3))


@spec("MaxUnpool")
def max_unpool(g, operator):
    """Of windows that cover all: frameworks count indices differently where the result's shape is given and another one."""
    x = g.ranked(3, 4, exact=True)
    kernel = [g.one([k for k in (1, 2, 3) if d % k == 0]) for d in x.shape[2:]]
    more = {"kernel_shape": kernel, "strides": kernel}
    pooled, indices = g.emit("MaxPool", [x], True, 2, **more)
    g.emit(
        operator,
        [pooled, indices] + ([g.ints(x.shape)] if g.chance(0.3) else []),
        True,
        types=[("f32", x.shape)],
        **more,
    )


@spec("Col2Im")
def col2im(g, operator):
    image, block = [g.integer(3, 7) for _ in range(2)], [g.integer(1, 3) for _ in range(2)]
    strides, pads = [g.integer(1, 2) for _ in range(2)], [g.integer(0, b - 1) for b in block] * 2
    blocks = [(image[i] + pads[i] + pads[i + 2] - block[i]) // strides[i] + 1 for i in range(2)]
    x = g.shaped((g.integer(1, 2), g.integer(1, 3) * block[0] * block[1], blocks[0] * blocks[1]))
    g.emit(operator, [x, g.ints(image), g.ints(block)], strides=strides, pads=pads)


@spec("LSTM", "GRU", "RNN")
def recurrent(g, operator):
    x = g.ranked(3, fits=lambda v: v.shape[0] <= 9)
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    hidden, direction = int(g.one([1, 3, 5, 8, 16])), g.one(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    inputs = [
        x,
        g.weight((d, gates * hidden, x.shape[2]), 0.3),
        g.weight((d, gates * hidden, hidden), 0.3),
    ]
    inputs.append(g.weight((d, 2 * gates * hidden), 0.3) if g.chance(0.6) else None)
    inputs.append(
        g.constant(g.rng.integers(1, x.shape[0] + 1, x.shape[1]).astype(np.int32))
        if g.chance(0.2)
        else None
    )
    starts = 2 if operator == "LSTM" else 1
    inputs += [g.shaped((d, x.shape[1], hidden)) if g.chance(0.3) else None for _ in range(starts)]
    if operator == "LSTM" and g.chance(0.2):
        inputs.append(g.weight((d, 3 * hidden), 0.3))
    while inputs[-1] is None:
        inputs.pop()
    more = {"linear_before_reset": g.integer(0, 1)} if operator == "GRU" else {}
    g.emit(
        operator,
        inputs,
        False,
        3 if operator == "LSTM" else 2,
        hidden_size=hidden,
        direction=direction,
        **more,
    )
