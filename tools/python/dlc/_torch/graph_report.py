"""dlc.report(): describes how the graphs of torch.compile were split."""

from __future__ import annotations

import logging
from collections import Counter
from typing import NamedTuple

log = logging.getLogger("dlc")

#: Reason why operators that draw random numbers remain in PyTorch.
RANDOM = "PyTorch generates random numbers"


class Eager(NamedTuple):
    """Operators that remain in PyTorch: the operator overload, the number of its nodes, and the reason."""

    overload: str
    count: int
    reason: str


class Graph:
    """A graph that torch.compile passed to dlc.

    kind: `inference`, `forward` or `backward`. operators: total number. pieces: number of operators in each program of dlc. eager: operators that
    remain in PyTorch. copied: number of results copied to the layout that PyTorch expects. frozen: number of parameters that are constants of the programs.
    notes: other decisions, such as the specialized sizes. flops: total floating-point operations; eager_flops: those in PyTorch. Matmuls,
    convolutions and attention are counted as in torch.utils.flop_counter, other operators as one per result element, views as none.
    """

    def __init__(self, name: str, kind: str):
        self.name, self.kind = name, kind
        self.operators, self.copied, self.frozen = 0, 0, 0
        self.flops, self.eager_flops = 0, 0
        self.pieces: list[int] = []
        self.eager: list[Eager] = []
        self.notes: list[str] = []
        #: Overloads and reasons that a warning was logged for.
        self.warned: set[tuple[str, str]] = set()

    def leave(self, refused: list[tuple[str, str]]) -> None:
        """Adds the (overload, reason) of each node that remains in PyTorch to the report."""
        counts = Counter({(each.overload, each.reason): each.count for each in self.eager})
        counts.update(refused)
        self.eager = [
            Eager(overload, count, reason) for (overload, reason), count in counts.items()
        ]

    @property
    def eager_share(self) -> float:
        """Returns the fraction of the floating-point operations that PyTorch runs, from 0 to 1."""
        return (
            self.eager_flops / self.flops
            if self.flops
            else float(bool(self.eager) and not self.pieces)
        )

    def line(self) -> str:
        eager = sum(each.count for each in self.eager)
        text = f"{self.name} ({self.kind}): {self.operators} operators, {self.operators - eager} in {len(self.pieces)} programs of dlc, {eager} in PyTorch"
        text += (
            f" with {100 * self.eager_share:.3g} % of the floating point operations"
            if eager
            else ""
        )
        text += f"; {self.frozen} parameters are constants" if self.frozen else ""
        return text + (f"; {self.copied} results copied" if self.copied else "")

    def __str__(self) -> str:
        lines = [self.line()] + [f"  {note}" for note in self.notes]
        return "\n".join(
            lines
            + [
                f"  in PyTorch: {each.count} x {each.overload}: {each.reason}"
                for each in self.eager
            ]
        )

    def tell(self) -> None:
        """Logs the report, as a warning if other operators than those of earlier warnings remain in PyTorch. Random numbers are always PyTorch's, without a warning."""
        found = {
            (each.overload, each.reason) for each in self.eager if each.reason != RANDOM
        } - self.warned
        log.log(logging.WARNING if found else logging.INFO, "%s", self)
        self.warned |= found


class Report(list):
    """List of the split graphs in order. Prints one line per graph, and one for each operator overload that remains in PyTorch."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "torch.compile has passed no graph to dlc"

    __repr__ = __str__


_graphs: list[Graph] = []


def begin_graph_report(kind: str) -> Graph:
    graph = Graph(f"graph {len(_graphs)}", kind)
    _graphs.append(graph)
    return graph


def report(clear: bool = False) -> Report:
    """Returns how torch.compile(.., backend="dlc") has split each graph since the start or since the last clear.
    The report says what runs where, which results are copied, and why operators remain in PyTorch."""
    found = Report(_graphs)
    if clear:
        _graphs.clear()
    return found
