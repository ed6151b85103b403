"""Files that violate a rule of the ONNX format. Each case is a model and words that its error message must contain.

ONNX's checker or ONNX Runtime rejects each of them. `good` has the corresponding valid models, which must import.
"""

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

NODE = helper.make_node


def value(name, shape=(2, 3), kind=T.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes,
    inputs=None,
    outputs=None,
    initializers=(),
    opset=20,
    functions=(),
    imports=(),
    ir=10,
    **graph,
):
    made = helper.make_graph(
        nodes,
        "g",
        [value("x")] if inputs is None else inputs,
        [value("y", None)] if outputs is None else outputs,
        list(initializers),
        **graph,
    )
    result = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", opset), *imports], functions=list(functions)
    )
    result.ir_version = ir
    return result


def relu(**options):
    return model([NODE("Relu", ["x"], ["y"], name="n")], **options)


def changed(result, change):
    change(result)
    return result


def versions():
    for version in (0, -1, 999):
        yield (
            f"ir-{version}",
            relu(ir=version),
            ["ir_version", "required: 1 to", f"found: {version}"],
        )
    yield (
        "ir-missing",
        changed(relu(), lambda m: m.ClearField("ir_version")),
        ["ir_version", "found: 0"],
    )
    for opset in (0, -1):
        yield f"opset-{opset}", relu(opset=opset), ["invalid opset", "ai.onnx", f"found: {opset}"]
    yield (
        "opset-twice",
        relu(imports=[helper.make_opsetid("ai.onnx", 13)]),
        ["two opsets", "20 and 13"],
    )
    yield (
        "opset-of-ml",
        model(
            [NODE("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")],
            imports=[helper.make_opsetid("ai.onnx.ml", 99)],
        ),
        ["opset 99", "newest known"],
    )


def names():
    w = constant("w", np.zeros((2, 3), np.float32))
    add = [NODE("Add", ["x", "w"], ["y"], name="n")]
    yield "initializer-twice", model(add, initializers=[w, w]), ["two initializers", "'w'"]
    sparse = helper.make_sparse_tensor(constant("w", np.float32([1])), constant("", [1]), [2, 3])
    yield (
        "initializer-twice-sparse",
        model(add, initializers=[w], sparse_initializer=[sparse]),
        ["two initializers", "'w'"],
    )
    yield (
        "initializer-unnamed",
        relu(initializers=[constant("", np.float32(1))]),
        ["initializer has no name"],
    )
    yield "input-twice", relu(inputs=[value("x"), value("x")]), ["two inputs", "'x'"]
    yield "input-unnamed", relu(inputs=[value("x"), value("")]), ["input without a name"]
    yield "output-unnamed", relu(outputs=[value("y"), value("")]), ["output without a name"]
    yield (
        "output-is-input",
        model([NODE("Relu", ["x"], ["x"])], outputs=[value("x")]),
        ["'x'", "defined twice"],
    )
    yield (
        "output-is-initializer",
        model([NODE("Relu", ["x"], ["w"])], outputs=[value("w")], initializers=[w]),
        ["'w'", "defined twice"],
    )
    yield (
        "outputs-alike",
        model([NODE("Split", ["x"], ["y", "y"], axis=0, num_outputs=2)]),
        ["'y'", "defined twice"],
    )
    yield (
        "dead-undefined",
        model([NODE("Relu", ["x"], ["y"]), NODE("Abs", ["q"], ["z"], name="n")]),
        ["'n'", "'q'", "not defined"],
    )
    branch = lambda name, node: helper.make_graph(
        [node, NODE("Relu", [node.output[0]], ["t"])], name, [], [value("t", None)]
    )
    chosen = lambda inner: [
        NODE("Abs", ["x"], ["z"]),
        NODE(
            "If",
            ["k"],
            ["y"],
            then_branch=branch("a", NODE("Neg", ["x"], ["u"])),
            else_branch=branch("b", inner),
        ),
    ]
    both = [value("x"), value("k", (), T.BOOL)]
    yield (
        "branch-shadows",
        model(chosen(NODE("Neg", ["x"], ["z"])), both),
        ["'z'", "outside the graph"],
    )
    yield (
        "branch-undefined",
        model(chosen(NODE("Neg", ["q"], ["v"], name="n")), both),
        ["'n'", "'q'", "not defined"],
    )
    yield (
        "branch-attribute",
        model(chosen(NODE("Neg", ["x"], ["v"], name="n", axis=1)), both),
        ["'n'", "'axis'", "unknown"],
    )
    # The other branch is the one that is taken.
    yield (
        "branch-not-taken",
        model(
            chosen(NODE("Neg", ["x"], ["v"], name="n", axis=1)), initializers=[constant("k", True)]
        ),
        ["'n'", "'axis'", "unknown"],
    )


