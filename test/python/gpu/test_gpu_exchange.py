"""Arrays of libraries with a table of C functions for exchange, as PyTorch's: views, allocator, current stream. Runs on the emulated GPU."""

import exchange
import models
import numpy as np
import pytest
from emulated import Event, Stream, synchronize
from exchange import Tensor

import dlc

X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture(autouse=True)
def current():
    yield
    Tensor.current = 1
    exchange.clear()


def test_results_are_from_the_librarys_allocator(two):
    a, b = Tensor.of(X), Tensor.of(X + 1)
    before = Tensor.allocated
    plus, minus = two(a, b)
    assert type(plus) is Tensor and Tensor.allocated == before + 2
    assert two._addresses == ([a.address, b.address], [plus.address, minus.address])
    report = two.report()
    assert report.copies == [] and report.stream == 1 and not report.waited
    assert (plus.read() == 2 * X + 1).all() and (minus.read() == -1).all()


def test_the_current_stream(double):
    stream = Stream()
    Tensor.current = stream
    x = Tensor.of(X)
    y = double(x)
    end = Event(stream)
    assert double.report().stream == stream.ptr and not end.is_done()
    assert (y.read() == 2 * X).all()


def test_another_stream_than_the_current_one(double):
    """Results are written after the earlier work on their memory, and read after they are written."""
    library, mine = Stream(), Stream()
    Tensor.current = library
    for _ in range(3):
        x = Tensor.of(X)
        y = double(x, stream=mine)
        # The library's next work is in its own stream, and reuses the memory of x.
        kept = y.address
        del x
        again = Tensor.of(X + 5)
        assert (y.read(library) == 2 * X).all() and (again.read() == X + 5).all()
        del y
        z = double(again, stream=mine)
        assert z.address == kept
        synchronize(mine)
        assert (z.read(mine) == 2 * X + 10).all()


def test_strided_tensors(double):
    whole = Tensor.of(np.arange(6, dtype="float32"))
    x = Tensor((2, 3), "float32", whole.memory, strides=(1, 2))
    x.kept = whole
    y = double(x)
    assert type(y) is Tensor
    assert (y.read() == 2 * np.arange(6).reshape(3, 2).T).all()
    assert double.report().copies == [("x", 24, "not contiguous, or of 4-bit integers")]


def test_mixed_libraries(two):
    """The results belong to the library of the first array on the GPU."""
    for a, b, kind in (
        (X, Tensor.of(X), Tensor),
        (dlc.to(X, "cuda:0"), Tensor.of(X), dlc.DeviceArray),
        (Tensor.of(X), dlc.to(X, "cuda:0"), Tensor),
    ):
        plus, minus = two(a, b)
        assert type(plus) is kind and type(minus) is kind
        found = plus.read() if kind is Tensor else dlc.to(plus, "cpu")
        assert (found == 2 * X).all()


def test_errors(double):
    x = Tensor.of(X)
    x.requires_grad = True
    with pytest.raises(ValueError, match="requires gradients"):
        double(x)
    with pytest.raises(
        ValueError, match=r"found: an array on cuda:1; move it to cuda:0, as in x.to"
    ):
        double(Tensor.of(X, device=1))
    with pytest.raises(ValueError, match="found: an array on cuda:0; move it to cpu, as in x.to"):
        dlc.compile(models.doubled(models.F32))(Tensor.of(X))
    with pytest.raises(TypeError, match="found: i32; convert it first, as in x.to"):
        double(Tensor.of(X.astype("int32")))
