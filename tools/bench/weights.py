#!/usr/bin/env python3
"""Times inference with weights stored in f32, bf16 and int8 (dlc compile --weights), interleaved, and measures the error of the outputs.

    tools/bench/weights.py [--networks fcn-s,alexnet-s,bert] [--batch 1] [--threads 2] [--rounds 6]

Prints minimum and median of a run, the speedup over f32, the size of the program in MiB, and the largest difference of an output from
ONNX Runtime's f32 result, relative to the largest element. A GEMV is bound by weight bandwidth: half the bytes take half the time.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

KEPT = ["f32", "bf16", "int8"]


def relative_error(program, model):
    """Returns the error of a program's outputs relative to ONNX Runtime, on the benchmark inputs of the model."""
    import numpy as np
    import onnxruntime as ort

    inputs = dict(np.load(common.random_inputs(model)))
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    wanted = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="dlc-weights-") as folder:
        command = [
            common.DLC,
            "run",
            program,
            "--output-dir",
            os.path.join(folder, "out"),
            "--json",
        ]
        for i, (name, value) in enumerate(inputs.items()):
            np.save(os.path.join(folder, f"{i}.npy"), value)
            command += ["--input", f"{name}={folder}/{i}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name, want in wanted.items():
            got = np.load(
                os.path.join(
                    folder,
                    "out",
                    "".join("_" if c == "/" or ord(c) < 32 else c for c in name) + ".npy",
                )
            )
            worst = max(worst, float(np.abs(got - want).max() / np.abs(want).max()))
    return worst


def measure(network, o):
    model = common.export(network, o.batch)
    folder = tempfile.mkdtemp(prefix="dlc-weights-")
    here = os.path.dirname(os.path.abspath(__file__))
    workers = {}
    try:
        programs = {kept: os.path.join(folder, kept + ".dlcx") for kept in KEPT}
        for kept, program in programs.items():
            subprocess.run(
                [
                    common.DLC,
                    "compile",
                    model,
                    "-o",
                    program,
                    "--threads",
                    str(o.threads),
                    "--cache",
                    os.path.join(folder, "cache"),
                    "--weights",
                    kept,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            command = [
                sys.executable,
                os.path.join(here, "worker.py"),
                "dlc",
                program,
                str(o.threads),
                common.random_inputs(model),
            ]
            workers[kept] = common.Worker(kept, command, o.threads)
        for _ in range(o.rounds):
            for worker in workers.values():
                worker.round(o.seconds)
        least = min(workers["f32"].times)
        for kept, worker in workers.items():
            size = os.path.getsize(programs[kept]) / 2**20
            print(
                f"{network:12} {kept:6} {min(worker.times) * 1e3:9.3f} {statistics.median(worker.times) * 1e3:9.3f} {least / min(worker.times):7.2f} "
                f"{size:8.1f} {relative_error(programs[kept], model):9.1e}",
                flush=True,
            )
    finally:
        for worker in workers.values():
            worker.close()
        shutil.rmtree(folder)


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default="fcn-s,alexnet-s,bert")
    a.add_argument("--batch", type=int, default=1)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=6)
    a.add_argument("--seconds", type=float, default=0.5)
    o = a.parse_args()
    print(
        f"{'network':12} {'kept':6} {'min ms':>9} {'median':>9} {'faster':>7} {'MiB':>8} {'error':>9}",
        flush=True,
    )
    for network in o.networks.split(","):
        measure(network, o)


main()
