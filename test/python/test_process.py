"""Interaction of calls with the process: threads, forks, signals, memory, import."""

import os
import signal
import sys
import threading
import time

import models
import numpy as np
import pytest

import dlc

SECONDS = 20


def in_child(work):
    """Forks; whether work() came to its end there, in time."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def equal(net, x, wanted):
    assert np.array_equal(net(x), wanted)


def test_import_is_quick_and_brings_no_compiler(python):
    script = """
import sys, time
start = time.perf_counter()
import dlc
taken = time.perf_counter() - start
maps = open("/proc/self/maps").read()
assert "dlc_runtime" in maps and "libLLVM" not in maps and "dlc_compiler" not in maps, maps
assert "numpy" not in sys.modules and "torch" not in sys.modules
print(taken)
"""
    assert min(float(python(script)) for _ in range(3)) < 0.2


def test_artefacts_run_without_the_compiler(python, tmp_path, ten):
    ten.save(tmp_path / "net.dlcx")
    python("""
import dlc, numpy
dlc.load("net.dlcx")(numpy.zeros(16, "float32"))
assert "dlc_compiler" not in open("/proc/self/maps").read()
""")


def test_a_small_call_is_quick(ten, x):
    """From Python and back: at most 10 microseconds, in the least disturbed of many turns."""

    def microseconds(count=500):
        start = time.perf_counter()
        for _ in range(count):
            ten(x)
        return (time.perf_counter() - start) / count * 1e6

    assert min(microseconds() for _ in range(40)) <= 10


def test_nothing_leaks(ten, two, x):
    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    a = np.ones((2, 6), "float32")[:, ::2]

    def calls(count):
        for _ in range(count):
            ten(x)
        for _ in range(count // 10):
            two(a, **{"b/1": a})
            with pytest.raises(ValueError):
                ten(a)

    calls(2000)
    before, references = resident(), sys.getrefcount(x)
    calls(100_000)
    assert resident() - before < 1 << 20
    assert sys.getrefcount(x) == references


def test_threads_share_a_model(two):
    """Each sees its own results, also while another compiles."""
    net, wrong = dlc.compile(models.open_batch()), []

    def work(number):
        a, b = np.full((2, 3), number, "float32"), np.ones((2, 3), "float32")
        for i in range(300):
            if not (two(a, b)[0] == number + 1).all():
                wrong.append(number)
        rows = np.full((number + 1, 3), number, "float32")
        if not (net(rows) == 2 * number).all():
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_interpreter_is_free_while_a_program_runs():
    """A counter in another thread goes on during calls that take long."""
    import onnx

    size = 700
    net = dlc.compile(
        models.made(
            [("MatMul", ["x", "x"], ["a"], {}), ("MatMul", ["a", "x"], ["y"], {})],
            {"x": (onnx.TensorProto.FLOAT, [size, size])},
            {"y": (onnx.TensorProto.FLOAT, [size, size])},
        ),
        threads=1,
    )
    x, begun, count, stop = (
        np.ones((size, size), "float32"),
        threading.Event(),
        [0],
        threading.Event(),
    )

    def counting():
        begun.set()
        while not stop.is_set():
            count[0] += 1
            time.sleep(1e-4)

    net(x)
    old = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nobody gives the interpreter up who does not want to
    try:
        thread = threading.Thread(target=counting)
        thread.start()
        begun.wait()
        before = count[0]
        net(x)
        assert count[0] > before
    finally:
        stop.set()
        sys.setswitchinterval(old)
        thread.join()


def test_fork(ten, two, x):
    wanted = ten(x)
    net = dlc.compile(models.open_batch())
    ones = np.ones((2, 3), "float32")
    net(ones)

    def work():
        equal(ten, x, wanted)
        assert (net(ones) == 2).all()
        assert (net(np.ones((7, 3), "float32")) == 2).all()  # compiles
        dlc.compile(models.two())(ones, ones)

    assert in_child(work)
    equal(ten, x, wanted)
    assert in_child(lambda: in_child(work) or os._exit(2))


def test_fork_with_many_threads_at_work(ten, x):
    """A fork in the midst of other threads' calls and compilations."""
    wanted, stop = ten(x), threading.Event()
    net = dlc.compile(models.open_batch())

    def calling():
        while not stop.is_set():
            ten(x)

    def compiling():
        for rows in range(1, 1000):
            if stop.is_set():
                break
            net(np.ones((rows, 3), "float32"))

    def work():
        equal(ten, x, wanted)
        assert (net(np.ones((2000, 3), "float32")) == 2).all()

    threads = [threading.Thread(target=calling), threading.Thread(target=compiling)]
    for thread in threads:
        thread.start()
    try:
        assert all(in_child(work) for _ in range(8))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_fork_of_a_program_on_several_devices(x):
    """It has a thread for each device."""
    net = dlc.compile(models.ten_operations(), device="cpu:1")
    wanted = net(x)
    assert in_child(lambda: equal(net, x, wanted))


