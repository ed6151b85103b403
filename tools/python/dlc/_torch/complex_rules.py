"""Rewrite rules for operators on complex numbers, from the operator's node to nodes on pairs of real numbers (complex_numbers.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from dlc._torch.complex_rewriter import ComplexRewriter
from dlc._torch.fx_graph import UnsupportedError

aten = torch.ops.aten


def _rank(node: fx.Node) -> int:
    return node.meta["val"].dim()


def _normalize_dims(node: fx.Node, dims: Any) -> list[int]:
    rank = _rank(node)
    return [d % max(rank, 1) for d in ([dims] if isinstance(dims, int) else dims or range(rank))]


def _make_add_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for sums and differences of complex tensors."""

    def rule(b: ComplexRewriter, node: fx.Node, x: Any, y: Any, alpha: Any = 1) -> fx.Node:
        if isinstance(alpha, complex):
            raise UnsupportedError(f"alpha={alpha}; required: a real number")
        return b.call(target, b.pair(x), b.pair(y), alpha=alpha)

    return rule


def _multiply_complex(b: ComplexRewriter, x: Any, y: Any) -> fx.Node:
    """Returns the complex product of two tensors, or of a tensor and a number."""
    if not isinstance(x, fx.Node) or b.is_complex(y) and not b.is_complex(x):
        x, y = y, x
    if b.is_complex(x) and b.is_complex(y):
        return _multiply_rows(b, b.pair(x), b.pair(y))
    if not isinstance(y, complex):
        return b.call(
            aten.mul.Tensor, b.pair(x), _unsqueeze_last(b, y) if isinstance(y, fx.Node) else y
        )
    (real, imaginary), more, other = b.parts(x), y.real, y.imag
    if imaginary is None:
        return b.both(b.call(aten.mul.Tensor, real, more), b.call(aten.mul.Tensor, real, other))
    return b.both(
        b.call(
            aten.sub.Tensor,
            b.call(aten.mul.Tensor, real, more),
            b.call(aten.mul.Tensor, imaginary, other),
        ),
        b.call(
            aten.add.Tensor,
            b.call(aten.mul.Tensor, real, other),
            b.call(aten.mul.Tensor, imaginary, more),
        ),
    )


def _multiply_rows(b: ComplexRewriter, x: fx.Node, y: fx.Node) -> fx.Node:
    """Multiplies complex rows elementwise, where a row has alternating real and imaginary parts.
    Computes x times the duplicated real parts of y, plus x with swapped real and imaginary parts times the signed imaginary parts of y. All operands are read
    contiguously."""
    shape = torch.broadcast_shapes(x.meta["val"].shape, y.meta["val"].shape)
    if len(shape) == 1:
        return b.reshape(_multiply_rows(b, b.reshape(x, [1, 2]), b.reshape(y, [1, 2])), [2])
    count = shape[-2]
    x, y = (b.row(b.expand(each, [*each.meta["val"].shape[:-2], count, 2])) for each in (x, y))
    first = b.is_real(count)

    def moved(row: fx.Node, by: int) -> fx.Node:
        return b.call(aten.roll.default, row, [by], [row.meta["val"].dim() - 1])

    real = b.call(aten.where.self, first, y, moved(y, 1))
    imaginary = b.call(
        aten.mul.Tensor, b.call(aten.where.self, first, moved(y, -1), y), b.signs(y, -1, 1)
    )
    rotated = b.call(aten.where.self, first, moved(x, -1), moved(x, 1))
    return b.reshape(
        b.call(
            aten.add.Tensor,
            b.call(aten.mul.Tensor, x, real),
            b.call(aten.mul.Tensor, rotated, imaginary),
        ),
        shape,
    )


