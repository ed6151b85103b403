"""Arrays are passed and returned without a copy, for all element types. Results have the same kind of array as the inputs."""

import models
import numpy as np
import pytest
from onnx import TensorProto

import dlc

TYPES = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "float16": TensorProto.FLOAT16,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
}


def test_numpy_addresses(two):
    a, b = np.ones((2, 3), "float32"), np.full((2, 3), 2, "float32")
    total, difference = two(a, b)
    inputs, outputs = two._addresses
    assert inputs == [a.ctypes.data, b.ctypes.data]
    assert outputs == [total.ctypes.data, difference.ctypes.data]
    assert total.flags.owndata and total.flags.writeable
    assert (total == 3).all() and (difference == -1).all()


def test_by_name_and_by_place(two):
    a, b = np.ones((2, 3), "float32"), np.full((2, 3), 2, "float32")
    named = two.run({"b/1": b, "a": a})
    assert list(named) == ["sum", "difference"]
    assert (named["difference"] == -1).all()
    assert (two(b, **{"b/1": a})[1] == 1).all()


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    x = np.arange(6).reshape(2, 3).astype(name)
    y = dlc.compile(models.doubled(TYPES[name]))(x)
    assert y.dtype == x.dtype and (y == x + x).all()


def test_bool():
    net = dlc.compile(
        models.made(
            [("Not", ["x"], ["y"], {})],
            {"x": (TensorProto.BOOL, [3])},
            {"y": (TensorProto.BOOL, [3])},
        )
    )
    y = net(np.array([True, False, True]))
    assert y.dtype == bool and y.tolist() == [False, True, False]


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    net = dlc.compile(models.doubled(TensorProto.BFLOAT16))
    x = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    y = net(x)
    assert net._addresses[0] == [x.ctypes.data] and net._addresses[1] == [y.ctypes.data]
    assert y.dtype == x.dtype and (y == x + x).all()


@pytest.mark.parametrize("kind, low", [(TensorProto.INT4, -8), (TensorProto.UINT4, 0)])
@pytest.mark.parametrize("shape", [(2, 5), (16,), (), (3, 0), (1, 7, 1)])
def test_four_bits(kind, low, shape):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    wide, four = ("int8", ml_dtypes.int4) if low else ("uint8", ml_dtypes.uint4)
    net = dlc.compile(
        models.made(
            [
                ("Identity", ["x"], ["same"], {}),
                ("Cast", ["x"], ["y"], {"to": TensorProto.FLOAT}),
                ("Cast", ["y"], ["z"], {"to": kind}),
            ],
            {"x": (kind, list(shape))},
            {
                "same": (kind, list(shape)),
                "y": (TensorProto.FLOAT, list(shape)),
                "z": (kind, list(shape)),
            },
            opset=21,
        )
    )
    assert net.inputs[0].dtype == ("i4" if low else "u4")
    x = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 16 + low, wide)
    for given in (x, x.astype(four), np.array(x, order="F")):
        for y in net(given):
            assert y.shape == shape and (y.astype("float32") == x).all()
        assert [y.dtype for y in net(given)] == [four, np.float32, four]
    if x.size:
        for wrong in (16 + low, low - 1):
            with pytest.raises(
                (ValueError, TypeError), match="4-bit integers is out of range; give integers from"
            ):
                net(np.full(shape, wrong & 255, "uint8").view(wide))
    with pytest.raises(TypeError, match="convert it first"):
        net(x.astype("int32"))


def test_no_dimensions():
    net = dlc.compile(models.doubled(TensorProto.FLOAT, ()))
    y = net(np.array(3, "float32"))
    assert y.shape == () and y == 6


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, ::2],
        lambda x: x[::-1, ::-2],
        lambda x: np.ascontiguousarray(x[:, ::2]).T.copy().T,
    ],
)
def test_strides_are_copied(view):
    x = view(np.arange(12, dtype="float32").reshape(2, 6))
    net = dlc.compile(models.doubled(TensorProto.FLOAT))
    assert not x.flags.c_contiguous
    assert (net(x) == x + x).all()
    assert net._addresses[0] != [x.ctypes.data]


