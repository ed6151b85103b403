"""Type stubs of the C++ module that runs programs. `import dlc` loads it; users access it through dlc.Model and dlc.devices."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

class Value:
    """An input or output of a model: name, element type, shape, device."""

    def __init__(
        self, name: str, dtype: str, shape: Optional[Sequence[Union[int, str, None]]], device: str
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str:
        """dlc's name of the element type: f32, bf16, i64, bool, .."""
    @property
    def shape(self) -> Optional[tuple[Union[int, str, None], ...]]:
        """Dynamic dimensions are their name, or None. None if the rank is unknown."""
    @property
    def device(self) -> str:
        """Device of the value: cpu, cuda:0, .."""
    @property
    def layout(self) -> str:
        """Memory layout of a program's value in oneDNN's notation, such as aBcd16b; '' for row-major."""

class Session:
    """A program that is ready to run."""

    @staticmethod
    def load(path: str, threads: int = 0) -> Session: ...
    @staticmethod
    def from_bytes(data: bytes, threads: int = 0) -> Session: ...
    @staticmethod
    def adopt(capsule: Any) -> Session: ...
    def again(self) -> Session:
        """Creates another session of the same program, with a copy of the current state."""
    def save(self, path: str) -> None: ...
    def set_trace(self, enabled: bool) -> None: ...
    def take_trace(self) -> list[tuple[int, int, int]]:
        """Returns (command, start, end), in nanoseconds, for the commands that ran since the last call."""
    @property
    def is_here(self) -> bool:
        """False in a process that was forked after the session was created."""
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[Value]: ...
    @property
    def outputs(self) -> list[Value]: ...
    @property
    def has_state(self) -> bool:
        """True if the program has state, which is retained between runs."""
    @property
    def states(self) -> list[tuple[str, str, tuple[int, ...], bool]]:
        """(name, type, shape, whether it is a parameter) of each state."""
    def state_bytes(self, index: int) -> bytes: ...
    def bind_state(self, index: int, address: int, bytes: int, device: str = "cpu") -> None:
        """Binds a state to memory on the state's device, and to the value stored there. The memory must be valid until the next call of bind_state for this state, or the end of the session."""
    def share_states(self) -> None:
        """Broadcasts rank 0's state to all processes, in place; all processes must call this together."""
    @property
    def meaning(self) -> list[str]:
        """Description of the program: a line for each input, output, state and collective."""
    def save_started(self, path: str, training: str) -> None:
        """Writes the program with the current state as its initial state; `training` is JSON for its manifest."""
    @property
    def threads(self) -> int: ...
    @property
    def commands(self) -> list[tuple[str, str, str, str, str, float, float]]:
        """(op, name, kernel, device, where, flops, bytes) of each command, in order."""
    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of commands: the producer of a value, and a command that reads or modifies it."""
    @property
    def memory(self) -> dict[str, int]: ...
    @property
    def graph_launches(self) -> int:
        """Number of launches of captured graphs so far."""

class DeviceArray:
    """A contiguous array on a device. dlc.to copies it to the host; other libraries take it through `__dlpack__(stream=..)` without a copy. The consumer's
    stream then waits for the array. Values of `stream`: None or 1 for the default stream, 2 for that of the thread, -1 for no synchronization."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str:
        """dlc's name of the element type."""
    @property
    def device(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int:
        """Address of the first element in the device's memory."""

class Runner:
    """Base class of dlc.Model: values, sessions and calls."""

    def __init__(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None: ...
    def __call__(self, *arrays: Any, **named: Any) -> Any: ...
    def run(self, arrays: Mapping[str, Any], stream: Any = None) -> dict[str, Any]: ...
    def _add(self, session: Session) -> None: ...
    @property
    def inputs(self) -> list[Value]: ...
    @property
    def outputs(self) -> list[Value]: ...
    @property
    def _sessions(self) -> list[Session]: ...
    @property
    def _addresses(self) -> tuple[list[int], list[int]]:
        """Addresses of the input and output arrays of the last call."""
    @property
    def _last_call(self) -> tuple[list[tuple[str, int, str]], Optional[int], bool]:
        """Copied arrays as (name, bytes, reason), the stream, and whether the host has waited."""

class Watch:
    """Detects changes of PyTorch tensors that a program holds as constants, by address, version and a sample of their elements."""

    def __init__(self, tensors: list[Any], bytes: Sequence[int]) -> None: ...
    def is_unchanged(self, tensors: list[Any]) -> bool:
        """Returns True if these tensors, in the same order and of the same sizes, are the recorded ones and are unchanged."""

def world() -> tuple[int, int, int, int]:
    """Returns rank and size in the world, then rank and size within this machine. The world is formed at the first call."""

def form_world(carrier: Any, place: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Forms a world whose collectives the object implements (_torch/collectives.py). Returns the same as world()."""

def agree(what: str, lines: Sequence[str], mend: str) -> None:
    """Raises ValueError in all processes if the lines of one process differ from those of rank 0."""

def set_step(step: int) -> None:
    """Sets the step number for error messages."""

def abort_world(message: str) -> None:
    """Terminates all processes; in a world of one process, raises RuntimeError."""

def leave_world() -> None:
    """Waits for the other processes and leaves the world; no collectives may follow."""

def empty(shape: Sequence[int], dtype: str, device: str, stream: Any) -> DeviceArray: ...
def copy_from_host(buffer: Any, shape: Sequence[int], dtype: str, device: str) -> DeviceArray: ...
def copy_to_host(array: DeviceArray, buffer: Any) -> None: ...
def copy_to_device(array: DeviceArray, device: str) -> DeviceArray: ...
def synchronize(device: str) -> None: ...
def device_memory(device: str) -> list[int]:
    """Total and free bytes of the device, bytes of arrays, bytes retained in the pool for later arrays."""

def release_pool(device: str) -> None: ...
def set_allocator(device: str, allocate: Any, free: Any) -> None: ...
def set_current_stream(device: str, function: Any) -> None: ...
def map_extension_devices(kind: str) -> None:
    """Sets the device kind of tensors of the DLPack type kDLExtDev; '' removes the mapping."""

def version() -> str: ...
def devices() -> list[tuple[str, str, int, int, int, int, int]]: ...
