#!/usr/bin/env python3
"""Converts networks of the zoo to f16 with ONNX Runtime's converter:
    DLC_ZOO=FOLDER build/venv-bench/bin/python tools/bench/zoo/halves.py [--sample 28]

Writes FOLDER/graphs; afterwards `DLC_ZOO=FOLDER tools/bench/zoo/zoo.py` measures the models. Networks that the converter rejects are listed and skipped.
"""

import argparse
import os
import random
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn


def main():
    import onnx
    import weightless
    from onnxruntime.transformers.float16 import convert_float_to_float16

    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--sample", type=int, default=28)
    o = a.parse_args()
    if drawn.PLACE == drawn.OWN:
        a.error("set the environment variable DLC_ZOO to the folder of the models")
    warnings.filterwarnings("ignore")
    os.makedirs(drawn.GRAPHS, exist_ok=True)
    own = os.path.join(drawn.OWN, "graphs")
    files = sorted(file for file in os.listdir(own) if file.endswith("-b1.onnx.xz"))
    random.Random(9).shuffle(files)
    for file in files[: o.sample]:
        try:
            model = onnx.shape_inference.infer_shapes(weightless.read(os.path.join(own, file)))
            weightless.write_without_weights(
                convert_float_to_float16(model), os.path.join(drawn.GRAPHS, file)
            )
            print(file, flush=True)
        except common.failures() as error:  # errors of the converter
            print(f"{file}: {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main()
