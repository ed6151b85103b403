"""Models, files and steps that the calls of a block in fuzz_calls.py share, and the comparison of their results."""

import functools
import os
import shutil
import tempfile

import models
import numpy as np
from onnx import TensorProto

import dlc


class Wrong(AssertionError):
    pass


def numbers(value):
    return np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)


def expect(found, wanted):
    found = [numbers(each) for each in (found if isinstance(found, tuple) else (found,))]
    for got, want in zip(found, wanted, strict=True):
        if (
            got.shape != want.shape
            or got.dtype != want.dtype
            or not np.array_equal(got, want, equal_nan=True)
        ):
            raise Wrong(f"found {got!r}, required {want!r}")


@functools.cache
def onnx_models():
    return {
        "two": models.two(),
        "open": models.open_batch(),
        "whole": models.doubled(TensorProto.INT64),
        "reshaped": models.reshaped(),
        "ten": models.ten_operations(),
    }


MEANING = {
    "two": lambda a, b: [a + b, a - b],
    "open": lambda x: [2 * x],
    "whole": lambda x: [x + x],
    "reshaped": lambda x, shape: [x.reshape([d if d else x.shape[i] for i, d in enumerate(shape)])],
}


class World:
    """What the calls of a block share."""

    def __init__(self, with_torch):
        self.torch, self.folder = with_torch, tempfile.mkdtemp(prefix="dlc-odd-")
        os.chdir(self.folder)
        self.path = os.path.join(self.folder, "net.dlcx")
        self.nets = [(name, dlc.compile(model)) for name, model in onnx_models().items()]
        self.nets[0][1].save(self.path)
        self.nets.append(("two", dlc.load(self.path)))
        self.steps = []

    def close(self):
        os.chdir("/")
        shutil.rmtree(self.folder)
