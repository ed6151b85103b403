"""Writes the tests of this folder whose expected values are computed by NumPy or by the onnx package's evaluator.

    python Inputs/literals.py        # from test/ir/reference; needs numpy and onnx

Expected values are computed in float64 from the exact operands and rounded once, as by the reference evaluator. Values with
few digits are checked as text. For others the test returns the expected constant after the result, and both must print the same text.
"""
import math
import os
from statistics import NormalDist

import numpy as np
from onnx import helper, TensorProto
from onnx.reference import ReferenceEvaluator

NAMES = {"float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64"}
rng = np.random.default_rng(7)


def numbers(*shape, low=-2, high=2, dtype=np.float32):
    """Random operands of few digits."""
    return (np.round(rng.uniform(low, high, shape) * 16) / 16).astype(dtype)


def type_of(a):
    return f"tensor<{''.join(f'{d}x' for d in a.shape)}{NAMES[a.dtype.name]}>"


def scalar(v, printed):
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (int, np.integer)):
        return str(v)
    if math.isnan(v):
        return {2: "0x7E00", 4: "0x7FC00000", 8: "0x7FF8000000000000"}[v.itemsize]
    if math.isinf(v):
        return ("0x7F800000" if v > 0 else "0xFF800000") if v.itemsize == 4 else "0x7FF0000000000000"
    return f"{float(f'{float(v):.5e}'):.6e}" if printed else f"{float(v):.17e}" if v.itemsize == 8 else f"{float(v):.9e}"


def literal(a, printed=False):
    if printed and a.size and (a == a.flat[0]).all():
        return scalar(a.flat[0], printed)
    if a.size == 0:
        return ""
    def nested(b):
        return scalar(b, printed) if b.ndim == 0 else "[" + ", ".join(nested(x) for x in b) + "]"
    return nested(np.asarray(a)) if a.ndim else scalar(a[()], printed)


def short(a):
    """Whether MLIR prints the values with six digits."""
    if a.dtype.kind != "f":
        return True
    return all(math.isnan(v) or math.isinf(v) or a.dtype.type(f"{float(v):.5e}") == v for v in a.flat)


class File:
    def __init__(self, name, says):
        self.name = name
        self.lines = [f"// {says}", "// Written by Inputs/literals.py.",
                      "// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s", ""]

    def case(self, name, op, operands, *expected, note=None):
        """`op` is the text of one operation on %names; `operands` are its constants in the order of its operands."""
        if isinstance(expected[0], list):
            expected = expected[0]
        expected = [np.asarray(e) for e in expected]
        twins = [not short(e) for e in expected]
        types = [type_of(e) for e in expected]
        returned = [t for t, twin in zip(types, twins) for _ in range(1 + twin)]
        out = [f"// {note}"] if note else []
        out.append(f"// CHECK-LABEL: @{name}()")
        for e, twin in zip(expected, twins):
            if twin:
                out += ["// CHECK-NEXT: [[Y:dense<.*>]] :", "// CHECK-NEXT: [[Y]] :"]
            else:
                text = f"dense<{literal(e, True)}> : {type_of(e)}"
                out.append("// CHECK-NEXT: " + text.replace("[[", "{{\\[\\[}}").replace("{{\\[\\[}}[", "{{\\[\\[\\[}}"))
        out.append(f"func.func @{name}() -> ({', '.join(returned)}) {{")
        for key, value in operands.items():
            out.append(f"  %{key} = dlc.constant dense<{literal(value)}> : {type_of(value)}")
        ins = ", ".join(type_of(v) for v in operands.values())
        results = "%y" if len(expected) == 1 else f"%y:{len(expected)}"
        signature = f"({ins}) -> {types[0]}" if len(types) == 1 else f"({ins}) -> ({', '.join(types)})"
        out.append(f"  {results} = {op} : {signature}")
        values = []
        for i, (e, twin) in enumerate(zip(expected, twins)):
            values.append("%y" if len(expected) == 1 else f"%y#{i}")
            if twin:
                out.append(f"  %expected{i} = dlc.constant dense<{literal(e)}> : {types[i]}")
                values.append(f"%expected{i}")
        out += [f"  return {', '.join(values)} : {', '.join(returned)}", "}", ""]
        self.lines += out

    def write(self):
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open(os.path.join(folder, self.name + ".mlir"), "w") as f:
            f.write("\n".join(self.lines))


