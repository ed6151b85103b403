"""Specifications of quantized values and of their matmuls. Scales of matmuls are powers of two, so that products are exact and rounded
identically everywhere."""

import numpy as np
from graph import NUMPY, PACKED, QUANTISED, NoOperand, spec
from operators.products import window


def scale(g, shape=(), low=2, high=6):
    return g.constant((2.0 ** -g.rng.integers(low, high + 1, shape)).astype(np.float32))


def zero(g, kind, shape=()):
    low, high = (100, 150) if kind == "u8" else (-20, 20)
    return g.constant(
        g.rng.integers(low, high, shape).astype({"u8": np.uint8, "i8": np.int8}[kind])
    )


def layout(g, x):
    """The shape of the scales of x, and the attributes that state it: one, one for each index of an axis, or one for each block along it."""
    way = g.one(["all", "all", "axis", "block"]) if x.rank else "all"
    if way == "all":
        return (), {}
    axis = g.integer(0, x.rank - 1)
    more = {"axis": axis - x.rank if g.chance(0.3) else axis}
    if way == "axis":
        return (x.shape[axis],), more
    block = g.divisor(x.shape[axis])
    if block == x.size:  # ONNX Runtime takes one block as none
        return (), {}
    return tuple(d // block if i == axis else d for i, d in enumerate(x.shape)), {
        **more,
        "block_size": block,
    }


@spec("QuantizeLinear")
def quantize(g, operator):
    x = g.pick(lambda v: v.rank <= 4 and v.size, make=lambda: g.shape(g.integer(0, 4)), exact=True)
    shape, more = layout(g, x)
    kind = g.one(["u8", "i8"])
    by = (
        scale(g, shape)
        if g.chance(0.5)
        else g.constant((0.01 + 0.1 * g.rng.random(shape)).astype(np.float32))
    )
    g.emit(
        operator,
        [x, by, zero(g, kind, shape)] if kind == "i8" or g.chance(0.7) else [x, by],
        True,
        **more,
    )


def weights(g):
    """A matmul by constant weights of 4 or 8 bits that are large enough for kernels which read them as they are."""
    k, n = g.one([64, 96, 128, 192, 256]), g.one([64, 65, 70, 96])
    x = g.pick(
        lambda v: v.rank >= 2 and v.shape[-1] == k and v.size,
        make=lambda: (g.one([1, 2, 5, 17, 33, 66, 130]), k),
    )
    if x.size // k * n > 16000:
        raise NoOperand
    kind = g.one(["u4", "i4", "u8", "i8"] if g.opsets[""] >= 21 else ["u8", "i8"])
    low, high = {"u4": (0, 16), "i4": (-8, 8), "u8": (0, 256), "i8": (-128, 128)}[kind]
    draw = lambda shape: g.constant(g.rng.integers(low, high, shape).astype((NUMPY | PACKED)[kind]))
    is_transposed, block = g.chance(0.6), g.one([None, 16, 32, 64])
    blocks = 1 if block is None else -(-k // block)
    if block is None:
        shape, more = g.one([((), {}), ((n,), {"axis": 0 if is_transposed else 1})])
    else:
        shape, more = (
            (n, blocks) if is_transposed else (blocks, n),
            {"axis": 1 if is_transposed else 0, "block_size": block},
        )
    w = draw((n, k) if is_transposed else (k, n))
    inputs = [
        w,
        g.constant((0.001 + 0.01 * g.rng.random(shape)).astype(np.float32)),
        *([draw(shape)] if g.chance(0.6) else []),
    ]
    w = g.emit("DequantizeLinear", inputs, False, largest=1 << 16, **more)
    if is_transposed:
        w = g.emit("Transpose", [w], False, largest=1 << 16, perm=[1, 0])
    g.emit("MatMul", [x, w], False, largest=1 << 16)


@spec("DequantizeLinear")
def dequantize(g, operator):
    if g.weights is QUANTISED and g.chance(0.5):
        return weights(g)
    kind = g.one(["u8", "i8", "u8", "i8", "i32"])
    x = g.pick(lambda v: v.rank <= 4 and v.size, kind, make=lambda: g.shape(g.integer(0, 4)))
    shape, more = layout(g, x)
    exact = g.chance(0.5) and kind != "i32"
    by = (
        scale(g, shape)
        if exact
        else g.constant((0.01 + 0.1 * g.rng.random(shape)).astype(np.float32))
    )
    g.emit(
        operator,
        [x, by, zero(g, kind, shape)] if kind != "i32" and g.chance(0.7) else [x, by],
        exact,
        **more,
    )


@spec("DynamicQuantizeLinear")
def dynamic(g, operator):
    """Zeros alone have any scale."""
    y, by, offset = g.emit(operator, [g.drawn(1, 2, 3, 4)], False, 3)
    y.exact = offset.exact = True


def pair(g):
    """The kinds of both operands of a product, as ONNX Runtime has them."""
    return g.one([("u8", "u8"), ("u8", "i8"), ("i8", "i8")])


def matrices(g, a, b):
    x = g.pick(
        lambda v: v.rank >= 2 and 0 < v.shape[-1] <= 1000 and v.size,
        a,
        make=lambda: g.shape(g.integer(2, 4)),
    )
    n = g.integer(1, 17)
    if x.size // x.shape[-1] * n > 3000:
        raise NoOperand
    return x, g.random((x.shape[-1], n), b)


@spec("MatMulInteger")
def matmul_integer(g, operator):
    a, b = pair(g)
    x, y = matrices(g, a, b)
    offsets = [zero(g, a), zero(g, b, g.one([(), (y.shape[1],)]))][: g.integer(0, 2)]
    g.emit(operator, [x, y, *offsets], True)


@spec("QLinearMatMul")
def qlinear_matmul(g, operator):
    a, b = pair(g)
    x, y = matrices(g, a, b)
    columns = g.one([(), (y.shape[1],)])
    g.emit(
        operator,
        [
            x,
            scale(g),
            zero(g, a),
            y,
            scale(g, columns),
            zero(g, b, columns),
            scale(g, (), 0, 3),
            zero(g, a),
        ],
        True,
    )


def images(g, a, b):
    x = g.ranked(4, kind=a)
    group = g.one([1, 1, x.shape[1], g.divisor(x.shape[1])])
    more = window(g, x)
    out = group * g.integer(1, max(1, 12 // group))
    return (
        x,
        g.random((out, x.shape[1] // group, *more["kernel_shape"]), b),
        {"group": group, **more},
    )


@spec("ConvInteger")
def conv_integer(g, operator):
    a, b = pair(g)
    x, w, more = images(g, a, b)
    g.emit(operator, [x, w, *[zero(g, a), zero(g, b)][: g.integer(0, 2)]], True, **more)


@spec("QLinearConv")
def qlinear_conv(g, operator):
    a, b = pair(g)
    x, w, more = images(g, a, b)
    channels = g.one([(), (w.shape[0],)])
    offset = (
        zero(g, b)
        if channels == ()
        else g.constant(np.zeros(channels, {"u8": np.uint8, "i8": np.int8}[b]))
    )
    inputs = [
        x,
        scale(g),
        zero(g, a),
        w,
        scale(g, channels),
        offset,
        scale(g, (), 0, 3),
        zero(g, a),
    ]
    if g.chance(0.5):
        inputs.append(g.constant(g.rng.integers(-500, 500, w.shape[0]).astype(np.int32)))
    g.emit(operator, inputs, True, **more)
