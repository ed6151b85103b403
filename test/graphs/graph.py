"""A random graph under construction: its values, its nodes, and how operands are drawn.

A specification (in operators/, in SPECS under the names of its operators) draws operands among the existing values or adds new ones, and draws attributes that
the standard permits; the onnx package infers the result's shape. If an operator amplifies small errors for some operands (a logarithm near 0, a step function
at a rounded operand), the specification adds an operation that keeps the operand away from them: step functions (Floor, ArgMax, comparisons) take exact
values only, which are computed from inputs without rounding.
"""

import contextlib

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

LARGEST = 3000
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 33]
NUMPY = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
    "bool": np.bool_,
}
PROTO = {
    "f32": T.FLOAT,
    "f64": T.DOUBLE,
    "f16": T.FLOAT16,
    "i64": T.INT64,
    "i32": T.INT32,
    "i8": T.INT8,
    "u8": T.UINT8,
    "bool": T.BOOL,
}
NAMES = {number: name for name, number in PROTO.items()}
# Constants of these types are read by DequantizeLinear only.
PACKED = {"i4": ml_dtypes.int4, "u4": ml_dtypes.uint4}
# Opsets by domain; that of "" is drawn. ONNX Runtime has none beyond 26.
DOMAINS = {"ai.onnx.ml": 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1}
OPSETS = [21, 21, 21, 22, 23, 23, 24, 24, 25, 26, 26, 28]
# What ONNX Runtime lacks, or has up to some opset, stands only in graphs that it does not run.
LAST = {
    "Adagrad": 0,
    "Adam": 0,
    "Momentum": 0,
    "FlexAttention": 0,
    "RoiAlign": 21,
    "GlobalLpPool": 21,
    "Swish": 0,
}
SPECS = {}
# What is common in networks is common here.
WEIGHTS = {
    "Conv": 5,
    "MatMul": 4,
    "Add": 4,
    "Mul": 3,
    "Transpose": 3,
    "Reshape": 3,
    "Attention": 3,
    "If": 3,
    "Loop": 3,
    "QuantizeLinear": 3,
    "DequantizeLinear": 3,
    "Concat": 2,
    "Slice": 2,
    "MaxPool": 2,
    "AveragePool": 2,
    "Softmax": 2,
    "BatchNormalization": 2,
    "LayerNormalization": 2,
    "Gemm": 2,
    "ConvTranspose": 2,
    "Relu": 2,
    "ReduceMean": 2,
    "Resize": 2,
    "Scan": 2,
    "RMSNormalization": 2,
    "RotaryEmbedding": 2,
    "QLinearConv": 2,
    "QLinearMatMul": 2,
}
# In graphs of the style quantized.
QUANTISED = {
    "QuantizeLinear": 20,
    "DequantizeLinear": 40,
    "DynamicQuantizeLinear": 20,
    "MatMulInteger": 20,
    "QLinearMatMul": 20,
    "ConvInteger": 20,
    "QLinearConv": 20,
    "MatMul": 10,
    "Conv": 10,
    "ConvTranspose": 5,
    "Add": 5,
    "Relu": 5,
    "Concat": 3,
    "Transpose": 3,
    "Reshape": 3,
}


class NoOperand(Exception):
    """A specification found nothing to work on."""


class Value:
    def __init__(self, name, shape, kind, exact):
        self.name, self.shape, self.kind, self.exact = (
            name,
            tuple(int(d) if d is not None else None for d in shape),
            kind,
            exact,
        )

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape))

    @property
    def info(self):
        return helper.make_tensor_value_info(self.name, PROTO[self.kind], self.shape)


def spec(*operators):
    def keep(function):
        for operator in operators:
            SPECS[operator] = function
        return function

    return keep


