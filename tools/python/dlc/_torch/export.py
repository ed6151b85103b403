"""dlc.compile for a torch.nn.Module or an ExportedProgram: one program that contains the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from dlc._torch import complex_numbers, fx_graph


def is_module(model: Any) -> bool:
    return isinstance(model, (torch.nn.Module, ExportedProgram))


def _export_module(model: Any, inputs: Sequence[Any] | None) -> ExportedProgram:
    if isinstance(model, ExportedProgram):
        return model
    if inputs is None:
        raise TypeError(
            "a torch.nn.Module: required: example inputs, as in dlc.compile(module, (x,)); found: none"
        )
    try:
        with fx_graph.tracing_lock(), torch.no_grad():
            return torch.export.export(
                model,
                (inputs,)
                if isinstance(inputs, torch.Tensor)
                else fx_graph.separate_repeated_tensors(tuple(inputs)),
            )
    except fx_graph.tracing_errors() as error:
        raise ValueError(
            f"the module cannot be exported; required: a module that torch.export.export supports, with these inputs; found: {fx_graph.first_line(error)}; "
            'correct the inputs, or use torch.compile(module, backend="dlc")'
        ) from error


def make_graph_source(model: Any, inputs: Sequence[Any] | None) -> fx_graph.GraphSource:
    """Returns the source for the compiler: the exported graph. Raises ValueError with the names of operators that dlc does not support."""
    program = _export_module(model, inputs)
    with fx_graph.tracing_lock(), torch.no_grad():
        program = program.run_decompositions(fx_graph.decompositions())
    signature, graph = program.graph_signature, program.graph_module.graph
    held = {**program.state_dict, **program.constants}
    constants, names = {}, {}
    for spec in signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            names[spec.arg.name] = spec.arg.name
        elif isinstance(held.get(spec.target), torch.Tensor):
            constants[spec.arg.name] = held[spec.target]
    for node in graph.find_nodes(op="get_attr"):
        constants[node.name] = getattr(program.graph_module, node.target)
        node.meta.setdefault("val", constants[node.name])
    for spec in signature.output_specs:
        if spec.kind != OutputKind.USER_OUTPUT:
            raise ValueError(
                f"the module changes '{spec.target}' when it runs; required: a module that changes no state; call module.eval() first, or use torch.compile(module, backend=\"dlc\")"
            )
    failed = complex_numbers.decompose_complex(graph, constants).failed
    results = [node for node in graph.output_node().args[0]]
    if not all(isinstance(node, fx.Node) for node in results):
        raise ValueError(
            "the module: required: results that are tensors; found: another type of result; return only tensors"
        )
    _remove_dead_code(graph, names)
    refused = fx_graph.reasons(graph, failed)
    if refused:
        overloads = {node.name: str(node.target) for node in graph.nodes}
        reasons = sorted({f"{overloads[name]}: {reason}" for name, reason in refused.items()})
        raise ValueError(
            f'operators of the module are not supported: {"; ".join(reasons)}; use torch.compile(module, backend="dlc"), which runs them in PyTorch'
        )
    outputs = [
        ("output" if len(results) == 1 else f"output_{i}", node) for i, node in enumerate(results)
    ]
    try:
        text = fx_graph.serialize_graph(graph, constants, names, outputs)
    except fx_graph.UnsupportedError as reason:
        raise ValueError(f"the module: {reason}") from None
    return fx_graph.GraphSource(text, constants, "module")


def _remove_dead_code(graph: fx.Graph, names: dict[str, str]) -> None:
    """Removes dead code, such as checks of example values, and the non-tensor inputs that are unused afterwards."""
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    for node in graph.find_nodes(op="placeholder"):
        if not node.users and not isinstance(node.meta.get("val"), torch.Tensor):
            names.pop(node.name, None)
