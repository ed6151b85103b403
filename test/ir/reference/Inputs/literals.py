"""Writes the tests of this folder whose expected values are computed by NumPy or by the onnx package's evaluator.

    python Inputs/literals.py        # from test/ir/reference; needs numpy and onnx

Expected values are computed in float64 from the exact operands and rounded once, as by the reference evaluator. Values with
few digits are checked as text. For others the test returns the expected constant after the result, and both must print the same text.
"""

import math
from statistics import NormalDist

import numpy as np
from literal_file import f32, File, numbers, onnx_eval
from literals_nn import attention, contract, conv, norm, pool, recurrent, training


def math_functions():
    f = File("math", "Results of unary math functions.")
    wide = np.array([-20, -3.5, -1, -0.25, 0, 1e-8, 0.5, 2, 30], np.float32)
    unit = np.array([-1, -0.5, 0, 0.25, 1], np.float32)
    positive = np.array([1e-20, 0.5, 1, 2, 1e20], np.float32)
    above = np.array([1, 1.5, 1e10], np.float32)
    inside = np.array([-0.75, 0, 0.5], np.float32)
    erf = np.vectorize(math.erf)
    functions = {
        "exp": (wide, np.exp),
        "expm1": (wide, np.expm1),
        "log": (positive, np.log),
        "log1p": (positive, np.log1p),
        "sqrt": (positive, np.sqrt),
        "rsqrt": (positive, lambda x: 1 / np.sqrt(x)),
        "sin": (wide, np.sin),
        "cos": (wide, np.cos),
        "tan": (wide, np.tan),
        "asin": (unit, np.arcsin),
        "acos": (unit, np.arccos),
        "atan": (wide, np.arctan),
        "sinh": (wide, np.sinh),
        "cosh": (wide, np.cosh),
        "tanh": (wide, np.tanh),
        "asinh": (wide, np.arcsinh),
        "acosh": (above, np.arccosh),
        "atanh": (inside, np.arctanh),
        "erf": (wide, erf),
        "erfc": (wide, np.vectorize(math.erfc)),
        "erfinv": (
            inside,
            np.vectorize(lambda x: NormalDist().inv_cdf((1 + x) / 2) / math.sqrt(2)),
        ),
        "sigmoid": (wide, lambda x: 1 / (1 + np.exp(-x))),
    }
    for name, (x, function) in functions.items():
        f.case(name, f"dlc.{name} %x", {"x": x}, function(x.astype(np.float64)).astype(np.float32))
    a, b = np.array([[0.0], [-0.0], [2], [-3]], np.float32), np.array([0, -0.0, 1, -4], np.float32)
    f.case(
        "atan2",
        "dlc.atan2 %x, %z",
        {"x": a, "z": b},
        np.arctan2(a.astype(np.float64), b).astype(np.float32),
    )
    x = wide.astype(np.float64)
    # erfc by its own function: 1 + erf has no digits left at -20 (nor has the product in f32).
    exact = 0.5 * x * np.vectorize(math.erfc)(-x / math.sqrt(2))
    f.case("gelu", "dlc.gelu %x", {"x": wide}, exact.astype(np.float32))
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    f.case(
        "gelu_tanh",
        "dlc.gelu %x {approximate}",
        {"x": wide},
        (0.5 * x * (1 + np.tanh(inner))).astype(np.float32),
    )
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
    f.case(
        "slice_3d",
        "dlc.slice %x start [1, 0, 1] size [1, 2, 2] stride [1, 2, 2]",
        {"x": b},
        b[1:, ::2, 1::2],
    )
    f.case("slice_nothing", "dlc.slice %x start [2, 0] size [0, 3] stride [1, 1]", {"x": a}, a[2:])
    zero = np.array(-1, np.int32)
    for mode in ("constant", "reflect", "edge", "wrap"):
        more = {"constant_values": -1} if mode == "constant" else {}
        f.case(
            f"pad_{mode}",
            f"dlc.pad {mode} %x, %v low [1, 2] high [0, 1]",
            {"x": a, "v": zero},
            np.pad(a, ((1, 0), (2, 1)), mode=mode, **more).astype(np.int32),
        )
    f.case(
        "pad_removes",
        "dlc.pad constant %x, %v low [-1, 1] high [1, -1]",
        {"x": a, "v": zero},
        np.array([[-1, 3, 4], [-1, -1, -1]], np.int32),
    )
    f.case(
        "concat",
        "dlc.concat 1 (%x, %z)",
        {"x": a, "z": a[:, :1] * 10},
        np.concatenate([a, a[:, :1] * 10], 1),
    )
    f.case(
        "concat_outer",
        "dlc.concat 0 (%x, %z)",
        {"x": a, "z": a[:1] + 10},
        np.concatenate([a, a[:1] + 10], 0),
    )
    flags = np.array([[True, False, True]])
    f.case("transpose_bool", "dlc.transpose %x [1, 0]", {"x": flags}, flags.T)
    f.case(
        "constant_empty",
        "dlc.concat 0 (%x, %z)",
        {"x": np.zeros(0, np.int64), "z": np.zeros(0, np.int64)},
        np.zeros(0, np.int64),
    )
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
    f.case(
        "gather_outside",
        "dlc.gather 0 %x, %i",
        {"x": x, "i": np.array([7, -9], np.int64)},
        x[[2, 0]],
        note="An index out of range reads the nearest element.",
    )
    e = np.array([[1, -1], [0, 2]], np.int64)
    f.case(
        "gather_elements",
        "dlc.gather_elements 1 %x, %i",
        {"x": x, "i": e},
        np.take_along_axis(x[:2], e, 1),
    )
    f.case(
        "gather_elements_0",
        "dlc.gather_elements 0 %x, %i",
        {"x": x, "i": e},
        np.array([[4, 9], [0, 9]], np.int32),
    )
    b = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    n = np.array([[0, 1], [1, -2]], np.int64)
    f.case(
        "gather_nd",
        "dlc.gather_nd %x, %i {batch_dims = 0 : i64}",
        {"x": b, "i": n},
        b[[0, 1], [1, 0]],
    )
    m = np.array([[1], [0]], np.int64)
    f.case(
        "gather_nd_batch",
        "dlc.gather_nd %x, %i {batch_dims = 1 : i64}",
        {"x": b, "i": m},
        onnx_eval("GatherND", [b, m], batch_dims=1)[0].astype(np.float32),
    )
    data = np.array([[1, 2, 3, 4, 5]], np.float32)
    at, news = np.array([[1, 1, -2]], np.int64), np.array([[10, 0.5, 7]], np.float32)
    for reduction in ("none", "add", "mul", "max", "min"):
        f.case(
            f"scatter_elements_{reduction}",
            f"dlc.scatter_elements {reduction} 1 %x, %i, %u",
            {"x": data, "i": at, "u": news},
            f32(onnx_eval("ScatterElements", [data, at, news], axis=1, reduction=reduction))[0],
        )
    at, news = np.array([[2], [0], [2]], np.int64), np.array([[1, 2], [3, 4], [5, 6]], np.int32)
    base = np.array([[1, 1], [2, 2], [3, 3]], np.int32)
    for reduction in ("none", "add", "mul", "max", "min"):
        f.case(
            f"scatter_nd_{reduction}",
            f"dlc.scatter_nd {reduction} %x, %i, %u",
            {"x": base, "i": at, "u": news},
            onnx_eval("ScatterND", [base, at, news], reduction=reduction)[0].astype(np.int32),
        )
    at, news = np.array([[0, 1, 1], [1, 0, -1]], np.int32), np.array([-1, -2], np.float32)
    f.case(
        "scatter_nd_elements",
        "dlc.scatter_nd none %x, %i, %u",
        {"x": b, "i": at, "u": news},
        np.array([[[0, 1], [2, -1]], [[4, -2], [6, 7]]], np.float32),
    )
    f.write()


