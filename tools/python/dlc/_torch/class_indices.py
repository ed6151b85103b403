"""Checks that class indices are in range. A program selects a class by comparison, so the loss of an index out of range would be 0; PyTorch raises IndexError."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx

from dlc._torch.device_kinds import is_host
from dlc._torch.fx_graph import has_storage

_LOSSES = (torch.ops.aten.nll_loss_forward.default, torch.ops.aten.nll_loss2d_forward.default)
#: Operators that copy a tensor of class indices without changing its elements, in addition to views.
_COPIES = (
    torch.ops.aten.clone.default,
    torch.ops.aten._to_copy.default,
    torch.ops.aten._unsafe_view.default,
)


class ClassIndexCheck(NamedTuple):
    """Check of an input tensor with class indices for a negative log-likelihood loss (cross_entropy, nll_loss)."""

    #: Index of the tensor among the tensors of a call.
    at: int
    #: Views and copies of the tensor that the loss reads, in the order of execution: operator, arguments after the first, keyword arguments.
    views: list[tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]]
    classes: int
    ignore_index: int

    def run(self, given: torch.Tensor) -> None:
        """Raises IndexError if the loss reads an element that is neither in [0, classes) nor equal to `ignore_index`."""
        for view, args, kwargs in self.views:
            given = view(given, *args, **kwargs)
        if self._find_invalid(given) is None:
            return
        # Ignored elements are excluded only now, in another pass, because most targets have none.
        found = self._find_invalid(torch.where(given == self.ignore_index, 0, given))
        if found is not None:
            raise IndexError(
                f"Target {found} is out of bounds; required: class indices from 0 to {self.classes - 1}, or ignore_index ({self.ignore_index}); correct the target, or the number of classes of the module"
            )

    def _find_invalid(self, given: torch.Tensor) -> int | None:
        """Returns an element that is not in [0, classes), or None if there is none."""
        if not given.numel():
            return None
        least, greatest = map(int, torch.aminmax(given))
        return least if least < 0 else greatest if greatest >= self.classes else None


def find_class_index_checks(graph: fx.Graph, inputs: Mapping[str, int]) -> list[ClassIndexCheck]:
    """Returns a check for each loss whose class indices are an input of the graph, or a view or copy of an input.
    `inputs` maps the name of an input's placeholder to the index of its tensor among the tensors of a call."""
    checks = []
    for loss in graph.nodes:
        if loss.target not in _LOSSES:
            continue
        x, target, _, _, ignore_index = loss.args
        views = []
        while _preserves_elements(target):
            views.insert(0, (target.target, target.args[1:], target.kwargs))
            target = target.args[0]
        if target.name in inputs:
            scores = x.meta["val"]
            checks.append(
                ClassIndexCheck(
                    inputs[target.name],
                    views,
                    scores.shape[1 if scores.dim() > 1 else 0],
                    ignore_index,
                )
            )
    return checks


def _preserves_elements(node: fx.Node) -> bool:
    """Returns True if the node is a view or copy of its first operand, which has integer elements. Its other arguments must not be nodes."""
    if (
        not isinstance(node.target, torch._ops.OpOverload)
        or node.all_input_nodes != [node.args[0]]
        or node.all_input_nodes[0].meta["val"].is_floating_point()
    ):
        return False
    results = node.target._schema.returns
    return (
        node.target in _COPIES
        or len(results) == 1
        and results[0].alias_info is not None
        and not results[0].alias_info.is_write
    )


def check_class_indices(
    checks: Sequence[ClassIndexCheck], tensors: Sequence[torch.Tensor], parts: int = 1
) -> None:
    """Runs the checks on the tensors of a call. The graph of the checks reads one of `parts` equal parts of each tensor.
    A tensor without storage is not read; the run of the program rejects it. A tensor on a GPU is not read, because the host would have to wait for it."""
    for check in checks:
        given = tensors[check.at]
        if is_host(given.device) and has_storage(given):
            for part in given.chunk(parts) if parts > 1 else (given,):
                check.run(part)
