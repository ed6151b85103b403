#!/usr/bin/env python3
"""Rescales parameters so that values keep their magnitude through many layers: weights.py FILE.safetensors, which is overwritten.

With initial parameters the values may become smaller in each layer, until the result is the last bias only and the comparison is meaningless."""

import json
import struct
import sys

import numpy as np


def made(name, shape, random):
    noise = random.standard_normal(shape)
    if len(shape) > 1:
        return noise * np.sqrt(2 / np.prod(shape[1:]))
    return noise / 10 if name.endswith(("bias", "mean")) else 1 + np.abs(noise) / 10


def main():
    random = np.random.default_rng(1)
    with open(sys.argv[1], "rb+") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        about = {
            name: a
            for name, a in json.loads(f.read(size)).items()
            if name != "__metadata__" and a["dtype"] == "F32"
        }
        for name, a in about.items():
            f.seek(8 + size + a["data_offsets"][0])
            f.write(made(name, a["shape"], random).astype(np.float32).tobytes())


main()