def onnx_eval(op, inputs, outputs=1, opset=22, **attributes):
    """What the onnx package's evaluator gives in float64; absent inputs are None."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    outs = [f"o{k}" for k in range(outputs)]
    given = {n: v.astype(np.float64) if v.dtype.kind == "f" else v for n, v in zip(names, inputs) if n}
    info = [helper.make_tensor_value_info(n, TensorProto.DOUBLE if v.dtype.kind == "f" else
                                          helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given.items()]
    graph = helper.make_graph([helper.make_node(op, names, outs, **attributes)], "g", info,
                              [helper.make_tensor_value_info(o, TensorProto.DOUBLE, None) for o in outs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, given)


def f32(values):
    return [np.asarray(v).astype(np.float32) for v in values]


def array(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if len(values) else "") + ">"


def math_functions():
    f = File("math", "Results of unary math functions.")
    wide = np.array([-20, -3.5, -1, -0.25, 0, 1e-8, 0.5, 2, 30], np.float32)
    unit = np.array([-1, -0.5, 0, 0.25, 1], np.float32)
    positive = np.array([1e-20, 0.5, 1, 2, 1e20], np.float32)
    above = np.array([1, 1.5, 1e10], np.float32)
    inside = np.array([-0.75, 0, 0.5], np.float32)
    erf = np.vectorize(math.erf)
    functions = {
        "exp": (wide, np.exp), "expm1": (wide, np.expm1), "log": (positive, np.log),
        "log1p": (positive, np.log1p), "sqrt": (positive, np.sqrt), "rsqrt": (positive, lambda x: 1 / np.sqrt(x)),
        "sin": (wide, np.sin), "cos": (wide, np.cos), "tan": (wide, np.tan), "asin": (unit, np.arcsin),
        "acos": (unit, np.arccos), "atan": (wide, np.arctan), "sinh": (wide, np.sinh), "cosh": (wide, np.cosh),
        "tanh": (wide, np.tanh), "asinh": (wide, np.arcsinh), "acosh": (above, np.arccosh),
        "atanh": (inside, np.arctanh), "erf": (wide, erf), "erfc": (wide, np.vectorize(math.erfc)),
        "erfinv": (inside, np.vectorize(lambda x: NormalDist().inv_cdf((1 + x) / 2) / math.sqrt(2))),
        "sigmoid": (wide, lambda x: 1 / (1 + np.exp(-x))),
    }
    for name, (x, function) in functions.items():
        f.case(name, f"dlc.{name} %x", {"x": x}, function(x.astype(np.float64)).astype(np.float32))
    a, b = np.array([[0.0], [-0.0], [2], [-3]], np.float32), np.array([0, -0.0, 1, -4], np.float32)
    f.case("atan2", "dlc.atan2 %x, %z", {"x": a, "z": b}, np.arctan2(a.astype(np.float64), b).astype(np.float32))
    x = wide.astype(np.float64)
    # erfc by its own function: 1 + erf has no digits left at -20 (nor has the product in f32).
    exact = 0.5 * x * np.vectorize(math.erfc)(-x / math.sqrt(2))
    f.case("gelu", "dlc.gelu %x", {"x": wide}, exact.astype(np.float32))
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)
    f.case("gelu_tanh", "dlc.gelu %x {approximate}", {"x": wide}, (0.5 * x * (1 + np.tanh(inner))).astype(np.float32))
    h = np.array([0.1, 1, 5], np.float16)
    f.case("exp_f16", "dlc.exp %x", {"x": h}, np.exp(h.astype(np.float64)).astype(np.float16))
    d = np.array([0.1, 1, 5], np.float64)
    f.case("exp_f64", "dlc.exp %x", {"x": d}, np.exp(d))
    f.write()


def shape():
    f = File("shape", "Results of operations that move elements.")
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    b = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    f.case("reshape", "dlc.reshape %x", {"x": a}, a.reshape(3, 2))
    f.case("transpose", "dlc.transpose %x [1, 0]", {"x": a}, a.T)
    f.case("transpose_3d", "dlc.transpose %x [2, 0, 1]", {"x": b}, b.transpose(2, 0, 1))
    f.case("broadcast", "dlc.broadcast %x", {"x": a[:, :1]}, np.broadcast_to(a[:, :1], (2, 2, 3)))
    f.case("slice", "dlc.slice %x start [0, 2] size [2, 2] stride [1, -2]", {"x": a}, a[:, 2::-2])
    f.case("slice_3d", "dlc.slice %x start [1, 0, 1] size [1, 2, 2] stride [1, 2, 2]", {"x": b}, b[1:, ::2, 1::2])
    f.case("slice_nothing", "dlc.slice %x start [2, 0] size [0, 3] stride [1, 1]", {"x": a}, a[2:])
    zero = np.array(-1, np.int32)
    for mode in ("constant", "reflect", "edge", "wrap"):
        more = {"constant_values": -1} if mode == "constant" else {}
        f.case(f"pad_{mode}", f"dlc.pad {mode} %x, %v low [1, 2] high [0, 1]", {"x": a, "v": zero},
               np.pad(a, ((1, 0), (2, 1)), mode=mode, **more).astype(np.int32))
    f.case("pad_removes", "dlc.pad constant %x, %v low [-1, 1] high [1, -1]", {"x": a, "v": zero},
           np.array([[-1, 3, 4], [-1, -1, -1]], np.int32))
    f.case("concat", "dlc.concat 1 (%x, %z)", {"x": a, "z": a[:, :1] * 10}, np.concatenate([a, a[:, :1] * 10], 1))
    f.case("concat_outer", "dlc.concat 0 (%x, %z)", {"x": a, "z": a[:1] + 10}, np.concatenate([a, a[:1] + 10], 0))
    flags = np.array([[True, False, True]])
    f.case("transpose_bool", "dlc.transpose %x [1, 0]", {"x": flags}, flags.T)
    f.case("constant_empty", "dlc.concat 0 (%x, %z)", {"x": np.zeros(0, np.int64), "z": np.zeros(0, np.int64)}, np.zeros(0, np.int64))
    f.lines += """// CHECK-LABEL: @iota()
// CHECK-NEXT: dense<{{\\[\\[}}0, 1, 2], [0, 1, 2]]> : tensor<2x3xi64>
// CHECK-NEXT: dense<{{\\[\\[}}0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00]]> : tensor<2x2xf16>
func.func @iota() -> (tensor<2x3xi64>, tensor<2x2xf16>) {
  %0 = dlc.iota 1 : tensor<2x3xi64>
  %1 = dlc.iota 0 : tensor<2x2xf16>
  return %0, %1 : tensor<2x3xi64>, tensor<2x2xf16>
}

// Splats, packed bools and resources are read in the same way; the result type becomes static.
// CHECK-LABEL: @constants() -> (tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>)
// CHECK-NEXT: dense<2.500000e+00> : tensor<2x2xf32>
// CHECK-NEXT: dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
// CHECK-NEXT: dense<[258, -1]> : tensor<2xi32>
// CHECK-NEXT: dense<[true, false, true]> : tensor<3xi1>
func.func @constants() -> (tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>) {
  %0 = dlc.constant dense<2.5> : tensor<2x2xf32>
  %1 = dlc.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
  %2 = dlc.constant dense_resource<two> : tensor<2xi32>
  %3 = dlc.constant dense_resource<flags> : tensor<3xi1>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>
}

