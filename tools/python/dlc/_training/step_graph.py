"""Traces a module and its loss to one graph, from which a training step is compiled."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree

from dlc._torch import class_indices, complex_numbers, fx_graph
from dlc._torch.fx_graph import UnsupportedError
from dlc._training import eager_autograd
from dlc._training.attribute_reads import AttributeReadRecorder
from dlc._training.custom_gradient import TracedFunctions

#: Reserved names of inputs, outputs and states that dlc adds to a training step.
_TAKEN = {"step", "log", "lr", "loss", "scale", "skipped"}


class _ModuleWithLoss(torch.nn.Module):
    """Module that calls the traced module and then the loss, with all arguments in one flat list."""

    def __init__(
        self,
        module: torch.nn.Module,
        loss: Callable[..., torch.Tensor],
        spec: _pytree.TreeSpec,
        reads: AttributeReadRecorder,
    ):
        super().__init__()
        self.module, self.loss, self._spec, self._reads = module, loss, spec, reads

    def forward(self, *flat: Any) -> torch.Tensor:
        *inputs, target = _pytree.tree_unflatten(list(flat), self._spec)
        with (
            TracedFunctions() as functions,
            eager_autograd.EagerCallReplacer(),
            eager_autograd.reject_python_random(),
            self._reads,
        ):
            result = self.loss(self.module(*inputs), target)
            eager_autograd.restore_reassigned_buffers(self._reads.assigned())
        eager_autograd.check_custom_backward(result, functions)
        return result


@dataclass
class State:
    """A parameter or buffer of the module that is a state of the program."""

    name: str
    tensor: torch.Tensor
    #: The module's dictionary of parameters or buffers that contains the tensor, and the key of the tensor in this dictionary.
    table: dict[str, Any]
    key: str
    trained: bool = False
    changes: bool = False

    def now(self) -> torch.Tensor:
        return self.table[self.key]


@dataclass
class StepGraph:
    text: str
    constants: dict[str, torch.Tensor]
    states: list[State]
    #: Names of the program's inputs for the tensors among the arguments.
    inputs: list[str]
    #: Buffers that became constants of the program, with their version counters at that time.
    versions: list[tuple[torch.Tensor, int]] = field(default_factory=list)
    #: Python values that the module and the loss have read while they were traced.
    reads: AttributeReadRecorder | None = None
    class_indices: list[class_indices.ClassIndexCheck] = field(default_factory=list)

    def is_current(self) -> bool:
        return all(tensor._version == version for tensor, version in self.versions) and (
            self.reads is None or self.reads.are_current()
        )


def _find_tensor_owner(whole: torch.nn.Module, target: str) -> tuple[dict[str, Any], str]:
    path, _, key = target.rpartition(".")
    owner = whole.get_submodule(path)
    return (owner._parameters if key in owner._parameters else owner._buffers), key


def _shorten_name(target: str, taken: Collection[str]) -> str:
    """Shortens a name such as 'module.conv.weight' to 'conv.weight', unless the short name is already used."""
    name = target.removeprefix("module.")
    return target if name in taken or name in _TAKEN or name.startswith("optimizer.") else name


def input_names(module: torch.nn.Module, arguments: Sequence[Any]) -> list[str]:
    """Returns a name for each argument in the flat list: the parameter names of the module's forward, and `target`."""
    try:
        parameters = [
            name
            for name, each in inspect.signature(module.forward).parameters.items()
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for at, argument in enumerate(arguments):
        last = at == len(arguments) - 1
        name = "target" if last else parameters[at] if at < len(parameters) else f"input_{at}"
        if name in _TAKEN or not last and name == "target":
            name = f"input_{at}"
        count = len(_pytree.tree_leaves(argument))
        names += [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    return names


def _find_writers(node: fx.Node) -> list[fx.Node]:
    """Returns the operators that write to the memory of a node's value, directly or through views."""
    found = []
    for user in node.users:
        schema = getattr(user.target, "_schema", None)
        if schema is None:
            found += [
                user
                for graph, at in _called_subgraphs(user, node)
                if _find_writers(graph.find_nodes(op="placeholder")[at])
            ]
            continue
        for at, argument in enumerate(schema.arguments):
            given = user.args[at] if at < len(user.args) else user.kwargs.get(argument.name)
            if given is not node or argument.alias_info is None:
                continue
            found += ([user] if argument.alias_info.is_write else []) + _find_writers(user)
    return found


def _called_subgraphs(user: fx.Node, value: fx.Node) -> list[tuple[fx.Graph, int]]:
    """Returns the subgraphs that a higher-order operator calls with the value, and the index of the value among their inputs."""
    given = [each for each in user.args if isinstance(each, fx.Node)]
    inner = [
        module.graph for each in given if isinstance(module := _get_subgraph(each), fx.GraphModule)
    ]
    others = [each for each in given if not isinstance(_get_subgraph(each), fx.GraphModule)]
    return [(graph, others.index(value)) for graph in inner if value in others]


def _get_subgraph(node: fx.Node) -> Any:
    """Returns the subgraph that a get_attr node refers to, such as a block under torch.no_grad()."""
    return (
        getattr(node.graph.owning_module, str(node.target), None) if node.op == "get_attr" else None
    )


def _preserve_no_grad(program: torch.export.ExportedProgram) -> None:
    """Preserves detach() and blocks under torch.no_grad(), which PyTorch's decompositions would drop, as operators that stop gradients."""
    graph, signature = program.graph_module.graph, program.graph_signature
    for node in list(graph.nodes):
        if node.target is torch.ops.aten.detach.default:
            _preserve_detach(node, signature.inputs_to_buffers, signature.inputs_to_parameters)
        elif (
            node.target is torch.ops.aten.detach_.default
            and node.args[0].target is not torch.ops.aten.lift_fresh_copy.default
        ):
            node.target = torch.ops.aten.detach_copy.default
            before = {
                node,
                *itertools.takewhile(lambda each, node=node: each is not node, graph.nodes),
            }
            node.args[0].replace_all_uses_with(
                node, delete_user_cb=lambda user, before=before: user not in before
            )
        elif (
            node.target is torch.ops.higher_order.wrap_with_set_grad_enabled
            and node.args[0] is False
        ):
            _detach_inputs(_get_subgraph(node.args[1]))
    program.graph_module.recompile()


def _preserve_detach(
    node: fx.Node, buffers: Collection[str], parameters: Mapping[str, str]
) -> None:
    writers = _find_writers(node)
    if not writers:
        node.target = torch.ops.aten.detach_copy.default
        return
    given = node.args[0]
    if given.name not in buffers:
        raise UnsupportedError(
            f"the module changes '{parameters.get(given.name, given.name).removeprefix('module.')}' in place through detach() or data (max_norm of an embedding does that); "
            "required: a module that changes only buffers; copy the tensor before the change"
        )
    # The writers modify the memory of the buffer itself, and no gradient reaches the values that they write.
    for writer in writers:
        for operand in [each for each in writer.all_input_nodes if each is not node]:
            _detach_before(writer, operand, lambda user, writer=writer: user is writer)
    node.replace_all_uses_with(given)


def _detach_inputs(module: fx.GraphModule) -> None:
    """Stops the gradients of the inputs of a block under torch.no_grad(). Inputs that the block writes to keep their memory."""
    inputs = module.graph.find_nodes(op="placeholder")
    body = next(node for node in module.graph.nodes if node.op != "placeholder")
    for given in inputs:
        if not _find_writers(given):
            _detach_before(body, given, lambda user: True)
    module.recompile()


def _detach_before(place: fx.Node, value: fx.Node, is_replaced: Callable[[fx.Node], bool]) -> None:
    """Replaces a value by a detached copy in the users for which `is_replaced` returns True."""
    found = value.meta.get("val")
    if not isinstance(found, torch.Tensor) or not found.is_floating_point():
        return
    with place.graph.inserting_before(place):
        kept = place.graph.call_function(torch.ops.aten.detach_copy.default, (value,))
    kept.meta = dict(value.meta)
    value.replace_all_uses_with(
        kept, delete_user_cb=lambda user: user is not kept and is_replaced(user)
    )


def _export_and_decompose(
    whole: _ModuleWithLoss, flat: Sequence[Any]
) -> torch.export.ExportedProgram:
    try:
        with fx_graph.tracing_lock(), torch.enable_grad(), warnings.catch_warnings():
            # torch.export warns about recurrent layers, because they store lists of their weights in attributes.
            warnings.filterwarnings(
                "ignore", message="(?s)The tensor attributes.*were assigned during export"
            )
            program = torch.export.export(whole, fx_graph.separate_repeated_tensors(tuple(flat)))
    except UnsupportedError:
        raise
    except fx_graph.tracing_errors() as error:
        raise ValueError(
            f"the module with its loss cannot be exported; required: a module that torch.export.export supports, and a loss of (output, target); found: {fx_graph.first_line(error)}; correct the inputs, the module or the loss"
        ) from error
    _preserve_no_grad(program)
    table = fx_graph.decompositions()
    table.pop(torch.ops.aten.detach_copy.default, None)
    with fx_graph.tracing_lock(), torch.no_grad():
        return program.run_decompositions(table)


def _check_loss_node(node: Any) -> fx.Node:
    value = node.meta.get("val") if isinstance(node, fx.Node) else node
    if not isinstance(value, torch.Tensor) or not isinstance(node, fx.Node):
        raise ValueError(
            f"the loss: required: a tensor with one number; found: {type(value).__name__}; return only the loss"
        )
    if value.dim() or not value.is_floating_point():
        raise ValueError(
            f"the loss: required: a tensor with one number, of floats; found: {value.dtype} of the shape {list(value.shape)}; reduce it, as in loss.mean()"
        )
    return node


def _check_supported(graph: fx.Graph, failed: Mapping[str, str], seed: int) -> None:
    refused = fx_graph.reasons(graph, failed, seed)
    if refused:
        overloads = {node.name: str(node.target) for node in graph.nodes}
        reasons = sorted({f"{overloads[name]}: {reason}" for name, reason in refused.items()})
        raise ValueError(
            f'operators of the module or its loss are not supported: {"; ".join(reasons)}; use torch.compile(module, backend="dlc"), which runs them in PyTorch'
        )


def _merge_tied_parameters(graph: fx.Graph, tensors: dict[str, torch.Tensor]) -> None:
    """Merges the placeholders of parameters that are the same tensor (tied weights)."""
    first: dict[int, fx.Node] = {}
    for node in graph.find_nodes(op="placeholder"):
        tensor = tensors.get(node.name)
        if tensor is not None:
            node.replace_all_uses_with(first.setdefault(id(tensor), node))


def _module_names(module: torch.nn.Module, loss: Any) -> dict[torch.nn.Module, str]:
    names = {each: name for name, each in module.named_modules()}
    if isinstance(loss, torch.nn.Module):
        names.update(
            {
                each: f"loss.{name}" if name else "loss"
                for name, each in loss.named_modules()
                if each not in names
            }
        )
    return names


def check_hooks(module: torch.nn.Module, loss: Any) -> None:
    """Rejects hooks of the modules and their parameters that eager PyTorch would call in the backward pass."""
    names = _module_names(module, loss)
    parameters = [
        (f"{path}.{name}" if path else name, each)
        for owner, path in names.items()
        for name, each in owner._parameters.items()
        if each is not None
    ]
    eager_autograd.check_hooks(
        [(path or type(each).__name__, each) for each, path in names.items()], parameters
    )


def trace_step(
    module: torch.nn.Module,
    loss: Callable[..., torch.Tensor],
    arguments: Sequence[Any],
    flat: Sequence[Any],
    trained: Collection[int],
    seed: int,
) -> StepGraph:
    """Traces a training step.
    `arguments` are those of a call, `flat` their leaves with the sizes to compile for, `trained` the ids of the trained parameters."""
    spec = _pytree.tree_structure(tuple(arguments))
    check_hooks(module, loss)
    reads = AttributeReadRecorder(
        _module_names(module, loss), () if isinstance(loss, torch.nn.Module) else (loss,)
    )
    whole = _ModuleWithLoss(module, loss, spec, reads)
    program = _export_and_decompose(whole, flat)
    signature, graph = program.graph_signature, program.graph_module.graph
    mutated = signature.buffers_to_mutate
    places = {
        each.arg.name: _find_tensor_owner(whole, each.target)
        for each in signature.input_specs
        if each.kind in (InputKind.PARAMETER, InputKind.BUFFER)
    }
    _merge_tied_parameters(graph, {name: table[key] for name, (table, key) in places.items()})
    for each in signature.output_specs:
        if each.kind not in (OutputKind.USER_OUTPUT, OutputKind.BUFFER_MUTATION):
            raise ValueError(
                f"the module changes '{each.target}' when it runs; required: a module that changes only buffers; copy the tensor before the change"
            )

    held = {**program.state_dict, **program.constants}
    changed = set(mutated.values())
    names, constants, states, inputs, versions = {}, {}, [], [], []
    given_names = input_names(module, arguments)
    users = iter(zip(given_names, flat))
    input_indices: dict[str, int] = {}
    by_tensor: dict[int, State] = {}
    # Removes unused nodes, including checks of example values.
    graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    live = {node.name for node in graph.find_nodes(op="placeholder") if node.users}
    for each in signature.input_specs:
        node = each.arg.name
        if each.kind == InputKind.USER_INPUT:
            name, given = next(users)
            if isinstance(given, torch.Tensor):
                names[node] = name
                input_indices[node] = len(inputs)
                inputs.append(name)
        # A parameter or buffer is a state if it is read, or written without being read.
        elif node in places and (node in live or each.target in changed):
            table, key = places[node]
            tensor = table[key]
            if (
                each.kind == InputKind.BUFFER
                and not tensor.is_floating_point()
                and each.target not in changed
            ):
                # Integer buffers are small index tables. They become constants, which allows folding at compile time.
                constants[node] = tensor
                versions.append((tensor, tensor._version))
                continue
            name = _shorten_name(each.target, {*given_names, *names.values()})
            state = State(name, tensor, table, key, id(tensor) in trained, each.target in changed)
            states.append(state)
            by_tensor[id(tensor)] = state
            names[node] = name
        elif isinstance(held.get(each.target), torch.Tensor):
            constants[node] = held[each.target]
    for node in graph.find_nodes(op="get_attr"):
        constants[node.name] = getattr(program.graph_module, node.target)
        node.meta.setdefault("val", constants[node.name])
    checks = class_indices.find_class_index_checks(graph, input_indices)
    failed = complex_numbers.decompose_complex(graph, constants).failed
    *_, loss_value = graph.output_node().args[0]
    outputs = [("loss", _check_loss_node(loss_value))]
    _check_supported(graph, failed, seed)
    results = {node.name: node for node in graph.output_node().args[0] if isinstance(node, fx.Node)}
    for name, target in mutated.items():
        table, key = _find_tensor_owner(whole, target)
        if id(table[key]) in by_tensor:
            outputs.append((by_tensor[id(table[key])].name, results[name]))
    try:
        text = fx_graph.serialize_graph(graph, constants, names, outputs, seed)
    except fx_graph.UnsupportedError as reason:
        raise ValueError(f"the module with its loss: {reason}") from None
    return StepGraph(text, constants, states, inputs, versions, reads, checks)
