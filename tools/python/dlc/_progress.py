"""A bar for what takes long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Union

#: Called with what is done, and how many of how many; False for nothing.
Progress = Union[Callable[[str, int, int], object], bool]

PATIENCE, WIDTH = 0.5, 32


@contextlib.contextmanager
def shown(progress: Progress | None) -> Iterator[Callable[[str, int, int], object] | None]:
    """What is to be called meanwhile; None where nobody looks."""
    if callable(progress):
        yield progress
    elif progress is False or not (sys.stderr and sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield None
    else:
        bar = _Bar()
        try:
            yield bar.show
        finally:
            bar.wipe()


class _Bar:
    """One line of stderr, which goes when all is done."""

    def __init__(self) -> None:
        self._begin, self._width = time.monotonic(), 0

    def show(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._begin < PATIENCE:
            return
        filled = WIDTH * done // max(total, 1)
        line = f"{what:16.16} {'━' * filled}{'╌' * (WIDTH - filled)} {done}/{total}"
        self._draw(line.ljust(self._width))
        self._width = len(line)

    def wipe(self) -> None:
        if self._width:
            self._draw(" " * self._width)
            self._draw("")

    @staticmethod
    def _draw(line: str) -> None:
        try:
            sys.stderr.write("\r" + line)
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads it any more, or cannot show it
            pass
