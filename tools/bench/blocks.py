#!/usr/bin/env python3
"""Times matmuls with block-quantized 4-bit (or 8-bit) weights: dlc against ONNX Runtime's MatMulNBits and OpenVINO, interleaved.

    tools/bench/blocks.py [--sizes 4096x4096,4096x11008] [--rows 1,2,4,16] [--blocks 32,128] [--zeros] [--threads 1,2] [--rounds 5]

A size is KxN. A model contains as many matmuls as are needed for --mib MiB of weights, so that the weights are read from memory. dlc and ONNX Runtime run
with accuracy_level 0 and, as "-int8", 4. Prints for each matmul: minimum and median in microseconds, GFLOP/s, the GB/s of the weights with their scales and
zero points as stored in the file, the fraction of the read bandwidth measured in the same rounds, the time relative to that of the smallest number of rows,
and the ratio of a peer's minimum at the same accuracy level to dlc's.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common


def write_block_quantized_model(o, path, accuracy):
    """Writes an ONNX model of MatMulNBits nodes. Returns the number of matmuls, and the number of bytes of weights of each."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    k, n, block, bits = o.k, o.n, o.block, o.bits
    count, rng = -(-k // block), np.random.default_rng(0)
    each = n * count * (block * bits // 8 + 4 + (bits / 8 if o.zeros else 0))
    copies = max(1, round(o.mib * 2**20 / each))
    weights, nodes, outputs = [], [], []
    for i in range(copies):
        parts = [
            (f"w{i}", rng.integers(0, 256, (n, count, block * bits // 8), np.uint8)),
            (f"s{i}", rng.uniform(0.01, 0.02, (n, count)).astype(np.float32)),
        ]
        if o.zeros:
            parts.append((f"z{i}", rng.integers(0, 256, n * -(-count * bits // 8), np.uint8)))
        weights += [numpy_helper.from_array(array, name) for name, array in parts]
        nodes.append(
            helper.make_node(
                "MatMulNBits",
                ["x"] + [name for name, _ in parts],
                [f"y{i}"],
                domain="com.microsoft",
                K=k,
                N=n,
                bits=bits,
                block_size=block,
                accuracy_level=accuracy,
            )
        )
        outputs.append(helper.make_tensor_value_info(f"y{i}", onnx.TensorProto.FLOAT, [o.m, n]))
    graph = helper.make_graph(
        nodes,
        "blocks",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [o.m, k])],
        outputs,
        weights,
    )
    onnx.save(
        helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
            ir_version=8,
        ),
        path,
    )
    return copies, each


def make_memory_reader(threads, mib):
    """Returns a function that reads `mib` MiB of memory, split between the threads, by a memchr for a byte that does not occur."""
    import ctypes
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    data, libc = np.ones(mib << 20, np.uint8), ctypes.CDLL(None)
    libc.memchr.argtypes, libc.memchr.restype = (
        [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t],
        ctypes.c_void_p,
    )
    pool, part = ThreadPoolExecutor(threads), data.size // threads
    return lambda: list(
        pool.map(lambda i: libc.memchr(data.ctypes.data + i * part, 2, part), range(threads))
    )


def run_worker(o):
    """Runs one tool of the benchmark in this process, with the protocol of worker.py."""
    import worker

    if o.work == "reading":
        print(json.dumps({}), flush=True)
        return worker.serve_requests(make_memory_reader(o.t, o.mib))
    import numpy as np

    inputs = {"x": np.random.default_rng(1).standard_normal((o.m, o.k)).astype(np.float32)}
    run, _ = getattr(worker, o.work.removesuffix("-int8"))(o.model, o.t, inputs)
    run()
    print(json.dumps({}), flush=True)
    worker.serve_requests(run)


def measure(o):
    folder, workers = tempfile.mkdtemp(prefix="dlc-blocks-"), {}
    try:
        sizes = ["--size", f"{o.m}x{o.k}x{o.n}", "--t", str(o.t), "--mib", str(o.mib)]
        for accuracy, suffix in ((0, ""), (4, "-int8")):
            model, program = (
                os.path.join(folder, f"p{suffix}.{kind}") for kind in ("onnx", "dlcx")
            )
            copies, each = write_block_quantized_model(o, model, accuracy)
            subprocess.run(
                [
                    common.DLC,
                    "compile",
                    model,
                    "-o",
                    program,
                    "--threads",
                    str(o.t),
                    "--cache",
                    "none",
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            for tool, path in (("dlc", program), ("onnxruntime", model), ("openvino", model)):
                if tool in o.tools and (tool != "openvino" or not suffix):
                    workers[tool + suffix] = (path,)
        workers["reading"] = ("",)
        for tool, (path,) in workers.items():
            workers[tool] = common.Worker(
                tool,
                [
                    sys.executable,
                    os.path.abspath(__file__),
                    "--work",
                    tool,
                    "--model",
                    path,
                    *sizes,
                ],
                o.t,
            )
        for _ in range(o.rounds):
            for worker in workers.values():
                if not worker.error:
                    worker.round(o.seconds)
        bandwidth = (o.mib << 20) / min(workers["reading"].times) / 1e9
        label = f"{o.m}x{o.k}x{o.n} {o.block}{'z' if o.zeros else ''}"
        print(
            f"{label:24} {o.t:7}  {'reading':18} {'':9} {'':9} {'':8} {bandwidth:7.1f}", flush=True
        )
        for tool, w in workers.items():
            if tool == "reading" or not w.times:
                if tool != "reading":
                    print(f"{label:24} {o.t:7}  {tool:18} {w.error}", flush=True)
                continue
            least, own = (
                min(w.times) / copies,
                workers["dlc-int8" if tool.endswith("-int8") else "dlc"],
            )
            rate = each / least / 1e9
            ratio = f"{min(w.times) / min(own.times):.2f}" if w is not own and own.times else ""
            fewest = o.fewest.setdefault((o.t, o.k, o.n, o.block, tool), least)
            print(
                f"{label:24} {o.t:7}  {tool:18} {least * 1e6:9.1f} {statistics.median(w.times) / copies * 1e6:9.1f} "
                f"{2 * o.m * o.n * o.k / least / 1e9:8.1f} {rate:7.1f} {rate / bandwidth:6.2f} {least / fewest:5.2f} {ratio:>6}",
                flush=True,
            )
    finally:
        for w in workers.values():
            if isinstance(w, common.Worker):
                w.close()
        shutil.rmtree(folder)


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--sizes", default="4096x4096,4096x11008,11008x4096,4096x32000")
    a.add_argument("--rows", default="1,2,4,16")
    a.add_argument("--blocks", default="32,128")
    a.add_argument("--bits", type=int, default=4)
    a.add_argument("--zeros", action="store_true")
    a.add_argument("--threads", default="1,2")
    a.add_argument("--tools", default="dlc,onnxruntime,openvino")
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--seconds", type=float, default=0.1)
    a.add_argument("--mib", type=int, default=160)
    for name in ("--work", "--model", "--size"):
        a.add_argument(name, help=argparse.SUPPRESS)
    a.add_argument("--t", type=int, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.work:
        o.m, o.k, o.n = map(int, o.size.split("x"))
        return run_worker(o)
    print(
        f"{'rows x K x N, block':24} {'threads':>7}  {'tool':18} {'min us':>9} {'median':>9} {'GFLOP/s':>8} {'GB/s':>7} {'share':>6} {'times':>5} {'ratio':>6}",
        flush=True,
    )
    o.fewest = {}
    for o.t in map(int, o.threads.split(",")):
        for size in o.sizes.split(","):
            o.k, o.n = map(int, size.split("x"))
            for o.block in map(int, o.blocks.split(",")):
                for o.m in map(int, o.rows.split(",")):
                    measure(o)


main()
