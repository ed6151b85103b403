"""dlc.train_step. PyTorch is imported when it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlc._option_checks import (
    require_finite_at_least,
    require_flags,
    require_number,
    require_texts,
    require_threads,
)
from dlc._progress import Progress
from dlc._world import ALONE, world

if TYPE_CHECKING:
    import torch

    from dlc._training.compiled_step import TrainStep


def train_step(
    module: torch.nn.Module,
    loss: Callable[..., torch.Tensor],
    optimizer: torch.optim.Optimizer,
    example_inputs: Sequence[Any] | None = None,
    *,
    accumulate: int = 1,
    clip_norm: float = 0,
    clip_value: float = 0,
    loss_scale: float | None = None,
    seed: int = 0,
    data_parallel: bool = False,
    sync_batch_norm: bool = False,
    gradients: str = "f32",
    threads: int = 0,
    precision: str = "none",
    accuracy: str = "default",
    progress: Progress | None = None,
    check: bool = False,
) -> TrainStep:
    """Creates a training step of a module: forward, loss, backward and update as one compiled program.

        step = dlc.train_step(module, loss, optimizer)
        value = step(x, y)              # the loss; parameters, buffers and the optimizer's state are updated
        step.save("step.dlcx")          # continues without Python: `dlc train`, or the C interface

    A program is compiled at the first call with inputs of new shapes (with example_inputs, immediately), and if settings that it depends on change: options of
    the optimizer other than the learning rate, requires_grad, train() and eval(). At most 16 programs are cached.

    module: in training mode. It is not modified; the program updates its parameters and buffers in place. The step runs on the device of the parameters.
        On a GPU, a call returns before the step and the loss are computed, except with loss scaling.
    loss: a function or a loss module of torch.nn that maps the module's output and the target to a scalar tensor.
    optimizer: torch.optim.SGD, Adam, AdamW or RMSprop over the module's parameters. The learning rates of its groups are read at every call.
    example_inputs: the module's inputs and the target, (x, y).
    accumulate: number of micro-batches into which a batch is split, to save activation memory; their losses and gradients are averaged.
    clip_norm, clip_value: maximum norm of all gradients together, and maximum magnitude of each gradient element; 0: no limit.
    loss_scale: initial loss scale, for f16. A step whose gradients overflow changes only the scale.
        By default 65536 with precision="f16", else no scaling.
    seed: seed of the program's random numbers (dropout), which differ from PyTorch's.
    data_parallel: the batch is that of this process, in a world of any size (dlc.world): loss and gradients are averaged over all processes, which make the
        same calls. The first call broadcasts rank 0's parameters, buffers and optimizer state, in place.
    sync_batch_norm: batch norm uses the statistics of the batches of all processes; otherwise each process uses its own.
    gradients: element type of gradients in collectives: f32, or bf16 with half the bytes and 8 significant bits.
    threads, precision, accuracy, progress: as in dlc.compile; parameters, losses and updates keep their types.
    check: compares the first step of each program with eager PyTorch on copies of the module, the loss and the optimizer: the loss, the update of each
        parameter, buffers and the optimizer's state, each within 2e-3 of its largest element (f64: 1e-6, precision f16: 3e-2, bf16: 1e-1). Updates of
        Adam, AdamW and RMSprop are not compared where the gradient is less than 1e-4 of the largest one. A step with random numbers is not compared.

    Raises TypeError for arguments of a wrong type, and ValueError for unsupported optimizers, options or operators, a loss that is not
    a scalar, tensors that are not on the device of the parameters, and processes that are not at the same step; IndexError for class indices out of range in a target of
    cross_entropy or nll_loss; RuntimeError if no world can be formed, or if `check` fails.
    """
    from dlc._training.compiled_step import StepOptions, TrainStep

    require_texts(precision=precision, accuracy=accuracy, gradients=gradients)
    require_flags(data_parallel=data_parallel, sync_batch_norm=sync_batch_norm, check=check)
    if check and data_parallel:
        raise ValueError(
            "check=True supports only a step of one process; required: data_parallel=False; check the step in one process first"
        )
    if gradients not in ("f32", "bf16"):
        raise ValueError(f"gradients: required: 'f32' or 'bf16'; found: {gradients!r}")
    if not data_parallel and (sync_batch_norm or gradients != "f32"):
        raise ValueError(
            f"{'sync_batch_norm' if sync_batch_norm else 'gradients'}: has no effect on a step of one process; required: data_parallel=True"
        )
    require_threads(threads)
    require_number("accumulate", accumulate, 1, 1 << 31)
    require_number("seed", seed, 0, (1 << 63) - 1)
    require_finite_at_least("clip_norm", clip_norm, 0)
    require_finite_at_least("clip_value", clip_value, 0)
    if loss_scale is not None:
        require_finite_at_least("loss_scale", loss_scale, 1)
    elif precision == "f16":
        loss_scale = 65536.0
    made = {
        "accumulate": accumulate,
        "clip_norm": float(clip_norm),
        "clip_value": float(clip_value),
        "loss_scale": loss_scale,
        "seed": seed,
        "data_parallel": data_parallel,
        "sync_batch_norm": sync_batch_norm,
        "gradients": gradients,
    }
    # The world is formed before programs start threads, because joining may set the CPU affinity of threads.
    step = TrainStep(
        module,
        loss,
        optimizer,
        made,
        StepOptions(threads, precision, accuracy),
        progress,
        world() if data_parallel else ALONE,
        check,
    )
    if example_inputs is not None:
        if not isinstance(example_inputs, (tuple, list)):
            raise TypeError(
                f"example_inputs: required: the module's inputs and the target, as in (x, y); found: {type(example_inputs).__name__}"
            )
        step.compile(*example_inputs)
    return step
