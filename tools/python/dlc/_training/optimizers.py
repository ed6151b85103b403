"""Maps PyTorch optimizers to dlc's: their options, and their state tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop
from torch.optim import optimizer as torch_optimizer

#: Options of PyTorch's optimizers that do not change what an update computes, or are read elsewhere.
WITHOUT_EFFECT = (
    "lr",
    "foreach",
    "fused",
    "capturable",
    "differentiable",
    "decoupled_weight_decay",
)


@dataclass(frozen=True)
class OptimizerMapping:
    """Mapping of a class of PyTorch's optimizers to dlc's optimizer."""

    #: Function that returns dlc's name of the optimizer, which may depend on the options of a parameter group.
    name: Callable[[Mapping[str, Any]], str]
    #: Options that have the same names in PyTorch and in dlc.
    options: tuple[str, ...]
    #: State tensors by dlc's names, in the order in which PyTorch creates them, mapped to PyTorch's names.
    slots: Mapping[str, str]
    #: Whether PyTorch counts the updates of each parameter (state `step`).
    counts: bool = True
    #: Whether the optimizer divides updates by the magnitude of the gradients.
    divides: bool = True


def _adam_name(group: Mapping[str, Any]) -> str:
    return "adamw" if group.get("decoupled_weight_decay") else "adam"


_MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq", "top": "max_exp_avg_sq"}
KINDS: dict[type[Optimizer], OptimizerMapping] = {
    SGD: OptimizerMapping(
        lambda group: "sgd",
        ("momentum", "dampening", "weight_decay", "nesterov", "maximize"),
        {"momentum": "momentum_buffer"},
        False,
        False,
    ),
    Adam: OptimizerMapping(
        _adam_name, ("betas", "eps", "weight_decay", "amsgrad", "maximize"), _MOMENTS
    ),
    AdamW: OptimizerMapping(
        lambda group: "adamw", ("betas", "eps", "weight_decay", "amsgrad", "maximize"), _MOMENTS
    ),
    RMSprop: OptimizerMapping(
        lambda group: "rmsprop",
        ("alpha", "eps", "weight_decay", "momentum", "centered", "maximize"),
        {"square": "square_avg", "momentum": "momentum_buffer", "mean": "grad_avg"},
    ),
}


def find_optimizer_mapping(optimizer: Any) -> OptimizerMapping:
    """Returns the mapping of an optimizer to dlc's. The class must match exactly, because a subclass may behave differently."""
    found = KINDS.get(type(optimizer))
    if found is None:
        names = ", ".join(f"torch.optim.{each.__name__}" for each in KINDS)
        raise ValueError(
            f'optimizer: required: one of {names}; found: {type(optimizer).__module__}.{type(optimizer).__qualname__}; train with one of these, or use torch.compile(module, backend="dlc")'
        )
    unknown = sorted(
        name
        for name, value in optimizer.defaults.items()
        if value and name not in (*found.options, *WITHOUT_EFFECT)
    )
    if unknown:
        raise ValueError(
            f'optimizer: required: options that dlc supports; found: {", ".join(unknown)}; remove them, or use torch.compile(module, backend="dlc")'
        )
    reject_optimizer_hooks(optimizer)
    return found


def reject_optimizer_hooks(optimizer: Optimizer) -> None:
    """Rejects hooks and replacements of the optimizer's method `step`, because a compiled step does not call them."""
    ours = (optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks)
    if any(
        (
            *ours,
            torch_optimizer._global_optimizer_pre_hooks,
            torch_optimizer._global_optimizer_post_hooks,
        )
    ):
        raise ValueError(
            "optimizer: has hooks on its step(), which dlc does not call; required: none; call the hooks before or after the step"
        )
    # A replaced `step` is allowed if a learning rate scheduler has wrapped it to count its calls.
    step = optimizer.__dict__.get("step")
    if step is not None and not getattr(step, "_wrapped_by_lr_sched", False):
        raise ValueError(
            "optimizer: its step() was replaced, and dlc does not call it; required: the step() of its class; call the other function before or after the step"
        )


def get_program_settings(kind: OptimizerMapping, group: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the options of a parameter group that the compiled program depends on."""
    values = [
        group.get(option) for option in ("decoupled_weight_decay", "differentiable", *kind.options)
    ]
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def get_learning_rate(group: Mapping[str, Any]) -> float:
    try:
        rate = float(group["lr"])
    except (KeyError, TypeError, ValueError, RuntimeError):
        rate = math.nan
    if not math.isfinite(rate):
        raise ValueError(
            f"optimizer: required: a finite number 'lr' in each of its groups; found: {group.get('lr', 'none')!r}; correct the learning rate"
        )
    return rate


def serialize_group_options(kind: OptimizerMapping, group: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a parameter group in the format of tools/compiler/GraphSteps.h, without the parameters."""
    if group.get("differentiable"):
        raise ValueError(
            "optimizer: required: differentiable=False; found: True, for gradients through the update, which dlc does not support"
        )
    options: dict[str, Any] = {"optimizer": kind.name(group)}
    for option in kind.options:
        value = group.get(option)
        if option == "betas":
            options["beta1"], options["beta2"] = (_require_finite(option, each) for each in value)
        elif value is not None:
            options[option] = value if isinstance(value, bool) else _require_finite(option, value)
    return options


def _require_finite(option: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, RuntimeError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(
            f"optimizer: {option}: required: a finite number; found: {value!r}; correct the option"
        )
    return found


class UpdateCounts:
    """Update counts of the parameters. PyTorch stores one tensor per parameter; here these are views of one tensor, so that one operation increments all."""

    def __init__(self, optimizer: Optimizer, parameters: Sequence[torch.Tensor]):
        self._optimizer, self._parameters = optimizer, parameters
        self._all = torch.zeros(len(parameters))
        self._views = list(self._all)
        self._count, self._version = 0, -1

    def read(self) -> int:
        """Returns the current update count, which must be equal for all parameters."""
        state = self._optimizer.state
        if self._version == self._all._version and all(
            state[each].get("step") is view for each, view in zip(self._parameters, self._views)
        ):
            return self._count
        found = [float(state[each].get("step", 0)) for each in self._parameters]
        if len(set(found)) > 1:
            raise ValueError(
                f"optimizer: required: the same number of updates of all parameters that are trained; found: {min(found):g} to {max(found):g}; "
                "begin with a new optimizer, or set the 'step' of each in optimizer.state"
            )
        self._count = int(found[0])
        self._all.fill_(self._count)
        for each, view in zip(self._parameters, self._views):
            state[each]["step"] = view
        self._version = self._all._version
        return self._count

    def next(self) -> None:
        self.write(self._count + 1)

    def write(self, count: int) -> None:
        self._all.fill_(count)
        self._count, self._version = count, self._all._version
