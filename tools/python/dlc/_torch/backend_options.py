"""Options of torch.compile for the backend dlc."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from dlc._option_checks import require_threads
from dlc._torch.device_kinds import program_device

PRECISIONS = ("none", "bf16", "f16")
ACCURACIES = ("strict", "default", "fast")


class Options:
    """Values of torch.compile's argument `options` for the backend dlc."""

    def __init__(
        self,
        strict: bool = False,
        freeze: bool = True,
        threads: int = 0,
        precision: str = "none",
        accuracy: str = "default",
    ):
        require_threads(threads)
        for name, value, known in (
            ("strict", strict, (False, True)),
            ("freeze", freeze, (False, True)),
            ("precision", precision, PRECISIONS),
            ("accuracy", accuracy, ACCURACIES),
        ):
            if value not in known:
                raise ValueError(
                    f"options['{name}']: required: one of {', '.join(map(str, known))}; found: {value!r}"
                )
        self.strict, self.freeze = strict, freeze
        self._others = (threads or torch.get_num_threads(), precision, accuracy)

    def for_device(self, device: torch.device) -> tuple[str, int, str, str]:
        """Returns the compiler's options for a program on the device."""
        return program_device(device), *self._others

    @classmethod
    def of(cls, given: dict[str, Any] | None) -> Options:
        known = tuple(inspect.signature(cls).parameters)
        if not isinstance(given, (dict, type(None))) or not set(given or ()) <= set(known):
            raise ValueError(
                f"options: required: {', '.join(known)}; found: {', '.join(map(str, given)) if isinstance(given, dict) else repr(given)}"
            )
        return cls(**(given or {}))
