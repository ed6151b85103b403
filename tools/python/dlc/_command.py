"""The command `dlc` of the wheel: runs the executable in the package."""

import os
import sys

from dlc import _gcc_libraries


def main() -> None:
    """Replaces this process by the executable."""
    folder = os.path.dirname(__file__)
    if _gcc_libraries.gcc_folder:
        os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(
            filter(None, [os.environ.get("LD_LIBRARY_PATH"), _gcc_libraries.gcc_folder])
        )
    os.execv(os.path.join(folder, "bin", "dlc"), ["dlc", *sys.argv[1:]])
