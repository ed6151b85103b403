"""Class indices out of range in losses: IndexError, as in PyTorch. Skipped if PyTorch is missing."""

import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc._torch import backend
from steps import cross_entropy, numbers, small
from torch import nn
from torch.optim import SGD


def step_of(module, loss=cross_entropy, **options):
    return dlc.train_step(module, loss, SGD(module.parameters(), lr=0.1), **options)


def rejects(step, x, target, found, classes=3):
    with pytest.raises(
        IndexError,
        match=f"^Target {found} is out of bounds; required: class indices from 0 to {classes - 1}, or ignore_index",
    ):
        step(x, target)
    with pytest.raises(IndexError, match=f"Target {found} is out of bounds"):
        cross_entropy(torch.zeros(1, classes), torch.tensor([found]), ignore_index=-77)


@pytest.mark.parametrize("found", [3, 10, -1])
def test_a_step_rejects_and_changes_nothing(found):
    module = small()
    step = step_of(module)
    x, target = numbers()
    step(x, target)
    before = {name: each.clone() for name, each in module.state_dict().items()}
    wrong = target.clone()
    wrong[2] = found
    rejects(step, x, wrong, found)
    assert all(torch.equal(each, before[name]) for name, each in module.state_dict().items())
    assert step(x, target).isfinite() and len(step._programs) == 1


def test_ignored_elements_are_allowed():
    x, target = numbers()
    target[1] = -100
    assert step_of(small())(x, target).isfinite()
    for ignored, wrong in ((255, -100), (-1, 255), (1, 3)):
        step = step_of(small(), nn.CrossEntropyLoss(ignore_index=ignored, label_smoothing=0.1))
        target[1] = ignored
        assert step(x, target).isfinite()
        target[1] = wrong
        rejects(step, x, target, wrong)


def test_micro_batches_and_views():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(7, 4)
            self.last = nn.Linear(4, 7)

        def forward(self, ids):
            return self.last(self.table(ids[:, :-1]))

    def shifted(y, ids):
        return cross_entropy(y.flatten(0, 1), ids[:, 1:].reshape(-1).long())

    ids = torch.arange(12, dtype=torch.int32).reshape(4, 3) % 7
    wrong = ids.clone()
    wrong[:, 0] = 9  # not read by the loss
    for parts in (1, 2):
        step = step_of(Words(), shifted, accumulate=parts)
        assert step(ids, wrong).isfinite()
        last = ids.clone()
        last[3, 2] = 7
        rejects(step, ids, last, 7, 7)


def test_a_target_without_storage():
    step, (x, target) = step_of(small()), numbers()
    step(x, target)
    target.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="found: an array without memory"):
        step(x, target)


def test_images():
    module = nn.Conv2d(2, 4, 1)
    step, x = step_of(module, nn.CrossEntropyLoss(ignore_index=255)), torch.randn(2, 2, 3, 3)
    target = torch.randint(4, (2, 3, 3))
    target[0, 0, 0] = 255
    assert step(x, target).isfinite()
    target[1, 2, 2] = 4
    rejects(step, x, target, 4, 4)


@pytest.mark.parametrize("trains", [True, False])
def test_compiled_functions(trains):
    torch._dynamo.reset()
    module = small()
    x, target = numbers()
    run = torch.compile(lambda x, target: cross_entropy(module(x), target), backend=backend.backend)
    with torch.set_grad_enabled(trains):
        torch.testing.assert_close(run(x, target), cross_entropy(module(x), target))
        target[3] = 10
        rejects(run, x, target, 10)
        target[3] = -100
        torch.testing.assert_close(run(x, target), cross_entropy(module(x), target))
