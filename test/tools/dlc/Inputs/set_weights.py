"""Replaces initializers of a model by the f32 tensors of a checkpoint: set_weights.py MODEL.onnx FILE.safetensors OUTPUT.onnx."""

import json
import sys

import numpy as np
import onnx
from onnx import numpy_helper

model, data = onnx.load(sys.argv[1]), open(sys.argv[2], "rb").read()
begin = 8 + int.from_bytes(data[:8], "little")
tensors = json.loads(data[8:begin])
for weight in model.graph.initializer:
    if weight.name in tensors:
        values = np.frombuffer(
            data[begin:][slice(*tensors[weight.name]["data_offsets"])], "float32"
        )
        weight.CopyFrom(
            numpy_helper.from_array(values.reshape(tensors[weight.name]["shape"]), weight.name)
        )
onnx.save(model, sys.argv[3])
