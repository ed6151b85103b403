"""Replaces calls of PyTorch by variants that suit dlc. Resizing and recurrent layers become single operators in both directions, which autograd would
decompose. Encoder layers under autocast, and masked assignments, are decomposed: the operator of the former hides its 16-bit computation, and the gradient
of the latter has a data-dependent shape."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.nn import functional

from dlc._torch import attention

aten = torch.ops.aten

#: Resizing operators of aten by `mode` and number of spatial dimensions.
RESIZES = {
    **{("nearest", n): f"upsample_nearest{n}d" for n in (1, 2, 3)},
    **{("nearest-exact", n): f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)},
    ("linear", 1): "upsample_linear1d",
    ("bilinear", 2): "upsample_bilinear2d",
    ("trilinear", 3): "upsample_trilinear3d",
    ("bicubic", 2): "upsample_bicubic2d",
}
SMOOTH = {mode: f"_upsample_{mode}2d_aa" for mode in ("bilinear", "bicubic", "lanczos")}


class _ResizeFunction(torch.autograd.Function):
    """Autograd function of a resizing operator that uses PyTorch's operator for its gradient. `more` are the arguments after the sizes."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, name: str, sizes: Sequence[int], more: Sequence[Any]
    ) -> torch.Tensor:
        ctx.name, ctx.sizes, ctx.more, ctx.shape = name, sizes, more, list(x.shape)
        # Skips autograd's kernel of the operator, which would decompose it.
        with torch._C._AutoDispatchBelowAutograd():
            return getattr(aten, name).default(x, sizes, *more)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return (
                getattr(aten, ctx.name + "_backward").default(dy, ctx.sizes, ctx.shape, *ctx.more),
                None,
                None,
                None,
            )


