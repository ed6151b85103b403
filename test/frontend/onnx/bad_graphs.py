"""Files whose graphs contradict a rule of the ONNX format, as in bad_files.py: shapes, types and attributes that do not fit each other, and declarations."""

import numpy as np
from bad_files import NODE, constant, model, relu, value
import onnx
from onnx import TensorProto as T, helper


def contradictions():
    """Attributes and small inputs that contradict the shapes of others, or one another."""
    f = lambda *shape: np.ones(shape, np.float32)
    i = lambda *values: np.array(values, np.int64)

    def case(label, op, arrays, words, outputs=1, opset=20, domain="", **options):
        names = ["" if a is None else f"x{k}" for k, a in enumerate(arrays)]
        inputs = [
            value(f"x{k}", a.shape, helper.np_dtype_to_tensor_dtype(a.dtype))
            for k, a in enumerate(arrays)
            if a is not None and k == 0
        ]
        inits = [constant(f"x{k}", a) for k, a in enumerate(arrays) if a is not None and k > 0]
        node = NODE(
            op, names, [f"y{k}" for k in range(outputs)], name="n", domain=domain, **options
        )
        imports = [helper.make_opsetid(domain, 3)] if domain else ()
        return (
            f"{op}-{label}",
            model([node], inputs, [onnx.ValueInfoProto(name="y0")], inits, opset, imports=imports),
            ["'n'", *words],
        )

    x, w = f(1, 4, 6, 6), f(8, 4, 3, 3)
    for op, weights in (("Conv", w), ("ConvTranspose", f(4, 8, 3, 3))):
        yield case("kernel", op, [x, weights], ["'kernel_shape'"], kernel_shape=[5, 5])
        yield case("kernel-length", op, [x, weights], ["'kernel_shape'"], kernel_shape=[3])
        yield case("group", op, [x, weights], ["group"], group=3)
        yield case("group-0", op, [x, weights], ["'group'"], group=0)
        yield case("strides-length", op, [x, weights], ["'strides'"], strides=[1])
        yield case("stride-0", op, [x, weights], ["strides"], strides=[0, 1])
        yield case("pads-length", op, [x, weights], ["'pads'"], pads=[1, 1])
        yield case(
            "two-paddings",
            op,
            [x, weights],
            ["'pads' and 'auto_pad'"],
            pads=[1, 1, 1, 1],
            auto_pad="SAME_UPPER",
        )
        yield case("bias", op, [x, weights, f(3)], ["3"])
        yield case("channels", op, [x, f(5, 5, 3, 3)], [])
    yield case(
        "output-padding",
        "ConvTranspose",
        [x, f(4, 8, 3, 3)],
        ["'output_padding'", "found: 5"],
        output_padding=[5, 5],
    )
    yield case("output-shape", "ConvTranspose", [x, f(4, 8, 3, 3)], ["shapes"], output_shape=[0, 0])
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield case(
            "pads-negative",
            op,
            [x],
            ["required: 0 or more; found: -1"],
            kernel_shape=[2, 2],
            pads=[-1, -1, -1, -1],
        )
        yield case("kernel-length", op, [x], ["'kernel_shape'"], kernel_shape=[2])
        yield case("strides-length", op, [x], ["'strides'"], kernel_shape=[2, 2], strides=[1])
    yield case(
        "storage-order",
        "MaxPool",
        [x],
        ["'storage_order'=2"],
        2,
        kernel_shape=[2, 2],
        storage_order=2,
    )
    yield case("rank", "GlobalAveragePool", [f(2, 3)], ["rank 2"])
    yield case("bias-larger", "Gemm", [f(1, 3), f(3, 4), f(2, 4)], ["C does not fit", "[1, 4]"])
    yield case("bias", "Gemm", [f(2, 3), f(3, 4), f(3)], ["C does not fit", "[2, 4]"])
    yield case("inner", "Gemm", [f(2, 3), f(4, 5)], [])
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield case("axis", op, [f(2, 3)], ["axis", "2"], axis=2)
    yield case(
        "numbers", "Split", [f(6)], ["'num_outputs'", "required: 2", "found: 3"], 2, num_outputs=3
    )
    yield case("sizes", "Split", [f(6), i(2, 2, 2)], ["required: 2, one per output; found: 3"], 2)
    yield case("sum", "Split", [f(6), i(2, 3)], ["shorter"], 2)
    yield case(
        "both", "Split", [f(6), i(3, 3)], ["'split' or 'num_outputs'", "both"], 2, num_outputs=2
    )
    yield case("neither", "Split", [f(6)], ["'split' or 'num_outputs'", "none"], 2, opset=18)
    yield case("remainder", "Split", [f(5)], ["does not divide"], 2, opset=13)
    yield case("too-many", "Split", [f(5)], ["does not divide"], 4, num_outputs=4)
    yield case("attribute-sum", "Split", [f(6)], ["shorter"], 2, opset=11, split=[1, 2])
    yield case("permutation", "Transpose", [f(2, 3)], [], perm=[0, 0])
    yield case(
        "rank", "Reshape", [f(2, 3), np.array([[3, 2]])], ["the shape must be a vector", "rank 2"]
    )
    yield case("axes-rank", "ReduceSum", [f(2, 3), np.array([[0]])], ["the axes must be a vector"])
    yield case("axes", "ReduceSum", [f(2, 3), i(2)], ["axis", "2"])
    yield case(
        "starts-rank",
        "Slice",
        [f(4, 5), np.array([[0]]), np.array([[1]])],
        ["the starts must be a vector"],
    )
    yield case(
        "axes-twice", "Slice", [f(4, 5), i(0, 1), i(2, 3), i(1, -1)], ["axis 1 is given twice"]
    )
    yield case(
        "axes-twice", "Pad", [f(2, 3), i(1, 1, 1, 1), f(), i(0, 0)], ["axis 0 is given twice"]
    )
    yield case("too-short", "Pad", [f(2, 3), i(-2, 0, -1, 0)], [], mode="edge")
    yield case(
        "axes-twice", "Resize", [x, None, None, i(3, 3)], ["axis 2 is given twice"], axes=[2, 2]
    )
    yield case(
        "two-sizes",
        "Resize",
        [x, None, np.float32([1, 1, 2, 2]), i(1, 4, 6, 6)],
        ["'scales' or 'sizes'", "both"],
    )
    yield case(
        "antialias",
        "Resize",
        [x, None, None, i(1, 4, 3, 3)],
        ["'antialias'", "found: nearest"],
        antialias=1,
    )
    yield case("k-rank", "TopK", [f(2, 3), np.array(1)], ["K must be a vector", "rank 0"], 2)
    yield case("k", "TopK", [f(2, 3), i(4)], [], 2)
    yield case(
        "indices",
        "ScatterElements",
        [f(2, 3), np.zeros((1, 4), np.int64), f(1, 4)],
        ["at most 3 in dimension 1", "found: 4"],
    )
    yield case(
        "scale-18",
        "GroupNormalization",
        [x, f(4), f(4)],
        ["num_groups", "required: 2", "per group", "found: 4"],
        opset=18,
        num_groups=2,
    )
    yield case(
        "scale-21",
        "GroupNormalization",
        [x, f(2), f(2)],
        ["num_groups", "required: 4", "per channel", "found: 2"],
        opset=21,
        num_groups=2,
    )
    yield case("scale", "BatchNormalization", [x, f(3), f(4), f(4), f(4)], [])
    yield case(
        "mode",
        "BatchNormalization",
        [x, f(4), f(4), f(4), f(4)],
        ["'training_mode'=2"],
        training_mode=2,
    )
    yield case("scale", "LayerNormalization", [f(2, 3), f(4)], [])
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        cell = [f(2, 1, 3), f(1, 3 * gates, 3), f(1, 3 * gates, 3)]
        for size in (4, 0, -1, 1 << 31):
            yield case(
                f"hidden-{size}",
                op,
                cell,
                ["'hidden_size'", f"required: 3; found: {size}"],
                hidden_size=size,
            )
        yield case(
            "lengths",
            op,
            [*cell, None, np.int32([2, 2])],
            ["sequence_lens", "required: 1; found: 2"],
            hidden_size=3,
        )
        yield case(
            "lengths-large",
            op,
            [*cell, None, np.int32([7])],
            ["sequence_lens", "required: 0 to 2; found: 7"],
            hidden_size=3,
        )
        yield case("layout", op, cell, ["'layout'=2"], hidden_size=3, layout=2)
        yield case("directions", op, cell, ["directions"], hidden_size=3, direction="bidirectional")
        yield case("bias", op, [*cell, f(1, 5)], [], hidden_size=3)
        yield case("state", op, [*cell, None, None, f(1, 2, 3)], [], hidden_size=3)
    yield case(
        "output-type",
        "QuantizeLinear",
        [f(2, 4), f(), np.uint8(0)],
        ["'output_dtype'", "found: i8"],
        opset=21,
        output_dtype=T.INT8,
    )
    yield case("fmod", "Mod", [f(3), f(3)], ["'fmod'=2"], fmod=2)
    yield case(
        "batch", "RoiAlign", [x, f(1, 4), i(3)], ["batch index", "required: 0 to 0; found: 3"]
    )
    yield case(
        "box",
        "NonMaxSuppression",
        [f(1, 5, 4), f(1, 1, 5)],
        ["'center_point_box'=2"],
        center_point_box=2,
    )
    yield case(
        "heads",
        "Attention",
        [f(1, 2, 3, 8)] * 3,
        ["'q_num_heads'", "required: 2; found: 4"],
        opset=23,
        q_num_heads=4,
        kv_num_heads=4,
    )
    yield case("ratio", "Dropout", [f(2), np.float32(1.5)], ["ratio", "0 to 1"])
    yield case("ratio-vector", "Dropout", [f(2), f(2)], ["ratio", "one element"])
    yield case(
        "length",
        "ReverseSequence",
        [f(4, 3), i(1, 2, 9)],
        ["required: 0 to 4; found: 9"],
        batch_axis=1,
        time_axis=0,
    )
    yield case(
        "index",
        "ArrayFeatureExtractor",
        [f(2, 3), i(5)],
        ["index 5 is out of range"],
        domain="ai.onnx.ml",
    )


