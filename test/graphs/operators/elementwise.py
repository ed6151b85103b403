"""Specifications of elementwise operators."""

import numpy as np
from graph import NUMPY, PROTO, spec

SAFE = [
    "Tanh",
    "Sigmoid",
    "Erf",
    "Softplus",
    "Softsign",
    "Elu",
    "Selu",
    "Celu",
    "LeakyRelu",
    "HardSigmoid",
    "HardSwish",
    "Mish",
    "Gelu",
    "Sin",
    "Cos",
    "Atan",
    "Asinh",
    "Swish",
]
BOUNDS = {
    "Exp": 3,
    "Tan": 1,
    "Asin": 0.9,
    "Acos": 0.9,
    "Atanh": 0.9,
    "Sinh": 3,
    "Cosh": 3,
    "Sin": 100,
    "Cos": 100,
}
POSITIVE = {"Log": 0.2, "Sqrt": 0.1, "Reciprocal": 0.5, "Acosh": 1.2}


@spec(*SAFE)
def smooth(g, operator):
    x = g.any()
    more = {}
    if operator in ("Elu", "Celu", "LeakyRelu", "Swish") and g.chance(0.5):
        more["alpha"] = float(g.one([0.1, 0.5, 1.5]))
    if operator == "Gelu" and g.chance(0.5):
        more["approximate"] = "tanh"
    g.emit(operator, [x], **more)


@spec(*BOUNDS)
def bounded(g, operator):
    g.emit(operator, [g.bounded(g.any(), -BOUNDS[operator], BOUNDS[operator])])


@spec(*POSITIVE)
def positive(g, operator):
    g.emit(operator, [g.positive(g.any(), POSITIVE[operator])])


@spec("Abs", "Neg", "Relu", "Identity")
def exact_unary(g, operator):
    x = g.any(kind=g.one(["f32", "f32", "f64", "i64", "i32"]) if operator != "Relu" else "f32")
    g.emit(operator, [x], x.exact)


@spec("Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink", "IsNaN", "IsInf")
def step(g, operator):
    more = {"Shrink": {"lambd": 0.4, "bias": 0.1}, "ThresholdedRelu": {"alpha": 0.3}}.get(
        operator, {}
    )
    g.emit(operator, [g.any(exact=True)], operator != "Shrink", **more)


@spec("Add", "Sub", "Mul")
def arithmetic(g, operator):
    x = g.any(kind=g.one(["f32"] * 6 + ["f64", "i64", "i32"]))
    y = g.broadcastable(x)
    if x.kind[0] == "i":
        x, y = g.bounded(x, -1000, 1000), g.bounded(y, -1000, 1000)
    g.emit(operator, [x, y] if g.chance(0.5) else [y, x], x.kind[0] == "i")


@spec("Div")
def division(g, operator):
    x = g.any(kind=g.one(["f32"] * 6 + ["f64"]))
    g.emit(operator, [x, g.positive(g.broadcastable(x), 0.5)])


@spec("Pow")
def power(g, operator):
    x = g.positive(g.bounded(g.any(), -3, 3), 0.3)
    g.emit(operator, [x, g.constant(np.array(g.one([0.5, 2, 3, -1, 1.7]), NUMPY[x.kind]))])


@spec("Max", "Min", "Sum", "Mean")
def variadic(g, operator):
    x = g.any(
        kind=g.one(["f32"] * 6 + ["f64", "i64", "i32"])
        if operator[0] == "M" and operator != "Mean"
        else "f32"
    )
    parts = [x] + [g.broadcastable(x) for _ in range(g.integer(0, 2))]
    g.emit(operator, parts, operator in ("Max", "Min") and all(p.exact for p in parts))


@spec("PRelu")
def prelu(g, operator):
    x = g.ranked(1, 2, 3, 4)
    g.emit(
        operator,
        [
            x,
            g.weight(
                tuple(1 if g.chance(0.5) else d for d in x.shape[g.integer(0, x.rank - 1) :]), 0.3
            ),
        ],
    )


@spec("Mod")
def modulo(g, operator):
    if g.chance(0.5):
        x = g.any(kind="i64")
        g.emit(operator, [x, g.constant(np.array(g.one([2, 3, 7, -4]), np.int64))], True)
    else:
        g.emit(operator, [g.any(exact=True), g.constant(np.array(0.75, np.float32))], True, fmod=1)


@spec("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def comparison(g, operator):
    x = g.any(kind=g.one(["f32", "f32", "i64", "i32"]), exact=True)
    g.emit(operator, [x, g.broadcastable(x, exact=True)], True)


@spec("And", "Or", "Xor")
def logic(g, operator):
    x = g.any(kind="bool")
    g.emit(operator, [x, g.broadcastable(x)], True)


@spec("Not")
def negation(g, operator):
    g.emit(operator, [g.any(kind="bool")], True)


@spec("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(g, operator):
    x = g.any(kind=g.one(["i32", "i64", "u8"]))
    g.emit(operator, [x, g.broadcastable(x)], True)


@spec("BitwiseNot")
def bitwise_not(g, operator):
    g.emit(operator, [g.any(kind=g.one(["i32", "i64", "u8"]))], True)


@spec("BitShift")
def bit_shift(g, operator):
    x = g.any(kind="u8")
    g.emit(
        operator,
        [x, g.constant(g.rng.integers(0, 8, x.shape if g.chance(0.5) else ()).astype(np.uint8))],
        True,
        direction=g.one(["LEFT", "RIGHT"]),
    )


@spec("Where")
def where(g, operator):
    x = g.any(kind=g.one(["f32"] * 6 + ["f64", "i64", "i32", "u8"]))
    y = g.broadcastable(x)
    condition = g.broadcastable(x, "bool")
    g.emit(operator, [condition, x, y], x.exact and y.exact)


@spec("Clip")
def clip(g, operator):
    x = g.any(kind=g.one(["f32", "f32", "i32", "i64"]))
    ends = [g.constant(np.array(-1, NUMPY[x.kind])), g.constant(np.array(1, NUMPY[x.kind]))]
    g.emit(
        operator,
        [x, ends[0] if g.chance(0.7) else None, ends[1] if g.chance(0.7) else None],
        x.exact,
    )


KINDS = ["f32", "f32", "f32", "i64", "i32", "bool", "f64", "f16", "u8", "i8"]


@spec("Cast", "CastLike")
def cast(g, operator):
    x, to = g.any(kind=g.one(KINDS)), g.one(KINDS)
    if x.kind[0] == "f" and to not in ("f32", "f64"):
        x = g.any(kind=x.kind, exact=True)
    if x.kind[0] == "f" and to in ("u8", "i8"):  # what lies outside is anything
        x = g.bounded(x, 0 if to == "u8" else -100, 100)
    exact = x.exact and (x.kind, to) not in (("f64", "f32"), ("i64", "f32"), ("i32", "f32"))
    if operator == "Cast":
        g.emit(operator, [x], exact, to=PROTO[to])
    else:
        g.emit(operator, [x, g.any(kind=to)], exact)


@spec("BitCast")
def bit_cast(g, operator):
    of, to = g.one([("f32", "i32"), ("u8", "i8"), ("i8", "u8")])
    x = (
        g.random(g.shape(largest=100), of) if of == "f32" else g.any(kind=of)
    )  # the importer must know floats
    g.emit(operator, [x], True, to=PROTO[to])