def interpolate(
    input: torch.Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> torch.Tensor:
    """Replacement of torch.nn.functional.interpolate that calls resizing operators which autograd does not decompose."""
    spatial = input.dim() - 2
    name = SMOOTH.get(mode) if antialias else RESIZES.get((mode, spatial))
    wrong = (
        (size is None) == (scale_factor is None)
        or align_corners is not None
        and mode.startswith("nearest")
    )
    if (
        name is None
        or wrong
        or not input.is_floating_point()
        or recompute_scale_factor
        and scale_factor is None
    ):
        return functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    given = size if scale_factor is None else scale_factor
    each = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    sizes = (
        each
        if scale_factor is None
        else [int(extent * factor) for extent, factor in zip(input.shape[2:], each)]
    )
    scales = (
        [None] * spatial
        if scale_factor is None or recompute_scale_factor
        else [float(factor) for factor in each]
    )
    return _ResizeFunction.apply(
        input,
        name,
        sizes,
        (*([] if mode.startswith("nearest") else [bool(align_corners)]), *scales),
    )


#: Value of the argument mask_type of PyTorch's fused encoder layer: the mask has one entry per key, for all queries.
OF_KEYS = 1
#: PyTorch's functions of recurrent layers, by the names of the layers in the C++ importer.
CELLS = {
    "lstm": torch.lstm,
    "gru": torch.gru,
    "rnn_tanh": torch.rnn_tanh,
    "rnn_relu": torch.rnn_relu,
}


def _run_recurrent_cell(
    cell: str,
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[torch.Tensor]:
    return list(
        CELLS[cell](
            input,
            hx if cell == "lstm" else hx[0],
            params,
            has_biases,
            num_layers,
            0.0,
            False,
            bidirectional,
            False,
        )
    )


@torch.library.custom_op("dlc::recurrent", mutates_args=())
def recurrent(
    cell: str,
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[torch.Tensor]:
    """Operator of a whole recurrent network: returns its output at each time step, and its last states.
    This implementation runs if the node remains in PyTorch."""
    return [
        each.clone()
        for each in _run_recurrent_cell(
            cell, input, hx, params, has_biases, num_layers, bidirectional
        )
    ]


@recurrent.register_fake
def _(
    cell: Any,
    input: Any,
    hx: Any,
    params: Any,
    has_biases: Any,
    num_layers: Any,
    bidirectional: Any,
) -> Any:
    return [
        input.new_empty([*input.shape[:2], hx[0].shape[2] * (1 + bidirectional)]),
        *[each.new_empty(each.shape) for each in hx],
    ]


@torch.library.custom_op("dlc::recurrent_backward", mutates_args=())
def recurrent_backward(
    grads: list[torch.Tensor],
    cell: str,
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[torch.Tensor]:
    """Operator of a recurrent network's gradients: those of the input, the initial states and the weights."""
    with torch.enable_grad():
        given = [each.detach().requires_grad_() for each in (input, *hx, *params)]
        made = _run_recurrent_cell(
            cell,
            given[0],
            given[1 : 1 + len(hx)],
            given[1 + len(hx) :],
            has_biases,
            num_layers,
            bidirectional,
        )
        return list(torch.autograd.grad(made, given, grads))


@recurrent_backward.register_fake
def _(grads: Any, cell: Any, input: Any, hx: Any, params: Any, *others: Any) -> Any:
    return [each.new_empty(each.shape) for each in (input, *hx, *params)]


def _save_for_backward(ctx: Any, inputs: Any, output: Any) -> None:
    cell, input, hx, params, *ctx.others = inputs
    ctx.cell, ctx.states = cell, len(hx)
    ctx.save_for_backward(input, *hx, *params)


def _recurrent_vjp(ctx: Any, grads: list[torch.Tensor]) -> Any:
    input, *rest = ctx.saved_tensors
    states = ctx.states
    dx, *others = recurrent_backward(
        list(grads), ctx.cell, input, rest[:states], rest[states:], *ctx.others
    )
    return None, dx, others[:states], others[states:], None, None, None


recurrent.register_autograd(_recurrent_vjp, setup_context=_save_for_backward)


def recurrent_layers(cell: str, input: torch.Tensor, *given: Any) -> tuple[torch.Tensor, ...]:
    """Replacement of PyTorch's functions of recurrent layers, for a tensor or a packed sequence.
    Packed sequences, projections and autocast use PyTorch's implementation. With dropout, layers run one at a time, because PyTorch's own decomposition omits
    the dropout between layers."""
    packed = isinstance(given[0 if cell == "lstm" else 1], torch.Tensor)
    sizes, given = given[:packed], given[packed:]
    states, params, has_biases, num_layers, dropout, train, bidirectional, *order = given
    states = list(states) if cell == "lstm" else [states]
    directions, each, batch_first = 1 + bidirectional, len(params) // num_layers, any(order)
    whole = (
        not packed
        and each == directions * (2 + 2 * has_biases)
        and not torch.is_autocast_enabled(input.device.type)
    )

    def run(
        x: torch.Tensor, hx: list[torch.Tensor], weights: list[torch.Tensor], count: int
    ) -> Any:
        if whole:
            return recurrent(cell, x, hx, weights, has_biases, count, bidirectional)
        return CELLS[cell](
            x,
            *sizes,
            hx if cell == "lstm" else hx[0],
            weights,
            has_biases,
            count,
            0.0,
            train,
            bidirectional,
            *[False for _ in order],
        )

    x = input.transpose(0, 1) if batch_first else input
    if not (dropout and train and num_layers > 1):
        x, *states = run(x, states, list(params), num_layers)
    else:
        made = []
        for i in range(num_layers):
            x = torch.dropout(x, dropout, True) if i else x
            x, *after = run(
                x,
                [state[i * directions : (i + 1) * directions] for state in states],
                list(params[i * each : (i + 1) * each]),
                1,
            )
            made.append(after)
        states = [torch.cat(parts) for parts in zip(*made)]
    # The transpose gives the output the same strides as in eager PyTorch.
    return x.transpose(0, 1) if batch_first else x, *states


def encoder_layer(
    src: torch.Tensor,
    size: int,
    heads: int,
    qkv: torch.Tensor,
    qkv_bias: torch.Tensor,
    out: torch.Tensor,
    out_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    *given: Any,
) -> torch.Tensor:
    """Replacement of PyTorch's fused operator of an encoder layer, used if no gradients are needed.
    Under autocast, the operator computes in 16 bits internally, which no graph shows, so the layer is decomposed here."""
    scale_1, shift_1, scale_2, shift_2, up, up_bias, down, down_bias, *masked = given
    if not torch.is_autocast_enabled(src.device.type):
        return torch._transformer_encoder_layer_fwd(
            src, size, heads, qkv, qkv_bias, out, out_bias, use_gelu, norm_first, eps, *given
        )
    mask, kind = (*masked, None, None)[:2]
    if mask is not None:
        mask = ~mask if mask.dtype == torch.bool else mask == 0
        mask = mask[:, None, None, :] if kind == OF_KEYS and mask.dim() == 2 else mask

    def norm(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (size,), scale, shift, eps)

    def attend(x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            functional.linear(x, qkv, qkv_bias)
            .unflatten(-1, (3, heads, -1))
            .permute(2, 0, 3, 1, 4)
            .unbind()
        )
        return functional.linear(
            functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            .transpose(1, 2)
            .flatten(2),
            out,
            out_bias,
        )

    def feed(x: torch.Tensor) -> torch.Tensor:
        x = functional.linear(x, up, up_bias)
        return functional.linear(
            functional.gelu(x) if use_gelu else functional.relu(x), down, down_bias
        )

    def added(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        # The residual sum has the type of y, because the fused operator adds in place.
        return (y + x).to(y.dtype)

    if norm_first:
        x = added(attend(norm(src, scale_1, shift_1)), src)
        return added(feed(norm(x, scale_2, shift_2)), x)
    x = norm(added(attend(src), src), scale_1, shift_1)
    return norm(added(feed(x), x), scale_2, shift_2)


def _put_by_mask(
    x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor, accumulate: bool = False
) -> torch.Tensor:
    """Returns the result of `x[mask] = values` or `x[mask] += values`.
    Values are gathered by the running count of the mask, because autograd's own formula for the gradient selects by the mask, and so has a data-dependent
    shape."""
    rest = x.dim() - mask.dim()
    if values.dim() == 1 + rest and values.shape[0] > 1:
        place = mask.flatten().cumsum(0).sub(1).clamp(0, values.shape[0] - 1)
        spread = values[place].reshape(*mask.shape, *values.shape[1:]).to(x.dtype)
    else:
        spread = (values[0] if values.dim() == 1 + rest else values).to(x.dtype)
    return torch.where(
        mask.reshape(*mask.shape, *[1] * rest), x + spread if accumulate else spread, x
    )


def _get_boolean_mask(x: Any, places: Any, values: Any) -> torch.Tensor | None:
    """Returns the mask if there is one value (or row of values) for each true element of the mask, or one for all. Returns None in other cases."""
    mask = places[0] if isinstance(places, (tuple, list)) and len(places) == 1 else places
    if not (
        isinstance(mask, torch.Tensor)
        and mask.dtype == torch.bool
        and isinstance(values, torch.Tensor)
        and torch.is_grad_enabled()
    ):
        return None
    return mask if 0 < values.dim() <= x.dim() - mask.dim() + 1 and values.shape[0] > 0 else None


def set_item(x: Any, places: Any, values: Any) -> None:
    """Replacement of x[places] = values that handles boolean masks without data-dependent shapes."""
    mask = _get_boolean_mask(x, places, values)
    if mask is None:
        operator.setitem(x, places, values)
    else:
        x.copy_(_put_by_mask(x, mask, values))


def index_put(
    x: torch.Tensor, indices: Any, values: torch.Tensor, accumulate: bool = False
) -> torch.Tensor:
    """Replacement of torch.index_put that handles boolean masks without data-dependent shapes."""
    mask = _get_boolean_mask(x, indices, values)
    return (
        torch.index_put(x, indices, values, accumulate)
        if mask is None
        else _put_by_mask(x, mask, values, accumulate)
    )


def index_put_(
    x: torch.Tensor, indices: Any, values: torch.Tensor, accumulate: bool = False
) -> torch.Tensor:
    """Replacement of torch.Tensor.index_put_ that handles boolean masks without data-dependent shapes."""
    mask = _get_boolean_mask(x, indices, values)
    return (
        x.index_put_(indices, values, accumulate)
        if mask is None
        else x.copy_(_put_by_mask(x, mask, values, accumulate))
    )


#: Replacements of PyTorch's functions, by function or by method name.
REPLACEMENTS = {
    functional.interpolate: interpolate,
    functional.scaled_dot_product_attention: attention.scaled_dot_product_attention,
    operator.setitem: set_item,
    torch.index_put: index_put,
    "index_put": index_put,
    torch.index_put_: index_put_,
    "index_put_": index_put_,
}


def replace_calls(module: fx.GraphModule) -> None:
    """Replaces calls of these functions in a graph of PyTorch functions, as torch.compile passes it."""
    for node in module.graph.nodes:
        if node.op not in ("call_function", "call_method"):
            continue
        if instead := REPLACEMENTS.get(node.target):
            node.op, node.target = "call_function", instead
        elif node.target is torch._transformer_encoder_layer_fwd and not node.kwargs:
            node.target = encoder_layer
        elif node.target in CELLS.values() and not node.kwargs:
            node.args = (
                next(name for name, function in CELLS.items() if node.target == function),
                *node.args,
            )
            node.target = recurrent_layers
    module.recompile()