def _make_matmul_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for matmuls of complex tensors."""

    def rule(b: ComplexRewriter, node: fx.Node, x: fx.Node, y: fx.Node) -> Any:
        (real, imaginary), (more, other) = b.parts(x), b.parts(y)
        if imaginary is None:
            return b.both(b.call(target, real, more), b.call(target, real, other))
        if other is None:
            return b.both(b.call(target, real, more), b.call(target, imaginary, more))
        return b.both(
            b.call(aten.sub.Tensor, b.call(target, real, more), b.call(target, imaginary, other)),
            b.call(aten.add.Tensor, b.call(target, real, other), b.call(target, imaginary, more)),
        )

    return rule


def _conjugate(b: ComplexRewriter, pair: fx.Node) -> fx.Node:
    shape = list(pair.meta["val"].shape)
    row = b.row(pair) if len(shape) > 1 else pair
    return b.reshape(b.call(aten.mul.Tensor, row, b.signs(row, 1, -1)), shape)


def _squared_magnitude(b: ComplexRewriter, pair: fx.Node) -> fx.Node:
    real, imaginary = b.part(pair, 0), b.part(pair, 1)
    return b.call(
        aten.add.Tensor,
        b.call(aten.mul.Tensor, real, real),
        b.call(aten.mul.Tensor, imaginary, imaginary),
    )


def _abs(b: ComplexRewriter, x: fx.Node) -> fx.Node:
    return b.call(aten.sqrt.default, _squared_magnitude(b, b.pair(x)))


def _unsqueeze_last(b: ComplexRewriter, x: fx.Node) -> fx.Node:
    return b.call(aten.unsqueeze.default, x, _rank(x))


def _reciprocal(b: ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    return b.call(
        aten.div.Tensor,
        _conjugate(b, b.pair(x)),
        _unsqueeze_last(b, _squared_magnitude(b, b.pair(x))),
    )


def _divide(b: ComplexRewriter, node: fx.Node, x: Any, y: Any, **named: Any) -> fx.Node:
    if not b.is_complex(y):
        if isinstance(y, complex):
            return _multiply_complex(b, x, 1 / y)
        return b.call(
            aten.div.Tensor, b.pair(x), _unsqueeze_last(b, y) if isinstance(y, fx.Node) else y
        )
    inverse = _reciprocal(b, node, y)
    b.see(inverse, inverse)
    return _multiply_complex(b, x, inverse)


def _sign(b: ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    size = _abs(b, x)
    zero = b.call(aten.eq.Scalar, size, 0)
    return b.call(
        aten.div.Tensor,
        b.pair(x),
        _unsqueeze_last(
            b,
            b.call(
                aten.add.Tensor,
                size,
                b.call(aten._to_copy.default, zero, dtype=size.meta["val"].dtype),
            ),
        ),
    )


def _exp(b: ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    real, imaginary = b.parts(x)
    return _polar(b, node, b.call(aten.exp.default, real), imaginary)


def _polar(b: ComplexRewriter, node: fx.Node, size: fx.Node, angle: fx.Node) -> fx.Node:
    return b.both(
        *[
            b.call(aten.mul.Tensor, size, b.call(function, angle))
            for function in (aten.cos.default, aten.sin.default)
        ]
    )


def _log(b: ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    return b.both(b.call(aten.log.default, _abs(b, x)), _angle(b, node, x))


def _angle(b: ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    real, imaginary = b.parts(x)
    return b.call(aten.atan2.default, imaginary, real)


def _power(b: ComplexRewriter, node: fx.Node, x: fx.Node, exponent: Any) -> fx.Node:
    if exponent not in (1, 2):
        raise UnsupportedError(f"the exponent {exponent}; required: 1 or 2")
    return _multiply_complex(b, x, x) if exponent == 2 else b.pair(x)


def _rewrite_cast(b: ComplexRewriter, node: fx.Node, x: fx.Node, **named: Any) -> fx.Node:
    if not node.meta["val"].dtype.is_complex:
        return b.call(aten._to_copy.default, b.part(b.pair(x), 0), dtype=node.meta["val"].dtype)
    return b.pair(x)


def _rewrite_full(
    b: ComplexRewriter, node: fx.Node, *args: Any, value: Any = 0, **named: Any
) -> fx.Node:
    val = node.meta["val"]
    kind = {"dtype": val.dtype.to_real(), "device": val.device}
    real, imaginary = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
    if real == imaginary:
        return b.call(aten.full.default, [*val.shape, 2], real, **kind)
    return b.both(
        *[b.call(aten.full.default, list(val.shape), each, **kind) for each in (real, imaginary)]
    )


def _rewrite_cat(
    b: ComplexRewriter, node: fx.Node, tensors: Sequence[fx.Node], dim: int = 0
) -> fx.Node:
    return b.call(aten.cat.default, [b.pair(each) for each in tensors], dim % _rank(node))


def _make_dim_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that only move elements along one dimension, which is their second argument."""

    def rule(b: ComplexRewriter, node: fx.Node, x: fx.Node, dim: int = 0, *more: Any) -> Any:
        return b.call(target, b.pair(x), dim % _rank(x), *more)

    return rule


def _make_split_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that split a tensor along one dimension, which is their third argument."""

    def rule(b: ComplexRewriter, node: fx.Node, x: fx.Node, sizes: Any, dim: int = 0) -> Any:
        return b.call(target, b.pair(x), sizes, dim % _rank(x))

    return rule


def _make_slice_write_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that write a tensor into a slice of another one."""

    def rule(
        b: ComplexRewriter, node: fx.Node, x: fx.Node, source: fx.Node, dim: int = 0, *more: Any
    ) -> Any:
        return b.call(target, b.pair(x), b.pair(source), dim % _rank(x), *more)

    return rule


