"""Rewrites complex numbers, which dlc does not support, as pairs of real numbers in an additional last dimension of size 2, as in torch.view_as_real."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import fx

from dlc._torch import complex_rules, fourier
from dlc._torch.complex_rewriter import ComplexRewriter
from dlc._torch.fx_graph import UnsupportedError

aten = torch.ops.aten

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


def decompose_complex(
    graph: fx.Graph, constants: dict[str, torch.Tensor] | None = None
) -> Decomposed:
    """Rewrites the graph. Operators that PyTorch runs still take complex tensors, as views of pairs.
    `constants`, by node name, are replaced by pairs. They are passed only for graphs that dlc compiles whole, in which Fourier transforms are rewritten as
    matmuls."""
    if not any(_contains_complex(node.meta.get("val")) for node in graph.nodes):
        return Decomposed(set(), {})
    mode = torch._guards.detect_fake_mode([node.meta.get("val") for node in graph.nodes])
    if mode is None:
        return Decomposed(set(), {})
    b, gone = ComplexRewriter(graph, mode, constants), []
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
            node.args = fx.map_arg(
                node.args, lambda each: b.complex(each) if b.is_complex(each) else each
            )
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


def _rewrite_placeholder(
    b: ComplexRewriter, node: fx.Node, constants: dict[str, torch.Tensor] | None
) -> None:
    while b.at.op == "placeholder":
        b.at = b.at.next
    if constants is None or node.name not in constants:
        b.show(node)
        return
    constants[node.name] = b.take(node, constants[node.name])


def _rewrite(b: ComplexRewriter, node: fx.Node, value: Any) -> bool:
    """Rewrites one node of the graph. Returns False if no rule supports it, so that the node remains in PyTorch."""
    if node.target is operator.getitem:
        whole = node.args[0]
        if not b.is_complex(whole):
            return False
        b.see(node, b.call(operator.getitem, b.pair(whole), node.args[1]))
        return True
    kind, rule = "complex numbers", complex_rules.RULES.get(node.target)
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


def _apply(b: ComplexRewriter, rule: Callable[..., Any], node: fx.Node, value: Any) -> Any:
    """Applies a rule to a node. Raises UnsupportedError if the rule does not support the node's arguments."""
    try:
        given = inspect.signature(rule).bind(b, node, *node.args, **node.kwargs)
    except TypeError as error:
        raise UnsupportedError(f"its arguments: {error}") from error
    made = rule(*given.args, **given.kwargs)
    return _cast_to_node_type(b, made, value) if isinstance(value, torch.Tensor) else made


def _cast_to_node_type(b: ComplexRewriter, made: fx.Node, value: torch.Tensor) -> fx.Node:
    """Converts the rewritten result to the element type that PyTorch specifies for the node."""
    found, pairs = made.meta["val"], [2] if _is_complex(value) else []
    wanted_shape = [*value.shape, *pairs]
    if list(found.shape) != wanted_shape:
        raise UnsupportedError(
            f"its result: required: the shape {wanted_shape}; found: {list(found.shape)}"
        )
    wanted = value.dtype.to_real() if pairs else value.dtype
    return made if found.dtype is wanted else b.call(aten._to_copy.default, made, dtype=wanted)
