"""Random numbers are drawn by PyTorch's generators in the order of the graph, and operators that draw them do not depend on programs of dlc."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

aten = torch.ops.aten

#: Operators that draw random numbers, and read only shape, type and strides of their first argument.
SHAPED = {
    aten.bernoulli.p,
    aten.rand_like.default,
    aten.randn_like.default,
    aten.randint_like.default,
    aten.randint_like.low_dtype,
}
#: Metadata key of nodes that allocate memory for random numbers.
MEMORY = "dlc_memory"


def is_random(node: fx.Node) -> bool:
    """Returns True if a node draws random numbers. Attention draws them if its dropout probability is not 0."""
    target = node.target
    if (
        not isinstance(target, torch._ops.OpOverload)
        or torch.Tag.nondeterministic_seeded not in target.tags
    ):
        return False
    share = next(
        (i for i, argument in enumerate(target._schema.arguments) if argument.name == "dropout_p"),
        None,
    )
    return (
        share is None
        or (node.args[share] if share < len(node.args) else node.kwargs.get("dropout_p", 0.0)) != 0
    )


def dropout(input: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Implements aten.native_dropout with the same random numbers as eager PyTorch."""
    if train is False or p == 0:
        return input.clone(), torch.ones_like(input, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(input), torch.zeros_like(input, dtype=torch.bool)
    kept = _bernoulli_in_memory_order(torch.empty_like(input), 1 - p)
    return input * kept.div(1 - p), kept.to(torch.bool)


def _bernoulli_in_memory_order(memory: torch.Tensor, p: float) -> torch.Tensor:
    """Returns the same random numbers as bernoulli_ on `memory`, which it fills in the order of the strides."""
    if memory.is_contiguous():
        return aten.bernoulli.p(memory, p)
    order = sorted(range(memory.dim()), key=lambda d: -memory.stride(d))
    kept = aten.bernoulli.p(memory.new_empty([memory.size(d) for d in order]), p)
    return kept.permute([order.index(d) for d in range(memory.dim())])


def detach_shape_operands(graph: fx.Graph) -> None:
    """Replaces operands of which only the shape is read by newly allocated memory, so that random operators do not depend on the values of other nodes."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in SHAPED:
            continue
        like = node.args[0]
        value: Any = like.meta.get("val")
        if not isinstance(value, torch.Tensor) or not all(
            type(size) is int for size in value.shape
        ):
            continue
        with graph.inserting_before(node):
            memory = graph.call_function(
                aten.empty_strided.default,
                (list(value.shape), list(value.stride())),
                {"dtype": value.dtype, "device": value.device},
            )
        memory.meta.update(val=value, **{MEMORY: True})
        node.update_arg(0, memory)
        if not like.users:
            graph.erase_node(like)
