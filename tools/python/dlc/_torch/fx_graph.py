"""Serializes a torch.fx graph as text for the C++ importer (frontend/aten/README.md). The importer, not this module, defines the semantics of operators."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import operator
import re
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import fx
from torch._subclasses import FakeTensor
from torch.utils import _pytree

from dlc._torch import device_kinds

VERSION = 1

ELEMENTS = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.bool: "bool",
}


#: Operators whose results depend on the strides of their operand in memory.
STRIDED = {
    torch.ops.aten.as_strided.default,
    torch.ops.aten.as_strided_copy.default,
    torch.ops.aten.as_strided_scatter.default,
}


class UnsupportedError(ValueError):
    """Raised for a node or a part of a module that dlc does not support; the message gives the reason."""


#: Exceptions that PyTorch raises if a tensor operator rejects its arguments.
OPERATOR_ERRORS = (IndexError, RuntimeError, TypeError, ValueError)


def tracing_errors() -> tuple[type[Exception], ...]:
    """Returns the exceptions that PyTorch's tracer raises for unsupported code: those of operators, of its checks, and of features that tensors without
    values lack. Other exceptions, such as those that a module defines itself, are passed to the caller unchanged."""
    from torch._export.verifier import SpecViolationError

    return (*OPERATOR_ERRORS, AssertionError, AttributeError, KeyError, SpecViolationError)


def tracing_lock() -> contextlib.AbstractContextManager[Any]:
    """Returns the lock to hold while graphs are traced or modified, which PyTorch supports in one thread at a time. It is PyTorch's own reentrant lock."""
    from torch._dynamo.convert_frame import compile_lock

    return compile_lock


def type_of(value: Any) -> list[Any] | None:
    """Returns [element type, sizes] of a tensor, or None if the value is not a tensor that dlc supports."""
    if (
        not isinstance(value, torch.Tensor)
        or value.dtype not in ELEMENTS
        or value.layout != torch.strided
    ):
        return None
    sizes = list(value.shape)
    return [ELEMENTS[value.dtype], sizes] if all(type(size) is int for size in sizes) else None


def has_storage(tensor: torch.Tensor) -> bool:
    """Returns True if all elements of a tensor are inside its storage, which a program may have freed."""
    if not tensor.numel():
        return True
    end = (
        tensor.storage_offset()
        + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
        + 1
    )
    return end * tensor.element_size() <= tensor.untyped_storage().nbytes()


def separate_repeated_tensors(inputs: Any) -> Any:
    """Replaces each repetition of a tensor among the inputs by another tensor with the same memory.
    torch.export would merge them to one input, but other calls of the compiled program may pass different tensors."""
    seen: set[int] = set()

    def separate(each: Any) -> Any:
        if not isinstance(each, torch.Tensor):
            return each
        if id(each) in seen:
            return each.detach().requires_grad_(each.requires_grad)
        seen.add(id(each))
        return each

    return _pytree.tree_map(separate, inputs)


def first_line(error: Exception) -> str:
    """Returns the first line of an exception's message, or the type of an exception without a message. PyTorch's other lines describe its tracer."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def describe_unsupported_type(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return f"a {type(value).__name__} instead of a tensor"
    if any(type(size) is not int for size in value.shape):
        return f"a tensor whose size depends on values, {list(map(str, value.shape))}"
    return f"{value.dtype} and {value.layout}, which dlc does not support"


def is_getitem(node: fx.Node) -> bool:
    return node.target is operator.getitem


def name_of(node: fx.Node) -> str:
    """Returns the name of a node's operator overload, such as add.Tensor. Names outside of the namespace aten are qualified, such as dlc::recurrent.default."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        raise UnsupportedError(f"{target} is not an operator of PyTorch")
    name = f"{target._opname}.{target._overloadname}"
    return name if target.namespace == "aten" else f"{target.namespace}::{name}"


