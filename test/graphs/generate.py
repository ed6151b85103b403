"""Random ONNX graphs: every graph is valid, its shapes are known, and it is made anew from its seed.

A specification (a function below, in SPECS under its operators' names) draws operands among the values that are there, or asks for new ones, and
attributes that the standard allows for them; the onnx package infers the result's shape. Where an operator would leave the numbers in which small errors stay
small (a logarithm near 0, a step at an operand that was rounded), the specification puts something before it that keeps them there: steps
(Floor, ArgMax, comparisons) take exact values alone, which came from inputs without arithmetic.
"""
import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

OPSET, LARGEST = 21, 3000
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 33]
NUMPY = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "bool": np.bool_}
PROTO = {"f32": T.FLOAT, "f64": T.DOUBLE, "i64": T.INT64, "i32": T.INT32, "bool": T.BOOL}
NAMES = {number: name for name, number in PROTO.items()}
SPECS = {}


class NoOperand(Exception):
    """A specification found nothing to work on."""


class Value:
    def __init__(self, name, shape, kind, exact):
        self.name, self.shape, self.kind, self.exact = name, tuple(shape), kind, exact

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape))


def spec(*operators):
    def keep(function):
        for operator in operators:
            SPECS[operator] = function
        return function
    return keep


class Graph:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.values, self.inputs, self.constants, self.nodes, self.used = [], [], {}, [], set()

    # Drawing.
    def chance(self, p):
        return self.rng.random() < p

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def shape(self, rank=None, largest=LARGEST):
        rank = self.one([0, 1, 2, 2, 3, 3, 4, 4, 5]) if rank is None else rank
        while True:
            shape = tuple(int(self.one(SIZES)) for _ in range(rank))
            if np.prod(shape) <= largest:
                return shape

    def permutation(self, n):
        return [int(i) for i in self.rng.permutation(n)]

    # Values.
    def input(self, shape, kind="f32"):
        value = Value(f"x{len(self.inputs)}", shape, kind, True)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def constant(self, array):
        """An initializer; weights are these."""
        array = np.asarray(array)
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return Value(name, array.shape, {v: k for k, v in NUMPY.items()}[array.dtype.type], True)

    def weight(self, shape, scale=None):
        fan = max(1, int(np.prod(shape[1:])))
        return self.constant((self.rng.standard_normal(shape) * (scale or fan ** -0.5)).astype(np.float32))

    def ints(self, values):
        return self.constant(np.array(values, np.int64).reshape(len(values)))

    def pick(self, fits=lambda v: True, kind="f32", make=None, exact=False):
        """A value that fits, a late one more likely; or a new input of the shape that `make` gives."""
        fitting = [v for v in self.values if v.kind == kind and (v.exact or not exact) and fits(v)]
        if fitting and not (make and self.chance(0.1)):
            at = min(int(self.rng.geometric(0.35)) - 1, len(fitting) - 1) if self.chance(0.7) else self.integer(0, len(fitting) - 1)
            return fitting[-1 - at]
        if make is None or len(self.inputs) >= 6:
            raise NoOperand
        for _ in range(50):
            value = Value("", make(), kind, True)
            if fits(value):
                return self.input(value.shape, kind)
        raise NoOperand

    def ranked(self, *ranks, fits=lambda v: True, **more):
        return self.pick(lambda v: v.rank in ranks and v.size > 0 and fits(v), make=lambda: self.shape(self.one(ranks)), **more)

    def any(self, **more):
        return self.pick(make=lambda: self.shape(), **more)

    def beside(self, x, kind=None, exact=False):
        """A value that broadcasts with x: one that is there, an input, or a constant."""
        def broadcasts(v):
            return v.rank <= 5 and all(a == b or 1 in (a, b) for a, b in zip(v.shape[::-1], x.shape[::-1])) and \
                np.prod(np.broadcast_shapes(v.shape, x.shape)) <= LARGEST
        kind = kind or x.kind
        if self.chance(0.6):
            try:
                return self.pick(broadcasts, kind, exact=exact)
            except NoOperand:
                pass
        shape = tuple(1 if self.chance(0.3) else d for d in x.shape[self.integer(0, x.rank):])
        if self.chance(0.5) and len(self.inputs) < 6:
            return self.input(shape, kind)
        values = self.rng.standard_normal(shape) if kind.startswith("f") else self.rng.integers(-5, 6, shape) if kind != "bool" else self.rng.random(shape) < 0.5
        return self.constant(np.asarray(values).astype(NUMPY[kind]))

    def emit(self, operator, inputs, exact=False, results=1, domain="", **attributes):
        """Adds a node; its results' types are inferred. Raises NoOperand where the standard does not allow it, or the result is too large."""
        names = ["" if v is None else v.name for v in inputs]
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(results)]
        node = helper.make_node(operator, names, outputs, name=f"n{len(self.nodes)}", domain=domain, **attributes)
        types = {v.name: helper.make_tensor_type_proto(PROTO[v.kind], v.shape) for v in inputs if v is not None}
        data = {v.name: numpy_helper.from_array(self.constants[v.name], v.name) for v in inputs if v is not None and v.name in self.constants}
        inferred = onnx.shape_inference.infer_node_outputs(onnx.defs.get_schema(operator, OPSET, domain), node, types, data,
                                                           opset_imports=[helper.make_opsetid("", OPSET)])
        made = []
        for output in outputs:
            about = inferred[output].tensor_type
            shape = [d.dim_value if d.HasField("dim_value") else None for d in about.shape.dim]
            if None in shape or not about.HasField("shape") or np.prod(shape) > LARGEST or about.elem_type not in NAMES:
                raise NoOperand
            made.append(Value(output, shape, NAMES[about.elem_type], exact))
        self.nodes.append(node)
        self.used.update(names)
        self.values += made
        return made[0] if results == 1 else made

    # What keeps numbers where errors stay small.
    def bounded(self, x, low, high):
        return self.emit("Clip", [x, self.constant(np.array(low, NUMPY[x.kind])), self.constant(np.array(high, NUMPY[x.kind]))], x.exact)

    def positive(self, x, least=0.2):
        return self.emit("Add", [self.emit("Abs", [x], x.exact), self.constant(np.array(least, NUMPY[x.kind]))])

    def model(self, outputs):
        graph = helper.make_graph(self.nodes, "random", [helper.make_tensor_value_info(v.name, PROTO[v.kind], v.shape) for v in self.inputs],
                                  [helper.make_tensor_value_info(v.name, PROTO[v.kind], v.shape) for v in outputs],
                                  [numpy_helper.from_array(a, n) for n, a in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


# Elementwise.
SAFE = ["Tanh", "Sigmoid", "Erf", "Softplus", "Softsign", "Elu", "Selu", "Celu", "LeakyRelu", "HardSigmoid", "HardSwish", "Mish", "Gelu", "Sin", "Cos", "Atan", "Asinh"]
BOUNDS = {"Exp": 3, "Tan": 1, "Asin": 0.9, "Acos": 0.9, "Atanh": 0.9, "Sinh": 3, "Cosh": 3}
POSITIVE = {"Log": 0.2, "Sqrt": 0.1, "Reciprocal": 0.5, "Acosh": 1.2}


@spec(*SAFE)
def smooth(g, operator):
    x = g.any()
    more = {}
    if operator in ("Elu", "Celu", "LeakyRelu") and g.chance(0.5):
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
    more = {"Shrink": {"lambd": 0.4, "bias": 0.1}, "ThresholdedRelu": {"alpha": 0.3}}.get(operator, {})
    g.emit(operator, [g.any(exact=True)], operator != "Shrink", **more)


@spec("Add", "Sub", "Mul")
def arithmetic(g, operator):
    x = g.any(kind=g.one(["f32"] * 6 + ["f64", "i64", "i32"]))
    y = g.beside(x)
    if x.kind[0] == "i":
        x, y = g.bounded(x, -1000, 1000), g.bounded(y, -1000, 1000)
    g.emit(operator, [x, y] if g.chance(0.5) else [y, x], x.kind[0] == "i")


@spec("Div")
def division(g, operator):
    x = g.any()
    g.emit(operator, [x, g.positive(g.beside(x), 0.5)])


@spec("Pow")
def power(g, operator):
    x = g.positive(g.bounded(g.any(), -3, 3), 0.3)
    g.emit(operator, [x, g.constant(np.array(g.one([0.5, 2, 3, -1, 1.7]), NUMPY[x.kind]))])


@spec("Max", "Min", "Sum", "Mean")
def variadic(g, operator):
    x = g.any()
    parts = [x] + [g.beside(x) for _ in range(g.integer(0, 2))]
    g.emit(operator, parts, operator in ("Max", "Min") and all(p.exact for p in parts))


@spec("PRelu")
def prelu(g, operator):
    x = g.ranked(1, 2, 3, 4)
    g.emit(operator, [x, g.weight(tuple(1 if g.chance(0.5) else d for d in x.shape[g.integer(0, x.rank - 1):]), 0.3)])


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
    g.emit(operator, [x, g.beside(x, exact=True)], True)


@spec("And", "Or", "Xor")
def logic(g, operator):
    x = g.any(kind="bool")
    g.emit(operator, [x, g.beside(x)], True)


@spec("Not")
def negation(g, operator):
    g.emit(operator, [g.any(kind="bool")], True)


@spec("Where")
def where(g, operator):
    x = g.any()
    y = g.beside(x)
    condition = g.beside(x, "bool")
    g.emit(operator, [condition, x, y], x.exact and y.exact)


@spec("Clip")
def clip(g, operator):
    x = g.any(kind=g.one(["f32", "f32", "i32", "i64"]))
    ends = [g.constant(np.array(-1, NUMPY[x.kind])), g.constant(np.array(1, NUMPY[x.kind]))]
    g.emit(operator, [x, ends[0] if g.chance(0.7) else None, ends[1] if g.chance(0.7) else None], x.exact)


@spec("Cast")
def cast(g, operator):
    x = g.any(kind=g.one(["f32", "i64", "i32", "bool", "f64"]))
    to = g.one(["f32", "f32", "i64", "i32", "f64", "bool"])
    if x.kind[0] == "f" and to[0] != "f":
        x = g.any(exact=True)
    if x.kind == "f64" and to == "f32":
        g.emit(operator, [x], False, to=PROTO[to])
    else:
        g.emit(operator, [x], x.exact, to=PROTO[to])


@spec("CumSum")
def cumsum(g, operator):
    x = g.ranked(1, 2, 3, 4)
    g.emit(operator, [x, g.constant(np.array(g.integer(-x.rank, x.rank - 1), np.int64))], exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


# Reductions and what normalises.
@spec("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd", "ReduceLogSum")
def reduction(g, operator):
    x = g.ranked(1, 2, 3, 4, 5)
    if operator == "ReduceProd":
        x = g.bounded(x, -1.2, 1.2)
    if operator == "ReduceLogSum" or operator == "ReduceL2":
        x = g.positive(x)
    axes = sorted(g.permutation(x.rank)[:g.integer(0, x.rank)])
    more = {"noop_with_empty_axes": g.integer(0, 1)} if not axes and operator != "ReduceLogSum" else {}
    if g.chance(0.3):
        axes = [a - x.rank for a in axes]
    g.emit(operator, [x, g.ints(axes)] if axes else [x], x.exact and operator in ("ReduceMax", "ReduceMin"), keepdims=g.integer(0, 1), **more)


@spec("ArgMax", "ArgMin")
def arg(g, operator):
    x = g.ranked(1, 2, 3, 4, exact=True)
    g.emit(operator, [x], True, axis=g.integer(-x.rank, x.rank - 1), keepdims=g.integer(0, 1), select_last_index=g.integer(0, 1))


@spec("TopK")
def topk(g, operator):
    x = g.ranked(1, 2, 3, 4, exact=True)
    axis = g.integer(-x.rank, x.rank - 1)
    g.emit(operator, [x, g.ints([g.integer(1, x.shape[axis])])], True, 2, axis=axis, largest=g.integer(0, 1))


@spec("Softmax", "LogSoftmax")
def softmax(g, operator):
    x = g.ranked(1, 2, 3, 4)
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
    g.emit(operator, [x, g.weight(shape, 0.5), g.weight(shape, 0.5) if g.chance(0.6) else None], axis=axis - x.rank if g.chance(0.5) else axis, epsilon=1e-2)


@spec("BatchNormalization")
def batch_norm(g, operator):
    x = g.ranked(2, 3, 4, 5)
    c = x.shape[1]
    g.emit(operator, [x, g.weight((c,), 0.5), g.weight((c,), 0.5), g.weight((c,), 0.5), g.constant((0.5 + g.rng.random(c)).astype(np.float32))])


@spec("InstanceNormalization", "GroupNormalization")
def instance_norm(g, operator):
    x = g.ranked(3, 4, 5, fits=lambda v: np.prod(v.shape[2:]) >= 3)
    c = x.shape[1]
    more = {"num_groups": g.one([n for n in range(1, c + 1) if c % n == 0])} if operator[0] == "G" else {}
    g.emit(operator, [x, g.weight((c,), 0.5), g.weight((c,), 0.5)], epsilon=1e-2, **more)


@spec("LRN")
def lrn(g, operator):
    g.emit(operator, [g.ranked(3, 4)], size=g.one([1, 3, 5]), alpha=0.1, beta=0.75, bias=1.0)


# Products and windows.
@spec("MatMul")
def matmul(g, operator):
    x = g.ranked(1, 2, 3, 4)
    n, k = int(g.one(SIZES)), x.shape[-1]
    if g.chance(0.4):
        y = g.pick(lambda v: v.rank >= 2 and v.shape[-2] == k and v.size and all(a == b or 1 in (a, b) for a, b in zip(v.shape[-3::-1], x.shape[-3::-1])))
    else:
        y = g.weight((k, n), k ** -0.5)
    g.emit(operator, [x, y])


@spec("Gemm")
def gemm(g, operator):
    x = g.ranked(2)
    a, b = g.integer(0, 1), g.integer(0, 1)
    k, m, n = x.shape[1 - a], x.shape[a], int(g.one(SIZES))
    y = g.weight((n, k) if b else (k, n), k ** -0.5)
    bias = g.weight(g.one([(n,), (m, n), (1, n), (m, 1), (1,), ()]), 1.0) if g.chance(0.7) else None
    g.emit(operator, [x, y, bias] if bias else [x, y], transA=a, transB=b, alpha=float(g.one([1, 0.5])), beta=float(g.one([1, 2])))


@spec("Einsum")
def einsum(g, operator):
    equation = g.one(["bij,bjk->bik", "bij,bkj->bki", "bij->bji", "bij,bij->b", "bij->i", "bij,b->bij"])
    x = g.ranked(3)
    left, right = equation.split("->")
    parts = left.split(",")
    if len(parts) == 1:
        return g.emit(operator, [x], equation=equation)
    sizes = dict(zip("bij", x.shape), k=int(g.one(SIZES)))
    g.emit(operator, [x, g.weight(tuple(sizes[c] for c in parts[1]), 0.3)], equation=equation)


def window(g, x):
    """Attributes of a window over x's images, each of whose results holds a pixel at least."""
    spatial = x.shape[2:]
    kernel = [g.integer(1, min(3 if len(spatial) == 3 else 5, d)) for d in spatial]
    strides = [g.integer(1, 3) for _ in spatial]
    more = {"kernel_shape": kernel, "strides": strides}
    if g.chance(0.25):
        more["auto_pad"] = g.one(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif g.chance(0.7):
        more["pads"] = [g.integer(0, (k - 1)) for k in kernel] + [g.integer(0, (k - 1)) for k in kernel]
    return more


def dilations(g, x, more):
    return [g.integer(1, 2) if 2 * (k - 1) < d else 1 for k, d in zip(more["kernel_shape"], x.shape[2:])]


@spec("Conv")
def conv(g, operator):
    x = g.ranked(3, 4, 4, 4, 5)
    c = x.shape[1]
    group = g.one([1, 1, c, g.one([n for n in range(1, c + 1) if c % n == 0])])
    out = group * g.integer(1, max(1, 24 // group))
    more = window(g, x)
    if g.chance(0.3) and more.get("auto_pad") is None:
        more["dilations"] = dilations(g, x, more)
    w = g.weight((out, c // group, *more["kernel_shape"]))
    g.emit(operator, [x, w] + ([g.weight((out,), 0.5)] if g.chance(0.6) else []), group=group, **more)


@spec("ConvTranspose")
def conv_transpose(g, operator):
    x = g.ranked(3, 4, 4, 5)
    c = x.shape[1]
    group = g.one([1, 1, c, g.one([n for n in range(1, c + 1) if c % n == 0])])
    out = g.integer(1, max(1, 16 // group))
    more = window(g, x)
    more.pop("auto_pad", None)
    w = g.weight((c, out, *more["kernel_shape"]))
    g.emit(operator, [x, w] + ([g.weight((out * group,), 0.5)] if g.chance(0.6) else []), group=group, **more)


@spec("MaxPool", "AveragePool", "LpPool")
def pool(g, operator):
    x = g.ranked(3, 4, 4, 5)
    more = window(g, x)
    if operator != "LpPool" and more.get("auto_pad") is None:
        more["ceil_mode"] = g.integer(0, 1)
        if more["ceil_mode"]:  # the onnx package counts windows that start in the padding at the end
            more["strides"] = [min(k, s) for k, s in zip(more["kernel_shape"], more["strides"])]
            more.pop("pads", None)
    if more.get("auto_pad", "").startswith("SAME"):  # frameworks crop where windows leave elements out, or do not
        more["strides"] = [min(k, s) for k, s in zip(more["kernel_shape"], more["strides"])]
    if operator == "AveragePool":
        more["count_include_pad"] = g.integer(0, 1)
    if operator == "MaxPool" and g.chance(0.2):
        more["dilations"] = dilations(g, x, more)
    if operator == "LpPool":
        x = g.positive(x)
    g.emit(operator, [x], x.exact and operator == "MaxPool", **more)


@spec("GlobalAveragePool", "GlobalMaxPool")
def global_pool(g, operator):
    x = g.ranked(3, 4, 5)
    g.emit(operator, [x], x.exact and operator == "GlobalMaxPool")


# What moves elements.
def moved(g, **more):
    return g.any(kind=g.one(["f32"] * 7 + ["i64", "bool", "f64"]), **more)


@spec("Transpose")
def transpose(g, operator):
    x = moved(g)
    g.emit(operator, [x], x.exact, **({"perm": g.permutation(x.rank)} if g.chance(0.9) else {}))


@spec("Reshape")
def reshape(g, operator):
    x = moved(g)
    left, to = x.size, []
    while left > 1 and len(to) < 4:
        factors = [n for n in range(1, left + 1) if left % n == 0]
        to.append(g.one(factors))
        left //= to[-1]
    to.append(left)
    to = [to[i] for i in g.permutation(len(to))]
    if g.chance(0.4) and x.size:
        to[g.integer(0, len(to) - 1)] = -1
    g.emit(operator, [x, g.ints(to)], x.exact)


@spec("Flatten")
def flatten(g, operator):
    x = g.ranked(1, 2, 3, 4, 5)
    g.emit(operator, [x], x.exact, axis=g.integer(0, x.rank))


@spec("Unsqueeze")
def unsqueeze(g, operator):
    x = g.pick(lambda v: v.rank <= 4, make=lambda: g.shape(g.integer(0, 4)))
    g.emit(operator, [x, g.ints([g.integer(-x.rank - 1, x.rank)])], x.exact)


@spec("Squeeze")
def squeeze(g, operator):
    x = g.pick(lambda v: 1 in v.shape)
    ones = [i for i, d in enumerate(x.shape) if d == 1]
    g.emit(operator, [x, g.ints([g.one(ones)])] if g.chance(0.7) else [x], x.exact)


@spec("Slice")
def slice_(g, operator):
    x = g.ranked(1, 2, 3, 4, 5)
    axes = sorted(g.permutation(x.rank)[:g.integer(1, x.rank)])
    starts, ends, steps = [], [], []
    for axis in axes:
        d, step = x.shape[axis], g.one([1, 1, 1, 2, 3, -1, -2])
        a = g.integer(0, d - 1)
        b = g.integer(a + 1, d) if step > 0 else g.integer(0, a)
        starts.append(a if g.chance(0.7) else a - d)
        ends.append((b if step > 0 else b - 1 - (d if b == 0 else 0) - (d if b == 0 else 0)) if g.chance(0.8) else (2**40 if step > 0 else -2**40))
        steps.append(step)
    inputs = [x, g.ints(starts), g.ints(ends), g.ints(axes)]
    y = g.emit(operator, inputs + [g.ints(steps)] if set(steps) != {1} or g.chance(0.5) else inputs, x.exact)
    if y.size == 0 and g.chance(0.9):
        g.values.remove(y)


@spec("Concat")
def concat(g, operator):
    x = g.ranked(1, 2, 3, 4, 5)
    axis = g.integer(0, x.rank - 1)
    parts = [x]
    for _ in range(g.integer(1, 3)):
        try:
            parts.append(g.pick(lambda v: v.rank == x.rank and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)))
        except NoOperand:
            pass
    if g.chance(0.2):
        parts.append(g.weight(tuple(2 if i == axis else d for i, d in enumerate(x.shape)), 1.0))
    parts = [parts[i] for i in g.permutation(len(parts))]
    g.emit(operator, parts, all(p.exact for p in parts), axis=axis - x.rank if g.chance(0.3) else axis)


@spec("Split")
def split(g, operator):
    x = g.ranked(1, 2, 3, 4, 5)
    axis = g.integer(0, x.rank - 1)
    d = x.shape[axis]
    parts = g.integer(1, min(4, d))
    if g.chance(0.5):
        sizes = np.diff([0, *sorted(g.rng.choice(np.arange(1, d), parts - 1, replace=False)), d]) if d > 1 else [1]
        made = g.emit(operator, [x, g.ints([int(s) for s in sizes])], x.exact, len(sizes), axis=axis)
    else:
        made = g.emit(operator, [x], x.exact, parts, axis=axis, num_outputs=parts)


@spec("Pad")
def pad(g, operator):
    x = g.ranked(1, 2, 3, 4)
    mode = g.one(["constant", "constant", "edge", "reflect", "wrap"])
    most = [2 if mode in ("constant", "edge") else min(2, d - 1) for d in x.shape]
    pads = [g.integer(0, m) for m in most] + [g.integer(0, m) for m in most]
    if mode == "constant" and g.chance(0.2):
        pads[g.integer(0, x.rank - 1)] = -1 if min(x.shape) > 3 else 0
    inputs = [x, g.ints(pads)] + ([g.constant(np.array(0.5, np.float32))] if mode == "constant" and g.chance(0.5) else [])
    g.emit(operator, inputs, x.exact, mode=mode)


def indices(g, shape, bound):
    return g.constant(g.rng.integers(-bound, bound, shape).astype(g.one([np.int64, np.int64, np.int32])))


@spec("Gather")
def gather(g, operator):
    x = g.ranked(1, 2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    g.emit(operator, [x, indices(g, g.shape(g.integer(0, 2), 30), x.shape[axis])], x.exact, axis=axis - x.rank if g.chance(0.3) else axis)


@spec("GatherElements")
def gather_elements(g, operator):
    x = g.ranked(1, 2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    shape = [g.integer(1, 6) if i == axis else g.integer(1, d) for i, d in enumerate(x.shape)]
    g.emit(operator, [x, indices(g, shape, x.shape[axis])], x.exact, axis=axis)


@spec("GatherND")
def gather_nd(g, operator):
    x = g.ranked(1, 2, 3, 4)
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
    g.emit(operator, [x, g.constant(index.astype(np.int64)), g.weight(shape, 1.0)], False, axis=axis, reduction=g.one(["none", "add", "mul", "max", "min"]))


@spec("ScatterND")
def scatter_nd(g, operator):
    x = g.ranked(1, 2, 3)
    count = g.integer(1, x.shape[0])
    rows = g.rng.permutation(x.shape[0])[:count].reshape(count, 1)
    g.emit(operator, [x, g.constant(rows.astype(np.int64)), g.weight((count, *x.shape[1:]), 1.0)], False, reduction=g.one(["none", "add", "mul", "max"]))


@spec("Expand")
def expand(g, operator):
    x = g.pick(lambda v: v.size <= 200, make=lambda: g.shape(largest=100))
    shape = [g.integer(1, 4) if d == 1 else d for d in x.shape]
    g.emit(operator, [x, g.ints([g.integer(1, 3)] * g.integer(0, max(0, 4 - x.rank)) + shape)], x.exact)


@spec("Tile")
def tile(g, operator):
    x = g.pick(lambda v: 0 < v.rank <= 4 and v.size <= 400, make=lambda: g.shape(g.integer(1, 4), 300))
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
    g.emit(operator, [x] + ([g.constant(np.array(g.integer(-3, 3), np.int64))] if g.chance(0.6) else []), x.exact, upper=g.integer(0, 1))


@spec("ReverseSequence")
def reverse(g, operator):
    x = g.ranked(2, 3, 4)
    g.emit(operator, [x, g.constant(g.rng.integers(1, x.shape[0] + 1, x.shape[1]).astype(np.int64))], x.exact, time_axis=0, batch_axis=1)


@spec("Resize")
def resize(g, operator):
    x = g.ranked(3, 4)
    mode = g.one(["nearest", "linear", "cubic"]) if x.rank == 4 else g.one(["nearest", "linear"])
    sizes = [*x.shape[:2], *(g.integer(max(1, d // 2), 2 * d) for d in x.shape[2:])]
    more = {"coordinate_transformation_mode": g.one(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}
    if mode == "nearest":
        # Where a coordinate falls on a border, rounding decides: whole factors keep away from it.
        factor = g.integer(1, 3)
        sizes = [*x.shape[:2], *(d * factor for d in x.shape[2:])]
        more = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if mode == "cubic":
        more["cubic_coeff_a"] = float(g.one([-0.75, -0.5]))
    g.emit(operator, [x, None, None, g.ints(sizes)], x.exact and mode == "nearest", mode=mode, **more)


@spec("OneHot")
def one_hot(g, operator):
    n = g.integer(2, 8)
    x = g.any(kind="i64")
    g.emit(operator, [x, g.constant(np.array(n, np.int64)), g.constant(np.array([0.5, 2], np.float32))], True, axis=g.integer(-x.rank - 1, x.rank))


@spec("Dropout")
def dropout(g, operator):
    x = g.any()
    g.emit(operator, [x], x.exact)


@spec("LSTM", "GRU", "RNN")
def recurrent(g, operator):
    x = g.ranked(3, fits=lambda v: v.shape[0] <= 9)
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    hidden, direction = int(g.one([1, 3, 5, 8, 16])), g.one(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    inputs = [x, g.weight((d, gates * hidden, x.shape[2]), 0.3), g.weight((d, gates * hidden, hidden), 0.3)]
    if g.chance(0.6):
        inputs.append(g.weight((d, 2 * gates * hidden), 0.3))
    more = {"linear_before_reset": g.integer(0, 1)} if operator == "GRU" else {}
    g.emit(operator, inputs, False, 3 if operator == "LSTM" else 2, hidden_size=hidden, direction=direction, **more)


# At a border of these a small error becomes a large one, though exact operands keep away from it in f32.
STEPS = {"Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "ArgMax", "ArgMin", "TopK", "Mod", "Cast"}

# What is common in networks is common here.
WEIGHTS = {"Conv": 5, "MatMul": 4, "Add": 4, "Mul": 3, "Transpose": 3, "Reshape": 3, "Concat": 2, "Slice": 2, "MaxPool": 2, "AveragePool": 2, "Softmax": 2, "BatchNormalization": 2,
           "LayerNormalization": 2, "Gemm": 2, "ConvTranspose": 2, "Relu": 2, "ReduceMean": 2, "Resize": 2}


def generate(seed, most=20):
    """The Graph of a seed. The onnx package says no to what a specification got wrong: nothing is added then."""
    g = Graph(seed)
    names = sorted(SPECS)
    weights = np.array([WEIGHTS.get(name, 1) for name in names], float)
    count = g.integer(1, most)
    for _ in range(3 * count):
        if len(g.nodes) >= count:
            break
        name = names[g.rng.choice(len(names), p=weights / weights.sum())]
        before = len(g.nodes), len(g.values)
        try:
            SPECS[name](g, name)
        except (NoOperand, onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError):
            del g.nodes[before[0]:]
            # New inputs may stay: others may take them.
            g.values = [v for v in g.values if not v.name.startswith("v") or int(v.name[1:].split("_")[0]) < before[0]]
    return g


def outputs_of(g):
    """What nothing reads, and now and then something that is read too."""
    read = {name for node in g.nodes for name in node.input}
    made = [v for v in g.values if v.name.startswith("v")]
    ends = [v for v in made if v.name not in read]
    return ends + [v for v in made if v.name in read and g.chance(0.08)]


def example(g, seed):
    """Inputs by name."""
    rng = np.random.default_rng([seed, 1])
    made = {}
    for v in g.inputs:
        if v.kind[0] == "f":
            made[v.name] = rng.standard_normal(v.shape).astype(NUMPY[v.kind])
        else:
            made[v.name] = (rng.random(v.shape) < 0.5) if v.kind == "bool" else rng.integers(-4, 7, v.shape).astype(NUMPY[v.kind])
    return made
