"""What makes programs of models: the module of C++ that brings LLVM along, loaded by the first dlc.compile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union

class Compiler:
    """A model file with what was made of it."""

    def __init__(self, path: str, device: str, threads: int, precision: str, accuracy: str) -> None: ...
    @property
    def inputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    @property
    def outputs(self) -> list[tuple[str, str, Optional[list[Union[int, str, None]]]]]: ...
    def session(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, tuple[str, bytes]], show: Optional[Callable[[str, int, int], object]]
    ) -> Any:
        """A capsule for Session.adopt; `values` are types and bytes of inputs that may decide about shapes, `show` hears what is done."""
