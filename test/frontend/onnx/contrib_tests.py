#!/usr/bin/env python3
"""Compares random cases of the operators that ONNX Runtime's quantizer and optimizer write, and of ai.onnx.ml, with ONNX Runtime.

  contrib_tests.py --runner dlc-onnx-ref --out DIR [--count N] [--from SEED] [--only OP,OP]

The runner is dlc-onnx-ref, or dlc-onnx-run for the whole compiler.
Integers may differ by one quantization step, in at most one of a thousand elements of an operator's results. Floats may differ by 1e-4 of their
magnitude or, if the operator quantizes internally, by the step that its case specifies, in as few elements.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import exact_onnxruntime
from classic_cases import CLASSIC_CASES
from contrib_cases import CASES

RARE = 1e-3


def model_of(op, case):
    """The model, and what its inputs are given."""
    names, feeds, initializers, inputs = [], {}, [], []
    for i, value in enumerate(case.inputs):
        if value is None:
            names.append("")
            continue
        names.append(f"i{i}")
        value = np.asarray(value)
        if (
            value.dtype == np.int8
            and case.expected is None
            and exact_onnxruntime.sums_integers(op)
            and not exact_onnxruntime.sums_exactly()
        ):
            value = value // 2
        if i in case.constants:
            initializers.append(numpy_helper.from_array(value, names[-1]))
        else:
            inputs.append(
                helper.make_tensor_value_info(
                    names[-1], helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
                )
            )
            feeds[names[-1]] = value
    while names and not names[-1]:
        names.pop()
    wanted = case.outputs if isinstance(case.outputs, list) else [True] * case.outputs
    outputs = [f"o{i}" if there else "" for i, there in enumerate(wanted)]
    while outputs and not outputs[-1]:
        outputs.pop()
    node = helper.make_node(op, names, outputs, name="n", domain=case.domain, **case.attributes)
    results = [onnx.ValueInfoProto(name=name) for name in outputs if name]
    graph = helper.make_graph([node], "g", inputs, results, initializers)
    return helper.make_model(
        graph,
        ir_version=10,
        opset_imports=[
            helper.make_opsetid("", 21),
            helper.make_opsetid("com.microsoft", 1),
            helper.make_opsetid("ai.onnx.ml", 4),
        ],
    ), feeds


def expected_of(model, case, feeds):
    """Results, or None where ONNX Runtime does not take the case."""
    if case.expected is not None:
        return case.expected
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        ).run(None, feeds)
    except Exception as error:  # noqa: BLE001  a message of ONNX Runtime
        return str(error)


def write(folder, model, feeds, wanted):
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for kind, values in (("input", feeds.values()), ("output", wanted)):
        for i, value in enumerate(values):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as f:
                f.write(numpy_helper.from_array(np.asarray(value)).SerializeToString())
            np.save(os.path.join(data, f"{kind}_{i}.npy"), np.asarray(value))


def compare(found, wanted, unit):
    """Elements that differ, and the worst of them as a text if it is too bad for any share."""
    if np.issubdtype(wanted.dtype, np.integer) or wanted.dtype == bool:
        far = np.abs(found.astype(np.int64) - wanted.astype(np.int64))
        return int(
            (far > 0).sum()
        ), "" if far.size == 0 or far.max() <= 1 else f"differs by {far.max()} steps"
    far = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) / (
        1 + np.abs(wanted.astype(np.float64))
    )
    far = np.where(np.isnan(found) & np.isnan(wanted), 0, far)
    bad = ~(far <= 1e-4)
    return int(bad.sum()), "" if not bad.any() or np.nanmax(far) <= unit and not np.isnan(
        far
    ).any() else f"differs by {np.nanmax(far):.3g}"


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--runner", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--count", type=int, default=3)
    p.add_argument("--from", dest="first", type=int, default=0)
    p.add_argument("--only", default="")
    arguments = p.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        print("skipped, since onnxruntime is not installed")
        return 0
    shutil.rmtree(arguments.out, ignore_errors=True)
    folders, refused = {}, {}
    for name, draw in (CASES | CLASSIC_CASES).items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        for seed in range(arguments.first, arguments.first + arguments.count):
            case = draw(np.random.default_rng([seed, zlib.crc32(name.encode())]))
            model, feeds = model_of(name.split("+")[0], case)
            wanted = expected_of(model, case, feeds)
            if isinstance(wanted, str):
                refused.setdefault(name, []).append(wanted)
                continue
            folder = os.path.join(arguments.out, f"{name}-{seed}")
            write(folder, model, feeds, wanted)
            folders[folder] = (name, case, wanted)
    listing = os.path.join(arguments.out, "list.txt")
    with open(listing, "w") as f:
        f.write("\n".join(folders) + "\n")
    done = subprocess.run(
        [arguments.runner, "--write", "--list", listing],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    reasons = {}
    for line in done.stdout.splitlines():
        if line.startswith("FAIL "):
            key, _, reason = line[5:].partition(": ")
            reasons[os.path.basename(key)] = reason
    wrong, elements, off, number = [], {}, {}, {}
    for folder, (name, case, wanted) in folders.items():
        number[name] = number.get(name, 0) + 1
        reason = reasons.get(os.path.basename(folder))
        for i, value in enumerate([] if reason else wanted):
            value = np.asarray(value)
            path = os.path.join(folder, "test_data_set_0", f"found_{i}.bin")
            if not os.path.exists(path):
                reason = "no result was written"
                break
            found = case.valid(i, np.fromfile(path, value.dtype).reshape(value.shape))
            differ, bad = compare(found, case.valid(i, value), case.unit)
            elements[name] = elements.get(name, 0) + value.size
            off[name] = off.get(name, 0) + differ
            if bad:
                reason = f"output {i} {bad}"
        if reason:
            wrong.append(f"{folder}: {reason}")
    for name, count in off.items():
        if count > max(RARE * elements[name], 1):
            wrong.append(f"{name}: {count} of {elements[name]} elements differ")
    for name, messages in refused.items():
        if len(messages) > 0.6 * arguments.count and arguments.count > 1:
            wrong.append(
                f"{name}: ONNX Runtime takes {number.get(name, 0)} of {arguments.count} cases: {messages[0]}"
            )
    print("\n".join(wrong))
    print(
        f"{len(number)} operators, {len(folders)} cases, {sum(len(m) for m in refused.values())} that ONNX Runtime does not take, "
        f"{sum(off.values())} of {sum(elements.values())} elements differ, {len(wrong)} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
