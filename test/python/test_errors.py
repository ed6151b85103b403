"""Wrong arguments raise Python's own exceptions, whose messages have what was required, what was found, and a hint."""

import models
import numpy as np
import pytest
from onnx import TensorProto

import dlc

f32 = lambda *shape: np.ones(shape, "float32")


class NotAnArray:
    pass


@pytest.mark.parametrize(
    "call, kind, says",
    [
        (
            lambda net: net(f32(2, 4), f32(2, 3)),
            ValueError,
            r"input 'a': required: f32\[2, 3\]; found: the shape \[2, 4\]; pass",
        ),
        (lambda net: net(f32(6), f32(2, 3)), ValueError, r"the shape \[6\]"),
        (
            lambda net: net(f32(2, 3).astype("float64"), f32(2, 3)),
            TypeError,
            r"required: f32\[2, 3\]; found: f64; convert",
        ),
        (lambda net: net(f32(2, 3).astype(">f4"), f32(2, 3)), TypeError, r"found: >f4"),
        (lambda net: net(f32(2, 3).astype("complex64"), f32(2, 3)), TypeError, r"found: complex64"),
        (lambda net: net(np.array([["a"] * 3] * 2), f32(2, 3)), TypeError, r"found: <U1"),
        (
            lambda net: net(np.zeros((2, 3), "datetime64[s]"), f32(2, 3)),
            TypeError,
            r"found: datetime64",
        ),
        (
            lambda net: net(np.ma.masked_array(f32(2, 3)), f32(2, 3)),
            TypeError,
            r"a masked array.*filled",
        ),
        (lambda net: net(f32(2, 3), **{"b/1\0": f32(2, 3)}), TypeError, r"there is no input"),
        (
            lambda net: net([[1.0] * 3] * 2, f32(2, 3)),
            TypeError,
            r"found: an object of type list.*numpy\.asarray",
        ),
        (lambda net: net(None, f32(2, 3)), TypeError, r"found: an object of type NoneType"),
        (lambda net: net(NotAnArray(), f32(2, 3)), TypeError, r"no __dlpack__"),
        (lambda net: net(f32(2, 3)), TypeError, r"input 'b/1' is missing; required: f32\[2, 3\]"),
        (
            lambda net: net(f32(2, 3), f32(2, 3), f32(2, 3)),
            TypeError,
            r"required: 2 inputs \(a f32\[2, 3\], b/1 f32\[2, 3\]\); found: 3",
        ),
        (lambda net: net(f32(2, 3), f32(2, 3), a=f32(2, 3)), TypeError, r"given twice"),
        (
            lambda net: net(f32(2, 3), c=f32(2, 3)),
            TypeError,
            r"there is no input 'c'; the inputs are: a f32",
        ),
        (lambda net: net.run({1: f32(2, 3)}), TypeError, r"names of inputs as keys; found: 1"),
        (
            lambda net: net.run(f32(2, 3)),
            TypeError,
            r"run: required: a dict of arrays by input name",
        ),
        (lambda net: net.profile(repeat=0), ValueError, r"at least 1; found: 0"),
        (lambda net: net.save("/none/net.dlcx"), FileNotFoundError, r"folder does not exist"),
        (lambda net: net.save("/"), IsADirectoryError, r"is a folder"),
        (
            lambda net: net.save("net.dlcx", shapes={"c": (1,)}),
            ValueError,
            r"there is no input 'c'",
        ),
    ],
)
def test_calls(two, call, kind, says):
    with pytest.raises(kind, match=says):
        call(two)
    assert (two(f32(2, 3), f32(2, 3))[0] == 2).all()


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (
            lambda: dlc.compile("none.onnx"),
            FileNotFoundError,
            r"No such file.*required: a model file",
        ),
        (lambda: dlc.compile("/"), IsADirectoryError, r"is a folder"),
        (lambda: dlc.compile(3), TypeError, r"found: int"),
        (lambda: dlc.compile(b"\0rubbish"), ValueError, r"cannot be read as an ONNX model"),
        (lambda: dlc.compile(models.two(), device="toaster:0"), ValueError, r"toaster"),
        (lambda: dlc.compile(models.two(), precision="f8"), ValueError, r"f8"),
        (lambda: dlc.compile(models.two(), accuracy="best"), ValueError, r"best"),
        (
            lambda: dlc.compile(models.two(), nchwc_block=4),
            ValueError,
            r"nchwc_block: required: 8 or 16",
        ),
        (lambda: dlc.compile(models.two(), threads=-1), ValueError, r"found: -1"),
        (
            lambda: dlc.compile(models.two(), shapes={"a": (2, 4)}),
            ValueError,
            r"required: f32\[2, 3\]; found: the shape 2x4",
        ),
        (lambda: dlc.compile(models.two(), shapes={"a": "2x3"}), TypeError, r"required: numbers"),
        (
            lambda: dlc.compile(models.open_batch(), shapes={}),
            ValueError,
            r"input 'x': required: all sizes; found: f32\[batch, 3\]; give its shape",
        ),
        (lambda: dlc.load("none.dlcx"), FileNotFoundError, r"required: a compiled program"),
    ],
)
def test_making(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


def test_unknown_suffix(tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(b"rubbish")
    with pytest.raises(ValueError, match=r"unknown kind of model '.pt'; required"):
        dlc.compile(path)
    with pytest.raises(ValueError):
        dlc.load(path)


def test_a_name_that_is_not_utf_8():
    with pytest.raises(ValueError, match="operator .*A\ufffdd.* is not supported"):
        dlc.compile(models.two().replace(b"Add", b"A\xf4d"))


@pytest.fixture(scope="module")
def artefact(tmp_path_factory):
    path = tmp_path_factory.mktemp("artefact") / "net.dlcx"
    dlc.compile(models.two()).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data[:200] + b"\xff" * 8 + data[208:],
    ],
)
def test_damaged_artefact(artefact, spoil, tmp_path):
    path = tmp_path / "net.dlcx"
    path.write_bytes(spoil(artefact))
    with pytest.raises(ValueError):
        dlc.load(path)


