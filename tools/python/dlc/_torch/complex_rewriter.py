"""Builds the nodes that replace complex numbers by pairs of real numbers (complex_numbers.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch._subclasses import FakeTensor

from dlc._torch.fx_graph import OPERATOR_ERRORS, UnsupportedError, first_line

aten = torch.ops.aten


class ComplexRewriter:
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
            raise UnsupportedError(
                "a graph of torch.compile; required: dlc.compile or dlc.train_step"
            )
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
            for key in [
                key
                for key, value in known.items()
                if node is value or node is key or isinstance(key, tuple) and node is key[0]
            ]:
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
            self._parts[pair, which] = self.call(
                aten.select.int, pair, pair.meta["val"].dim() - 1, which
            )
        return self._parts[pair, which]

    def both(self, real: fx.Node, imaginary: fx.Node) -> fx.Node:
        shape = torch.broadcast_shapes(real.meta["val"].shape, imaginary.meta["val"].shape)
        parts = [
            self.expand(
                self.call(aten.unsqueeze.default, each, each.meta["val"].dim()), [*shape, 2]
            )
            for each in (real, imaginary)
        ]
        return self.call(aten.where.self, self.is_real(1), *parts)

    def is_real(self, count: int) -> fx.Node:
        """Returns the mask [True, False, True, False, ..] for a row of `count` pairs."""
        if count not in self._reals:
            places = self.call(
                aten.arange.default, 2 * count, device=torch.device("cpu"), pin_memory=False
            )
            self._reals[count] = self.call(
                aten.eq.Scalar, self.call(aten.bitwise_and.Scalar, places, 1), 0
            )
        return self._reals[count]

    def signs(self, like: fx.Node, real: int, imaginary: int) -> fx.Node:
        """Returns a row of alternating factors for a row of pairs: `real` for real parts, `imaginary` for imaginary parts."""
        parts = [
            self.call(
                aten.full.default,
                [],
                each,
                dtype=like.meta["val"].dtype,
                device=like.meta["val"].device,
            )
            for each in (real, imaginary)
        ]
        return self.call(aten.where.self, self.is_real(like.meta["val"].shape[-1] // 2), *parts)

    def row(self, pair: fx.Node) -> fx.Node:
        """Merges the last two dimensions of a tensor of pairs, so that adjacent elements in memory are in one row."""
        *others, last, _ = pair.meta["val"].shape
        return self.reshape(pair, [*others, 2 * last])

    def expand(self, node: fx.Node, shape: Sequence[int]) -> fx.Node:
        return (
            node
            if list(node.meta["val"].shape) == list(shape)
            else self.call(aten.expand.default, node, list(shape))
        )

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
            parts = [
                self.call(
                    aten.full.default, [], each, dtype=about.dtype.to_real(), device=about.device
                )
                for each in (value.real, value.imag)
            ]
            return self.both(*parts)
        if value in self._pairs:
            return self._pairs[value]
        return self.both(value, self.call(aten.zeros_like.default, value))

    def is_complex(self, value: Any) -> bool:
        return value in self._pairs

    def parts(self, value: Any) -> tuple[Any, Any]:
        """Returns the real and imaginary part of a complex tensor or a number. The imaginary part is None if the value is real."""
        if isinstance(value, fx.Node):
            return (
                (self.part(self._pairs[value], 0), self.part(self._pairs[value], 1))
                if self.is_complex(value)
                else (value, None)
            )
        return (value.real, value.imag) if isinstance(value, complex) else (value, None)

    def complex(self, value: fx.Node) -> fx.Node:
        """Returns a node that views the pairs as a complex tensor of PyTorch."""
        pair = self._pairs[value]
        if pair not in self._complex:
            whole = (
                pair
                if pair.meta["val"].stride(-1) == 1
                and all(step % 2 == 0 for step in pair.meta["val"].stride()[:-1])
                else self.contiguous(pair)
            )
            self._complex[pair] = self.call(aten.view_as_complex.default, whole)
        return self._complex[pair]

    def see(self, node: fx.Node, pair: Any) -> None:
        self._pairs[node] = pair

    def show(self, node: fx.Node) -> None:
        """Maps a complex tensor that PyTorch computes to its real pairs. Inputs may be lazy conjugates, which are resolved first."""
        plain = (
            self.call(aten.resolve_conj.default, node)
            if node.op == "placeholder" or node.meta["val"].is_conj()
            else node
        )
        self._pairs[node] = self.call(aten.view_as_real.default, plain)
        self._complex[self._pairs[node]] = node

    def take(self, node: fx.Node, constant: torch.Tensor) -> torch.Tensor:
        """Maps a complex constant to its real pairs, which replace it."""
        with self._mode:
            node.meta["val"] = torch.view_as_real(node.meta["val"])
        self._pairs[node] = node
        return torch.view_as_real(constant.detach().resolve_conj())

    def fake(self, node: fx.Node) -> None:
        if isinstance(node.meta.get("val"), torch.Tensor) and not isinstance(
            node.meta["val"], FakeTensor
        ):
            node.meta["val"] = self._mode.from_tensor(node.meta["val"])
