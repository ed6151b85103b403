"""Writes small quantized ONNX files into a folder: nodes that ONNX Runtime's tools write, and networks in the form of its quantizer.

usage: quantized_seeds.py FOLDER
"""

import contextlib
import io
import logging
import os
import shutil
import sys

import numpy as np
import onnx

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "frontend", "onnx")
)
import contrib_tests
import quantized_files

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
logging.disable(logging.WARNING)
rng = np.random.default_rng(3)
for name, make in sorted(contrib_tests.CASES.items()):
    case = make(rng)
    # Scales, zero points and weights are constants in files.
    case.constants |= set(range(1, len(case.inputs)))
    onnx.save(
        contrib_tests.model_of(name.split("+")[0], case)[0],
        os.path.join(folder, name.replace("+", "-") + ".onnx"),
    )
for name in quantized_files.NETWORKS:
    model, samples = quantized_files.network(name, np.random.default_rng(7))
    source = os.path.join(folder, name + ".onnx")
    onnx.save(model, source)
    for kind, make in quantized_files.variants(source, folder, samples).items():
        if kind in ("dynamic", "qdq", "operators"):
            with contextlib.redirect_stdout(io.StringIO()):
                make(os.path.join(folder, f"{name}-{kind}.onnx"))
    os.remove(source)
print(len(os.listdir(folder)), "files")
