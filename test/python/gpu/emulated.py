"""An array library for the emulated GPU: arrays that other libraries access through `__dlpack__` with streams, and streams. It calls the driver through ctypes."""

import ctypes
import math
import os

import numpy as np

LIBRARY = os.environ.get("DLC_EMULATED_GPU", "")
CPU, CUDA = 1, 2
#: DLPack's type codes by the kind of a NumPy type.
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
KINDS = {code: kind for kind, code in CODES.items()}


class DlDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DlType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DlDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DlType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensor."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Managed._fields_ = [("tensor", DlTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DlTensor),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
#: Name of a consumed capsule, which must outlive the capsule.
_USED = ctypes.c_char_p(b"used_dltensor")

_driver = None


def driver():
    """Returns the emulated driver. The primary context of cuda:0 is current for this thread."""
    global _driver
    if _driver is None:
        _driver = ctypes.CDLL(LIBRARY)
        assert _driver.cuInit(0) == 0
    context = ctypes.c_void_p()
    _driver.cuCtxGetCurrent(ctypes.byref(context))
    if not context:
        _use(0)
    return _driver


def _use(device):
    context = ctypes.c_void_p()
    assert _driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert _driver.cuCtxPushCurrent_v2(context) == 0


class on:
    """Makes a device current in a with block."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        driver()
        _use(self.device)

    def __exit__(self, *_):
        _driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def call(name, *arguments):
    result = getattr(driver(), name)(*arguments)
    assert result == 0, f"{name}: {result}"


def configure(setting, value=""):
    assert driver().dlc_emulated_configure(setting.encode(), value.encode())


class Stream:
    def __init__(self):
        handle = ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(handle), 1)
        self.ptr = handle.value

    def __del__(self):
        driver().cuStreamDestroy_v2(ctypes.c_void_p(self.ptr))


class Event:
    """An event after the work that the stream has so far."""

    def __init__(self, stream):
        self.handle = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self.handle), 0)
        call("cuEventRecord", self.handle, ctypes.c_void_p(number(stream)))

    def is_done(self):
        return driver().cuEventQuery(self.handle) == 0

    def __del__(self):
        driver().cuEventDestroy_v2(self.handle)


def number(stream):
    return stream if isinstance(stream, int) else stream.ptr


def synchronize(stream):
    call("cuStreamSynchronize", ctypes.c_void_p(number(stream)))


class Memory:
    def __init__(self, size, device=0):
        self.device, self.size = device, size
        address = ctypes.c_ulonglong()
        with on(device):
            call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self.address = address.value

    def free(self):
        if self.address:
            with on(self.device):
                call("cuMemFree_v2", ctypes.c_ulonglong(self.address))
            self.address = 0

    def __del__(self):
        self.free()


class Array:
    """An array on an emulated GPU, which is written and read in a stream of its own library."""

    #: Stream in which the library works.
    current = 1

    def __init__(
        self, shape, dtype, memory=None, *, strides=None, offset=0, device=0, read_only=False
    ):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.strides, self.offset, self.device = strides, offset, device
        self.memory = memory or Memory(math.prod(self.shape) * self.dtype.itemsize, device)
        # `current` is a stream of cuda:0; on other devices, the default stream is used.
        self.stream, self.read_only = 1 if device else type(self).current, read_only
        #: Stream that the last consumer has passed, and the number of exported tensors that were not yet deleted.
        self.consumer, self.exported = None, 0

    @property
    def address(self):
        return self.memory.address + self.offset

    @classmethod
    def of(cls, values, **options):
        """Returns a new array with values of the host, which are copied in the library's stream. The host does not wait for the copy."""
        values = np.ascontiguousarray(values)
        made = cls(values.shape, values.dtype, **options)
        made.write(values)
        return made

    def write(self, values):
        """Copies values of the host to the array in the library's stream, without waiting. The array retains the values until then."""
        self.kept = np.ascontiguousarray(values)
        with on(self.device):
            call(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_ulonglong(self.address),
                ctypes.c_void_p(self.kept.ctypes.data),
                ctypes.c_size_t(self.kept.nbytes),
                ctypes.c_void_p(number(self.stream)),
            )

    def read(self, stream=None):
        """Copies the elements to the host in a stream, and waits for the copy."""
        made = np.empty(self.shape, self.dtype)
        stream = number(self.stream if stream is None else stream)
        with on(self.device):
            if made.nbytes:
                call(
                    "cuMemcpyDtoHAsync_v2",
                    ctypes.c_void_p(made.ctypes.data),
                    ctypes.c_ulonglong(self.address),
                    ctypes.c_size_t(made.nbytes),
                    ctypes.c_void_p(stream),
                )
            synchronize(stream)
        return made

    def __array_namespace__(self, **_):
        return Namespace

    def __dlpack_device__(self):
        return CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.consumer = stream
        if stream not in (None, -1, number(self.stream)):
            wait(stream, Event(self.stream))
        return self.export(max_version)

    def describe(self, tensor):
        """Sets the fields of a DLTensor, and returns the arrays to keep with it."""
        tensor.data, tensor.device = self.memory.address, DlDevice(CUDA, self.device)
        tensor.ndim, tensor.offset = len(self.shape), self.offset
        tensor.dtype = DlType(CODES[self.dtype.kind], self.dtype.itemsize * 8, 1)
        sizes = ctypes.c_int64 * len(self.shape)
        shape, strides = sizes(*self.shape), sizes(*self.strides) if self.strides else None
        tensor.shape, tensor.strides = shape, strides
        return shape, strides

    def export(self, max_version):
        versioned = max_version is not None and max_version[0] >= 1
        made = Versioned() if versioned else Managed()
        kept = self.describe(made.tensor)
        if versioned:
            made.major, made.flags = 1, int(self.read_only)
        self.exported += 1
        made.deleter = _delete
        key = ctypes.addressof(made)
        _alive[key] = (made, kept, self)
        name = b"dltensor_versioned" if versioned else b"dltensor"
        return _new_capsule(key, name, ctypes.cast(_destroy_capsule, ctypes.c_void_p))


#: Exported tensors by address, until their deleter is called: the structure, its shape and strides, and the exporting array.
_alive = {}


@DELETER
def _delete(pointer):
    _alive.pop(pointer)[-1].exported -= 1


_get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule):
    """Deletes the tensor of a capsule that no consumer has renamed."""
    name = _get_name(capsule)
    if not name.startswith(b"used"):
        _delete(_get_pointer(capsule, name))


def wait(stream, event):
    call("cuStreamWaitEvent", ctypes.c_void_p(number(stream)), event.handle, 0)


class Namespace:
    """The functions of the library that dlc calls."""

    @staticmethod
    def from_dlpack(array):
        """Returns an array that owns the exported tensor of another library."""
        kind, device = array.__dlpack_device__()
        assert kind == CUDA
        capsule = array.__dlpack__(stream=number(Array.current))
        pointer = _pointer(capsule, b"dltensor")
        _set_name(capsule, _USED)
        tensor = Managed.from_address(pointer)
        made = Array(
            tensor.tensor.shape[: tensor.tensor.ndim],
            f"{KINDS[tensor.tensor.dtype.code]}{tensor.tensor.dtype.bits // 8}",
            Owned(pointer, tensor),
            device=device,
        )
        return made


class Owned:
    """Memory of a tensor that another library exported."""

    def __init__(self, pointer, tensor):
        self.pointer, self.tensor = pointer, tensor
        self.address = (tensor.tensor.data or 0) + tensor.tensor.offset

    def __del__(self):
        self.tensor.deleter(self.pointer)
