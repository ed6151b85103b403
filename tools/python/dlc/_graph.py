"""A graph of torch.fx as the text that C++ reads (frontend/aten/README.md). What an operator means is said there, not here."""

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


#: What they make depends on how their operand lies in memory.
STRIDED = {torch.ops.aten.as_strided.default, torch.ops.aten.as_strided_copy.default, torch.ops.aten.as_strided_scatter.default}


class Refused(ValueError):
    """A node, or a part of a module, that dlc does not take; the text says why."""


def tracing() -> contextlib.AbstractContextManager[Any]:
    """Held while graphs are traced or changed, which PyTorch can do in one thread at a time: its own lock for that, which a thread may take again."""
    from torch._dynamo.convert_frame import compile_lock

    return compile_lock


def type_of(value: Any) -> list[Any] | None:
    """[element, sizes], or None for what is no tensor that dlc can hold."""
    if not isinstance(value, torch.Tensor) or value.dtype not in ELEMENTS or value.layout != torch.strided:
        return None
    sizes = list(value.shape)
    return [ELEMENTS[value.dtype], sizes] if all(type(size) is int for size in sizes) else None


def why_no_type(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return f"a {type(value).__name__} instead of a tensor"
    if any(type(size) is not int for size in value.shape):
        return f"a shape that is not known, {list(map(str, value.shape))}"
    return f"{value.dtype} and {value.layout}, which dlc has not"


def is_item(node: fx.Node) -> bool:
    return node.target is operator.getitem


def name_of(node: fx.Node) -> str:
    """Of the overload: add.Tensor, or dlc::recurrent.default of one of dlc's own, and so for what decompositions are made of and for other libraries'."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        raise Refused(f"{target} is no operator of PyTorch's")
    name = f"{target._opname}.{target._overloadname}"
    return name if target.namespace == "aten" else f"{target.namespace}::{name}"


def encode(value: Any) -> Any:
    """An argument as JSON."""
    if isinstance(value, fx.Node):
        if is_item(value):
            return {"of": value.args[0].name, "at": value.args[1]}
        if not isinstance(value.meta.get("val"), (torch.Tensor, list, tuple)):
            raise Refused("an argument is a number that only a run tells")
        return {"of": value.name}
    if isinstance(value, float):
        return repr(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [encode(each) for each in value]
    if isinstance(value, torch.dtype):
        return ELEMENTS.get(value, str(value))
    if isinstance(value, (torch.device, torch.memory_format, torch.layout)):
        return str(value)
    raise Refused(f"an argument is a {type(value).__name__}")


def arguments(node: fx.Node) -> tuple[dict[str, Any], list[str]]:
    """The arguments by their names in the schema, with defaults, and the names of the optional ones that differ from their defaults."""
    given = dict(node.kwargs)
    schema = node.target._schema.arguments
    found, changed = {}, []
    for at, argument in enumerate(schema):
        default = argument.default_value if argument.has_default_value() else None
        value = node.args[at] if at < len(node.args) else given.get(argument.name, default)
        found[argument.name] = encode(value)
        # As text: 1 and True are equal in Python.
        if argument.has_default_value() and json.dumps(found[argument.name]) != json.dumps(encode(default)):
            changed.append(argument.name)
    if node.target in STRIDED:
        found.update(_memory_of(node.args[0]))
    return found, changed


def _memory_of(node: fx.Node) -> dict[str, Any]:
    """How an operand lies in memory, of which a view is taken by steps."""
    value = node.meta["val"]
    return {"self_stride": encode(list(value.stride())), "self_offset": encode(value.storage_offset())}


def used(node: fx.Node) -> set[int]:
    """Which results of several somebody uses."""
    return {user.args[1] for user in node.users if is_item(user) and user.users}


def results(node: fx.Node) -> list[Any]:
    value = node.meta.get("val")
    if not isinstance(value, (list, tuple)):
        value, wanted = [value], {0}
    else:
        wanted = used(node)
    types = []
    for at, each in enumerate(value):
        found = type_of(each) if at in wanted else None
        if at in wanted and found is None:
            raise Refused(f"result {at} is {why_no_type(each)}")
        if at in wanted and each.device.type != "cpu":
            raise Refused(f"result {at} is on {each.device}; required: the host's memory")
        types.append(found)
    return types


def where(node: fx.Node) -> str:
    """The line of the model's source, or the node's name."""
    places = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ":".join(places[-1]) if places else node.name


def describe(node: fx.Node) -> dict[str, Any]:
    op = name_of(node)
    given, changed = arguments(node)
    return {"name": node.name, "op": op, "where": where(node), "args": given, **({"set": changed} if changed else {}), "results": results(node)}


def row(name: str, value: Any) -> list[Any]:
    found = type_of(value)
    if found is None:
        raise Refused(f"'{name}' is {why_no_type(value)}")
    return [name, found]


def text(
    graph: fx.Graph, constants: Mapping[str, torch.Tensor], inputs: Mapping[str, str], outputs: list[tuple[str, fx.Node]], seed: int | None = None, free: Collection[str] = ()
) -> str:
    """The whole graph. `constants` are tensors by the name of their node, `inputs` the names that other nodes without operands are to have. With a
    seed it may have random numbers, which only a training step has. Outputs named in `free` may lie in any
    layout."""
    top: dict[str, Any] = {"aten": VERSION, "inputs": [], "constants": [], "nodes": [], "outputs": []}
    if seed is not None:
        top["seed"] = seed
    renamed = _apart(graph, set(inputs.values()))
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            if node.name in constants:
                top["constants"].append(row(node.name, constants[node.name]))
            elif node.name in inputs:
                renamed[node.name] = inputs[node.name]
                top["inputs"].append(row(inputs[node.name], node.meta.get("val")))
        elif node.op == "call_function" and not is_item(node):
            top["nodes"].append({**(made := describe(node)), "name": renamed.get(node.name, made["name"])})
    top["outputs"] = [[name, encode(node), *(["any"] if name in free else [])] for name, node in outputs]
    return json.dumps(_rename(top, renamed) if any(old != new for old, new in renamed.items()) else top)


def _apart(graph: fx.Graph, taken: Collection[str]) -> dict[str, str]:
    """Other names for the nodes that have the name of an input."""
    names = {node.name for node in graph.nodes} | set(taken)
    found = {}
    for node in graph.nodes:
        if node.op == "call_function" and node.name in taken:
            found[node.name] = next(name for i in itertools.count() if (name := f"{node.name}_{i}") not in names)
            names.add(found[node.name])
    return found


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: names.get(each, each) if key == "of" else _rename(each, names) for key, each in value.items()}
    return [_rename(each, names) for each in value] if isinstance(value, list) else value


def settle(graph: fx.Graph) -> None:
    """Statistics of batch norm beside 16-bit images are f32 in both directions, as PyTorch computes them; what it says of their types is 16-bit."""
    aten = torch.ops.aten

    def wide(node: Any, at: int | None = None) -> None:
        value = node.meta["val"] if at is None else node.meta["val"][at]
        if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float16, torch.bfloat16):
            return
        with value.fake_mode if isinstance(value, FakeTensor) else contextlib.nullcontext():
            value = value.to(torch.float32)
        node.meta["val"] = value if at is None else (*node.meta["val"][:at], value, *node.meta["val"][at + 1 :])

    for node in graph.nodes:
        if node.target in (aten._native_batch_norm_legit_functional.default, aten._native_batch_norm_legit.no_stats):
            for at in (1, 2):
                wide(node, at)
            for user in node.users:
                if is_item(user) and user.args[1] in (1, 2):
                    wide(user)
        elif node.target is aten.native_batch_norm_backward.default and node.args[7]:
            for given in node.args[5:7]:
                if given.op == "placeholder":
                    wide(given)


def refusals(graph: fx.Graph, seed: int | None = None) -> dict[str, str]:
    """The nodes that dlc does not take, by name, and why."""
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
        elif node.op == "call_function" and not is_item(node):
            try:
                top["nodes"].append(describe(node))
            except Refused as reason:
                found[node.name] = str(reason)
                # Others are still judged by what it makes.
                value = node.meta.get("val")
                types = [type_of(each) for each in (value if isinstance(value, (list, tuple)) else [value])]
                top["nodes"].append({"name": node.name, "op": str(node.target), "args": {}, "results": types})
    for name, reason in _compiler.examine_graph(json.dumps(top)):
        found.setdefault(name, reason)
    return found


def memory(constants: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, int, torch.Tensor]]:
    """Where constants lie; one that is not contiguous, or stands for its memory's negative, is copied."""
    held = {name: tensor.detach().resolve_neg().contiguous() for name, tensor in constants.items()}
    return {name: (tensor.data_ptr(), tensor.numel() * tensor.element_size(), tensor) for name, tensor in held.items()}


def _each(overload: torch._ops.OpOverload, alone: Any) -> Any:
    """Of an operator on lists of tensors, as optimizers have them, the one on tensors for each place."""
    names = [argument.name for argument in overload._schema.arguments]

    def apart(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        given = {**dict(zip(names, args)), **kwargs}
        count = next(len(value) for value in given.values() if isinstance(value, (list, tuple)))
        each = {name: value if isinstance(value, (list, tuple)) else [value] * count for name, value in given.items()}
        # Factors of products have to be named where they are numbers.
        named = {"value": each.pop(name) for name in ("value", "scalars") if name in each and "tensor1" in each}
        named.update({name: each.pop(name) for name in ("alpha",) if name in each})
        return [alone(*[values[i] for values in each.values()], **{name: values[i] for name, values in named.items()}) for i in range(count)]

    return apart


@functools.cache
def _lists() -> dict[Any, Any]:
    aten, found = torch.ops.aten, {}
    for name in "add sub mul div addcmul addcdiv lerp sqrt rsqrt reciprocal neg abs sign pow maximum minimum clamp_min clamp_max exp".split():
        packet = getattr(aten, f"_foreach_{name}")
        for kind in packet.overloads():
            overload = getattr(packet, kind)
            if not kind.endswith("out"):
                found[overload] = _each(overload, getattr(aten, name))
    found[aten._foreach_norm.Scalar] = _norms
    return found


def _norms(each: list[torch.Tensor], ord: float = 2, dtype: torch.dtype | None = None) -> list[torch.Tensor]:
    return [torch.ops.aten.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in each]


def decompositions() -> Any:
    """PyTorch's table to core ATen, without the operators that dlc has whole."""
    from torch._decomp import core_aten_decompositions

    from dlc import _compiler

    table = core_aten_decompositions()
    whole = set(_compiler.graph_operators())
    for overload in list(table.keys()):
        if isinstance(overload, torch._ops.OpOverload) and overload.namespace == "aten" and f"{overload._opname}.{overload._overloadname}" in whole:
            table.pop(overload)
    table.update(_lists())
    # Gradients in the forward direction begin with these, which have no memory.
    table[torch.ops.aten._efficientzerotensor.default] = torch.ops.aten.zeros.default
    return table


class GraphSource:
    """What dlc._compile.Compiler compiles: the text and its constants."""

    is_program = False

    def __init__(self, text: str, constants: Mapping[str, torch.Tensor], path: str):
        self._text, self._memory, self.path = text, memory(constants), path

    def open(self, options: tuple[str, int, str, str]) -> Any:
        from dlc import _compiler

        return _compiler.Compiler(self._text, self._memory, *options)
