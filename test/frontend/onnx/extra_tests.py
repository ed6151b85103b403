#!/usr/bin/env python3
"""Models with features that the onnx package's node tests lack: loops that are not unrolled, branches on values, functions with
attributes, external and sparse data, shapes that depend on values, corner cases of quantized and recurrent operators.

  extra_tests.py --runner dlc-onnx-ref --out DIR

Expected outputs are computed by the onnx package's reference evaluator, or by ONNX Runtime if the evaluator fails.
"""

import argparse
import os
import subprocess
import sys
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator


def text(source):
    return parser.parse_model(source)


def f32(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'


def models():
    """Yields name, model, inputs."""
    loop = (
        HEAD
        + """agraph (float[3] x, int64 m) => (float[3] y) {
        c = Constant<value_int=1>() k = Cast<to=9>(c)
        y = Loop(m, k, x)<body = b (int64 i, bool cond, float[3] s) => (bool out, float[3] t) {
            out = Identity(cond) f = Cast<to=1>(i) a = Add(s, x) t = Add(a, f) }>
    }"""
    )
    yield "loop-dynamic-trip", text(loop), [f32(3), np.array(5)]
    yield "loop-no-trip", text(loop), [f32(3), np.array(0)]
    long = (
        HEAD
        + """agraph (float[3] x) => (float[3] y, float[N, 3] all) {
        m = Constant<value_int=300>() c = Constant<value_int=1>() k = Cast<to=9>(c) r = Constant<value_float=0.99>()
        y, all = Loop(m, k, x)<body = b (int64 i, bool cond, float[3] s) => (bool out, float[3] t, float[3] u) {
            out = Identity(cond) t1 = Mul(s, r) t2 = Sin(t1) t = Add(t2, x) u = Neg(t) }>
    }"""
    )
    yield "loop-scan-output", text(long), [f32(3)]
    while_loop = (
        HEAD
        + """agraph (float[3] x, float limit) => (float[3] y, int64 n) {
        c = Constant<value_int=1>() k = Cast<to=9>(c) zero = Constant<value_int=0>() one = Constant<value_int=1>()
        y, n = Loop(, k, x, zero)<body = b (int64 i, bool cond, float[3] s, int64 n0) => (bool out, float[3] t, int64 n1) {
            two = Constant<value_float=2.0>() t = Mul(s, two) sq = Mul(t, t) z = ReduceSum<keepdims=0>(sq) out = Less(z, limit)
            n1 = Add(n0, one) }>
    }"""
    )
    yield "loop-while", text(while_loop), [f32(3), np.array(1e6, np.float32)]
    growing = (
        HEAD
        + """agraph (float[1, 2] x, int64 m) => (float[N, 2] y) {
        c = Constant<value_int=1>() k = Cast<to=9>(c)
        y = Loop(m, k, x)<body = b (int64 i, bool cond, float[N, 2] s) => (bool out, float[M, 2] t) {
            out = Identity(cond) t = Concat<axis=0>(s, x) }>
    }"""
    )
    yield "loop-growing", text(growing), [f32(1, 2), np.array(4)]
    branch = (
        HEAD
        + """agraph (float[3] x, bool k) => (float[3] y) {
        y = If(k)<then_branch = t () => (float[3] a) { a = Exp(x) }, else_branch = e () => (float[3] z) { z = Neg(x) }>
    }"""
    )
    yield "if-dynamic", text(branch), [f32(3), np.array(True)]
    yield "if-dynamic-else", text(branch), [f32(3), np.array(False)]
    shapes = (
        HEAD
        + """agraph (float[4, 3] x, bool k) => (float[N, 3] y) {
        s = Constant<value_ints=[0]>() e = Constant<value_ints=[2]>()
        y = If(k)<then_branch = t () => (float[2, 3] a) { a = Slice(x, s, e) }, else_branch = f () => (float[4, 3] z) { z = Neg(x) }>
    }"""
    )
    yield "if-shapes", text(shapes), [f32(4, 3), np.array(True)]
    nested = (
        HEAD
        + """agraph (float[3] x, bool k, int64 m) => (float[3] y) {
        c = Constant<value_int=1>() one = Cast<to=9>(c)
        y = Loop(m, one, x)<body = b (int64 i, bool cond, float[3] s) => (bool out, float[3] t) {
            out = Identity(cond)
            t = If(k)<then_branch = th () => (float[3] a) { a = Add(s, x) }, else_branch = el () => (float[3] z) { z = Sub(s, x) }> }>
    }"""
    )
    yield "loop-if", text(nested), [f32(3), np.array(True), np.array(700)]
    scan = (
        HEAD
        + """agraph (float[2] h, float[900, 2] x) => (float[2] y, float[900, 2] ys) {
        y, ys = Scan(h, x)<num_scan_inputs=1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] u) {
            a = Constant<value_float=0.5>() p = Mul(s, a) q = Add(p, e) t = Tanh(q) u = Identity(t) }>
    }"""
    )
    yield "scan-long", text(scan), [f32(2), f32(900, 2, seed=1)]
    function = """<ir_version: 10, opset_import: ["" : 20, "own" : 1]>
    agraph (float[3] x) => (float[3] y) { a = own.scaled<alpha=3.0>(x) y = own.scaled(a) }
    <domain: "own", opset_import: ["" : 20]>
    scaled <alpha: float = 0.5> (x) => (y) { c = Constant<value_float: float = @alpha>() d = LeakyRelu<alpha: float = @alpha>(x) y = Mul(c, d) }
    """
    yield "function-attributes", text(function), [f32(3)]
    unordered = text(HEAD + "agraph (float[3] x) => (float[3] y) { a = Exp(x) y = Neg(a) }")
    unordered.graph.node.extend(
        list(reversed([unordered.graph.node.pop(), unordered.graph.node.pop()]))
    )
    unordered.graph.node.reverse()
    yield "unordered", unordered, [f32(3)]
    dead = HEAD + "agraph (float[3] x) => (float[3] y) { a = Frobnicate(x) y = Neg(x) }"
    yield "dead-unknown", text(dead), [f32(3)]
    by_value = (
        HEAD + """agraph (float[2, 6] x, int64[2] s) => (float[A, B] y) { y = Reshape(x, s) }"""
    )
    yield "reshape-by-input", text(by_value), [f32(2, 6), np.array([3, 4])]
    nonzero = (
        HEAD
        + """agraph (float[5] x) => (float[N] y) { z = Constant<value_float=0.0>() g = Greater(x, z) i = NonZero(g)
        t = Transpose(i) y = GatherND(x, t) }"""
    )
    yield "nonzero", text(nonzero), [f32(5)]
    arithmetic = (
        HEAD
        + """agraph (float[B, S, 8] x) => (float[B, 2, S, 4] y) {
        s = Shape(x) i0 = Constant<value_int=0>() i1 = Constant<value_int=1>() b = Gather(s, i0) l = Gather(s, i1) u = Constant<value_ints=[0]>()
        b1 = Unsqueeze(b, u) l1 = Unsqueeze(l, u) h = Constant<value_ints=[2]>() d = Constant<value_ints=[-1]>()
        t = Concat<axis=0>(b1, l1, h, d) r = Reshape(x, t) y = Transpose<perm=[0, 2, 1, 3]>(r) }"""
    )
    yield "shape-arithmetic", text(arithmetic), [f32(3, 5, 8)]
    sequence = (
        HEAD
        + """agraph (float[6, 2] x) => (float[6, 2] y, int64 n) {
        k = Constant<value_ints=[1, 2, 3]>() s = SplitToSequence<axis=0>(x, k) n = SequenceLength(s) i = Constant<value_int=-1>()
        l = SequenceAt(s, i) r = SequenceErase(s, i) z = Constant<value_int=0>() t = SequenceInsert(r, l, z) y = ConcatFromSequence<axis=0>(t) }"""
    )
    yield "sequence", text(sequence), [f32(6, 2)]
    dense = text(HEAD + "agraph (float[3, 4] x) => (float[3, 4] y) { y = Add(x, w) }")
    values = numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")
    indices = numpy_helper.from_array(np.array([1, 6, 11]), "wi")
    del dense.graph.initializer[:]
    dense.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3, 4]))
    yield "sparse-initializer", dense, [f32(3, 4)]
    big = text(HEAD + "agraph (float[2, 300] x) => (float[2, 7] y) { y = MatMul(x, w) }")
    big.graph.initializer.append(numpy_helper.from_array(f32(300, 7, seed=3), "w"))
    yield "external-data", big, [f32(2, 300)]
    yield "large-initializer", big, [f32(2, 300)]
    narrow = text(
        HEAD.replace("20", "21")
        + "agraph (float[3, 5] x) => (float[3, 5] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }"
    )
    narrow.graph.initializer.extend(
        [
            numpy_helper.from_array(np.array(0.25, np.float32), "s"),
            numpy_helper.from_array(np.array(-3, ml_dtypes.int4), "z"),
        ]
    )
    yield "quantize-four-bits", narrow, [f32(3, 5)]
    # Operators that have no form for 4-bit integers of their own, and models that move them only.
    four = text(
        HEAD.replace("20", "21")
        + """agraph (int4[3, 5] x, int64[2] i, bool c) => (int4[5, 3] t, int4[15] r, int4[3, 2] g, int4[2, 5] w, int4[3, 5] b, float[3, 5] y) {
        t = Transpose<perm=[1, 0]>(x) s = Constant<value_ints=[15]>() r = Reshape(x, s) f = Cast<to=1>(x) i8 = Cast<to=3>(x)
        g8 = Gather<axis=1>(i8, i) g = Cast<to=22>(g8) w8 = Gather(i8, i) w = Cast<to=22>(w8)
        b = If(c) <then_branch = yes () => (int4[3, 5] a) { a = Identity(x) }, else_branch = no () => (int4[3, 5] a) { h = Constant<value_float=2.0>() m = Mul(f, h) a = Cast<to=22>(m) }>
        y = CastLike(b, f) }"""
    )
    yield (
        "four-bits",
        four,
        [np.arange(-7, 8).reshape(3, 5).astype(ml_dtypes.int4), np.array([2, 0]), np.array(False)],
    )
    lstm = """agraph (float[5, 2, 3] x) => (float[5, D, 2, 4] y, float[D, 2, 4] h) {
        y, h = OP<hidden_size=4, direction="bidirectional">(x, w, r, b) }"""
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        m = text(HEAD + lstm.replace("OP", op))
        for key, shape in (
            ("w", (2, 4 * gates, 3)),
            ("r", (2, 4 * gates, 4)),
            ("b", (2, 8 * gates)),
        ):
            m.graph.initializer.append(numpy_helper.from_array(0.5 * f32(*shape, seed=7), key))
        yield f"{op.lower()}-both", m, [f32(5, 2, 3)]
        m = onnx.ModelProto.FromString(m.SerializeToString())
        m.graph.node[0].input.append("n")
        m.graph.initializer.append(numpy_helper.from_array(np.array([3, 5], np.int32), "n"))
        yield f"{op.lower()}-lengths", m, [f32(5, 2, 3)]
    for equation, shapes in (
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("i,j->ij", [(3,), (4,)]),
        ("ij->ji", [(3, 4)]),
        ("ii->i", [(3, 3)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("...ij,...jk", [(2, 3, 4), (4, 5)]),
        ("ijk,k,j->i", [(2, 3, 4), (4,), (3,)]),
    ):
        names = "abc"[: len(shapes)]
        node = helper.make_node("Einsum", list(names), ["y"], equation=equation)
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info(n, T.FLOAT, s) for n, s in zip(names, shapes)],
            [helper.make_tensor_value_info("y", T.FLOAT, None)],
        )
        yield (
            "einsum-" + equation.replace(",", "_").replace("->", "-to-").replace("...", "x"),
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]),
            [f32(*s, seed=i) for i, s in enumerate(shapes)],
        )
    # Both from random graphs (test/graphs).
    resize = """agraph (float[1, 1, 2, 3] x) => (float[1, 1, 1, 1] y) {
        sizes = Constant<value_ints=[1, 1, 1, 1]>()
        y = Resize<mode="linear", coordinate_transformation_mode="pytorch_half_pixel">(x, , , sizes) }"""
    yield "resize-to-one", text(HEAD + resize), [f32(1, 1, 2, 3)]
    of_none = text(
        HEAD
        + """agraph (float[2, 3] x) => (float[2, 3] y) { y = ReduceLogSumExp<noop_with_empty_axes=1>(x, axes) }"""
    )
    of_none.graph.initializer.append(numpy_helper.from_array(np.zeros(0, np.int64), "axes"))
    yield "log-sum-exp-of-none", of_none, [200 * f32(2, 3)]

    # Operators that select, of tensors without elements that only the run knows.
    empty = HEAD + """agraph (float[0, 3] x) => (int64[2, N] y) { y = NonZero(x) }"""
    yield "nonzero-empty", text(empty), [np.zeros((0, 3), np.float32)]
    yield (
        "nonzero-empty-sums",
        text(
            HEAD
            + """agraph (float[2, 0, 3] x) => (int64[1] y, int64[M] n) {
        z = NonZero(x) y = Shape<start=1>(z) a = Constant<value_ints=[1]>() n = ReduceSum<keepdims=0>(z, a) }"""
        ),
        [np.zeros((2, 0, 3), np.float32)],
    )
    yield (
        "compress-empty",
        text(
            HEAD
            + """agraph (float[0, 3] x, bool[0] c) => (float[N, 3] y) { y = Compress<axis=0>(x, c) }"""
        ),
        [np.zeros((0, 3), np.float32), np.zeros(0, bool)],
    )
    yield (
        "unique-empty",
        text(HEAD + """agraph (int64[0] x) => (int64[N] y) { y = Unique(x) }"""),
        [np.zeros(0, np.int64)],
    )
    for kind in (np.float32, np.float16, np.float64, np.int64):
        values, places = (
            numpy_helper.from_array(np.array([3, -1, 2], kind), "v"),
            numpy_helper.from_array(np.array([[0, 1], [1, 0], [1, 2]]), "i"),
        )
        element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        sparse = helper.make_node(
            "Constant", [], ["c"], sparse_value=helper.make_sparse_tensor(values, places, [2, 3])
        )
        graph = helper.make_graph(
            [sparse, helper.make_node("Add", ["x", "c"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", element, [2, 3])],
            [helper.make_tensor_value_info("y", element, [2, 3])],
        )
        yield (
            f"constant-sparse-{np.dtype(kind)}",
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
            [np.arange(6).reshape(2, 3).astype(kind)],
        )
    # Cubic sampling with border padding clamps each neighbour, as ONNX Runtime and PyTorch do.
    grid = np.random.default_rng(5).uniform(-1.3, 1.3, (1, 4, 5, 2)).astype(np.float32)
    for corners in (0, 1):
        source = f"""agraph (float[1, 2, 3, 4] x, float[1, 4, 5, 2] g) => (float[1, 2, 4, 5] y) {{
            y = GridSample<mode="cubic", padding_mode="border", align_corners={corners}>(x, g) }}"""
        yield f"grid-cubic-border-{corners}", text(HEAD + source), [f32(1, 2, 3, 4), grid]

    # Floats of eight bits, and four: neighbours, halves between them, what is too small and too large.
    few = np.linspace(-3, 3, 97, dtype=np.float32)
    for kind, most in (
        ("FLOAT8E4M3FN", 448),
        ("FLOAT8E4M3FNUZ", 240),
        ("FLOAT8E5M2", 57344),
        ("FLOAT8E5M2FNUZ", 57344),
        ("FLOAT4E2M1", 6),
    ):
        code, numbers = (
            getattr(T, kind),
            np.random.default_rng(3).integers(0, 0x78, 32 if most > 6 else 16, dtype=np.uint8),
        )
        eight = text(
            HEAD.replace("20", "23")
            + f"""agraph (float[N] x, float[2, 4] m) => (float[N] y, float[N] c, float[2, 8] p) {{
            q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) k = Cast<to = {code}>(x) c = Cast<to = 1>(k) v = DequantizeLinear(w, s) p = MatMul(m, v) }}"""
        )
        eight.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", T.FLOAT, [4 * few.size]))
        eight.graph.initializer.extend(
            [
                helper.make_tensor("w", code, [4, 8], numbers.tobytes(), raw=True),
                helper.make_tensor("z", code, [], b"\0", raw=True),
            ]
        )
        eight.graph.initializer.append(numpy_helper.from_array(np.float32(0.25), "s"))
        yield (
            "quantize-" + kind.lower(),
            eight,
            [
                np.concatenate(
                    [few, few * most / 2.5, few / 1024, few * 2.0 ** np.arange(-48, 49) % 200]
                ).astype(np.float32),
                f32(2, 4),
            ],
        )


def write(out):
    names = []
    for name, model, inputs in models():
        folder = os.path.join(out, name)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        reference = model
        if name == "dead-unknown":
            reference = onnx.ModelProto()
            reference.CopyFrom(model)
            del reference.graph.node[0]
        if name == "unordered":
            reference = onnx.ModelProto()
            reference.CopyFrom(model)
            reference.graph.node.sort(key=lambda n: n.op_type)
        feeds = {i.name: v for i, v in zip(model.graph.input, inputs)}
        try:
            if (
                name.endswith("-lengths")
                or name == "resize-to-one"
                or name.startswith("grid-cubic-border")
            ):
                # It reads past the sequences' ends, half an element before the first, and clamps the sampled point.
                raise NotImplementedError
            outputs = ReferenceEvaluator(reference).run(None, feeds)
        except Exception:  # noqa: BLE001  it does not know all of ONNX
            try:
                import onnxruntime
            except ImportError:
                print(f"skipped, since onnxruntime is not installed: {name}")
                continue
            outputs = onnxruntime.InferenceSession(reference.SerializeToString()).run(None, feeds)
        path = os.path.join(folder, "model.onnx")
        if name == "external-data":
            for stale in ("weights.bin",):
                if os.path.exists(os.path.join(folder, stale)):
                    os.unlink(os.path.join(folder, stale))
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            onnx.save(
                copy, path, save_as_external_data=True, location="weights.bin", size_threshold=0
            )
        else:
            onnx.save(model, path)
        for kind, values in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(values):
                with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as f:
                    f.write(numpy_helper.from_array(np.asarray(value)).SerializeToString())
        names.append(folder)
    return names


def main():
    warnings.filterwarnings("ignore")
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--runner", required=True)
    p.add_argument("--out", required=True)
    arguments = p.parse_args()
    return subprocess.run(
        [arguments.runner, "--rtol", "1e-4", "--atol", "1e-5", *write(arguments.out)]
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
