"""Progress bars."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Union

#: Callback that receives the current activity and the number of finished and total items; False disables progress.
Progress = Union[Callable[[str, int, int], object], bool]

PATIENCE, WIDTH = 0.5, 32


@contextlib.contextmanager
def progress_callback(
    progress: Progress | None,
) -> Iterator[Callable[[str, int, int], object] | None]:
    """Context that returns the progress callback, or None if there is no output to show progress on."""
    if callable(progress):
        yield progress
    elif progress is False or not (
        sys.stderr and sys.stderr.isatty() or "ipykernel" in sys.modules
    ):
        yield None
    else:
        bar = _ProgressBar()
        try:
            yield bar.show
        finally:
            bar.wipe()


class _ProgressBar:
    """A progress bar on one line of stderr, which is erased at the end."""

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
        except (OSError, ValueError):  # stderr is closed, or cannot encode the bar
            pass
