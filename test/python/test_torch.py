"""PyTorch's modules: dlc.compile, and torch.compile with dlc as its backend. Skipped where PyTorch is missing."""
import logging

import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc import _backend


def net():
    torch.manual_seed(0)
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 8, 3, padding=1), layers.BatchNorm2d(8), layers.ReLU(), layers.MaxPool2d(2), layers.Flatten(), layers.Linear(128, 10), layers.GELU()
    )


class Sorted(torch.nn.Module):
    """With an operator in the middle whose result's shape depends on values, which no program of dlc's has."""

    def forward(self, x):
        y = torch.relu(x) * 2
        z = torch.linalg.eigvalsh(y @ y.T)
        return torch.sigmoid(z + 1)


@pytest.fixture
def images():
    torch.manual_seed(1)
    return torch.randn(2, 3, 8, 8)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    dlc.report(clear=True)


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def compiled(module, **options):
    return torch.compile(module, backend=_backend.backend, options=options or None)


def test_a_module_becomes_a_model(images, tmp_path):
    module = net().eval()
    made = dlc.compile(module, (images,))
    close(made(images), module(images).detach())
    made.save(tmp_path / "net.dlcx")
    close(dlc.load(tmp_path / "net.dlcx")(images), module(images).detach())


def test_an_exported_program_becomes_a_model(images):
    module = net().eval()
    close(dlc.compile(torch.export.export(module, (images,)))(images), module(images).detach())


def test_a_module_needs_inputs():
    with pytest.raises(TypeError, match="required: example inputs"):
        dlc.compile(net().eval())


def test_a_module_that_changes_itself_is_refused(images):
    with pytest.raises(ValueError, match="call module.eval"):
        dlc.compile(net().train(), (images,))


def test_what_dlc_lacks_is_named(images):
    with pytest.raises(ValueError, match="aten._linalg_eigh.default"):
        dlc.compile(Sorted(), (torch.randn(4, 4),))


@torch.no_grad()
def test_inference(images):
    module = net().eval()
    close(compiled(module)(images), module(images))
    (graph,) = dlc.report()
    assert graph.kind == "inference" and len(graph.pieces) == 1 and not graph.eager


@torch.no_grad()
def test_a_changed_parameter_is_seen(images):
    module = net().eval()
    run = compiled(module)
    run(images)
    module[0].weight.mul_(2)
    close(run(images), module(images))
    module[0].weight.data += 1
    close(run(images), module(images))
    assert len(dlc.report()) == 1


@torch.no_grad()
def test_the_rest_stays_in_pytorch_and_says_so(caplog):
    module, x = Sorted(), torch.randn(4, 4)
    with caplog.at_level(logging.WARNING, "dlc"):
        close(compiled(module)(x), module(x))
    (graph,) = dlc.report()
    assert len(graph.pieces) == 2
    assert [each.overload for each in graph.eager] == ["aten._linalg_eigh.default"]
    assert "no import of this operator" in graph.eager[0].reason
    assert "aten._linalg_eigh.default" in caplog.text


@torch.no_grad()
def test_strict_makes_that_an_error():
    with pytest.raises(Exception, match="a graph that dlc runs whole; found: aten._linalg_eigh.default"):
        compiled(Sorted(), strict=True)(torch.randn(4, 4))


def test_an_unknown_option_is_named():
    with pytest.raises(Exception, match="options: required: strict, .*; found: stric"):
        compiled(net().eval(), stric=True)(torch.randn(2, 3, 8, 8))


@torch.no_grad()
def test_dynamic_dimensions_specialise(images):
    module = net().eval()
    run = compiled(module)
    for batch in (2, 3, 5, 3):
        x = torch.randn(batch, 3, 8, 8)
        close(run(x), module(x))
    assert any("dynamic dimensions: programs for" in note for graph in dlc.report() for note in graph.notes)


@torch.no_grad()
def test_mutations_and_views_are_pytorchs():
    def function(x, y):
        x.add_(1)
        z = x.view(-1)
        z.mul_(2)
        return z[2:], y.T, x + y

    x, y = torch.randn(2, 3), torch.randn(2, 3)
    given, wanted = (x.clone(), y.clone()), (x.clone(), y.clone())
    found, expected = torch.compile(function, backend=_backend.backend)(*given), function(*wanted)
    for got, want in zip(found, expected):
        close(got, want)
        assert got.stride() == want.stride()
    close(given[0], wanted[0])
    found[0].zero_()
    expected[0].zero_()
    close(given[0], wanted[0])


@torch.no_grad()
def test_results_lie_as_pytorch_says(images):
    module = net().eval()[:3].to(memory_format=torch.channels_last)
    x = images.to(memory_format=torch.channels_last)
    found, wanted = compiled(module)(x), module(x)
    close(found, wanted)
    assert found.stride() == wanted.stride()


def test_training_gives_the_same_weights(images):
    modules = [net().train(), net().train()]
    runs = [compiled(modules[0]), modules[1]]
    target = torch.tensor([1, 2])
    for module, run in zip(modules, runs):
        step = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
        for _ in range(5):
            step.zero_grad()
            torch.nn.functional.cross_entropy(run(images), target).backward()
            step.step()
    for (name, found), wanted in zip(modules[0].state_dict().items(), modules[1].state_dict().values()):
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-4, msg=name)
    assert {graph.kind for graph in dlc.report()} == {"forward", "backward"}


def test_attention_stays_whole():
    q = torch.randn(2, 4, 16, 8)
    with torch.no_grad():
        run = torch.compile(lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), backend=_backend.backend)
        close(run(q), torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True))
    (graph,) = dlc.report()
    assert graph.operators == 1 and not graph.eager


def test_pytorch_finds_the_backend(python):
    assert python("import torch; print(torch.compile(torch.relu, backend='dlc')(torch.tensor([-1.0, 2.0])))").strip() == "tensor([0., 2.])"


def test_import_does_not_load_pytorch(python):
    assert python("import sys, dlc; print('torch' in sys.modules)").strip() == "False"
