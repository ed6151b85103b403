#!/usr/bin/env python3
"""Runs the onnx package's tests through the whole compiler and compares the passing ones with lists of expected names.

  check.py node|light --runner dlc-onnx-run --out DIR [--update]

node: the backend node tests. expected.txt names the tests that must pass, failing.txt the others, each with a reason. light: the
nine light_* models, all of which must pass. --update writes the lists again. A name may be removed from expected.txt only for a
good reason. Existing reasons in failing.txt are not overwritten, because a person may have replaced the runner's message with
the cause; new names get the runner's message.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
DUMPER = os.path.join(HERE, "..", "..", "frontend", "onnx", "node_tests.py")


def dump_light(out):
    """Writes each light model's folder as the node tests' are: a ramp as input, the package's outputs as expected."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    source = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light")
    folders = []
    for path in sorted(glob.glob(os.path.join(source, "light_*.onnx"))):
        name = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.join(out, name)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        with open(path, "rb") as f, open(os.path.join(folder, "model.onnx"), "wb") as g:
            g.write(f.read())
        graph = onnx.load(path).graph
        given = {i.name for i in graph.initializer}
        for i, value in enumerate(v for v in graph.input if v.name not in given):
            shape = tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
            n = int(np.prod(shape))
            ramp = (np.arange(n).reshape(shape) / n).astype(
                onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            )
            np.save(os.path.join(data, f"input_{i}.npy"), ramp)
        for i in range(len(graph.output)):
            with open(os.path.splitext(path)[0] + f"_output_{i}.pb", "rb") as f:
                proto = onnx.TensorProto()
                proto.ParseFromString(f.read())
            np.save(os.path.join(data, f"output_{i}.npy"), numpy_helper.to_array(proto))
        folders.append(folder)
    with open(os.path.join(out, "list.txt"), "w") as f:
        f.write("\n".join(folders) + "\n")


def shown(reason):
    """A reason as it may be kept: without the folder that the models lay in."""
    return " ".join(re.sub(r"\S*/onnx-node/", "", reason).split())


def lines_in(path):
    """{name: reason or nothing} of a list."""
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        parts = [line.partition(":") for line in f if line.strip() and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, _, reason in parts}


def main():
    warnings.filterwarnings("ignore")
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("kind", choices=("node", "light"))
    a.add_argument("--runner", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--update", action="store_true")
    o = a.parse_args()
    listing = os.path.join(o.out, "list.txt")
    if not os.path.exists(listing):
        os.makedirs(o.out, exist_ok=True)
        if o.kind == "light":
            dump_light(o.out)
        else:
            subprocess.run([sys.executable, DUMPER, "dump", "--out", o.out], check=True)
    run = subprocess.run(
        [o.runner, "--list", listing] + (["--atol", "1e-5"] if o.kind == "light" else []),
        stdout=subprocess.PIPE,
        text=True,
    )
    passed, failed = set(), {}
    for line in run.stdout.splitlines():
        if line.startswith("PASS "):
            passed.add(line[5:])
        elif line.startswith("FAIL "):
            name, _, reason = line[5:].partition(": ")
            failed[name] = reason
    print(f"onnx {o.kind} tests: {len(passed)} of {len(passed) + len(failed)} pass")
    if o.kind == "light":
        for name, reason in sorted(failed.items()):
            print(f"FAIL {name}: {reason}")
        return len(failed) != 0 or not passed
    expected, failing = os.path.join(HERE, "expected.txt"), os.path.join(HERE, "failing.txt")
    if o.update:
        with open(expected, "w") as f:
            f.write(
                "# Node tests that pass on the cpu. The list may only grow.\n"
                + "".join(n + "\n" for n in sorted(passed))
            )
        reasons = {n: shown(r)[:160] for n, r in failed.items()} | {
            n: r for n, r in lines_in(failing).items() if n in failed
        }
        with open(failing, "w") as f:
            f.write(
                "# Node tests that do not pass, each with its reason.\n"
                + "".join(f"{n}: {r}\n" for n, r in sorted(reasons.items()))
            )
        return 0
    known = lines_in(expected).keys()
    lost = sorted(known - passed)
    for name in lost:
        print(f"FAIL {name}: {failed.get(name, 'it did not run')}")
    gained = sorted(passed - known)
    if gained:
        print(
            f"{len(gained)} more than expected pass; check.py --update keeps them: {' '.join(gained[:20])}"
        )
    return len(lost) != 0


if __name__ == "__main__":
    sys.exit(main())
