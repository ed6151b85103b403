"""What torch.compile's graphs became: dlc.report()."""

from __future__ import annotations

import logging
from collections import Counter
from typing import NamedTuple

log = logging.getLogger("dlc")


class Eager(NamedTuple):
    """Operators that PyTorch runs: the overload, how many of it, and why."""

    overload: str
    count: int
    reason: str


class Graph:
    """A graph that torch.compile handed over.

    kind: `inference`, `forward` or `backward`. operators: how many in all. pieces: of how many operators each program of dlc's is made. eager: what
    PyTorch runs. copied: results that are copied into the layout that PyTorch expects. frozen: parameters that are constants of the programs. notes: what
    else was decided, as for which sizes it was made. flops: floating point operations in all; eager_flops: those of them that PyTorch runs. Products,
    convolutions and attention count as torch.utils.flop_counter says, all else one for an element of the result, views none.
    """

    def __init__(self, name: str, kind: str):
        self.name, self.kind = name, kind
        self.operators, self.copied, self.frozen = 0, 0, 0
        self.flops, self.eager_flops = 0, 0
        self.pieces: list[int] = []
        self.eager: list[Eager] = []
        self.notes: list[str] = []

    def leave(self, refused: list[tuple[str, str]]) -> None:
        """(overload, reason) of each node that stays in PyTorch."""
        self.eager += [Eager(overload, count, reason) for (overload, reason), count in Counter(refused).items()]

    @property
    def eager_share(self) -> float:
        """The part of the floating point operations that PyTorch runs, of 1."""
        return self.eager_flops / self.flops if self.flops else float(bool(self.eager) and not self.pieces)

    def line(self) -> str:
        eager = sum(each.count for each in self.eager)
        text = f"{self.name} ({self.kind}): {self.operators} operators, {self.operators - eager} in {len(self.pieces)} programs of dlc, {eager} in PyTorch"
        text += f" with {100 * self.eager_share:.3g} % of the floating point operations" if eager else ""
        text += f"; {self.frozen} parameters are constants" if self.frozen else ""
        return text + (f"; {self.copied} results copied" if self.copied else "")

    def __str__(self) -> str:
        lines = [self.line()] + [f"  {note}" for note in self.notes]
        return "\n".join(lines + [f"  in PyTorch: {each.count} x {each.overload}: {each.reason}" for each in self.eager])

    def tell(self) -> None:
        """The log line; louder where something stays in PyTorch."""
        log.log(logging.WARNING if self.eager else logging.INFO, "%s", self)


class Report(list):
    """The graphs in order; printed, a line for each and one for each overload that PyTorch runs."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "torch.compile has handed no graph to dlc"

    __repr__ = __str__


_graphs: list[Graph] = []


def begin(kind: str) -> Graph:
    graph = Graph(f"graph {len(_graphs)}", kind)
    _graphs.append(graph)
    return graph


def report(clear: bool = False) -> Report:
    """What torch.compile(.., backend="dlc") made of each graph since the start, or since it was last cleared: what ran where, what is copied, why an
    operator stays in PyTorch."""
    found = Report(_graphs)
    if clear:
        _graphs.clear()
    return found
