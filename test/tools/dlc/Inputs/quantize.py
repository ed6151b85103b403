"""Quantizes trained networks with `dlc quantize` and compares them with the originals on real data, in dlc and in ONNX Runtime.

usage: quantize.py digits|magika FOLDER
"""

import json
import os
import shutil
import subprocess
import sys

import exact_onnxruntime
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

LABELS = {
    ".pyc": "pythonbytecode",
    ".py": "python",
    ".so": "elf",
    ".cc": "cpp",
    ".csv": "csv",
    ".npz": "npz",
    ".gz": "gzip",
    ".npy": "npy",
    ".exe": "pebin",
    ".wav": "wav",
    ".proto": "proto",
    ".c": "c",
    ".rst": "rst",
    ".css": "css",
    ".h": "c",
    ".json": "json",
}
POINTS = 0.5  # of a hundred samples, that may be answered otherwise
kind, folder = sys.argv[1:3]
os.chdir(folder)


def dlc(*args):
    run = subprocess.run(["dlc", *args], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"dlc {' '.join(args)}: {run.stderr}")
    return run.stdout


def by_dlc(model, name, x, batch):
    outputs = []
    shutil.rmtree("out", ignore_errors=True)
    for i in range(0, len(x), batch):
        np.save("x.npy", x[i : i + batch])
        dlc("run", model, "--input", f"{name}=x.npy", "--output-dir", "out")
        outputs.append(np.load(os.path.join("out", os.listdir("out")[0])))
    return np.concatenate(outputs)


def by_ort(model, name, x):
    return ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {name: x})[0]


def check(what, is_right):
    print(f"{'ok' if is_right else 'WRONG'}: {what}")
    if not is_right:
        sys.exit(1)


def hold(model, name, x, args, target=None, points=POINTS):
    """Quantizes and compares: the classes against the target, else against the original's; dlc against ONNX Runtime."""
    report = dlc("quantize", model, "-o", "quantized.onnx", *args)
    onnx.checker.check_model("quantized.onnx")
    kinds = {n.op_type for n in onnx.load("quantized.onnx").graph.node}
    check(
        f"{' '.join(args)}: it has {kinds & {'DequantizeLinear', 'MatMulNBits'}}",
        kinds & {"DequantizeLinear", "MatMulNBits"},
    )
    wanted, ours, theirs = (
        by_ort(model, name, x),
        by_dlc("quantized.onnx", name, x, len(x)),
        by_ort("quantized.onnx", name, x),
    )
    classes, told = wanted.argmax(1), ours.argmax(1)
    loss = (
        100 * np.mean(told != classes)
        if target is None
        else 100 * (np.mean(classes == target) - np.mean(told == target))
    )
    check(f"{' '.join(args)}: {loss:.2f} points lost", loss <= points)
    print(
        f"{100 * np.mean(told == classes):.2f} % of the classes as before, {100 * np.mean(theirs.argmax(1) == classes):.2f} % by ONNX Runtime"
    )
    same, exact = np.mean(told == theirs.argmax(1)), exact_onnxruntime.sums_exactly()
    check(
        f"{' '.join(args)}: ONNX Runtime answers {100 * same:.2f} % alike",
        not exact or same >= 1 - POINTS / 100,
    )
    apart = np.abs(ours - theirs).max() / np.abs(theirs).max()
    check(
        f"{' '.join(args)}: ONNX Runtime's numbers are at most {apart:.4f} of the largest away",
        not exact or apart < 0.05,
    )
    return report