def reduce():
    f = File("reduce", "Results of reductions, cumulative sums and top-k.")
    x = numbers(2, 3, 4)
    functions = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
    for name, function in functions.items():
        for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            keep = len(axes) == 2
            f.case(
                f"{name}_{''.join(map(str, axes))}",
                f"dlc.reduce {name} %x axes {list(axes)}{' keepdims' * keep}",
                {"x": x},
                np.asarray(function(x.astype(np.float64), axis=axes, keepdims=keep), np.float32),
            )
    none = np.zeros((2, 0), np.float32)
    for name, value in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf)):
        f.case(
            f"{name}_empty",
            f"dlc.reduce {name} %x axes [1]",
            {"x": none},
            np.full(2, value, np.float32),
        )
    i = np.array([[100, 100, -7], [-100, 2, 3]], np.int8)
    f.case("sum_wraps", "dlc.reduce sum %x axes [1]", {"x": i}, np.array([-63, -95], np.int8))
    f.case("mean_truncates", "dlc.reduce mean %x axes [1]", {"x": i}, np.array([64, -31], np.int8))
    f.case(
        "max_i8_empty",
        "dlc.reduce max %x axes [1]",
        {"x": i[:, :0]},
        np.array([-128, -128], np.int8),
    )
    f.case(
        "max_nan",
        "dlc.reduce max %x axes [0]",
        {"x": np.array([1, np.nan, 3], np.float32)},
        np.array(np.nan, np.float32),
    )
    many = np.full(4000, 1, np.float16)
    f.case("sum_f16", "dlc.reduce sum %x axes [0]", {"x": many[:9]}, np.array(9, np.float16))
    b = np.array([[True, False], [False, False]])
    f.case("any", "dlc.reduce max %x axes [1]", {"x": b}, b.any(1))
    f.case("all", "dlc.reduce min %x axes [0]", {"x": b}, b.all(0))
    t = np.array([[3, 1, 3], [0, 5, 5]], np.int32)
    f.case("arg_max", "dlc.arg_reduce max %x axis 1", {"x": t}, np.argmax(t, 1))
    f.case(
        "arg_max_last", "dlc.arg_reduce max %x axis 1 keepdims last", {"x": t}, np.array([[2], [2]])
    )
    f.case("arg_min", "dlc.arg_reduce min %x axis 0", {"x": t}, np.argmin(t, 0))
    f.case(
        "cumulative_sum", "dlc.cumulative sum %x axis 1", {"x": t}, np.cumsum(t, 1).astype(np.int32)
    )
    f.case(
        "cumulative_exclusive",
        "dlc.cumulative sum %x axis 1 exclusive",
        {"x": t},
        np.array([[0, 3, 4], [0, 0, 5]], np.int32),
    )
    f.case(
        "cumulative_reverse",
        "dlc.cumulative sum %x axis 1 reverse",
        {"x": t},
        np.array([[7, 4, 3], [10, 10, 5]], np.int32),
    )
    f.case(
        "cumulative_both",
        "dlc.cumulative sum %x axis 1 exclusive reverse",
        {"x": t},
        np.array([[4, 3, 0], [10, 5, 0]], np.int32),
    )
    f.case(
        "cumulative_prod",
        "dlc.cumulative prod %x axis 0",
        {"x": t},
        np.cumprod(t, 0).astype(np.int32),
    )
    k = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.float32)
    f.case(
        "topk",
        "dlc.topk %x {k = 3 : i64, axis = 1 : i64}",
        {"x": k},
        np.array([[5, 4, 3], [9, 6, 5]], np.float32),
        np.array([[4, 2, 0], [0, 2, 3]]),
    )
    f.case(
        "topk_smallest",
        "dlc.topk %x {k = 3 : i64, axis = 1 : i64, largest = false}",
        {"x": k},
        np.array([[1, 1, 3], [2, 3, 5]], np.float32),
        np.array([[1, 3, 0], [1, 4, 3]]),
    )
    f.case(
        "topk_axis",
        "dlc.topk %x {k = 1 : i64, axis = 0 : i64}",
        {"x": k},
        np.array([[9, 2, 6, 5, 5]], np.float32),
        np.array([[1, 1, 1, 1, 0]]),
    )
    # The second box covers two thirds of what it and the first have together, the third a third; the fourth is apart.
    boxes = np.array([[[0, 0, 1, 5], [0, 6, 1, 1], [1, 8, 0, 3], [7, 7, 9, 9]]], np.float32)
    scores = np.array([[[5, 7, 6, 7], [5, 2, 6, np.nan], [1, 2, 3, 4]]], np.float32)
    there = np.array([[[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]]], bool)
    f.case(
        "nms",
        "dlc.nms %b, %s, %c, %o {k = 3 : i64}",
        {"b": boxes, "s": scores, "c": there, "o": np.array(0.5, np.float32)},
        np.array([[[1, 3, 2], [3, 2, 0], [1, 0, 0]]]),
        np.array([[3, 3, 1]]),
    )
    f.case(
        "nms_of_two",
        "dlc.nms %b, %s, %c, %o {k = 2 : i64}",
        {"b": boxes, "s": scores, "c": there, "o": np.array(1, np.float32)},
        np.array([[[1, 3], [3, 2], [1, 0]]]),
        np.array([[2, 2, 2]]),
    )
    f.write()


for write in (
    math_functions,
    shape,
    gather,
    reduce,
    contract,
    conv,
    pool,
    norm,
    attention,
    recurrent,
    training,
):
    write()
