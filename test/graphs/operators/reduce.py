"""Specifications of reductions and normalizations."""

import numpy as np
from graph import NoOperand, spec


@spec("CumSum", "CumProd")
def cumulative(g, operator):
    x = g.ranked(1, 2, 3, 4, fits=lambda v: operator != "CumProd" or v.size <= 300)
    if operator == "CumProd":
        x = g.bounded(x, -1.2, 1.2)
    g.emit(
        operator,
        [x, g.constant(np.array(g.integer(-x.rank, x.rank - 1), np.int64))],
        exclusive=g.integer(0, 1),
        reverse=g.integer(0, 1),
    )


@spec(
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceLogSumExp",
    "ReduceProd",
    "ReduceLogSum",
)
def reduction(g, operator):
    kind = (
        g.one(["f32"] * 6 + ["f64", "i32", "i64"])
        if operator in ("ReduceSum", "ReduceMax", "ReduceMin")
        else "f32"
    )
    x = g.ranked(1, 2, 3, 4, 5, kind=kind, fits=lambda v: operator != "ReduceProd" or v.size <= 300)
    if kind[0] == "i":
        x = g.bounded(x, -1000, 1000)
    if operator == "ReduceProd":
        x = g.bounded(x, -1.2, 1.2)
    if operator == "ReduceLogSum" or operator == "ReduceL2":
        x = g.positive(x)
    axes = sorted(g.permutation(x.rank)[: g.integer(0, x.rank)])
    more = (
        {"noop_with_empty_axes": g.integer(0, 1)} if not axes and operator != "ReduceLogSum" else {}
    )
    if g.chance(0.3):
        axes = [a - x.rank for a in axes]
    exact = x.exact and (operator in ("ReduceMax", "ReduceMin") or kind[0] == "i")
    g.emit(operator, [x, g.ints(axes)] if axes else [x], exact, keepdims=g.integer(0, 1), **more)


@spec("ArgMax", "ArgMin")
def arg(g, operator):
    x = g.ranked(1, 2, 3, 4, exact=True)
    g.emit(
        operator,
        [x],
        True,
        axis=g.integer(-x.rank, x.rank - 1),
        keepdims=g.integer(0, 1),
        select_last_index=g.integer(0, 1),
    )


@spec("Hardmax")
def hardmax(g, operator):
    x = g.ranked(1, 2, 3, 4, exact=True)
    g.emit(operator, [x], True, axis=g.integer(-x.rank, x.rank - 1))


@spec("TopK")
def topk(g, operator):
    x = g.ranked(1, 2, 3, 4, exact=True)
    axis = g.integer(-x.rank, x.rank - 1)
    g.emit(
        operator,
        [x, g.ints([g.integer(1, x.shape[axis])])],
        True,
        2,
        axis=axis,
        largest=g.integer(0, 1),
    )


@spec("Softmax", "LogSoftmax")
def softmax(g, operator):
    x = g.ranked(1, 2, 3, 4, kind=g.one(["f32"] * 8 + ["f64"]))
    g.emit(operator, [x], axis=g.integer(-x.rank, x.rank - 1))


@spec("LpNormalization")
def lp_normalization(g, operator):
    x = g.positive(g.ranked(1, 2, 3, 4))
    g.emit(operator, [x], axis=g.integer(0, x.rank - 1), p=g.integer(1, 2))


@spec("LayerNormalization")
def layer_norm(g, operator):
    x = g.ranked(2, 3, 4)
    axis = g.integer(1, x.rank - 1)
    shape = x.shape[axis:]
    if np.prod(shape) < 3:
        raise NoOperand
    inputs, results = (
        [x, g.weight(shape, 0.5), g.weight(shape, 0.5) if g.chance(0.6) else None],
        g.one([1, 1, 1, 3]),
    )
    kept = x.shape[:axis] + (1,) * len(shape)
    g.emit(
        operator,
        inputs,
        False,
        results,
        types=[("f32", each) for each in (x.shape, kept, kept)[:results]],
        axis=axis - x.rank if g.chance(0.5) else axis,
        epsilon=1e-2,
    )


@spec("RMSNormalization")
def rms_norm(g, operator):
    x = g.ranked(2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    g.emit(
        operator,
        [x, g.weight(x.shape[axis:], 0.5)],
        axis=axis - x.rank if g.chance(0.5) else axis,
        epsilon=1e-2,
    )


@spec("MeanVarianceNormalization")
def mean_variance(g, operator):
    """It divides by the deviation alone."""
    x = g.drawn(3, 4, fits=lambda v: v.shape[0] * v.shape[2] >= 4)
    g.emit(operator, [x], types=[("f32", x.shape)], axes=[0, 2, 3][: x.rank - 1])


@spec("BatchNormalization")
def batch_norm(g, operator):
    x = g.ranked(2, 3, 4, 5)
    c = x.shape[1]
    g.emit(
        operator,
        [
            x,
            g.weight((c,), 0.5),
            g.weight((c,), 0.5),
            g.weight((c,), 0.5),
            g.constant((0.5 + g.rng.random(c)).astype(np.float32)),
        ],
    )


@spec("InstanceNormalization", "GroupNormalization")
def instance_norm(g, operator):
    x = g.ranked(3, 4, 5, fits=lambda v: np.prod(v.shape[2:]) >= 3)
    c = x.shape[1]
    more = {"num_groups": g.divisor(c)} if operator[0] == "G" else {}
    g.emit(
        operator,
        [x, g.weight((c,), 0.5), g.weight((c,), 0.5)],
        types=[("f32", x.shape)],
        epsilon=1e-2,
        **more,
    )


@spec("LRN")
def lrn(g, operator):
    g.emit(operator, [g.ranked(4)], size=g.one([1, 3, 5]), alpha=0.1, beta=0.75, bias=1.0)


@spec("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, operator):
    x = g.ranked(2, 3, 4)
    labels = g.rng.integers(0, x.shape[1], (x.shape[0], *x.shape[2:]))
    inputs = [x, g.constant(labels.astype(g.one([np.int64, np.int32])))]
    if g.chance(0.4):
        inputs.append(g.constant((0.5 + g.rng.random(x.shape[1])).astype(np.float32)))
    more = {"reduction": g.one(["none", "sum", "mean"])}
    if g.chance(0.3) and (labels != labels.flat[0]).any():  # a mean of nothing is NaN
        more["ignore_index"] = int(labels.flat[0])
    g.emit(operator, inputs, False, 1 if operator[0] == "N" else g.integer(1, 2), **more)