def digits():
    """The guide's classifier, trained by dlc on scikit-learn's digits."""
    random = np.random.default_rng(0)

    def weights(name, *shape):
        return numpy_helper.from_array(
            (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("float32"), name
        )

    names = {
        "w1": (16, 1, 3, 3),
        "b1": (16,),
        "w2": (32, 16, 3, 3),
        "b2": (32,),
        "w3": (10, 128),
        "b3": (10,),
    }
    tensors = {name: weights(name, *shape) for name, shape in names.items()}

    def save():
        graph = helper.make_graph(
            [
                helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
                helper.make_node("Relu", ["c1"], ["r1"]),
                helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
                helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
                helper.make_node("Relu", ["c2"], ["r2"]),
                helper.make_node("MaxPool", ["r2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]),
                helper.make_node("Flatten", ["p2"], ["f"]),
                helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "head", transB=1),
            ],
            "digits",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 8, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])],
            list(tensors.values()),
        )
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
            "digits.onnx",
        )

    save()
    dlc(
        "compile",
        "digits.onnx",
        "--train",
        "--batch",
        "32",
        "--optimizer",
        "adam",
        "--lr",
        "0.005",
        "-o",
        "step.dlcx",
    )
    dlc(
        "train",
        "step.dlcx",
        "--data",
        "digits.npz",
        "--epochs",
        "8",
        "--checkpoint",
        "run.safetensors",
    )
    from safetensors_reader import read

    tensors.update(
        {
            name: numpy_helper.from_array(value, name)
            for name, value in read("run.safetensors").items()
            if name in names
        }
    )
    save()
    data, seen = np.load("digits-test.npz"), np.load("digits.npz")["x"]
    np.savez("calibration.npz", x=seen[:200])
    right = np.mean(by_ort("digits.onnx", "x", data["x"]).argmax(1) == data["target"])
    check(f"trained: {100 * right:.1f} % right", right > 0.95)
    for ranges in ("mse", "minmax", "percentile", "entropy"):
        hold(
            "digits.onnx",
            "x",
            data["x"],
            ["--data", "calibration.npz", "--ranges", ranges],
            data["target"],
        )
    hold("digits.onnx", "x", data["x"], ["--weights", "int8"], data["target"])
    hold("digits.onnx", "x", data["x"], ["--weights", "int4"], data["target"], points=1)
    model = onnx.load("digits.onnx")
    model.opset_import[0].version = 21
    model.ir_version = 10
    onnx.save(model, "digits21.onnx")
    report = hold(
        "digits21.onnx",
        "x",
        data["x"],
        ["--data", "calibration.npz", "--weights", "int4"],
        data["target"],
        points=1,
    )
    check(
        "blocks are DequantizeLinear's from opset 21 on",
        not any(n.op_type == "MatMulNBits" for n in onnx.load("quantized.onnx").graph.node),
    )
    check("int4 leaves convolutions", "f32 (int4 supports only matmuls)" in report)


def files():
    """What magika's network is given of files that are here: libraries, sources, texts."""
    import pathlib

    import magika

    package = pathlib.Path(magika.__file__).parent
    names = magika.Magika()
    paths = sorted(
        p
        for p in package.parent.rglob("*")
        if p.suffix in LABELS
        and p.is_file()
        and 2000 < p.stat().st_size < 300000
        and "Output" not in p.parts
    )
    labels = json.load(open(next(package.glob("models/*/config.min.json"))))["target_labels_space"]
    by_kind, target = {}, []
    for path in paths:
        by_kind.setdefault(path.suffix, []).append(path)
    rows = []
    for suffix, some in sorted(by_kind.items()):
        for path in some[:: max(1, len(some) // 20)][:20]:
            features = names._get_result_or_features_from_path(path)[1]
            if features:
                rows.append(features.beg[:1024] + features.end[-1024:])
                target.append(labels.index(LABELS[suffix]))
    return package, np.array(rows, "int32"), np.array(target)


def magikas():
    package, x, target = files()
    order = np.random.default_rng(0).permutation(len(x))
    seen, kept = order[:64], order[64:]
    np.savez("calibration.npz", bytes=x[seen])
    model = str(next(package.glob("models/*/model.onnx")))
    right = np.mean(by_ort(model, "bytes", x[kept]).argmax(1) == target[kept])
    check(f"magika: {100 * right:.1f} % of {len(kept)} files named by their endings", right > 0.9)
    hold(model, "bytes", x[kept], ["--data", "calibration.npz"], target[kept])


{"digits": digits, "magika": magikas}[kind]()