def attributes():
    leaky = lambda: model([NODE("LeakyRelu", ["x"], ["y"], name="n", alpha=0.5)])
    first = lambda m: m.graph.node[0].attribute[0]
    yield (
        "attribute-values",
        changed(leaky(), lambda m: setattr(first(m), "i", 3)),
        ["'n'", "'alpha'", "several values", "FLOAT, INT"],
    )
    yield (
        "attribute-type",
        changed(leaky(), lambda m: setattr(first(m), "type", onnx.AttributeProto.INT)),
        ["'alpha'", "required: INT; found: FLOAT"],
    )
    yield (
        "attribute-untyped",
        changed(leaky(), lambda m: first(m).ClearField("type")),
        ["'alpha'", "has no type"],
    )
    yield (
        "attribute-unnamed",
        changed(leaky(), lambda m: setattr(first(m), "name", "")),
        ["attribute has no name"],
    )
    yield (
        "attribute-integer",
        model([NODE("LeakyRelu", ["x"], ["y"], name="n", alpha=1)]),
        ["'alpha'", "required: FLOAT; found: INT"],
    )

    def refer(m):
        first(m).ClearField("f")
        first(m).ref_attr_name = "slope"

    yield (
        "attribute-reference",
        changed(leaky(), refer),
        ["'alpha'", "'slope'", "outside the body of a function"],
    )
    yield (
        "constant-values",
        model([NODE("Constant", [], ["y"], value_float=1.0, value_int=2)], []),
        ["several values", "found: 2"],
    )
    yield "op-type-missing", model([NODE("", ["x"], ["y"])]), ["no op_type"]


def nodes():
    yield (
        "inputs-3",
        model([NODE("Relu", ["x", "x", "x"], ["y"], name="n")]),
        ["'n'", "number of inputs", "required: 1; found: 3"],
    )
    yield (
        "input-empty-extra",
        model([NODE("Relu", ["x", ""], ["y"], name="n")]),
        ["number of inputs", "found: 2"],
    )
    yield (
        "outputs-2",
        model([NODE("Relu", ["x"], ["y", "z"], name="n")]),
        ["number of outputs", "required: 1; found: 2"],
    )
    yield (
        "outputs-0",
        model([NODE("Relu", ["x"], ["y"]), NODE("Relu", ["x"], [], name="n")]),
        ["'n'", "number of outputs", "found: 0"],
    )
    yield (
        "output-left-out",
        model([NODE("TopK", ["x", "k"], ["", "y"], name="n")], initializers=[constant("k", [1])]),
        ["output 0", "'Values'", "missing"],
    )
    yield (
        "clip-attributes",
        model([NODE("Clip", ["x"], ["y"], name="n", min=0.0, max=1.0)], opset=13),
        ["'n'", "unknown to ai.onnx.Clip in opset 13", "opsets 1 to 10"],
    )
    yield (
        "clip-inputs",
        model(
            [NODE("Clip", ["x", "l"], ["y"])], initializers=[constant("l", np.float32(0))], opset=6
        ),
        ["ai.onnx.Clip in opset 6", "number of inputs"],
    )
    yield (
        "dropout-ratio",
        model([NODE("Dropout", ["x"], ["y"], ratio=0.5)], opset=13),
        ["'ratio'", "unknown"],
    )
    yield (
        "squeeze-axes",
        model([NODE("Squeeze", ["x"], ["y"], axes=[0])], [value("x", (1, 3))], opset=13),
        ["'axes'", "unknown"],
    )
    yield (
        "upsample-10",
        model(
            [NODE("Upsample", ["x", "s"], ["y"])],
            initializers=[constant("s", np.float32([1, 2]))],
            opset=10,
        ),
        ["was removed", "before 10"],
    )
    yield (
        "scatter-11",
        model(
            [NODE("Scatter", ["x", "i", "x"], ["y"])],
            initializers=[constant("i", np.zeros((2, 3), np.int64))],
            opset=11,
        ),
        ["was removed", "before 11"],
    )
    yield (
        "gelu-13",
        model([NODE("Gelu", ["x"], ["y"])], opset=13),
        ["newer than the opset", "required: opset 20"],
    )
    yield (
        "concat-axis",
        model([NODE("Concat", ["x", "x"], ["y"])]),
        ["'axis'", "required and missing"],
    )
    yield (
        "dead-attribute",
        model([NODE("Relu", ["x"], ["y"]), NODE("Abs", ["x"], ["z"], name="n", axis=1)]),
        ["'n'", "'axis'", "unknown"],
    )
    weights = [constant(n, np.zeros((1, 12, k), np.float32)) for n, k in (("w", 3), ("r", 3))]
    lstm = lambda extra=(), **options: model(
        [NODE("LSTM", ["x", "w", "r", *extra], ["y"], name="n", **options)],
        [value("x", (2, 1, 3))],
        initializers=weights,
    )
    yield (
        "lstm-inputs",
        lstm(["x"] * 100, hidden_size=3),
        ["number of inputs", "required: 3 to 8; found: 103"],
    )
    yield "hidden-size", lstm(hidden_size=1 << 31), ["hidden_size", "required: 3"]
    yield "hidden-size-4", lstm(hidden_size=4), ["hidden_size", "required: 3; found: 4"]


