"""Handles PyTorch's higher-order operators, whose arguments are graphs: some are inlined; for the others, dlc compiles parts of their subgraphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

from dlc._torch import fx_graph

#: Higher-order operators that PyTorch itself decomposes into few operators on whole tensors.
SPELLED_OUT = ("flex_attention", "associative_scan")


def _find_subgraphs(module: fx.GraphModule, node: fx.Node) -> list[fx.Node]:
    return [
        each
        for each in node.all_input_nodes
        if each.op == "get_attr"
        and isinstance(getattr(module, str(each.target), None), fx.GraphModule)
    ]


def _inline_higher_order_op(
    module: fx.GraphModule, node: fx.Node, meaning: Callable[..., Any], mode: FakeTensorMode
) -> None:
    """Replaces a higher-order operator by its decomposition."""
    from torch.fx.experimental.proxy_tensor import make_fx

    given = [
        each for each in node.all_input_nodes if isinstance(each.meta.get("val"), torch.Tensor)
    ]
    known = {each: getattr(module, str(each.target)) for each in _find_subgraphs(module, node)}

    def run(*tensors: torch.Tensor) -> Any:
        values = {**known, **dict(zip(given, tensors))}
        return meaning(*fx.map_arg(node.args, values.get), **fx.map_arg(node.kwargs, values.get))

    with mode, torch.no_grad():
        traced = make_fx(
            torch.func.functionalize(run), decomposition_table=fx_graph.decompositions()
        )(*[each.meta["val"] for each in given])
    for number in traced.graph.find_nodes(
        op="call_function", target=torch.ops.aten._to_copy.default
    ):
        if not isinstance(number.args[0], fx.Node):
            number.target = torch.ops.aten.scalar_tensor.default
    constants = {}
    for inside in traced.graph.find_nodes(op="get_attr"):
        name = f"{node.name}_{inside.target}"
        setattr(module, name, getattr(traced, inside.target))
        constants[inside] = name
    for inside, name in constants.items():
        inside.target = name
    with module.graph.inserting_before(node):
        made: Any = module.graph.graph_copy(
            traced.graph, dict(zip(traced.graph.find_nodes(op="placeholder"), given))
        )
    for user in list(node.users):
        user.replace_all_uses_with(made[user.args[1]])
        module.graph.erase_node(user)
    module.graph.erase_node(node)


def inline_higher_order_ops(
    module: fx.GraphModule, run: Callable[[fx.GraphModule], fx.GraphModule]
) -> None:
    """Inlines the higher-order operators in SPELLED_OUT, if their results are used only through getitem.
    Applies `run`, which splits a graph between dlc and PyTorch, to the subgraphs of all others."""
    nodes = [
        node
        for node in module.graph.nodes
        if node.op == "call_function"
        and isinstance(node.target, torch._ops.HigherOrderOperator)
        and _find_subgraphs(module, node)
    ]
    if not nodes:
        return
    mode = torch._guards.detect_fake_mode([node.meta.get("val") for node in module.graph.nodes])
    bodies: set[str] = set()
    for node in nodes:
        if (
            node.target.name() in SPELLED_OUT
            and mode is not None
            and all(map(fx_graph.is_getitem, node.users))
        ):
            _inline_higher_order_op(
                module,
                node,
                node.target.py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd],
                mode,
            )
        else:
            for each in _find_subgraphs(module, node):
                bodies.add(str(each.target))
    for name in bodies:
        setattr(module, name, run(getattr(module, name)))
    module.graph.eliminate_dead_code()
    module.recompile()
