#!/usr/bin/env python3
"""Compares dlc's outputs with ONNX Runtime's on the benchmark networks, with the same files and random inputs.

    tools/bench/compare.py [--networks resnet-50,bert] [--batches 1,4] [MODEL.onnx ...]

Each element must agree within 1e-3 relative to itself, or within 1e-4 relative to the largest element.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common


def output_file_name(value):
    return "".join("_" if c == "/" or ord(c) < 32 else c for c in value) + ".npy"


def compare_with_onnxruntime(path):
    import numpy as np
    import onnxruntime as ort

    inputs = dict(np.load(common.random_inputs(path, seed=7)))
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="dlc-compare-") as folder:
        command = [common.DLC, "run", path, "--output-dir", os.path.join(folder, "out"), "--json"]
        for i, (name, value) in enumerate(inputs.items()):
            np.save(os.path.join(folder, f"{i}.npy"), value)
            command += ["--input", f"{name}={folder}/{i}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        for name, want in wanted.items():
            got = np.load(os.path.join(folder, "out", output_file_name(name)))
            if got.shape != want.shape or got.dtype != want.dtype:
                return (
                    None,
                    f"{name}: {got.dtype}{got.shape}, ONNX Runtime {want.dtype}{want.shape}",
                )
            if want.size > 1 and want.min() == want.max():
                return (
                    None,
                    f"{name}: every element is {want.flat[0]}, so that the comparison proves nothing",
                )
            if want.size:
                allowed = 1e-3 * np.maximum(np.abs(want), 0.1 * np.abs(want).max()) + 1e-30
                worst = max(
                    worst, float(np.nan_to_num(np.abs(got - want) / allowed, nan=np.inf).max())
                )
    return worst, "" if worst <= 1 else "outside the tolerance"


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default=",".join(common.network_names()))
    a.add_argument("--batches", default="1,4")
    a.add_argument(
        "models", nargs="*", help="model files to measure instead of the benchmark's networks"
    )
    o = a.parse_args()
    if not o.models:
        common.use_bench_python()
    paths = o.models or [
        common.export(n, int(b)) for n in o.networks.split(",") for b in o.batches.split(",")
    ]
    failed = 0
    for path in paths:
        worst, problem = compare_with_onnxruntime(path)
        failed += bool(problem)
        shown = "        -" if worst is None else f"{worst * 1e-3:9.1e}"
        print(
            f"{'FAIL' if problem else 'ok  '} {os.path.basename(path):24} largest relative difference {shown}  {problem}",
            flush=True,
        )
    print(f"compare: {len(paths) - failed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
