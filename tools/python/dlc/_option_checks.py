"""Checks user options before they are passed to C++."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

#: Maximum number of threads that is accepted; larger numbers are assumed to be a mistake.
MOST_THREADS = 4096


def require_number(name: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name}: required: a number from {least} to {most}; found: {value!r}")


def require_threads(threads: Any) -> None:
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise ValueError(
            f"threads: required: a number of at most {MOST_THREADS}, 0 for all; found: {threads!r}"
        )


def require_finite_at_least(name: str, value: Any, least: float) -> None:
    """Checks that an option is a finite number of at least `least`."""
    if not isinstance(value, (int, float)) or not least <= value or not math.isfinite(value):
        raise ValueError(f"{name}: required: a number of at least {least:g}; found: {value!r}")


def require_flags(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: required: True or False; found: {value!r}")


def require_texts(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: required: a text; found: {value!r}")


def check_input_shapes(shapes: Any) -> dict[str, tuple[int, ...]]:
    """Checks input shapes by name, and returns them as tuples."""
    if not isinstance(shapes, Mapping):
        raise TypeError(
            f"shapes: required: shapes by the names of inputs, as in {{'x': (1, 3, 224, 224)}}; found: {shapes!r}"
        )
    found = {}
    for name, shape in shapes.items():
        if not isinstance(name, str):
            raise TypeError(f"shapes: required: names of inputs; found: {name!r}")
        try:
            found[name] = tuple(
                map(operator.index, None if isinstance(shape, (str, bytes)) else shape)
            )  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(
                f"shapes['{name}']: required: numbers, as in (1, 3, 224, 224); found: {shape!r}"
            ) from None
        if not all(0 <= size < 1 << 63 for size in found[name]):
            raise ValueError(
                f"shapes['{name}']: required: sizes of 0 or more; found: {found[name]}"
            )
    return found
