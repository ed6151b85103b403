"""Arrays on a GPU as inputs and outputs: addresses, streams, allocators, graphs, dlc's own arrays. Runs on the emulated GPU."""

import gc
import os
import subprocess
import sys

import emulated
import models
import numpy as np
import pytest
from emulated import Array, Event, Memory, Stream, synchronize

import dlc

X = np.arange(6, dtype="float32").reshape(2, 3)


def ones(value=1.0):
    return np.full((2, 3), value, "float32")


def test_no_copies_of_another_library(double):
    x = Array.of(X)
    y = double(x)
    assert type(y) is Array
    assert double._addresses == ([x.address], [y.address])
    report = double.report()
    assert report.copies == [] and report.stream == 1 and not report.waited
    assert "no array was copied" in str(report) and "the host did not wait" in str(report)
    assert (y.read() == 2 * X).all()


def test_inputs_are_released_after_the_runs_that_read_them(double):
    """The library may reuse the memory in a stream that dlc does not know."""
    dlc.synchronize("cuda:0")
    stream = Stream()
    x = Array.of(X)
    kept = [double(x, stream=stream), double(dlc.to(X, "cuda:0"))]
    assert x.exported == 1
    synchronize(stream)
    double(X)
    assert x.exported == 0
    for _ in range(1000):
        kept.append(double(x, stream=stream))
    assert 0 < x.exported < 300
    dlc.synchronize("cuda:0")
    assert x.exported == 0


def test_no_copies_of_dlcs_own(two):
    a, b = dlc.to(X, "cuda:0"), dlc.to(ones(), "cuda:0")
    assert (a.shape, a.dtype, a.device, a.nbytes, a.size, a.ndim) == (
        (2, 3),
        "f32",
        "cuda:0",
        24,
        6,
        2,
    )
    plus, minus = two(a, b)
    assert isinstance(plus, dlc.DeviceArray)
    assert two._addresses == ([a.address, b.address], [plus.address, minus.address])
    assert two.report().copies == []
    assert (dlc.to(plus, "cpu") == X + 1).all() and (dlc.to(minus, "cpu") == X - 1).all()
    by_name = two.run({"a": minus, "b/1": plus})
    assert (dlc.to(by_name["sum"], "cpu") == 2 * X).all()


def test_host_arrays_are_copied_and_reported(double, two):
    y = double(X)
    assert type(y) is np.ndarray and (y == 2 * X).all()
    report = double.report()
    assert report.copies == [("x", 24, "in host memory"), ("y", 24, "in host memory")]
    assert report.waited and "copied x: 24 bytes, because the array was in host memory" in str(
        report
    )
    plus, _ = two(dlc.to(X, "cuda:0"), ones())
    assert isinstance(plus, dlc.DeviceArray) and (dlc.to(plus, "cpu") == X + 1).all()
    assert two.report().copies == [("b/1", 24, "in host memory")]


def test_neither_the_host_nor_the_device_waits(chain):
    stream = Stream()
    x = dlc.to(np.ones((4, 8), "float32"), "cuda:0")
    wanted = chain(np.ones((4, 8), "float32"))
    for _ in range(4):
        y = chain(x, stream=stream)
        end = Event(stream)
        assert not end.is_done()
        assert chain.report().stream == stream.ptr
        assert np.allclose(dlc.to(y, "cpu"), wanted)
        synchronize(stream)
        assert end.is_done()
    assert chain.report().graph_launches > 0