def types():
    """Inputs of an element type that the schema does not permit."""

    def case(op, arrays, found, opset=20, outputs=("y",), **options):
        inits = [constant(f"c{i}", array) for i, array in enumerate(arrays)]
        label = f"type-{op}-{'-'.join(str(np.asarray(a).dtype) for a in arrays)}"
        return (
            label,
            model(
                [NODE(op, ["x", *(i.name for i in inits)], list(outputs), name="n", **options)],
                initializers=inits,
                opset=opset,
            ),
            ["'n'", *found],
        )

    f32, i32, i64 = np.float32, np.int32, np.int64
    yield case("Trilu", [f32(0.5)], ["'k'", "required: int64; found: float"])
    yield case("Trilu", [i32(1)], ["'k'", "found: int32"])
    yield case("Reshape", [i32([3, 2])], ["'shape'", "required: int64; found: int32"])
    yield case("Gather", [f32([1])], ["'indices'", "found: float"])
    yield case("GatherElements", [np.uint8([[0]])], ["'indices'", "found: uint8"])
    yield case("GatherND", [i32([[0]])], ["'indices'", "found: int32"])
    yield case("ScatterND", [i32([[0]]), f32([[1, 2, 3]])], ["'indices'", "found: int32"])
    yield case("Slice", [f32([0]), f32([1])], ["'starts'", "found: float"])
    yield case("Slice", [i64([0]), i32([1])], ["different types", "int64 and int32"])
    yield case("Pad", [i32([0, 0, 1, 1])], ["'pads'", "found: int32"])
    yield case("Pad", [i64([0, 0, 1, 1]), np.float64(1)], ["different types", "float and double"])
    yield case("Expand", [i32([2, 3])], ["'shape'", "found: int32"])
    yield case("Tile", [i32([1, 2])], ["'repeats'", "found: int32"])
    yield case("TopK", [i32([1])], ["'K'", "found: int32"], outputs=("y", "z"))
    yield case("ReduceSum", [i32([1])], ["'axes'", "found: int32"])
    yield case("Unsqueeze", [i32([0])], ["'axes'", "found: int32"])
    yield case("Squeeze", [f32([0])], ["'axes'", "found: float"])
    yield case("CumSum", [f32(0)], ["'axis'", "found: float"])
    yield case("Split", [i32([1, 1])], ["'split'", "found: int32"])
    yield case("Resize", [f32([]), np.float64([1, 2])], ["'scales'", "found: double"])
    yield case("Dropout", [i64(0)], ["'ratio'", "found: int64"])
    yield case("Clip", [np.float64(0)], ["different types", "float and double"])
    yield case("Where", [f32([[1, 2, 3]]), f32(0)], ["'condition'", "required: bool; found: float"])
    yield case("Add", [np.float64(1)], ["different types"])
    yield case("Concat", [np.float64([[1, 2, 3]])], ["different types"], axis=0)
    yield case("Max", [np.float16([1])], ["different types"])
    yield case("And", [np.bool_(True)], ["'A'", "required: bool; found: float"])
    yield case("MatMul", [np.float16(np.zeros((3, 2)))], ["different types"])
    yield case("PRelu", [np.float64([1])], ["different types"])
    yield case("BatchNormalization", [np.float16([1] * 3)] * 4, ["different types"], opset=9)
    yield case("Pow", [np.bool_(True)], ["'Y'", "found: bool"])
    yield case("OneHot", [i64(3), f32([0, 1])], [], axis=7)
    for kind, name in ((T.BOOL, "bool"), (T.INT64, "int64")):
        yield (
            f"type-Sqrt-{name}",
            model([NODE("Sqrt", ["x"], ["y"], name="n")], [value("x", kind=kind)]),
            ["'n'", f"found: {name}"],
        )
    yield (
        "type-Relu-opset-13",
        model([NODE("Relu", ["x"], ["y"])], [value("x", kind=T.INT32)], opset=13),
        ["opset 13", "found: int32"],
    )
    yield (
        "type-Relu-opset-9",
        model([NODE("Relu", ["x"], ["y"])], [value("x", kind=T.BFLOAT16)], opset=9),
        ["opset 9", "found: bfloat16"],
    )
    yield (
        "type-If",
        model(
            [
                NODE(
                    "If",
                    ["x"],
                    ["y"],
                    then_branch=helper.make_graph([], "a", [], [value("x")]),
                    else_branch=helper.make_graph([], "b", [], [value("x")]),
                )
            ],
            [value("x", ())],
        ),
        ["'cond'", "required: bool; found: float"],
    )


