"""dlc.world: the processes that run one program together."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import NamedTuple

from dlc import _runtime

#: torchrun says so to each process that it starts.
TORCHRUN = "TORCHELASTIC_RUN_ID"


class World(NamedTuple):
    """A process's place among those that run one program: its rank and their number, then the same among those of its machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


ALONE = World(0, 1, 0, 1)
_formed: World | None = None
_process = 0


def world() -> World:
    """The processes that run this program together: those of torch.distributed where it is initialised, else those that torchrun, mpirun or srun
    started, else this one alone.

    It is formed at the first call, by all processes together (dlc.train_step with data_parallel=True makes it): each binds itself to its share of
    the machine's processors, unless the launcher has bound it. From then on an exception that nobody catches ends all processes.

    Raises RuntimeError where no world can be formed: the message says what is missing.
    """
    global _formed, _process
    if _formed is None:
        _formed, _process = _form(), os.getpid()
        if _formed.size > 1:
            sys.excepthook = _ending(sys.excepthook)
            atexit.register(_leave)
    if _process != os.getpid():
        raise RuntimeError("the world is that of the process which this one was forked from; required: a process that a launcher has started; train there")
    size = _torch_size()
    if size not in (1, _formed.size):
        raise RuntimeError(f"torch.distributed has {size} processes, and dlc's world was formed of {_formed.size} before that; required: torch.distributed.init_process_group before dlc.world and dlc.train_step")
    return _formed


def _form() -> World:
    if _torch_size() > 1 or TORCHRUN in os.environ and os.environ.get("WORLD_SIZE", "1") != "1":
        from dlc import _torch_world

        carrier = _torch_world.carrier()
        return World(*_runtime.form_world(carrier, carrier.place))
    return World(*_runtime.world())


def _torch_size() -> int:
    """How many processes torch.distributed has, without loading it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1
    return int(distributed.get_world_size())


def _ending(before):  # type: ignore[no-untyped-def]
    """An exception hook that ends the other processes, too: they would wait for this one."""

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        before(kind, value, trace)
        if _process == os.getpid():
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            _runtime.abort_world(f"{kind.__name__}: {value}")

    return hook


def _leave() -> None:
    if _process == os.getpid():
        _runtime.leave_world()