def _make_reduction_rule(target: Any) -> Callable[..., Any]:
    def rule(
        b: ComplexRewriter,
        node: fx.Node,
        x: fx.Node,
        dims: Any = None,
        keepdim: bool = False,
        **named: Any,
    ) -> Any:
        # A scalar is its own sum: without dimensions, the operator would also sum its real and imaginary part.
        return (
            b.call(target, b.pair(x), _normalize_dims(x, dims), keepdim) if _rank(x) else b.pair(x)
        )

    return rule


def _rewrite_reshape(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, *args: Any, **named: Any
) -> fx.Node:
    return b.reshape(b.pair(x), [*node.meta["val"].shape, 2])


def _rewrite_clone(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, memory_format: Any = None
) -> fx.Node:
    return (
        b.contiguous(b.pair(x))
        if memory_format is torch.contiguous_format
        else b.call(aten.clone.default, b.pair(x))
    )


def _rewrite_identity(b: ComplexRewriter, node: fx.Node, x: fx.Node, **named: Any) -> fx.Node:
    return b.pair(x)


def _rewrite_equal(b: ComplexRewriter, node: fx.Node, x: Any, y: Any) -> fx.Node:
    return b.call(aten.all.dim, b.call(aten.eq.Tensor, b.pair(x), b.pair(y)), _rank(node))


def _rewrite_masked_fill(
    b: ComplexRewriter, node: fx.Node, x: Any, mask: fx.Node, value: Any
) -> fx.Node:
    return b.call(aten.where.self, _unsqueeze_last(b, mask), b.pair(value), b.pair(x))


def _rewrite_equal_scalar(b: ComplexRewriter, node: fx.Node, x: Any, value: Any) -> fx.Node:
    wanted = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
    return b.call(
        aten.logical_and.default,
        *[b.call(aten.eq.Scalar, part, each) for part, each in zip(b.parts(x), wanted)],
    )


def _rewrite_permute(b: ComplexRewriter, node: fx.Node, x: fx.Node, dims: Sequence[int]) -> fx.Node:
    return b.call(aten.permute.default, b.pair(x), [*_normalize_dims(x, dims), _rank(x)])


def _rewrite_transpose(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, first: int, second: int
) -> fx.Node:
    return b.call(aten.transpose.int, b.pair(x), *_normalize_dims(x, [first, second]))


def _rewrite_roll(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, shifts: Sequence[int], dims: Sequence[int] = ()
) -> fx.Node:
    if not dims:
        raise UnsupportedError("no dims; required: the dimensions to roll")
    return b.call(aten.roll.default, b.pair(x), shifts, _normalize_dims(x, dims))


def _padded(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, pad: Sequence[int], value: Any = 0
) -> fx.Node:
    if value == 0:
        return b.call(aten.constant_pad_nd.default, b.pair(x), [0, 0, *pad], 0)
    return b.both(
        *[
            b.call(aten.constant_pad_nd.default, part, pad, each)
            for part, each in zip(b.parts(x), (value.real, value.imag))
        ]
    )


def _rewrite_copy(
    b: ComplexRewriter, node: fx.Node, x: fx.Node, source: fx.Node, *more: Any
) -> fx.Node:
    copied = b.expand(b.pair(source), [*node.meta["val"].shape, 2])
    return b.contiguous(copied)


