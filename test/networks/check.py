#!/usr/bin/env python3
"""Compiles the networks of this folder, runs them, and compares them with ONNX Runtime: check.py BUILD-FOLDER [--long] [--jobs N] [NETWORK...]

For each network the compiler must end, no command may use a library's reference implementation, and outputs must be within 1e-3 of their largest element.
Slow networks are run with --long only, which leaves out the others. The last line is `networks: N passed, N failed`.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench", "zoo")
)
import numpy as np
import onnx
import onnxruntime
import weightless

LONG = [
    "alexnet-s",
    "bert",
    "csatv2",
    "densenet",
    "fcn-s",
    "gcvit",
    "next-vit",
    "nfnet",
    "res2net",
    "resnet-50",
    "selecsls",
    "tresnet",
    "vit",
]
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command[:2])}: status {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}"
        )
    return done.stdout


def check(build, name):
    """Nothing, or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        at = lambda *parts: os.path.join(folder, *parts)
        model = weightless.read(os.path.join(HERE, "graphs", name + ".onnx.xz"))
        onnx.save(model, at("model.onnx"))
        inputs = weightless.random_inputs(model)
        given = []
        for i, (key, value) in enumerate(inputs.items()):
            np.save(at(f"{i}.npy"), value)
            given += ["--input", f"{key}={at(f'{i}.npy')}"]
        dlc = os.path.join(build, "bin", "dlc")
        run(
            [
                dlc,
                "compile",
                at("model.onnx"),
                "-o",
                at("model.dlcx"),
                "--cache",
                "none",
                "--threads",
                "2",
            ]
        )
        about = json.loads(run([dlc, "inspect", at("model.dlcx"), "--json"]))
        slow = [
            f"{c['name']} ({c['loc'][-80:]})"
            for c in about["commands"]
            if any("a reference implementation" in text for text in c.get("candidates") or [])
        ]
        if slow:
            return "reference implementations: " + ", ".join(slow)
        run([dlc, "run", at("model.dlcx"), *given, "--output-dir", at("out")])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        session = onnxruntime.InferenceSession(
            at("model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        worst = 0
        for output, want in zip(about["outputs"], session.run(None, inputs)):
            got = np.load(
                at(
                    "out",
                    "".join(c if c.isalnum() or c in "._-" else "_" for c in output["name"])
                    + ".npy",
                )
            )
            if got.shape != want.shape:
                return f"{output['name']}: shape {got.shape}, {want.shape} wanted"
            if want.dtype.kind == "f" and want.size:
                far = np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)
                worst = max(worst, far) if np.isfinite(far) else np.inf
            elif not np.array_equal(got, want):
                return f"{output['name']}: other integers"
        return "" if worst < 1e-3 else f"outputs differ by {worst:.1e} of the largest"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true", help="those that take long")
    parser.add_argument("--verbose", action="store_true", help="say of each how long it took")
    o = parser.parse_args()
    known = sorted(
        os.path.basename(p)[: -len(".onnx.xz")]
        for p in glob.glob(os.path.join(HERE, "graphs", "*.onnx.xz"))
    )
    names = o.networks or [name for name in known if (name in LONG) == o.long]
    failed = 0

    def one(name):
        start = time.perf_counter()
        try:
            wrong = check(o.build, name)
        except Exception as error:  # noqa: BLE001  each of them is a result
            wrong = f"{type(error).__name__}: {error}"
        return wrong, time.perf_counter() - start

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for name, (wrong, seconds) in zip(names, pool.map(one, names)):
            failed += bool(wrong)
            if wrong or o.verbose:
                print(f"{name}: {wrong or 'passed'}, {seconds:.1f} s", flush=True)
    print(f"networks: {len(names) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