def test_the_stream_of_the_consumer(double):
    """Each side's stream is passed to the other side, which makes it wait."""
    mine, theirs = Stream(), Stream()
    Array.current = theirs
    x = Array.of(X)
    y = double(x, stream=mine)
    assert x.consumer == mine.ptr
    assert (y.read(theirs) == 2 * X).all()
    Array.current = 1
    double(Array.of(X))
    for stream in (None, 1, 2, -1, mine.ptr):
        made = double(dlc.to(X, "cuda:0"), stream=mine).__dlpack__(stream=stream)
        assert "dltensor" in repr(made)
    own = double(dlc.to(X, "cuda:0"))
    assert own.__dlpack_device__() == (2, 0)
    assert "dltensor_versioned" in repr(own.__dlpack__(max_version=(1, 1), dl_device=(2, 0)))
    for stream, error in (
        (0, ValueError),
        (-3, ValueError),
        ("x", TypeError),
        (True, TypeError),
        (2**70, ValueError),
    ):
        with pytest.raises(error, match="stream: required"):
            own.__dlpack__(stream=stream)
    for options in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError):
            own.__dlpack__(**options)


def test_a_function_for_the_current_stream(double):
    stream = Stream()
    Array.current = stream
    dlc.set_current_stream("cuda:0", lambda: stream)
    try:
        x = Array.of(X)
        y = double(x)
        assert double.report().stream == stream.ptr == x.consumer
        assert (y.read() == 2 * X).all()
        assert dlc.empty((2, 3)).__dlpack__(stream=stream.ptr)
        assert double(x, stream=1) is not None and double.report().stream == 1
        for function, error in (
            (lambda: "x", TypeError),
            (lambda: 1 / 0, ZeroDivisionError),
            (lambda _: 1, TypeError),
        ):
            dlc.set_current_stream("cuda:0", function)
            with pytest.raises(error):
                double(x)
    finally:
        dlc.set_current_stream("cuda:0", None)
    double(X)
    assert double.report().stream == 1
    with pytest.raises(TypeError, match="set_current_stream: required: a function or None"):
        dlc.set_current_stream("cuda:0", 3)


def order_of_three_streams(dropped, first):
    """Uses a library's stream, and two streams of calls of one program. Returns whether all results are right. `first` names the stream that the host waits for first."""
    net = dlc.compile(models.long_to_compile(2), device="cuda:0")
    values = [np.full((4, 8), value, "float32") for value in (1, 2, 3, 4)]
    wanted = [net(each) for each in values]
    emulated.configure("drop", dropped)
    library, a, b = Stream(), Stream(), Stream()
    Array.current = library
    kept, results = [], []
    for _ in range(3):
        results = []
        for each, stream in zip(values, (a, b, a, b)):
            x = Array.of(each)
            results.append(net(x, stream=stream))
            kept += [x, results[-1]]  # The driver would wait for all work to free their memory.
    emulated.configure("drop")
    for stream in {"a": (a, b), "b": (b, a), "library": ()}[first]:
        synchronize(stream)
    found = [each.read(library) for each in results]
    Array.current = 1
    return all(np.allclose(x, y) for x, y in zip(found, wanted))


def runs_in_two_streams(dropped, seed):
    """Runs one program in two streams, which execute its commands in random order. Returns whether all results are right."""
    net = dlc.compile(models.long_to_compile(4), device="cuda:0")
    inputs = [np.full((4, 8), value, "float32") for value in range(8)]
    wanted = [net(each) for each in inputs]
    inputs = [dlc.to(each, "cuda:0") for each in inputs]
    emulated.configure("order", "random")
    emulated.configure("seed", str(seed))
    emulated.configure("drop", dropped)
    streams = Stream(), Stream()
    results = [net(x, stream=streams[i % 2]) for i, x in enumerate(inputs)]
    emulated.configure("drop")
    return all(np.allclose(dlc.to(x, "cpu"), y) for x, y in zip(results, wanted))


def test_each_wait_is_needed():
    """The library's stream must wait for each result. The stream of a call must wait for the input, and for the last run, which uses the same memory for intermediate values."""
    assert all(order_of_three_streams("", first) for first in ("a", "b", "library"))
    assert not order_of_three_streams("0:0:3:4", "library")
    for stream, first in ((1, "a"), (2, "b")):
        assert not order_of_three_streams(f"0:{stream}:0:2", first)
    assert all(runs_in_two_streams("", seed) for seed in range(10))
    for stream in (0, 1):
        assert not all(runs_in_two_streams(f"0:{stream}:0:1", seed) for seed in range(10))


