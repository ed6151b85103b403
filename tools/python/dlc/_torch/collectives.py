"""Collectives over torch.distributed, if torchrun or the user's own script has formed the process group.

Uses a separate gloo group, and messages through the store, independently of the groups of the script. All methods except the constructor are called by
the world's thread.
"""

from __future__ import annotations

import ctypes
import time
from datetime import timedelta
from typing import Any

import torch
from torch import distributed

from dlc._torch.fx_graph import ELEMENTS

#: Timeout of collectives (30 days): a step may take arbitrarily long, and dlc's own watchdog terminates the world if a rank fails.
LONG = timedelta(days=30)
#: Polling interval in seconds while waiting for other processes to leave the world.
NAP = 0.02
TYPES = {name: dtype for dtype, name in ELEMENTS.items()}


def create_collectives() -> TorchCollectives:
    """Creates the carrier of collectives for the processes of torch.distributed, or else for those that torchrun has started."""
    if not distributed.is_available() or not distributed.is_gloo_available():
        raise RuntimeError(
            "torch.distributed: required: PyTorch with gloo, which dlc's collectives use; found: PyTorch without gloo; install another build, or start the processes with mpirun"
        )
    if distributed.is_initialized():
        return TorchCollectives(
            distributed.distributed_c10d._get_default_store(),
            distributed.get_rank(),
            distributed.get_world_size(),
        )
    store, rank, size = next(distributed.rendezvous("env://"))
    return TorchCollectives(store, rank, size)


class TorchCollectives:
    """Implements dlc's collectives with torch.distributed; called by the collective engine of dlc._runtime."""

    def __init__(self, store: distributed.Store, rank: int, size: int):
        self._store = distributed.PrefixStore("dlc", store)
        self._rank, self._size = rank, size
        self._group = distributed.ProcessGroupGloo(
            distributed.PrefixStore("dlc/group", store), rank, size, LONG
        )
        self.place = (rank, size, *self._among_machine())

    def _among_machine(self) -> tuple[int, int]:
        """Returns this process's rank among the processes of its machine, and the number of these processes."""
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            machine = file.read()
        self._store.set(f"machine/{self._rank}", machine)
        here = [rank for rank in range(self._size) if self._store.get(f"machine/{rank}") == machine]
        return here.index(self._rank), len(here)

    def all_reduce(self, address: int, count: int, element: str, greatest: bool) -> Any:
        options = distributed.AllreduceOptions()
        options.reduceOp = distributed.ReduceOp.MAX if greatest else distributed.ReduceOp.SUM
        return self._group.allreduce(
            [_tensor_from_address(address, count, TYPES[element])], options
        )

    def all_gather(self, start: int, to: int, bytes: int) -> Any:
        # The operand is copied, because the source and the destination of an all-gather may overlap.
        mine = _tensor_from_address(start, bytes, torch.uint8).clone()
        parts = list(_tensor_from_address(to, bytes * self._size, torch.uint8).split(bytes))
        return self._group.allgather([parts], [mine])

    def broadcast(self, address: int, bytes: int, root: int) -> Any:
        options = distributed.BroadcastOptions()
        options.rootRank, options.rootTensor = root, 0
        return self._group.broadcast([_tensor_from_address(address, bytes, torch.uint8)], options)

    def is_done(self, work: Any) -> bool:
        """Returns True if a collective is finished. Raises an error if it failed."""
        return bool(work.is_completed() and work.wait())

    def send(self, to: int, letter: bytes) -> None:
        self._store.queue_push(f"letters/{to}", b"%d " % self._rank + letter)

    def receive(self) -> tuple[int, bytes] | None:
        mine = f"letters/{self._rank}"
        if not self._store.queue_len(mine):
            return None
        sender, _, letter = self._store.queue_pop(mine).partition(b" ")
        return int(sender), letter

    def close(self) -> None:
        """Leaves the world: waits for the other processes, because this process may host the store that they use."""
        try:
            self._store.set(f"left/{self._rank}", b"1")
            while not self._store.check([f"left/{rank}" for rank in range(self._size)]):
                time.sleep(NAP)
        except RuntimeError:
            pass  # The process that hosted the store has already exited.


def _tensor_from_address(address: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """Returns a tensor that aliases the memory at this address."""
    return torch.frombuffer(
        (ctypes.c_char * (count * dtype.itemsize)).from_address(address), dtype=dtype
    )
