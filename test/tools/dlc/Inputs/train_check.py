"""Trains the small network in NumPy in double precision, and compares the loss and accuracy of each step, and the parameters.

train_check.py FOLDER OPTIMIZER LOG CHECKPOINT: LOG and CHECKPOINT are the output of `dlc train --json --checkpoint` with mlp.onnx and data.npz.
"""

import json
import struct
import sys

import numpy as np
import onnx
from onnx import numpy_helper

folder, optimizer, log, checkpoint = sys.argv[1:]
MASK = (1 << 64) - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def shuffled(size, seed, epoch):
    """As runtime/data/README.md says."""
    state = (mix((seed + 0x9E3779B97F4A7C15) & MASK) + epoch * 0xD1342543DE82EF95) & MASK
    order = list(range(size))
    for i in range(size, 1, -1):
        while True:
            state = (state + 0x9E3779B97F4A7C15) & MASK
            product = mix(state) * i
            if product & MASK >= (1 << 64) % i:
                break
        j = product >> 64
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


def read_safetensors(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    types = {"F32": np.float32, "I64": np.int64}
    return header.get("__metadata__", {}), {
        name: np.frombuffer(data[8 + size :][slice(*t["data_offsets"])], types[t["dtype"]]).reshape(
            t["shape"]
        )
        for name, t in header.items()
        if name != "__metadata__"
    }


model = onnx.load(f"{folder}/mlp.onnx")
p = {
    w.name: numpy_helper.to_array(w).astype(np.float64)
    for w in model.graph.initializer
    if "." in w.name
}
memory = {n: [np.zeros_like(v), np.zeros_like(v)] for n, v in p.items()}
arrays = np.load(f"{folder}/data.npz")
x, target = arrays["x"].reshape(-1, 6).astype(np.float64), arrays["target"]


def update(name, g, step):
    m, v = memory[name]
    if optimizer == "sgd":  # lr 0.1, momentum 0.9, weight decay 0.01
        g = g + 0.01 * p[name]
        m[:] = 0.9 * m + g if step > 1 else g
        p[name] = p[name] - 0.1 * m
        return
    m[:] = 0.9 * m + 0.1 * g  # adam, lr 0.01
    v[:] = 0.999 * v + 0.001 * g * g
    p[name] = p[name] - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)


lines = [json.loads(line) for line in open(log)]
assert len(lines) == 20, len(lines)
step = 0
for epoch in range(4):
    order = shuffled(len(x), 7, epoch)
    for batch in range(5):
        rows = order[8 * batch : 8 * batch + 8]
        step += 1
        a, t = x[rows], target[rows]
        h = a @ p["hidden.weight"].T + p["hidden.bias"]
        r = np.maximum(h, 0) * 0.5
        y = r @ p["out.weight"].T + p["out.bias"]
        e = np.exp(y - y.max(1, keepdims=True))
        s = e / e.sum(1, keepdims=True)
        loss = -np.log(s[np.arange(8), t]).mean()
        line = lines[step - 1]
        assert (line["step"], line["epoch"], line["batch"]) == (step, epoch + 1, batch + 1), line
        assert abs(line["loss"] - loss) < 2e-5 * max(1, abs(loss)), (line, loss)
        assert abs(line["accuracy"] - (y.argmax(1) == t).mean()) < 1e-6, line
        dy = s.copy()
        dy[np.arange(8), t] -= 1
        dy /= 8
        dh = (dy @ p["out.weight"]) * 0.5 * (h > 0)
        for name, g in {
            "out.weight": dy.T @ r,
            "out.bias": dy.sum(0),
            "hidden.weight": dh.T @ a,
            "hidden.bias": dh.sum(0),
        }.items():
            update(name, g, step)
metadata, state = read_safetensors(checkpoint)
assert metadata["dlc.train.steps"] == "20", metadata
for name, wanted in p.items():
    np.testing.assert_allclose(state[name], wanted, rtol=1e-4, atol=1e-5, err_msg=name)
print("trained as numpy does:", optimizer)
