"""Rewrites complex numbers, which dlc does not support, as pairs of real numbers in an additional last dimension of size 2, as in torch.view_as_real."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx
from torch._subclasses import FakeTensor

from dlc._torch import fourier
from dlc._torch.fx_graph import OPERATOR_ERRORS, UnsupportedError, first_line

aten = torch.ops.aten


class _ComplexRewriter:
    """Rewriting of a graph: maps each node with a complex result to a new node with real pairs."""

    def __init__(self, graph: fx.Graph, mode: Any, constants: dict[str, torch.Tensor] | None):
        self._graph, self._mode = graph, mode
        #: Constants by node name if dlc compiles the whole graph, otherwise None.
        self.constants = constants
        self._pairs: dict[fx.Node, Any] = {}
        self._complex: dict[fx.Node, fx.Node] = {}
        self._parts: dict[tuple[fx.Node, int], fx.Node] = {}
        self._reals: dict[int, fx.Node] = {}
        self.made: list[fx.Node] = []
        #: Nodes that remain in PyTorch because their rewrite rule does not support them, with the reason.
        self.failed: dict[str, str] = {}
        #: The node that is being replaced; new nodes are inserted before it.
        self.at: fx.Node = None  # type: ignore[assignment]

    def call(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        given, named = fx.map_arg((args, kwargs), lambda each: each.meta["val"])
        try:
            with self._mode, torch.no_grad():
                value = target(*given, **named)
        except OPERATOR_ERRORS as error:
            raise UnsupportedError(f"{target} fails: {first_line(error)}") from error
        with self._graph.inserting_before(self.at):
            made = self._graph.call_function(target, args, kwargs)
        made.meta["val"] = value
        self.made.append(made)
        for key in ("stack_trace", "nn_module_stack"):
            if key in self.at.meta:
                made.meta[key] = self.at.meta[key]
        return made

    def constant(self, value: torch.Tensor) -> fx.Node:
        """Returns a node for a new constant, which only graphs that dlc compiles whole can have."""
        if self.constants is None:
            raise UnsupportedError("a graph of torch.compile; required: dlc.compile or dlc.train_step")
        module, name = self._graph.owning_module, f"dlc_constant_{len(self.constants)}"
        if module is not None:
            module.register_buffer(name, value)
        with self._graph.inserting_before(self.at):
            made = self._graph.create_node("get_attr", name)
        with self._mode:
            made.meta["val"] = torch.empty(value.shape, dtype=value.dtype)
        self.constants[made.name] = value
        self.made.append(made)
        return made

    def forget(self, node: fx.Node) -> None:
        for known in (self._pairs, self._complex, self._parts, self._reals):
            for key in [key for key, value in known.items() if node is value or node is key or isinstance(key, tuple) and node is key[0]]:
                del known[key]
        self.made.remove(node)
        self.erase(node)

    def erase(self, node: fx.Node) -> None:
        if node.op == "get_attr" and self.constants is not None:
            self.constants.pop(node.name, None)
        self._graph.erase_node(node)

    def part(self, pair: fx.Node, which: int) -> fx.Node:
        """Returns the real parts (`which` 0) or the imaginary parts (`which` 1) of a tensor of pairs."""
        if (pair, which) not in self._parts:
            self._parts[pair, which] = self.call(aten.select.int, pair, pair.meta["val"].dim() - 1, which)
        return self._parts[pair, which]

    def both(self, real: fx.Node, imaginary: fx.Node) -> fx.Node:
        shape = torch.broadcast_shapes(real.meta["val"].shape, imaginary.meta["val"].shape)
        parts = [self.expand(self.call(aten.unsqueeze.default, each, each.meta["val"].dim()), [*shape, 2]) for each in (real, imaginary)]
        return self.call(aten.where.self, self.is_real(1), *parts)

    def is_real(self, count: int) -> fx.Node:
        """Returns the mask [True, False, True, False, ..] for a row of `count` pairs."""
        if count not in self._reals:
            places = self.call(aten.arange.default, 2 * count, device=torch.device("cpu"), pin_memory=False)
            self._reals[count] = self.call(aten.eq.Scalar, self.call(aten.bitwise_and.Scalar, places, 1), 0)
        return self._reals[count]

    def signs(self, like: fx.Node, real: int, imaginary: int) -> fx.Node:
        """Returns a row of alternating factors for a row of pairs: `real` for real parts, `imaginary` for imaginary parts."""
        parts = [self.call(aten.full.default, [], each, dtype=like.meta["val"].dtype, device=like.meta["val"].device) for each in (real, imaginary)]
        return self.call(aten.where.self, self.is_real(like.meta["val"].shape[-1] // 2), *parts)

    def row(self, pair: fx.Node) -> fx.Node:
        """Merges the last two dimensions of a tensor of pairs, so that adjacent elements in memory are in one row."""
        *others, last, _ = pair.meta["val"].shape
        return self.reshape(pair, [*others, 2 * last])

    def expand(self, node: fx.Node, shape: Sequence[int]) -> fx.Node:
        return node if list(node.meta["val"].shape) == list(shape) else self.call(aten.expand.default, node, list(shape))

    def reshape(self, node: fx.Node, shape: Sequence[int]) -> fx.Node:
        try:
            return self.call(aten.view.default, node, list(shape))
        except UnsupportedError:
            return self.call(aten.view.default, self.contiguous(node), list(shape))

    def contiguous(self, node: fx.Node) -> fx.Node:
        return self.call(aten.clone.default, node, memory_format=torch.contiguous_format)

    def pair(self, value: Any) -> fx.Node:
        """Returns the real pairs of a complex tensor, a real tensor or a number."""
        if not isinstance(value, fx.Node):
            about = self.at.meta["val"]
            parts = [self.call(aten.full.default, [], each, dtype=about.dtype.to_real(), device=about.device) for each in (value.real, value.imag)]
            return self.both(*parts)
        if value in self._pairs:
            return self._pairs[value]
        return self.both(value, self.call(aten.zeros_like.default, value))

    def is_complex(self, value: Any) -> bool:
        return value in self._pairs

    def parts(self, value: Any) -> tuple[Any, Any]:
        """Returns the real and imaginary part of a complex tensor or a number. The imaginary part is None if the value is real."""
        if isinstance(value, fx.Node):
            return (self.part(self._pairs[value], 0), self.part(self._pairs[value], 1)) if self.is_complex(value) else (value, None)
        return (value.real, value.imag) if isinstance(value, complex) else (value, None)

    def complex(self, value: fx.Node) -> fx.Node:
        """Returns a node that views the pairs as a complex tensor of PyTorch."""
        pair = self._pairs[value]
        if pair not in self._complex:
            whole = pair if pair.meta["val"].stride(-1) == 1 and all(step % 2 == 0 for step in pair.meta["val"].stride()[:-1]) else self.contiguous(pair)
            self._complex[pair] = self.call(aten.view_as_complex.default, whole)
        return self._complex[pair]

    def see(self, node: fx.Node, pair: Any) -> None:
        self._pairs[node] = pair

    def show(self, node: fx.Node) -> None:
        """Maps a complex tensor that PyTorch computes to its real pairs. Inputs may be lazy conjugates, which are resolved first."""
        plain = self.call(aten.resolve_conj.default, node) if node.op == "placeholder" or node.meta["val"].is_conj() else node
        self._pairs[node] = self.call(aten.view_as_real.default, plain)
        self._complex[self._pairs[node]] = node

    def take(self, node: fx.Node, constant: torch.Tensor) -> torch.Tensor:
        """Maps a complex constant to its real pairs, which replace it."""
        with self._mode:
            node.meta["val"] = torch.view_as_real(node.meta["val"])
        self._pairs[node] = node
        return torch.view_as_real(constant.detach().resolve_conj())

    def fake(self, node: fx.Node) -> None:
        if isinstance(node.meta.get("val"), torch.Tensor) and not isinstance(node.meta["val"], FakeTensor):
            node.meta["val"] = self._mode.from_tensor(node.meta["val"])


def _rank(node: fx.Node) -> int:
    return node.meta["val"].dim()


def _normalize_dims(node: fx.Node, dims: Any) -> list[int]:
    rank = _rank(node)
    return [d % max(rank, 1) for d in ([dims] if isinstance(dims, int) else dims or range(rank))]


def _make_add_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for sums and differences of complex tensors."""

    def rule(b: _ComplexRewriter, node: fx.Node, x: Any, y: Any, alpha: Any = 1) -> fx.Node:
        if isinstance(alpha, complex):
            raise UnsupportedError(f"alpha={alpha}; required: a real number")
        return b.call(target, b.pair(x), b.pair(y), alpha=alpha)

    return rule


