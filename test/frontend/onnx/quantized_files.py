#!/usr/bin/env python3
"""Compares small networks written by ONNX Runtime's quantizer and optimizer with ONNX Runtime without optimizations.

  quantized_files.py --runner dlc-onnx-ref|dlc-onnx-run --out DIR

Results may differ by 1e-4 of their range. With static scales they may differ by 1.5e-2, because a value that is rounded differently changes all later values.
"""

import argparse
import contextlib
import io
import logging
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper, parser

from contrib_tests import exact_onnxruntime, write

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'
NETWORKS = {
    "convolutions": (
        """g (float[1, 3, 12, 12] x) => (float[1, 5] y) {
        a = Conv<pads = [1, 1, 1, 1]>(x, w1, b1) r = Relu(a) c = Conv<pads = [1, 1, 1, 1]>(r, w2, b2) l = LeakyRelu<alpha = 0.1>(c) s = Add(l, r)
        p = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(s) q = Sigmoid(p) k = Concat<axis = 1>(p, q) v = GlobalAveragePool(k) f = Flatten(v)
        z = Gemm<transB = 1>(f, w3, b3) y = Softmax(z) }""",
        {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 8, 3, 3), "b2": (8,), "w3": (5, 16), "b3": (5,)},
    ),
    "channels": (
        """g (float[1, 3, 12, 10] x) => (float[1, 5] y) {
        a = Conv<pads = [1, 1, 1, 1]>(x, w1, b1) h = HardSigmoid<alpha = 0.16666667, beta = 0.5>(a) r = Mul(a, h)
        d = Conv<group = 20, pads = [1, 1, 1, 1]>(r, w2, b2) e = Relu(d) m = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(e)
        c = Conv<strides = [1, 1]>(m, w3, b3) u = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(c, , scales)
        s = Add(u, e) k = Concat<axis = 1>(s, r) p = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(k) v = GlobalAveragePool(p) f = Flatten(v)
        z = Gemm<transB = 1>(f, w4, b4) y = Softmax(z) }""",
        {
            "w1": (20, 3, 3, 3),
            "b1": (20,),
            "w2": (20, 1, 3, 3),
            "b2": (20,),
            "w3": (20, 20, 1, 1),
            "b3": (20,),
            "w4": (5, 40),
            "b4": (5,),
            "scales": np.array([1, 1, 2, 2], np.float32),
        },
    ),
    "attention": (
        """g (float[2, 6, 16] x) => (float[2, 6, 16] y) {
        q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv) kt = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, kt) h = Mul(s, quarter) p = Softmax(h)
        o = MatMul(p, v) m = Add(o, x) n = LayerNormalization(m, g1, g2) u = MatMul(n, w1) b = Add(u, b1) e = Div(b, root) f = Erf(e) i = Add(f, one)
        j = Mul(b, i) t = Mul(j, half) d = MatMul(t, w2) r = Add(d, n) y = LayerNormalization(r, g1, g2) }""",
        {
            "wq": (16, 16),
            "wk": (16, 16),
            "wv": (16, 16),
            "w1": (16, 32),
            "b1": (32,),
            "w2": (32, 16),
            "g1": (16,),
            "g2": (16,),
            "quarter": 0.25,
            "root": 2**0.5,
            "one": 1.0,
            "half": 0.5,
        },
    ),
    "recurrent": (
        """g (float[5, 1, 6] x) => (float[5, 4] y) {
        a = LSTM<hidden_size = 8, direction = "bidirectional">(x, w, r, b) t = Reshape(a, shape) y = MatMul(t, w2) }""",
        {"w": (2, 32, 6), "r": (2, 32, 8), "b": (2, 64), "w2": (16, 4), "shape": np.array([5, 16])},
    ),
}


def network(name, rng):
    text, constants = NETWORKS[name]
    model = parser.parse_model(HEAD + text)
    for key, about in constants.items():
        value = (
            rng.standard_normal(about).astype(np.float32) * np.float32(0.4)
            if isinstance(about, tuple)
            else about
        )
        model.graph.initializer.append(
            numpy_helper.from_array(
                np.asarray(value, np.float32 if isinstance(value, float) else None), key
            )
        )
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return model, [rng.standard_normal(shape).astype(np.float32) for _ in range(4)]


