"""Random chains of exact operations, whose results NumPy computes to the last bit.

There are two styles of graphs. `sixteen`: in f16 or bf16, with searches, comparisons and conversions at the end, whose results depend on each rounding.
`extreme`: in f32 or f16, with constants of extreme magnitude. The graph's file checks.json specifies how each output is compared at the default accuracy, where
kernels may keep values in f32. At strict accuracy the results must equal the reference evaluator's bit by bit.
"""

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

TYPES = {"f16": T.FLOAT16, "bf16": T.BFLOAT16, "f32": T.FLOAT}
# Ends of the range in which skipped roundings change no class: a few times the smallest number of f16, and a few steps below its largest number; without
# denormal numbers for f32.
ENDS = {"f16": {"least": 2.0**-22, "most": 65504 * (1 - 2.0**-8)}, "f32": {"least": 2.0**-126}}
LAST_BIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
LARGEST = {"sixteen": 1e3, "extreme": np.inf}
EXTREMES = {
    "f32": [
        1e30,
        1e-30,
        1e38,
        -1e38,
        1e-38,
        1e20,
        1e-20,
        12582912,
        -12582912,
        3e38,
        10,
        0.1,
        1024,
        1 / 3,
    ],
    "f16": [65504, -65504, 6e-8, 1e-4, 1e4, 1536, -1536, 255, 1 / 3, 10, 0.1],
}


def rounded(array, kind):
    """The nearest numbers of the type, ties to even, as f32."""
    array = np.asarray(array, np.float32)
    if kind == "f32":
        return array
    if kind == "f16":
        return array.astype(np.float16).astype(np.float32)
    bits = array.view(np.uint32).astype(np.uint64)
    return np.where(
        np.isnan(array),
        array,
        ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32),
    )


class Value:
    """A tensor: each operation rounded, and only the inputs (`wide`); made by `operator`."""

    def __init__(self, name, array, wide, operator=""):
        self.name, self.array, self.wide, self.operator = name, array, wide, operator


