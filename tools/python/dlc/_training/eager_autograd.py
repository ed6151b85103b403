"""Handles effects of eager autograd that torch.export does not record: hooks, custom backward functions, changes of requires_grad. A training step either
reproduces an effect or rejects it by name."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch.autograd.function import BackwardCFunction
from torch.nn.modules import module as nn_module
from torch.overrides import TorchFunctionMode

from dlc._torch.fx_graph import UnsupportedError
from dlc._training.custom_gradient import TracedFunctions, qualified_name

_EAGER = 'or use torch.compile(module, backend="dlc")'
#: Functions of PyTorch that have no representation in a traced graph, each with a description and the part of the program to remove, for error messages.
_REFUSED = {
    torch.Tensor.register_hook: ("registers a hook on a gradient (Tensor.register_hook)", "hook"),
    torch.Tensor.register_post_accumulate_grad_hook: (
        "registers a hook on a gradient (Tensor.register_post_accumulate_grad_hook)",
        "hook",
    ),
    torch.Tensor.grad_fn.__get__: (
        "reads a tensor's grad_fn, on which hooks can be registered",
        "use of grad_fn",
    ),  # type: ignore[attr-defined]
    torch.Tensor.data.__set__: ("assigns the memory of a tensor (Tensor.data)", "assignment"),  # type: ignore[attr-defined]
    torch.Tensor.backward: ("computes gradients itself (Tensor.backward)", "call of backward"),
    torch.autograd.grad: (
        "computes gradients itself (torch.autograd.grad)",
        "call of torch.autograd.grad",
    ),
}
_REQUIRES = (torch.Tensor.requires_grad_, torch.Tensor.requires_grad.__set__)  # type: ignore[attr-defined]


class EagerCallReplacer(TorchFunctionMode):
    """Context that is active while a module is traced.
    Replaces calls that a graph would not represent correctly, and rejects those that it cannot represent."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        _check_saved_tensor_hooks()
        if func == torch.Tensor.data.__get__:  # type: ignore[attr-defined]
            return args[0].detach()
        if func in _REFUSED and not (func == torch.Tensor.grad_fn.__get__ and args[0].is_leaf):  # type: ignore[attr-defined]
            description, part = _REFUSED[func]
            raise UnsupportedError(
                f"the module or the loss {description}; required: only gradients that PyTorch derives from its operators; remove the {part}, {_EAGER}"
            )
        if func in _REQUIRES:
            wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            if args[0].is_leaf and args[0].requires_grad and not wanted:
                raise UnsupportedError(
                    "the module or the loss changes requires_grad while it runs; required: the same parameters in every step; set it before the step is called"
                )
        result = func(*args, **kwargs)
        return _detach_results(args, result) if torch.is_inference_mode_enabled() else result


def _check_saved_tensor_hooks() -> None:
    """Rejects hooks on tensors saved for the backward pass. Hooks of PyTorch's checkpoints are allowed, because they do not change the values."""
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    if hooks and not hooks[0].__module__.startswith("torch."):
        raise UnsupportedError(
            f"the module or the loss has hooks on the tensors that are saved for gradients (torch.autograd.graph.saved_tensors_hooks); required: none; remove the hooks, {_EAGER}"
        )


def _detach_results(args: Any, result: Any) -> Any:
    """Detaches the results of a call that ran in inference mode, so that no gradient reaches its operands."""
    if (
        isinstance(result, torch.Tensor)
        and result.is_floating_point()
        and all(result is not each for each in args)
    ):
        return result.detach()
    return (
        type(result)(_detach_results(args, each) for each in result)
        if type(result) in (tuple, list)
        else result
    )


def restore_reassigned_buffers(assigned: Iterable[tuple[str, dict[str, Any], str, Any]]) -> None:
    """Copies buffers that forward has reassigned into their original memory, so that the graph contains the update. Rejects other assignments."""
    for name, table, key, before in list(assigned):
        now = table.get(key)
        both = isinstance(now, torch.Tensor) and isinstance(before, torch.Tensor)
        if (
            not both
            or isinstance(before, torch.nn.Parameter)
            or now.shape != before.shape
            or now.dtype != before.dtype
        ):
            raise UnsupportedError(
                f"the module's forward assigns '{name}'; required: the same parameters and submodules in every step, and buffers of one type; found: {_describe_value(before)}, then {_describe_value(now)}; assign it before the step is called"
            )
        with torch.no_grad():
            before.copy_(now)
        table[key] = before


def _describe_value(value: Any) -> str:
    return (
        f"{type(value).__name__} {value.dtype} {list(value.shape)}"
        if isinstance(value, torch.Tensor)
        else "nothing"
        if value is None
        else type(value).__name__
    )


@contextlib.contextmanager
def reject_python_random() -> Iterator[None]:
    """Context that rejects random numbers from Python's or NumPy's generators: a compiled step would not draw them again."""
    states = [random.getstate(), repr(np.random.get_state())]
    yield
    if states != [random.getstate(), repr(np.random.get_state())]:
        raise UnsupportedError(
            "the module or the loss draws random numbers of Python or NumPy, which a compiled step would not repeat; required: PyTorch's random numbers; use for example torch.rand"
        )


def _autograd_nodes(loss: torch.Tensor) -> Iterator[Any]:
    """Iterates over the nodes of autograd's graph of the loss."""
    waiting, seen = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        waiting += [each for each, _ in node.next_functions]


def check_custom_backward(loss: torch.Tensor, functions: TracedFunctions) -> None:
    """Rejects custom backward functions in the graph of the traced loss that were not traced and belong to no PyTorch operator."""
    if not isinstance(loss, torch.Tensor):
        return
    for node in _autograd_nodes(loss):
        function = (
            getattr(type(node), "_forward_cls", None)
            if isinstance(node, BackwardCFunction)
            else None
        )
        if function is not None and function not in functions.traced:
            raise UnsupportedError(
                f"torch.autograd.Function '{qualified_name(function)}' is defined while the module runs; required: functions that exist before the run; define it outside of forward"
            )
        if type(node).__name__ == "CppFunction":
            raise UnsupportedError(
                f"the module or the loss has a custom backward function in C++, '{node.name()}', which cannot be traced; required: operators of PyTorch; replace the function, {_EAGER}"
            )


def check_hooks(
    modules: Iterable[tuple[str, torch.nn.Module]], parameters: Iterable[tuple[str, torch.Tensor]]
) -> None:
    """Rejects hooks that eager PyTorch would call in the backward pass of these modules and parameters."""
    if nn_module._global_backward_hooks or nn_module._global_backward_pre_hooks:
        raise UnsupportedError(
            f"all modules have a backward hook (torch.nn.modules.module.register_module_full_backward_hook); required: none; remove the hook, {_EAGER}"
        )
    for name, module in modules:
        if module._backward_hooks or module._backward_pre_hooks:
            raise UnsupportedError(
                f"module '{name}' has a backward hook, which a compiled step does not call; required: none; remove the hook, {_EAGER}"
            )
    for name, parameter in parameters:
        if parameter._backward_hooks:
            raise UnsupportedError(
                f"parameter '{name}' has a hook on its gradient (register_hook), which a compiled step does not call; required: none; remove the hook, {_EAGER}"
            )
        if parameter._post_accumulate_grad_hooks:  # type: ignore[attr-defined]
            raise UnsupportedError(
                f"parameter '{name}' has a hook on its gradient (register_post_accumulate_grad_hook), which a compiled step does not call; required: none; remove the hook, {_EAGER}"
            )
