"""dlc.world: the processes that run one program together."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import NamedTuple

from dlc import _runtime

#: Environment variable that torchrun sets in each process that it starts.
TORCHRUN = "TORCHELASTIC_RUN_ID"


class World(NamedTuple):
    """Position of a process in its world: rank and size of the world, then rank and size within the machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


ALONE = World(0, 1, 0, 1)
_formed: World | None = None
_process = 0


def world() -> World:
    """Returns the world of this process: the processes that run one program together.

    These are the processes of torch.distributed if it is initialized, else those that torchrun, mpirun or srun started, else only this process.

    The world is formed at the first call, which all processes make together (dlc.train_step with data_parallel=True calls this function). Each process binds
    itself to its share of the machine's CPUs, unless the launcher has bound it. From then on an uncaught exception terminates all processes.

    Raises RuntimeError if no world can be formed, with the reason in the message.
    """
    global _formed, _process
    if _formed is None:
        _formed, _process = _form_world(), os.getpid()
        if _formed.size > 1:
            sys.excepthook = _terminate_world_hook(sys.excepthook)
            atexit.register(_leave_world)
    if _process != os.getpid():
        raise RuntimeError(
            "this process was forked from a process that belongs to dlc's world; required: a process started by a launcher; train in the parent process, or start this process with a launcher"
        )
    size = _torch_world_size()
    if size not in (1, _formed.size):
        raise RuntimeError(
            f"torch.distributed has {size} processes, but dlc's world was created before with {_formed.size}; call torch.distributed.init_process_group before dlc.world and dlc.train_step"
        )
    return _formed


def _form_world() -> World:
    if (
        _torch_world_size() > 1
        or TORCHRUN in os.environ
        and os.environ.get("WORLD_SIZE", "1") != "1"
    ):
        from dlc._torch import collectives

        carrier = collectives.create_collectives()
        return World(*_runtime.form_world(carrier, carrier.place))
    return World(*_runtime.world())


def _torch_world_size() -> int:
    """Returns the number of processes of torch.distributed, without importing the module."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1
    return int(distributed.get_world_size())


def _terminate_world_hook(before):  # type: ignore[no-untyped-def]
    """Returns an exception hook that also terminates the other processes of the world, which would wait for this one."""

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        before(kind, value, trace)
        if _process == os.getpid():
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            _runtime.abort_world(f"{kind.__name__}: {value}")

    return hook


def _leave_world() -> None:
    if _process == os.getpid():
        _runtime.leave_world()