def _multiply_complex(b: _ComplexRewriter, x: Any, y: Any) -> fx.Node:
    """Returns the complex product of two tensors, or of a tensor and a number."""
    if not isinstance(x, fx.Node) or b.is_complex(y) and not b.is_complex(x):
        x, y = y, x
    if b.is_complex(x) and b.is_complex(y):
        return _multiply_rows(b, b.pair(x), b.pair(y))
    if not isinstance(y, complex):
        return b.call(aten.mul.Tensor, b.pair(x), _unsqueeze_last(b, y) if isinstance(y, fx.Node) else y)
    (real, imaginary), more, other = b.parts(x), y.real, y.imag
    if imaginary is None:
        return b.both(b.call(aten.mul.Tensor, real, more), b.call(aten.mul.Tensor, real, other))
    return b.both(
        b.call(aten.sub.Tensor, b.call(aten.mul.Tensor, real, more), b.call(aten.mul.Tensor, imaginary, other)),
        b.call(aten.add.Tensor, b.call(aten.mul.Tensor, real, other), b.call(aten.mul.Tensor, imaginary, more)),
    )


def _multiply_rows(b: _ComplexRewriter, x: fx.Node, y: fx.Node) -> fx.Node:
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
    imaginary = b.call(aten.mul.Tensor, b.call(aten.where.self, first, moved(y, -1), y), b.signs(y, -1, 1))
    rotated = b.call(aten.where.self, first, moved(x, -1), moved(x, 1))
    return b.reshape(b.call(aten.add.Tensor, b.call(aten.mul.Tensor, x, real), b.call(aten.mul.Tensor, rotated, imaginary)), shape)


