"""Odd arguments for calls of the package: arrays and tensors of all kinds, and other objects. Each function takes a random.Random."""

import functools
import threading

import numpy as np

#: Of shapes, indices, counts and options.
NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    -7,
    16,
    255,
    2**31,
    2**40,
    2**63 - 1,
    2**63,
    -(2**63),
    2**100,
    True,
    0.0,
    1.5,
    -0.0,
    float("nan"),
    float("inf"),
    1e300,
    3j,
]
NAMES = [
    "x",
    "a",
    "b/1",
    "shape",
    "y",
    "sum",
    "lr",
    "target",
    "",
    "self",
    "\0",
    "a\0b",
    "é",
    "\udc80",
    "x" * 5000,
    b"x",
    3,
    None,
    ("a",),
]
VALUES = [0.0, -0.0, 1.0, -2.5, 1e-42, 1e38, -1e38, float("nan"), float("inf"), float("-inf")]
SHAPES = [
    (2, 3),
    (2, 3),
    (2, 3),
    (1, 3),
    (5, 3),
    (0, 3),
    (6,),
    (16,),
    (3, 2),
    (2, 3, 1),
    (),
    (0,),
    (2, 0),
    (1,) * 30,
    (4, 8),
]
TYPES = ["float32"] * 12 + [
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "int64",
    "float16",
    "float64",
    "complex64",
    "longdouble",
    ">f4",
    "U3",
    "S2",
    "O",
    "M8[s]",
    "V4",
    "f4,i4",
]


class Lies:
    """An object whose __dlpack__ does what `act` does."""

    def __init__(self, act):
        self.act = act

    def __dlpack__(self, **_):
        return self.act()

    def __dlpack_device__(self):
        return (1, 0)


class Chameleon(np.ndarray):
    """Claims to be of another type than it is."""

    dtype = np.dtype("float32")


class OddPath:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


def raises(error):
    def act(*_, **__):
        raise error

    return act


def _unaligned(array):
    memory = (
        np.zeros(array.nbytes + 1, "uint8")[1:].view(array.dtype).reshape(array.shape)
        if array.ndim
        else array
    )
    memory[...] = array
    return memory


def _strided(draw, array):
    if not array.ndim:
        return array
    steps = [draw.choice([1, 2, 3]) for _ in array.shape]
    memory = np.zeros([size * step for size, step in zip(array.shape, steps)], array.dtype)
    view = memory[tuple(slice(None, None, step) for step in steps)]
    view[...] = array
    return view


def _frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = [
    lambda draw, x: x,
    lambda draw, x: x,
    _strided,
    lambda draw, x: _unaligned(x),
    lambda draw, x: _frozen(x),
    lambda draw, x: np.asfortranarray(x),
    lambda draw, x: x[::-1] if x.ndim else x,
    lambda draw, x: x[..., ::-1] if x.ndim else x,
    lambda draw, x: x.T,
    lambda draw, x: np.broadcast_to(x.reshape(-1)[:1].reshape(()) if x.size else x, x.shape),
    lambda draw, x: np.ma.masked_array(x),
    lambda draw, x: x.view(Chameleon),
    lambda draw, x: (
        x.newbyteorder() if hasattr(x, "newbyteorder") else x.view(x.dtype.newbyteorder())
    ),
]


def array(draw, shape=None, dtype=None):
    """NumPy's."""
    shape, dtype = shape or draw.choice(SHAPES), dtype or draw.choice(TYPES)
    made = np.zeros(shape, dtype)
    if made.dtype.kind in "fiub" and made.dtype.itemsize <= 8:
        with np.errstate(all="ignore"):
            drawn = [
                draw.choice(VALUES) if draw.random() < 0.2 else draw.uniform(-4, 4)
                for _ in range(made.size)
            ]
            made[...] = (
                np.nan_to_num(np.array(drawn).reshape(shape)).astype(dtype)
                if made.dtype.kind != "f"
                else np.array(drawn, "float64").reshape(shape).astype(dtype)
            )
    try:
        return draw.choice(LAYOUTS)(draw, made)
    except (TypeError, ValueError, IndexError):  # what this type has not
        return made


def thing(draw):
    """No array."""
    plain = np.arange(24, dtype="float32")
    return draw.choice(
        [
            lambda: None,
            lambda: draw.choice(NUMBERS),
            lambda: "x",
            lambda: b"abc",
            lambda: bytearray(24),
            lambda: memoryview(plain),
            lambda: [],
            lambda: [[1.0] * 3] * 2,
            lambda: {},
            lambda: {"x": plain},
            object,
            lambda: type,
            lambda: np,
            lambda: np.ndarray,
            lambda: iter([]),
            lambda: len,
            lambda: NotImplemented,
            lambda: np.float32(3),
            lambda: threading.Lock(),
            lambda: Lies(lambda: None),
            lambda: Lies(lambda: 3),
            lambda: Lies(lambda: plain),
            lambda: Lies(plain.__dlpack__),
            lambda: Lies(raises(ValueError("no"))),
            lambda: Lies,
            lambda: Lies(raises(TypeError("no"))),
        ]
    )()


@functools.cache
def torch():
    import torch

    return torch


def tensor(draw, shape=None):
    """PyTorch's."""
    t = torch()
    shape = shape or draw.choice(SHAPES[:-4])
    plain = t.randn(shape) if draw.random() < 0.8 else t.full(shape, draw.choice(VALUES))

    def without_memory():
        made = t.randn(shape)
        made.untyped_storage().resize_(0)
        return made

    def fake():
        from torch._subclasses import FakeTensorMode

        with FakeTensorMode():
            return t.empty(shape)

    def inference():
        with t.inference_mode():
            return t.randn(shape)

    class Sub(t.Tensor):
        pass

    try:
        return draw.choice(
            [
                lambda: plain,
                lambda: plain,
                lambda: plain,
                lambda: plain.T if plain.dim() == 2 else plain,
                lambda: plain.double(),
                lambda: plain.long(),
                lambda: plain.half(),
                lambda: plain.bfloat16(),
                lambda: plain.to(t.complex64),
                lambda: plain.bool(),
                lambda: plain.requires_grad_(),
                lambda: plain.to("meta"),
                lambda: plain.to_sparse(),
                lambda: plain.to_mkldnn(),
                lambda: t.quantize_per_tensor(plain, 0.1, 0, t.quint8),
                lambda: t.randn(shape, dtype=t.complex64).conj(),
                lambda: t.randn(shape, dtype=t.complex64).conj().imag,
                lambda: plain.new_empty(1).expand(shape),
                lambda: t.nn.Parameter(plain),
                lambda: t.nn.Parameter(plain, False),
                lambda: plain.as_subclass(Sub),
                without_memory,
                fake,
                inference,
                lambda: t._efficientzerotensor(shape),
                lambda: t.nested.nested_tensor([t.ones(2), t.ones(3)]),
                lambda: t.as_strided(plain, shape, [0] * len(shape)),
                lambda: plain.to(t.float8_e5m2),
                lambda: t.randn([*shape, 2])[..., 1],
                lambda: plain.to(t.uint16),
            ]
        )()
    except (RuntimeError, NotImplementedError, TypeError):  # what this type has not
        return plain


def anything(draw, with_torch=False):
    if with_torch and draw.random() < 0.4:
        return tensor(draw)
    return array(draw) if draw.random() < 0.7 else thing(draw)
