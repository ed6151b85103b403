#!/usr/bin/env python3
"""Compares operators in the form of each opset that changed them with ONNX Runtime.

  opset_tests.py --runner dlc-onnx-ref --out DIR       `--runner dlc-onnx-run` tests the whole compiler

The node tests of the onnx package cover only the newest form of most operators.
"""

import argparse
import os
import shutil
import subprocess
import sys

import contrib_tests
import numpy as np
import onnx
from onnx import helper, numpy_helper

F32, I64 = np.float32, np.int64


def f32(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(F32)


def i64(*values):
    return np.array(values, I64)


def cases():
    """Yields operator, opset, inputs, names of the inputs that are constants, number of outputs, attributes."""

    def case(op, opsets, inputs, constants=(), outputs=1, **attributes):
        for opset in opsets:
            yield op, opset, inputs, constants, outputs, attributes

    x, image = f32(2, 3, 4), f32(1, 3, 6, 5)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield from case(op, (7, 11, 12, 13, 20), [x])
        yield from case(op, (7, 12, 13), [x], axis=2)
        yield from case(op, (11, 12, 13), [x], axis=-2)
        yield from case(op, (7, 12), [x], axis=0)
    yield from case("Flatten", (7, 9), [x], axis=3)
    yield from case("Flatten", (11, 13), [x], axis=-1)
    yield from case("Clip", (7, 10), [x], min=-0.5, max=0.25)
    yield from case("Clip", (7,), [x], min=0.1)
    yield from case("Clip", (11, 12, 13), [x, F32(-0.5), F32(0.25)], (1, 2))
    yield from case("Clip", (12, 13), [x, None, F32(0.25)], (2,))
    yield from case("Slice", (7, 9), [x], starts=[0, 1], ends=[2, -1], axes=[1, 2])
    yield from case("Slice", (7,), [x], starts=[1, 0], ends=[9, 2])
    yield from case(
        "Slice", (10, 11, 13), [x, i64(3, 0), i64(-9, 2), i64(2, 1), i64(-1, 1)], (1, 2, 3, 4)
    )
    yield from case("Split", (7, 11), [f32(6, 2)], outputs=2, axis=0, split=[2, 4])
    yield from case("Split", (7, 13), [f32(6, 2)], outputs=3)
    yield from case("Split", (13, 18), [f32(6, 2), i64(1, 5)], (1,), 2)
    yield from case("Split", (18, 20), [f32(7, 2)], outputs=3, num_outputs=3)
    for op in ("Squeeze", "Unsqueeze"):
        yield from case(op, (7, 11), [f32(1, 3, 1)], axes=[0])
        yield from case(op, (13, 21), [f32(1, 3, 1), i64(-1)], (1,))
    yield from case("Squeeze", (11, 13), [f32(1, 3, 1)])
    for op in (
        "ReduceSum",
        "ReduceMean",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceSumSquare",
        "ReduceLogSumExp",
    ):
        yield from case(op, (7, 11), [x], axes=[1], keepdims=0)
        yield from case(op, (11,), [x], axes=[-1])
        yield from case(op, (7, 13, 18), [x])
        yield from case(op, (18, 20), [x, i64(1)], (1,), keepdims=0)
        yield from case(op, (18,), [x, i64()], (1,), noop_with_empty_axes=1)
    yield from case("ReduceSum", (13,), [x, i64(0, 2)], (1,))
    yield from case("ArgMax", (7, 11, 13), [x.round()], axis=1)
    yield from case("ArgMin", (12, 13), [x.round()], axis=1, select_last_index=1, keepdims=0)
    for mode in ("constant", "reflect", "edge"):
        yield from case("Pad", (7, 10), [x], pads=[0, 1, 2, 0, 1, 1], mode=mode)
        yield from case("Pad", (11, 13, 18), [x, i64(0, 1, 2, 0, 1, 1)], (1,), mode=mode)
        yield from case("Pad", (18, 21), [x, i64(1, 2, 1, 0), None, i64(1, 2)], (1, 3), mode=mode)
    yield from case("Pad", (7,), [x], pads=[0, 1, 2, 0, 0, 1], value=3.5)
    yield from case("Pad", (11, 13), [x, i64(0, 1, 2, 0, 0, 1), F32(3.5)], (1, 2))
    yield from case("Pad", (19, 21), [x, i64(0, 1, 2, 0, 1, 1)], (1,), mode="wrap")
    # Negative pads are cut off before the others are filled.
    for mode, opsets in (("wrap", (19, 21)), ("edge", (11, 18)), ("reflect", (18, 21))):
        for pads in ((-1, 2, 1, -2), (2, -1, -1, 3), (0, 0, -2, 4)):
            yield from case("Pad", opsets, [f32(4, 6), i64(*pads)], (1,), mode=mode)
    yield from case("Pad", (19, 21), [f32(4, 5), i64(-1, 7, 3, -2)], (1,), mode="wrap")
    yield from case("TopK", (7, 9), [x], outputs=2, k=2)
    yield from case("TopK", (10, 11), [x, i64(2)], (1,), 2, axis=1)
    yield from case("TopK", (11,), [x, i64(2)], (1,), 2, largest=0)
    yield from case("Upsample", (7, 8), [image], mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])
    for mode in ("nearest", "linear"):
        yield from case("Upsample", (9,), [image, F32([1, 1, 2, 1.5])], (1,), mode=mode)
        yield from case("Resize", (10,), [image, F32([1, 1, 1.5, 0.6])], (1,), mode=mode)
        yield from case("Resize", (11,), [image, F32([]), F32([1, 1, 1.5, 0.6])], (1, 2), mode=mode)
        yield from case(
            "Resize", (13, 18, 19), [image, None, F32([1, 1, 1.5, 0.6])], (2,), mode=mode
        )
        yield from case("Resize", (13, 18), [image, None, None, i64(1, 3, 4, 9)], (3,), mode=mode)
    yield from case("Resize", (11,), [image, F32([]), F32([1, 1, 2, 2])], (1, 2), mode="nearest")
    yield from case(
        "Resize",
        (18, 19),
        [image, None, None, i64(3, 8)],
        (3,),
        mode="linear",
        axes=[2, 3],
        antialias=1,
    )
    yield from case(
        "Resize",
        (18,),
        [image, None, None, i64(3, 8)],
        (3,),
        mode="linear",
        axes=[2, 3],
        keep_aspect_ratio_policy="not_larger",
    )
    yield from case("Dropout", (7, 10), [x], ratio=0.25)
    yield from case("Dropout", (12, 13, 22), [x, F32(0.25)], (1,), 2)
    norm = [image, *(np.abs(f32(3, seed=s)) + F32(0.5) for s in range(4))]
    yield from case("BatchNormalization", (7, 9, 14, 15), norm, (1, 2, 3, 4), epsilon=0.01)
    yield from case("BatchNormalization", (14, 15), norm, (1, 2, 3, 4), 3, training_mode=1)
    yield from case(
        "Gemm",
        (7, 9, 11, 13),
        [f32(2, 3), f32(4, 3, seed=1), f32(4, seed=2)],
        transB=1,
        alpha=0.5,
        beta=2.0,
    )
    yield from case("Gemm", (11, 13), [f32(2, 3), f32(3, 4, seed=1)])
    yield from case("OneHot", (9, 11), [i64(1, 3, -1), np.array(4), F32([0.5, 2])], (1, 2), axis=0)
    yield from case("Gather", (11, 13), [x, i64(-1, 0)], axis=1)
    yield from case(
        "Scatter", (9, 10), [f32(3, 3), np.zeros((1, 3), I64), f32(1, 3, seed=1)], axis=0
    )
    for op, indices, shape in (
        ("ScatterElements", np.array([[1, 0, 1]]), (1, 3)),
        ("ScatterND", np.array([[1], [0], [1]]), (3, 3)),
    ):
        yield from case(
            op,
            (11, 13),
            [
                f32(3, 3),
                indices[:2] if op == "ScatterND" else indices,
                f32(*((2, 3) if op == "ScatterND" else shape), seed=1),
            ],
            (1,),
        )
        yield from case(
            op, (16, 18), [f32(3, 3), indices, f32(*shape, seed=1)], (1,), reduction="add"
        )
        yield from case(op, (18,), [f32(3, 3), indices, f32(*shape, seed=1)], (1,), reduction="max")
    grid = np.random.default_rng(1).uniform(-1.2, 1.2, (1, 4, 3, 2)).astype(F32)
    for old, new in (("bilinear", "linear"), ("nearest", "nearest"), ("bicubic", "cubic")):
        yield from case("GridSample", (16, 19), [image, grid], mode=old, padding_mode="border")
        yield from case("GridSample", (20, 22), [image, grid], mode=new, padding_mode="border")
    yield from case("GridSample", (16, 20), [image, grid])
    boxes = F32([[0, 0, 4, 4], [1, 0.5, 3, 5]])
    yield from case(
        "RoiAlign",
        (10, 16),
        [image, boxes, i64(0, 0)],
        (1, 2),
        output_height=2,
        output_width=3,
        sampling_ratio=2,
    )
    yield from case(
        "AveragePool",
        (7, 10, 11, 19, 22),
        [image],
        kernel_shape=[3, 2],
        pads=[1, 0, 1, 1],
        strides=[2, 1],
    )
    yield from case(
        "AveragePool",
        (10, 19),
        [image],
        kernel_shape=[3, 2],
        strides=[2, 2],
        ceil_mode=1,
        count_include_pad=1,
    )
    yield from case("AveragePool", (19,), [image], kernel_shape=[2, 2], dilations=[2, 2])
    yield from case("MaxPool", (7,), [image], kernel_shape=[3, 2], pads=[1, 0, 1, 1])
    yield from case(
        "MaxPool", (8, 10, 12), [image], outputs=2, kernel_shape=[3, 2], storage_order=1
    )
    yield from case(
        "MaxPool",
        (10, 12),
        [image],
        kernel_shape=[2, 2],
        strides=[2, 2],
        ceil_mode=1,
        dilations=[2, 1],
    )
    yield from case("LpPool", (7, 11, 18), [image], kernel_shape=[2, 2], p=3)
    yield from case(
        "GroupNormalization", (18,), [f32(2, 4, 3), f32(2), f32(2, seed=1)], num_groups=2
    )
    yield from case(
        "GroupNormalization", (21,), [f32(2, 4, 3), f32(4), f32(4, seed=1)], num_groups=2
    )
    yield from case(
        "LayerNormalization", (12, 17), [x, f32(4), f32(4, seed=1)], axis=-1, epsilon=0.01
    )
    yield from case("Shape", (7, 13), [x])
    yield from case("Shape", (15, 19), [x], start=1, end=-1)
    yield from case("DFT", (17,), [f32(2, 6, 1)], axis=1, onesided=1)
    yield from case("DFT", (20,), [f32(2, 6, 1), None, np.array(1)], (2,), onesided=1)
    scale, zero = F32([0.1, 0.2, 0.05]), np.uint8([3, 0, 9])
    yield from case("QuantizeLinear", (10, 13, 19), [x, F32(0.1), np.uint8(7)], (1, 2))
    yield from case("QuantizeLinear", (13, 19, 21), [x, scale, zero], (1, 2), axis=1)
    yield from case(
        "DequantizeLinear",
        (13, 19, 21),
        [np.arange(24, dtype=np.uint8).reshape(2, 3, 4), scale, zero],
        (1, 2),
        axis=1,
    )
    for op in ("Sum", "Mean", "Max", "Min"):
        yield from case(op, (7,), [x, f32(2, 3, 4, seed=1)])
        yield from case(op, (8, 13), [x, f32(3, 1, seed=1)])
    yield from case("PRelu", (7, 9, 16), [x, f32(3, 1)])
    yield from case("Pow", (7, 12, 13, 15), [np.abs(x), F32(2.5)], (1,))
    yield from case("Mod", (10, 13), [i64(-7, 5, 9), i64(3, -3, 4)])
    yield from case("Mod", (10, 13), [x, F32(0.7)], (1,), fmod=1)
    yield from case("GatherND", (11, 12, 13), [x, np.array([[0, 1], [1, 2]])])
    yield from case("GatherND", (12, 13), [x, np.array([[1], [2]])], batch_dims=1)
    yield from case("DepthToSpace", (7, 11, 13), [f32(1, 8, 2, 3)], blocksize=2)
    yield from case("DepthToSpace", (11, 13), [f32(1, 8, 2, 3)], blocksize=2, mode="CRD")
    yield from case("Cast", (9, 13, 19), [x * 10], to=onnx.TensorProto.INT32)
    yield from case("HardSigmoid", (7, 22), [x])
    yield from case("IsInf", (10, 20), [F32([1, np.inf, -np.inf])], detect_negative=0)
    yield from case("LeakyRelu", (7, 16), [x])
    yield from case("EyeLike", (9, 22), [f32(3, 4)], k=1)
    yield from case("Trilu", (14,), [f32(3, 4), np.array(1)], (1,), upper=0)
    yield from case("CumSum", (11, 14), [x, np.array(1)], (1,), exclusive=1, reverse=1)
    yield from case("Expand", (8, 13), [f32(3, 1), i64(2, 1, 4)], (1,))
    yield from case("Reshape", (7, 13), [x, i64(0, -1)], (1,))
    yield from case("Reshape", (14, 19), [x, i64(4, -1)], (1,), allowzero=1)
    yield from case("NonZero", (9, 13), [np.zeros((0, 3), F32)])
    yield from case("Compress", (9, 11), [np.zeros((0, 3), F32), np.zeros(0, bool)], axis=0)
    cell = {"hidden_size": 2}
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        weights = [
            f32(1, 2 * gates, 3, seed=1),
            f32(1, 2 * gates, 2, seed=2),
            f32(1, 4 * gates, seed=3),
        ]
        yield from case(op, (7, 14, 22), [f32(5, 2, 3), *weights], (1, 2, 3), 2, **cell)
        yield from case(
            op,
            (7, 14),
            [f32(5, 2, 3), *weights, np.array([3, 5], np.int32)],
            (1, 2, 3, 4),
            2,
            **cell,
        )


def write(out):
    """One folder per case; the expected outputs are ONNX Runtime's."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    shutil.rmtree(out, ignore_errors=True)
    folders = []
    for number, (op, opset, inputs, constants, outputs, attributes) in enumerate(cases()):
        names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
        feeds = {
            f"x{i}": np.asarray(array)
            for i, array in enumerate(inputs)
            if array is not None and i not in constants
        }
        graph = helper.make_graph(
            [helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attributes)],
            "g",
            [
                helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
                )
                for name, array in feeds.items()
            ],
            [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)],
            [numpy_helper.from_array(np.asarray(inputs[i]), f"x{i}") for i in constants],
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
        )
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        expected = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
        folder = os.path.join(out, f"{number:03}-{op}-{opset}")
        contrib_tests.write(folder, model, feeds, expected)
        folders.append(folder)
    return folders


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        print("skipped, since onnxruntime is not installed")
        return 0
    return subprocess.run(
        [arguments.runner, "--rtol", "1e-4", "--atol", "1e-5", *write(arguments.out)]
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