def test_graphs_across_changing_addresses(chain):
    inputs = [dlc.to(np.full((4, 8), i, "float32"), "cuda:0") for i in range(12)]
    wanted = [chain(np.full((4, 8), i, "float32")) for i in range(12)]
    before, outputs = chain.report().graph_launches, []
    for _ in range(3):
        for x, y in zip(inputs, wanted):
            outputs.append(chain(x))
            assert np.allclose(dlc.to(outputs[-1], "cpu"), y)
    # With new addresses in each call, commands are launched one by one.
    assert chain.report().graph_launches == before
    outputs.clear()
    for _ in range(3):
        assert np.allclose(dlc.to(chain(inputs[0]), "cpu"), wanted[0])
    assert chain.report().graph_launches > before


def test_results_reuse_memory_in_stream_order(double):
    stream, other = Stream(), Stream()
    x = dlc.to(X, "cuda:0")
    first = double(x, stream=stream)
    address = first.address
    again = double(first, stream=stream)
    del first
    reused = double(x, stream=other)
    assert reused.address == address
    # The memory is written only after the second call has read it.
    assert (dlc.to(reused, "cpu") == 2 * X).all()
    assert (dlc.to(again, "cpu") == 4 * X).all()


def test_an_allocator(double):
    """Results and programs use memory from the user's functions, and it is freed in its stream."""
    made, freed = {}, []

    def allocate(size, stream):
        memory = Memory(size)
        made[memory.address] = (memory, size, stream)
        return memory.address

    def free(address, size, stream):
        assert made[address][1] == size
        freed.append((address, stream))

    stream = Stream()
    dlc.set_allocator("cuda:0", allocate, free)
    try:
        y = double(dlc.to(X, "cuda:0"), stream=stream)
        assert made[y.address][2] == stream.ptr
        assert (dlc.to(y, "cpu") == 2 * X).all()
        address = y.address
        del y
        assert (address, stream.ptr) in freed
        count = len(made)
        net = dlc.compile(models.long_to_compile(2), device="cuda:0")
        assert len(made) > count and net(np.ones((4, 8), "float32")).shape == (4, 10)
        del net
        gc.collect()
        assert len(freed) == len(made)
    finally:
        dlc.set_allocator("cuda:0", None)
    for function in (
        lambda size, stream: 0,
        lambda size, stream: 3,
        lambda size: 256,
        lambda size, stream: "x",
    ):
        dlc.set_allocator("cuda:0", function, free)
        try:
            with pytest.raises(MemoryError, match="the allocator of dlc.set_allocator failed"):
                dlc.empty((2, 3))
        finally:
            dlc.set_allocator("cuda:0", None)
    for wrong in ((allocate, None), (None, free), (3, 4)):
        with pytest.raises(TypeError, match="required: two functions"):
            dlc.set_allocator("cuda:0", *wrong)


def test_memory_of_an_allocator_in_another_stream():
    """Earlier work in the stream of the allocation may use the memory, so another stream waits for this work."""
    memory, first, other = Memory(512), Stream(), Stream()
    Array.current = first
    before = Array((2, 3), "float32", memory)
    dlc.set_allocator("cuda:0", lambda size, stream: memory.address, lambda *_: None)
    try:
        before.write(ones(7))
        made = dlc.empty((2, 3), stream=first)
        assert made.address == memory.address
        Array.current = other
        taken = emulated.Namespace.from_dlpack(made)
        taken.write(X)
        synchronize(other)
        synchronize(first)
        assert (taken.read() == X).all()
        del taken, made
    finally:
        dlc.set_allocator("cuda:0", None)


