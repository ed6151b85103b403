"""dlc.train_step: compiles forward, loss, backward and update of a torch.nn.Module to one program."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree

from dlc import _runtime
from dlc._compile import Compiler
from dlc._model import Model
from dlc._path_checks import require_writable_path
from dlc._progress import Progress
from dlc._torch import class_indices, device_kinds, fx_graph
from dlc._training import optimizers, step_check, step_graph
from dlc._training.bound_state import BoundState, StateMismatchError, initial_state
from dlc._world import World

#: Maximum number of cached programs of a training step, one for each set of shapes and settings.
MAX_PROGRAMS = 16
#: Number of consecutive calls with a compilation after which a warning is emitted.
MANY = 5


class _StepSource:
    """Source of a training step for dlc._compile.Compiler: the graph's text, its constants and the options."""

    is_program = False
    path = "module"

    def __init__(self, graph: step_graph.StepGraph, options: dict[str, Any]):
        self._text, self._memory, self._options = (
            graph.text,
            fx_graph.get_constant_memory(graph.constants),
            json.dumps(options),
        )
        #: Fingerprint of the graph's text and the options, without the constants.
        self.meaning = hashlib.sha256(f"{self._text}{self._options}".encode()).hexdigest()[:16]

    def open(self, options: tuple[str, int, str, str]) -> Any:
        from dlc import _compiler

        return _compiler.Compiler(self._text, self._memory, self._options, *options)