def test_artefact_for_another_processor(artefact, tmp_path):
    """The features are text in the manifest, which a hash guards: a program that says so from the start."""
    path = tmp_path / "net.dlcx"
    path.write_bytes(artefact)
    from dlc import _runtime

    assert _runtime.Session.load(str(path)).name
    net = dlc.load(path)
    with pytest.raises(ValueError, match="already compiled"):
        net.prepare({"a": (2, 3)})
    with pytest.raises(ValueError, match="is already compiled"):
        dlc.compile(path, precision="bf16")


def test_values_that_no_program_has(tmp_path):
    """Of a program into which an input's value was compiled."""
    net = dlc.compile(models.reshaped())
    x = f32(6)
    net(x, np.array([2, 3]))
    net.save(tmp_path / "net.dlcx")
    again = dlc.load(tmp_path / "net.dlcx")
    assert again(x, np.array([2, 3])).shape == (2, 3)
    with pytest.raises(ValueError, match=r"the programs are for other values"):
        again(x, np.array([3, 2]))


def test_more_memory_than_there_is(tmp_path):
    """Its arena has 4 TiB."""
    with pytest.raises(
        MemoryError,
        match=r"the program needs \d+ bytes for its intermediate values; the machine has \d+",
    ):
        dlc.compile(models.enormous())


def test_shape_that_no_program_has(tmp_path):
    path = tmp_path / "net.dlcx"
    net = dlc.compile(models.open_batch(), shapes={"x": (2, 3)})
    net.save(path)
    with pytest.raises(ValueError, match=r"required: f32\[2, 3\]; found: the shape \[4, 3\]"):
        dlc.load(path)(f32(4, 3))


def test_types_of_models_that_dlc_has_not():
    with pytest.raises(ValueError):
        dlc.compile(models.doubled(TensorProto.COMPLEX64))
