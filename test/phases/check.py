#!/usr/bin/env python3
"""Compares dlc-opt with dlc, phase by phase: check.py BUILD-FOLDER [--long] [NETWORK...]

The IR that `dlc compile --from PHASE --to PHASE` writes must equal, byte for byte, that of `dlc-opt --dlc-phase-PHASE` for the same input.
The programs after the last phase must be equal, too, and equal to the program that `dlc compile` makes of the model in one run. Networks are
the graphs of test/networks (inference/NAME) and the training steps of dlc-train-network (training/NAME). Every check runs some of them, with options;
--long runs all of the benchmark networks. The last line is `phases: N passed, N failed`.
"""

import argparse
import concurrent.futures
import filecmp
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = os.path.join(HERE, "..", "networks")
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "bench", "zoo"))
import onnx
import weightless

PHASES = [
    "import",
    "simplify",
    "grad",
    "precision",
    "place",
    "layout",
    "fuse",
    "select",
    "refine",
    "lower",
    "memory",
    "native",
]
# What is asked for beside the threads: a network, and options as `dlc compile` takes them.
SHORT = [
    ("inference/resnet-56", {"place": ["output:*=cpu:1"]}),
    ("inference/mobilenet-v2", {"accuracy": ["strict"]}),
    (
        "training/fcn-s",
        {"precision": ["bf16"], "precision-of": ["*2*=f32"], "max-memory": ["1GiB"]},
    ),
    ("training/lstm", {"kernels": ["generated"], "accuracy": ["fast"], "weights": ["bf16"]}),
]
INFERENCE = [
    "resnet-50",
    "mobilenet-v2",
    "vit",
    "bert",
    "lstm",
    "alexnet-s",
    "fcn-s",
    "fcn-r",
    "alexnet-r",
    "resnet-56",
]
TRAINING = [
    "fcn-s",
    "alexnet-s",
    "resnet-50",
    "fcn-r",
    "alexnet-r",
    "resnet-56",
    "lstm",
    "bert",
    "vit",
]
LONG = [
    (f"{kind}/{name}", {})
    for kind, names in (("inference", INFERENCE), ("training", TRAINING))
    for name in names
]
COMMON = {"threads": ["2"], "cache": ["none"]}


def run(command, folder, output=None):
    with open(os.path.join(folder, output), "w") if output else open(os.devnull, "w") as out:
        done = subprocess.run(
            command, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)[:200]}: status {done.returncode}: {done.stderr.strip()[-400:]}"
        )


def check(build, name, options, pool):
    """Nothing, or what is wrong."""
    tool = lambda each: os.path.join(build, "bin", each)
    asked = {**COMMON, **options}
    flags = [
        part for key, values in asked.items() for value in values for part in ("--" + key, value)
    ]
    texts = " ".join(f"{key}={{{','.join(values)}}}" for key, values in asked.items())
    # Whole networks as text: in memory, where there is room.
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        kind, network = name.split("/")
        if kind == "training":
            model = "model.mlir"
            run([tool("dlc-train-network"), network, "--text"], folder, model)
        else:
            model = "model.onnx"
            onnx.save(
                weightless.read(os.path.join(NETWORKS, "graphs", network + ".onnx.xz")),
                os.path.join(folder, model),
            )
        whole = pool.submit(
            run, [tool("dlc"), "compile", model, "-o", "whole.dlcx", *flags], folder
        )
        run([tool("dlc"), "compile", model, "--to", "import", "-o", "import.mlir", *flags], folder)
        before = "import.mlir"
        for phase in PHASES:
            is_last = phase == PHASES[-1]
            after, other = (
                (f"{phase}.dlcx", "opt.dlcx") if is_last else (f"{phase}.mlir", "opt.mlir")
            )
            opt = [
                tool("dlc-opt"),
                before,
                f"--dlc-phase-{phase}={texts}" + (" output=" + other if is_last else ""),
                "--mlir-print-debuginfo",
                "-o",
                os.devnull if is_last else other,
            ]
            theirs = pool.submit(run, opt, folder)
            if phase != "import":
                run(
                    [
                        tool("dlc"),
                        "compile",
                        before,
                        "--from",
                        phase,
                        "--to",
                        phase,
                        "-o",
                        after,
                        *flags,
                    ],
                    folder,
                )
            theirs.result()
            if not filecmp.cmp(
                os.path.join(folder, after), os.path.join(folder, other), shallow=False
            ):
                return f"{phase}: dlc-opt makes something else than dlc compile"
            if before != after:
                os.remove(os.path.join(folder, before))
            before = after
        whole.result()
        if not filecmp.cmp(
            os.path.join(folder, "whole.dlcx"), os.path.join(folder, before), shallow=False
        ):
            return "the program is another than that of all phases at once"
    return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build")
    parser.add_argument("networks", nargs="*", help="without options, such as training/bert")
    parser.add_argument("--long", action="store_true", help="those that take long")
    o = parser.parse_args()
    build = os.path.abspath(o.build)
    cases = [(name, {}) for name in o.networks] or (LONG if o.long else SHORT)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, options in cases:
            start = time.perf_counter()
            try:
                wrong = check(build, name, options, pool)
            except Exception as error:  # noqa: BLE001  each of them is a result
                wrong = f"{type(error).__name__}: {error}"
            failed += bool(wrong)
            print(f"{name}: {wrong or 'passed'}, {time.perf_counter() - start:.1f} s", flush=True)
    print(f"phases: {len(cases) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
