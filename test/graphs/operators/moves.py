"""Specifications of operators that move elements."""

import numpy as np
from graph import NoOperand, spec


KINDS = ["f32"] * 8 + ["i64", "bool", "f64", "f16", "u8", "i8"]


def moved(g, *ranks):
    return g.ranked(*ranks, kind=g.one(KINDS)) if ranks else g.any(kind=g.one(KINDS))


@spec("Transpose")
def transpose(g, operator):
    x = moved(g)
    g.emit(
        operator,
        [x],
        x.exact,
        **({"perm": g.permutation(x.rank)} if x.rank and g.chance(0.9) else {}),
    )


@spec("Reshape")
def reshape(g, operator):
    x = moved(g)
    if x.rank and x.size and g.chance(0.25):  # as exporters write it
        kept = g.integer(1, x.rank)
        shape = g.emit("Shape", [x], True)
        part = g.emit("Slice", [shape, g.ints([0]), g.ints([kept])], True)
        rest = g.emit("Concat", [part, g.ints([-1])], True, axis=0)
        return g.emit(
            operator,
            [x, rest],
            x.exact,
            types=[(x.kind, (*x.shape[:kept], x.size // int(np.prod(x.shape[:kept]))))],
        )
    left, to = x.size, []
    while left > 1 and len(to) < 4:
        to.append(g.divisor(left))
        left //= to[-1]
    to.append(left)
    to = [to[i] for i in g.permutation(len(to))]
    if g.chance(0.4) and x.size:
        to[g.integer(0, len(to) - 1)] = -1
    g.emit(operator, [x, g.ints(to)], x.exact)


@spec("Flatten")
def flatten(g, operator):
    x = moved(g, 1, 2, 3, 4, 5)
    g.emit(operator, [x], x.exact, axis=g.integer(0, x.rank))


@spec("Unsqueeze")
def unsqueeze(g, operator):
    x = g.pick(lambda v: v.rank <= 4, g.one(KINDS), make=lambda: g.shape(g.integer(0, 4)))
    g.emit(operator, [x, g.ints([g.integer(-x.rank - 1, x.rank)])], x.exact)


@spec("Squeeze")
def squeeze(g, operator):
    x = g.pick(lambda v: 1 in v.shape)
    ones = [i for i, d in enumerate(x.shape) if d == 1]
    g.emit(operator, [x, g.ints([g.one(ones)])] if g.chance(0.7) else [x], x.exact)


@spec("Slice")
def slice_(g, operator):
    x = moved(g, 1, 2, 3, 4, 5)
    axes = sorted(g.permutation(x.rank)[: g.integer(1, x.rank)])
    starts, ends, steps = [], [], []
    for axis in axes:
        d, step = x.shape[axis], g.one([1, 1, 1, 2, 3, -1, -2])
        a = g.integer(0, d - 1)
        b = g.integer(a + 1, d) if step > 0 else g.integer(0, a)
        starts.append(a if g.chance(0.7) else a - d)
        ends.append(
            (b if step > 0 else b - 1 - (d if b == 0 else 0) - (d if b == 0 else 0))
            if g.chance(0.8)
            else (2**40 if step > 0 else -(2**40))
        )
        steps.append(step)
    inputs = [x, g.ints(starts), g.ints(ends), g.ints(axes)]
    y = g.emit(
        operator,
        inputs + [g.ints(steps)] if set(steps) != {1} or g.chance(0.5) else inputs,
        x.exact,
    )
    if y.size == 0 and g.chance(0.9):
        g.values.remove(y)


@spec("Concat")
def concat(g, operator):
    x = moved(g, 1, 2, 3, 4, 5)
    axis = g.integer(0, x.rank - 1)
    parts = [x]
    for _ in range(g.integer(1, 3)):
        try:
            parts.append(
                g.pick(
                    kind=x.kind,
                    fits=lambda v: (
                        v.rank == x.rank
                        and all(
                            a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis
                        )
                    ),
                )
            )
        except NoOperand:
            pass
    if g.chance(0.2):
        parts.append(g.random(tuple(2 if i == axis else d for i, d in enumerate(x.shape)), x.kind))
    parts = [parts[i] for i in g.permutation(len(parts))]
    g.emit(
        operator, parts, all(p.exact for p in parts), axis=axis - x.rank if g.chance(0.3) else axis
    )


@spec("Split")
def split(g, operator):
    x = moved(g, 1, 2, 3, 4, 5)
    axis = g.integer(0, x.rank - 1)
    d = x.shape[axis]
    parts = g.integer(1, min(4, d))
    if g.chance(0.5):
        sizes = (
            np.diff([0, *sorted(g.rng.choice(np.arange(1, d), parts - 1, replace=False)), d])
            if d > 1
            else [1]
        )
        g.emit(operator, [x, g.ints([int(s) for s in sizes])], x.exact, len(sizes), axis=axis)
    elif -(-d // parts) * (parts - 1) < d:  # the last is smaller, but not empty
        g.emit(operator, [x], x.exact, parts, axis=axis, num_outputs=parts)


@spec("Pad")
def pad(g, operator):
    x = g.ranked(1, 2, 3, 4)
    mode = g.one(["constant", "constant", "edge", "reflect", "wrap"])
    axes = (
        sorted(g.permutation(x.rank)[: g.integer(1, x.rank)])
        if g.chance(0.3)
        else list(range(x.rank))
    )
    most = [2 if mode in ("constant", "edge") else min(2, x.shape[a] - 1) for a in axes]
    pads = [g.integer(0, m) for m in most] + [g.integer(0, m) for m in most]
    if mode == "constant" and g.chance(0.2):
        pads[g.integer(0, len(axes) - 1)] = -1 if min(x.shape) > 3 else 0
    inputs = [
        x,
        g.ints(pads),
        g.constant(np.array(0.5, np.float32)) if mode == "constant" and g.chance(0.5) else None,
    ]
    if len(axes) < x.rank or g.chance(0.1):
        inputs.append(g.ints([a - x.rank if g.chance(0.3) else a for a in axes]))
    g.emit(operator, inputs if inputs[-1] else inputs[:-1], x.exact, mode=mode)


def indices(g, shape, bound):
    return g.constant(
        g.rng.integers(-bound, bound, shape).astype(g.one([np.int64, np.int64, np.int32]))
    )


@spec("Gather")
def gather(g, operator):
    x = moved(g, 1, 2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    g.emit(
        operator,
        [x, indices(g, g.shape(g.integer(0, 2), 30), x.shape[axis])],
        x.exact,
        axis=axis - x.rank if g.chance(0.3) else axis,
    )


@spec("GatherElements")
def gather_elements(g, operator):
    x = moved(g, 1, 2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    shape = [g.integer(1, 6) if i == axis else g.integer(1, d) for i, d in enumerate(x.shape)]
    g.emit(operator, [x, indices(g, shape, x.shape[axis])], x.exact, axis=axis)


@spec("GatherND")
def gather_nd(g, operator):
    x = moved(g, 1, 2, 3, 4)
    depth = g.integer(1, x.rank)
    count = g.integer(1, 6)
    index = np.stack([g.rng.integers(0, d, count) for d in x.shape[:depth]], -1)
    g.emit(operator, [x, g.constant(index.astype(np.int64))], x.exact)


@spec("ScatterElements")
def scatter_elements(g, operator):
    x = g.ranked(1, 2, 3)
    axis = g.integer(0, x.rank - 1)
    count = g.integer(1, x.shape[axis])
    shape = tuple(count if i == axis else d for i, d in enumerate(x.shape))
    index = np.argsort(g.rng.random(x.shape), axis).take(np.arange(count), axis)
    g.emit(
        operator,
        [x, g.constant(index.astype(np.int64)), g.weight(shape, 1.0)],
        False,
        axis=axis,
        reduction=g.one(["none", "add", "mul", "max", "min"]),
    )


@spec("ScatterND")
def scatter_nd(g, operator):
    x = g.ranked(1, 2, 3)
    if g.integer(0, 1):
        count = g.integer(1, x.shape[0])
        places = g.rng.permutation(x.shape[0])[:count].reshape(count, 1)
    else:
        # All places of a box, as exporters write an assignment to a slice; here and there counted from the end.
        size = [g.integer(1, d) for d in x.shape[: g.integer(1, x.rank)]]
        start = [g.integer(0, d - n) for d, n in zip(x.shape, size)]
        start = [at - g.one([0, d]) for at, d in zip(start, x.shape)]
        start = [at if at >= 0 or at + n <= 0 else at + d for at, n, d in zip(start, size, x.shape)]
        places = np.stack(
            np.meshgrid(*(np.arange(at, at + n) for at, n in zip(start, size)), indexing="ij"),
            axis=-1,
        )
    shape = (*places.shape[:-1], *x.shape[places.shape[-1] :])
    g.emit(
        operator,
        [x, g.constant(places.astype(np.int64)), g.weight(shape, 1.0)],
        False,
        reduction=g.one(["none", "add", "mul", "max"]),
    )


@spec("Expand")
def expand(g, operator):
    x = g.pick(lambda v: v.size <= 200, g.one(KINDS), make=lambda: g.shape(largest=100))
    shape = [g.integer(1, 4) if d == 1 else d for d in x.shape]
    g.emit(
        operator, [x, g.ints([g.integer(1, 3)] * g.integer(0, max(0, 4 - x.rank)) + shape)], x.exact
    )


@spec("Tile")
def tile(g, operator):
    x = g.pick(
        lambda v: 0 < v.rank <= 4 and v.size <= 400, make=lambda: g.shape(g.integer(1, 4), 300)
    )
    g.emit(operator, [x, g.ints([g.integer(1, 3) for _ in x.shape])], x.exact)


@spec("DepthToSpace", "SpaceToDepth")
def depth(g, operator):
    b = g.integer(2, 3)
    if operator[0] == "D":
        x = g.ranked(4, fits=lambda v: v.shape[1] % (b * b) == 0)
        g.emit(operator, [x], x.exact, blocksize=b, mode=g.one(["DCR", "CRD"]))
    else:
        x = g.ranked(4, fits=lambda v: v.shape[2] % b == 0 and v.shape[3] % b == 0)
        g.emit(operator, [x], x.exact, blocksize=b)


@spec("Trilu")
def trilu(g, operator):
    x = g.ranked(2, 3, 4)
    g.emit(
        operator,
        [x] + ([g.constant(np.array(g.integer(-3, 3), np.int64))] if g.chance(0.6) else []),
        x.exact,
        upper=g.integer(0, 1),
    )


@spec("ReverseSequence")
def reverse(g, operator):
    x = g.ranked(2, 3, 4)
    g.emit(
        operator,
        [x, g.constant(g.rng.integers(1, x.shape[0] + 1, x.shape[1]).astype(np.int64))],
        x.exact,
        time_axis=0,
        batch_axis=1,
    )


@spec("Resize")
def resize(g, operator):
    x = g.ranked(3, 4)
    mode = g.one(["nearest", "linear", "cubic"]) if x.rank == 4 else g.one(["nearest", "linear"])
    sizes = [*x.shape[:2], *(g.integer(max(1, d // 2), 2 * d) for d in x.shape[2:])]
    more = {
        "coordinate_transformation_mode": g.one(
            ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
        )
    }
    if mode == "nearest":
        # Where a coordinate falls on a border, rounding decides: whole factors keep away from it.
        factor = g.integer(1, 3)
        sizes = [*x.shape[:2], *(d * factor for d in x.shape[2:])]
        more = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if mode == "cubic":
        more["cubic_coeff_a"] = float(g.one([-0.75, -0.5]))
        more["exclude_outside"] = g.integer(0, 1)
    if (
        mode == "linear"
        and g.chance(0.3)
        and more["coordinate_transformation_mode"] != "align_corners"
    ):
        scales = [1, 1, *(g.one([0.5, 1, 1.5, 2]) if d > 1 else g.one([1, 2]) for d in x.shape[2:])]
        return g.emit(
            operator, [x, None, g.constant(np.array(scales, np.float32))], mode=mode, **more
        )
    g.emit(
        operator, [x, None, None, g.ints(sizes)], x.exact and mode == "nearest", mode=mode, **more
    )


@spec("OneHot")
def one_hot(g, operator):
    n = g.integer(2, 8)
    x = g.pick(lambda v: v.rank, "i64", make=lambda: g.shape(g.integer(1, 4)))
    g.emit(
        operator,
        [x, g.constant(np.array(n, np.int64)), g.constant(np.array([0.5, 2], np.float32))],
        True,
        axis=g.integer(-x.rank - 1, x.rank),
    )


@spec("Dropout")
def dropout(g, operator):
    x = g.any()
    results = g.one([1, 1, 2])
    g.emit(operator, [x], x.exact, results, types=[("f32", x.shape), ("bool", x.shape)][:results])


@spec("CenterCropPad")
def center_crop_pad(g, operator):
    x = g.ranked(1, 2, 3, 4)
    axes = g.permutation(x.rank)[: g.integer(1, x.rank)]
    g.emit(
        operator,
        [x, g.ints([g.integer(1, x.shape[a] + 3) for a in axes])],
        x.exact,
        axes=[a - x.rank if g.chance(0.3) else a for a in axes],
    )


@spec("TensorScatter")
def tensor_scatter(g, operator):
    x = g.ranked(3, 4)
    axis, mode = g.integer(1, x.rank - 1), g.one(["linear", "circular"])
    count = g.integer(1, x.shape[axis])
    first = g.rng.integers(
        0, x.shape[axis] - (count if mode == "linear" else 0) + (mode == "linear"), x.shape[0]
    )
    update = g.shaped(tuple(count if i == axis else d for i, d in enumerate(x.shape)))
    inputs = [x, update] + ([g.ints(first)] if g.chance(0.8) else [])
    g.emit(
        operator,
        inputs,
        x.exact and update.exact,
        axis=axis - x.rank if g.chance(0.5) else axis,
        mode=mode,
    )


@spec("ArrayFeatureExtractor")
def feature_extractor(g, operator):
    x = g.ranked(1, 2, 3)
    count = g.integer(1, 6)
    shape = (*x.shape[:-1], count) if x.rank > 1 else (1, count)
    index = g.ints(g.rng.integers(0, x.shape[-1], count))
    g.emit(operator, [x, index], x.exact, domain="ai.onnx.ml", types=[("f32", shape)])
