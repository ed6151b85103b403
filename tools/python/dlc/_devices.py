"""What there is to run on."""

from __future__ import annotations

from typing import NamedTuple

from dlc import _runtime


class Device(NamedTuple):
    """A device: `name` is what `dlc.compile(.., device=name)` takes; memory is in bytes. `cores` are a GPU's multiprocessors; `capability` is a GPU's
    compute capability, (0, 0) for a processor."""

    name: str
    description: str
    total_bytes: int
    free_bytes: int
    cores: int
    capability: tuple[int, int]


def devices() -> list[Device]:
    """The devices of this machine: the processor, virtual devices on it, GPUs, those of plugins."""
    return [
        Device(name, description, total, free, cores, (major, minor)) for name, description, total, free, cores, major, minor in _runtime.devices()
    ]
