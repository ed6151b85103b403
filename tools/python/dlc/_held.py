"""A program's states in PyTorch's memory: what a session reads and writes is the tensor itself, wherever it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from dlc import _runtime
from dlc._graph import ELEMENTS


class Stale(ValueError):
    """A tensor has another type or shape than the program was made for."""


class Held:
    """One state of a session, and the tensor that it is."""

    def __init__(self, session: _runtime.Session, index: int, find: Callable[[], torch.Tensor], changes: bool):
        self.name, self._element, self._shape, _ = session.states[index]
        self._session, self._index, self._find, self.changes = session, index, find, changes
        #: PyTorch's, and where the program works: the same memory, or a copy where PyTorch's is laid out otherwise.
        self.tensor: torch.Tensor | None = None
        self._inner: torch.Tensor | None = None
        #: Where the tensor's elements lay, and how.
        self._seen: tuple[Any, ...] = ()

    def before(self) -> None:
        """Before a run: finds the tensor as it is now."""
        tensor = self._find()
        if tensor is not self.tensor or _place(tensor) != self._seen:
            self._bind(tensor)
        if self._inner is not None:
            self._inner.copy_(tensor.detach())

    def after(self) -> None:
        """After a run."""
        if self._inner is not None and self.changes and self.tensor is not None:
            self.tensor.detach().copy_(self._inner)

    def take(self) -> None:
        """After somebody else has given the state another value."""
        if self.tensor is None:
            return
        if self._inner is not None:
            self.tensor.detach().copy_(self._inner)
        torch.autograd.graph.increment_version(self.tensor)

    def _bind(self, tensor: torch.Tensor) -> None:
        if tensor.device.type != "cpu":
            raise ValueError(f"'{self.name}' is on {tensor.device}; required: the host's memory; move the module and begin with a new optimizer, as in module.cpu()")
        if ELEMENTS.get(tensor.dtype) != self._element or tuple(tensor.shape) != self._shape:
            raise Stale(f"'{self.name}' is {tensor.dtype} of the shape {list(tensor.shape)}; required: {self._element} of the shape {list(self._shape)}; give it what it had, or call the step with a new optimizer")
        if _reach(tensor) > tensor.untyped_storage().nbytes():
            raise ValueError(f"'{self.name}': required: a tensor whose elements are in memory; found: one whose storage was given up")
        plain = tensor.is_contiguous() and tensor.data_ptr() % tensor.element_size() == 0
        inner = None if plain else torch.empty(tensor.shape, dtype=tensor.dtype)
        place = tensor if inner is None else inner
        if tensor.numel():
            self._session.bind_state(self._index, place.data_ptr(), tensor.numel() * tensor.element_size())
        self.tensor, self._inner, self._seen = tensor, inner, _place(tensor)


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.data_ptr(), tensor.stride(), tensor.shape, tensor.dtype


def _reach(tensor: torch.Tensor) -> int:
    """The bytes of its storage up to the end of its last element."""
    if not tensor.numel():
        return 0
    return (tensor.storage_offset() + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride())) + 1) * tensor.element_size()


def own(session: _runtime.Session, index: int) -> torch.Tensor:
    """A tensor that begins as the session's state does."""
    _, element, shape, _ = session.states[index]
    dtype = next(each for each, name in ELEMENTS.items() if name == element)
    data: Any = bytearray(session.state_bytes(index))
    return torch.frombuffer(data, dtype=dtype).reshape(shape).clone()
