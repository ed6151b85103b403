"""dlc.devices: the devices of this machine."""

from __future__ import annotations

from typing import NamedTuple

from dlc import _runtime


class Device(NamedTuple):
    """A device. `name` is the argument of `dlc.compile(.., device=name)`; memory is in bytes. `cores` is the number of CPU cores or GPU multiprocessors;
    `capability` is a GPU's compute capability, (0, 0) for a CPU."""

    name: str
    description: str
    total_bytes: int
    free_bytes: int
    cores: int
    capability: tuple[int, int]


def devices() -> list[Device]:
    """Returns the devices of this machine: the CPU, virtual devices on it, GPUs, and devices of plugins."""
    return [
        Device(name, description, total, free, cores, (major, minor))
        for name, description, total, free, cores, major, minor in _runtime.devices()
    ]
