"""Compares a training step with eager PyTorch: dlc.train_step(.., check=True)."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
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
#: Relative change of parameters and inputs that measures the effect of rounding errors, as a fraction of the tolerance.
PERTURBATION = 1e-2
#: Maximum number of changed steps, and the multiple of their differences above which a difference is a fault of dlc.
REPEATS, SPREADS = 8, 2.0
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
    #: Repeats the step with parameters and inputs multiplied by random factors near 1. The arguments are the standard deviation and the seed.
    repeat: Callable[[float, int], EagerStepResults]


@dataclass
class Difference:
    """Largest absolute difference of a value from eager PyTorch, the magnitude that it is relative to, and the tolerance relative to that."""

    apart: float
    size: float
    tolerance: float

    @property
    def ratio(self) -> float:
        return self.apart / self.size if self.size else float("inf")


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
    return _run_copies(step._made, _copy_step(step), arguments, 0.0, 0)


def _perturb(tensors: Iterable[Any], deviation: float, seed: int) -> list[Any]:
    """Returns the values with each element of the floating-point tensors multiplied by a random factor near 1."""
    generator = torch.Generator().manual_seed(seed)
    return [
        each
        * (1 + deviation * torch.randn(each.shape, generator=generator, dtype=torch.float64)).to(
            each.dtype
        )
        if isinstance(each, torch.Tensor) and each.is_floating_point()
        else each
        for each in tensors
    ]


def _run_copies(
    made: dict[str, Any],
    copies: tuple[torch.nn.Module, Any, torch.optim.Optimizer],
    arguments: Sequence[Any],
    deviation: float,
    seed: int,
) -> EagerStepResults:
    """Runs one training step on copies of `copies`, after changes of the parameters and inputs by `deviation` of their values."""
    module, loss, optimizer = copy.deepcopy(copies)
    if deviation:
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        flat, spec = _pytree.tree_flatten(tuple(arguments))
        flat = _perturb([*flat, *(each.detach() for each in parameters)], deviation, seed)
        for each, value in zip(parameters, flat[-len(parameters) :]):
            each.data.copy_(value)
        arguments = _pytree.tree_unflatten(flat[: -len(parameters)], spec)
    before = {
        name: value.detach().clone()
        for name, value in _step_tensors(module, loss, optimizer).items()
    }
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
    values = {
        name: (before.get(name, torch.zeros_like(value)), value) for name, value in after.items()
    }
    return EagerStepResults(
        total,
        values,
        gradients,
        lambda deviation, seed: _run_copies(made, copies, arguments, deviation, seed),
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
        stacklevel=4,
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
        *(TOLERANCES.get(each, 0) for each in (*coarse, step._options.precision)),
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


def _find_differences(
    step: TrainStep,
    wanted: EagerStepResults,
    found: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
    loss: torch.Tensor,
) -> dict[str, Difference]:
    """Compares the loss and the values `found` (before and after a step) with a step of eager PyTorch. Returns the differences by description."""
    largest = max(
        (float(each.abs().max()) for each in wanted.gradients.values() if each.numel()), default=0.0
    )
    divides = step._kind.divides
    differences = {
        "the loss": Difference(
            *_max_difference(loss, wanted.loss, 0, None), _tolerance(step, wanted.loss.dtype)
        )
    }
    for name, (before, after) in wanted.values.items():
        gradient = wanted.gradients.get(name.split(": ")[0])
        floats = after.is_floating_point()
        # Parameters are compared by their updates in the step. The rounding error of the parameter itself is subtracted from the difference.
        is_parameter = floats and name in wanted.gradients
        base, found_base = (
            (before.double(), found[name][0].double())
            if is_parameter
            else (torch.zeros(()), torch.zeros(()))
        )
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
            found[name][1].detach().double() - found_base, after.double() - base, size, noise
        )
        allowed = _tolerance(step, after.dtype) if floats else 0.0
        differences[f"'{name}'" + (" (its update)" if is_parameter else "")] = Difference(
            max(0.0, apart - rounding), size, allowed
        )
    return differences


def check_step_results(step: TrainStep, wanted: EagerStepResults, loss: torch.Tensor) -> None:
    """Raises an error if the results of the compiled training step differ from those of eager PyTorch by more than the effect of rounding errors.

    Where they differ by more than the tolerance, the step of eager PyTorch is repeated with slightly changed parameters and inputs. Rounding errors have
    large effects if, for example, the input of a ReLU is nearly 0: its gradient is that of either side.
    """
    now = _step_tensors(step.module, step.loss, step.optimizer)
    for name in wanted.values:
        if name not in now:
            raise RuntimeError(
                f"check=True: '{name}': required: a value after the step, as in eager PyTorch; found: none; report this as a bug of dlc"
            )
    differences = _find_differences(
        step,
        wanted,
        {name: (before, now[name]) for name, (before, _) in wanted.values.items()},
        loss,
    )
    outside = {
        name: each for name, each in differences.items() if each.apart > each.tolerance * each.size
    }
    if not outside:
        return
    deviation = PERTURBATION * _tolerance(
        step,
        torch.float64
        if all(each.dtype == torch.float64 for each in wanted.gradients.values())
        else torch.float32,
    )
    spread = dict.fromkeys(outside, 0.0)
    wrong = outside
    for seed in range(REPEATS):
        repeated = wanted.repeat(deviation, seed)
        for name, each in _find_differences(step, wanted, repeated.values, repeated.loss).items():
            if name in spread and each.tolerance:
                spread[name] = max(spread[name], each.apart)
        wrong = {
            name: each
            for name, each in outside.items()
            if not each.apart <= SPREADS * spread[name] < float("inf")
        }
        if not wrong:
            break
    name, worst = max((wrong or outside).items(), key=lambda each: each[1].ratio)
    found = f"required: within {worst.tolerance:g} of the largest element, {worst.size:.3g}; found: a difference of {worst.apart:.3g}"
    repeats = f"eager PyTorch with parameters and inputs changed by {deviation:.1g} of their values differs by {spread[name]:.3g}"
    if wrong:
        others = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
        raise RuntimeError(
            f"check=True: the step differs from eager PyTorch in {name}: {found}{others}; {repeats}; "
            'report this as a fault of dlc, and use torch.compile(module, backend="dlc") meanwhile'
        )
    warnings.warn(
        f"dlc.train_step: check=True: rounding errors have a large effect on {name}: {found}, but {repeats}; check with other data, or in float64",
        stacklevel=3,
    )
