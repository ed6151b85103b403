"""Calls on a GPU with random invalid or unusual (odd) arguments: each returns the correct result or raises an exception with a message. Also checks the
memory after many calls, and the host's time for a call. Runs on the emulated GPU."""

import gc
import os
import random
import resource
import subprocess
import sys
import time
import weakref

import emulated
import models
import numpy as np
import pytest
from emulated import Array, Stream

import dlc

#: Number of sequences of odd calls by default and with --all-cases, and number of calls in each sequence.
SEQUENCES, ALL_SEQUENCES, LENGTH = 4, 40, 250
#: Number of calls in the test of leaks by default and with --all-cases.
CALLS, ALL_CALLS = 20_000, 1_000_000
EXPECTED = (TypeError, ValueError, RuntimeError, MemoryError, BufferError, OverflowError)


class Odd:
    """Draws odd arguments from a seed."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.streams = [Stream(), Stream()]
        self.kept = []

    def values(self, shape=(2, 3)):
        return np.asarray(
            [self.draw.randrange(9) for _ in range(int(np.prod(shape)))], "float32"
        ).reshape(shape)

    def stream(self):
        return self.draw.choice(
            [None] * 6 + [*self.streams] * 3 + [0, 1, 2, -1, -5, 1 << 80, "x", 1.5, True, object()]
        )

    def array(self):
        """Returns an array and its elements. Elements of None mean that a call with the array may fail."""
        kind = self.draw.choice(
            ["own"] * 5
            + ["library"] * 5
            + ["host"] * 2
            + ["earlier"] * 2
            + [
                "device",
                "shape",
                "type",
                "strided",
                "read only",
                "offset",
                "freed",
                "nothing",
                "false",
                "no array",
            ]
        )
        values = self.values()
        if kind == "own":
            return dlc.to(values, "cuda:0"), values
        if kind == "library":
            return Array.of(values), values
        if kind == "host":
            return self.draw.choice([values, values.T.copy().T]), values
        if kind == "earlier" and self.kept:
            return self.draw.choice(self.kept)
        if kind == "device":
            return self.draw.choice([Array.of(values, device=1), dlc.to(values, "cuda:1")]), None
        if kind == "shape":
            wrong = self.values(self.draw.choice([(3, 2), (6,), (), (0, 3), (2, 3, 1)]))
            return self.draw.choice([Array.of(wrong) if wrong.size else wrong, wrong]), None
        if kind == "type":
            return Array.of(values.astype(self.draw.choice(["float64", "int32", "uint8"]))), None
        if kind == "strided":
            return Array(
                (2, 3), "float32", strides=self.draw.choice([(1, 2), (6, 1), (0, 1)])
            ), None
        if kind == "read only":
            return Array.of(values, read_only=True), values
        if kind == "offset":
            whole = Array.of(np.concatenate([self.values((2,)).reshape(-1), values.reshape(-1)]))
            made = Array((2, 3), "float32", whole.memory, offset=8)
            made.kept = whole.kept  # the source of the copy, which may not have run
            return made, values
        if kind == "freed":
            freed = Array.of(values)
            emulated.synchronize(1)
            freed.memory.free()
            return freed, None
        if kind == "false":
            return FalseArray(self.draw), None
        return self.draw.choice([None, 3, "x", object(), [[1.0] * 3] * 2]), None


class FalseArray:
    """An object whose DLPack methods raise exceptions or return invalid values."""

    def __init__(self, draw):
        self.result = draw.choice(
            [None, 3, ValueError("odd"), RuntimeError("odd"), TypeError("odd"), "capsule"]
        )
        self.device = draw.choice([(2, 0), (2, 7), (1, 0), (12, 0), (99, -1), None, "cuda"])

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def numbers(array):
    if isinstance(array, dlc.DeviceArray):
        return dlc.to(array, "cpu")
    return array.read() if isinstance(array, Array) else array


def odd_call(odd, net):
    (a, wanted_a), (b, wanted_b) = odd.array(), odd.array()
    stream = odd.stream()
    freed = any(isinstance(each, Array) and not each.memory.address for each in (a, b))
    try:
        found = odd.draw.choice(
            [
                lambda: net(a, b, stream=stream),
                lambda: (*net.run({"a": a, "b/1": b}, stream).values(),),
            ]
        )()
        report = net.report()
        assert len(report.copies) <= 4 and str(report)
        if wanted_a is not None and wanted_b is not None:
            plus, minus = map(numbers, found)
            assert (plus == wanted_a + wanted_b).all() and (minus == wanted_a - wanted_b).all()
            odd.kept.append((found[0], plus))
            del odd.kept[:-3]
        elif freed:
            dlc.synchronize("cuda:0")
    except EXPECTED as error:
        assert str(error)
        return 0
    return 1


def cases(request):
    return request.config.getoption("--all-cases")


def test_odd_calls(request, two, capfd):
    """Thousands of calls with arrays on wrong devices, freed, strided, read-only or no arrays at all, in several streams."""
    for seed in range(ALL_SEQUENCES if cases(request) else SEQUENCES):
        odd, good = Odd(seed), 0
        Array.current = odd.streams[0] if seed % 2 else 1
        for _ in range(LENGTH):
            emulated.configure("revive")
            good += odd_call(odd, two)
        emulated.configure("revive")
        odd.kept.clear()
        assert good > LENGTH / 10, seed
    capfd.readouterr()


def test_no_leaks(request):
    """Memory of the process and of the device, Python objects and exported tensors do not grow with the number of calls."""
    net = dlc.compile(models.two(), device="cuda:0")
    emulated.configure("null", "1")
    try:
        a, b = dlc.empty((2, 3)), Array((2, 3), "float32")
        stream = Stream()

        def run(count):
            kept = None
            for i in range(count):
                made = net(a, b, stream=stream if i % 3 else None)
                # Some results are retained longer than the call.
                kept = made if i % 5 == 0 else kept
                assert kept is not None
            gc.collect()
            return (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                dlc.device_memory("cuda:0").free_bytes,
                len(gc.get_objects()),
                len(emulated._alive),
            )

        run(CALLS // 10)
        before = run(CALLS // 10)
        after = run(ALL_CALLS if cases(request) else CALLS)
        assert after[0] - before[0] < 4096 and after[1] == before[1], (before, after)
        assert after[2] - before[2] < 100 and after[3] == before[3], (before, after)
        dlc.synchronize("cuda:0")
        assert b.exported == 0
    finally:
        emulated.configure("null", "0")


def test_arrays_are_released(double):
    x = dlc.to(np.ones((2, 3), "float32"), "cuda:0")
    y = double(x)
    gone = [weakref.ref(x), weakref.ref(y)]
    capsule = y.__dlpack__()
    del x, y
    gc.collect()
    assert [each() for each in gone] == [None, None]
    before = dlc.device_memory("cuda:0").array_bytes
    del capsule
    assert dlc.device_memory("cuda:0").array_bytes < before


def test_time_of_a_call():
    """A call of ten kernels takes at most 15 microseconds of host time, without the time of the driver and the GPU."""
    script = os.path.join(os.path.dirname(__file__), "call_time.py")
    printed = ""
    for _ in range(3):  # the machine may be busy
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
        if all(float(line.split()[-2]) <= 15 for line in done.stdout.splitlines()):
            return
        time.sleep(1)
    pytest.fail(printed)