def _make_matmul_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for matmuls of complex tensors."""

    def rule(b: _ComplexRewriter, node: fx.Node, x: fx.Node, y: fx.Node) -> Any:
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


def _conjugate(b: _ComplexRewriter, pair: fx.Node) -> fx.Node:
    shape = list(pair.meta["val"].shape)
    row = b.row(pair) if len(shape) > 1 else pair
    return b.reshape(b.call(aten.mul.Tensor, row, b.signs(row, 1, -1)), shape)


def _squared_magnitude(b: _ComplexRewriter, pair: fx.Node) -> fx.Node:
    real, imaginary = b.part(pair, 0), b.part(pair, 1)
    return b.call(aten.add.Tensor, b.call(aten.mul.Tensor, real, real), b.call(aten.mul.Tensor, imaginary, imaginary))


def _abs(b: _ComplexRewriter, x: fx.Node) -> fx.Node:
    return b.call(aten.sqrt.default, _squared_magnitude(b, b.pair(x)))


def _unsqueeze_last(b: _ComplexRewriter, x: fx.Node) -> fx.Node:
    return b.call(aten.unsqueeze.default, x, _rank(x))


def _reciprocal(b: _ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    return b.call(aten.div.Tensor, _conjugate(b, b.pair(x)), _unsqueeze_last(b, _squared_magnitude(b, b.pair(x))))


def _divide(b: _ComplexRewriter, node: fx.Node, x: Any, y: Any, **named: Any) -> fx.Node:
    if not b.is_complex(y):
        if isinstance(y, complex):
            return _multiply_complex(b, x, 1 / y)
        return b.call(aten.div.Tensor, b.pair(x), _unsqueeze_last(b, y) if isinstance(y, fx.Node) else y)
    inverse = _reciprocal(b, node, y)
    b.see(inverse, inverse)
    return _multiply_complex(b, x, inverse)


def _sign(b: _ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    size = _abs(b, x)
    zero = b.call(aten.eq.Scalar, size, 0)
    return b.call(aten.div.Tensor, b.pair(x), _unsqueeze_last(b, b.call(aten.add.Tensor, size, b.call(aten._to_copy.default, zero, dtype=size.meta["val"].dtype))))


def _exp(b: _ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    real, imaginary = b.parts(x)
    return _polar(b, node, b.call(aten.exp.default, real), imaginary)


def _polar(b: _ComplexRewriter, node: fx.Node, size: fx.Node, angle: fx.Node) -> fx.Node:
    return b.both(*[b.call(aten.mul.Tensor, size, b.call(function, angle)) for function in (aten.cos.default, aten.sin.default)])


def _log(b: _ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    return b.both(b.call(aten.log.default, _abs(b, x)), _angle(b, node, x))


def _angle(b: _ComplexRewriter, node: fx.Node, x: fx.Node) -> fx.Node:
    real, imaginary = b.parts(x)
    return b.call(aten.atan2.default, imaginary, real)


def _power(b: _ComplexRewriter, node: fx.Node, x: fx.Node, exponent: Any) -> fx.Node:
    if exponent not in (1, 2):
        raise UnsupportedError(f"the exponent {exponent}; required: 1 or 2")
    return _multiply_complex(b, x, x) if exponent == 2 else b.pair(x)


def _rewrite_cast(b: _ComplexRewriter, node: fx.Node, x: fx.Node, **named: Any) -> fx.Node:
    if not node.meta["val"].dtype.is_complex:
        return b.call(aten._to_copy.default, b.part(b.pair(x), 0), dtype=node.meta["val"].dtype)
    return b.pair(x)


def _rewrite_full(b: _ComplexRewriter, node: fx.Node, *args: Any, value: Any = 0, **named: Any) -> fx.Node:
    val = node.meta["val"]
    kind = {"dtype": val.dtype.to_real(), "device": val.device}
    real, imaginary = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
    if real == imaginary:
        return b.call(aten.full.default, [*val.shape, 2], real, **kind)
    return b.both(*[b.call(aten.full.default, list(val.shape), each, **kind) for each in (real, imaginary)])


def _rewrite_cat(b: _ComplexRewriter, node: fx.Node, tensors: Sequence[fx.Node], dim: int = 0) -> fx.Node:
    return b.call(aten.cat.default, [b.pair(each) for each in tensors], dim % _rank(node))


def _make_dim_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that only move elements along one dimension, which is their second argument."""

    def rule(b: _ComplexRewriter, node: fx.Node, x: fx.Node, dim: int = 0, *more: Any) -> Any:
        return b.call(target, b.pair(x), dim % _rank(x), *more)

    return rule


