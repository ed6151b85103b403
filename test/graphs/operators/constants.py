"""Specifications of constants, and of operators whose results are known once shapes are."""

import numpy as np
import onnx
from graph import NAMES, NUMPY, PROTO, NoOperand, Value, spec
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def evaluated(g, operator, inputs, results=1, **attributes):
    """A node over constants whose results' shapes depend on their values: the onnx package's own evaluator tells them."""
    names = [v.name for v in inputs]
    node = helper.make_node(operator, names, [f"y{i}" for i in range(results)], **attributes)
    infos = [
        helper.make_tensor_value_info(f"y{i}", onnx.TensorProto.UNDEFINED, None)
        for i in range(results)
    ]
    graph = helper.make_graph([node], "one", [v.info for v in inputs], infos)
    arrays = ReferenceEvaluator(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opsets[""])])
    ).run(None, {n: g.constants[n] for n in names})
    if min(a.size for a in arrays) == 0:
        raise NoOperand
    types = [(NAMES[helper.np_dtype_to_tensor_dtype(a.dtype)], a.shape) for a in arrays]
    return g.emit(operator, inputs, True, results, types=types, **attributes)


def selected(g, operator, inputs, **attributes):
    """A node whose result's shape only the run knows: no operand for others."""
    return g.emit(operator, inputs, types=[("selected", ())], **attributes)


def used(g, x, rows, places=None):
    """What is made of rows of x that a condition selected has a shape again: their sum, or x with other elements in their places."""
    for _ in range(g.integer(0, 2)):
        rows = selected(g, g.one(["Neg", "Abs", "Relu", "Tanh"]), [rows])
    kind = g.one(
        ["sum", "mean of squares", "written", "added", "given back", "first"]
        if places
        else ["sum", "mean of squares", "given back", "first"]
    )
    rest = [(x.kind, x.shape[1:])]
    if kind == "given back":
        turned = g.one(["as they are", "last ones", "last one first", "twice", "with more"])
        if turned == "last ones":
            rows = selected(
                g,
                "Slice",
                [
                    rows,
                    g.ints([g.integer(-3, -1)]),
                    g.ints([g.one([2**63 - 1, -1, 2])]),
                    g.ints([0]),
                ],
            )
        elif turned == "last one first":
            rows = selected(
                g, "Slice", [rows, g.ints([-1]), g.ints([1 - 2**63]), g.ints([0]), g.ints([-1])]
            )
        elif turned == "twice":
            rows = selected(g, "Tile", [rows, g.ints([2] + [1] * (x.rank - 1))])
        elif turned == "with more":
            rows = selected(g, "Concat", [rows, x], axis=0)
        g.end(rows, x.kind, (None, *x.shape[1:]))
        if places and g.chance(0.3):
            g.end(places, "i64", (None, 1), True)
    elif kind == "first":
        some = selected(
            g,
            "Slice",
            [rows, g.ints([g.integer(0, 1)]), g.ints([g.one([1, 2, 3, -1])]), g.ints([0])],
        )
        g.emit("ReduceSum", [some, g.ints([0])], types=rest, keepdims=0)
    elif kind == "sum":
        g.emit("ReduceSum", [rows, g.ints([0])], types=rest, keepdims=0)
    elif kind == "mean of squares":
        count = selected(
            g,
            "Cast",
            [selected(g, "Gather", [selected(g, "Shape", [rows]), g.int(0)])],
            to=PROTO[x.kind],
        )
        squares = selected(g, "ReduceSumSquare", [rows, g.ints([0])], keepdims=0)
        g.emit(
            "Div",
            [squares, selected(g, "Add", [count, g.constant(np.array(1, NUMPY[x.kind]))])],
            types=rest,
        )
    else:
        g.emit(
            "ScatterND",
            [x, places, rows],
            types=[(x.kind, x.shape)],
            **({"reduction": "add"} if kind == "added" else {}),
        )


@spec("NonZero")
def nonzero(g, operator):
    if g.chance(0.6):
        x = g.ranked(1, 2, 3)
        condition = g.shaped(x.shape[:1], "bool", exact=True)
        places = selected(g, "Transpose", [selected(g, operator, [condition])], perm=[1, 0])
        return used(g, x, selected(g, "GatherND", [x, places]), places)
    evaluated(g, operator, [g.random(g.shape(g.integer(1, 3), 40), "bool")])


@spec("Unique")
def unique(g, operator):
    if g.chance(0.5):
        whole = g.emit("Cast", [g.drawn(1, 2)], True, to=PROTO["i64"])
        number = g.numbers
        g.emit(
            operator,
            [whole],
            True,
            4,
            types=[("selected", ()), ("selected", ()), ("i64", (whole.size,)), ("selected", ())],
            sorted=1,
        )
        for i in (0, 1, 3):
            g.end(Value(f"v{number}_{i}", (), "i64", True), "i64", (None,), True)
        return
    x = g.random(g.shape(g.integer(1, 2), 40), "i64")
    evaluated(
        g,
        operator,
        [x],
        g.integer(1, 4),
        sorted=1,
        **({"axis": g.integer(-x.rank, x.rank - 1)} if g.chance(0.4) else {}),
    )


