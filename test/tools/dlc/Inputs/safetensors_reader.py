"""Reads f32 arrays from a .safetensors file."""

import json
import struct

import numpy


def read(path):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header, data = json.loads(f.read(size)), f.read()
    return {
        name: numpy.frombuffer(data[about["data_offsets"][0] : about["data_offsets"][1]], "float32")
        .reshape(about["shape"])
        .copy()
        for name, about in header.items()
        if name != "__metadata__" and about["dtype"] == "F32"
    }
