"""An array type of the emulated GPU with a table of C functions for DLPack exchange, as PyTorch's tensors have. The table provides views without a
copy, the library's allocator, and its current stream."""

import ctypes
import gc

import emulated
import numpy as np
from emulated import CUDA, DELETER, DlTensor, number, Versioned

ALLOCATE = ctypes.PYFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(DlTensor),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    ctypes.c_void_p,
)
TWO_POINTERS = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(DlTensor))
STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("before", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("managed_from_object", TWO_POINTERS),
        ("to_object", TWO_POINTERS),
        ("from_object", VIEW),
        ("current_stream", STREAM),
    ]


class Tensor(emulated.Array):
    """An array that is exchanged through the table. `pool` holds released memory by size; the library reuses it in the order of the current stream."""

    pool: dict[int, list[emulated.Memory]] = {}
    allocated = 0
    requires_grad = False

    def contiguous(self):
        """Returns a contiguous copy; the elements are copied through the host."""
        whole = emulated.Array((self.memory.size // 4,), "float32", self.memory).read()
        strided = np.lib.stride_tricks.as_strided(
            whole, self.shape, [4 * step for step in self.strides]
        )
        return Tensor.of(strided.copy())

    def __del__(self):
        if self.memory.address and isinstance(self.memory, emulated.Memory):
            Tensor.pool.setdefault(self.memory.size, []).append(self.memory)


@ALLOCATE
def _allocate(like, made, _context, _set_error):
    wanted = like.contents
    shape = wanted.shape[: wanted.ndim]
    dtype = np.dtype(f"{emulated.KINDS[wanted.dtype.code]}{wanted.dtype.bits // 8}")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if wanted.device.type != CUDA:
        return -1
    free = Tensor.pool.get(size)
    tensor = Tensor(shape, dtype, free.pop() if free else None, device=wanted.device.id)
    Tensor.allocated += 1
    versioned = Versioned()
    versioned.major, versioned.deleter = 1, _never
    fill(versioned.tensor, tensor)
    key = ctypes.addressof(versioned)
    _made[key] = (versioned, tensor)
    made[0] = key
    return 0


def fill(to, tensor):
    tensor.described = tensor.describe(to)


#: Allocated tensors that are not yet objects.
_made = {}


@DELETER
def _never(pointer):
    _made.pop(pointer)


@TWO_POINTERS
def _managed_from_object(_object, _tensor):
    return -1


@TWO_POINTERS
def _to_object(pointer, made):
    tensor = _made.pop(pointer)[1]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(tensor))
    made[0] = id(tensor)
    return 0


@VIEW
def _from_object(pointer, to):
    fill(to.contents, ctypes.cast(pointer, ctypes.py_object).value)
    return 0


@STREAM
def _current_stream(kind, device, to):
    assert kind == CUDA
    # The library's default stream is 0.
    current = number(Tensor.current)
    to[0] = 0 if device or current == 1 else current
    return 0


_table = Table(
    1, 3, None, _allocate, _managed_from_object, _to_object, _from_object, _current_stream
)
_NAME = ctypes.c_char_p(b"dlpack_exchange_api")
_new_capsule = ctypes.pythonapi.PyCapsule_New
Tensor.__dlpack_c_exchange_api__ = _new_capsule(ctypes.addressof(_table), _NAME, None)


def clear():
    gc.collect()
    Tensor.pool.clear()