def tensors():
    relu_of = lambda tensor: model([NODE("Relu", ["w"], ["y"])], [], initializers=[tensor])
    for kind in (0, 77):
        yield (
            f"element-type-{kind}",
            relu(initializers=[T(name="w", data_type=kind, dims=[1], float_data=[1])]),
            ["'w'", "unknown element type"],
        )
    yield (
        "negative-dims",
        relu(initializers=[T(name="w", data_type=T.FLOAT, dims=[-4], float_data=[1])]),
        ["'w'", "negative"],
    )
    yield (
        "empty-typed",
        relu_of(T(name="w", data_type=T.FLOAT, dims=[0], float_data=[1, 2])),
        ["'w'", "needs 0 elements", "2"],
    )
    yield (
        "empty-raw",
        relu_of(T(name="w", data_type=T.FLOAT, dims=[2, 0], raw_data=b"1234")),
        ["'w'", "need 0 bytes", "4"],
    )
    yield (
        "wrong-field",
        relu_of(T(name="w", data_type=T.FLOAT, dims=[2], int32_data=[1, 2])),
        ["'w'", "needs 2 elements"],
    )
    sparse = lambda where, dims=(2, 3): model(
        [NODE("Relu", ["w"], ["y"])],
        [],
        sparse_initializer=[
            helper.make_sparse_tensor(
                constant("w", np.float32([1, 2])), constant("", where), list(dims)
            )
        ],
    )
    yield "sparse-range", sparse([1, 9]), ["out of range"]
    yield "sparse-count", sparse([1]), ["one", "for each value"]
    constant_of = lambda where: model(
        [
            NODE(
                "Constant",
                [],
                ["y"],
                sparse_value=helper.make_sparse_tensor(
                    constant("v", np.float32([1, 2])), constant("i", where), [2, 3]
                ),
            )
        ],
        [],
    )
    yield "sparse-constant-range", constant_of([1, 6]), ["out of range"]


def functions():
    own = [helper.make_opsetid("own", 1)]
    function = lambda nodes, inputs=("a", "b"), name="f", opsets=(helper.make_opsetid("", 20),): (
        helper.make_function("own", name, list(inputs), ["c"], nodes, list(opsets))
    )
    add = function([NODE("Add", ["a", "b"], ["c"])])
    call = lambda f, inputs=("x", "x"), outputs=("y",), imports=own: model(
        [NODE("f", list(inputs), list(outputs), name="n", domain="own")],
        functions=f,
        imports=imports,
    )
    yield "call-inputs", call([add], ["x"] * 3), ["'n'", "too many inputs", "at most 2; found: 3"]
    yield "call-input-missing", call([add], ["x"]), ["'B'", "required and missing"]
    yield (
        "call-outputs",
        call([add], outputs=["y", "z"]),
        ["too many outputs", "at most 1; found: 2"],
    )
    yield "call-domain", call([add], imports=()), ["no opset", "'own'"]
    yield "function-twice", call([add, add]), ["own.f", "twice"]
    yield (
        "function-inputs-alike",
        call([function([NODE("Abs", ["a"], ["c"])], ["a", "a"])]),
        ["own.f", "'a'", "distinct"],
    )
    yield (
        "function-attribute",
        call([function([NODE("Clip", ["a"], ["c"], name="m", min=0.0)])]),
        ["'m'", "'min'", "unknown"],
    )
    yield (
        "function-undefined",
        call([function([NODE("Abs", ["q"], ["c"], name="m")])]),
        ["'m'", "'q'", "not defined"],
    )
    yield "function-output", call([function([NODE("Abs", ["a"], ["d"])])]), ["'c'", "not defined"]
    yield (
        "function-names",
        call([function([NODE("Abs", ["a"], ["b"]), NODE("Abs", ["b"], ["c"])])]),
        ["'b'", "defined twice"],
    )
    yield (
        "function-opset",
        call([function([NODE("Abs", ["a"], ["c"], name="m")], opsets=())]),
        ["'m'", "no opset", "ai.onnx"],
    )
    concat = NODE("Concat", ["a", "b"], ["c"], name="m")
    concat.attribute.append(
        onnx.AttributeProto(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="axis")
    )
    yield (
        "call-attribute",
        call(
            [
                helper.make_function(
                    "own", "f", ["a", "b"], ["c"], [concat], [helper.make_opsetid("", 20)], ["axis"]
                )
            ]
        ),
        ["'m'", "'axis'", "required and missing"],
    )
    mutual = [
        function([NODE("g", ["a", "b"], ["c"], domain="own")], name="f", opsets=own),
        function([NODE("f", ["a", "b"], ["c"], domain="own")], name="g", opsets=own),
    ]
    yield "recursion", call(mutual), ["nested"]


