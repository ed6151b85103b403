"""Values that torch.compile's forward programs save for the backward programs, in layouts of dlc's own. Skipped if PyTorch is missing."""

import gc

import pytest

torch = pytest.importorskip("torch")

from dlc._torch.compiled_subgraph import CompiledSubgraph
from test_torch_train import check, compiled, fresh, gradients  # noqa: F401

nn, F = torch.nn, torch.nn.functional


class Convolved(nn.Module):
    """Convolutions want layouts of their own, with blocks that are full or not; what is kept between them is read twice."""

    def __init__(self, middle=32, norm=None):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, 2, 1, bias=False), norm or nn.BatchNorm2d(16)
        self.second, self.third = (
            nn.Conv2d(16, middle, 1),
            nn.Conv2d(middle, middle, 3, 1, 1, groups=middle),
        )
        self.last = nn.Linear(middle, 5)

    def forward(self, x):
        x = F.hardswish(self.norm(self.first(x)))
        y = F.relu(self.second(x))
        z = self.third(y) * F.silu(y)
        return self.last(z.mean((2, 3)))


def layouts():
    """Of what goes from program to program, as the programs have it."""
    found = []
    for each in gc.get_objects():
        if type(each) is CompiledSubgraph:
            found += [value.layout for value in each._run._sessions[0].inputs if value.layout]
    return found


@pytest.mark.parametrize("middle", [32, 20])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_what_is_kept_lies_as_programs_have_it(middle, memory_format):
    module = Convolved(middle).to(memory_format=memory_format)
    images = torch.randn(4, 3, 32, 32).to(memory_format=memory_format)
    check(module, images, parameters=list(module.parameters()))
    assert memory_format is torch.channels_last or layouts()


def test_kept_values_go_through_hooks():
    module, images = Convolved(), torch.randn(2, 3, 32, 32)
    parameters = list(module.parameters())
    wanted = gradients(module, [images], parameters)
    run = compiled(module)
    with torch.autograd.graph.save_on_cpu():
        for got, want in zip(gradients(run, [images], parameters), wanted, strict=True):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda each: seen.append(each.shape) or each.clone(), lambda each: each
    ):
        for got, want in zip(gradients(run, [images], parameters), wanted, strict=True):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    assert (2, 16, 16, 16) in seen


def test_kept_values_are_read_again():
    """Between a call and its gradients there may be others, which move running statistics."""
    module, images = Convolved(), torch.randn(2, 3, 32, 32)
    parameters, run = list(module.parameters()), compiled(module)
    wanted, doubled = (
        torch.autograd.grad(module(given).square().sum(), parameters)
        for given in (images, images * 2)
    )
    result, other = (run(given).square().sum() for given in (images, images * 2))
    for found, want in ((result, wanted), (result, wanted), (other, doubled)):
        torch.testing.assert_close(
            torch.autograd.grad(found, parameters, retain_graph=True), want, rtol=1e-4, atol=1e-4
        )


def test_kept_values_that_pytorch_reads():
    """An operator that stays in PyTorch stands on either side."""

    class Left(Convolved):
        def forward(self, x):
            y = self.second(self.norm(self.first(x)))
            return torch.fft.fft2(F.relu(y)).abs() * self.third(y)

    module = Left()
    check(
        module,
        torch.randn(2, 3, 32, 32),
        parameters=list(module.norm.parameters()),
        whole=False,
        rtol=1e-3,
        atol=1e-3,
    )


def test_kept_values_with_checkpoints_and_without_gradients():
    from torch.utils.checkpoint import checkpoint

    module, images = Convolved(norm=nn.GroupNorm(4, 16)), torch.randn(2, 3, 32, 32)
    check(
        lambda x: checkpoint(module, x, use_reentrant=False),
        images,
        parameters=list(module.parameters()),
    )
    with torch.no_grad():
        torch.testing.assert_close(compiled(module)(images), module(images), rtol=1e-4, atol=1e-4)


def test_kept_values_of_other_batches():
    module = Convolved()
    run, parameters = compiled(module), list(module.parameters())
    for batch in (2, 3, 5, 2):
        images = torch.randn(batch, 3, 32, 32)
        for got, want in zip(
            gradients(run, [images], parameters),
            gradients(module, [images], parameters),
            strict=True,
        ):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_kept_values_in_compiled_autograd():
    module, images = Convolved(), torch.randn(2, 3, 32, 32)
    parameters, run = list(module.parameters()), compiled(module)
    wanted = gradients(module, [images], parameters)[1:]
    result = run(images)
    torch.manual_seed(1)
    weights = torch.randn_like(result)
    for each in parameters:
        each.grad = None
    with torch._dynamo.compiled_autograd._enable(
        lambda graph: torch.compile(graph, backend="eager")
    ):
        (result * weights).sum().backward()
    for each, want in zip(parameters, wanted, strict=True):
        torch.testing.assert_close(each.grad, want, rtol=1e-4, atol=1e-4)


def test_kept_values_in_bf16():
    module, images = Convolved(), torch.randn(2, 3, 32, 32)
    parameters, run = list(module.parameters()), compiled(module)
    with torch.autocast("cpu", torch.bfloat16):
        wanted, found = (
            gradients(module, [images], parameters),
            gradients(run, [images], parameters),
        )
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=5e-2, atol=5e-2 * want.abs().max().item())


@pytest.mark.parametrize(
    "layout, shape", [("acdb", (2, 5, 3, 4)), ("aBcd8b", (2, 16, 3, 4)), ("acb", (2, 3, 4))]
)
def test_laid(layout, shape):
    """What PyTorch runs in the place of a program's input."""
    x = torch.randn(shape)
    if layout == "aBcd8b":
        memory = x.reshape(2, 2, 8, 3, 4).permute(0, 1, 3, 4, 2)
    else:
        memory = x.movedim(1, -1)
    made = torch.ops.dlc.laid(memory.reshape(shape), layout)
    assert made.is_contiguous()
    torch.testing.assert_close(made, x, rtol=0, atol=0)


@pytest.mark.parametrize("inplace", [True, False])
def test_what_a_batch_norm_makes_is_not_kept(inplace):
    """Its input is, from which an activation's gradient gets it again."""
    module = nn.Sequential(
        nn.Conv2d(3, 16, 3),
        nn.BatchNorm2d(16),
        nn.Hardswish(inplace=inplace),
        nn.Conv2d(16, 8, 1),
        nn.BatchNorm2d(8, affine=False),
        nn.SiLU(inplace=inplace),
    )
    images = torch.randn(2, 3, 16, 16)
    check(module, images, parameters=list(module.parameters()))
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda each: seen.append(tuple(each.shape)) or each, lambda each: each
    ):
        compiled(module)(images)
    assert seen.count((2, 16, 14, 14)) == 2 and seen.count((2, 8, 14, 14)) == 1
