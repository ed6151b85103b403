"""What makes programs of models: the module of C++ that brings LLVM along, loaded by the first dlc.compile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union, overload

def graph_operators() -> list[str]:
    """The overloads of ATen that dlc has: add.Tensor."""

def examine_graph(graph: str) -> list[tuple[str, str]]:
    """The nodes of a graph's text (frontend/aten/README.md) that cannot be imported, and why."""

def quantize(
    model: str,
    data: Optional[Sequence[tuple[str, str, Sequence[int], int]]],
    output: str,
    weights: str,
    block: int,
    ranges: str,
    percentile: float,
    keep: Sequence[str],
    least_snr: float,
    threads: int,
    show: Optional[Callable[[str, int, int], object]],
) -> tuple[list[tuple[str, list[int], str, Optional[float]]], list[tuple[str, float, float]], int, int, int, int]:
    """(layers, outputs, samples, samples left, bytes before, bytes after); `data` are names, types, shapes and addresses, layers are (name, shape, why it
    stays in f32, dB), outputs (name, dB, percent)."""

class Compiler:
    """A model with what was made of it."""

    @overload
    def __init__(self, path: str, device: str, threads: int, precision: str, accuracy: str) -> None: ...
    @overload
    def __init__(
        self, graph: str, constants: dict[str, tuple[int, int, Any]], device: str, threads: int, precision: str, accuracy: str
    ) -> None:
        """A graph's text; constants are (address, bytes, owner) by name, and are not copied."""
    @overload
    def __init__(
        self, graph: str, constants: dict[str, tuple[int, int, Any]], step: str, device: str, threads: int, precision: str, accuracy: str
    ) -> None:
        """The training step of a graph; `step` is the JSON of tools/compiler/GraphSteps.h."""
    @property
    def inputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    @property
    def outputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    @property
    def defaults(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    def session(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, tuple[str, bytes]], show: Optional[Callable[[str, int, int], object]]
    ) -> Any:
        """A capsule for Session.adopt; `values` are types and bytes of inputs that may decide about shapes, `show` hears what is done."""
