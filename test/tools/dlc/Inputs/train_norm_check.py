"""Checks the running statistics after three steps of norm.onnx, computed with ONNX's formula: train_norm_check.py FOLDER CHECKPOINT.

The weights before the norm are frozen, so the statistics of each batch depend on the data only.
"""

import json
import struct
import sys

import numpy as np
import onnx
from onnx import numpy_helper

folder, checkpoint = sys.argv[1:]
data = open(checkpoint, "rb").read()
(size,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8 : 8 + size])
header.pop("__metadata__")
state = {
    n: np.frombuffer(data[8 + size :][slice(*t["data_offsets"])], np.float32).reshape(t["shape"])
    for n, t in header.items()
    if t["dtype"] == "F32"
}
weights = {
    w.name: numpy_helper.to_array(w) for w in onnx.load(f"{folder}/norm.onnx").graph.initializer
}
x = np.load(f"{folder}/values.npz")["x"].astype(np.float64)
mean, var = np.zeros(16), np.ones(16)
for batch in range(3):
    h = x[8 * batch : 8 * batch + 8] @ weights["w"]
    mean = 0.75 * mean + 0.25 * h.mean(0)
    var = 0.75 * var + 0.25 * h.var(0)
np.testing.assert_allclose(state["mean"], mean, rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(state["var"], var, rtol=1e-4, atol=1e-5)
assert (state["w"] == weights["w"]).all(), "a frozen parameter moved"
assert (state["v"] != weights["v"]).any(), "a parameter did not move"
assert not any("optimizer" in n and (n.endswith(".mean") or n.endswith(".var")) for n in state), (
    list(state)
)
print("running statistics as ONNX says")