class Chain:
    def __init__(self, seed, style):
        self.rng = np.random.default_rng([seed, 16 if style == "sixteen" else 32])
        self.style = style
        self.kind = self.one(["f16", "bf16"] if style == "sixteen" else ["f32", "f32", "f16"])
        (
            self.nodes,
            self.inputs,
            self.constants,
            self.outputs,
            self.arrays,
            self.checks,
            self.files,
        ) = [], [], {}, [], {}, [], {}
        self.values = []

    # Drawing.
    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def chance(self, p):
        return self.rng.random() < p

    def pick(self):
        """A late value more likely, so that chains are long."""
        return self.values[-1 - min(int(self.rng.geometric(0.6)) - 1, len(self.values) - 1)]

    # Values.
    def node(self, operator, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(operator, inputs, [name], name=f"n{len(self.nodes)}", **attributes)
        )
        return name

    def input(self, shape):
        array = rounded(self.rng.standard_normal(shape) * self.one([1, 4, 16]), self.kind)
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, T.FLOAT, shape))
        self.arrays[name] = array
        self.values.append(
            Value(
                name if self.kind == "f32" else self.node("Cast", [name], to=TYPES[self.kind]),
                array,
                array,
            )
        )

    def constant(self, number):
        array = rounded(number, self.kind)
        name = f"c{len(self.constants)}"
        self.constants[name] = helper.make_tensor(
            name, TYPES[self.kind], array.shape, [float(each) for each in array.ravel()]
        )
        return Value(name, array, array)

    def integers(self, numbers):
        name = f"c{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.array(numbers, np.int64), name)
        return name

    def add(self, operator, function, operands, **attributes):
        """A node and its results by NumPy; nothing where they become too large to tell anything."""
        with np.errstate(all="ignore"):
            array = rounded(function(*(v.array for v in operands)), self.kind)
            wide = np.asarray(function(*(v.wide for v in operands)), np.float32)
        if (
            not (np.isfinite(array).all() or self.style == "extreme")
            or np.abs(array).max() > LARGEST[self.style]
            or array.size > 4000
        ):
            return None
        value = Value(
            self.node(operator, [v.name for v in operands], **attributes), array, wide, operator
        )
        self.values.append(value)
        return value

    # Operations.
    def step(self):
        if self.style == "extreme":
            return self.by_constant(
                self.one(["Mul", "Mul", "Add", "Sub", "Div"]), self.one(EXTREMES[self.kind])
            )
        return self.one(
            [self.unary, self.unary, self.binary, self.binary, self.scalar, self.move, self.reduce]
        )()

    def by_constant(self, operator, number):
        function = {
            "Add": np.add,
            "Sub": np.subtract,
            "Mul": np.multiply,
            "Div": np.divide,
            "Max": np.maximum,
            "Min": np.minimum,
        }[operator]
        x, c = self.pick(), self.constant(number)
        if self.kind == "f32" and x.operator == "Mul" and operator in ("Add", "Sub"):
            return None  # kernels may compute both in one rounding (FMA)
        return self.add(
            operator,
            function,
            [c, x] if self.chance(0.25) and operator in ("Add", "Mul") else [x, c],
        )

    def scalar(self):
        return self.by_constant(
            self.one(["Add", "Sub", "Mul", "Div", "Max", "Min"]),
            self.one([0.3, 0.7, 1.1, 3.0, -0.1, 0.017]),
        )

    def unary(self):
        operator = self.one(["Neg", "Abs", "Relu", "Sqrt"])
        x = self.pick()
        if operator == "Sqrt":
            x = self.add("Abs", np.abs, [x]) or x
            if (x.array < 0).any():
                return None
        return self.add(
            operator,
            {
                "Neg": np.negative,
                "Abs": np.abs,
                "Relu": lambda a: np.maximum(a, 0),
                "Sqrt": np.sqrt,
            }[operator],
            [x],
        )

    def binary(self):
        x = self.pick()
        y = self.one(
            [
                v
                for v in self.values
                if v.array.shape == x.array.shape
                or 1 in v.array.shape
                and v.array.ndim == x.array.ndim
                and all(a in (1, b) for a, b in zip(v.array.shape, x.array.shape))
            ]
        )
        operator, function = self.one(
            [
                ("Add", np.add),
                ("Sub", np.subtract),
                ("Mul", np.multiply),
                ("Max", np.maximum),
                ("Min", np.minimum),
            ]
        )
        return self.add(operator, function, [x, y] if self.chance(0.5) else [y, x])

    def move(self):
        x = self.pick()
        if self.chance(0.5):
            order = [int(i) for i in self.rng.permutation(x.array.ndim)]
            return self.add("Transpose", lambda a: a.transpose(order), [x], perm=order)
        shape = [x.array.shape[-1], *x.array.shape[:-1]]
        value = Value("", x.array.reshape(shape), x.wide.reshape(shape))
        value.name = self.node("Reshape", [x.name, self.integers(shape)])
        self.values.append(value)
        return value

    def reduce(self):
        x = self.pick()
        operator, function = self.one([("ReduceMax", np.max), ("ReduceMin", np.min)])
        axis = int(self.rng.integers(x.array.ndim))
        value = Value(
            "",
            function(x.array, axis=axis, keepdims=True),
            function(x.wide, axis=axis, keepdims=True),
        )
        value.name = self.node(operator, [x.name, self.integers([axis])], keepdims=1)
        self.values.append(value)
        return value

    # Outputs.
    def end(self, name, kind, check):
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))
        self.checks.append(check)

    def tolerance(self, x):
        """How far the value may be off where any of the roundings are skipped."""
        with np.errstate(all="ignore"):
            return float(
                4 * np.abs(x.array - x.wide).max() + 8 * LAST_BIT[self.kind] * np.abs(x.array).max()
            )

    def single(self, name, check):
        self.end(
            name if self.kind == "f32" else self.node("Cast", [name], to=T.FLOAT), T.FLOAT, check
        )

    def stored(self, x):
        self.single(
            x.name,
            {"is": "near", "tolerance": self.tolerance(x)}
            if self.style == "sixteen"
            else {"is": "class", "both_ways": self.kind == "f32", **ENDS[self.kind]},
        )

    def search(self, x):
        axis = int(self.rng.integers(x.array.ndim))
        best = self.one([np.max, np.min])
        last = np.moveaxis(x.array, axis, -1)
        bound = self.tolerance(x) or 1
        if self.chance(0.6):
            distances = np.abs(best(last, axis=-1, keepdims=True) - last)[..., None, :]
            name = self.node(
                "ArgMax" if best is np.max else "ArgMin", [x.name], axis=axis, keepdims=0
            )
        else:
            # The k-th result, for each k, along the axis of the results.
            count = int(self.rng.integers(1, min(4, last.shape[-1]) + 1))
            ordered = np.sort(last, axis=-1)[..., :: -1 if best is np.max else 1][..., :count]
            distances = np.moveaxis(np.abs(ordered[..., None] - last[..., None, :]), -2, axis)
            values = f"v{len(self.nodes)}_values"
            name = f"v{len(self.nodes)}"
            self.nodes.append(
                helper.make_node(
                    "TopK",
                    [x.name, self.integers([count])],
                    [values, name],
                    name=f"n{len(self.nodes)}",
                    axis=axis,
                    largest=int(best is np.max),
                )
            )
        file = f"distances_{len(self.outputs)}.npy"
        self.files[file] = (distances / bound).astype(np.float32)
        self.end(name, T.INT64, {"is": "index", "distances": file})

    def observe(self):
        x = self.pick()
        kind = self.one(
            [
                "search",
                "search",
                "search",
                "compare",
                "compare",
                "hardmax",
                "whole",
                "integer",
                "sign",
                "mod",
                "where",
            ]
        )
        if kind == "search":
            return self.search(x)
        other = (
            self.one([v for v in self.values if v.array.shape == x.array.shape])
            if self.chance(0.5)
            else self.constant(x.array.ravel()[0])
        )
        if kind == "compare":
            # With its largest element, or with another value.
            if self.chance(0.4):
                axis = self.integers([x.array.ndim - 1])
                other = Value(self.node("ReduceMax", [x.name, axis], keepdims=1), None, None)
            return self.end(
                self.node(self.one(["Equal", "Greater", "LessOrEqual"]), [x.name, other.name]),
                T.BOOL,
                {"is": "any"},
            )
        if kind == "where":
            return self.single(
                self.node("Where", [self.node("Less", [x.name, other.name]), x.name, other.name]),
                {"is": "any"},
            )
        if kind == "hardmax":
            return self.single(self.node("Hardmax", [x.name], axis=x.array.ndim - 1), {"is": "any"})
        if kind == "integer":
            whole = self.one([T.INT32, T.INT64])
            return self.end(
                self.node("Cast", [x.name], to=whole),
                whole,
                {"is": "near", "tolerance": 1 + self.tolerance(x)},
            )
        if kind == "whole":
            return self.single(
                self.node(self.one(["Floor", "Ceil", "Round"]), [x.name]),
                {"is": "near", "tolerance": 1 + 2 * self.tolerance(x)},
            )
        if kind == "sign":
            return self.single(self.node("Sign", [x.name]), {"is": "any"})
        return self.single(
            self.node("Mod", [x.name, self.constant(0.75).name], fmod=1), {"is": "any"}
        )

    def grow(self):
        shape = tuple(
            int(self.one([1, 2, 3, 5, 8, 17, 33])) for _ in range(int(self.one([2, 2, 3])))
        )
        for _ in range(int(self.one([1, 2]))):
            self.input(shape)
        for _ in range(int(self.rng.integers(1, 9))):
            self.step()
        if self.style == "sixteen":
            for _ in range(int(self.rng.integers(1, 4))):
                self.observe()
        if self.style == "extreme" or self.chance(0.4):
            self.stored(self.values[-1])

    def model(self):
        graph = helper.make_graph(
            self.nodes, "chain", self.inputs, self.outputs, list(self.constants.values())
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def generate(seed, style):
    """The Chain of a seed, in the style `sixteen` or `extreme`."""
    chain = Chain(seed, style)
    chain.grow()
    return chain
