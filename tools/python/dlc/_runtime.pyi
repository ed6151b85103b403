"""What runs programs: the module of C++ that `import dlc` loads. Users reach all of it through dlc.Model and dlc.devices."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

class Value:
    """An input or output of a model: name, element type, shape, device."""

    def __init__(self, name: str, dtype: str, shape: Optional[Sequence[Union[int, str, None]]], device: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str:
        """The element type by dlc's name: f32, bf16, i64, bool, .."""
    @property
    def shape(self) -> Optional[tuple[Union[int, str, None], ...]]:
        """An open dimension is its name, or None; None where even the rank is open."""
    @property
    def device(self) -> str:
        """Where the program reads or leaves it: cpu, cuda:0, .."""
    @property
    def layout(self) -> str:
        """How a program has its elements in memory, as oneDNN writes it, aBcd16b; '': row by row."""

class Session:
    """A program ready to run."""

    @staticmethod
    def load(path: str, threads: int = 0) -> Session: ...
    @staticmethod
    def from_bytes(data: bytes, threads: int = 0) -> Session: ...
    @staticmethod
    def adopt(capsule: Any) -> Session: ...
    def again(self) -> Session:
        """Another session of the same program, with the state as it is now."""
    def save(self, path: str) -> None: ...
    def set_trace(self, enabled: bool) -> None: ...
    def take_trace(self) -> list[tuple[int, int, int]]:
        """(command, start, end) in nanoseconds of what ran since the last call."""
    @property
    def is_here(self) -> bool:
        """False in a process that was forked since."""
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[Value]: ...
    @property
    def outputs(self) -> list[Value]: ...
    @property
    def has_state(self) -> bool:
        """Whether something lives in it from run to run."""
    @property
    def states(self) -> list[tuple[str, str, tuple[int, ...], bool]]:
        """(name, type, shape, whether gradients go to it) of each."""
    def state_bytes(self, index: int) -> bytes: ...
    def bind_state(self, index: int, address: int, bytes: int) -> None:
        """From now on the state is that memory, with the value that stands there; it must outlive the session, or the next bind."""
    def share_states(self) -> None:
        """Rank 0's state becomes that of all processes, where it is; all of them call it together."""
    @property
    def meaning(self) -> list[str]:
        """A line for each input, output, state and collective."""
    def save_started(self, path: str, training: str) -> None:
        """The program as a file, with the state as it is now as its beginning; `training` is the JSON for its manifest."""
    @property
    def threads(self) -> int: ...
    @property
    def commands(self) -> list[tuple[str, str, str, str, str, float, float]]:
        """(op, name, kernel, device, where, flops, bytes) of each, in order."""
    @property
    def edges(self) -> list[tuple[int, int]]:
        """Which command makes what which other reads or changes."""
    @property
    def memory(self) -> dict[str, int]: ...

class Runner:
    """What dlc.Model is made of: values, sessions and calls."""

    def __init__(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None: ...
    def __call__(self, *arrays: Any, **named: Any) -> Any: ...
    def run(self, arrays: Mapping[str, Any]) -> dict[str, Any]: ...
    def _add(self, session: Session) -> None: ...
    @property
    def inputs(self) -> list[Value]: ...
    @property
    def outputs(self) -> list[Value]: ...
    @property
    def _sessions(self) -> list[Session]: ...
    @property
    def _addresses(self) -> tuple[list[int], list[int]]:
        """Of the arrays that the last call handed to its program."""

class Watch:
    """Tensors of PyTorch that a program holds as constants, by address, version and a sample of their elements."""

    def __init__(self, tensors: list[Any], bytes: Sequence[int]) -> None: ...
    def is_unchanged(self, tensors: list[Any]) -> bool:
        """Whether these, of the same sizes and in the same order, are those and as they were."""

def world() -> tuple[int, int, int, int]:
    """Rank and size, then the same among the processes of this machine; formed when first asked for."""

def form_world(carrier: Any, place: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The same, whose collectives the object carries (_torch_world.py)."""

def agree(what: str, lines: Sequence[str], mend: str) -> None:
    """ValueError in all processes where one has other lines than the first."""

def set_step(step: int) -> None:
    """For messages."""

def abort_world(message: str) -> None:
    """Ends all processes; a world of one raises RuntimeError."""

def leave_world() -> None:
    """Waits for the others; nothing is shared from then on."""

def version() -> str: ...
def devices() -> list[tuple[str, str, int, int, int, int, int]]: ...