def good():
    """Right files that resemble the wrong ones."""
    yield "dead-operator", model([NODE("Relu", ["x"], ["y"]), NODE("Frobnicate", ["x"], ["z"])])
    yield "unsorted", model([NODE("Relu", ["a"], ["y"]), NODE("Abs", ["x"], ["a"])])
    yield "private-attribute", model([NODE("Relu", ["x"], ["y"], __note=1)])
    yield "opset-alike", relu(imports=[helper.make_opsetid("ai.onnx", 20)])
    yield "foreign-opset-0", relu(imports=[helper.make_opsetid("acme", 0)])
    yield "ir-1", relu(ir=1)
    yield (
        "ir-3",
        model(
            [NODE("Add", ["x", "w"], ["y"])],
            initializers=[constant("w", np.zeros((2, 3), np.float32))],
            ir=3,
        ),
    )
    yield "output-twice", relu(outputs=[value("y"), value("y")])
    yield "declared-shape", relu(outputs=[value("y", (2, 4))])
    # A scalar of 0 is not in the file where an exporter writes proto3.
    zero = model([NODE("Softmax", ["x"], ["y"], axis=0)])
    zero.graph.node[0].attribute[0].ClearField("i")
    yield "value-left-out", zero
    scale = [constant("s", np.ones(3, np.float32))]
    yield (
        "layer-norm-13",
        model(
            [NODE("LayerNormalization", ["x", "s"], ["y"], axis=-1)], initializers=scale, opset=13
        ),
    )
    yield (
        "simplified-norm",
        model(
            [NODE("SimplifiedLayerNormalization", ["x", "s"], ["y"])], initializers=scale, opset=13
        ),
    )
    yield (
        "group-norm-18",
        model(
            [NODE("GroupNormalization", ["x", "o", "o"], ["y"], num_groups=1)],
            initializers=[constant("o", np.ones(1, np.float32))],
            opset=18,
        ),
    )
    then = helper.make_graph(
        [NODE("Relu", ["z"], ["t"])],
        "a",
        [],
        [value("t", None)],
        [constant("z", np.zeros((2, 3), np.float32))],
    )
    orelse = helper.make_graph([NODE("Relu", ["z"], ["t"])], "b", [], [value("t", None)])
    yield (
        "initializer-shadows",
        model(
            [
                NODE("Abs", ["x"], ["z"]),
                NODE("If", ["k"], ["y"], then_branch=then, else_branch=orelse),
            ],
            [value("x"), value("k", (), T.BOOL)],
        ),
    )
    body = helper.make_graph(
        [NODE("Identity", ["c"], ["d"]), NODE("Add", ["z", "x"], ["t"])],
        "b",
        [value("i", (), T.INT64), value("c", (), T.BOOL), value("z")],
        [value("d", (), T.BOOL), value("t")],
    )
    yield (
        "body-input-shadows",
        model(
            [NODE("Abs", ["x"], ["z"]), NODE("Loop", ["m", "", "z"], ["y"], body=body)],
            initializers=[constant("m", 2)],
        ),
    )


def cases():
    """Yields name, bytes of the model, words of the message; no words for a right file."""
    for family in (versions, names, attributes, nodes, types, tensors, functions):
        for name, made, words in family():
            yield f"{family.__name__}-{name}", made.SerializeToString(), words
    for name, made in good():
        yield f"good-{name}", made.SerializeToString(), ""
