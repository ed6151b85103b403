"""Traces the backward functions of torch.autograd.Function.

torch.export traces only the forward function of a torch.autograd.Function. This module traces the backward function with it, on placeholders for the
gradients of its outputs (dlc::cotangent). dlc::custom_gradient connects the results of backward to the outputs and the inputs.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.autograd.function import Function, _is_setup_context_defined
from torch.utils.checkpoint import CheckpointFunction

from dlc._torch.fx_graph import UnsupportedError, tracing_errors

#: Modules of PyTorch whose functions return the result of a function argument (checkpoints). Their backward functions only recompute it.
TRANSPARENT = ("torch.utils.checkpoint",)


@torch.library.custom_op("dlc::cotangent", mutates_args=())
def cotangent(y: torch.Tensor) -> torch.Tensor:
    """Placeholder operator for the gradient of y, which is unknown during tracing."""
    return torch.zeros_like(y)


@cotangent.register_fake
def _(y: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(y)


@torch.library.custom_op("dlc::custom_gradient", mutates_args=())
def custom_gradient(
    ys: list[torch.Tensor],
    cotangents: list[torch.Tensor],
    xs: list[torch.Tensor],
    dxs: list[torch.Tensor],
) -> list[torch.Tensor]:
    """Operator that returns the values ys and defines their gradients: those with respect to xs are dxs, computed from `cotangents`, the gradients of ys."""
    return [y.clone() for y in ys]


@custom_gradient.register_fake
def _(ys: Any, cotangents: Any, xs: Any, dxs: Any) -> list[torch.Tensor]:
    return [torch.empty_like(y) for y in ys]


class _TracedContext:
    """Replacement of the `ctx` argument of forward and backward functions during tracing."""

    def __init__(self, name: str, needs: Sequence[bool]):
        self._name = name
        self.needs_input_grad = tuple(needs)
        self.saved_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[torch.Tensor, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Does nothing: only forward-mode derivatives, which a training step does not need, use these tensors."""

    def mark_dirty(self, *tensors: torch.Tensor) -> None:
        raise UnsupportedError(
            f"torch.autograd.Function '{self._name}' changes its inputs (mark_dirty); required: a function that returns new tensors; copy the input in its forward"
        )

    def mark_non_differentiable(self, *tensors: torch.Tensor) -> None:
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


def _subclasses(base: type) -> Iterator[type]:
    for each in type.__subclasses__(base):
        yield each
        yield from _subclasses(each)