{-#
  dialect_resources: {
    builtin: {
      two: "0x0400000002010000FFFFFFFF",
      flags: "0x01000000010001"
    }
  }
#-}
""".split("\n")
    f.write()


def gather():
    f = File("gather", "Results of gathers and scatters.")
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    i = np.array([[2, -3], [0, 1]], np.int64)
    f.case("gather_rows", "dlc.gather 0 %x, %i", {"x": x, "i": i}, np.take(x, i, 0))
    f.case("gather_columns", "dlc.gather 1 %x, %i", {"x": x, "i": i}, np.take(x, i, 1))
    f.case("gather_one", "dlc.gather 1 %x, %i", {"x": x, "i": np.array(-1, np.int32)}, x[:, -1])
    f.case("gather_outside", "dlc.gather 0 %x, %i", {"x": x, "i": np.array([7, -9], np.int64)}, x[[2, 0]],
           note="An index out of range reads the nearest element.")
    e = np.array([[1, -1], [0, 2]], np.int64)
    f.case("gather_elements", "dlc.gather_elements 1 %x, %i", {"x": x, "i": e}, np.take_along_axis(x[:2], e, 1))
    f.case("gather_elements_0", "dlc.gather_elements 0 %x, %i", {"x": x, "i": e}, np.array([[4, 9], [0, 9]], np.int32))
    b = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    n = np.array([[0, 1], [1, -2]], np.int64)
    f.case("gather_nd", "dlc.gather_nd %x, %i {batch_dims = 0 : i64}", {"x": b, "i": n}, b[[0, 1], [1, 0]])
    m = np.array([[1], [0]], np.int64)
    f.case("gather_nd_batch", "dlc.gather_nd %x, %i {batch_dims = 1 : i64}", {"x": b, "i": m},
           onnx_eval("GatherND", [b, m], batch_dims=1)[0].astype(np.float32))
    data = np.array([[1, 2, 3, 4, 5]], np.float32)
    at, news = np.array([[1, 1, -2]], np.int64), np.array([[10, 0.5, 7]], np.float32)
    for reduction in ("none", "add", "mul", "max", "min"):
        f.case(f"scatter_elements_{reduction}", f"dlc.scatter_elements {reduction} 1 %x, %i, %u",
               {"x": data, "i": at, "u": news},
               f32(onnx_eval("ScatterElements", [data, at, news], axis=1, reduction=reduction))[0])
    at, news = np.array([[2], [0], [2]], np.int64), np.array([[1, 2], [3, 4], [5, 6]], np.int32)
    base = np.array([[1, 1], [2, 2], [3, 3]], np.int32)
    for reduction in ("none", "add", "mul", "max", "min"):
        f.case(f"scatter_nd_{reduction}", f"dlc.scatter_nd {reduction} %x, %i, %u", {"x": base, "i": at, "u": news},
               onnx_eval("ScatterND", [base, at, news], reduction=reduction)[0].astype(np.int32))
    at, news = np.array([[0, 1, 1], [1, 0, -1]], np.int32), np.array([-1, -2], np.float32)
    f.case("scatter_nd_elements", "dlc.scatter_nd none %x, %i, %u", {"x": b, "i": at, "u": news},
           np.array([[[0, 1], [2, -1]], [[4, -2], [6, 7]]], np.float32))
    f.write()


def reduce():
    f = File("reduce", "Results of reductions, cumulative sums and top-k.")
    x = numbers(2, 3, 4)
    functions = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
    for name, function in functions.items():
        for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            keep = len(axes) == 2
            f.case(f"{name}_{''.join(map(str, axes))}", f"dlc.reduce {name} %x axes {list(axes)}{' keepdims' * keep}",
                   {"x": x}, np.asarray(function(x.astype(np.float64), axis=axes, keepdims=keep), np.float32))
    none = np.zeros((2, 0), np.float32)
    for name, value in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf)):
        f.case(f"{name}_empty", f"dlc.reduce {name} %x axes [1]", {"x": none}, np.full(2, value, np.float32))
    i = np.array([[100, 100, -7], [-100, 2, 3]], np.int8)
    f.case("sum_wraps", "dlc.reduce sum %x axes [1]", {"x": i}, np.array([-63, -95], np.int8))
    f.case("mean_truncates", "dlc.reduce mean %x axes [1]", {"x": i}, np.array([64, -31], np.int8))
    f.case("max_i8_empty", "dlc.reduce max %x axes [1]", {"x": i[:, :0]}, np.array([-128, -128], np.int8))
    f.case("max_nan", "dlc.reduce max %x axes [0]", {"x": np.array([1, np.nan, 3], np.float32)}, np.array(np.nan, np.float32))
    many = np.full(4000, 1, np.float16)
    f.case("sum_f16", "dlc.reduce sum %x axes [0]", {"x": many[:9]}, np.array(9, np.float16))
    b = np.array([[True, False], [False, False]])
    f.case("any", "dlc.reduce max %x axes [1]", {"x": b}, b.any(1))
    f.case("all", "dlc.reduce min %x axes [0]", {"x": b}, b.all(0))
    t = np.array([[3, 1, 3], [0, 5, 5]], np.int32)
    f.case("arg_max", "dlc.arg_reduce max %x axis 1", {"x": t}, np.argmax(t, 1))
    f.case("arg_max_last", "dlc.arg_reduce max %x axis 1 keepdims last", {"x": t}, np.array([[2], [2]]))
    f.case("arg_min", "dlc.arg_reduce min %x axis 0", {"x": t}, np.argmin(t, 0))
    f.case("cumulative_sum", "dlc.cumulative sum %x axis 1", {"x": t}, np.cumsum(t, 1).astype(np.int32))
    f.case("cumulative_exclusive", "dlc.cumulative sum %x axis 1 exclusive", {"x": t}, np.array([[0, 3, 4], [0, 0, 5]], np.int32))
    f.case("cumulative_reverse", "dlc.cumulative sum %x axis 1 reverse", {"x": t}, np.array([[7, 4, 3], [10, 10, 5]], np.int32))
    f.case("cumulative_both", "dlc.cumulative sum %x axis 1 exclusive reverse", {"x": t}, np.array([[4, 3, 0], [10, 5, 0]], np.int32))
    f.case("cumulative_prod", "dlc.cumulative prod %x axis 0", {"x": t}, np.cumprod(t, 0).astype(np.int32))
    k = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.float32)
    f.case("topk", "dlc.topk %x {k = 3 : i64, axis = 1 : i64}", {"x": k},
           np.array([[5, 4, 3], [9, 6, 5]], np.float32), np.array([[4, 2, 0], [0, 2, 3]]))
    f.case("topk_smallest", "dlc.topk %x {k = 3 : i64, axis = 1 : i64, largest = false}", {"x": k},
           np.array([[1, 1, 3], [2, 3, 5]], np.float32), np.array([[1, 3, 0], [1, 4, 3]]))
    f.case("topk_axis", "dlc.topk %x {k = 1 : i64, axis = 0 : i64}", {"x": k},
           np.array([[9, 2, 6, 5, 5]], np.float32), np.array([[1, 1, 1, 1, 0]]))
    # The second box covers two thirds of what it and the first have together, the third a third; the fourth is apart.
    boxes = np.array([[[0, 0, 1, 5], [0, 6, 1, 1], [1, 8, 0, 3], [7, 7, 9, 9]]], np.float32)
    scores = np.array([[[5, 7, 6, 7], [5, 2, 6, np.nan], [1, 2, 3, 4]]], np.float32)
    there = np.array([[[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]]], bool)
    f.case("nms", "dlc.nms %b, %s, %c, %o {k = 3 : i64}", {"b": boxes, "s": scores, "c": there, "o": np.array(0.5, np.float32)},
           np.array([[[1, 3, 2], [3, 2, 0], [1, 0, 0]]]), np.array([[3, 3, 1]]))
    f.case("nms_of_two", "dlc.nms %b, %s, %c, %o {k = 2 : i64}", {"b": boxes, "s": scores, "c": there, "o": np.array(1, np.float32)},
           np.array([[[1, 3], [3, 2], [1, 0]]]), np.array([[2, 2, 2]]))
    f.write()


def contract():
    f = File("contract", "Results of matmuls.")
    a, b = numbers(2, 3), numbers(3, 4)
    exact = lambda p, q: (p.astype(np.float64) @ q.astype(np.float64)).astype(np.float32)
    f.case("plain", "dlc.matmul %a, %b", {"a": a, "b": b}, exact(a, b))
    f.case("transposed_a", "dlc.matmul %a, %b transpose_a", {"a": a.T.copy(), "b": b}, exact(a, b))
    f.case("transposed_b", "dlc.matmul %a, %b transpose_b", {"a": a, "b": b.T.copy()}, exact(a, b))
    f.case("transposed_both", "dlc.matmul %a, %b transpose_a transpose_b", {"a": a.T.copy(), "b": b.T.copy()}, exact(a, b))
    p, q = numbers(2, 1, 2, 3), numbers(3, 3, 2)
    f.case("batches_broadcast", "dlc.matmul %a, %b", {"a": p, "b": q}, exact(p, q))
    i, j = np.array([[20000, 2]], np.int16), np.array([[3], [7]], np.int16)
    f.case("integers_wrap", "dlc.matmul %a, %b", {"a": i, "b": j}, np.array([[-5522]], np.int16))
    f.case("empty_sum", "dlc.matmul %a, %b", {"a": a[:, :0], "b": b[:0]}, np.zeros((2, 4), np.float32))
    # The second group is empty, the third ends before it begins, the fourth would end behind all rows; and rows behind the last end.
    few = np.random.default_rng(8)
    rows, matrices, dy = ((few.integers(-32, 32, shape) / 16).astype(np.float32) for shape in ((5, 2), (4, 2, 3), (5, 3)))
    for name, ends, groups in (("", [2, 2, 1, 9], [0, 0, 3, 3, 3]), ("_with_a_rest", [1, 3, 3, 4], [0, 1, 1, 3])):
        product, gradient = np.zeros((5, 3), np.float32), np.zeros((4, 2, 3), np.float32)
        for row, group in enumerate(groups):
            product[row] = exact(rows[row : row + 1], matrices[group])
            gradient[group] += exact(rows[row : row + 1].T, dy[row : row + 1])
        e = np.array(ends, np.int32)
        f.case("groups" + name, "dlc.grouped_matmul %a, %b ends %e", {"a": rows, "b": matrices, "e": e}, product)
        f.case("groups_transposed" + name, "dlc.grouped_matmul %a, %b ends %e transpose_b", {"a": rows, "b": matrices.transpose(0, 2, 1).copy(), "e": e.astype(np.int64)}, product)
        f.case("groups_gradient" + name, "dlc.grouped_weight_grad %a, %d ends %e", {"a": rows, "d": dy, "e": e}, gradient)
    f.write()


def conv():
    f = File("conv", "Results of convolutions.")

    def one(name, x, w, bias=None, strides=None, dilations=None, low=None, high=None, groups=1, note=None):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high = low or [0] * n, high or [0] * n
        y = onnx_eval("Conv", [x, w, bias], strides=strides, dilations=dilations, pads=low + high, group=groups)
        f.case(name, f"dlc.conv {'%x, %w, %b' if bias is not None else '%x, %w'} {{strides = {array(strides)}, "
               f"dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}, groups = {groups} : i64}}",
               {"x": x, "w": w} | ({"b": bias} if bias is not None else {}), f32(y), note=note)

    one("plain", numbers(1, 2, 4, 4), numbers(3, 2, 2, 2))
    one("bias_stride_padding", numbers(2, 1, 4, 5), numbers(2, 1, 3, 2), numbers(2), strides=[2, 1], low=[1, 0], high=[1, 1])
    one("groups", numbers(1, 4, 3, 3), numbers(4, 2, 2, 2), numbers(4), groups=2)
    one("depthwise", numbers(1, 3, 3, 3), numbers(3, 1, 2, 2), groups=3, low=[1, 1])
    one("dilated", numbers(1, 1, 5, 5), numbers(1, 1, 2, 2), dilations=[2, 3])
    one("one_dimension", numbers(1, 2, 6), numbers(2, 2, 3), numbers(2), low=[1], high=[1], strides=[2])
    one("three_dimensions", numbers(1, 1, 3, 3, 3), numbers(1, 1, 2, 2, 2), high=[0, 1, 0])

    def transposed(name, x, w, bias=None, strides=None, dilations=None, low=None, high=None, extra=None, groups=1):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high, extra = low or [0] * n, high or [0] * n, extra or [0] * n
        # By definition: each element of x adds the weights, times itself, to the result.
        per, out = x.shape[1] // groups, w.shape[1]
        full = [(x.shape[d + 2] - 1) * strides[d] + (w.shape[d + 2] - 1) * dilations[d] + 1 + extra[d] for d in range(n)]
        y = np.zeros((x.shape[0], out * groups, *full))
        for c in range(x.shape[1]):
            for o in range(out):
                for at in np.ndindex(*x.shape[2:]):
                    for place in np.ndindex(*w.shape[2:]):
                        to = tuple(at[d] * strides[d] + place[d] * dilations[d] for d in range(n))
                        y[(slice(None), c // per * out + o) + to] += x[(slice(None), c) + at].astype(np.float64) * w[(c, o) + place]
        y = y[(slice(None), slice(None)) + tuple(slice(low[d], full[d] - high[d]) for d in range(n))]
        if bias is not None:
            y = y + bias.astype(np.float64).reshape(1, -1, *[1] * n)
        f.case(name, f"dlc.conv_transpose {'%x, %w, %b' if bias is not None else '%x, %w'} {{strides = {array(strides)}, "
               f"dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}, extra = {array(extra)}, "
               f"groups = {groups} : i64}}", {"x": x, "w": w} | ({"b": bias} if bias is not None else {}), f32([y]))

    transposed("transpose_plain", numbers(1, 2, 2, 2), numbers(2, 1, 2, 2))
    transposed("transpose_stride", numbers(1, 2, 2, 3), numbers(2, 2, 3, 2), numbers(2), strides=[2, 3], low=[1, 0], high=[0, 1], extra=[1, 0])
    transposed("transpose_groups", numbers(1, 4, 2, 2), numbers(4, 1, 2, 2), groups=2, dilations=[2, 1])
    transposed("transpose_one_dimension", numbers(2, 1, 3), numbers(1, 2, 2), numbers(2), strides=[2])
    f.write()


def pool():
    f = File("pool", "Results of pools.")

    def one(name, kind, x, window, strides=None, dilations=None, low=None, high=None, include=False, counted=None, ceil=0, column=None):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high = low or [0] * n, high or [0] * n
        common = f"window = {array(window)}, strides = {array(strides)}, dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}"
        explicit = counted or high
        if kind == "avg":
            # By definition, place by place.
            size = [(x.shape[d + 2] + low[d] + high[d] - (window[d] - 1) * dilations[d] - 1) // strides[d] + 1 for d in range(n)]
            y = np.zeros(x.shape[:2] + tuple(size))
            for out in np.ndindex(*size):
                total, count = 0.0, 0
                for place in np.ndindex(*window):
                    at = [out[d] * strides[d] + place[d] * dilations[d] - low[d] for d in range(n)]
                    if all(0 <= at[d] < x.shape[d + 2] for d in range(n)):
                        total, count = total + x[(slice(None), slice(None)) + tuple(at)].astype(np.float64), count + 1
                    elif include and all(-low[d] <= at[d] < x.shape[d + 2] + explicit[d] for d in range(n)):
                        count += 1
                y[(slice(None), slice(None)) + out] = total / count
            f.case(name, f"dlc.avg_pool %x {{{common}, counted_high = {array(explicit)}{', include_pad' * include}}}", {"x": x}, f32([y]))
        elif column is None:
            y = onnx_eval("MaxPool", [x], kernel_shape=window, strides=strides, dilations=dilations, pads=low + explicit, ceil_mode=ceil)
            f.case(name, f"dlc.max_pool %x {{{common}}}", {"x": x}, f32(y))
        else:
            y, i = onnx_eval("MaxPool", [x], outputs=2, kernel_shape=window, strides=strides, dilations=dilations,
                             pads=low + explicit, storage_order=int(column))
            f.case(name, f"dlc.max_pool_indices %x {{{common}{', column_major' * column}}}", {"x": x}, f32([y])[0], i.astype(np.int64))

    distinct = lambda *shape: (rng.permutation(int(np.prod(shape))).reshape(shape) / 4 - 3).astype(np.float32)
    one("max", "max", distinct(1, 2, 4, 4), [2, 2], strides=[2, 2])
    one("max_padded", "max", -1 - numbers(1, 1, 3, 3, low=0), [3, 3], low=[1, 1], high=[1, 1])
    one("max_dilated", "max", distinct(1, 1, 4, 4), [2, 2], dilations=[2, 1])
    one("max_rounded_up", "max", distinct(1, 1, 5), [2], strides=[2], high=[1], counted=[0], ceil=1)
    one("max_indices", "max", distinct(1, 2, 4, 4), [2, 2], strides=[2, 2], column=False)
    one("max_indices_column_major", "max", distinct(1, 2, 4, 3), [2, 2], strides=[2, 1], column=True)
    one("average", "avg", numbers(1, 2, 4, 4), [2, 2], strides=[2, 2])
    one("average_padding_out", "avg", numbers(1, 1, 3, 3), [2, 2], low=[1, 1], high=[1, 1])
    one("average_padding_in", "avg", numbers(1, 1, 3, 3), [2, 2], low=[1, 1], high=[1, 1], include=True)
    one("average_rounded_up", "avg", numbers(1, 1, 4), [3], strides=[2], low=[1], high=[2], counted=[1], include=True)
    one("average_dilated", "avg", numbers(1, 1, 4, 4), [2, 2], dilations=[1, 2], low=[0, 1])
    f.write()


def norm():
    f = File("norm", "Results of normalisations.")
    x = numbers(2, 3, 4)
    d = x.astype(np.float64)
    for axis in range(3):
        e = np.exp(d - d.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        f.case(f"softmax_{axis}", f"dlc.softmax %x {{axis = {axis} : i64}}", {"x": x}, f32([y]))
        f.case(f"log_softmax_{axis}", f"dlc.log_softmax %x {{axis = {axis} : i64}}", {"x": x},
               f32([(d - d.max(axis, keepdims=True)) - np.log(e.sum(axis, keepdims=True))]))
    s, b = numbers(3, 4, low=0.25), numbers(4, low=0.25)
    for axis, scale, bias in ((1, s, b), (2, b, None), (2, None, b), (0, None, None)):
        names = {"x": x} | ({"s": scale} if scale is not None else {}) | ({"b": bias} if bias is not None else {})
        axes = tuple(range(axis, 3))
        y = (d - d.mean(axes, keepdims=True)) / np.sqrt(d.var(axes, keepdims=True) + 1e-5)
        y = y * (1 if scale is None else scale.astype(np.float64)) + (0 if bias is None else bias.astype(np.float64))
        parameters = " scale %s" * (scale is not None) + " bias %b" * (bias is not None)
        f.case(f"layer_norm_{axis}{'s' * (scale is not None)}{'b' * (bias is not None)}",
               f"dlc.layer_norm %x{parameters} {{axis = {axis} : i64, eps = 1.0e-5 : f64}}", names, f32([y]))
    images, c = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 1, 3).round(2), (np.arange(4) / 4 + 0.5).astype(np.float32)
    for groups, scale, bias in ((4, None, None), (2, c, None), (1, c, c)):
        names = {"x": images} | ({"s": scale} if scale is not None else {}) | ({"b": bias} if bias is not None else {})
        rows = images.astype(np.float64).reshape(2, groups, -1)
        y = ((rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)).reshape(images.shape)
        y = y * (1 if scale is None else scale.reshape(4, 1, 1)) + (0 if bias is None else bias.reshape(4, 1, 1))
        parameters = " scale %s" * (scale is not None) + " bias %b" * (bias is not None)
        f.case(f"group_norm_{groups}", f"dlc.group_norm %x{parameters} {{groups = {groups} : i64, eps = 1.0e-5 : f64}}", names, f32([y]))
    y = d / np.sqrt((d * d).mean(2, keepdims=True) + 1e-3)
    f.case("rms_norm", "dlc.rms_norm %x {axis = 2 : i64, eps = 1.0e-3 : f64}", {"x": x}, f32([y]))
    f.case("rms_norm_scaled", "dlc.rms_norm %x, %s {axis = 2 : i64, eps = 1.0e-3 : f64}", {"x": x, "s": b}, f32([y * b.astype(np.float64)]))
    p = [numbers(3), numbers(3), numbers(3), numbers(3, low=0.5)]
    y = onnx_eval("BatchNormalization", [x, *p], epsilon=1e-5)
    f.case("batch_norm", "dlc.batch_norm %x, %s, %b, %m, %v {eps = 1.0e-5 : f64}", dict(zip("xsbmv", [x, *p])), f32(y))
    x = numbers(1, 5, 2, 2)
    for size in (3, 4):
        # By the specification: the evaluator of onnx sums the first channels only.
        d, before = x.astype(np.float64), (size - 1) // 2
        near = lambda c: (d[:, max(0, c - before):c - before + size] ** 2).sum(1)
        y = [np.stack([d[:, c] / (2.0 + 0.5 / size * near(c)) ** 0.75 for c in range(5)], 1)]
        f.case(f"lrn_{size}", f"dlc.lrn %x {{size = {size} : i64, alpha = 0.5 : f64, beta = 0.75 : f64, k = 2.0 : f64}}", {"x": x}, f32(y))
    f.write()


def attention():
    f = File("attention", "Results of attention.")

    def one(name, q, k, v, mask=None, causal=False, scale=0.5):
        b = np.zeros(q.shape[:-1] + (k.shape[-2],))
        if mask is not None:
            b = b + (np.where(mask, 0, -np.inf) if mask.dtype == bool else mask.astype(np.float64))
        if causal:
            b = b + np.where(np.tril(np.ones(b.shape[-2:])), 0, -np.inf)
        s = scale * (q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64)) + b
        top = s.max(-1, keepdims=True)
        e = np.exp(s - np.where(np.isinf(top), 0, top))
        total = e.sum(-1, keepdims=True)
        y = (e / np.where(total == 0, 1, total)) @ v.astype(np.float64)
        names = {"q": q, "k": k, "v": v} | ({"m": mask} if mask is not None else {})
        f.case(name, f"dlc.attention {', '.join('%' + n for n in names)} {{scale = {scale} : f64{', causal' * causal}}}", names, f32([y]))

    q, k, v = numbers(2, 3, 4), numbers(2, 5, 4), numbers(2, 5, 2)
    one("plain", q, k, v)
    one("causal", q, k, v, causal=True)
    one("mask_added", q, k, v, numbers(3, 5))
    hidden = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
    one("mask_hides", q, k, v, hidden)
    one("heads", numbers(2, 2, 2, 3), numbers(2, 2, 2, 3), numbers(2, 2, 2, 3), numbers(2, 1, 1, 2), causal=True, scale=1.25)

    def train(name, q, k, v, dy, mask=None, causal=False, scale=0.5):
        b = np.zeros(q.shape[:-1] + (k.shape[-2],))
        if mask is not None:
            b = np.where(mask, b, -np.inf)
        if causal:
            b = b + np.where(np.tril(np.ones(b.shape[-2:])), 0, -np.inf)
        seen = ~np.isinf(b)

        def forward(q, k, v):
            e = np.where(seen, np.exp(scale * (q @ np.swapaxes(k, -1, -2))), 0)
            total = e.sum(-1, keepdims=True)
            return e / np.where(total == 0, 1, total) @ v, total[..., 0]

        wide = [x.astype(np.float64) for x in (q, k, v)]
        y, total = forward(*wide)
        with np.errstate(divide="ignore"):
            lse = np.log(total)
        masks = {"m": mask} if mask is not None else {}
        attributes = f"{{scale = {scale} : f64{', causal' * causal}}}"
        names = {"q": q, "k": k, "v": v}
        f.case(name, f"dlc.attention_train {', '.join('%' + n for n in names | masks)} {attributes}", names | masks, f32([y, lse]))

        def slope(which):
            """Of sum(dy * y), by a step along the imaginary axis: nothing cancels."""
            gradient = np.zeros(wide[which].shape)
            for index in np.ndindex(*gradient.shape):
                values = [x.astype(complex) for x in wide]
                values[which][index] += 1e-30j
                gradient[index] = (forward(*values)[0] * dy).sum().imag / 1e-30
            return gradient

        def formula(y, lse, dy):
            p = np.where(seen, np.exp(scale * (wide[0] @ np.swapaxes(wide[1], -1, -2)) - np.where(np.isinf(lse), 0, lse)[..., None]), 0)
            ds = scale * p * (dy @ np.swapaxes(wide[2], -1, -2) - (dy * y).sum(-1, keepdims=True))
            turned = np.swapaxes(ds, -1, -2)
            return [ds @ wide[1], turned @ wide[0], np.swapaxes(p, -1, -2) @ dy]

        # The formula is the gradient; expected is what it gives of the rounded results of the forward operation.
        for found, exact in zip(formula(y, lse, dy), map(slope, range(3))):
            assert np.abs(found - exact).max() < 1e-14
        y, lse = f32([y, lse])
        names = {"q": q, "k": k, "v": v, "y0": y, "l": lse, "dy": dy} | masks
        f.case(name + "_grad", f"dlc.attention_grad {', '.join('%' + n for n in names)} {attributes}", names,
               f32(formula(y.astype(np.float64), lse.astype(np.float64), dy.astype(np.float64))))

    dy = (np.round(np.sin(np.arange(12)) * 32) / 16).astype(np.float32).reshape(2, 3, 2)
    train("train", q, k, v, dy)
    train("train_causal", q, k, v, dy, causal=True)
    train("train_hides", q, k, v, dy, hidden)
    f.write()


def recurrent():
    f = File("recurrent", "Results of recurrent layers.")
    T, N, I, H = 3, 2, 2, 3
    directions = {"forward": 1, "reverse": 1, "both": 2}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def layer(kind, x, w, r, b, h0, c0, direction, option):
        """The equations of the ONNX specification, direction by direction."""
        x, w, r, b, h0 = (v.astype(np.float64) for v in (x, w, r, b, h0))
        D, H = h0.shape[0], h0.shape[2]
        ys, hs, cs = np.zeros((x.shape[0], D, x.shape[1], H)), h0.copy(), None if c0 is None else c0.astype(np.float64)
        for d in range(D):
            wb, rb = np.split(b[d], 2)
            steps = range(x.shape[0])
            for t in reversed(steps) if direction == "reverse" or d == 1 else steps:
                h = hs[d]
                xs, rs = x[t] @ w[d].T + wb, h @ r[d].T + rb
                part = lambda a, g: a[:, g * H:(g + 1) * H]
                if kind == "lstm":
                    i, o, g, c = (part(xs + rs, k) for k in range(4))
                    cs[d] = sigmoid(g) * cs[d] + sigmoid(i) * np.tanh(c)
                    hs[d] = sigmoid(o) * np.tanh(cs[d])
                elif kind == "gru":
                    z, reset = sigmoid(part(xs, 0) + part(rs, 0)), sigmoid(part(xs, 1) + part(rs, 1))
                    inner = reset * part(rs, 2) if option else (reset * h) @ r[d][2 * H:].T + rb[2 * H:]
                    hs[d] = (1 - z) * np.tanh(part(xs, 2) + inner) + z * h
                else:
                    hs[d] = np.maximum(xs + rs, 0) if option else np.tanh(xs + rs)
                ys[t, d] = hs[d]
        return [ys, hs] + ([] if cs is None else [cs])

    for kind, gates, cases in (("lstm", 4, [("forward", False), ("reverse", False), ("both", False)]),
                               ("gru", 3, [("forward", False), ("forward", True), ("both", True)]),
                               ("rnn", 1, [("forward", False), ("reverse", True), ("both", False)])):
        for direction, option in cases:
            D = directions[direction]
            names = {"x": numbers(T, N, I), "w": numbers(D, gates * H, I, low=-1, high=1),
                     "r": numbers(D, gates * H, H, low=-1, high=1), "b": numbers(D, 2 * gates * H, low=-1, high=1),
                     "h": numbers(D, N, H)} | ({"c": numbers(D, N, H)} if kind == "lstm" else {})
            y = layer(kind, *list(names.values())[:5], names.get("c"), direction, option)
            flag = {"lstm": "", "gru": ", linear_before_reset", "rnn": ", relu"}[kind] if option else ""
            f.case(f"{kind}_{direction}{'_option' * option}",
                   f"dlc.{kind} {', '.join('%' + n for n in names)} {{direction = #dlc<direction {direction}>{flag}}}",
                   names, f32(y))
    f.write()


def training():
    """Gradients from other evaluators than ours: of linear operations by what they give for unit vectors, of others as
    derivatives along the imaginary axis."""
    f = File("training", "Results of operations that only training uses.")

    def adjoint(shape, forward, dy):
        """d sum(dy * forward(v)) / dv, for a linear function."""
        gradient = np.zeros(shape)
        for index in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[index] = 1
            gradient[index] = (forward(unit) * dy.astype(np.float64)).sum()
        return f32([gradient])

    def geometry(strides, dilations, low, high):
        return f"strides = {array(strides)}, dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}"

    def weights(name, x, w, groups=1, strides=None, dilations=None, low=None, high=None):
        n = x.ndim - 2
        strides, dilations, low, high = strides or [1] * n, dilations or [1] * n, low or [0] * n, high or [0] * n
        forward = lambda v: onnx_eval("Conv", [x, v], strides=strides, dilations=dilations, pads=low + high, group=groups)[0]
        dy = numbers(*forward(np.zeros(w)).shape)
        f.case(name, f"dlc.conv_weight_grad %x, %dy {{window = {array(w[2:])}, {geometry(strides, dilations, low, high)}, "
               f"groups = {groups} : i64}}", {"x": x, "dy": dy}, adjoint(w, forward, dy))

    weights("conv_weight_plain", numbers(2, 2, 3, 3), (2, 2, 2, 2))
    weights("conv_weight_stride", numbers(1, 2, 5, 4), (2, 2, 3, 2), strides=[2, 3], low=[1, 0], high=[1, 2])
    weights("conv_weight_dilated_groups", numbers(1, 4, 4, 4), (2, 2, 2, 2), groups=2, dilations=[2, 1])
    weights("conv_weight_one_dimension", numbers(2, 1, 5), (2, 1, 3), strides=[2], high=[1])

    distinct = lambda *shape: (rng.permutation(int(np.prod(shape))).reshape(shape) / 4 - 3).astype(np.float32)
    u8 = lambda values: np.asarray(values, np.uint8)
    window = f"window = array<i64: 2, 2>, {geometry([2, 2], [1, 1], [1, 0], [1, 0])}"
    # In the windows at the edge the first row is padding: positions start at 2 there.
    x = np.array([[[[1, 5, 3, 3], [2, 4, 3, 3]]]], np.float32)
    f.case("positions", f"dlc.max_pool_positions %x {{{window}}}", {"x": x}, f32([[[[[5, 3], [4, 3]]]]])[0], u8([[[[3, 2], [1, 0]]]]),
           note="The first of equal maxima.")
    for name, x, size, strides, low, high in (("max_pool_disjoint", distinct(1, 2, 4, 4), [2, 2], [2, 2], [0, 0], [0, 0]),
                                              ("max_pool_overlap", distinct(1, 1, 4, 5), [3, 2], [1, 2], [1, 0], [1, 1])):
        y, flat = onnx_eval("MaxPool", [x], outputs=2, kernel_shape=size, strides=strides, pads=low + high)
        dy = numbers(*y.shape)
        image = x.shape[2:]
        place, dx = np.zeros(y.shape, np.uint8), np.zeros(x.size)
        for index in np.ndindex(*y.shape):
            pixel = int(flat[index]) % (image[0] * image[1])
            row, column = (pixel // image[1] - index[2] * strides[0] + low[0], pixel % image[1] - index[3] * strides[1] + low[1])
            place[index] = row * size[1] + column
            dx[int(flat[index])] += dy[index]
        common = f"window = {array(size)}, {geometry(strides, [1, 1], low, high)}"
        f.case(name, f"dlc.max_pool_positions %x {{{common}}}", {"x": x}, f32([y])[0], place)
        f.case(name + "_gradient", f"dlc.max_pool_grad %dy, %p {{spatial = {array(image)}, {common}}}",
               {"dy": dy, "p": place}, f32([dx.reshape(x.shape)]))

    for name, shape, include, low, high in (("average", (1, 2, 4, 3), 0, [0, 0], [0, 0]), ("average_padding_out", (1, 1, 3, 3), 0, [1, 1], [1, 0]),
                                            ("average_padding_in", (1, 1, 3, 3), 1, [1, 1], [1, 0])):
        def forward(v):
            # The evaluator of onnx counts padding wrongly here and there: by definition.
            size = [v.shape[d + 2] + low[d] + high[d] - 1 for d in range(2)]
            y = np.zeros(v.shape[:2] + tuple(size))
            for out in np.ndindex(*size):
                at = [(max(0, o - l), min(n, o - l + 2)) for o, l, n in zip(out, low, v.shape[2:])]
                part = v[:, :, at[0][0]:at[0][1], at[1][0]:at[1][1]]
                y[(slice(None), slice(None)) + out] = part.sum((2, 3)) / (4 if include else part.shape[2] * part.shape[3])
            return y
        dy = numbers(*forward(np.zeros(shape)).shape)
        f.case(name, f"dlc.avg_pool_grad %dy {{spatial = {array(shape[2:])}, window = array<i64: 2, 2>, "
               f"{geometry([1, 1], [1, 1], low, high)}, counted_high = {array(high)}{', include_pad' * include}}}",
               {"dy": dy}, adjoint(shape, forward, dy))

    x, dy, scale, bias, eps = numbers(3, 2, 2, 2), numbers(3, 2, 2, 2), numbers(2, low=0.5), numbers(2), 1e-3
    wide = [v.astype(np.float64) for v in (x, dy, scale, bias)]
    across = lambda v: np.asarray(v).reshape(1, -1, 1, 1)

    def normal(x, scale, bias):
        mean = x.sum((0, 2, 3)) / 12
        centred = x - across(mean)
        variance = (centred * centred).sum((0, 2, 3)) / 12
        return centred / np.sqrt(across(variance) + eps) * across(scale) + across(bias), mean, variance

    y, mean, variance = normal(wide[0], wide[2], wide[3])
    f.case("batch_norm_train", f"dlc.batch_norm_train %x, %s, %b {{eps = {eps:.1e} : f64}}", {"x": x, "s": scale, "b": bias},
           f32([y, mean, variance]))

    def slope(which):
        """Of sum(dy * y), by a step along the imaginary axis: nothing cancels."""
        gradient = np.zeros(wide[which].shape)
        for index in np.ndindex(*gradient.shape):
            values = [v.astype(complex) for v in wide]
            values[which][index] += 1e-30j
            gradient[index] = (normal(values[0], values[2], values[3])[0] * wide[1]).sum().imag / 1e-30
        return gradient

    # The statistics as f64 are exact enough that the gradients round to the same f32.
    names = dict(zip(("x", "dy", "s", "m", "v"), (x, dy, scale, mean, variance)))
    f.case("batch_norm_grad", f"dlc.batch_norm_grad %x, %dy, %s, %m, %v {{eps = {eps:.1e} : f64}}", names,
           f32([slope(0), slope(2), slope(3)]))
    f.write()


for write in (math_functions, shape, gather, reduce, contract, conv, pool, norm, attention, recurrent, training):
    write()