def _make_split_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that split a tensor along one dimension, which is their third argument."""

    def rule(b: _ComplexRewriter, node: fx.Node, x: fx.Node, sizes: Any, dim: int = 0) -> Any:
        return b.call(target, b.pair(x), sizes, dim % _rank(x))

    return rule


def _make_slice_write_rule(target: Any) -> Callable[..., Any]:
    """Returns the rule for operators that write a tensor into a slice of another one."""

    def rule(b: _ComplexRewriter, node: fx.Node, x: fx.Node, source: fx.Node, dim: int = 0, *more: Any) -> Any:
        return b.call(target, b.pair(x), b.pair(source), dim % _rank(x), *more)

    return rule


def _make_reduction_rule(target: Any) -> Callable[..., Any]:
    def rule(b: _ComplexRewriter, node: fx.Node, x: fx.Node, dims: Any = None, keepdim: bool = False, **named: Any) -> Any:
        # A scalar is its own sum: without dimensions, the operator would also sum its real and imaginary part.
        return b.call(target, b.pair(x), _normalize_dims(x, dims), keepdim) if _rank(x) else b.pair(x)

    return rule


def _rewrite_reshape(b: _ComplexRewriter, node: fx.Node, x: fx.Node, *args: Any, **named: Any) -> fx.Node:
    return b.reshape(b.pair(x), [*node.meta["val"].shape, 2])


def _rewrite_clone(b: _ComplexRewriter, node: fx.Node, x: fx.Node, memory_format: Any = None) -> fx.Node:
    return b.contiguous(b.pair(x)) if memory_format is torch.contiguous_format else b.call(aten.clone.default, b.pair(x))


def _rewrite_identity(b: _ComplexRewriter, node: fx.Node, x: fx.Node, **named: Any) -> fx.Node:
    return b.pair(x)


def _rewrite_equal(b: _ComplexRewriter, node: fx.Node, x: Any, y: Any) -> fx.Node:
    return b.call(aten.all.dim, b.call(aten.eq.Tensor, b.pair(x), b.pair(y)), _rank(node))


def _rewrite_masked_fill(b: _ComplexRewriter, node: fx.Node, x: Any, mask: fx.Node, value: Any) -> fx.Node:
    return b.call(aten.where.self, _unsqueeze_last(b, mask), b.pair(value), b.pair(x))


def _rewrite_equal_scalar(b: _ComplexRewriter, node: fx.Node, x: Any, value: Any) -> fx.Node:
    wanted = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
    return b.call(aten.logical_and.default, *[b.call(aten.eq.Scalar, part, each) for part, each in zip(b.parts(x), wanted)])


def _rewrite_permute(b: _ComplexRewriter, node: fx.Node, x: fx.Node, dims: Sequence[int]) -> fx.Node:
    return b.call(aten.permute.default, b.pair(x), [*_normalize_dims(x, dims), _rank(x)])


def _rewrite_transpose(b: _ComplexRewriter, node: fx.Node, x: fx.Node, first: int, second: int) -> fx.Node:
    return b.call(aten.transpose.int, b.pair(x), *_normalize_dims(x, [first, second]))


def _rewrite_roll(b: _ComplexRewriter, node: fx.Node, x: fx.Node, shifts: Sequence[int], dims: Sequence[int] = ()) -> fx.Node:
    if not dims:
        raise UnsupportedError("no dims; required: the dimensions to roll")
    return b.call(aten.roll.default, b.pair(x), shifts, _normalize_dims(x, dims))


def _padded(b: _ComplexRewriter, node: fx.Node, x: fx.Node, pad: Sequence[int], value: Any = 0) -> fx.Node:
    if value == 0:
        return b.call(aten.constant_pad_nd.default, b.pair(x), [0, 0, *pad], 0)
    return b.both(*[b.call(aten.constant_pad_nd.default, part, pad, each) for part, each in zip(b.parts(x), (value.real, value.imag))])


def _rewrite_copy(b: _ComplexRewriter, node: fx.Node, x: fx.Node, source: fx.Node, *more: Any) -> fx.Node:
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
    **dict.fromkeys([aten._conj.default, aten.conj_physical.default, aten._conj_physical.default], lambda b, node, x: _conjugate(b, b.pair(x))),
    **dict.fromkeys([aten.resolve_conj.default, aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default], _rewrite_identity),
    aten.neg.default: lambda b, node, x: b.call(aten.neg.default, b.pair(x)),
    **{target: _make_add_rule(target) for target in (aten.add.Tensor, aten.sub.Tensor)},
    **dict.fromkeys([aten.mul.Tensor, aten.mul.Scalar], lambda b, node, x, y: _multiply_complex(b, x, y)),
    **dict.fromkeys([aten.div.Tensor, aten.div.Scalar], _divide),
    **{target: _make_matmul_rule(target) for target in (aten.mm.default, aten.bmm.default)},
    aten.reciprocal.default: _reciprocal,
    aten.sgn.default: _sign,
    aten.exp.default: _exp,
    aten.log.default: _log,
    aten.pow.Tensor_Scalar: _power,
    aten.rsub.Scalar: lambda b, node, x, y, alpha=1: _make_add_rule(aten.sub.Tensor)(b, node, y, x, alpha),
    aten.eq.Tensor: _rewrite_equal,
    aten.eq.Scalar: _rewrite_equal_scalar,
    **dict.fromkeys([aten.masked_fill.Scalar, aten.masked_fill.Tensor], _rewrite_masked_fill),
    aten.scalar_tensor.default: lambda b, node, value, **named: _rewrite_full(b, node, value=value),
    aten.where.self: lambda b, node, condition, x, y: b.call(aten.where.self, _unsqueeze_last(b, condition), b.pair(x), b.pair(y)),
    aten._to_copy.default: _rewrite_cast,
    aten.clone.default: _rewrite_clone,
    aten.zeros_like.default: lambda b, node, x, **named: b.call(aten.zeros_like.default, b.pair(x)),
    aten.copy.default: _rewrite_copy,
    **dict.fromkeys(
        [aten.zeros.default, aten.new_zeros.default, aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default, aten.empty_strided.default, aten.new_empty_strided.default],
        _rewrite_full,
    ),
    **dict.fromkeys([aten.ones.default, aten.ones_like.default, aten.new_ones.default], lambda b, node, *args, **named: _rewrite_full(b, node, value=1)),
    **dict.fromkeys([aten.full.default, aten.full_like.default], lambda b, node, shape, value, **named: _rewrite_full(b, node, value=value)),
    aten.cat.default: _rewrite_cat,
    aten.stack.default: lambda b, node, tensors, dim=0: b.call(aten.stack.default, [b.pair(each) for each in tensors], dim % _rank(node)),
    **dict.fromkeys(
        [aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.unsqueeze.default], _rewrite_reshape
    ),
    aten.expand.default: lambda b, node, x, *args, **named: b.call(aten.expand.default, b.pair(x), [*node.meta["val"].shape, 2]),
    aten.permute.default: _rewrite_permute,
    aten.transpose.int: _rewrite_transpose,
    aten.t.default: lambda b, node, x: _rewrite_transpose(b, node, x, 0, 1) if _rank(x) == 2 else b.pair(x),
    aten.flip.default: lambda b, node, x, dims: b.call(aten.flip.default, b.pair(x), _normalize_dims(x, dims)),
    aten.roll.default: _rewrite_roll,
    aten.repeat.default: lambda b, node, x, count: b.call(aten.repeat.default, b.pair(x), [*count, 1]),
    aten.constant_pad_nd.default: _padded,
    aten.index.Tensor: lambda b, node, x, places: b.call(aten.index.Tensor, b.pair(x), places),
    aten.index_put.default: lambda b, node, x, places, values, add=False: b.call(aten.index_put.default, b.pair(x), places, b.pair(values), add),
    **{target: _make_dim_rule(target) for target in (aten.slice.Tensor, aten.select.int, aten.unbind.int, aten.index_select.default)},
    **{target: _make_split_rule(target) for target in (aten.split.Tensor, aten.split_with_sizes.default)},
    **{target: _make_slice_write_rule(target) for target in (aten.slice_scatter.default, aten.select_scatter.default)},
    **{target: _make_reduction_rule(target) for target in (aten.sum.dim_IntList, aten.mean.dim)},
    aten.sum.default: _make_reduction_rule(aten.sum.dim_IntList),
    aten.mean.default: _make_reduction_rule(aten.mean.dim),
}


#: Operators that are views between complex tensors and their real pairs, or resolve lazy conjugates.
SHOWN = {aten.view_as_real.default, aten.view_as_complex.default, aten.resolve_conj.default}


def _is_complex(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_complex


def _contains_complex(value: Any) -> bool:
    return any(map(_is_complex, value)) if isinstance(value, (list, tuple)) else _is_complex(value)


class Decomposed(NamedTuple):
    """Result of decompose_complex.

    views: names of the nodes that view pairs as complex tensors for operators that PyTorch runs, or complex tensors as pairs.
    failed: names of the nodes that a rewrite rule does not support, with the reason for each.
    """

    views: set[str]
    failed: dict[str, str]


def decompose_complex(graph: fx.Graph, constants: dict[str, torch.Tensor] | None = None) -> Decomposed:
    """Rewrites the graph. Operators that PyTorch runs still take complex tensors, as views of pairs.
    `constants`, by node name, are replaced by pairs. They are passed only for graphs that dlc compiles whole, in which Fourier transforms are rewritten as
    matmuls."""
    if not any(_contains_complex(node.meta.get("val")) for node in graph.nodes):
        return Decomposed(set(), {})
    mode = torch._guards.detect_fake_mode([node.meta.get("val") for node in graph.nodes])
    if mode is None:
        return Decomposed(set(), {})
    b, gone = _ComplexRewriter(graph, mode, constants), []
    for node in list(graph.nodes):
        value, b.at = node.meta.get("val"), node.next
        if node.op in ("placeholder", "get_attr"):
            b.fake(node)
            if _is_complex(value):
                _rewrite_placeholder(b, node, constants)
            continue
        operands = [each for each in node.all_input_nodes if b.is_complex(each)]
        if node.op == "output":
            b.at = node
            node.args = fx.map_arg(node.args, lambda each: b.complex(each) if b.is_complex(each) else each)
        elif node.op == "call_function" and (operands or _contains_complex(value)):
            b.at = node
            if _rewrite(b, node, value):
                gone.append(node)
                continue
            for each in operands:
                node.replace_input_with(each, b.complex(each))
            b.at = node.next
            if _is_complex(value):
                b.show(node)
    for node in [*reversed(gone), *reversed(b.made)]:
        if not node.users:
            b.erase(node)
    return Decomposed({node.name for node in graph.nodes if node.target in SHOWN}, b.failed)


def _rewrite_placeholder(b: _ComplexRewriter, node: fx.Node, constants: dict[str, torch.Tensor] | None) -> None:
    while b.at.op == "placeholder":
        b.at = b.at.next
    if constants is None or node.name not in constants:
        b.show(node)
        return
    constants[node.name] = b.take(node, constants[node.name])


def _rewrite(b: _ComplexRewriter, node: fx.Node, value: Any) -> bool:
    """Rewrites one node of the graph. Returns False if no rule supports it, so that the node remains in PyTorch."""
    if node.target is operator.getitem:
        whole = node.args[0]
        if not b.is_complex(whole):
            return False
        b.see(node, b.call(operator.getitem, b.pair(whole), node.args[1]))
        return True
    kind, rule = "complex numbers", RULES.get(node.target)
    if rule is None:
        kind, rule = "Fourier transforms", fourier.RULES.get(node.target)
    if rule is None:
        return False
    before = node.prev
    try:
        made = _apply(b, rule, node, value)
    except UnsupportedError as reason:
        while node.prev is not before:
            b.forget(node.prev)
        b.failed[node.name] = f"not supported by the rule for {kind}: {reason}"
        return False
    if _contains_complex(value):
        b.see(node, made)
    else:
        node.replace_all_uses_with(made)
    return True


def _apply(b: _ComplexRewriter, rule: Callable[..., Any], node: fx.Node, value: Any) -> Any:
    """Applies a rule to a node. Raises UnsupportedError if the rule does not support the node's arguments."""
    try:
        given = inspect.signature(rule).bind(b, node, *node.args, **node.kwargs)
    except TypeError as error:
        raise UnsupportedError(f"its arguments: {error}") from error
    made = rule(*given.args, **given.kwargs)
    return _cast_to_node_type(b, made, value) if isinstance(value, torch.Tensor) else made


def _cast_to_node_type(b: _ComplexRewriter, made: fx.Node, value: torch.Tensor) -> fx.Node:
    """Converts the rewritten result to the element type that PyTorch specifies for the node."""
    found, pairs = made.meta["val"], [2] if _is_complex(value) else []
    wanted_shape = [*value.shape, *pairs]
    if list(found.shape) != wanted_shape:
        raise UnsupportedError(f"its result: required: the shape {wanted_shape}; found: {list(found.shape)}")
    wanted = value.dtype.to_real() if pairs else value.dtype
    return made if found.dtype is wanted else b.call(aten._to_copy.default, made, dtype=wanted)
