"""Loads the GCC runtime libraries of the package if the machine has none that are recent enough."""

import ctypes
import os

#: Folder of the GCC runtime libraries of the package, if they are used.
gcc_folder = ""

try:
    from dlc import _runtime  # noqa: F401
except ImportError as error:
    folder = os.path.join(os.path.dirname(__file__), "lib", "gcc")
    if not os.path.isdir(folder) or not any(
        name in str(error) for name in ("libstdc++", "libgcc_s")
    ):
        raise
    for library in ("libgcc_s.so.1", "libstdc++.so.6"):
        ctypes.CDLL(os.path.join(folder, library), ctypes.RTLD_GLOBAL)
    gcc_folder = folder
