"""Calls with odd arguments: each returns arrays or raises one of Python's exceptions, and the model works afterwards."""
import random

import models
import numpy as np
import pytest
from onnx import TensorProto

import dlc


class Lies:
    """An object whose __dlpack__ does not do what it should."""

    def __init__(self, given):
        self.given = given

    def __dlpack__(self, **_):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    def __repr__(self):
        return f"Lies({self.given!r})"


class Chameleon(np.ndarray):
    """Claims to be of another type than it is."""

    dtype = np.dtype("float32")


def odd_arrays():
    plain = np.arange(24, dtype="float32")
    yield from (plain[:6].reshape(2, 3), plain[::4].reshape(2, 3), plain[5::-1].reshape(2, 3), np.broadcast_to(plain[0], (2, 3)))
    yield from (plain[:0].reshape(0, 3), plain[:6].reshape(2, 3, 1), plain[:6].reshape(1, 2, 3), plain.reshape([1] * 20 + [24]))
    yield from (np.float32(3), np.array(3, "float32"))
    for name in ("bool", "int8", "uint16", "int64", "float16", "float64", "complex128", "longdouble", ">f4", "U3", "S2", "O", "M8[s]", "V4", "f4,i4", "(2,)f4"):
        yield np.zeros((2, 3), name)
    record = np.zeros((2, 3), [("a", "f4"), ("b", "i1")])
    yield from (record["a"], record, np.ma.masked_array(plain[:6].reshape(2, 3)), plain[:6].reshape(2, 3).view(Chameleon))
    yield from (None, 0, 1.5, "x", b"abc", bytearray(24), memoryview(plain), [], [[1.0] * 3] * 2, {}, {"x": plain})
    yield from (object(), type, np, np.ndarray, iter([]), lambda: 0, dlc, NotImplemented)
    yield from (Lies(None), Lies(3), Lies(plain), Lies(plain.__dlpack__()), Lies(ValueError("no")), Lies(KeyboardInterrupt()), Lies)


@pytest.fixture(scope="module")
def nets():
    return [dlc.compile(model) for model in (models.two(), models.open_batch(), models.doubled(TensorProto.INT64), models.reshaped())]


def test_odd_arguments(nets, two):
    draw = random.Random(0)
    arrays, kinds = list(odd_arrays()), {}
    names = ["a", "b/1", "x", "shape", "", "self", "\0", "é", 3, None, ("a",)]
    for _ in range(3000):
        net = draw.choice(nets)
        positional = [draw.choice(arrays) for _ in range(draw.randrange(4))]
        named = {draw.choice(names): draw.choice(arrays) for _ in range(draw.randrange(3))}
        try:
            if draw.random() < 0.3:
                net.run(named)
            else:
                net(*positional, **{name: array for name, array in named.items() if isinstance(name, str)})
            kind = "returned"
        except (TypeError, ValueError, RuntimeError, BufferError, KeyboardInterrupt) as error:
            kind = type(error).__name__
        kinds[kind] = kinds.get(kind, 0) + 1
    assert kinds["returned"] > 10 and kinds["TypeError"] > 100 and kinds["ValueError"] > 10
    a = np.ones((2, 3), "float32")
    assert (two(a, a)[0] == 2).all() and (nets[1](a) == 2).all()
