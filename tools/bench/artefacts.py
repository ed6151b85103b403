#!/usr/bin/env python3
"""Compares the programs that two builds of dlc make of the same models, byte for byte.

    tools/bench/artefacts.py BEFORE [AFTER] [--networks resnet-50,lstm] [--threads 2] [--inspect] [--save FILE]

BEFORE and AFTER (build/ when not given) are folders with bin/dlc; BEFORE may also be what --save wrote of another run: the digests of its AFTER.
Models: the inference networks as bench.py exports them, the training
steps of dlc-train-network (their text comes from AFTER), and the graphs of test/networks. --inspect shows how `dlc inspect` tells those
that differ apart. The status is 1 when a program differs or one build refuses what the other takes.
"""
import argparse
import difflib
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

common.use_bench_python()
sys.path.insert(0, os.path.join(common.ROOT, "tools", "bench", "zoo"))
import onnx
import weightless

TRAINED = ["fcn-s", "alexnet-s", "resnet-50", "fcn-r", "alexnet-r", "resnet-56", "lstm", "bert", "vit"]
GRAPHS = os.path.join(common.ROOT, "test", "networks", "graphs")


def models(after, folder):
    """(name, path, options) of everything that is compiled."""
    for path in sorted(glob.glob(os.path.join(common.MODELS, "*.onnx"))):
        yield "inference/" + os.path.basename(path).removesuffix(".onnx"), path, []
    for name in TRAINED:
        path = os.path.join(folder, name + ".mlir")
        with open(path, "w") as out:
            subprocess.run([os.path.join(after, "bin", "dlc-train-network"), name, "--text"], stdout=out, check=True)
        yield "training/" + name, path, []
        yield f"training/{name}/bf16", path, ["--precision", "bf16"]
    for packed in sorted(glob.glob(os.path.join(GRAPHS, "*.onnx.xz"))):
        path = os.path.join(folder, "graph.onnx")
        onnx.save(weightless.read(packed), path)
        yield "graphs/" + os.path.basename(packed).removesuffix(".onnx.xz"), path, []


def compiled(build, path, options, out):
    """What the build says of the model; its program is in `out` then."""
    # Locations in the program name the file as it was given.
    folder, name = os.path.split(os.path.abspath(path))
    run = subprocess.run([os.path.join(os.path.abspath(build), "bin", "dlc"), "compile", name, "-o", out, "--cache", "none"] + options,
                         cwd=folder, capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inspected(build, path):
    run = subprocess.run([os.path.join(build, "bin", "dlc"), "inspect", path], capture_output=True, text=True)
    return (run.stdout + run.stderr).splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default=common.BUILD)
    parser.add_argument("--networks", default="", help="only those whose names contain one of these")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--inspect", action="store_true")
    parser.add_argument("--save", default="")
    o = parser.parse_args()
    wanted = [w for w in o.networks.split(",") if w]
    known = None
    if os.path.isfile(o.before):
        with open(o.before) as file:
            known = json.load(file)
    found, different = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        first, second = os.path.join(folder, "before.dlcx"), os.path.join(folder, "after.dlcx")

        def outcome(build, path, options, out):
            """The program's digest, or the error."""
            return compiled(build, path, options, out).strip() or digest(out)

        for name, path, options in models(o.after, folder):
            if wanted and not any(w in name for w in wanted):
                continue
            options = options + ["--threads", o.threads]
            found[name] = outcome(o.after, path, options, second)
            before = known.get(name) if known is not None else outcome(o.before, path, options, first)
            if before == found[name]:
                continue
            different += 1
            print(f"{name}: before {before}, after {found[name]}", flush=True)
            if o.inspect and known is None:
                lines = difflib.unified_diff(inspected(o.before, first), inspected(o.after, second), "before", "after", lineterm="", n=0)
                print("\n".join("  " + line for line in lines), flush=True)
    if o.save:
        with open(o.save, "w") as file:
            json.dump(found, file, indent=1)
    print(f"{len(found) - different} programs are the same, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