def declarations():
    relus = [NODE("Relu", ["x"], ["a"]), NODE("Relu", ["a"], ["y"])]
    yield (
        "declared-output",
        relu(outputs=[value("y", kind=T.INT64)]),
        ["'y'", "required: int64; found: float"],
    )
    yield (
        "declared-value",
        model(relus, value_info=[value("a", kind=T.DOUBLE)]),
        ["'a'", "required: double; found: float"],
    )
    yield "input-untyped", relu(inputs=[onnx.ValueInfoProto(name="x")]), ["'x'", "not a tensor"]
    add = [NODE("Add", ["x", "w"], ["y"])]
    w = constant("w", np.zeros((2, 3), np.float32))
    yield (
        "default-shape",
        model(add, [value("x"), value("w", (1, 3))], initializers=[w]),
        ["'w'", "float[1, 3]", "float[2, 3]"],
    )
    yield (
        "default-type",
        model(add, [value("x"), value("w", kind=T.DOUBLE)], initializers=[w]),
        ["'w'", "double[2, 3]", "float[2, 3]"],
    )
    loop = lambda kind: helper.make_graph(
        [NODE("Identity", ["c"], ["d"]), NODE("Add", ["s", "x"], ["t"])],
        "b",
        [value("i", (), kind), value("c", (), T.BOOL), value("s")],
        [value("d", (), T.BOOL), value("t")],
    )
    both = [value("x"), value("k", (), T.BOOL)]
    leaf = lambda name, *outputs: helper.make_graph(
        [NODE("Relu", ["x"], [o]) for o in outputs], name, [], [value(o, None) for o in outputs]
    )
    yield (
        "branch-outputs",
        model(
            [
                NODE(
                    "If",
                    ["k"],
                    ["y", "z"],
                    name="n",
                    then_branch=leaf("a", "s"),
                    else_branch=leaf("b", "t"),
                )
            ],
            both,
        ),
        ["'n'", "'a'", "required: 2 outputs; found: 1"],
    )
    yield (
        "branches-differ",
        model(
            [
                NODE(
                    "If",
                    ["k"],
                    ["y"],
                    name="n",
                    then_branch=leaf("a", "s"),
                    else_branch=leaf("b", "t", "u"),
                )
            ],
            both,
        ),
        ["'n'", "'b'", "required: 1 outputs; found: 2"],
    )
    yield (
        "loop-outputs",
        model(
            [NODE("Loop", ["m", "", "x"], ["y", "z"], name="n", body=loop(T.INT64))],
            initializers=[constant("m", 3)],
        ),
        ["'n'", "at least 3 outputs; found: 2"],
    )
    yield (
        "loop-input-type",
        model(
            [NODE("Loop", ["m", "", "x"], ["y"], body=loop(T.FLOAT))],
            initializers=[constant("m", 3)],
        ),
        ["'i'", "required: float; found: int64"],
    )


def cases():
    """Yields name, bytes of the model, words of the message."""
    for family in (contradictions, declarations):
        for name, made, words in family():
            yield f"{family.__name__}-{name}", made.SerializeToString(), words
