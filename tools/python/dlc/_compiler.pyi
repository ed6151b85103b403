"""Type stubs of the C++ module that compiles models. It contains LLVM and is loaded by the first dlc.compile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union, overload

def graph_operators() -> list[str]:
    """Returns the ATen overloads that dlc supports, such as add.Tensor."""

def examine_graph(graph: str) -> list[tuple[str, str]]:
    """Returns the nodes of a graph's text (frontend/aten/README.md) that cannot be imported, with the reason for each."""

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
) -> tuple[
    list[tuple[str, list[int], str, Optional[float]]],
    list[tuple[str, float, float]],
    int,
    int,
    int,
    int,
]:
    """Returns (layers, outputs, samples, samples left, bytes before, bytes after). `data` has names, types, shapes and addresses. Layers are (name, shape,
    reason why it remains in f32, SNR in dB), outputs are (name, SNR in dB, percentage of unchanged argmax)."""

class Compiler:
    """A model and its compiled sessions."""

    @overload
    def __init__(
        self, path: str, device: str, threads: int, precision: str, accuracy: str, nchwc_block: int
    ) -> None: ...
    @overload
    def __init__(
        self,
        graph: str,
        constants: dict[str, tuple[int, int, Any]],
        device: str,
        threads: int,
        precision: str,
        accuracy: str,
    ) -> None:
        """Takes a graph's text; constants are (address, bytes, owner) by name, and are not copied."""
    @overload
    def __init__(
        self,
        graph: str,
        constants: dict[str, tuple[int, int, Any]],
        step: str,
        device: str,
        threads: int,
        precision: str,
        accuracy: str,
    ) -> None:
        """Takes the training step of a graph; `step` is the JSON of tools/compiler/GraphSteps.h."""
    @property
    def inputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    @property
    def outputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    @property
    def defaults(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    def session(
        self,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, tuple[str, bytes]],
        show: Optional[Callable[[str, int, int], object]],
    ) -> Any:
        """Returns a capsule for Session.adopt. `values` has types and bytes of inputs whose values may determine shapes; `show` is called with the
        progress."""
