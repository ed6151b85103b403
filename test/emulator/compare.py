#!/usr/bin/env python3
"""Checks that a network's outputs, or its losses and parameters after training, agree on two devices: compare.py NAME ONE OTHER (see `networks`)."""

import json
import os
import struct
import sys

import numpy as np


def parameters(path):
    with open(path, "rb") as f:
        data = f.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            yield name, np.frombuffer(data[start + first : start + last], np.float32)


def losses(path):
    with open(path) as f:
        return np.array([json.loads(line)["loss"] for line in f])


def main():
    name, one, other = sys.argv[1:]
    want, got = np.load(one + ".npy"), np.load(other + ".npy")
    largest = np.abs(want).max()
    output = np.abs(got - want).max() / largest
    if not os.path.exists(one + ".json"):
        print(f"{name:12} outputs differ by {output:.1e} (relative to the largest)")
        sys.exit(0 if largest > 0 and output < 1e-4 else f"{name}: the devices do not agree")
    loss = np.max(np.abs(losses(other + ".json") / losses(one + ".json") - 1))
    # Of what normalisation takes out again (a bias before it) rounding alone is left: compared with the largest of all.
    mine = dict(parameters(one + ".safetensors"))
    most = max(np.abs(value).max() for value in mine.values())
    moved = max(
        np.abs(value - mine[key]).max() / most for key, value in parameters(other + ".safetensors")
    )
    print(
        f"{name:12} outputs differ by {output:.1e}, losses by {loss:.1e}, parameters by {moved:.1e} (relative to the largest)"
    )
    # Outputs come within 2e-6; two steps of a normalised network make 5e-5 of such roundings in its parameters.
    good = largest > 0 and output < 1e-4 and loss < 1e-4 and moved < 1e-4
    sys.exit(0 if good else f"{name}: the devices do not agree")


main()