def variants(source, folder, samples):
    """Yields a name, and what writes that file."""
    import onnxruntime
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_dynamic,
        quantize_static,
    )

    class Samples(CalibrationDataReader):
        def __init__(self):
            self.rest = iter([{"x": x} for x in samples])

        def get_next(self):
            return next(self.rest, None)

    levels = onnxruntime.GraphOptimizationLevel

    def optimised(start, path, level=levels.ORT_ENABLE_EXTENDED):
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath, options.log_severity_level = path, 4
        options.graph_optimization_level = level
        onnxruntime.InferenceSession(start, options, providers=["CPUExecutionProvider"])

    narrow = {"reduce_range": not exact_onnxruntime.sums_exactly()}
    made = {
        "extended": lambda path: optimised(source, path),
        "all": lambda path: optimised(source, path, levels.ORT_ENABLE_ALL),
        "dynamic": lambda path: quantize_dynamic(source, path, **narrow),
        "dynamic-u8": lambda path: quantize_dynamic(
            source, path, weight_type=QuantType.QUInt8, **narrow
        ),
        "qdq": lambda path: quantize_static(
            source, path, Samples(), quant_format=QuantFormat.QDQ, per_channel=True, **narrow
        ),
        "qdq-s8": lambda path: quantize_static(
            source,
            path,
            Samples(),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QInt8,
            **narrow,
        ),
        "operators": lambda path: quantize_static(
            source, path, Samples(), quant_format=QuantFormat.QOperator, **narrow
        ),
    }
    for name in ("dynamic", "qdq", "operators"):
        made[name + "-extended"] = lambda path, name=name: optimised(
            os.path.join(folder, name + ".onnx"), path
        )
        made[name + "-all"] = lambda path, name=name: optimised(
            os.path.join(folder, name + ".onnx"), path, levels.ORT_ENABLE_ALL
        )
    return made


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--runner", required=True)
    p.add_argument("--out", required=True)
    arguments = p.parse_args()
    try:
        import onnxruntime
    except ImportError:
        print("skipped, since onnxruntime is not installed")
        return 0
    logging.disable(logging.WARNING)
    shutil.rmtree(arguments.out, ignore_errors=True)
    folders, contrib = {}, set()
    for name in NETWORKS:
        model, samples = network(name, np.random.default_rng(7))
        folder = os.path.join(arguments.out, name)
        os.makedirs(folder)
        source = os.path.join(folder, "source.onnx")
        onnx.save(model, source)
        for kind, make in variants(source, folder, samples).items():
            path = os.path.join(folder, kind + ".onnx")
            with contextlib.redirect_stdout(io.StringIO()):
                make(path)
            made = onnx.load(path)
            contrib |= {
                node.op_type for node in made.graph.node if node.domain.startswith("com.microsoft")
            }
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level, options.intra_op_num_threads = (
                onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
                1,
            )
            options.log_severity_level = 4
            wanted = onnxruntime.InferenceSession(
                path, options, providers=["CPUExecutionProvider"]
            ).run(None, {"x": samples[0]})
            write(os.path.join(folder, kind), made, {"x": samples[0]}, wanted)
            folders[os.path.join(folder, kind)] = np.asarray(wanted[0])
    with open("/proc/cpuinfo") as file:
        block = (
            "16" if " avx512f" in file.read() else "8"
        )  # block size of the files that ONNX Runtime optimizes on this machine
    print(f"{len(folders)} files with the operators {', '.join(sorted(contrib))}", flush=True)
    done = subprocess.run(
        [arguments.runner, "--write", "--nchwc-block", block, *folders],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    wrong = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    for folder, wanted in {} if wrong else folders.items():
        found = np.fromfile(
            os.path.join(folder, "test_data_set_0", "found_0.bin"), wanted.dtype
        ).reshape(wanted.shape)
        far = float(np.abs(found - wanted).max() / np.ptp(wanted))
        if not far <= (
            1.5e-2 if os.path.basename(folder).startswith(("qdq", "operators")) else 1e-4
        ):
            wrong.append(f"{folder}: differs by {far:.2g} of the range")
    print("\n".join(wrong) or "all agree")
    return 1 if wrong or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