def test_arrays_for_numpy_alone():
    for dtype in ("f16", "f32", "f64", "i8", "u8", "i16", "i32", "i64", "bool"):
        values = np.arange(12).reshape(3, 4).astype(dlc._arrays._NUMPY[dtype])
        there = dlc.to(values, "cuda:1")
        assert (there.dtype, there.shape, there.device) == (dtype, (3, 4), "cuda:1")
        back = dlc.to(there, "cpu")
        assert back.dtype == values.dtype and (back == values).all()
        assert (dlc.to(dlc.to(there, "cuda:0"), "cpu") == values).all()
        assert dlc.to(there, "cuda:1") is there
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(4).astype(ml_dtypes.bfloat16)
    assert (dlc.to(dlc.to(values, "cuda:0"), "cpu") == values).all()
    assert dlc.to(dlc.to(X.T, "cuda:0"), "cpu").shape == (3, 2)
    assert (dlc.to(dlc.to(X.astype(X.dtype.newbyteorder()), "cuda:0"), "cpu") == X).all()
    assert dlc.to(np.float32(3), "cuda:0").shape == ()
    assert dlc.to(dlc.empty((0, 3)), "cpu").shape == (0, 3)
    assert dlc.empty(5, np.int64).shape == (5,) and dlc.empty((), "bf16").nbytes == 2
    with pytest.raises(TypeError, match="copy it to the host first"):
        np.asarray(dlc.empty(3))
    for shape, error in (
        ((2, -1), ValueError),
        ((2**40, 2**40), ValueError),
        ((2.5,), TypeError),
        ("2x3", TypeError),
    ):
        with pytest.raises(error, match="shape: required"):
            dlc.empty(shape)
    for dtype in ("f8", "i4", object):
        with pytest.raises((TypeError, ValueError), match="dtype: required"):
            dlc.empty(3, dtype)
    with pytest.raises(ValueError, match="device not found: cuda:7"):
        dlc.empty(3, device="cuda:7")
    with pytest.raises(MemoryError, match="cannot allocate"):
        dlc.empty(1 << 40)


def test_memory_figures(double):
    x = dlc.to(np.zeros((512, 1024), "float32"), "cuda:1")
    figures = dlc.device_memory("cuda:1")
    assert figures.array_bytes >= x.nbytes and figures.free_bytes < figures.total_bytes
    del x
    pooled = dlc.device_memory("cuda:1")
    assert pooled.pooled_bytes >= 2 << 20 and pooled.free_bytes < figures.free_bytes + (1 << 20)
    assert dlc.device_memory("cuda:1", release=True).free_bytes >= figures.free_bytes + (2 << 20)
    names = {device.name: device for device in dlc.devices()}
    assert names["cuda:0"].capability == (9, 0) and names["cuda:0"].total_bytes > 0


def test_synchronize(double):
    y = double(dlc.to(X, "cuda:0"))
    end = Event(1)
    assert not end.is_done()
    dlc.synchronize("cuda:0")
    del y
    gc.collect()


def test_arrays_on_a_wrong_device(double):
    elsewhere = Array.of(X, device=1)
    with pytest.raises(
        ValueError, match=r"found: an array on cuda:1; move it to cuda:0, as in x.to\(\"cuda:0\"\)"
    ):
        double(elsewhere)
    with pytest.raises(
        ValueError, match=r"found: an array on cuda:1; move it to cuda:0, as in dlc.to"
    ):
        double(dlc.to(X, "cuda:1"))
    host = dlc.compile(models.doubled(models.F32))
    for x in (Array.of(X), dlc.to(X, "cuda:0")):
        with pytest.raises(ValueError, match="found: an array on cuda:0; move it to cpu"):
            host(x)
    with pytest.raises(ValueError, match="stream: required: a program whose arrays are on a GPU"):
        host(X, stream=1)
    with pytest.raises(TypeError, match="stream: required: the handle of a stream"):
        double(X, stream="x")
    with pytest.raises(ValueError, match="that is not contiguous"):
        double(Array((2, 3), "float32", strides=(1, 2)))


