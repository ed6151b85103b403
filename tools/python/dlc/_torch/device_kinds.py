"""Table of PyTorch's device types on which dlc runs graphs, and functions on the devices of tensors and graph nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import fx


class DeviceKind(NamedTuple):
    """Properties of one of PyTorch's device types."""

    #: Name of dlc's device kind.
    name: str
    #: Whether the host can access the memory of tensors. Otherwise parameters are not compiled as constants, and class indices are not checked.
    is_host: bool


#: Device kinds by PyTorch's device type. Device indices are the same in dlc and in PyTorch.
KINDS = {"cpu": DeviceKind("cpu", True), "cuda": DeviceKind("cuda", False)}
HOST = torch.device("cpu")


def find_kind(device: torch.device) -> DeviceKind | None:
    """Returns the device's kind, or None if dlc does not run on devices of this type."""
    return KINDS.get(device.type)


def is_host(device: torch.device) -> bool:
    """Returns True if the host can access the memory of tensors on the device."""
    kind = find_kind(device)
    return kind is not None and kind.is_host


def program_device(device: torch.device) -> str:
    """Returns dlc's name of a device. Raises ValueError if dlc does not run on devices of this type."""
    kind = find_kind(device)
    if kind is None:
        raise ValueError(
            f"required: a device of the type {' or '.join(KINDS)}; found: {device}; move the tensors, as in x.cpu()"
        )
    return kind.name if kind.is_host else f"{kind.name}:{device.index or 0}"


def describe_device(device: torch.device) -> str:
    """Returns the name of a device for messages."""
    return "host memory" if is_host(device) else str(device)


def move_hint(name: str, device: torch.device) -> str:
    """Returns Python code that moves a tensor or module to the device, for messages."""
    return f"{name}.cpu()" if is_host(device) else f'{name}.to("{device}")'


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors of a value, which may be a list or a tuple of tensors."""
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(each, torch.Tensor):
            yield each


def is_host_scalar(tensor: torch.Tensor) -> bool:
    """Returns True for a tensor in host memory without dimensions, which PyTorch permits as an operand of operators on any device."""
    return tensor.dim() == 0 and is_host(tensor.device)


def node_device(node: fx.Node) -> torch.device | None:
    """Returns the device of the node's results, or None if the node has no tensor results or results on several devices."""
    devices = {each.device for each in tensors_in(node.meta.get("val"))}
    return devices.pop() if len(devices) == 1 else None


def find_device_conflict(node: fx.Node) -> str | None:
    """Returns the reason why a program on one device cannot compute the node, or None if it can."""
    devices = {each.device for each in tensors_in(node.meta.get("val"))}
    for device in devices:
        if find_kind(device) is None:
            return f"a result is on {device}; required: a device of the type {' or '.join(KINDS)}"
    for operand in node.all_input_nodes:
        for each in tensors_in(operand.meta.get("val")):
            if each.device not in devices and (not is_host_scalar(each) or _is_copy(node)):
                devices.add(each.device)
    return None if len(devices) < 2 else f"tensors on {', '.join(sorted(map(str, devices)))}"


def _is_copy(node: fx.Node) -> bool:
    return node.target in (torch.ops.aten._to_copy.default, torch.ops.aten.copy.default)


def graph_devices(graph: fx.Graph) -> list[torch.device]:
    """Returns the devices of the graph's nodes, in the order of their first node."""
    return list(
        dict.fromkeys(
            device
            for node in graph.nodes
            if node.op == "call_function" and (device := node_device(node)) is not None
        )
    )


def common_device(graph: fx.Graph) -> torch.device:
    """Returns the device of a program for a graph whose nodes are all on one device."""
    return next(iter(graph_devices(graph)), HOST)