@spec("NonMaxSuppression")
def non_max_suppression(g, operator):
    images, boxes, classes = g.integer(1, 2), g.integer(2, 9), g.integer(1, 3)
    if g.chance(0.5):
        low = g.emit("Abs", [g.drawn_as((images, boxes, 2))])
        size = g.positive(g.drawn_as((images, boxes, 2)))
        where = g.emit("Concat", [low, g.emit("Add", [low, size])], axis=2)
        scores = g.drawn_as((images, classes, boxes))
        limits = [
            g.int(g.integer(1, 9)),
            g.constant(np.array(0.3, np.float32)),
            *([g.constant(np.array(0.0, np.float32))] if g.chance(0.6) else []),
        ]
        kept = selected(g, operator, [where, scores, *limits])
        if images > 1 or classes > 1 or g.chance(0.4):
            return g.end(kept, "i64", (None, 3), True)
        number = selected(g, "Gather", [kept, g.int(2)], axis=1)
        return used(
            g,
            g.emit("Squeeze", [where, g.ints([0])]),
            selected(g, "Gather", [g.emit("Squeeze", [where, g.ints([0])]), number], axis=0),
        )
    corner = g.rng.random((images, boxes, 2))
    where = g.constant(
        np.concatenate([corner, corner + 0.2 + 0.3 * g.rng.random((images, boxes, 2))], -1).astype(
            np.float32
        )
    )
    scores = g.constant(g.rng.random((images, classes, boxes)).astype(np.float32))
    limits = [
        g.int([g.integer(1, 4)]),
        g.constant(np.array([0.3], np.float32)),
        g.constant(np.array([0.2], np.float32)),
    ]
    evaluated(g, operator, [where, scores, *limits])


@spec("Compress")
def compress(g, operator):
    x = g.ranked(1, 2, 3)
    if g.chance(0.4):
        return used(
            g, x, selected(g, operator, [x, g.shaped(x.shape[:1], "bool", exact=True)], axis=0)
        )
    axis = g.integer(-x.rank, x.rank - 1) if g.chance(0.7) else None
    length = x.size if axis is None else x.shape[axis]
    keep = g.rng.random(g.integer(1, length)) < 0.6
    if not keep.any():
        raise NoOperand
    kept = int(keep.sum())
    shape = (
        (kept,)
        if axis is None
        else tuple(kept if i == axis % x.rank else d for i, d in enumerate(x.shape))
    )
    g.emit(
        operator,
        [x, g.constant(keep)],
        x.exact,
        types=[(x.kind, shape)],
        **({} if axis is None else {"axis": axis}),
    )


@spec("Shape", "Size")
def shape_of(g, operator):
    x = g.any()
    more = (
        {"start": g.integer(-x.rank, 0)} if operator == "Shape" and x.rank and g.chance(0.4) else {}
    )
    g.emit(operator, [x], True, **more)


@spec("Constant")
def constant(g, operator):
    kind = g.one(["f32", "f32", "i64", "bool"])
    g.emit(
        operator,
        [],
        True,
        value=numpy_helper.from_array(g.constants[g.random(g.shape(largest=100), kind).name]),
    )


@spec("ConstantOfShape")
def constant_of_shape(g, operator):
    kind = g.one(["f32", "f32", "i64", "bool"])
    value = numpy_helper.from_array(np.array([g.one([0, 1, 2])]).astype(NUMPY[kind]))
    if g.chance(0.5):
        return g.emit(operator, [g.ints(g.shape(g.integer(0, 3), 200))], True, value=value)
    x = g.any()
    g.emit(operator, [g.emit("Shape", [x], True)], True, types=[(kind, x.shape)], value=value)


@spec("Range")
def range_(g, operator):
    kind, step = g.one(["i64", "i32", "f32"]), g.one([1, 2, -1])
    start = g.integer(-3, 3)
    ends = [
        g.constant(np.array(n).astype(NUMPY[kind]))
        for n in (start, start + step * g.integer(1, 12), step)
    ]
    g.emit(operator, ends, True)


@spec("EyeLike")
def eye_like(g, operator):
    g.emit(operator, [g.ranked(2)], True, k=g.integer(-3, 3), dtype=PROTO[g.one(["f32", "i64"])])


@spec("HannWindow", "HammingWindow", "BlackmanWindow")
def window(g, operator):
    g.emit(operator, [g.int(g.integer(2, 33))], periodic=g.integer(0, 1))


@spec("MelWeightMatrix")
def mel(g, operator):
    g.emit(
        operator,
        [
            g.int(g.integer(4, 8)),
            g.int(g.one([16, 32])),
            g.int(8192),
            g.constant(np.array(0, np.float32)),
            g.constant(np.array(4096, np.float32)),
        ],
    )