def test_read_only_and_offset_arrays(double):
    values = np.arange(14, dtype="float32")
    whole = Array.of(values)
    for offset in (0, 4, 16, 32):
        x = Array((2, 3), "float32", whole.memory, offset=offset, read_only=True)
        wanted = 2 * values[offset // 4 :][:6].reshape(2, 3)
        assert (double(x).read() == wanted).all()


def test_sizes_that_depend_on_data():
    net = dlc.compile(
        models.made(
            [("Compress", ["x", "keep"], ["y"], {"axis": 0})],
            {"x": (models.F32, [6, 2]), "keep": (9, [6])},
            {"y": (models.F32, ["n", 2])},
        ),
        device="cuda:0",
    )
    x = np.arange(12, dtype="float32").reshape(6, 2)
    keep = x[:, 0] > 4
    y = net(dlc.to(x, "cuda:0"), dlc.to(keep, "cuda:0"))
    assert isinstance(y, dlc.DeviceArray) and (dlc.to(y, "cpu") == x[keep]).all()
    assert net.report().waited


def test_shapes_that_depend_on_data():
    net = dlc.compile(models.reshaped(), device="cuda:0")
    x = dlc.to(np.arange(6, dtype="float32"), "cuda:0")
    for shape in ((2, 3), (3, 2), (2, 3)):
        y = net(x, dlc.to(np.array(shape, "int64"), "cuda:0"))
        assert y.shape == shape


@pytest.fixture
def own_extension_devices():
    """kDLExtDev denotes dlc's virtual devices, even after the PyTorch device of other tests has been registered in this process."""
    dlc._runtime.map_extension_devices("")
    yield
    dlc._runtime.map_extension_devices("cuda" if "emulated_device" in sys.modules else "")


def test_devices_without_shared_streams(own_extension_devices):
    """Programs on virtual CPU devices run in streams of their own."""
    net = dlc.compile(models.two(), device="cpu:1")
    a, b = dlc.to(X, "cpu:1"), dlc.to(ones(), "cpu:1")
    plus, minus = net(a, b)
    assert plus.device == "cpu:1" and (dlc.to(plus, "cpu") == X + 1).all()
    assert (dlc.to(net(plus, minus)[0], "cpu") == 2 * X).all()
    assert net.report().stream is None and net.report().copies == []
    assert (net(X, X)[0] == 2 * X).all()
    with pytest.raises(ValueError, match="devices of kind cpu share no streams with callers"):
        net(a, b, stream=1)


@pytest.mark.skipif(not os.environ.get("DLC_TOOL"), reason="the command line tool is not named")
def test_programs_on_several_devices(tmp_path):
    """They run in streams of their own, and the host waits."""
    (tmp_path / "two.onnx").write_bytes(models.two())
    command = ["compile", "two.onnx", "--device", "cuda:0", "--place", "n1=cpu", "-o", "two.dlcx"]
    subprocess.run([os.environ["DLC_TOOL"], *command], cwd=tmp_path, check=True)
    net = dlc.load(tmp_path / "two.dlcx")
    stream = Stream()
    Array.current = stream
    for _ in range(3):
        a, b = Array.of(X), dlc.to(ones(), "cuda:0")
        plus, minus = net(a, b, stream=stream)
        report = net.report()
        assert report.copies == [] and report.stream is None and report.waited
        assert (plus.read() == X + 1).all() and (minus.read() == X - 1).all()
        # The program reads the array after the stream has written it.
        again, _ = net(plus, minus, stream=stream)
        assert (again.read() == 2 * X).all()


def test_saved_programs(tmp_path, double):
    path = tmp_path / "double.dlcx"
    double.save(path)
    net = dlc.load(path)
    x = Array.of(X)
    y = net(x)
    assert net._addresses == ([x.address], [y.address]) and (y.read() == 2 * X).all()
