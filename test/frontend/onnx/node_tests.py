#!/usr/bin/env python3
"""Writes the ONNX backend node tests to disk and runs them together.

  node_tests.py dump  --out DIR            model.onnx and test_data_set_0/*.pb, *.npy for each test; DIR/list.txt, DIR/skipped.txt
  node_tests.py check --out DIR --runner dlc-onnx-ref --expected FILE [--update]
                                           dumps the tests if necessary, runs all, and compares with the names expected to pass

Only tests whose inputs and outputs are numeric tensors (bool, integers of 4 to 64 bits, f16, f32, f64) and that are not
random are run.
"""

import argparse
import os
import subprocess
import sys
import warnings


def numeric():
    from onnx import TensorProto as T

    return {
        T.FLOAT,
        T.DOUBLE,
        T.FLOAT16,
        T.BOOL,
        T.INT4,
        T.UINT4,
        T.INT8,
        T.INT16,
        T.INT32,
        T.INT64,
        T.UINT8,
        T.UINT16,
        T.UINT32,
        T.UINT64,
    }


RANDOM = {
    "RandomNormal",
    "RandomUniform",
    "RandomNormalLike",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
}


def why_not(case):
    """Why a test does not count, or None."""
    graph = case.model.graph
    for value in list(graph.input) + list(graph.output):
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"'{value.name}' is of kind {kind}"
        if value.type.tensor_type.elem_type not in numeric():
            return f"'{value.name}' is not numeric"
    if any(node.op_type in RANDOM for node in graph.node):
        return "random"
    if "training_dropout" in case.name and "zero_ratio" not in case.name:
        return "random"
    return None


def dump(out):
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests

    os.makedirs(out, exist_ok=True)
    names, skipped = [], []
    for case in sorted(load_model_tests(kind="node"), key=lambda c: c.name):
        reason = why_not(case)
        if reason:
            skipped.append(f"{case.name}: {reason}")
            continue
        folder = os.path.join(out, case.name)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        onnx.save(case.model, os.path.join(folder, "model.onnx"))
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        for kind, values, infos in (
            ("input", inputs, graph.input),
            ("output", outputs, graph.output),
        ):
            for i, (value, info) in enumerate(zip(values, infos)):
                array = (
                    numpy_helper.to_array(value)
                    if isinstance(value, onnx.TensorProto)
                    else np.asarray(value)
                )
                tensor = numpy_helper.from_array(array, info.name)
                with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as f:
                    f.write(tensor.SerializeToString())
                np.save(os.path.join(data, f"{kind}_{i}.npy"), array)
        names.append(folder)
    with open(os.path.join(out, "skipped.txt"), "w") as f:
        f.write("\n".join(skipped) + "\n")
    # Last: its presence says that the rest is whole.
    with open(os.path.join(out, "list.txt"), "w") as f:
        f.write("\n".join(names) + "\n")
    print(f"{len(names)} tests in {out}, {len(skipped)} left out")


def check(arguments):
    listing = os.path.join(arguments.out, "list.txt")
    if not os.path.exists(listing):
        dump(arguments.out)
    run = subprocess.run([arguments.runner, "--list", listing], stdout=subprocess.PIPE, text=True)
    passed, failed = set(), {}
    for line in run.stdout.splitlines():
        if line.startswith("PASS "):
            passed.add(line[5:])
        elif line.startswith("FAIL "):
            name, _, reason = line[5:].partition(": ")
            failed[name] = reason
    print(f"{len(passed)} of {len(passed) + len(failed)} passed")
    if arguments.update:
        with open(arguments.expected, "w") as f:
            f.write(
                "# Node tests that pass by import and reference evaluation. The list may only grow.\n"
            )
            f.write("".join(name + "\n" for name in sorted(passed)))
        return 0
    expected = {
        line.strip()
        for line in open(arguments.expected)
        if line.strip() and not line.startswith("#")
    }
    lost = sorted(expected - passed)
    for name in lost:
        print(f"lost: {name}: {failed.get(name, 'it did not run')}")
    gained = sorted(passed - expected)
    if gained:
        print(
            f"{len(gained)} more than expected pass; run again with --update to keep them: {' '.join(gained[:20])}"
        )
    return 1 if lost else 0


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("dump", "check"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--runner")
    parser.add_argument("--expected")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "dump":
        dump(arguments.out)
        return 0
    return check(arguments)


if __name__ == "__main__":
    sys.exit(main())