class Graph:
    def __init__(self, seed, weights=None):
        """`weights`: of operators that are more frequent than others."""
        self.rng = np.random.default_rng(seed)
        self.weights = WEIGHTS if weights is None else weights
        self.values, self.inputs, self.constants, self.nodes, self.numbers, self.depth = (
            [],
            [],
            {},
            [],
            0,
            0,
        )
        self.ends = []  # outputs of which only the run knows the shape; None stands for what it finds
        self.opsets = {"": self.one(OPSETS), **DOMAINS}
        self.names = sorted(
            name
            for name in SPECS
            if any(onnx.defs.has(name, version, domain) for domain, version in self.opsets.items())
            and not LAST.get(name, 99) < self.opsets[""] <= 26
        )

    # Drawing.
    def chance(self, p):
        return self.rng.random() < p

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def divisor(self, n):
        return self.one([d for d in range(1, n + 1) if n % d == 0])

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
        return Value(
            name, array.shape, {v: k for k, v in (NUMPY | PACKED).items()}[array.dtype.type], True
        )

    def weight(self, shape, scale=None):
        fan = max(1, int(np.prod(shape[1:])))
        return self.constant(
            (self.rng.standard_normal(shape) * (scale or fan**-0.5)).astype(np.float32)
        )

    def ints(self, values):
        return self.constant(np.array(values, np.int64).reshape(len(values)))

    def int(self, value):
        return self.constant(np.array(value, np.int64))

    def random(self, shape, kind):
        return self.constant(random(self.rng, shape, kind))

    def pick(self, fits=lambda v: True, kind="f32", make=None, exact=False):
        """A value that fits, a late one more likely; or a new input of the shape that `make` gives."""
        fitting = [v for v in self.values if v.kind == kind and (v.exact or not exact) and fits(v)]
        if fitting and not (make and self.chance(0.1)):
            at = (
                min(int(self.rng.geometric(0.35)) - 1, len(fitting) - 1)
                if self.chance(0.7)
                else self.integer(0, len(fitting) - 1)
            )
            return fitting[-1 - at]
        if make is None or len(self.inputs) >= 6:
            raise NoOperand
        for _ in range(50):
            value = Value("", make(), kind, True)
            if fits(value):
                return self.input(value.shape, kind)
        raise NoOperand

    def ranked(self, *ranks, fits=lambda v: True, **more):
        return self.pick(
            lambda v: v.rank in ranks and v.size > 0 and fits(v),
            make=lambda: self.shape(self.one(ranks)),
            **more,
        )

    def any(self, **more):
        return self.pick(make=lambda: self.shape(), **more)

    def shaped(self, shape, kind="f32", exact=False):
        """A value of this shape: one that is there, an input, or a constant."""
        if np.prod(shape) > LARGEST:
            raise NoOperand
        fitting = [
            v
            for v in self.values
            if v.kind == kind and v.shape == tuple(shape) and (v.exact or not exact)
        ]
        if fitting and self.chance(0.7):
            return self.one(fitting)
        return (
            self.input(shape, kind)
            if len(self.inputs) < 6 and self.chance(0.6)
            else self.random(shape, kind)
        )

    def drawn(self, *ranks, fits=lambda v: True):
        """An input, new or there: numbers that are not all the same, nor all 0."""
        names = ["", *(v.name for v in self.inputs)]
        return self.ranked(*ranks, fits=lambda v: v.name in names and v.size > 1 and fits(v))

    def drawn_as(self, shape):
        """An input of this shape whose numbers are all different."""
        if len(self.inputs) >= 6:
            raise NoOperand
        return self.input(shape)

    def broadcastable(self, x, kind=None, exact=False):
        """A value that broadcasts with x: one that is there, an input, or a constant."""

        def broadcasts(v):
            return (
                v.rank <= 5
                and all(a == b or 1 in (a, b) for a, b in zip(v.shape[::-1], x.shape[::-1]))
                and np.prod(np.broadcast_shapes(v.shape, x.shape)) <= LARGEST
            )

        kind = kind or x.kind
        if self.chance(0.6):
            try:
                return self.pick(broadcasts, kind, exact=exact)
            except NoOperand:
                pass
        shape = tuple(1 if self.chance(0.3) else d for d in x.shape[self.integer(0, x.rank) :])
        return (
            self.input(shape, kind)
            if self.chance(0.5) and len(self.inputs) < 6
            else self.random(shape, kind)
        )

    # Nodes.
    def inferred(self, node, inputs):
        """The results' (kind, shape) as the onnx package infers them."""
        types = {
            v.name: helper.make_tensor_type_proto(
                (PROTO | {"i4": T.INT4, "u4": T.UINT4})[v.kind], v.shape
            )
            for v in inputs
            if v is not None
        }
        data = {
            v.name: numpy_helper.from_array(self.constants[v.name], v.name)
            for v in inputs
            if v is not None and v.name in self.constants
        }
        schema = onnx.defs.get_schema(node.op_type, self.opsets[node.domain], node.domain)
        found = onnx.shape_inference.infer_node_outputs(
            schema,
            node,
            types,
            data,
            opset_imports=[helper.make_opsetid(*o) for o in self.opsets.items()],
        )
        for output in node.output:
            about = found[output].tensor_type
            if not about.HasField("shape") or about.elem_type not in NAMES:
                raise NoOperand
            yield (
                NAMES[about.elem_type],
                [d.dim_value if d.HasField("dim_value") else None for d in about.shape.dim],
            )

    def emit(
        self,
        operator,
        inputs,
        exact=False,
        results=1,
        domain="",
        types=None,
        largest=LARGEST,
        **attributes,
    ):
        """Adds a node. Its results' types are (kind, shape) each; they are inferred where they are not given, and what is no tensor has a kind that is not in
        NUMPY. Raises NoOperand where the standard does not allow it, or the result is too large."""
        number = self.numbers
        self.numbers += 1
        outputs = [f"v{number}_{i}" for i in range(results)]
        node = helper.make_node(
            operator,
            ["" if v is None else v.name for v in inputs],
            outputs,
            name=f"n{number}",
            domain=domain,
            **attributes,
        )
        made = []
        for output, (kind, shape) in zip(outputs, types or self.inferred(node, inputs)):
            if None in shape or np.prod(shape) > largest:
                raise NoOperand
            made.append(Value(output, shape, kind, exact))
        self.nodes.append(node)
        self.values += [v for v in made if v.kind in NUMPY]
        return made[0] if results == 1 else made

    def end(self, made, kind, shape, exact=False):
        """What a node made becomes an output, whose shape has None where the run finds a size."""
        if self.depth:
            raise NoOperand
        self.ends.append(Value(made.name, shape, kind, exact))

    @contextlib.contextmanager
    def body(self, arguments=()):
        """What is made in here goes into a graph of its own (the list that this gives), which sees what is outside too; `arguments` are its inputs."""
        nodes, values, self.nodes = self.nodes, self.values, []
        self.values = [*values, *arguments]
        self.depth += 1
        try:
            yield self.nodes
        finally:
            seen = {v.name for v in values}
            self.values = values + [
                v for v in self.values if v.name.startswith("x") and v.name not in seen
            ]
            self.nodes = nodes
            self.depth -= 1

    def own(self, value):
        """The value as a result of the body that is being made: one that its nodes make."""
        inside = any(value.name in node.output for node in self.nodes)
        return (
            value
            if inside
            else self.emit("Identity", [value], value.exact, types=[(value.kind, value.shape)])
        )

    def grow(self, count):
        """Adds so many nodes or fewer. The onnx package says no to what a specification got wrong: nothing is added then."""
        weights = np.array([self.weights.get(name, 1) for name in self.names], float)
        for _ in range(3 * count):
            if len(self.nodes) >= count:
                break
            name = self.names[self.rng.choice(len(self.names), p=weights / weights.sum())]
            nodes, numbers = len(self.nodes), self.numbers
            try:
                SPECS[name](self, name)
            except (
                NoOperand,
                onnx.shape_inference.InferenceError,
                onnx.checker.ValidationError,
                ValueError,
            ):
                del self.nodes[nodes:]

                # New inputs may stay: others may take them.
                def stays(v):
                    return not v.name.startswith("v") or int(v.name[1:].split("_")[0]) < numbers

                self.values, self.ends = (
                    list(filter(stays, self.values)),
                    list(filter(stays, self.ends)),
                )

    # What keeps numbers where errors stay small.
    def bounded(self, x, low, high):
        return self.emit(
            "Clip",
            [
                x,
                self.constant(np.array(low, NUMPY[x.kind])),
                self.constant(np.array(high, NUMPY[x.kind])),
            ],
            x.exact,
        )

    def positive(self, x, least=0.2):
        return self.emit(
            "Add", [self.emit("Abs", [x], x.exact), self.constant(np.array(least, NUMPY[x.kind]))]
        )

    def model(self, outputs):
        used = {
            "": self.opsets[""],
            **{node.domain: self.opsets[node.domain] for node in everything(self.nodes)},
        }
        ends = {v.name for v in outputs}
        graph = helper.make_graph(
            self.nodes,
            "random",
            [v.info for v in self.inputs],
            [v.info for v in outputs],
            [numpy_helper.from_array(a, n) for n, a in self.constants.items()],
            value_info=[
                v.info for v in self.values if v.name.startswith("v") and v.name not in ends
            ],
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*each) for each in used.items()],
            ir_version=10,
        )


def random(rng, shape, kind):
    """Numbers of a kind as inputs and constants have them."""
    if kind[0] == "f":
        return np.asarray(rng.standard_normal(shape)).astype(NUMPY[kind])
    if kind == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    low, high = {"u8": (0, 256), "i8": (-128, 128)}.get(kind, (-5, 6))
    return np.asarray(rng.integers(low, high, shape)).astype(NUMPY[kind])


def bodies(node):
    return [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]


def everything(nodes):
    """The nodes and those of their bodies."""
    for node in nodes:
        yield node
        for body in bodies(node):
            yield from everything(body.node)


def reads(node):
    """The names that a node reads, and its bodies from outside."""
    names = set(node.input)
    for body in bodies(node):
        inside = {v.name for v in body.input} | {name for each in body.node for name in each.output}
        names |= {name for each in body.node for name in reads(each)} - inside
    return names
