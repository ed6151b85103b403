"""Rewrite rules for complex numbers and Fourier transforms that do not support their arguments. Skipped if PyTorch is missing."""
import operator

import pytest

torch = pytest.importorskip("torch")

from torch import fx
from torch._subclasses import FakeTensorMode

import dlc
from dlc import _backend, _complex, _report

aten = torch.ops.aten


def real(*shape):
    return torch.randn(shape, dtype=torch.float64)


def pairs(*shape, dtype=torch.complex128):
    return torch.randn(shape, dtype=dtype)


def case(*args, **kwargs):
    return args, kwargs


#: Cases that no rule supports: the operator, its arguments and the reason.
UNSUPPORTED = {
    "pow": (aten.pow.Tensor_Scalar, case(pairs(2), 3), "the exponent 3; required: 1 or 2"),
    "roll": (aten.roll.default, case(pairs(2, 3), [1]), "no dims; required: the dimensions to roll"),
    "add": (aten.add.Tensor, case(pairs(2), pairs(2), alpha=2j), "alpha=2j; required: a real number"),
    "copy": (aten.copy.default, case(real(2), pairs(2)), r"its result: required: the shape \[2\]; found: \[2, 2\]"),
    "square root": (aten.pow.Tensor_Scalar, case(pairs(2), 0.5), "the exponent 0.5; required: 1 or 2"),
}


def traced(target, args, kwargs):
    """Returns a graph of one operator, and the tensors among its arguments."""
    mode, graph, tensors = FakeTensorMode(), fx.Graph(), []

    def given(each):
        if isinstance(each, torch.Tensor):
            tensors.append(each)
            node = graph.placeholder(f"x_{len(tensors)}")
            node.meta["val"] = mode.from_tensor(each)
            return node
        return type(each)(map(given, each)) if isinstance(each, (list, tuple)) else each

    args, kwargs = given(args), {name: given(each) for name, each in kwargs.items()}
    node = graph.call_function(target, args, kwargs)
    values = fx.map_arg((args, kwargs), lambda each: each.meta["val"])
    with mode:
        node.meta["val"] = target(*values[0], **values[1])
    results = [node]
    if isinstance(node.meta["val"], (list, tuple)):
        results = [graph.call_function(operator.getitem, (node, i)) for i in range(len(node.meta["val"]))]
        for each, value in zip(results, node.meta["val"]):
            each.meta["val"] = value
    graph.output(tuple(results))
    graph.output_node().meta["val"] = None
    return fx.GraphModule({}, graph), tensors


def same(found, wanted, undefined=False):
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if not undefined:
            torch.testing.assert_close(got.resolve_conj(), want.resolve_conj(), rtol=1e-6, atol=1e-6)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)
    dlc.report(clear=True)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_rule_that_fails_is_reported(name):
    target, (args, kwargs), reason = UNSUPPORTED[name]
    report = _report.begin("inference")
    with torch.no_grad():
        module, tensors = traced(target, args, kwargs)
        made = _backend.split(module, _backend.Options(threads=1), report)
        same(made(*tensors), [target(*args, **kwargs)], False)
        (line,) = [each for each in report.eager if each.overload == str(target)]
        assert line.count == 1 and line.reason.startswith("not supported by the rule for complex numbers: ")
        with pytest.raises(ValueError, match=rf"{target}: not supported by the rule for complex numbers: {reason}"):
            _backend.split(traced(target, args, kwargs)[0], _backend.Options(strict=True, threads=1), report)


class Cubed(torch.nn.Module):
    """Module with an operator that a rule does not support, next to operators that dlc supports."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.view_as_real(torch.view_as_complex(self.layer(x).unflatten(-1, (2, 2))) ** 3).sin()


CUBED = r"aten.pow.Tensor_Scalar: not supported by the rule for complex numbers: the exponent 3; required: 1 or 2"


def test_the_report_has_one_line_for_a_rule_that_fails():
    torch._dynamo.reset()
    module, x = Cubed(), torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, backend=_backend.backend)(x), module(x))
        assert str(dlc.report()).count("1 x " + CUBED) == 1
        torch._dynamo.reset()
        with pytest.raises(Exception, match=f"a graph that dlc supports completely; found: .*{CUBED}"):
            torch.compile(module, backend=_backend.backend, options={"strict": True})(x)


def test_programs_of_whole_modules_name_the_rule_that_fails():
    module, x = Cubed(), torch.randn(3, 4)
    with pytest.raises(ValueError, match=CUBED):
        dlc.compile(module, (x,))
    with pytest.raises(ValueError, match=CUBED):
        dlc.train_step(module, torch.nn.MSELoss(), torch.optim.SGD(module.parameters(), lr=0.1), (x, torch.zeros(3, 2, 2)))


def test_fourier_rules_that_fail_name_the_requirement():
    def transformed(x):
        return torch.fft.fft(x).abs()

    class Transformed(torch.nn.Module):
        forward = staticmethod(transformed)

    with pytest.raises(ValueError, match="_fft_r2c.default: not supported by the rule for Fourier transforms: a Fourier matrix of 4096 x 8192 elements; required: at most 4194304"):
        dlc.compile(Transformed(), (torch.zeros(4096),))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="_fft_r2c.default: not supported by the rule for Fourier transforms: a graph of torch.compile; required: dlc.compile or dlc.train_step"):
        torch.compile(transformed, backend=_backend.backend, options={"strict": True})(torch.zeros(8))


def test_mistakes_in_a_rule_are_not_hidden(monkeypatch):
    def wrong(b, node, x):
        return x.no_such_attribute

    monkeypatch.setitem(_complex.RULES, aten.neg.default, wrong)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        _complex.decompose_complex(traced(aten.neg.default, (pairs(2),), {})[0].graph)


def test_arguments_that_a_rule_does_not_take_are_reported(monkeypatch):
    monkeypatch.setitem(_complex.RULES, aten.flip.default, lambda b, node, x: x)
    failed = _complex.decompose_complex(traced(aten.flip.default, (pairs(2), [0]), {})[0].graph).failed
    assert failed == {"flip_default": "not supported by the rule for complex numbers: its arguments: too many positional arguments"}