def test_a_forked_process_ends_as_any_other(python):
    """With everything destroyed that the parent had made."""
    script = """
import os, sys
sys.path.insert(0, os.environ["MODELS"])
import models, numpy, dlc
x = numpy.zeros(16, "float32")
nets = [dlc.compile(models.ten_operations()), dlc.compile(models.ten_operations(), device="cpu:1"), dlc.compile(models.open_batch())]
nets[0](x), nets[1](x)
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    nets[2](numpy.ones((2, 3), "float32"))
print("done")
"""
    assert python(script, MODELS=os.path.dirname(models.__file__)).count("done") == 2


def test_workers_of_multiprocessing(ten, x):
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(ten, [x] * 8).get(SECONDS)
    assert all(np.array_equal(y, ten(x)) for y in results)


def test_interrupt(tmp_path, monkeypatch):
    """Ctrl-C ends a compilation, and nothing is broken afterwards."""
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    model = models.long_to_compile()
    # Whoever starts the tests in the background has switched the signal off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            dlc.compile(model)
            pytest.fail(f"compiled in {time.monotonic() - start} s, before the signal came")
    finally:
        signal.signal(signal.SIGINT, before)
    print(f"ended after {time.monotonic() - start:.2f} s")
    assert time.monotonic() - start < SECONDS
    net = dlc.compile(models.open_batch())
    assert (net(np.ones((2, 3), "float32")) == 2).all()


def test_progress(monkeypatch):
    """Whoever asks for it hears what is done; what is raised there ends the compilation."""
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    told = []
    dlc.compile(models.long_to_compile(20), progress=lambda *what: told.append(what))
    assert any(what == "generating code" for what, _, _ in told) and all(
        0 <= done <= total for _, done, total in told
    )

    def refuse(what, done, total):
        raise LookupError(what)

    start = time.monotonic()
    with pytest.raises(LookupError):
        dlc.compile(models.long_to_compile(), progress=refuse)
    assert time.monotonic() - start < SECONDS


def test_the_bar(monkeypatch):
    """Of a compilation that takes longer than a moment, on a terminal; it leaves nothing behind."""
    import io

    from dlc import _progress

    class Terminal(io.StringIO):
        isatty = lambda self: True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    dlc.compile(models.long_to_compile(20))
    lines = sys.stderr.getvalue().split("\r")
    assert any("━" in line and line.split()[-1].count("/") == 1 for line in lines)
    assert lines[-1] == "" and not lines[-2].strip()
    monkeypatch.setattr(sys, "stderr", Terminal())
    dlc.compile(models.long_to_compile(21), progress=False)
    assert sys.stderr.getvalue() == ""


@pytest.mark.skipif(not os.environ.get("DLC_EMULATED_GPU"), reason="no emulated GPU is named")
def test_gpu(python):
    """A program on a GPU takes arrays of the host's memory there and back."""
    emulated = os.environ["DLC_EMULATED_GPU"]
    none = {f"DLC_CUDA_{library}": "/none" for library in ("CUBLASLT", "CUDNN", "NCCL")}
    python(
        """
import os, sys
sys.path.insert(0, os.environ["MODELS"])
import models, numpy, dlc
assert "cuda:0" in [device.name for device in dlc.devices()]
net = dlc.compile(models.ten_operations(), device="cuda:0")
x = numpy.linspace(-1, 1, 16, dtype="float32")
assert numpy.allclose(net(x), models.ten_operations_reference(x), atol=1e-6)
assert {row.device for row in net.profile(x)} == {"cuda:0"}
""",
        MODELS=os.path.dirname(models.__file__),
        DLC_CUDA_DRIVER=emulated,
        DLC_CUDA_NVRTC=emulated,
        DLC_CACHE_DIR="",
        **none,
    )
