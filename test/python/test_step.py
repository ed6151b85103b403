"""dlc.train_step: whole training steps of PyTorch modules, compared with PyTorch. Skipped if PyTorch is missing."""

import copy
import gc
import os
import re
import subprocess
import threading
import warnings
import weakref

import from_c
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import dlc

from steps import Pair, cross_entropy, eager, numbers, same_state, small, train_step
from torch import nn
from torch.optim import SGD, Adam, AdamW, RMSprop, lr_scheduler

HERE = os.path.dirname(os.path.abspath(__file__))


class Words(nn.Module):
    """Embedding, layer norm, a linear layer that shares the embedding's weight."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm, self.middle, self.out = (
            nn.Embedding(12, 8),
            nn.LayerNorm(8),
            nn.Linear(8, 8),
            nn.Linear(8, 12),
        )
        self.out.weight = self.embedding.weight

    def forward(self, ids):
        return self.out(nn.functional.gelu(self.middle(self.norm(self.embedding(ids))))).flatten(
            0, 1
        )


def images(batch=4):
    torch.manual_seed(1)
    return torch.randn(batch, 3, 8, 8), torch.randint(10, (batch,))


def words():
    torch.manual_seed(1)
    return torch.randint(12, (4, 5)), torch.randint(12, (20,))


def pictures():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def texts():
    torch.manual_seed(0)
    return Words()


OPTIMIZERS = {
    "sgd": (SGD, {"lr": 0.1}, pictures),
    "sgd_nesterov": (
        SGD,
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
        pictures,
    ),
    "sgd_dampening": (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}, small),
    "adam": (Adam, {"lr": 0.01, "betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.1}, texts),
    "adam_amsgrad": (Adam, {"lr": 0.01, "amsgrad": True, "maximize": True}, small),
    "adam_decoupled": (
        Adam,
        {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True},
        small,
    ),
    "adamw": (AdamW, {"lr": 0.01}, pictures),
    "adamw_amsgrad": (AdamW, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.3}, texts),
    "rmsprop": (RMSprop, {"lr": 0.005, "weight_decay": 0.01}, small),
    "rmsprop_centered": (
        RMSprop,
        {"lr": 0.005, "centered": True, "momentum": 0.5, "alpha": 0.9},
        small,
    ),
}
BATCHES = {pictures: images, texts: words, small: numbers}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps_are_pytorchs(name):
    kind, options, make = OPTIMIZERS[name]
    pair = Pair(make, lambda module: kind(module.parameters(), **options))
    pair.run(BATCHES[make]())
    pair.check()


def test_the_module_s_memory_is_the_program_s():
    module = pictures()
    optimizer = SGD(module.parameters(), lr=0.1, momentum=0.9)
    tensors = [*module.parameters(), *module.buffers()]
    before = [each.data_ptr() for each in tensors]
    versions = [each._version for each in tensors]
    step = train_step(module, nn.CrossEntropyLoss(), optimizer, images())
    assert not optimizer.state and [each._version for each in tensors] == versions
    step(*images())
    assert [each.data_ptr() for each in tensors] == before
    assert all(each._version > version for each, version in zip(tensors, versions))
    # What is left to the session are a counter and what nobody has touched.
    assert step.memory["constants"] < 1000
    moments = [optimizer.state[each]["momentum_buffer"] for each in module.parameters()]
    addresses = [each.data_ptr() for each in moments]
    step(*images())
    assert [
        optimizer.state[each]["momentum_buffer"].data_ptr() for each in module.parameters()
    ] == addresses
    assert module[1].num_batches_tracked == 2


def test_schedulers_and_groups():
    def optimizer(module):
        return AdamW(
            [
                {"params": module[0].parameters(), "weight_decay": 0.5},
                {"params": module[2].parameters(), "lr": 0.05},
            ],
            lr=0.01,
        )

    pair = Pair(small, optimizer)
    schedules = [
        lr_scheduler.OneCycleLR(each, max_lr=[0.1, 0.02], total_steps=10, cycle_momentum=False)
        for each in pair.optimizers
    ]
    for _ in range(9):
        pair.run(numbers(), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for schedule in schedules:
                schedule.step()
    pair.check()
    assert len(pair.step._programs) == 1


def test_changed_options_make_another_program():
    pair = Pair(small, lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9))
    pair.run(numbers(), 2)
    for each in pair.optimizers:
        each.param_groups[0]["weight_decay"] = 0.1
    pair.run(numbers(), 2)
    for each in pair.modules:
        each[0].requires_grad_(False)
        each.zero_grad()
    pair.run(numbers(), 2)
    pair.check()
    assert len(pair.step._programs) == 3


def test_who_compiles_each_step_hears_of_it():
    module = nn.Linear(3, 2)
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
    with pytest.warns(UserWarning, match="each of the last 5 calls was compiled again"):
        for batch in range(1, 6):
            step(torch.randn(batch, 3), torch.zeros(batch, dtype=torch.int64))


def test_state_dicts_come_and_go():
    pair = Pair(pictures, lambda module: Adam(module.parameters(), lr=0.01))
    pair.run(images(), 3)
    kept = copy.deepcopy(
        [
            (module.state_dict(), optimizer.state_dict())
            for module, optimizer in zip(pair.modules, pair.optimizers)
        ]
    )
    pair.run(images(), 3)
    for module, optimizer, (weights, moments) in zip(pair.modules, pair.optimizers, kept):
        module.load_state_dict(weights)
        optimizer.load_state_dict(moments)
    pair.run(images(), 3)
    pair.check()
    assert all(each["step"] == 6 for each in pair.optimizers[0].state.values())
    # PyTorch goes on from it, and dlc from that.
    batch = images()
    eager(pair.modules[0], cross_entropy, pair.optimizers[0], batch)
    eager(pair.modules[1], cross_entropy, pair.optimizers[1], batch)
    pair.run(batch, 1)
    pair.check()
    with torch.no_grad():
        for module in pair.modules:
            module[5].weight.mul_(0.5)
            module[0].weight.data = module[0].weight.data * 2
    pair.run(batch, 2)
    pair.check()


def test_shapes_have_programs_of_their_own():
    pair = Pair(pictures, lambda module: Adam(module.parameters(), lr=0.01))
    for batch in (4, 3, 4, 2, 3):
        pair.run(images(batch), 1)
    pair.check()
    assert len(pair.step._programs) == 3


def test_frozen_parameters_stay_and_are_seen():
    def frozen():
        module = small()
        module[0].weight.requires_grad_(False)
        return module

    pair = Pair(
        frozen, lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    )
    pair.run(numbers(), 2)
    with torch.no_grad():
        for module in pair.modules:
            module[0].weight.mul_(3)
    pair.run(numbers(), 2)
    pair.check()
    assert pair.modules[0][0].weight not in pair.optimizers[0].state


def test_parameters_of_another_layout():
    def make():
        return pictures().to(memory_format=torch.channels_last)

    pair = Pair(make, lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9))
    pair.run(images(), 3)
    pair.check()
    assert pair.modules[0][0].weight.stride() == pair.modules[1][0].weight.stride()


def test_no_gradients_go_through_detach_and_no_grad():
    class Stopped(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(6, 3), nn.Linear(6, 3), nn.Linear(6, 3)

        def forward(self, x):
            y = self.a(x)
            with torch.no_grad():
                z = self.b(x) * y
            return y * y.detach() + z + self.c(x).detach()

    def make():
        torch.manual_seed(0)
        return Stopped()

    pair = Pair(make, lambda module: Adam(module.parameters(), lr=0.01, weight_decay=0.1))
    pair.run(numbers(), 5)
    pair.check()
    assert pair.modules[0].c.weight not in pair.optimizers[0].state


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers(kind):
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.out = (
                kind(6, 4, 2, batch_first=True, bidirectional=True),
                nn.Linear(8, 3),
            )

        def forward(self, x):
            y, h = self.layers(x)
            return self.out(y[:, -1]) + (h[0] if kind is nn.LSTM else h)[0, :, :3]

    def make():
        torch.manual_seed(0)
        return Recurrent()

    pair = Pair(make, lambda module: SGD(module.parameters(), lr=0.1))
    torch.manual_seed(2)
    x = torch.randn(2, 5, 6)
    pair.run((x, torch.tensor([1, 2])), 4)
    pair.check()
    torch.testing.assert_close(pair.modules[0](x), pair.modules[1](x))


def test_positions_as_complex_numbers():
    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(6, 6)
            self.register_buffer("turns", torch.polar(torch.ones(3), torch.arange(3.0)))

        def forward(self, x):
            return torch.view_as_real(
                torch.view_as_complex(self.layer(x).unflatten(1, (3, 2))) * self.turns
            ).flatten(1)

    def make():
        torch.manual_seed(0)
        return Turned()

    pair = Pair(make, lambda module: SGD(module.parameters(), lr=0.1))
    pair.run(numbers(), 3)
    pair.check()


def test_threads_make_steps_at_once():
    def train(at):
        step = train_step(modules[at], cross_entropy, SGD(modules[at].parameters(), lr=0.1))
        found[at] = [step(*batch).item() for _ in range(2)]

    modules, batch, found = [pictures() for _ in range(3)], images(), {}
    threads = [threading.Thread(target=train, args=(at,)) for at in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 3 and found[0] == found[1] == found[2]


def test_losses_of_many_kinds():
    weights = torch.tensor([1.0, 2.0, 0.5])
    losses = (
        (nn.CrossEntropyLoss(weight=weights, label_smoothing=0.1), -100),
        (lambda y, t: cross_entropy(y, t, ignore_index=1, reduction="sum"), 1),
    )
    for loss, ignored in losses:
        pair = Pair(small, lambda module: SGD(module.parameters(), lr=0.05), loss)
        pair.run((numbers()[0], torch.tensor([0, 2, ignored, 0, 2])), 3)
        pair.check()


def test_the_input_is_the_target_in_the_first_step():
    pair = Pair(
        lambda: nn.Linear(4, 4),
        lambda module: SGD(module.parameters(), lr=0.1),
        nn.functional.mse_loss,
    )
    pair.modules[1].load_state_dict(pair.modules[0].state_dict())
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    pair.run((x, x), 1)
    pair.run((x, y), 2)
    pair.check()


def test_a_loss_with_parameters_and_nested_inputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(6, 3)

        def forward(self, pair, scale):
            return self.layer(pair["a"] + pair["b"]) * scale

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.tensor(2.0))

        def forward(self, y, t):
            return (self.weight * y - t).square().mean()

    torch.manual_seed(0)
    module, loss = Two(), Scaled()
    others = copy.deepcopy((module, loss))
    optimizers = [
        Adam([*a.parameters(), *b.parameters()], lr=0.01) for a, b in ((module, loss), others)
    ]
    step = train_step(module, loss, optimizers[0])
    batch = {"a": torch.randn(2, 6), "b": torch.randn(2, 6)}, 0.5, torch.randn(2, 3)
    for _ in range(3):
        torch.testing.assert_close(step(*batch), eager(others[0], others[1], optimizers[1], batch))
    same_state(loss.state_dict(), others[1].state_dict())


def test_dropout_follows_the_seed():
    def losses(seed, steps=3):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(6, 64), nn.Dropout(0.5), nn.Linear(64, 3))
        step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.0), seed=seed)
        return [step(*numbers()).item() for _ in range(steps)]

    first = losses(1)
    assert first == losses(1) and first != losses(2)
    assert len(set(first)) == 3


def test_dropout_keeps_the_mean():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.drop = nn.Parameter(torch.ones(1)), nn.Dropout(0.25)

        def forward(self, x):
            return self.drop(x * self.scale)

    module = Scaled()
    step = train_step(module, lambda y, t: (y * t).mean(), SGD(module.parameters(), lr=1.0))
    ones = torch.ones(100, 1000)
    loss = step(ones, ones).item()
    assert abs(loss - 1) < 0.02
    # The gradient went through the same mask.
    assert module.scale.item() == pytest.approx(1 - loss, abs=1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_dropout(causal):
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return nn.functional.scaled_dot_product_attention(
                x * self.q, x, x, dropout_p=0.25, is_causal=causal
            )

    module = Attention()
    step = train_step(module, lambda y, t: (y - t).mean(), SGD(module.parameters(), lr=0.1))
    ones = torch.ones(8, 4, 16, 32)
    losses = [step(ones, ones).item() for _ in range(2)]
    # All weights are alike, and a quarter of them 0.
    assert losses == pytest.approx([0, 0], abs=0.02) and losses[0] != losses[1]


def test_parts_of_a_batch_draw_other_numbers():
    class Kept(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.drop = nn.Parameter(torch.ones(1)), nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x * self.scale)

    module = Kept()
    step = train_step(
        module, lambda y, t: (y * t).mean(), SGD(module.parameters(), lr=0.0), accumulate=2
    )
    half = torch.randn(1, 4096).abs()
    # With one mask for both, the halves would cancel.
    assert abs(step(torch.cat([half, half]), torch.cat([half, -half])).item()) > 1e-4


def test_names_of_ours_are_no_hindrance():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.loss, self.step, self.lr = (
                nn.Parameter(torch.ones(3)),
                nn.Parameter(torch.ones(3)),
                nn.Parameter(torch.ones(3)),
            )
            self.register_buffer("count", torch.zeros(3))

        def forward(self, target):
            self.count += 1
            return target @ torch.ones(6, 3) * self.loss + self.step + self.lr * self.count

    pair = Pair(Named, lambda module: SGD(module.parameters(), lr=0.05))
    pair.run(numbers(), 3)
    pair.check()


def test_buffers_that_are_written_alone():
    class Kept(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = nn.Linear(6, 3)
            self.register_buffer("last", torch.zeros(3))
            self.register_buffer("largest", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            y = self.layer(x)
            self.last.copy_(y.detach().mean(0))
            self.largest.copy_(y.argmax())
            return y

    pair = Pair(Kept, lambda module: SGD(module.parameters(), lr=0.05))
    pair.run(numbers(), 3)
    pair.check()


def test_sixteen_bits():
    pair = Pair(small, lambda module: SGD(module.parameters(), lr=0.1), precision="bf16")
    for _ in range(5):
        found, wanted = (
            pair.step(*numbers()),
            eager(pair.modules[1], cross_entropy, pair.optimizers[1], numbers()),
        )
        torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
    assert all(each.dtype == torch.float32 for each in pair.modules[0].parameters())


def test_a_scaled_loss_skips_what_overflows():
    module = small()
    optimizer = Adam(module.parameters(), lr=0.01)
    step = train_step(
        module, lambda y, t: cross_entropy(y, t), optimizer, precision="f16", loss_scale=2.0**24
    )
    before = copy.deepcopy(module.state_dict())
    x, y = numbers()
    losses = [step(x * 1000, y).item() for _ in range(2)]
    assert np.isfinite(losses).all()
    same_state(module.state_dict(), before)
    assert optimizer.state[module[0].weight]["step"] == 0
    for _ in range(30):
        loss = step(x, y)
    count = optimizer.state[module[0].weight]["step"].item()
    assert 5 < count < 32 and loss < losses[0]


def test_batches_in_parts_and_clipping():
    pair = Pair(small, lambda module: SGD(module.parameters(), lr=0.1), accumulate=3, clip_norm=0.1)
    x, y = numbers(6)
    for _ in range(3):
        found = pair.step(x, y)
        module, optimizer = pair.modules[1], pair.optimizers[1]
        optimizer.zero_grad()
        wanted = cross_entropy(module(x), y)
        wanted.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.1)
        optimizer.step()
        torch.testing.assert_close(found, wanted.detach())
    pair.check()
    with pytest.raises(
        ValueError,
        match="accumulate=3: required: inputs whose first size is divisible by 3; found: the shape .5, 6",
    ):
        pair.step(*numbers(5))


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    """A program in C that runs saved steps."""
    return from_c.built(str(tmp_path_factory.mktemp("c"))) or pytest.skip("no C compiler")


@pytest.mark.parametrize("kind", [AdamW, SGD])
def test_a_saved_step_trains_from_c(trainer, tmp_path, kind):
    options = {"lr": 0.05} if kind is AdamW else {"lr": 0.05, "momentum": 0.9}
    module = pictures()
    optimizer = kind(module.parameters(), **options)
    step = train_step(module, cross_entropy, optimizer)
    x, y = images()
    for _ in range(2):
        step(x, y)
    step.save(tmp_path / "step.dlcx")
    x.numpy().tofile(tmp_path / "x")
    y.numpy().tofile(tmp_path / "y")
    np.float32(0.05).tofile(tmp_path / "lr")
    found = from_c.losses(
        trainer, tmp_path / "step.dlcx", 5, [tmp_path / name for name in ("x", "y", "lr")]
    )
    assert list(map(np.float32, found)) == [step(x, y).item() for _ in range(5)]


def test_a_saved_step_says_what_it_is(tmp_path):
    module = small()
    step = train_step(module, nn.CrossEntropyLoss(), SGD(module.parameters(), lr=0.25), numbers())
    step.save(tmp_path / "step.dlcx")
    loaded = dlc.load(tmp_path / "step.dlcx")
    assert [value.name for value in loaded.inputs] == ["input", "target", "lr"]
    first = loaded(*numbers(), np.array(0.25, "float32"))
    assert first == step(*numbers())
    tool = os.path.join(HERE, "..", "..", "build", "bin", "dlc")
    if not os.path.exists(tool):
        pytest.skip("the command line tool is not built")
    x, y = numbers(20)
    np.savez(tmp_path / "data.npz", input=x.numpy(), target=y.numpy())
    lines = subprocess.run(
        [tool, "train", "step.dlcx", "--data", "data.npz", "--epochs", "20", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    losses = [float(each) for each in re.findall(r'"loss":([0-9.e-]+)', lines)]
    assert len(losses) == 80 and losses[-1] < losses[0]
    still = subprocess.run(
        [
            tool,
            "train",
            "step.dlcx",
            "--data",
            "data.npz",
            "--no-shuffle",
            "--epochs",
            "2",
            "--json",
            "--lr",
            "0",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    losses = re.findall(r'"loss":([0-9.e-]+)', still)
    assert losses[:4] == losses[4:]


def test_errors():
    module = small()
    with pytest.raises(
        ValueError,
        match=r"required: one of torch.optim.SGD, .*; found: torch.optim.*Adagrad; train with one of these",
    ):
        train_step(module, cross_entropy, torch.optim.Adagrad(module.parameters()))
    with pytest.raises(ValueError, match="required: differentiable=False"):
        train_step(
            module, cross_entropy, SGD(module.parameters(), lr=0.1, differentiable=True), numbers()
        )
    with pytest.raises(
        ValueError,
        match="is not a parameter of the module or the loss; required: an optimizer of module.parameters",
    ):
        train_step(
            module,
            cross_entropy,
            SGD([*module.parameters(), nn.Parameter(torch.ones(2))], lr=0.1),
            numbers(),
        )
    optimizer = SGD(module.parameters(), lr=0.1)
    module.requires_grad_(False)
    with pytest.raises(
        ValueError,
        match="there is nothing to train: required: a parameter of the optimizer that requires gradients",
    ):
        train_step(module, cross_entropy, optimizer, numbers())


def test_errors_of_calls():
    module = small()
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
    with pytest.raises(TypeError, match="required: the module's inputs and the target"):
        step(numbers()[0])
    with pytest.raises(TypeError, match="example_inputs: required: .*as in .x, y.; found: Tensor"):
        train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), numbers()[0])
    with pytest.raises(ValueError, match="not compiled yet"):
        step.save("step.dlcx")
    with pytest.raises(
        TypeError, match="an input is a ndarray; required: tensors, .*torch.as_tensor"
    ):
        step(numbers()[0].numpy(), numbers()[1])
    with pytest.raises(ValueError, match="an input is on meta; required: host memory"):
        step(numbers()[0].to("meta"), numbers()[1])
    with pytest.raises(ValueError, match="reduce it, as in loss.mean"):
        train_step(module, lambda y, t: y, SGD(module.parameters(), lr=0.1), numbers())
    with pytest.raises(
        ValueError, match="cannot be exported; required: a module that torch.export.export supports"
    ):
        train_step(
            module,
            lambda y, t: y.mean() if y.sum() > 0 else y.sum(),
            SGD(module.parameters(), lr=0.1),
            numbers(),
        )
    with pytest.raises(ValueError, match="aten._linalg_eigh.default: .*runs them in PyTorch"):
        train_step(
            module,
            lambda y, t: torch.linalg.eigvalsh(y.T @ y).sum(),
            SGD(module.parameters(), lr=0.1),
            numbers(),
        )
    with pytest.raises(TypeError, match="cannot be pickled or copied"):
        copy.deepcopy(step)
    sparse = nn.Sequential(nn.Embedding(4, 3, sparse=True))
    with pytest.raises(
        ValueError, match="aten.embedding.default: argument 'sparse': required: its default"
    ):
        train_step(
            sparse,
            cross_entropy,
            SGD(sparse.parameters(), lr=0.1),
            (torch.tensor([1, 2]), torch.tensor([0, 1])),
        )
    other = small().to("meta")
    with pytest.raises(
        ValueError, match="is on meta; required: host memory; move the module first"
    ):
        train_step(other, cross_entropy, SGD(other.parameters(), lr=0.1), numbers())


def test_parameters_that_are_others_need_another_optimizer():
    module = small()
    step = train_step(module, cross_entropy, Adam(module.parameters(), lr=0.1))
    step(*numbers())
    module.load_state_dict(small().state_dict(), assign=True)
    with pytest.raises(
        ValueError,
        match="parameter 0 of group 0, .8, 6., is not a parameter of the module or the loss",
    ):
        step(*numbers())


def test_a_deleted_step_leaves_an_ordinary_module():
    """The step is freed, and the module computes and differentiates as a new one with the same parameters."""
    module, other = small(), small()
    before = set(vars(module))
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), numbers())
    step(*numbers())
    freed = weakref.ref(step)
    del step
    gc.collect()
    assert freed() is None and set(vars(module)) == before and not module._forward_hooks
    assert not torch.equal(module[0].weight, other[0].weight)
    other.load_state_dict(module.state_dict())
    for each in (module, other):
        each.zero_grad()
        each(numbers()[0]).sum().backward()
    for found, wanted in zip(module.parameters(), other.parameters(), strict=True):
        assert torch.equal(found.grad, wanted.grad)
