#!/usr/bin/env python3
"""Times batched, small and flat matmuls: dlc against PyTorch's bmm (MKL) and ONNX Runtime, interleaved.

    tools/bench/products.py [--sizes 1000x100x100x100,512x32x64x32] [--threads 1,2] [--rounds 6]

A size is BATCHxMxNxK, or BATCHxMxNxKxc if the right operands are constant weights. dlc runs with default options and with --accuracy strict.
Prints minimum and median in microseconds, GFLOP/s, GB/s (each operand counted once) and the ratio of the best peer's minimum to dlc's.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

SIZES = "1000x100x100x100,512x32x64x32,4096x8x8x8,96x128x128x64,1x1x4096x4096xc,1x1x10000x1024xc,1x16x4096x1024xc"


def write_matmul_model(size, constant, path):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    batch, m, n, k = size
    rng = np.random.default_rng(0)
    shapes = {"a": [batch, m, k], "b": [batch, k, n]}
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
        if name == "a" or not constant
    ]
    weights = (
        [numpy_helper.from_array(rng.standard_normal(shapes["b"], np.float32), "b")]
        if constant
        else []
    )
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["y"])],
        "product",
        inputs,
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [batch, m, n])],
        weights,
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )


def run_worker(tool, path, threads, size):
    """Runs one tool of the benchmark in this process, with the protocol of worker.py."""
    import numpy as np
    import onnx
    import worker

    batch, m, n, k = size
    rng = np.random.default_rng(1)
    known = {
        w.name
        for w in onnx.load(path.replace(".dlcx", ".onnx").replace("-strict", "")).graph.initializer
    }
    inputs = {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in (("a", (batch, m, k)), ("b", (batch, k, n)))
        if name not in known
    }
    if tool.startswith("dlc"):
        run = worker.dlc(path, threads, inputs)[0]
    elif tool == "onnxruntime":
        run = worker.onnxruntime(path, threads, inputs)[0]
    else:
        import torch

        torch.set_num_threads(threads)
        a = torch.from_numpy(inputs["a"])
        b = torch.from_numpy(inputs["b"]) if "b" in inputs else torch.randn(batch, k, n)
        y = torch.empty(batch, m, n)
        run = (
            (lambda: torch.mm(a[0], b[0], out=y[0]))
            if batch == 1
            else (lambda: torch.bmm(a, b, out=y))
        )
    run()
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        seconds, times = json.loads(line)["seconds"], []
        run()
        while sum(times) < seconds or len(times) < 3:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps({"times": times}), flush=True)


def measure(text, threads, o):
    constant = text.endswith("xc")
    size = [int(d) for d in text.removesuffix("xc").split("x")]
    batch, m, n, k = size
    folder, workers = tempfile.mkdtemp(prefix="dlc-products-"), []
    try:
        model = os.path.join(folder, "p.onnx")
        write_matmul_model(size, constant, model)
        for tool, accuracy in (("dlc", "default"), ("dlc-strict", "strict")):
            program = os.path.join(folder, "p.dlcx" if tool == "dlc" else "p-strict.dlcx")
            subprocess.run(
                [
                    common.DLC,
                    "compile",
                    model,
                    "-o",
                    program,
                    "--threads",
                    str(threads),
                    "--cache",
                    "none",
                    "--accuracy",
                    accuracy,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        for tool, path in (
            ("dlc", "p.dlcx"),
            ("dlc-strict", "p-strict.dlcx"),
            ("torch", "p.onnx"),
            ("onnxruntime", "p.onnx"),
        ):
            command = [
                sys.executable,
                os.path.abspath(__file__),
                "--work",
                tool,
                "--model",
                os.path.join(folder, path),
                "--threads",
                str(threads),
                "--sizes",
                text,
            ]
            workers.append(common.Worker(tool, command, threads))
        for _ in range(o.rounds):
            for worker in workers:
                if not worker.error:
                    worker.round(o.seconds)
        peers = [min(w.times) for w in workers if not w.tool.startswith("dlc") and w.times]
        for w in workers:
            if not w.times:
                print(f"{text:22} {threads:7}  {w.tool:12} {w.error}", flush=True)
                continue
            least = min(w.times)
            moved = 4 * batch * (m * k + k * n + m * n)
            ratio = f"{min(peers) / least:.2f}" if w.tool.startswith("dlc") and peers else ""
            print(
                f"{text:22} {threads:7}  {w.tool:12} {least * 1e6:9.1f} {statistics.median(w.times) * 1e6:9.1f} {2 * batch * m * n * k / least / 1e9:8.1f} "
                f"{moved / least / 1e9:7.1f} {ratio:>6}",
                flush=True,
            )
    finally:
        for w in workers:
            w.close()
        shutil.rmtree(folder)


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--sizes", default=SIZES)
    a.add_argument("--threads", default="2")
    a.add_argument("--rounds", type=int, default=6)
    a.add_argument("--seconds", type=float, default=0.1)
    a.add_argument("--work", help=argparse.SUPPRESS)
    a.add_argument("--model", help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.work:
        return run_worker(
            o.work, o.model, int(o.threads), [int(d) for d in o.sizes.removesuffix("xc").split("x")]
        )
    print(
        f"{'size':22} {'threads':>7}  {'tool':12} {'min us':>9} {'median':>9} {'GFLOP/s':>8} {'GB/s':>7} {'ratio':>6}",
        flush=True,
    )
    for threads in map(int, o.threads.split(",")):
        for text in o.sizes.split(","):
            measure(text, threads, o)


main()
