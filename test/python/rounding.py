"""Models in f16 and bf16 whose results show whether a value was rounded to 16 bits before it was read."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import dlc

TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
F32, I64, I32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
SHAPES = {
    "many": (5, 37),
    "few": (1, 3),
    "product": (40, 37),
}  # product: multiplied by 0.3 times the identity matrix


def rounded(array, kind):
    """The nearest numbers of the type, ties to even, as f32."""
    array = np.asarray(array, np.float32)
    if kind == "f16":
        with np.errstate(over="ignore"):
            return array.astype(np.float16).astype(np.float32)
    bits = array.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def top(q, largest):
    order = np.argsort(-q if largest else q, axis=1, kind="stable")[:, :2]
    return np.take_along_axis(q, order, 1), order


def hardmax(q, c):
    return (np.arange(q.shape[1]) == np.argmax(q, axis=1)[:, None]).astype(np.float32)


def largest(q):
    return q.max(axis=1, keepdims=True)


AXIS = {"axis": 1, "keepdims": 0}
# Name: nodes that read q and give y0, y1 ..; the results' types (None: that of the model); the same of q as NumPy computes it.
MEMBERS = {
    "ArgMax": ([("ArgMax", ["q"], ["y0"], AXIS)], [I64], lambda q, c: np.argmax(q, axis=1)),
    "ArgMin": ([("ArgMin", ["q"], ["y0"], AXIS)], [I64], lambda q, c: np.argmin(q, axis=1)),
    "ArgMax of Relu": (
        [("Relu", ["q"], ["r"], {}), ("ArgMax", ["r"], ["y0"], AXIS)],
        [I64],
        lambda q, c: np.argmax(np.maximum(q, 0), axis=1),
    ),
    "ArgMax of Reshape": (
        [
            ("Reshape", ["q", "flat"], ["r"], {}),
            ("ArgMax", ["r"], ["y0"], {"axis": 0, "keepdims": 1}),
        ],
        [I64],
        lambda q, c: np.array([np.argmax(q)]),
    ),
    "TopK": ([("TopK", ["q", "two"], ["y0", "y1"], {})], [None, I64], lambda q, c: top(q, True)),
    "TopK smallest": (
        [("TopK", ["q", "two"], ["y0", "y1"], {"largest": 0})],
        [None, I64],
        lambda q, c: top(q, False),
    ),
    "Hardmax": ([("Hardmax", ["q"], ["y0"], {"axis": 1})], [None], hardmax),
    "Equal to ReduceMax": (
        [("ReduceMax", ["q", "one"], ["m"], {}), ("Equal", ["q", "m"], ["y0"], {})],
        [BOOL],
        lambda q, c: q == largest(q),
    ),
    "Equal to ReduceMin": (
        [("ReduceMin", ["q", "one"], ["m"], {}), ("Equal", ["q", "m"], ["y0"], {})],
        [BOOL],
        lambda q, c: q == q.min(axis=1, keepdims=True),
    ),
    "less ReduceMax": (
        [("ReduceMax", ["q", "one"], ["m"], {}), ("Sub", ["q", "m"], ["y0"], {})],
        [None],
        lambda q, c: q - largest(q),
    ),
    "less Relu": (
        [("Relu", ["q"], ["m"], {}), ("Sub", ["q", "m"], ["y0"], {})],
        [None],
        lambda q, c: q - np.maximum(q, 0),
    ),
    "less Floor": (
        [("Floor", ["q"], ["m"], {}), ("Sub", ["q", "m"], ["y0"], {})],
        [None],
        lambda q, c: q - np.floor(q),
    ),
    "less Floor of Relu": (
        [("Relu", ["q"], ["r"], {}), ("Floor", ["r"], ["m"], {}), ("Sub", ["q", "m"], ["y0"], {})],
        [None],
        lambda q, c: q - np.floor(np.maximum(q, 0)),
    ),
    "Floor": ([("Floor", ["q"], ["y0"], {})], [None], lambda q, c: np.floor(q)),
    "Ceil": ([("Ceil", ["q"], ["y0"], {})], [None], lambda q, c: np.ceil(q)),
    "Round": ([("Round", ["q"], ["y0"], {})], [None], lambda q, c: np.rint(q)),
    "Sign": ([("Sign", ["q"], ["y0"], {})], [None], lambda q, c: np.sign(q)),
    "Mod": ([("Mod", ["q", "c"], ["y0"], {"fmod": 1})], [None], lambda q, c: np.fmod(q, c)),
    "Cast to i32": ([("Cast", ["q"], ["y0"], {"to": I32})], [I32], lambda q, c: q.astype(np.int32)),
    "Cast to i64": ([("Cast", ["q"], ["y0"], {"to": I64})], [I64], lambda q, c: q.astype(np.int64)),
    "Cast to bool": ([("Cast", ["q"], ["y0"], {"to": BOOL})], [BOOL], lambda q, c: q != 0),
    "Greater": ([("Greater", ["q", "c"], ["y0"], {})], [BOOL], lambda q, c: q > c),
    "LessOrEqual": ([("LessOrEqual", ["q", "c"], ["y0"], {})], [BOOL], lambda q, c: q <= c),
    "Where Greater": (
        [("Greater", ["q", "c"], ["g"], {}), ("Where", ["g", "q", "c"], ["y0"], {})],
        [None],
        lambda q, c: np.where(q > c, q, c),
    ),
    "ArgMax and q": (
        [("ArgMax", ["q"], ["y0"], AXIS), ("Identity", ["q"], ["y1"], {})],
        [I64, None],
        lambda q, c: (np.argmax(q, axis=1), q),
    ),
}


def operands(kind, size="many"):
    """x, and c, which is 0.3 times an element of it."""
    rows, columns = SHAPES["product" if size == "product" else "many"]
    x = rounded(np.random.default_rng(3).standard_normal((rows, columns)) * 8, kind)
    # Many near the largest: they become the same number in 16 bits.
    x[:, 5:20] = rounded(
        np.nextafter(x.max(axis=1, keepdims=True), np.float32(100))
        * (1 + np.arange(15) * (2.0**-10 if kind == "f16" else 2.0**-7)),
        kind,
    )
    # Numbers whose product with 0.3 is nearer to a whole number than 16 bits tell.
    x[:, 20:30] = rounded(np.arange(10) / rounded(0.3, kind), kind)
    return x[:1, :3] if size == "few" else x, rounded(rounded(0.3, kind) * x[0, 7], kind)


def model(member, kind, steps, size):
    """q = x * 0.3 with `steps` more operations before it, and what the member makes of it."""
    nodes, types, _ = MEMBERS[member]
    half = TYPES[kind]
    chain = [
        helper.make_node("Cast", ["x32"], ["x"], to=half),
        helper.make_node("Cast", ["c32"], ["c"], to=half),
    ]
    first = ("MatMul", ["x", "w"]) if size == "product" else ("Mul", ["x", "f"])
    chain.append(helper.make_node(*first, ["s0" if steps else "q"]))
    for i in range(steps):
        chain.append(
            helper.make_node(
                "Add" if i % 2 == 0 else "Mul",
                [f"s{i}", "f"],
                ["q" if i + 1 == steps else f"s{i + 1}"],
            )
        )
    chain += [
        helper.make_node(name, given, results, **attributes)
        for name, given, results, attributes in nodes
    ]
    outputs = []
    for i, of in enumerate(types):
        name = f"y{i}"
        if of is None:  # arrays of NumPy have no bf16
            chain.append(helper.make_node("Cast", [name], [name + "_f32"], to=F32))
            name += "_f32"
        outputs.append(helper.make_tensor_value_info(name, of or F32, None))
    inputs = [
        helper.make_tensor_value_info("x32", F32, SHAPES[size]),
        helper.make_tensor_value_info("c32", F32, []),
    ]
    constants = {"one": [1], "two": [2], "flat": [-1]}
    initializers = [
        numpy_helper.from_array(np.array(v, np.int64), k) for k, v in constants.items()
    ] + [helper.make_tensor("f", half, [], [0.3])]
    if size == "product":
        columns = SHAPES[size][1]
        initializers.append(
            helper.make_tensor(
                "w", half, [columns, columns], (np.eye(columns) * 0.3).ravel().tolist()
            )
        )
    graph = helper.make_graph(chain, "g", inputs, outputs, initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10
    ).SerializeToString()


def product_of_three(kind):
    """(x * a) * b"""
    half = TYPES[kind]
    nodes = [helper.make_node("Cast", [f"{name}32"], [name], to=half) for name in "xab"]
    nodes += [
        helper.make_node("Mul", ["x", "a"], ["xa"]),
        helper.make_node("Mul", ["xa", "b"], ["y"]),
        helper.make_node("Cast", ["y"], ["y32"], to=F32),
    ]
    inputs = [
        helper.make_tensor_value_info(f"{name}32", F32, [4] if name == "x" else [])
        for name in "xab"
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y32", F32, [4])])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10
    ).SerializeToString()


def expected(member, kind, steps, size, strict):
    """The results where q is rounded once, or after each operation."""
    x, c = operands(kind, size)
    f = rounded(0.3, kind)
    after_each = (lambda v: rounded(v, kind)) if strict else np.float32
    q = after_each(x * f)
    for i in range(steps):
        q = after_each(q + f if i % 2 == 0 else q * f)
    q = rounded(q, kind)
    found = MEMBERS[member][2](q, c)
    found = found if isinstance(found, tuple) else (found,)
    return [rounded(y, kind) if y.dtype.kind == "f" else y for y in map(np.asarray, found)]


def check(member, kind, steps, size, accuracy, device="cpu"):
    x, c = operands(kind, size)
    net = dlc.compile(model(member, kind, steps, size), accuracy=accuracy, device=device)
    found = net(x, np.asarray(c, np.float32))
    found = (
        found
        if isinstance(found, (tuple, list))
        else list(found.values())
        if isinstance(found, dict)
        else [found]
    )
    for got, want in zip(
        found, expected(member, kind, steps, size, accuracy == "strict"), strict=True
    ):
        got = np.asarray(got).reshape(want.shape)
        if size == "product" and accuracy == "default" and got.dtype.kind == "f":
            got = rounded(got, kind)  # casts to f32 near products read unrounded values
            if member == "less ReduceMax":  # and so do subtractions
                np.testing.assert_allclose(
                    got, want, atol=np.abs(want).max() * (2.0**-10 if kind == "f16" else 2.0**-7)
                )
                assert (got.max(axis=1) == 0).all()
                continue
        np.testing.assert_array_equal(
            got,
            want,
            f"{member}, {kind}, {steps} operations before, {size} elements, accuracy {accuracy}, {device}",
        )


def cases():
    return [
        (member, kind, steps, size, accuracy)
        for member in MEMBERS
        for kind in TYPES
        for steps, size in ((0, "many"), (2, "many"), (0, "few"), (0, "product"), (2, "product"))
        for accuracy in ("default", "strict")
    ]
