"""Splits a graph into parts for dlc and parts for PyTorch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from dlc._torch import (
    attention,
    complex_numbers,
    device_kinds,
    flop_count,
    fx_graph,
    graph_report,
    higher_order,
    random_numbers,
    saved_layouts,
)
from dlc._torch.backend_options import Options
from dlc._torch.compiled_subgraph import CompiledSubgraph

#: Text of the report for a view that remains in PyTorch.
VIEW = "a view of existing memory"
#: Text of the report for an operator that remains in PyTorch although dlc supports it. With the option `strict`, dlc runs it.
FASTER = "PyTorch's own kernel takes less time"
FASTER_IN_PYTORCH = {
    torch.ops.aten.grid_sampler_2d_backward.default,
    torch.ops.aten.grid_sampler_3d_backward.default,
    torch.ops.aten._embedding_bag.default,
    torch.ops.aten._embedding_bag_forward_only.default,
}
ADAPTIVE = {
    torch.ops.aten.adaptive_max_pool2d.default,
    torch.ops.aten.adaptive_max_pool2d_backward.default,
}


class _OperatorSupport(OperatorSupportBase):
    """Selects the nodes on one device that dlc compiles: all but `refused`, whose keys are the names of nodes that remain in PyTorch."""

    def __init__(self, refused: Mapping[str, str], device: torch.device):
        self._refused, self.device = refused, device

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        base = node.args[0] if fx_graph.is_getitem(node) else node
        return (
            isinstance(base, fx.Node)
            and base.op == "call_function"
            and base.name not in self._refused
            and device_kinds.node_device(base) == self.device
        )


def _is_not_view(node: fx.Node) -> bool:
    """Returns True if the node computes new values instead of a view of existing memory."""
    if fx_graph.is_getitem(node):
        return False
    return not any(result.alias_info is not None for result in node.target._schema.returns)


def _find_eager_views(graph: fx.Graph, refused: Mapping[str, str]) -> dict[str, str]:
    """Returns the views whose users all remain in PyTorch. Such views cost nothing in PyTorch, while a program would have to copy their elements."""
    found: dict[str, str] = {}
    for node in reversed(graph.nodes):
        if (
            node.op != "call_function"
            or node.name in refused
            or fx_graph.is_getitem(node)
            or _is_not_view(node)
            or not node.users
        ):
            continue
        if all(user.name in refused or user.name in found for user in node.users):
            found[node.name] = VIEW
    return found


def _view_operand(node: Any) -> Any:
    """Returns the operand of a view, or None if the node is not a view."""
    if not isinstance(node, fx.Node) or node.op != "call_function":
        return None
    if fx_graph.is_getitem(node):
        return _view_operand(node.args[0])
    return (
        None
        if not isinstance(node.target, torch._ops.OpOverload) or _is_not_view(node)
        else node.args[0]
    )


def _preserve_result_aliases(graph: fx.Graph) -> dict[str, str]:
    """Preserves the aliasing of results: a result that is a view of another result is replaced by a new view, which remains in PyTorch."""
    output = graph.output_node()
    bases: dict[fx.Node, fx.Node] = {}
    for result in output.all_input_nodes:
        base = result
        while (below := _view_operand(base)) is not None:
            base = below
        if base is not result:
            bases[result] = base
    count = Counter([*bases.values(), *output.all_input_nodes])
    made: dict[fx.Node, fx.Node] = {}

    def again(node: fx.Node, base: fx.Node) -> fx.Node:
        if node is not base and node not in made:
            first = again(node.args[0], base)  # type: ignore[arg-type]
            with graph.inserting_before(output):
                made[node] = graph.node_copy(
                    node, lambda each: first if each is node.args[0] else each
                )
        return made.get(node, node)

    for result, base in bases.items():
        if base.op == "call_function" and count[base] > 1:
            output.replace_input_with(result, again(result, base))
    return {node.name: VIEW for node in made.values()}


def strict_error(message: str) -> ValueError:
    return ValueError(
        f"options={{'strict': True}}: required: a graph that dlc supports completely; found: {message}; remove strict to let PyTorch run the rest"
    )


def _find_unsupported_nodes(graph: fx.Graph, failed: Mapping[str, str]) -> dict[str, str]:
    """Returns the nodes of a graph that remain in PyTorch, with the reason for each."""
    found = fx_graph.reasons(graph, failed)
    for node in graph.nodes:
        if node.name in found and random_numbers.is_random(node):
            found[node.name] = graph_report.RANDOM
    return found


def _is_faster_in_pytorch(node: fx.Node) -> bool:
    if node.target in ADAPTIVE:
        # Adaptive pooling, or its gradient, is faster in PyTorch if its windows have different sizes.
        is_gradient = isinstance(node.args[1], fx.Node)
        parts = node.args[0].meta["val"].shape[-2:] if is_gradient else node.args[1]
        image = node.args[is_gradient].meta["val"].shape[-2:]
        return any(not part or size % part for size, part in zip(image, parts))
    return node.target in FASTER_IN_PYTORCH


def split_graph(
    module: fx.GraphModule,
    options: Options,
    report: graph_report.Graph,
    constants: Mapping[str, torch.Tensor] = {},
) -> fx.GraphModule:
    """Replaces the subgraphs that dlc supports by programs. The inputs named in `constants` become constants of the programs."""
    with fx_graph.tracing_lock():
        return _split(module, options, report, constants)


def _split(
    module: fx.GraphModule,
    options: Options,
    report: graph_report.Graph,
    constants: Mapping[str, torch.Tensor],
) -> fx.GraphModule:
    graph = module.graph
    higher_order.inline_higher_order_ops(module, lambda body: split_graph(body, options, report))
    shown, failed = complex_numbers.decompose_complex(graph)
    random_numbers.detach_shape_operands(graph)
    fx_graph.widen_statistics(graph)
    # Aliasing of results is preserved here only for inference: in training, PyTorch itself preserves it.
    aliases = {
        **(_preserve_result_aliases(graph) if report.kind == "inference" else {}),
        **dict.fromkeys(shown, VIEW),
    }
    nodes = [
        node
        for node in graph.nodes
        if node.op == "call_function"
        and not fx_graph.is_getitem(node)
        and random_numbers.MEMORY not in node.meta
        and node.name not in aliases
        and not saved_layouts.has_saved_layout(node)
    ]
    report.operators += len(nodes)
    overloads, flops = (
        {node.name: str(node.target) for node in nodes},
        {node.name: flop_count.of(node) for node in nodes},
    )
    report.flops += sum(flops.values())
    refused = {
        name: reason
        for name, reason in _find_unsupported_nodes(graph, failed).items()
        if name not in aliases
    }
    if not options.strict:
        refused.update({node.name: FASTER for node in nodes if _is_faster_in_pytorch(node)})
    views = _find_eager_views(graph, refused)
    # Reasons why nodes remain in PyTorch, by node name.
    left = {name: reason for name, reason in {**refused, **views}.items() if name in overloads}
    outside = {**refused, **views, **aliases}
    devices = device_kinds.graph_devices(graph)
    if not all(map(device_kinds.is_host, devices)):
        report.notes.append(f"programs on {', '.join(map(str, devices))}")
    if options.strict and refused:
        raise strict_error(
            "; ".join(
                sorted(
                    {
                        f"{overloads[name]}: {reason}"
                        for name, reason in left.items()
                        if name in refused
                    }
                )
            )
        )
    fused = module
    for device in devices:
        support = _OperatorSupport(outside, device)
        fused = _compile_partitions(fused, support, constants, options, report, left, bool(refused))
    left = {name: reason for name, reason in left.items() if name in overloads}
    report.leave([(overloads[name], reason) for name, reason in left.items()])
    report.eager_flops += sum(flops[name] for name in left)
    attention.replace_remaining(fused)
    fused.recompile()
    return fused


def _compile_partitions(
    module: fx.GraphModule,
    support: _OperatorSupport,
    constants: Mapping[str, torch.Tensor],
    options: Options,
    report: graph_report.Graph,
    left: dict[str, str],
    reports_views: bool,
) -> fx.GraphModule:
    """Replaces subgraphs of nodes that `support` selects by programs. With `reports_views`, adds the nodes of subgraphs that have only views, which remain in PyTorch, to `left`."""
    partitioner = CapabilityBasedPartitioner(module, support, allows_single_node_partition=True)
    parts = []
    for part in partitioner.propose_partitions():
        if any(map(_is_not_view, part.nodes)):
            parts.append(part)
        elif reports_views:
            left.update({node.name: VIEW for node in part.nodes})
    prefix = f"{support.device}_fused_".replace(":", "_")
    fused = partitioner.fuse_partitions(parts, prefix=prefix)
    for at in range(len(parts)):
        _replace_subgraph(fused, f"{prefix}{at}", constants, options, report, left)
    return fused


def _replace_subgraph(
    whole: fx.GraphModule,
    name: str,
    constants: Mapping[str, torch.Tensor],
    options: Options,
    report: graph_report.Graph,
    left: dict[str, str],
) -> None:
    """Replaces a subgraph of `whole` by a program. `constants` are named as in the whole graph."""
    part = getattr(whole, name)
    (call,) = whole.graph.find_nodes(op="call_module", target=name)
    saved_layouts.unmark_read_results(part.graph, call)
    known = {
        inside.name: constants[outside.name]
        for inside, outside in zip(part.graph.find_nodes(op="placeholder"), call.args)
        if outside.name in constants
    }
    setattr(whole, name, _compile_subgraph(part, known, options, report, left))


def _compile_subgraph(
    part: fx.GraphModule,
    constants: Mapping[str, torch.Tensor],
    options: Options,
    report: graph_report.Graph,
    left: dict[str, str],
) -> torch.nn.Module:
    """Compiles a subgraph. If the compiler rejects it, compiles each half separately, so that only the rejected operators remain in PyTorch."""
    nodes = [node for node in part.graph.nodes if node.op == "call_function"]
    operators = [node for node in nodes if not fx_graph.is_getitem(node)]
    try:
        made = _CallableModule(CompiledSubgraph(part, constants, options, report))
        report.pieces.append(len(operators))
        return made
    except (ValueError, fx_graph.UnsupportedError) as error:
        if options.strict:
            raise strict_error(str(error)) from error
        if len(operators) == 1:
            left[operators[0].name] = f"the program cannot be compiled: {error}"
            return part
    half = set(operators[: len(operators) // 2])
    # A getitem node stays in the same half as the node whose result it selects.
    first = dict.fromkeys(
        node for node in nodes if (node.args[0] if fx_graph.is_getitem(node) else node) in half
    )
    halves = [first, dict.fromkeys(node for node in nodes if node not in first)]
    fused = fuse_by_partitions(part, halves)
    for name in ("fused_0", "fused_1"):
        _replace_subgraph(fused, name, constants, options, report, left)
    fused.recompile()
    return fused


class _CallableModule(torch.nn.Module):
    """Module that wraps a callable, so that a graph can call it."""

    def __init__(self, run: Callable[..., Any]):
        super().__init__()
        self._run = run

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self._run(*tensors)

    __call__ = forward
