"""Binds the states of a program to PyTorch's memory: if possible, the session reads and writes the tensor itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from dlc import _runtime
from dlc._torch import device_kinds
from dlc._torch.fx_graph import ELEMENTS, has_storage


class StateMismatchError(ValueError):
    """Raised if the type or shape of a state's tensor differs from that for which the program was compiled."""


class BoundState:
    """One state of a session, and the PyTorch tensor that it is bound to."""

    def __init__(
        self,
        session: _runtime.Session,
        index: int,
        find: Callable[[], torch.Tensor],
        changes: bool,
        device: torch.device,
    ):
        self.name, self._element, self._shape, _ = session.states[index]
        self._session, self._index, self._find, self.changes = session, index, find, changes
        self._device = device
        #: PyTorch's tensor, and the program's contiguous copy of it. The copy is None if the program uses the tensor's memory itself.
        self.tensor: torch.Tensor | None = None
        self._inner: torch.Tensor | None = None
        #: Address and layout of the tensor when it was bound last.
        self._seen: tuple[Any, ...] = ()

    def before(self) -> None:
        """Called before a run: binds the tensor again if it has changed, and copies it to the program's buffer if there is a copy."""
        tensor = self._find()
        if tensor is not self.tensor or _memory_identity(tensor) != self._seen:
            self._bind(tensor)
        if self._inner is not None:
            self._inner.copy_(tensor.detach())

    def after(self) -> None:
        """Called after a run: copies the program's buffer back to the tensor if there is a copy."""
        if self._inner is not None and self.changes and self.tensor is not None:
            self.tensor.detach().copy_(self._inner)

    def take(self) -> None:
        """Called after the session's state has been assigned a new value: copies the value to the tensor."""
        if self.tensor is None:
            return
        if self._inner is not None:
            self.tensor.detach().copy_(self._inner)
        torch.autograd.graph.increment_version(self.tensor)

    def _bind(self, tensor: torch.Tensor) -> None:
        if tensor.device != self._device:
            raise ValueError(
                f"'{self.name}' is on {tensor.device}; required: {device_kinds.describe_device(self._device)}; "
                f"move the module, as in {device_kinds.move_hint('module', self._device)}, and create a new optimizer"
            )
        if ELEMENTS.get(tensor.dtype) != self._element or tuple(tensor.shape) != self._shape:
            raise StateMismatchError(
                f"'{self.name}' is {tensor.dtype} of the shape {list(tensor.shape)}; required: {self._element} of the shape {list(self._shape)}; "
                "restore its type and shape, or create the step with a new optimizer"
            )
        if not has_storage(tensor):
            raise ValueError(
                f"'{self.name}': required: a tensor whose elements are in memory; found: a tensor whose storage was freed"
            )
        # GPU kernels use 16-byte vector loads.
        alignment = tensor.element_size() if device_kinds.is_host(self._device) else 16
        plain = tensor.is_contiguous() and tensor.data_ptr() % alignment == 0
        inner = (
            None if plain else torch.empty(tensor.shape, dtype=tensor.dtype, device=self._device)
        )
        place = tensor if inner is None else inner
        if tensor.numel():
            self._session.bind_state(
                self._index,
                place.data_ptr(),
                tensor.numel() * tensor.element_size(),
                device_kinds.program_device(self._device),
            )
        self.tensor, self._inner, self._seen = tensor, inner, _memory_identity(tensor)


def _memory_identity(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.data_ptr(), tensor.stride(), tensor.shape, tensor.dtype


def initial_state(session: _runtime.Session, index: int, device: torch.device) -> torch.Tensor:
    """Returns a new tensor on the device with the initial value of a state of the session."""
    _, element, shape, _ = session.states[index]
    dtype = next(each for each, name in ELEMENTS.items() if name == element)
    data: Any = bytearray(session.state_bytes(index))
    return torch.frombuffer(data, dtype=dtype).reshape(shape).clone().to(device)
