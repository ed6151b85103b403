"""Counts the floating-point operations of graph nodes. Matmuls, convolutions and attention use PyTorch's formulas; other operators count one operation per
result element."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch.utils.flop_counter import flop_registry


def _recurrent_flops(
    input: torch.Tensor, of_input: torch.Tensor, of_state: torch.Tensor, *others: Any, **named: Any
) -> int:
    """Returns the operations of a recurrent layer: a matmul with the input and one with the state, for each time step and sequence."""
    return 2 * (input.numel() // input.shape[-1]) * (of_input.numel() + of_state.numel())


def _grouped_matmul_flops(
    input: torch.Tensor, weight: torch.Tensor, *others: Any, **named: Any
) -> int:
    """Returns the operations of a grouped matmul: each row or column is multiplied by one of several matrices, or each matrix results from a group of rows."""
    if input.dim() == 3 and weight.dim() == 2:
        return 2 * input.shape[1] * weight.numel()
    return 2 * input.numel() * weight.shape[-1]


def _grouped_matmul_backward_flops(
    input: torch.Tensor, weight: torch.Tensor, *others: Any, **named: Any
) -> int:
    """Returns the operations of the gradients of both operands of a grouped matmul."""
    return 2 * _grouped_matmul_flops(input, weight)


def _attention_flops(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    embed_dim: int,
    *others: Any,
    **named: Any,
) -> int:
    """Returns the operations of an attention layer: four projections, the scores, and the weighted sum."""
    queries, keys = query.numel() // query.shape[-1], key.numel() // key.shape[-1]
    return 4 * embed_dim * (embed_dim * (queries + keys) + queries * key.shape[1])


def _encoder_layer_flops(src: torch.Tensor, embed_dim: int, *others: Any, **named: Any) -> int:
    wide = others[12].shape[0]  # width of the encoder layer's feed-forward network
    return _attention_flops(src, src, src, embed_dim) + 4 * src.numel() * wide


#: Formulas of operators for which PyTorch has none, by operator name. Operators of other libraries exist only if the library is loaded.
OWN = {
    "aten::mkldnn_rnn_layer": _recurrent_flops,
    "aten::_native_multi_head_attention": _attention_flops,
    "aten::_transformer_encoder_layer_fwd": _encoder_layer_flops,
    "aten::_grouped_mm": _grouped_matmul_flops,
    "transformers::grouped_mm_fallback": _grouped_matmul_flops,
    "transformers::grouped_mm_fallback_backward": _grouped_matmul_backward_flops,
}


def of(node: fx.Node) -> int:
    """Returns the number of floating-point operations of a node; 0 for views and for results of unknown size."""
    target = node.target
    if (
        node.op != "call_function"
        or target is operator.getitem
        or not isinstance(target, torch._ops.OpOverload)
    ):
        return 0
    value = node.meta.get("val")
    formula = OWN.get(target._schema.name) or flop_registry.get(target._overloadpacket)
    if formula is not None:
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda each: each.meta.get("val"))
        return int(formula(*args, **kwargs, out_val=value))
    if any(result.alias_info is not None for result in target._schema.returns):
        return 0
    tensors = [
        each
        for each in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(each, torch.Tensor)
    ]
    return max(
        (each.numel() for each in tensors if all(type(size) is int for size in each.shape)),
        default=0,
    )
