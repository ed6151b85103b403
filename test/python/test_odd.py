"""Calls with odd arguments (fuzz_calls.py), and reduced cases of failures that such calls have found."""

import os
import subprocess
import sys

import models
import numpy as np
import odd
import pytest

import dlc


def fuzz(count, *arguments):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz_calls.py")
    done = subprocess.run(
        [sys.executable, script, "--count", str(count), *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_odd_arguments():
    fuzz(3000)


def test_odd_tensors_and_training_steps():
    pytest.importorskip("torch")
    fuzz(200, "--torch")


def test_arguments_that_change_while_they_are_read():
    """The dictionary gives up what a later argument's __dlpack__ takes out of it."""
    net = dlc.compile(models.two())
    named = {"a": odd.Lies(np.full((2, 3), 2, "float32").__dlpack__)}

    def act():
        named.clear()
        return np.ones((2, 3), "float32").__dlpack__()

    named["b/1"] = odd.Lies(act)
    assert (net.run(named)["sum"] == 3).all()


def test_progress_that_calls_what_is_compiled():
    found = []

    def progress(*_):
        if not found:
            with pytest.raises(RuntimeError, match="`progress` .* that does not call the model"):
                net(np.ones((2, 8), "float32"))
            found.append(True)

    net = dlc.compile(models.long_to_compile(400, "batch"), progress=progress)
    assert net(np.ones((4, 8), "float32")).shape == (4, 408) and found


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (
            lambda: dlc.compile(models.two(), threads=2**40),
            ValueError,
            "threads: required: a number of at most 4096, 0 for all; found",
        ),
        (
            lambda: dlc.compile(models.two(), device=3),
            TypeError,
            "device: required: a text; found: 3",
        ),
        (
            lambda: dlc.compile(models.open_batch(), shapes=[("x", (2, 3))]),
            TypeError,
            "shapes: required: shapes by the names of inputs",
        ),
        (
            lambda: dlc.compile(models.open_batch(), shapes={3: (2, 3)}),
            TypeError,
            "shapes: required: names of inputs; found: 3",
        ),
        (
            lambda: dlc.compile(models.open_batch(), shapes={"x": (-1, 3)}),
            ValueError,
            "required: sizes of 0 or more",
        ),
    ],
)
def test_options(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


def test_threads_of_a_loaded_program(tmp_path, two):
    two.save(tmp_path / "net.dlcx")
    with pytest.raises(ValueError, match="threads: required: a number of at most"):
        dlc.load(tmp_path / "net.dlcx", threads=-1)


def test_shapes_of_numpys_numbers():
    assert dlc.compile(models.open_batch(), shapes={"x": np.array([2, 3])})(
        np.ones((2, 3), "float32")
    ).shape == (2, 3)


class TestTorch:
    torch = None

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    def test_tensors_without_memory(self):
        net, x, bad = dlc.compile(models.two()), self.torch.ones(2, 3), self.torch.ones(2, 3)
        bad.untyped_storage().resize_(0)
        with pytest.raises((ValueError, RuntimeError, BufferError)):
            net(x, bad)
        # Zeros that PyTorch keeps without memory.
        for mine, zeros in zip(
            net(x, self.torch._efficientzerotensor((2, 3))),
            net(x, self.torch.zeros(2, 3)),
            strict=True,
        ):
            assert self.torch.equal(mine, zeros)

    def step(self, module):
        t = self.torch
        return dlc.train_step(
            module, lambda y, t: (y - t).square().mean(), t.optim.SGD(module.parameters(), lr=0.1)
        )

    def test_a_parameter_that_lies_otherwise(self):
        """Where it lay, with other strides."""
        t = self.torch
        t.manual_seed(0)
        modules = [t.nn.Linear(3, 3), t.nn.Linear(3, 3)]
        modules[1].load_state_dict(modules[0].state_dict())
        step, batch = self.step(modules[0]), (t.randn(2, 3), t.randn(2, 3))
        other = self.step(modules[1])
        assert step(*batch) == other(*batch)
        modules[0].weight.data = modules[0].weight.data.t()
        modules[1].weight.data = modules[1].weight.data.t().clone()
        t.testing.assert_close(step(*batch), other(*batch))

    def test_a_parameter_without_memory(self):
        t = self.torch
        module = t.nn.Linear(3, 3)
        step, batch = self.step(module), (t.randn(2, 3), t.randn(2, 3))
        step(*batch)
        module.weight.untyped_storage().resize_(0)
        with pytest.raises(
            ValueError, match="'weight': required: a tensor whose elements are in memory"
        ):
            step(*batch)

    def test_a_loss_that_calls_the_step(self):
        t = self.torch
        module = t.nn.Linear(3, 3)

        def loss(y, target):
            step(t.ones(2, 3), t.ones(2, 3))
            return y.mean()

        step = dlc.train_step(module, loss, t.optim.SGD(module.parameters(), lr=0.1))
        with pytest.raises((ValueError, RuntimeError), match="is already running"):
            step(t.ones(2, 3), t.ones(2, 3))

    @pytest.mark.parametrize(
        "options",
        [
            {"clip_norm": "x"},
            {"clip_value": None},
            {"loss_scale": float("nan")},
            {"seed": -1},
            {"accumulate": 2.0},
            {"clip_norm": -1},
        ],
    )
    def test_options_of_steps(self, options):
        module = self.torch.nn.Linear(3, 3)
        with pytest.raises(ValueError, match=f"{next(iter(options))}: required: a number"):
            dlc.train_step(
                module, lambda y, t: y.mean(), self.torch.optim.SGD(module.parameters()), **options
            )

    def test_an_optimizer_without_a_rate(self):
        module = self.torch.nn.Linear(3, 3)
        step, batch = self.step(module), (self.torch.randn(2, 3), self.torch.randn(2, 3))
        step(*batch)
        del step.optimizer.param_groups[0]["lr"]
        with pytest.raises(
            ValueError, match="required: a finite number 'lr' in each of its groups; found: 'none'"
        ):
            step(*batch)
