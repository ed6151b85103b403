"""Traces attention on a GPU as the operator of the CPU, which dlc imports. Otherwise PyTorch would choose one of several GPU operators by types and shapes."""

from __future__ import annotations

import torch
from torch import fx
from torch.nn import functional

from dlc._torch import device_kinds

ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
GRADIENTS = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
#: Element types of the operator's operands.
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Replacement of torch.nn.functional.scaled_dot_product_attention. For tensors on a GPU, it calls the operator ATTENTION if the arguments permit it."""
    operands = [query, key, value]
    kind = query.device.type
    if device_kinds.is_host(query.device) or not _is_supported(operands, attn_mask, dropout_p):
        return functional.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if enable_gqa:
        heads = query.shape[1]
        operands[1:] = [each.repeat_interleave(heads // each.shape[1], 1) for each in operands[1:]]
    if torch.is_autocast_enabled(kind):
        operands = [each.to(torch.get_autocast_dtype(kind)) for each in operands]
    if attn_mask is not None and attn_mask.is_floating_point():
        attn_mask = attn_mask.to(operands[0].dtype)
    return ATTENTION(*operands, 0.0, is_causal, attn_mask=attn_mask, scale=scale)[0]


def _is_supported(
    operands: list[torch.Tensor], mask: torch.Tensor | None, dropout_p: float
) -> bool:
    query, key, value = operands
    return (
        dropout_p == 0
        and all(each.dim() == 4 and each.dtype in FLOATS for each in operands)
        and query.dtype == key.dtype == value.dtype
        and query.shape[0] == key.shape[0] == value.shape[0]
        and key.shape[1] == value.shape[1]
        and query.shape[1] % key.shape[1] == 0
        and query.shape[3] == key.shape[3] == value.shape[3]
        and (mask is None or mask.dim() in (2, 4) and not mask.requires_grad)
    )


def _attention_in_pytorch(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, None]:
    """Computes ATTENTION by the operator that PyTorch chooses for the device. Returns no log-sum-exp, which _gradients_in_pytorch does not use."""
    made = functional.scaled_dot_product_attention(
        query, key, value, attn_mask, 0.0, is_causal, scale=scale
    )
    return made, None


def _gradients_in_pytorch(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    """Computes GRADIENTS by autograd, through the operator that PyTorch chooses for the device."""
    with torch.enable_grad():
        given = [each.detach().requires_grad_() for each in (query, key, value)]
        made, _ = _attention_in_pytorch(*given, 0.0, is_causal, attn_mask=attn_mask, scale=scale)
        return torch.autograd.grad(made, given, grad_out)


#: Functions that compute the operators in PyTorch on a GPU, by operator.
IN_PYTORCH = {ATTENTION: _attention_in_pytorch, GRADIENTS: _gradients_in_pytorch}


def replace_remaining(module: fx.GraphModule) -> None:
    """Replaces calls of ATTENTION and GRADIENTS that remain in PyTorch on a GPU by the functions of IN_PYTORCH, because PyTorch has no GPU kernels for these operators."""
    for inner in module.modules():
        if not isinstance(inner, fx.GraphModule):
            continue
        found = [
            node
            for node in inner.graph.nodes
            if node.op == "call_function"
            and node.target in IN_PYTORCH
            and not device_kinds.is_host(node.args[0].meta["val"].device)
        ]
        for node in found:
            node.target = IN_PYTORCH[node.target]
        if found:
            inner.recompile()