class _StepSession:
    """A session of a training step, whose states are bound to PyTorch's tensors."""

    def __init__(
        self, step: TrainStep, graph: step_graph.StepGraph, session: _runtime.Session, meaning: str
    ):
        self.session, self.graph, self.is_checked, self.has_skipped = session, graph, False, False
        #: Lines that describe the program, and must be equal in all processes of the world.
        self._meaning = [*session.meaning, f"graph {meaning}"] if step._world.size > 1 else []
        self._run = Model(session.inputs, session.outputs, sessions=[session])
        self._outputs = [value.name for value in session.outputs]
        at = {name: i for i, name in enumerate(graph.inputs)}
        #: For each input of the program: index among the tensors of the call, or None if the input is the learning rate of a group.
        self._tensors = [at.get(value.name) for value in session.inputs]
        self._rates = {
            i: int((value.name + ".0").split(".")[1])
            for i, value in enumerate(session.inputs)
            if value.name not in at
        }
        self.device = step._device()
        #: Learning rates by index of the program's input: tensors on the program's device, and the values stored in them.
        self._numbers = {i: torch.zeros((), device=self.device) for i in self._rates}
        self._values = dict.fromkeys(self._rates, 0.0)
        #: End of the previous run in its stream, which reads the learning rates; None on the host and before the first run.
        self._previous: torch.Event | None = None
        self._hold(step)

    def _hold(self, step: TrainStep) -> None:
        optimizer, kind = step.optimizer, step._kind
        states = {state.name: state for state in self.graph.states}
        self.bound: list[BoundState] = []
        #: Optimizer state that PyTorch creates at the first update of a parameter: the keys by parameter. Only parameters that the loss depends on are
        #: included.
        self.slots: dict[torch.Tensor, list[str]] = {}
        for index, (name, _, _, trained) in enumerate(self.session.states):
            if name in states:
                self._bind(index, states[name].now, trained or states[name].changes)
                continue
            _, _, slot, *rest = [*name.split(".", 3), "", ""]
            state = states.get(rest[0]) if name.startswith("optimizer.") else None
            if state is None:
                key = (name, self.device)
                if key not in step._own:
                    step._own[key] = initial_state(self.session, index, self.device)
                    if name == "step":
                        # The module may have been moved after steps on another device.
                        step._own[key].fill_(step._steps)
                self._bind(index, lambda found=step._own[key]: found, True)
                continue
            key, parameter = kind.slots[slot], state.now
            self.slots.setdefault(parameter(), []).append(key)
            self._bind(
                index,
                lambda parameter=parameter, key=key: optimizer.state[parameter()][key],
                True,
            )
        order = list(kind.slots.values())
        for keys in self.slots.values():
            keys.sort(key=order.index)
        self.counts = (
            optimizers.UpdateCounts(optimizer, list(self.slots))
            if kind.counts and self.slots
            else None
        )
        self.scaled = ("optimizer.updates", self.device) in step._own or "skipped" in self._outputs

    def _bind(self, index: int, find: Callable[[], torch.Tensor], changes: bool) -> None:
        self.bound.append(BoundState(self.session, index, find, changes, self.device))

    def _set_rates(self, step: TrainStep) -> None:
        """Assigns the learning rates of the optimizer's groups to the program's inputs."""
        for at, group in self._rates.items():
            rate = optimizers.get_learning_rate(step.optimizer.param_groups[group])
            if rate != self._values[at]:
                # The previous run may be in another stream, and read the old rate.
                if self._previous is not None:
                    torch.accelerator.current_stream(self.device).wait_event(self._previous)
                self._numbers[at].fill_(rate)
                self._values[at] = rate

    def prepare(self, step: TrainStep) -> None:
        """Initializes the optimizer's state as PyTorch does before an update, and synchronizes the update count with the program's."""
        state, fresh = step.optimizer.state, 0
        for parameter, keys in self.slots.items():
            here = state[parameter]
            missing = [key for key in keys if not isinstance(here.get(key), torch.Tensor)]
            fresh += bool(missing)
            if self.counts and "step" not in here:
                here["step"] = torch.zeros(())
            for key in missing:
                here[key] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        steps = step._own["step", self.device]
        if self.counts:
            count = self.counts.read()
            if not self.scaled:
                if count != step._steps:
                    step._steps = count
                    steps.fill_(count)
            elif ("optimizer.updates", self.device) in step._own:
                step._own["optimizer.updates", self.device].fill_(count)
        elif fresh and any(group.get("dampening") for group in step.optimizer.param_groups):
            # SGD does not dampen the first gradient, so the step count must be 0 if the momentum is new.
            if fresh < len(self.slots):
                raise ValueError(
                    "optimizer: required with dampening: a momentum of every parameter, or of none; found: a momentum of some; create a new optimizer"
                )
            step._steps = 0
            steps.fill_(0)
        elif not fresh and step._steps == 0 and self.slots:
            # The optimizer has momentum from earlier updates, so this is not the first update.
            step._steps = 1
            steps.fill_(1)
        for each in self.bound:
            each.before()

    def wait_for_pytorch(self) -> None:
        """Waits for PyTorch's work on the GPU. Required before the session reads or writes states on the host, because it waits for its own work only."""
        if not device_kinds.is_host(self.device):
            torch.accelerator.synchronize(self.device)

    def _meet(self, step: TrainStep) -> None:
        """Called before a step of several processes. Checks that all processes are at the same step, and broadcasts rank 0's state before the first one."""
        _runtime.set_step(step._steps + 1)
        rates = [
            f"learning rate {self._values[at]:g} of group {group}"
            for at, group in self._rates.items()
        ]
        _runtime.agree(
            "step",
            self._meaning + rates,
            "use the same batch size, module and settings in all processes",
        )
        if step._is_shared:
            return
        self.wait_for_pytorch()
        self.session.share_states()
        for each in self.bound:
            each.take()
        step._steps = int(step._own["step", self.device])
        if self.counts:
            updates = step._own.get(("optimizer.updates", self.device))
            self.counts.write(step._steps if updates is None else int(updates))
        step._is_shared = True

    def run(self, step: TrainStep, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        class_indices.check_class_indices(
            self.graph.class_indices, tensors, step._made["accumulate"]
        )
        self.prepare(step)
        self._set_rates(step)
        if step._world.size > 1:
            self._meet(step)
        results = self._run(
            *[self._numbers[i] if at is None else tensors[at] for i, at in enumerate(self._tensors)]
        )
        if self._rates and not device_kinds.is_host(self.device):
            self._previous = torch.accelerator.current_stream(self.device).record_event()
        found = dict(zip(self._outputs, results if isinstance(results, tuple) else (results,)))
        step._steps += 1
        for each in self.bound:
            each.after()
        torch.autograd.graph.increment_version(
            [each.tensor for each in self.bound if each.changes and each.tensor is not None]
        )
        self.has_skipped = bool(self.scaled and "skipped" in found and found["skipped"].item())
        if self.counts and not self.has_skipped:
            self.counts.next()
        return found["loss"]


class StepOptions(NamedTuple):
    """Compiler options of a step's programs, on any device."""

    threads: int
    precision: str
    accuracy: str


class TrainStep:
    """A training step, created by dlc.train_step.

    step(x, y) runs forward, loss, backward and update as one program and returns the loss. Learning rates, parameters, buffers and the optimizer's
    state are read from the module and the optimizer at each call, and are updated there.

    With data_parallel=True all processes of the world make the same calls, each with its own batch.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        loss: Callable[..., torch.Tensor],
        optimizer: torch.optim.Optimizer,
        made: dict[str, Any],
        options: StepOptions,
        progress: Progress | None,
        world: World,
        check: bool = False,
    ):
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"module: required: a torch.nn.Module; found: {type(module).__name__}")
        if not callable(loss):
            raise TypeError(
                f"loss: required: a function of (output, target), or a loss module of torch.nn; found: {type(loss).__name__}"
            )
        self.module, self.loss, self.optimizer = module, loss, optimizer
        self._kind = optimizers.find_optimizer_mapping(optimizer)
        self._made, self._options, self._progress, self._checks = made, options, progress, check
        self._has_warned = False
        #: Processes that share the step, and whether rank 0's state has been broadcast to all of them.
        self._world, self._is_shared = world, False
        self._programs: OrderedDict[Any, _StepSession] = OrderedDict()
        self._lock, self._busy = threading.RLock(), False
        self._modules: list[torch.nn.Module] = []
        self._children: list[tuple[torch.nn.Module, ...]] = []
        self._find_modules()
        #: States that belong neither to the module nor to the optimizer, such as the step count, by name and device.
        self._own: dict[tuple[str, torch.device], torch.Tensor] = {}
        self._steps = self._made_in_a_row = 0

    def __call__(self, *arguments: Any) -> torch.Tensor:
        """Runs one training step on the module's inputs and the target. Returns the loss before the update."""
        with self._turn():
            key, tensors = self._key(arguments)
            for again in (False, True):
                program = self._program(key, arguments)
                wanted = self._expected(program, arguments)
                try:
                    loss = program.run(self, tensors)
                except StateMismatchError:
                    del self._programs[key]
                    if again:
                        raise
                    continue
                except RuntimeError:
                    # The program is dropped, because a run that fails halfway leaves the session's state inconsistent.
                    del self._programs[key]
                    raise
                break
        if program.has_skipped:
            # The gradients overflowed and nothing was changed, so the next step is compared with eager PyTorch instead.
            program.is_checked = False
        elif wanted is not None:
            step_check.check_step_results(self, wanted, loss)
        # Learning rate schedulers check this attribute to detect whether the optimizer has made a step.
        self.optimizer._opt_called = True  # type: ignore[attr-defined]
        return loss

    def _expected(
        self, program: _StepSession, arguments: Sequence[Any]
    ) -> step_check.EagerStepResults | None:
        """Returns the results of eager PyTorch for the first step of a program, if the step is to be checked."""
        if not self._checks or program.is_checked:
            return None
        program.is_checked = True
        if step_check.has_random_ops(program.graph.text):
            if not self._has_warned:
                step_check.warn_check_skipped()
            self._has_warned = True
            return None
        return step_check.run_eager_step(self, arguments)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Context that serializes calls of the step, and rejects recursive calls."""
        with self._lock:
            if self._busy:
                raise RuntimeError(
                    "the training step is already running; required: a module, a loss and a `progress` that do not call the step"
                )
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def _find_modules(self) -> None:
        """Updates the list of all modules if the module tree has changed."""
        if self._modules and all(
            each == (*module._modules.values(),)
            for module, each in zip(self._modules, self._children)
        ):
            return
        self._modules = [
            *self.module.modules(),
            *(self.loss.modules() if isinstance(self.loss, torch.nn.Module) else ()),
        ]
        self._children = [(*module._modules.values(),) for module in self._modules]

    def compile(self, *arguments: Any) -> None:
        """Compiles the step for these inputs now instead of at the first call."""
        with self._turn():
            self._program(self._key(arguments)[0], arguments)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the most recently used step to an artifact file (.dlcx), with the current parameters and optimizer state.
        `dlc train` and the C interface continue training from it, without Python. The learning rates are inputs, `lr`, `lr.1`, .. (`dlc train` uses the current
        ones).

        Raises OSError for the path, ValueError if nothing is compiled yet.
        """
        path = os.fspath(path)
        require_writable_path(path)
        with self._turn():
            if not self._programs:
                raise ValueError(
                    "save: the step is not compiled yet; call it first, or pass example_inputs to dlc.train_step"
                )
            program = next(reversed(self._programs.values()))
            program.prepare(self)
            program.wait_for_pytorch()
            name = getattr(self.loss, "__name__", type(self.loss).__name__)
            rates = {
                value.name: optimizers.get_learning_rate(
                    self.optimizer.param_groups[program._rates[i]]
                )
                for i, value in enumerate(program.session.inputs)
                if i in program._rates
            }
            about = {
                "loss": name,
                "optimizer": type(self.optimizer).__name__,
                "rates": rates,
                "data_parallel": self._made["data_parallel"],
            }
            program.session.save_started(path, json.dumps(about))

    @property
    def memory(self) -> dict[str, int]:
        """Returns the memory use in bytes of the most recently used program.
        The parts are arena, scratch, constants, code, and state that is not stored in PyTorch tensors."""
        return next(reversed(self._programs.values())).session.memory if self._programs else {}

    def __repr__(self) -> str:
        return f"<dlc.TrainStep of {type(self.module).__name__} with {type(self.optimizer).__name__}, {len(self._programs)} programs>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a training step cannot be pickled or copied: its state is the module's and the optimizer's; pickle their state_dict(), or save the step"
        )

    def _key(self, arguments: Sequence[Any]) -> tuple[Any, list[torch.Tensor]]:
        """Returns the cache key of the program for these arguments, and the tensors among the arguments."""
        if len(arguments) < 2:
            raise TypeError(
                f"required: the module's inputs and the target, as in step(x, y); found: {len(arguments)} arguments"
            )
        flat, spec = _pytree.tree_flatten(tuple(arguments))
        tensors, shapes, device = [], [], self._device()
        for each in flat:
            if not isinstance(each, torch.Tensor):
                if not isinstance(each, (bool, int, float, str, type(None))):
                    raise TypeError(
                        f"an input is a {type(each).__name__}; required: tensors, and numbers that do not change; convert it, as in torch.as_tensor(x)"
                    )
                shapes.append(each)
                continue
            if each.device != device:
                raise ValueError(
                    f"an input is on {each.device}; required: {device_kinds.describe_device(device)}; move it, as in {device_kinds.move_hint('x', device)}"
                )
            tensors.append(each.detach())
            shapes.append((each.shape, each.dtype))
        kind = self._kind
        optimizers.reject_optimizer_hooks(self.optimizer)
        self._find_modules()
        groups = tuple(
            (tuple(map(id, group["params"])), optimizers.get_program_settings(kind, group))
            for group in self.optimizer.param_groups
        )
        wanted = tuple(
            (id(parameter), parameter.requires_grad)
            for module in self._modules
            for parameter in module._parameters.values()
            if parameter is not None
        )
        modes = tuple((module, type(module), module.training) for module in self._modules)
        # Hooks of parameters are checked at each call: they are not attributes of a module, so a program does not detect that they have changed.
        if any(
            each._backward_hooks or each._post_accumulate_grad_hooks
            for module in self._modules
            for each in module._parameters.values()
            if each is not None
        ):
            step_graph.check_hooks(self.module, self.loss)
        return (spec, tuple(shapes), device, groups, wanted, modes), tensors

    def _program(self, key: Any, arguments: Sequence[Any]) -> _StepSession:
        program = self._programs.get(key)
        if program is None or not program.graph.is_current():
            program = self._programs[key] = self._make(arguments)
            while len(self._programs) > MAX_PROGRAMS:
                self._programs.popitem(last=False)
            self._made_in_a_row += 1
            if self._made_in_a_row == MANY:
                warnings.warn(
                    f"dlc.train_step: each of the last {MANY} calls was compiled again, since shapes of inputs, options of the optimizer other than the "
                    "learning rate (a scheduler with cycle_momentum=True changes them), or attributes that the module reads changed; keep them the same",
                    stacklevel=4,
                )
        else:
            self._made_in_a_row = 0
        self._programs.move_to_end(key)
        return program

    def _make(self, arguments: Sequence[Any]) -> _StepSession:
        trained = self._trained()
        graph = step_graph.trace_step(
            self.module,
            self.loss,
            arguments,
            self._part(arguments),
            set(trained),
            self._made["seed"],
        )
        names = {id(state.tensor): state.name for state in graph.states}
        groups = []
        for group in self.optimizer.param_groups:
            inside = [
                names[id(each)]
                for each in group["params"]
                if id(each) in names and id(each) in trained
            ]
            groups.append(
                {"parameters": inside, **optimizers.serialize_group_options(self._kind, group)}
            )
        if not any(group["parameters"] for group in groups):
            raise ValueError(
                "there is nothing to train: required: a parameter of the optimizer that requires gradients and that the module uses; found: none"
            )
        options = {**self._made, "states": [state.name for state in graph.states], "groups": groups}
        source = _StepSource(graph, options)
        options = (device_kinds.program_device(self._device()), *self._options)
        compiler = Compiler(source, options, self._progress)
        return _StepSession(self, graph, compiler.session({}, {}), source.meaning)

    def _trained(self) -> dict[int, torch.Tensor]:
        """Returns the optimizer's parameters that require gradients, by id. Checks that all its parameters belong to the module or the loss."""
        known = {
            id(parameter)
            for module in self._modules
            for parameter in module._parameters.values()
            if parameter is not None
        }
        trained: dict[int, torch.Tensor] = {}
        device = self._device()
        for at, group in enumerate(self.optimizer.param_groups):
            for i, parameter in enumerate(group["params"]):
                if id(parameter) not in known:
                    raise ValueError(
                        f"optimizer: parameter {i} of group {at}, {list(parameter.shape)}, is not a parameter of the module or the loss; required: an optimizer of module.parameters()"
                    )
                if parameter.device != device:
                    raise ValueError(
                        f"optimizer: parameter {i} of group {at} is on {parameter.device}; required: {device_kinds.describe_device(device)}; "
                        f"move the module first, as in {device_kinds.move_hint('module', device)}"
                    )
                if parameter.requires_grad:
                    trained[id(parameter)] = parameter
        return trained

    def _device(self) -> torch.device:
        """Returns the device of the step: that of the optimizer's first parameter, or the host if dlc does not run on that device."""
        device = next(
            (each.device for group in self.optimizer.param_groups for each in group["params"]),
            device_kinds.HOST,
        )
        return device if device_kinds.find_kind(device) else device_kinds.HOST

    def _part(self, arguments: Sequence[Any]) -> list[Any]:
        """Returns the flat list of arguments, with batches cut to one micro-batch."""
        parts = self._made["accumulate"]
        flat = _pytree.tree_leaves(tuple(arguments))
        if parts == 1:
            return flat
        for each in flat:
            if isinstance(each, torch.Tensor) and (not each.dim() or each.shape[0] % parts):
                raise ValueError(
                    f"accumulate={parts}: required: inputs whose first size is divisible by {parts}; found: the shape {list(each.shape)}"
                )
        return [
            each[: each.shape[0] // parts] if isinstance(each, torch.Tensor) else each
            for each in flat
        ]
