"""Rewrites Fourier transforms as matmuls with constant matrices, in graphs that dlc compiles whole. With torch.compile, transforms remain in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from dlc._torch.complex_rewriter import ComplexRewriter
from dlc._torch.fx_graph import UnsupportedError

aten = torch.ops.aten

#: Maximum number of elements of a Fourier matrix (4 Mi). Larger transforms are rejected, because PyTorch's FFT is much faster for them.
LARGEST = 1 << 22


def _cos_sin_table(size: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the cosine and the sine of 2 pi m k / size for each element m and frequency k, in f64: [size, count]."""
    turns = torch.arange(size)[:, None] * torch.arange(count) % size
    angles = turns.double() * (2 * math.pi / size)
    return angles.cos(), angles.sin()


def _real_to_complex_matrix(size: int, count: int) -> torch.Tensor:
    """Returns the real-to-complex Fourier matrix, which maps real elements to pairs of `count` frequencies: [size, 2 count]."""
    cosine, sine = _cos_sin_table(size, count)
    return torch.stack([cosine, -sine], -1).flatten(1)


def _complex_to_complex_matrix(size: int, forward: bool) -> torch.Tensor:
    """Returns the complex-to-complex Fourier matrix, which maps pairs (real, imaginary) to pairs: [2 size, 2 size]."""
    cosine, sine = _cos_sin_table(size, size)
    sine = -sine if forward else sine
    # Each element has two rows: one for its real part and one for its imaginary part.
    return torch.stack(
        [torch.stack([cosine, sine], -1), torch.stack([-sine, cosine], -1)], 1
    ).reshape(2 * size, 2 * size)


def _complex_to_real_matrix(size: int) -> torch.Tensor:
    """Returns the complex-to-real Fourier matrix, which maps pairs of size // 2 + 1 frequencies to real elements: [2 (size // 2 + 1), size].

    The other frequencies are the conjugates of these, so that most frequencies count twice.
    """
    count = size // 2 + 1
    cosine, sine = _cos_sin_table(size, count)
    both = torch.full([count, 1], 2.0, dtype=torch.float64)
    both[0] = 1
    if size % 2 == 0:
        both[-1] = 1
    return torch.stack([both * cosine.T, -both * sine.T], 1).reshape(2 * count, size)


def _multiply_by_matrix(
    b: ComplexRewriter,
    x: fx.Node,
    dim: int,
    pairs: bool,
    matrix: Callable[[], torch.Tensor],
    shape: Sequence[int],
    gives: bool,
) -> fx.Node:
    """Multiplies dimension `dim` of `x` by a Fourier matrix of the given shape.

    `pairs`: `x` has a last dimension of pairs. `gives`: the result has one.
    """
    if math.prod(shape) > LARGEST:
        raise UnsupportedError(
            f"a Fourier matrix of {shape[0]} x {shape[1]} elements; required: at most {LARGEST} elements"
        )
    sizes = list(x.meta["val"].shape)
    rank = len(sizes) - pairs
    order = [*(d for d in range(rank) if d != dim), dim]
    rows = [sizes[d] for d in order[:-1]]
    if order != list(range(rank)):
        x = b.call(aten.permute.default, x, [*order, rank] if pairs else order)
    x = b.reshape(x, [math.prod(rows), shape[0]])
    y = b.call(aten.mm.default, x, b.constant(matrix().to(x.meta["val"].dtype)))
    y = b.reshape(y, [*rows, shape[1] // 2, 2] if gives else [*rows, shape[1]])
    back = sorted(range(rank), key=order.__getitem__)
    if back == list(range(rank)):
        return y
    return b.call(aten.permute.default, y, [*back, rank] if gives else back)


def _normalize_transform(
    b: ComplexRewriter, y: fx.Node, sizes: Sequence[int], normalization: int
) -> fx.Node:
    """Scales the result of a transform by at::native::fft_norm_mode: by 1, by 1 / sqrt(n), or by 1 / n, with n elements."""
    factor = {0: 1.0, 1: math.prod(sizes) ** -0.5, 2: 1 / math.prod(sizes)}[normalization]
    return y if factor == 1 else b.call(aten.mul.Scalar, y, factor)


def _complex_to_complex(
    b: ComplexRewriter, pair: fx.Node, dims: Sequence[int], forward: bool
) -> fx.Node:
    for dim in dims:
        size = pair.meta["val"].shape[dim]
        pair = _multiply_by_matrix(
            b,
            pair,
            dim,
            True,
            lambda size=size: _complex_to_complex_matrix(size, forward),
            (2 * size, 2 * size),
            True,
        )
    return pair


def r2c(
    b: ComplexRewriter,
    node: fx.Node,
    x: fx.Node,
    dim: Sequence[int],
    normalization: int,
    onesided: bool,
) -> fx.Node:
    shape = x.meta["val"].shape
    dims = [d % len(shape) for d in dim]
    size = shape[dims[-1]]
    count = size // 2 + 1 if onesided else size
    y = _multiply_by_matrix(
        b, x, dims[-1], False, lambda: _real_to_complex_matrix(size, count), (size, 2 * count), True
    )
    return _normalize_transform(
        b, _complex_to_complex(b, y, dims[:-1], True), [shape[d] for d in dims], normalization
    )


def c2c(
    b: ComplexRewriter,
    node: fx.Node,
    x: fx.Node,
    dim: Sequence[int],
    normalization: int,
    forward: bool,
) -> fx.Node:
    shape = node.meta["val"].shape
    dims = [d % len(shape) for d in dim]
    return _normalize_transform(
        b, _complex_to_complex(b, b.pair(x), dims, forward), [shape[d] for d in dims], normalization
    )


def c2r(
    b: ComplexRewriter,
    node: fx.Node,
    x: fx.Node,
    dim: Sequence[int],
    normalization: int,
    last_dim_size: int,
) -> fx.Node:
    shape = node.meta["val"].shape
    dims = [d % len(shape) for d in dim]
    y = _complex_to_complex(b, b.pair(x), dims[:-1], False)
    count = last_dim_size // 2 + 1
    y = _multiply_by_matrix(
        b,
        y,
        dims[-1],
        True,
        lambda: _complex_to_real_matrix(last_dim_size),
        (2 * count, last_dim_size),
        False,
    )
    return _normalize_transform(b, y, [shape[d] for d in dims], normalization)


#: Rewrite rules of Fourier transforms by operator overload, as in complex_rules.RULES.
RULES: dict[Any, Callable[..., fx.Node]] = {
    aten._fft_r2c.default: r2c,
    aten._fft_c2c.default: c2c,
    aten._fft_c2r.default: c2r,
}