@pytest.mark.parametrize(
    "order", [(0, 3, 1, 2, 4), (2, 0, 1, 3, 4), (1, 0, 2, 3, 4), (4, 3, 2, 1, 0), (0, 2, 1, 4, 3)]
)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "float16"])
def test_what_lies_together_is_copied_together(order, dtype):
    x = np.arange(240).reshape(2, 5, 3, 4, 2).astype(dtype).transpose(order)
    graph = dlc.compile(
        models.doubled(
            {
                "float32": TensorProto.FLOAT,
                "int64": TensorProto.INT64,
                "uint8": TensorProto.UINT8,
                "float16": TensorProto.FLOAT16,
            }[dtype],
            x.shape,
        )
    )
    assert (graph(x) == x + x).all()


def test_any_address(ten, x):
    """Aligned to an element only."""
    memory = np.zeros(17, "float32")
    memory[1:] = x
    y = ten(memory[1:])
    assert ten._addresses[0] == [memory.ctypes.data + 4]
    assert np.array_equal(y, ten(x)) and np.allclose(
        y, models.ten_operations_reference(x), atol=1e-6
    )


def test_read_only(ten, x):
    x.flags.writeable = False
    ten(x)
    assert ten._addresses[0] == [x.ctypes.data]


def test_results_stay(ten, x):
    """Each call has memory of its own."""
    first = ten(x)
    kept = first.copy()
    ten(-x)
    assert np.array_equal(first, kept)


class Packed:
    """An array of a library that dlc has never heard of."""

    def __init__(self, array, versions):
        self.array, self.versions = array, versions

    def __dlpack__(self, **arguments):
        if not self.versions and arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("versions", [True, False])
def test_any_dlpack(ten, x, versions):
    y = ten(Packed(x, versions))
    assert ten._addresses[0] == [x.ctypes.data]
    assert isinstance(y, np.ndarray) and np.array_equal(y, ten(x))


def test_array_namespace(ten, x):
    class Named(Packed):
        def __array_namespace__(self):
            class namespace:
                from_dlpack = staticmethod(lambda made: ("mine", made))

            return namespace

    kind, y = ten(Named(x, True))
    assert kind == "mine" and np.array_equal(y, ten(x))


class TestTorch:
    """PyTorch's tensors, by the table of C functions that their type offers."""

    torch = None

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    def test_addresses(self, ten, x):
        given = self.torch.from_numpy(x)
        y = ten(given)
        assert type(y) is self.torch.Tensor
        assert ten._addresses == ([given.data_ptr()], [y.data_ptr()])
        assert np.array_equal(y.numpy(), ten(x))

    @pytest.mark.parametrize(
        "name", ["float32", "float64", "float16", "bfloat16", "int64", "int32"]
    )
    def test_types(self, name):
        kinds = {**TYPES, "bfloat16": TensorProto.BFLOAT16}
        x = self.torch.arange(6).reshape(2, 3).to(getattr(self.torch, name))
        y = dlc.compile(models.doubled(kinds[name]))(x)
        assert y.dtype == x.dtype and bool((y == x + x).all())

    def test_strides_are_copied(self):
        x = self.torch.arange(6, dtype=self.torch.float32).reshape(3, 2).T
        assert bool((dlc.compile(models.doubled(TensorProto.FLOAT))(x) == x + x).all())

    def test_tensors_that_stand_for_others(self, ten, x):
        pairs = self.torch.view_as_complex(self.torch.from_numpy(x).repeat(2, 1).T.contiguous())
        assert pairs.conj().imag.is_neg()
        assert np.array_equal(ten(pairs.conj().imag).numpy(), ten(-x))
        assert np.array_equal(ten(self.torch._efficientzerotensor(16)).numpy(), ten(0 * x))

    def test_gradients_are_refused(self, ten):
        with pytest.raises(ValueError, match=r"requires gradients.*detach"):
            ten(self.torch.ones(16, requires_grad=True))

    def test_other_devices_are_refused(self, ten):
        with pytest.raises(TypeError, match="host memory"):
            ten(self.torch.ones(16, device="meta"))
