"""Compares a training step with eager PyTorch: dlc.train_step(.., check=True)."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree

if TYPE_CHECKING:
    from dlc._training.compiled_step import TrainStep

#: Maximum relative difference from eager PyTorch, by the element type in which the training step computes.
TOLERANCES = {"f64": 1e-6, "f32": 2e-3, "f16": 3e-2, "bf16": 1e-1}
#: Fraction of the largest gradient below which gradients are rounding noise. Adam and RMSprop divide by the gradient's magnitude, so updates from such
#: gradients differ.
NOISE = 1e-4
#: Exceptions that copy.deepcopy raises for objects that cannot be copied, such as open files, locks and tensors with a gradient function.
COPY_ERRORS = (AttributeError, RuntimeError, TypeError, ValueError, copy.Error, pickle.PickleError)
#: Operators that draw random numbers, which differ from PyTorch's, so that a step with them is not compared.
RANDOM = ("rand.", "rand_like.", "randn.", "randn_like.")
#: Operators with dropout, and the name of the argument that is the dropout probability.
PROBABILITIES = {
    "native_dropout.default": "p",
    "scaled_dot_product_attention.default": "dropout_p",
    **dict.fromkeys(("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input"), "dropout"),
}


@dataclass
class EagerStepResults:
    """Results of one training step of eager PyTorch."""

    loss: torch.Tensor
    #: Parameters, buffers and the optimizer's states by name: the value before the step, and the value after it in eager PyTorch.
    values: dict[str, tuple[torch.Tensor, torch.Tensor]]
    #: Gradients of eager PyTorch by parameter name.
    gradients: dict[str, torch.Tensor]


def _named_tensors(module: torch.nn.Module, loss: Any) -> dict[str, torch.Tensor]:
    """Returns the parameters and buffers of the module and the loss by name."""
    found = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    if isinstance(loss, torch.nn.Module):
        found.update(
            {
                f"loss.{name}": each
                for name, each in (*loss.named_parameters(), *loss.named_buffers())
            }
        )
    return found


def _copy_step(step: TrainStep) -> tuple[torch.nn.Module, Any, torch.optim.Optimizer]:
    modules = [
        *step.module.modules(),
        *(step.loss.modules() if isinstance(step.loss, torch.nn.Module) else ()),
    ]
    # Non-leaf tensors in attributes, which are results of earlier steps (as in weight_norm), cannot be copied. The forward pass computes them again.
    results = [
        (module.__dict__, name, value)
        for module in modules
        for name, value in [*module.__dict__.items()]
        if isinstance(value, torch.Tensor) and not value.is_leaf
    ]
    try:
        for fields, name, _ in results:
            del fields[name]
        return copy.deepcopy((step.module, step.loss, step.optimizer))
    except COPY_ERRORS as error:
        raise ValueError(
            f"check=True: the module, the loss or the optimizer cannot be copied: {error}; remove check=True"
        ) from error
    finally:
        for fields, name, value in results:
            fields[name] = value


def _step_tensors(
    module: torch.nn.Module, loss: Any, optimizer: torch.optim.Optimizer
) -> dict[str, torch.Tensor]:
    """Returns all tensors that a training step may change, by name."""
    values = _named_tensors(module, loss)
    for name, parameter in [*values.items()]:
        for key, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, torch.Tensor):
                values[f"{name}: {key}"] = value
    return values


def run_eager_step(step: TrainStep, arguments: Sequence[Any]) -> EagerStepResults:
    """Runs one training step of eager PyTorch on copies of the module, the loss and the optimizer."""
    module, loss, optimizer = _copy_step(step)
    before = {
        name: value.detach().clone()
        for name, value in _step_tensors(module, loss, optimizer).items()
    }
    made = step._made
    optimizer.zero_grad()
    parts = [_get_micro_batch(arguments, i, made["accumulate"]) for i in range(made["accumulate"])]
    total = torch.zeros(())
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        for *inputs, target in parts:
            value = loss(module(*inputs), target)
            (value / len(parts)).backward()
            total = total + value.detach() / len(parts)
    parameters = [
        each
        for group in optimizer.param_groups
        for each in group["params"]
        if each.grad is not None
    ]
    if made["clip_norm"]:
        torch.nn.utils.clip_grad_norm_(parameters, made["clip_norm"])
    if made["clip_value"]:
        torch.nn.utils.clip_grad_value_(parameters, made["clip_value"])
    gradients = {
        name: each.grad.detach().clone()
        for name, each in _named_tensors(module, loss).items()
        if each.grad is not None
    }
    optimizer.step()
    after = {name: value.detach() for name, value in _step_tensors(module, loss, optimizer).items()}
    return EagerStepResults(
        total,
        {name: (before.get(name, torch.zeros_like(value)), value) for name, value in after.items()},
        gradients,
    )


def _get_micro_batch(arguments: Sequence[Any], i: int, parts: int) -> Any:
    """Returns micro-batch `i` of `parts` from the arguments of a step."""

    def cut(each: Any) -> Any:
        if parts == 1 or not isinstance(each, torch.Tensor):
            return each
        size = each.shape[0] // parts
        return each[i * size : (i + 1) * size]

    return _pytree.tree_map(cut, tuple(arguments))


def has_random_ops(text: str) -> bool:
    """Returns True if the text of a graph has an operator that draws random numbers."""
    nodes = json.loads(text)["nodes"]
    return any(
        node["op"].startswith(RANDOM)
        or float(node["args"].get(PROBABILITIES.get(node["op"], ""), 0)) > 0
        for node in nodes
    )


def warn_check_skipped() -> None:
    warnings.warn(
        "dlc.train_step: check=True has no effect: the module draws random numbers (dropout), which differ from PyTorch's; call module.eval(), or set their probability to 0",
        stacklevel=6,
    )


def _tolerance(step: TrainStep, dtype: torch.dtype) -> float:
    """Returns the tolerance of a value: that of the least precise of the value's type, the types of parameters below f32, and the option `precision`."""
    names = {torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
    coarse = {
        names.get(each.dtype, "")
        for module in step._modules
        for each in module._parameters.values()
        if each is not None
    } - {"f64"}
    return max(
        TOLERANCES[names.get(dtype, "f32")],
        *(TOLERANCES.get(each, 0) for each in (*coarse, step._options[2])),
    )


def _max_difference(
    found: torch.Tensor, wanted: torch.Tensor, size: float, mask: torch.Tensor | None
) -> tuple[float, float]:
    """Returns the largest absolute difference of two tensors, and the magnitude that it is relative to."""
    found, wanted = found.double(), wanted.double()
    apart = torch.where(
        (found == wanted) | (found.isnan() & wanted.isnan()), 0.0, (found - wanted).abs()
    )
    if mask is not None:
        apart = torch.where(mask, 0.0, apart)
    apart = apart.nan_to_num(nan=float("inf"))
    finite = wanted[wanted.isfinite()].abs()
    return float(apart.max()) if apart.numel() else 0.0, max(
        size, float(finite.max()) if finite.numel() else 0.0
    )


def check_step_results(step: TrainStep, wanted: EagerStepResults, loss: torch.Tensor) -> None:
    """Raises an error if the results of the compiled training step differ from those of eager PyTorch."""
    now = _step_tensors(step.module, step.loss, step.optimizer)
    largest = max(
        (float(each.abs().max()) for each in wanted.gradients.values() if each.numel()), default=0.0
    )
    divides = step._kind.divides
    rows = [
        (
            "the loss",
            *_max_difference(loss, wanted.loss, 0, None),
            _tolerance(step, wanted.loss.dtype),
        )
    ]
    for name, (before, after) in wanted.values.items():
        found = now.get(name)
        if found is None:
            raise RuntimeError(
                f"check=True: '{name}': required: a value after the step, as in eager PyTorch; found: none; report this as a bug of dlc"
            )
        gradient = wanted.gradients.get(name.split(": ")[0])
        floats = after.is_floating_point()
        # Parameters are compared by their updates in the step. The rounding error of the parameter itself is subtracted from the difference.
        is_parameter = floats and name in wanted.gradients
        base = before.double() if is_parameter else torch.zeros(())
        noise = (
            gradient.abs() <= NOISE * largest
            if is_parameter and divides and gradient is not None
            else None
        )
        rounding = (
            8 * torch.finfo(after.dtype).eps * float(before.abs().max())
            if is_parameter and before.numel()
            else 0.0
        )
        size = (
            largest * 1e-2
            if ": " in name and gradient is not None and "sq" not in name and "square" not in name
            else 0.0
        )
        apart, size = _max_difference(
            found.detach().double() - base, after.double() - base, size, noise
        )
        allowed = _tolerance(step, after.dtype) if floats else 0.0
        rows.append(
            (
                f"'{name}'" + (" (its update)" if is_parameter else ""),
                max(0.0, apart - rounding),
                size,
                allowed,
            )
        )
    wrong = [
        (apart / size if size else float("inf"), name, apart, size, allowed)
        for name, apart, size, allowed in rows
        if apart > allowed * size
    ]
    if wrong:
        ratio, name, apart, size, allowed = max(wrong)
        others = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
        raise RuntimeError(
            f"check=True: the step differs from eager PyTorch in {name}: required: within {allowed:g} of the largest element, {size:.3g}; found: a difference of {apart:.3g}{others}; "
            'report this as a fault of dlc, and use torch.compile(module, backend="dlc") meanwhile'
        )
