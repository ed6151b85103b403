"""The command `dlc` of the wheel: runs the executable in the package."""

import os
import sys

from dlc import _load


def main() -> None:
    """Replaces this process by the executable."""
    folder = os.path.dirname(__file__)
    if _load.gcc_folder:
        os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(
            filter(None, [os.environ.get("LD_LIBRARY_PATH"), _load.gcc_folder])
        )
    os.execv(os.path.join(folder, "bin", "dlc"), ["dlc", *sys.argv[1:]])