def encode_argument(value: Any) -> Any:
    """Converts an argument of a node to JSON."""
    if isinstance(value, fx.Node):
        if is_getitem(value):
            return {"of": value.args[0].name, "at": value.args[1]}
        if not isinstance(value.meta.get("val"), (torch.Tensor, list, tuple)):
            raise UnsupportedError("an argument is a number that is known only at run time")
        return {"of": value.name}
    if isinstance(value, float):
        return repr(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [encode_argument(each) for each in value]
    if isinstance(value, torch.dtype):
        return ELEMENTS.get(value, str(value))
    if isinstance(value, (torch.device, torch.memory_format, torch.layout)):
        return str(value)
    raise UnsupportedError(f"an argument is a {type(value).__name__}")


def get_arguments(node: fx.Node) -> tuple[dict[str, Any], list[str]]:
    """Returns a node's arguments by schema name, including defaults, and the names of optional arguments that differ from their defaults."""
    given = dict(node.kwargs)
    schema = node.target._schema.arguments
    found, changed = {}, []
    for at, argument in enumerate(schema):
        default = argument.default_value if argument.has_default_value() else None
        value = node.args[at] if at < len(node.args) else given.get(argument.name, default)
        found[argument.name] = encode_argument(value)
        # The values are compared as JSON text, because 1 == True in Python.
        if argument.has_default_value() and json.dumps(found[argument.name]) != json.dumps(
            encode_argument(default)
        ):
            changed.append(argument.name)
    if node.target in STRIDED:
        found.update(_get_memory_layout(node.args[0]))
    return found, changed


def _get_memory_layout(node: fx.Node) -> dict[str, Any]:
    """Returns the strides and the offset in memory of the operand of a strided view."""
    value = node.meta["val"]
    return {
        "self_stride": encode_argument(list(value.stride())),
        "self_offset": encode_argument(value.storage_offset()),
    }


def used_results(node: fx.Node) -> set[int]:
    """Returns the indices of the results of a node with several results that other nodes use."""
    return {user.args[1] for user in node.users if is_getitem(user) and user.users}


def get_result_types(node: fx.Node) -> list[Any]:
    value = node.meta.get("val")
    if not isinstance(value, (list, tuple)):
        value, wanted = [value], {0}
    else:
        wanted = used_results(node)
    types = []
    for at, each in enumerate(value):
        found = type_of(each) if at in wanted else None
        if at in wanted and found is None:
            raise UnsupportedError(f"result {at} is {describe_unsupported_type(each)}")
        types.append(found)
    return types


def source_location(node: fx.Node) -> str:
    """Returns the line of the model's source code that created the node, or the node's name if the line is unknown."""
    places = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ":".join(places[-1]) if places else node.name


def serialize_node(node: fx.Node) -> dict[str, Any]:
    op = name_of(node)
    if conflict := device_kinds.find_device_conflict(node):
        raise UnsupportedError(conflict)
    given, changed = get_arguments(node)
    return {
        "name": node.name,
        "op": op,
        "where": source_location(node),
        "args": given,
        **({"set": changed} if changed else {}),
        "results": get_result_types(node),
    }


def row(name: str, value: Any) -> list[Any]:
    found = type_of(value)
    if found is None:
        raise UnsupportedError(f"'{name}' is {describe_unsupported_type(value)}")
    return [name, found]


def serialize_graph(
    graph: fx.Graph,
    constants: Mapping[str, torch.Tensor],
    inputs: Mapping[str, str],
    outputs: list[tuple[str, fx.Node]],
    seed: int | None = None,
    free: Collection[str] = (),
) -> str:
    """Serializes the whole graph. `constants` are tensors by node name; `inputs` maps the names of other nodes without operands to input names.
    A seed permits random numbers, which only training steps may draw. Outputs named in `free` may have any layout."""
    top: dict[str, Any] = {
        "aten": VERSION,
        "inputs": [],
        "constants": [],
        "nodes": [],
        "outputs": [],
    }
    if seed is not None:
        top["seed"] = seed
    renamed = _make_unique_names(graph, set(inputs.values()))
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            if node.name in constants:
                top["constants"].append(row(node.name, constants[node.name]))
            elif node.name in inputs:
                renamed[node.name] = inputs[node.name]
                top["inputs"].append(row(inputs[node.name], node.meta.get("val")))
        elif node.op == "call_function" and not is_getitem(node):
            top["nodes"].append(
                {**(made := serialize_node(node)), "name": renamed.get(node.name, made["name"])}
            )
    top["outputs"] = [
        [name, encode_argument(node), *(["any"] if name in free else [])] for name, node in outputs
    ]
    return json.dumps(
        _rename_nodes(top, renamed) if any(old != new for old, new in renamed.items()) else top
    )


def _make_unique_names(graph: fx.Graph, taken: Collection[str]) -> dict[str, str]:
    """Returns new names for the nodes whose names are also names of inputs."""
    names = {node.name for node in graph.nodes} | set(taken)
    found = {}
    for node in graph.nodes:
        if node.op == "call_function" and node.name in taken:
            found[node.name] = next(
                name for i in itertools.count() if (name := f"{node.name}_{i}") not in names
            )
            names.add(found[node.name])
    return found


def _rename_nodes(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: names.get(each, each) if key == "of" else _rename_nodes(each, names)
            for key, each in value.items()
        }
    return [_rename_nodes(each, names) for each in value] if isinstance(value, list) else value


def widen_statistics(graph: fx.Graph) -> None:
    """Sets the type of batch norm statistics of 16-bit inputs to f32, in both directions. PyTorch computes them in f32, but reports a 16-bit type."""
    aten = torch.ops.aten

    def wide(node: Any, at: int | None = None) -> None:
        value = node.meta["val"] if at is None else node.meta["val"][at]
        if not isinstance(value, torch.Tensor) or value.dtype not in (
            torch.float16,
            torch.bfloat16,
        ):
            return
        with value.fake_mode if isinstance(value, FakeTensor) else contextlib.nullcontext():
            value = value.to(torch.float32)
        node.meta["val"] = (
            value if at is None else (*node.meta["val"][:at], value, *node.meta["val"][at + 1 :])
        )

    for node in graph.nodes:
        if node.target in (
            aten._native_batch_norm_legit_functional.default,
            aten._native_batch_norm_legit.no_stats,
        ):
            for at in (1, 2):
                wide(node, at)
            for user in node.users:
                if is_getitem(user) and user.args[1] in (1, 2):
                    wide(user)
        elif node.target is aten.native_batch_norm_backward.default and node.args[7]:
            for given in node.args[5:7]:
                if given.op == "placeholder":
                    wide(given)


def find_unsupported_nodes(graph: fx.Graph, seed: int | None = None) -> dict[str, str]:
    """Returns the names of the nodes that dlc does not support, with the reason for each."""
    from dlc import _compiler

    found: dict[str, str] = {}
    top: dict[str, Any] = {"aten": VERSION, "inputs": [], "nodes": []}
    if seed is not None:
        top["seed"] = seed
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            given = type_of(node.meta.get("val"))
            if given is not None:
                top["inputs"].append([node.name, given])
        elif node.op == "call_function" and not is_getitem(node):
            try:
                top["nodes"].append(serialize_node(node))
            except UnsupportedError as reason:
                found[node.name] = str(reason)
                # An unsupported node is replaced by an input with its result types, so that the nodes after it can still be examined.
                value = node.meta.get("val")
                types = [
                    type_of(each)
                    for each in (value if isinstance(value, (list, tuple)) else [value])
                ]
                top["nodes"].append(
                    {"name": node.name, "op": str(node.target), "args": {}, "results": types}
                )
    for name, reason in _compiler.examine_graph(json.dumps(top)):
        found.setdefault(name, reason)
    return found


def get_constant_memory(
    constants: Mapping[str, torch.Tensor],
) -> dict[str, tuple[int, int, torch.Tensor]]:
    """Returns the memory of constants by name: address, bytes and owner. A constant is copied if it is not contiguous, is a lazy negation, or is not in host memory."""
    held = {
        name: tensor.detach().resolve_neg().contiguous().cpu() for name, tensor in constants.items()
    }
    return {
        name: (tensor.data_ptr(), tensor.numel() * tensor.element_size(), tensor)
        for name, tensor in held.items()
    }


def _decompose_foreach(overload: torch._ops.OpOverload, alone: Any) -> Any:
    """Converts an operator on lists of tensors (`_foreach_*`, used by optimizers) to a list of calls of the operator on single tensors."""
    names = [argument.name for argument in overload._schema.arguments]

    def apart(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        given = {**dict(zip(names, args)), **kwargs}
        count = next(len(value) for value in given.values() if isinstance(value, (list, tuple)))
        each = {
            name: value if isinstance(value, (list, tuple)) else [value] * count
            for name, value in given.items()
        }
        # The scalar factors of addcmul and addcdiv are keyword-only arguments.
        named = {
            "value": each.pop(name)
            for name in ("value", "scalars")
            if name in each and "tensor1" in each
        }
        named.update({name: each.pop(name) for name in ("alpha",) if name in each})
        return [
            alone(
                *[values[i] for values in each.values()],
                **{name: values[i] for name, values in named.items()},
            )
            for i in range(count)
        ]

    return apart


@functools.cache
def _foreach_decompositions() -> dict[Any, Any]:
    aten, found = torch.ops.aten, {}
    for name in "add sub mul div addcmul addcdiv lerp sqrt rsqrt reciprocal neg abs sign pow maximum minimum clamp_min clamp_max exp".split():
        packet = getattr(aten, f"_foreach_{name}")
        for kind in packet.overloads():
            overload = getattr(packet, kind)
            if not kind.endswith("out"):
                found[overload] = _decompose_foreach(overload, getattr(aten, name))
    found[aten._foreach_norm.Scalar] = _foreach_norm
    return found


def _foreach_norm(
    each: list[torch.Tensor], ord: float = 2, dtype: torch.dtype | None = None
) -> list[torch.Tensor]:
    return [torch.ops.aten.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in each]


def reasons(graph: fx.Graph, failed: Mapping[str, str], seed: int | None = None) -> dict[str, str]:
    """Returns the names of the nodes that dlc does not support, with the reason for each and without its location.
    `failed` has the reasons of nodes that a rewrite rule does not support."""
    found = {
        name: reason.split("): ", 1)[-1]
        for name, reason in find_unsupported_nodes(graph, seed).items()
    }
    return {
        **found,
        **{node.name: failed[node.name] for node in graph.nodes if node.name in failed},
    }


def decompositions() -> Any:
    """Returns PyTorch's decomposition table to core ATen, without the operators that dlc supports directly."""
    from torch._decomp import core_aten_decompositions

    from dlc import _compiler

    table = core_aten_decompositions()
    whole = set(_compiler.graph_operators())
    for overload in list(table.keys()):
        if (
            isinstance(overload, torch._ops.OpOverload)
            and overload.namespace == "aten"
            and f"{overload._opname}.{overload._overloadname}" in whole
        ):
            table.pop(overload)
    table.update(_foreach_decompositions())
    # Tensors of zeros without memory, with which forward-mode derivatives start.
    table[torch.ops.aten._efficientzerotensor.default] = torch.ops.aten.zeros.default
    return table


class GraphSource:
    """Source for dlc._compile.Compiler: a graph's text and its constants."""

    is_program = False

    def __init__(self, text: str, constants: Mapping[str, torch.Tensor], path: str):
        self._text, self._memory, self.path = text, get_constant_memory(constants), path

    def open(self, options: tuple[str, int, str, str]) -> Any:
        from dlc import _compiler

        return _compiler.Compiler(self._text, self._memory, *options)
