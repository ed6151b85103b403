"""Compiles a subgraph to a program, which reads and writes tensors in their memory order."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx

from dlc._compile import Compiler
from dlc._model import Model
from dlc._torch import class_indices, device_kinds, fx_graph, graph_report, saved_layouts
from dlc._torch.backend_options import Options


def _to_tensor(array: Any) -> torch.Tensor:
    """Converts a NumPy array, including those with bfloat16 elements of ml_dtypes, to a tensor."""
    return (
        torch.from_numpy(array.view("int16")).view(torch.bfloat16)
        if array.dtype.name == "bfloat16"
        else torch.from_numpy(array)
    )


def _copy_with_strides(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """Copies a tensor to new memory with these strides. Dimensions with stride 0 remain expanded."""
    once = tuple(
        slice(0, 1) if not step and size > 1 else slice(None)
        for size, step in zip(tensor.shape, strides)
    )
    part = tensor[once]
    return (
        torch.empty_strided(part.shape, strides, dtype=tensor.dtype, device=tensor.device)
        .copy_(part)
        .expand(tensor.shape)
    )


class CompiledSubgraph:
    """A subgraph that is compiled to a program. `constants` are the inputs whose elements are compile-time constants, by node name."""

    def __init__(
        self,
        part: fx.GraphModule,
        constants: Mapping[str, torch.Tensor],
        options: Options,
        report: graph_report.Graph,
    ):
        kept = saved_layouts.saved_results(part.graph)
        self._device = device_kinds.common_device(part.graph)
        self._class_indices = class_indices.find_class_index_checks(
            part.graph,
            {
                node.name: i
                for i, node in enumerate(part.graph.find_nodes(op="placeholder"))
                if node.name not in constants
            },
        )
        graph, self._orders = _to_memory_order(part.graph, constants, kept)
        names = [node.name for node in graph.find_nodes(op="placeholder")]
        self._inputs = [i for i, name in enumerate(names) if name not in constants]
        inputs = {names[i]: names[i] for i in self._inputs}
        self._single = isinstance(graph.output_node().args[0], fx.Node)
        nodes = saved_layouts.get_graph_results(graph)
        text = fx_graph.serialize_graph(
            graph,
            constants,
            inputs,
            [(f"result_{i}", node) for i, node in enumerate(nodes)],
            free={f"result_{i}" for i in kept},
        )
        compiler = Compiler(
            fx_graph.GraphSource(text, constants, "graph"), options.for_device(self._device), False
        )
        self._run = Model(compiler.inputs, compiler.outputs, compiler=compiler)
        self._run.prepare()
        # Strides of the results that PyTorch expects to be non-contiguous; programs produce contiguous results.
        self._strides = {
            i: node.meta["val"].stride()
            for i, node in enumerate(nodes)
            if i not in kept and not node.meta["val"].is_contiguous()
        }
        layouts = {each.name: each.layout for each in self._run._sessions[0].outputs}
        for i, each in kept.items():
            each.set_layout(layouts[f"result_{i}"])
        report.copied += len(self._strides)

    def __call__(self, *tensors: torch.Tensor) -> Any:
        class_indices.check_class_indices(self._class_indices, tensors)
        given = [tensors[i] for i in self._inputs]
        given = [tensor.detach() if tensor.requires_grad else tensor for tensor in given]
        for i, order in self._orders.given.items():
            given[i] = given[i].permute(order)
        results = self._run(*given)
        if not isinstance(results, tuple):
            results = (results,)
        if not given:
            results = tuple(_to_tensor(each).to(self._device) for each in results)
        elif results[0].device != self._device:
            # All inputs are scalars in host memory, so the program has returned its results there.
            results = tuple(each.to(self._device) for each in results)
        if self._strides or self._orders.made:
            results = tuple(self._laid(i, each) for i, each in enumerate(results))
        return results[0] if self._single else results

    def _laid(self, at: int, result: torch.Tensor) -> torch.Tensor:
        if at in self._orders.made:
            return result.permute(self._orders.made[at])
        if at not in self._strides:
            return result
        return _copy_with_strides(result, self._strides[at])


class _DimensionOrders(NamedTuple):
    """Permutations of inputs (`given`) and results (`made`) between the order of dimensions in PyTorch and the order in memory."""

    given: dict[int, list[int]]
    made: dict[int, list[int]]


def _memory_order(value: Any) -> list[int] | None:
    """Returns the order of a tensor's dimensions in memory if the tensor is dense but not contiguous, otherwise None."""
    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return None
    order = sorted(range(value.dim()), key=lambda d: (-value.stride(d), -value.size(d)))
    return order if value.permute(order).is_contiguous() else None


def _to_memory_order(
    graph: fx.Graph, constants: Mapping[str, torch.Tensor], kept: Collection[int]
) -> tuple[fx.Graph, _DimensionOrders]:
    """Returns the graph with inputs and results in the order of their dimensions in memory, so that they need not be copied.
    Values saved for the backward graph are skipped, because they have a layout of their own."""
    orders = _DimensionOrders({}, {})
    if not any(
        _memory_order(node.meta.get("val"))
        for node in [*graph.find_nodes(op="placeholder"), *graph.output_node().all_input_nodes]
    ):
        return graph, orders
    graph = copy.deepcopy(graph)
    permute = torch.ops.aten.permute.default
    for i, node in enumerate(
        each for each in graph.find_nodes(op="placeholder") if each.name not in constants
    ):
        value = node.meta.get("val")
        order = _memory_order(value)
        if order is None:
            continue
        orders.given[i] = order
        with graph.inserting_after(node):
            seen = graph.call_function(permute, (node, [order.index(d) for d in range(len(order))]))
        node.replace_all_uses_with(seen, delete_user_cb=lambda user, seen=seen: user is not seen)
        seen.meta["val"], node.meta["val"] = value, value.permute(order)
    output = graph.output_node()
    results = saved_layouts.get_graph_results(graph)
    for i, node in enumerate(results):
        order = _memory_order(node.meta.get("val"))
        if order is None or i in kept:
            continue
        orders.made[i] = [order.index(d) for d in range(len(order))]
        with graph.inserting_before(output):
            results[i] = graph.call_function(permute, (node, order))
        results[i].meta["val"] = node.meta["val"].permute(order)
    output.args = (results[0] if isinstance(output.args[0], fx.Node) else tuple(results),)
    return graph, orders
