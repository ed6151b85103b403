"""A training step observes changes of its module, loss and optimizer after the first step. Skipped if PyTorch is missing."""

import types

import pytest

torch = pytest.importorskip("torch")

from dlc._training import compiled_step

from steps import Pair, cross_entropy, eager, numbers, same_state, small, train_step
from torch import nn
from torch.nn.utils import parametrizations, parametrize
from torch.optim import SGD, Adam

FACTOR = 1.0


class Scaled(nn.Module):
    """Reads attributes of many kinds."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)
        self.scale, self.options, self.space, self.parts = (
            1.0,
            {"shift": 0.0},
            types.SimpleNamespace(scale=1.0),
            [1.0, 2.0],
        )
        self.tensor, self.activation = torch.ones(8), torch.tanh
        self.register_buffer("whole", torch.tensor(1))
        self.register_buffer("real", torch.tensor(1.0))

    def forward(self, x):
        h = self.activation(self.first(x)) * self.tensor * self.real * self.whole
        return (
            self.last(h * self.scale * self.space.scale * self.parts[1] + self.options["shift"])
            * FACTOR
        )


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.norm, self.drop, self.last = (
            nn.Linear(6, 8),
            nn.BatchNorm1d(8),
            nn.Dropout(0.0),
            nn.Linear(8, 3),
        )

    def forward(self, x):
        return self.last(self.drop(self.norm(self.first(x))))


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.inner = 1.0, nn.CrossEntropyLoss()

    def forward(self, y, t):
        return self.inner(y, t) * self.scale


def set_factor(value):
    global FACTOR
    FACTOR = value


def changed(
    make,
    change,
    loss=cross_entropy,
    optimizer=lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9),
):
    """Steps before and after a change of the module, the optimizer or the loss, as PyTorch makes them; how often dlc compiled."""
    losses = [loss() if isinstance(loss, type) else loss for _ in range(2)]
    modules = [make(), make()]
    optimizers = [optimizer(each) for each in modules]
    step = train_step(modules[0], losses[0], optimizers[0])
    compiled = 0

    def run():
        nonlocal compiled
        for _ in range(3):
            made = step._made_in_a_row
            found = step(*numbers())
            compiled += step._made_in_a_row > made
            torch.testing.assert_close(
                found, eager(modules[1], losses[1], optimizers[1], numbers()), rtol=1e-4, atol=1e-5
            )

    run()
    for at in range(2):
        change(modules[at], optimizers[at], losses[at])
    run()
    same_state(modules[0].state_dict(), modules[1].state_dict())
    return compiled


def with_value(path, value):
    """Sets an attribute of a module, a loss or one of their parts."""

    def change(module, optimizer, loss):
        *owners, name = path.split(".")
        found = loss if owners[:1] == ["loss"] else module
        for each in owners[owners[:1] == ["loss"] :]:
            found = getattr(found, each)
        setattr(found, name, value)

    return change


def relu_instead(self, x):
    return self.last(torch.relu(self.first(x)))


def linear_instead(self, x):
    return self.last(self.first(x))


class Twice(nn.Module):
    def forward(self, weight):
        return 2 * weight


class Linear(Scaled):
    forward = linear_instead


CHANGES = {
    "number": (Scaled, with_value("scale", 2.0)),
    "dictionary": (Scaled, lambda module, *_: module.options.update(shift=0.5)),
    "object": (Scaled, with_value("space.scale", 3.0)),
    "list": (Scaled, lambda module, *_: module.parts.__setitem__(1, 0.5)),
    "tensor in place": (Scaled, lambda module, *_: module.tensor.mul_(2)),
    "tensor": (Scaled, with_value("tensor", torch.full((8,), 0.5))),
    "buffer of integers": (Scaled, lambda module, *_: module.whole.mul_(2)),
    "buffer of floats": (Scaled, lambda module, *_: module.real.mul_(2)),
    "function": (Scaled, with_value("activation", torch.sigmoid)),
    "global": (Scaled, lambda *_: set_factor(0.5)),
    "forward": (
        Scaled,
        lambda module, *_: setattr(module, "forward", types.MethodType(relu_instead, module)),
    ),
    "class": (Scaled, lambda module, *_: setattr(module, "__class__", Linear)),
    "submodule": (small, lambda module, *_: module.__setitem__(1, nn.ReLU())),
    "another submodule": (small, lambda module, *_: module.append(nn.Tanh())),
    "eval": (Normed, lambda module, *_: module.eval()),
    "eval of a part": (Normed, lambda module, *_: module.norm.eval()),
    "momentum of a norm": (Normed, with_value("norm.momentum", 0.7)),
    "eps of a norm": (Normed, with_value("norm.eps", 0.5)),
    "statistics of a norm": (Normed, with_value("norm.track_running_stats", False)),
    "forward hook": (
        Scaled,
        lambda module, *_: module.first.register_forward_hook(
            lambda module, inputs, output: 2 * output
        ),
    ),
    "forward pre-hook": (
        Scaled,
        lambda module, *_: module.first.register_forward_pre_hook(
            lambda module, inputs: (2 * inputs[0],)
        ),
    ),
    "frozen": (
        Scaled,
        lambda module, *_: [module.first.requires_grad_(False), module.first.zero_grad()],
    ),
    "weights": (
        Scaled,
        lambda module, *_: module.load_state_dict(
            {name: value * 2 for name, value in module.state_dict().items()}
        ),
    ),
    "parametrized": (
        Scaled,
        lambda module, *_: parametrize.register_parametrization(module.first, "weight", Twice()),
    ),
    "group": (
        Scaled,
        lambda module, optimizer, loss: optimizer.param_groups[0].update(
            momentum=0.5, nesterov=True
        ),
    ),
    "rate": (Scaled, lambda module, optimizer, loss: optimizer.param_groups[0].update(lr=0.01)),
}
#: Changes of what a program reads from memory.
WITHOUT_PROGRAM = {"rate", "weights", "buffer of floats"}


@pytest.fixture(autouse=True)
def _factor():
    set_factor(1.0)
    yield
    set_factor(1.0)


@pytest.mark.parametrize("name", CHANGES)
def test_changes_after_the_first_steps(name):
    make, change = CHANGES[name]
    if name == "weights":  # They hold the buffer of integers, too.
        assert changed(make, change) == 2
        return
    if name == "global":  # Both modules have it.
        change = lambda module, optimizer, loss: set_factor(0.5)
    assert changed(make, change) == (1 if name in WITHOUT_PROGRAM else 2)


@pytest.mark.parametrize(
    "path, value",
    [
        ("loss.scale", 2.0),
        ("loss.inner.label_smoothing", 0.2),
        ("loss.inner.ignore_index", 1),
        ("loss.inner.reduction", "sum"),
    ],
)
def test_changes_of_the_loss(path, value):
    assert changed(Scaled, with_value(path, value), Loss) == 2


def test_changes_of_what_a_function_sees():
    weights = {"scale": 1.0}
    assert (
        changed(
            small,
            lambda *_: weights.update(scale=0.5),
            lambda y, t: cross_entropy(y, t) * weights["scale"],
        )
        == 2
    )


def test_changes_of_embeddings():
    def make():
        torch.manual_seed(0)
        return nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(12, 3))

    pair = Pair(make, lambda module: SGD(module.parameters(), lr=0.1))
    batch = torch.tensor([[0, 1, 2], [0, 3, 3]]), torch.tensor([1, 2])
    pair.run(batch, 2)
    for module in pair.modules:
        module[0].padding_idx = 0
    pair.run(batch, 2)
    pair.check()


def test_changes_of_groups():
    def halves(module):
        return SGD(
            [
                {"params": [*module[0].parameters()]},
                {"params": [*module[2].parameters()], "weight_decay": 0.5},
            ],
            lr=0.1,
        )

    def swap(module, optimizer, loss):
        first, second = (group["params"] for group in optimizer.param_groups)
        first[1], second[1] = second[1], first[1]

    assert changed(small, swap, optimizer=halves) == 2
    assert (
        changed(
            small,
            lambda module, optimizer, loss: optimizer.add_param_group(
                {"params": [*module[2].parameters()], "lr": 0.02}
            ),
            optimizer=lambda module: SGD([*module[0].parameters()], lr=0.1),
        )
        == 2
    )
    assert (
        changed(
            small,
            lambda module, optimizer, loss: optimizer.param_groups[0].update(betas=(0.5, 0.9)),
            optimizer=lambda module: Adam(module.parameters(), lr=0.01),
        )
        == 2
    )


PARAMETRIZED = {
    "weight_norm": parametrizations.weight_norm,
    "spectral_norm": parametrizations.spectral_norm,
    "older weight_norm": nn.utils.weight_norm,
    "older spectral_norm": nn.utils.spectral_norm,
    "own": lambda module: parametrize.register_parametrization(module, "weight", Twice()),
}


@pytest.mark.parametrize("name", PARAMETRIZED)
def test_parametrizations(name):
    def make():
        module = Scaled()
        PARAMETRIZED[name](module.first)
        return module

    pair = Pair(make, lambda module: SGD(module.parameters(), lr=0.1))
    pair.run(numbers(), 4)
    pair.check()
    assert pair.step._made_in_a_row == 0


def test_hooks_after_the_first_step_are_refused():
    def refused(message, change, kind=SGD):
        module = small()
        optimizer = kind(module.parameters(), lr=0.1)
        step = train_step(module, cross_entropy, optimizer)
        step(*numbers())
        change(module, optimizer)
        with pytest.raises(ValueError, match=message):
            step(*numbers())

    refused(
        "module '0' has a backward hook",
        lambda module, optimizer: module[0].register_full_backward_hook(lambda *_: None),
    )
    refused(
        "module '2' has a backward hook",
        lambda module, optimizer: module[2].register_full_backward_pre_hook(lambda *_: None),
    )
    refused(
        "parameter '0.weight' has a hook on its gradient",
        lambda module, optimizer: module[0].weight.register_hook(lambda dy: None),
    )
    refused(
        "parameter '2.bias' has a hook on its gradient",
        lambda module, optimizer: module[2].bias.register_post_accumulate_grad_hook(lambda _: None),
    )
    refused(
        r"optimizer: has hooks on its step\(\)",
        lambda module, optimizer: optimizer.register_step_pre_hook(lambda *_: None),
    )
    refused(
        r"optimizer: has hooks on its step\(\)",
        lambda module, optimizer: optimizer.register_step_post_hook(lambda *_: None),
    )
    refused(
        r"optimizer: its step\(\) was replaced",
        lambda module, optimizer: setattr(optimizer, "step", lambda: None),
    )
    refused(
        "differentiable=False",
        lambda module, optimizer: optimizer.param_groups[0].update(differentiable=True),
    )


def test_a_step_is_compiled_once_for_its_attributes():
    step = train_step(module := Scaled(), cross_entropy, SGD(module.parameters(), lr=0.1))
    made = []
    make = compiled_step.TrainStep._make
    try:
        compiled_step.TrainStep._make = lambda step, arguments: (
            made.append(1) or make(step, arguments)
        )
        for steps in range(4):
            module.steps = steps  # Nothing reads it.
            step(*numbers())
    finally:
        compiled_step.TrainStep._make = make
    assert len(made) == 1