def qualified_name(function: type) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class TracedFunctions:
    """Context in which calls of torch.autograd.Function in this thread are traced together with their backward functions."""

    def __init__(self) -> None:
        #: True while a forward or backward function of an autograd function is being traced.
        self.is_inside = False
        #: Autograd functions whose backward functions are part of the graph.
        self.traced: set[type] = set()
        self._thread = 0
        self._replaced: list[tuple[type, str, Any]] = []

    def __enter__(self) -> TracedFunctions:
        self._thread = threading.get_ident()
        functions = {
            each: each.forward
            for each in _subclasses(Function)
            if not each.__module__.startswith(TRANSPARENT)
        }
        # `forward` is replaced, because PyTorch looks it up at each call, while `apply` may have been bound to a name before, as in `f = F.apply`.
        for each, forward in functions.items():
            self._replace(each, "forward", staticmethod(self._wrapped(each, forward)))
        self._replace(
            CheckpointFunction, "apply", classmethod(self._checkpointed(CheckpointFunction.apply))
        )
        return self

    def __exit__(self, *_: Any) -> None:
        for each, name, own in self._replaced:
            if own is None:
                delattr(each, name)
            else:
                setattr(each, name, own)
        self._replaced.clear()

    def _replace(self, function: type, name: str, value: Any) -> None:
        self._replaced.append((function, name, function.__dict__.get(name)))
        setattr(function, name, value)

    def _checkpointed(self, apply: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a replacement of `apply` for reentrant checkpoints: it calls the function directly.
        Gradients are enabled during the call if one of the arguments requires a gradient."""

        def traced(_: type, function: Callable[..., Any], preserve: bool, *arguments: Any) -> Any:
            if threading.get_ident() != self._thread:
                return apply(function, preserve, *arguments)
            with torch.set_grad_enabled(
                any(isinstance(x, torch.Tensor) and x.requires_grad for x in arguments)
            ):
                return function(*arguments)

        return traced

    def _wrapped(self, function: type, forward: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*given: Any) -> Any:
            has_context = not _is_setup_context_defined(function.setup_context)  # type: ignore[attr-defined]
            inputs = given[1:] if has_context else given
            needs = [isinstance(x, torch.Tensor) and x.requires_grad for x in inputs]
            if threading.get_ident() != self._thread or self.is_inside:
                return forward(*given)
            with self._inside():
                context = _TracedContext(qualified_name(function), needs)
                outputs = forward(context, *inputs) if has_context else forward(*inputs)
                if not has_context:
                    function.setup_context(context, inputs, outputs)  # type: ignore[attr-defined]
                self.traced.add(function)
                outputs, fixed = _attach_gradient(function, context, inputs, outputs)
                if has_context and fixed:
                    given[0].mark_non_differentiable(*fixed)
                return outputs

        return traced

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        self.is_inside = True
        try:
            yield
        finally:
            self.is_inside = False


def _attach_gradient(
    function: type, context: _TracedContext, inputs: Sequence[Any], outputs: Any
) -> tuple[Any, list[torch.Tensor]]:
    """Returns the outputs of a function, connected to the results of its backward function, and the outputs that have no gradient."""
    every = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    marked = {id(each) for each in context.non_differentiable}
    floats = [
        i for i, y in enumerate(every) if isinstance(y, torch.Tensor) and y.is_floating_point()
    ]
    places = [i for i in floats if id(every[i]) not in marked and any(context.needs_input_grad)]
    others = [i for i, y in enumerate(every) if id(y) in marked]
    for i in {*floats, *others} - {*places}:
        every[i] = every[i].detach()
    if places:
        ys = [every[i] for i in places]
        seeds = [cotangent(y) for y in ys]
        given: list[Any] = [
            torch.zeros_like(y)
            if context.materialize_grads and isinstance(y, torch.Tensor)
            else None
            for y in every
        ]
        for i, seed in zip(places, seeds):
            given[i] = seed
        xs, dxs = _trace_backward(function, context, inputs, given)
        for i, z in zip(places, custom_gradient(ys, seeds, xs, dxs)):
            every[i] = z
    return (tuple(every) if isinstance(outputs, (tuple, list)) else every[0]), [
        every[i] for i in others
    ]


def _trace_backward(
    function: Any, context: _TracedContext, inputs: Sequence[Any], given: Sequence[Any]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Calls the backward function. Returns the inputs that have gradients, and these gradients, converted to the shapes and types of the inputs."""
    backward = function.backward if function.vjp is Function.vjp else function.vjp
    try:
        found = backward(context, *given)
    except tracing_errors() as error:
        raise UnsupportedError(
            f"torch.autograd.Function '{qualified_name(function)}': its backward cannot be traced: {error}; rewrite it with operators of PyTorch, or use torch.compile(module, backend=\"dlc\")"
        ) from error
    gradients = list(found) if isinstance(found, (tuple, list)) else [found]
    xs, dxs = [], []
    for x, dx, needed in zip(inputs, gradients, context.needs_input_grad):
        if not needed or dx is None:
            continue
        if not isinstance(dx, torch.Tensor):
            raise UnsupportedError(
                f"torch.autograd.Function '{qualified_name(function)}': its backward returns a {type(dx).__name__}; required: a tensor or None for each input"
            )
        xs.append(x)
        dxs.append((dx if dx.shape == x.shape else dx.sum_to_size(x.shape)).to(x.dtype))
    return xs, dxs
