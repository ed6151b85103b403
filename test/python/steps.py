"""Modules, batches and steps that the tests of dlc.train_step share. Every step is checked against eager PyTorch (check=True)."""

import functools

import torch

import dlc

from torch import nn

cross_entropy = nn.functional.cross_entropy
train_step = functools.partial(dlc.train_step, check=True)


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def numbers(batch=5):
    torch.manual_seed(1)
    return torch.randn(batch, 6), torch.randint(3, (batch,))


def eager(module, loss, optimizer, batch):
    *inputs, target = batch
    optimizer.zero_grad()
    value = loss(module(*inputs), target)
    value.backward()
    optimizer.step()
    return value.detach()


def same_state(found, wanted, name=""):
    assert found.keys() == wanted.keys(), name
    for key, value in wanted.items():
        if isinstance(value, dict):
            same_state(found[key], value, f"{name}.{key}")
        elif isinstance(value, torch.Tensor):
            assert found[key].dtype == value.dtype
            torch.testing.assert_close(
                found[key],
                value,
                rtol=1e-3,
                atol=2e-5,
                msg=lambda text, key=key: f"{name}.{key}: {text}",
            )
        else:
            assert found[key] == value or isinstance(value, list), f"{name}.{key}"


class Pair:
    """The same module and optimizer twice: dlc's and PyTorch's."""

    def __init__(self, make, optimizer, loss=cross_entropy, **options):
        self.modules = [make(), make()]
        self.optimizers = [optimizer(each) for each in self.modules]
        self.loss = loss
        self.step = train_step(self.modules[0], loss, self.optimizers[0], **options)

    def run(self, batch, steps=10):
        for _ in range(steps):
            found, wanted = (
                self.step(*batch),
                eager(self.modules[1], self.loss, self.optimizers[1], batch),
            )
            assert found.shape == () and not found.requires_grad
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)

    def check(self):
        same_state(self.modules[0].state_dict(), self.modules[1].state_dict())
        same_state(
            self.optimizers[0].state_dict()["state"], self.optimizers[1].state_dict()["state"]
        )