#: Rewrite rules by operator overload. A rule takes a node and its arguments, and returns the pairs of its result, or the result itself if it is real.
RULES: dict[Any, Callable[..., Any]] = {
    aten.view_as_complex.default: lambda b, node, x: x,
    aten.view_as_real.default: _rewrite_identity,
    aten.complex.default: lambda b, node, real, imaginary: b.both(real, imaginary),
    aten.polar.default: _polar,
    aten.abs.default: lambda b, node, x: _abs(b, x),
    aten.angle.default: _angle,
    aten.real.default: lambda b, node, x: b.parts(x)[0],
    aten.imag.default: lambda b, node, x: b.parts(x)[1],
    **dict.fromkeys(
        [aten._conj.default, aten.conj_physical.default, aten._conj_physical.default],
        lambda b, node, x: _conjugate(b, b.pair(x)),
    ),
    **dict.fromkeys(
        [
            aten.resolve_conj.default,
            aten.alias.default,
            aten.detach.default,
            aten.lift_fresh_copy.default,
        ],
        _rewrite_identity,
    ),
    aten.neg.default: lambda b, node, x: b.call(aten.neg.default, b.pair(x)),
    **{target: _make_add_rule(target) for target in (aten.add.Tensor, aten.sub.Tensor)},
    **dict.fromkeys(
        [aten.mul.Tensor, aten.mul.Scalar], lambda b, node, x, y: _multiply_complex(b, x, y)
    ),
    **dict.fromkeys([aten.div.Tensor, aten.div.Scalar], _divide),
    **{target: _make_matmul_rule(target) for target in (aten.mm.default, aten.bmm.default)},
    aten.reciprocal.default: _reciprocal,
    aten.sgn.default: _sign,
    aten.exp.default: _exp,
    aten.log.default: _log,
    aten.pow.Tensor_Scalar: _power,
    aten.rsub.Scalar: lambda b, node, x, y, alpha=1: _make_add_rule(aten.sub.Tensor)(
        b, node, y, x, alpha
    ),
    aten.eq.Tensor: _rewrite_equal,
    aten.eq.Scalar: _rewrite_equal_scalar,
    **dict.fromkeys([aten.masked_fill.Scalar, aten.masked_fill.Tensor], _rewrite_masked_fill),
    aten.scalar_tensor.default: lambda b, node, value, **named: _rewrite_full(b, node, value=value),
    aten.where.self: lambda b, node, condition, x, y: b.call(
        aten.where.self, _unsqueeze_last(b, condition), b.pair(x), b.pair(y)
    ),
    aten._to_copy.default: _rewrite_cast,
    aten.clone.default: _rewrite_clone,
    aten.zeros_like.default: lambda b, node, x, **named: b.call(aten.zeros_like.default, b.pair(x)),
    aten.copy.default: _rewrite_copy,
    **dict.fromkeys(
        [
            aten.zeros.default,
            aten.new_zeros.default,
            aten.empty.memory_format,
            aten.empty_like.default,
            aten.new_empty.default,
            aten.empty_strided.default,
            aten.new_empty_strided.default,
        ],
        _rewrite_full,
    ),
    **dict.fromkeys(
        [aten.ones.default, aten.ones_like.default, aten.new_ones.default],
        lambda b, node, *args, **named: _rewrite_full(b, node, value=1),
    ),
    **dict.fromkeys(
        [aten.full.default, aten.full_like.default],
        lambda b, node, shape, value, **named: _rewrite_full(b, node, value=value),
    ),
    aten.cat.default: _rewrite_cat,
    aten.stack.default: lambda b, node, tensors, dim=0: b.call(
        aten.stack.default, [b.pair(each) for each in tensors], dim % _rank(node)
    ),
    **dict.fromkeys(
        [
            aten.view.default,
            aten._unsafe_view.default,
            aten.reshape.default,
            aten.squeeze.default,
            aten.squeeze.dim,
            aten.squeeze.dims,
            aten.unsqueeze.default,
        ],
        _rewrite_reshape,
    ),
    aten.expand.default: lambda b, node, x, *args, **named: b.call(
        aten.expand.default, b.pair(x), [*node.meta["val"].shape, 2]
    ),
    aten.permute.default: _rewrite_permute,
    aten.transpose.int: _rewrite_transpose,
    aten.t.default: lambda b, node, x: (
        _rewrite_transpose(b, node, x, 0, 1) if _rank(x) == 2 else b.pair(x)
    ),
    aten.flip.default: lambda b, node, x, dims: b.call(
        aten.flip.default, b.pair(x), _normalize_dims(x, dims)
    ),
    aten.roll.default: _rewrite_roll,
    aten.repeat.default: lambda b, node, x, count: b.call(
        aten.repeat.default, b.pair(x), [*count, 1]
    ),
    aten.constant_pad_nd.default: _padded,
    aten.index.Tensor: lambda b, node, x, places: b.call(aten.index.Tensor, b.pair(x), places),
    aten.index_put.default: lambda b, node, x, places, values, add=False: b.call(
        aten.index_put.default, b.pair(x), places, b.pair(values), add
    ),
    **{
        target: _make_dim_rule(target)
        for target in (
            aten.slice.Tensor,
            aten.select.int,
            aten.unbind.int,
            aten.index_select.default,
        )
    },
    **{
        target: _make_split_rule(target)
        for target in (aten.split.Tensor, aten.split_with_sizes.default)
    },
    **{
        target: _make_slice_write_rule(target)
        for target in (aten.slice_scatter.default, aten.select_scatter.default)
    },
    **{target: _make_reduction_rule(target) for target in (aten.sum.dim_IntList, aten.mean.dim)},
    aten.sum.default: _make_reduction_rule(aten.sum.dim_IntList),
    aten.mean.default: _make_reduction_rule(aten.mean.dim),
}
