"""Arrays on devices: dlc.to, dlc.empty, dlc.synchronize, dlc.set_allocator, dlc.device_memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dlc import _runtime
from dlc._option_checks import require_texts

DeviceArray = _runtime.DeviceArray

#: dlc's names of element types, by NumPy's names.
_NAMES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "bool": "bool",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
_NUMPY = {name: numpy for numpy, name in _NAMES.items()}
#: Maximum size of an array in bytes.
_MAX_BYTES = 1 << 62


def _type_name(dtype: Any) -> str:
    """Returns dlc's name of an element type: f32 for "f32", "float32", numpy.float32 and numpy.dtype("float32")."""
    if isinstance(dtype, str):
        return _NAMES.get(dtype, dtype)
    import numpy

    try:
        name = numpy.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in _NAMES:
        raise TypeError(
            f"dtype: required: a name such as 'f32', or an element type of NumPy; found: {dtype!r}"
        )
    return _NAMES[name]


def _checked_shape(shape: Any) -> list[int]:
    try:
        sizes = [operator.index(size) for size in (shape if _is_sequence(shape) else (shape,))]
    except TypeError:
        raise TypeError(f"shape: required: sizes, as in (2, 3); found: {shape!r}") from None
    total = 8
    for size in sizes:
        total *= max(size, 1)
    if any(size < 0 for size in sizes) or total > _MAX_BYTES:
        raise ValueError(
            f"shape: required: sizes of 0 or more, of at most 2^59 elements; found: {shape!r}"
        )
    return sizes


def _is_sequence(shape: Any) -> bool:
    return hasattr(shape, "__iter__") and not isinstance(shape, (str, bytes))


def empty(
    shape: int | Sequence[int], dtype: Any = "f32", device: str = "cuda:0", *, stream: Any = None
) -> DeviceArray:
    """Returns a new array on a device. Its elements are undefined.

    dtype: dlc's name of the element type (f32, bf16, i64, ..) or a type of NumPy.
    stream: the stream whose work uses the array first; None: the current stream (set_current_stream).

    Raises ValueError for the device, MemoryError if the device has too little free memory.
    """
    require_texts(device=device)
    return _runtime.empty(_checked_shape(shape), _type_name(dtype), device, stream)


def to(array: Any, device: str) -> Any:
    """Copies an array to a device, and waits for the copy. Returns a NumPy array for `cpu`, otherwise a DeviceArray.

    array: a DeviceArray, or any object that numpy.asarray accepts. An array that is already on the device is returned without a copy.
        The copy waits for dlc's runs that write a DeviceArray, but not for work of other libraries on its memory: synchronize their streams first.
    """
    require_texts(device=device)
    import numpy

    on_host = device in ("cpu", "cpu:0")
    if isinstance(array, numpy.ndarray) and hasattr(array, "mask"):
        raise TypeError(
            "array: required: an array without a mask; found: a masked array, whose mask dlc would ignore; fill it first, as in x.filled(0)"
        )
    if not isinstance(array, DeviceArray):
        host = numpy.asarray(array)
        if on_host:
            return host
        host = numpy.ascontiguousarray(host).reshape(host.shape)
        name = _type_name(host.dtype)
        if not host.dtype.isnative:
            host = host.astype(host.dtype.newbyteorder("="))
        data = host.reshape(-1).view("uint8")
        return _runtime.copy_from_host(data, list(host.shape), name, device)
    if not on_host:
        return array if array.device == device else _runtime.copy_to_device(array, device)
    numpy_name = _NUMPY[array.dtype]
    if numpy_name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(
                "the array is bf16, which NumPy supports only with the package ml_dtypes; install ml_dtypes"
            ) from None
        numpy_type = numpy.dtype(ml_dtypes.bfloat16)
    else:
        numpy_type = numpy.dtype(numpy_name)
    made = numpy.empty(array.shape, numpy_type)
    _runtime.copy_to_host(array, made.reshape(-1).view("uint8"))
    return made


def set_current_stream(device: str, function: Callable[[], Any] | None) -> None:
    """Sets the function that returns the caller's current stream on a device, for array libraries other than PyTorch, which do not report their current stream to dlc, as in
    dlc.set_current_stream("cuda:0", cupy.cuda.get_current_stream). Programs then run in this stream, and arrays are allocated for work in it.
    The function returns a handle or a stream object, as the argument `stream` of a call. None restores the default stream."""
    require_texts(device=device)
    if function is not None and not callable(function):
        raise TypeError(f"set_current_stream: required: a function or None; found: {function!r}")
    _runtime.set_current_stream(device, function)


def synchronize(device: str = "cuda:0") -> None:
    """Waits for all work that dlc has enqueued on the device, in any stream. Raises RuntimeError if a kernel has failed."""
    require_texts(device=device)
    _runtime.synchronize(device)


class DeviceMemory(NamedTuple):
    """Memory of a device in bytes: total, free, used by arrays of dlc, and retained in the pool of dlc for later arrays."""

    total_bytes: int
    free_bytes: int
    array_bytes: int
    pooled_bytes: int


def device_memory(device: str = "cuda:0", *, release: bool = False) -> DeviceMemory:
    """Returns the sizes of the device's used and free memory. `net.memory` has the sizes of a program's memory.

    release: first frees the memory in the pool of dlc.
    """
    require_texts(device=device)
    if release:
        _runtime.release_pool(device)
    return DeviceMemory(*_runtime.device_memory(device))


def set_allocator(
    device: str,
    allocate: Callable[[int, int], int] | None,
    free: Callable[[int, int, int], Any] | None = None,
) -> None:
    """Sets the functions that allocate memory on a device for arrays of the type DeviceArray, and for programs that are loaded or compiled later.
    Results that are tensors of PyTorch, or of another library with an exchange table, are always allocated by their library.

    allocate(bytes, stream): returns the address of memory for work in the stream, a multiple of 256.
    free(address, bytes, stream): releases the memory. Work that was enqueued in the stream before this call may still use the memory.
    None for both functions restores dlc's own allocation. Memory is returned to the functions that allocated it.
    """
    require_texts(device=device)
    if (allocate is None) != (free is None) or not all(
        each is None or callable(each) for each in (allocate, free)
    ):
        raise TypeError(
            f"set_allocator: required: two functions, or None for both; found: {allocate!r} and {free!r}"
        )
    _runtime.set_allocator(device, allocate, free)
