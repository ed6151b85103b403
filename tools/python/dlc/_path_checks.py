"""Raises file errors as Python exceptions before a path is passed to C++."""

from __future__ import annotations

import errno
import os


def require_file(path: str, what: str) -> None:
    """Checks that the path is a readable file. Raises an OSError if it is not."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, f"is a folder; required: {what}", path)
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}; required: {what}", path) from None


def require_writable_path(path: str) -> None:
    """Checks that a file can be written to this path. Raises an OSError if not."""
    if os.path.isdir(path):
        raise IsADirectoryError(
            errno.EISDIR, "is a folder; required: the name of a file to write", path
        )
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist; create it first", path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            errno.EACCES, "its folder is not writable; choose another folder", path
        )
