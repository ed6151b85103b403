"""Rewrite rules for complex numbers and Fourier transforms: each rule alone, compared with eager PyTorch. Skipped if PyTorch is missing."""

import operator

import pytest

torch = pytest.importorskip("torch")

from torch import fx
from torch._subclasses import FakeTensorMode

import dlc
from dlc._torch import (
    backend,
    backend_options,
    complex_numbers,
    complex_rules,
    fourier,
    graph_report,
    graph_split,
)

aten = torch.ops.aten


def real(*shape):
    return torch.randn(shape, dtype=torch.float64)


def pairs(*shape, dtype=torch.complex128):
    return torch.randn(shape, dtype=dtype)


def with_zeros(*shape):
    z = pairs(*shape)
    return torch.where(torch.arange(z.numel()).reshape(shape) % 3 == 0, 0, z)


def case(*args, **kwargs):
    return args, kwargs


COMPLEX = {"dtype": torch.complex128}
LIKE = {"dtype": torch.complex128, "device": torch.device("cpu")}
INDEX, MASK = torch.tensor([2, 0, 2]), torch.tensor([[True], [False]])

#: Arguments of each operator that has a rule, by its overload.
CASES = {
    aten.view_as_complex.default: lambda: [case(real(3, 2)), case(real(2))],
    aten.view_as_real.default: lambda: [case(pairs(3)), case(pairs())],
    aten.complex.default: lambda: [case(real(2, 3), real(3)), case(real(), real())],
    aten.polar.default: lambda: [case(real(2, 3).abs(), real(2, 3))],
    aten.abs.default: lambda: [case(with_zeros(2, 3)), case(pairs())],
    aten.angle.default: lambda: [case(pairs(2, 3))],
    aten.real.default: lambda: [case(pairs(2, 3))],
    aten.imag.default: lambda: [case(pairs(2, 3))],
    aten._conj.default: lambda: [case(pairs(2, 3)), case(pairs())],
    aten.conj_physical.default: lambda: [case(pairs(2, 3))],
    aten._conj_physical.default: lambda: [case(pairs(2, 3))],
    aten.resolve_conj.default: lambda: [case(pairs(2, 3)), case(pairs(2, 3).conj())],
    aten.alias.default: lambda: [case(pairs(2))],
    aten.detach.default: lambda: [case(pairs(2))],
    aten.lift_fresh_copy.default: lambda: [case(pairs(2))],
    aten.neg.default: lambda: [case(pairs(2, 3))],
    aten.add.Tensor: lambda: [
        case(pairs(2, 3), pairs(3)),
        case(pairs(2), real(3, 2)),
        case(pairs(2), pairs(2), alpha=3),
        case(pairs(2), 1 - 2j),
        case(real(2), 1j),
    ],
    aten.sub.Tensor: lambda: [
        case(pairs(2, 3), pairs()),
        case(real(2, 3), pairs(3)),
        case(pairs(2), pairs(2), alpha=0.5),
        case(pairs(2), 2),
    ],
    aten.mul.Tensor: lambda: [
        *[
            case(pairs(2, 3), pairs(3)),
            case(pairs(), pairs()),
            case(pairs(2, 3), real(3)),
            case(real(2, 3), pairs(2, 1)),
            case(pairs(1, 3), pairs(2, 1)),
        ],
        *[case(pairs(2), 1 - 2j), case(real(2), 2j), case(pairs(2), 3)],
    ],
    aten.mul.Scalar: lambda: [case(pairs(2, 3), 2.5), case(pairs(2, 3), 1 + 2j), case(real(2), 1j)],
    aten.div.Tensor: lambda: [
        case(pairs(2, 3), pairs(3)),
        case(pairs(2, 3), real(3)),
        case(real(3), pairs(2, 3)),
        case(pairs(), pairs()),
    ],
    aten.div.Scalar: lambda: [case(pairs(2, 3), 4.0), case(pairs(2, 3), 2 - 1j), case(real(3), 1j)],
    aten.mm.default: lambda: [case(pairs(2, 3), pairs(3, 4))],
    aten.bmm.default: lambda: [case(pairs(2, 2, 3), pairs(2, 3, 4))],
    aten.reciprocal.default: lambda: [case(pairs(2, 3))],
    aten.sgn.default: lambda: [case(with_zeros(2, 3))],
    aten.exp.default: lambda: [case(pairs(2, 3))],
    aten.log.default: lambda: [case(pairs(2, 3))],
    aten.pow.Tensor_Scalar: lambda: [case(pairs(2, 3), 2), case(pairs(2, 3), 1)],
    aten.rsub.Scalar: lambda: [
        case(pairs(2, 3), 2),
        case(pairs(2, 3), 1 + 1j),
        case(pairs(2), 3, 2),
    ],
    aten.eq.Tensor: lambda: [
        case(z := with_zeros(2, 3), torch.where(z.real > 0, z, 0)),
        case(torch.ones(2, dtype=torch.complex64), torch.ones(2)),
    ],
    aten.eq.Scalar: lambda: [case(with_zeros(2, 3), 0), case(torch.tensor([1j, 1, 1 + 1j]), 1j)],
    aten.masked_fill.Scalar: lambda: [
        case(pairs(2, 3), MASK, 1.5),
        case(pairs(2, 3), MASK, 1 - 2j),
    ],
    aten.masked_fill.Tensor: lambda: [case(pairs(2, 3), MASK, pairs())],
    aten.scalar_tensor.default: lambda: [case(1 - 2j, **COMPLEX), case(3, **COMPLEX)],
    aten.where.self: lambda: [case(MASK, pairs(2, 3), pairs(3)), case(MASK, pairs(2, 3), pairs())],
    aten._to_copy.default: lambda: [
        case(pairs(2, 3), dtype=torch.complex64),
        case(pairs(2), dtype=torch.float32),
        case(real(2), dtype=torch.complex64),
    ],
    aten.clone.default: lambda: [
        case(pairs(2, 3)),
        case(pairs(2, 3).T, memory_format=torch.contiguous_format),
    ],
    aten.zeros_like.default: lambda: [case(pairs(2, 3))],
    aten.copy.default: lambda: [case(pairs(2, 3), pairs(3)), case(pairs(2, 3), real(2, 3))],
    aten.zeros.default: lambda: [case([2, 3], **COMPLEX)],
    aten.new_zeros.default: lambda: [case(pairs(2), [2, 3]), case(real(2), [2, 3], **COMPLEX)],
    aten.empty.memory_format: lambda: [case([2, 3], **COMPLEX)],
    aten.empty_like.default: lambda: [case(pairs(2, 3))],
    aten.new_empty.default: lambda: [case(pairs(2), [3])],
    aten.empty_strided.default: lambda: [case([2, 3], [3, 1], **COMPLEX)],
    aten.new_empty_strided.default: lambda: [case(pairs(2), [2, 3], [3, 1])],
    aten.ones.default: lambda: [case([2, 3], **COMPLEX)],
    aten.ones_like.default: lambda: [case(pairs(2, 3)), case(real(2), **COMPLEX)],
    aten.new_ones.default: lambda: [case(pairs(2), [2, 3])],
    aten.full.default: lambda: [
        case([2, 3], 1 - 2j, **LIKE),
        case([2], 3, **COMPLEX),
        case([2], 2 + 2j, **COMPLEX),
    ],
    aten.full_like.default: lambda: [case(pairs(2, 3), 1.5), case(pairs(2, 3), 2j)],
    aten.cat.default: lambda: [
        case([pairs(2, 3), pairs(1, 3)]),
        case([pairs(2, 3), pairs(2, 1)], -1),
        case([pairs(2), real(3)]),
    ],
    aten.stack.default: lambda: [
        case([pairs(2, 3), pairs(2, 3)]),
        case([pairs(2, 3), pairs(2, 3)], -1),
    ],
    aten.view.default: lambda: [case(pairs(2, 3), [6]), case(pairs(2, 3), [3, -1])],
    aten._unsafe_view.default: lambda: [case(pairs(2, 3), [3, 2])],
    aten.reshape.default: lambda: [case(pairs(2, 3), [-1]), case(pairs(2, 3).T, [6])],
    aten.squeeze.default: lambda: [case(pairs(2, 1, 3, 1))],
    aten.squeeze.dim: lambda: [case(pairs(2, 1), 1), case(pairs(2, 3), -1)],
    aten.squeeze.dims: lambda: [case(pairs(1, 2, 1), [0, -1])],
    aten.unsqueeze.default: lambda: [case(pairs(2, 3), 1), case(pairs(2, 3), -1)],
    aten.expand.default: lambda: [case(pairs(2, 1), [4, 2, 3]), case(pairs(3), [2, -1])],
    aten.permute.default: lambda: [case(pairs(2, 3, 4), [2, 0, 1]), case(pairs(2, 3), [-1, 0])],
    aten.transpose.int: lambda: [case(pairs(2, 3, 4), 0, -1)],
    aten.t.default: lambda: [case(pairs(2, 3)), case(pairs(3))],
    aten.flip.default: lambda: [case(pairs(2, 3), [-1]), case(pairs(2, 3), [0, 1])],
    aten.roll.default: lambda: [case(pairs(2, 3), [1], [-1]), case(pairs(2, 3), [1, 2], [0, 1])],
    aten.repeat.default: lambda: [case(pairs(2, 3), [2, 1]), case(pairs(2), [2, 3])],
    aten.constant_pad_nd.default: lambda: [
        case(pairs(2, 3), [1, 2]),
        case(pairs(2, 3), [1, 0, 0, 1], 1.5),
        case(pairs(2, 3), [1, 1], 1 - 2j),
    ],
    aten.index.Tensor: lambda: [
        case(pairs(3, 4), [INDEX]),
        case(pairs(2, 3), [None, INDEX]),
        case(pairs(3, 2, 4), [INDEX, None, INDEX]),
    ],
    aten.index_put.default: lambda: [
        case(pairs(3, 4), [INDEX[:2]], pairs(4)),
        case(pairs(3), [INDEX], pairs(3), True),
        case(pairs(3), [INDEX[:2]], real(2).to(torch.complex128)),
    ],
    aten.slice.Tensor: lambda: [case(pairs(2, 5), 1, 1, 5, 2), case(pairs(5), -1, -3)],
    aten.select.int: lambda: [case(pairs(2, 3), 1, 2), case(pairs(2, 3), -1, -1)],
    aten.unbind.int: lambda: [case(pairs(2, 3)), case(pairs(2, 3), -1)],
    aten.index_select.default: lambda: [case(pairs(2, 3), -1, INDEX)],
    aten.split.Tensor: lambda: [case(pairs(5, 3), 2), case(pairs(2, 4), 2, -1)],
    aten.split_with_sizes.default: lambda: [
        case(pairs(5, 3), [2, 3]),
        case(pairs(2, 4), [1, 3], -1),
    ],
    aten.slice_scatter.default: lambda: [case(pairs(2, 5), pairs(2, 2), 1, 1, 5, 2)],
    aten.select_scatter.default: lambda: [case(pairs(2, 3), pairs(2), -1, 1)],
    aten.sum.dim_IntList: lambda: [
        case(pairs(2, 3), [1]),
        case(pairs(2, 3), [-1], True),
        case(pairs(2, 3), None),
        case(pairs(), []),
    ],
    aten.mean.dim: lambda: [
        case(pairs(2, 3), [1]),
        case(pairs(2, 3), [0, 1], True),
        case(pairs(2, 3), None),
    ],
    aten.sum.default: lambda: [
        case(pairs(2, 3)),
        case(pairs(2, 3), dtype=torch.complex64),
        case(pairs()),
    ],
    aten.mean.default: lambda: [case(pairs(2, 3)), case(pairs())],
    aten._fft_r2c.default: lambda: [
        case(real(2, 6), [1], 0, True),
        case(real(3, 5), [0, 1], 1, True),
        case(real(3, 5), [1], 2, False),
    ],
    aten._fft_c2c.default: lambda: [
        case(pairs(2, 6), [1], 0, True),
        case(pairs(3, 5), [0, 1], 2, False),
    ],
    aten._fft_c2r.default: lambda: [case(pairs(2, 4), [1], 0, 6), case(pairs(3, 4), [0, 1], 2, 7)],
}
#: Operators whose results have no defined elements.
UNDEFINED = {
    aten.empty.memory_format,
    aten.empty_like.default,
    aten.new_empty.default,
    aten.empty_strided.default,
    aten.new_empty_strided.default,
}
#: Cases that no rule supports: the operator, its arguments and the reason.
UNSUPPORTED = {
    "pow": (aten.pow.Tensor_Scalar, case(pairs(2), 3), "the exponent 3; required: 1 or 2"),
    "roll": (
        aten.roll.default,
        case(pairs(2, 3), [1]),
        "no dims; required: the dimensions to roll",
    ),
    "add": (
        aten.add.Tensor,
        case(pairs(2), pairs(2), alpha=2j),
        "alpha=2j; required: a real number",
    ),
    "copy": (
        aten.copy.default,
        case(real(2), pairs(2)),
        r"its result: required: the shape \[2\]; found: \[2, 2\]",
    ),
    "square root": (
        aten.pow.Tensor_Scalar,
        case(pairs(2), 0.5),
        "the exponent 0.5; required: 1 or 2",
    ),
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
        results = [
            graph.call_function(operator.getitem, (node, i)) for i in range(len(node.meta["val"]))
        ]
        for each, value in zip(results, node.meta["val"]):
            each.meta["val"] = value
    graph.output(tuple(results))
    graph.output_node().meta["val"] = None
    return fx.GraphModule({}, graph), tensors


def same(found, wanted, undefined=False):
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if not undefined:
            torch.testing.assert_close(
                got.resolve_conj(), want.resolve_conj(), rtol=1e-6, atol=1e-6
            )


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)
    dlc.report(clear=True)


def test_each_rule_has_a_case():
    assert set(CASES) == {*complex_rules.RULES, *fourier.RULES}


@pytest.mark.parametrize(
    "target", CASES, ids=lambda target: f"{target._opname}.{target._overloadname}"
)
def test_rules(target):
    for args, kwargs in CASES[target]():
        wanted = target(*args, **kwargs)
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        module, tensors = traced(target, args, kwargs)
        constants = {} if target in fourier.RULES else None
        with torch.no_grad():
            assert not complex_numbers.decompose_complex(module.graph, constants).failed
            module.graph.lint()
            module.recompile()
            operators = [
                node
                for node in module.graph.nodes
                if node.op == "call_function" and node.target not in complex_numbers.SHOWN
            ]
            assert not any(
                complex_numbers._contains_complex(node.meta.get("val")) for node in operators
            )
            same(module(*tensors), wanted, target in UNDEFINED)
            if constants is None:
                module, _ = traced(target, args, kwargs)
                run = graph_split.split_graph(
                    module,
                    backend_options.Options(strict=True, threads=1),
                    graph_report.begin_graph_report("inference"),
                )
                same(run(*tensors), wanted, target in UNDEFINED)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_rule_that_fails_is_reported(name):
    target, (args, kwargs), reason = UNSUPPORTED[name]
    report = graph_report.begin_graph_report("inference")
    with torch.no_grad():
        module, tensors = traced(target, args, kwargs)
        made = graph_split.split_graph(module, backend_options.Options(threads=1), report)
        same(made(*tensors), [target(*args, **kwargs)])
        (line,) = [each for each in report.eager if each.overload == str(target)]
        assert line.count == 1 and line.reason.startswith(
            "not supported by the rule for complex numbers: "
        )
        with pytest.raises(
            ValueError, match=rf"{target}: not supported by the rule for complex numbers: {reason}"
        ):
            graph_split.split_graph(
                traced(target, args, kwargs)[0],
                backend_options.Options(strict=True, threads=1),
                report,
            )


class Cubed(torch.nn.Module):
    """Module with an operator that a rule does not support, next to operators that dlc supports."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.view_as_real(
            torch.view_as_complex(self.layer(x).unflatten(-1, (2, 2))) ** 3
        ).sin()


CUBED = r"aten.pow.Tensor_Scalar: not supported by the rule for complex numbers: the exponent 3; required: 1 or 2"


def test_the_report_has_one_line_for_a_rule_that_fails():
    torch._dynamo.reset()
    module, x = Cubed(), torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, backend=backend.backend)(x), module(x))
        assert str(dlc.report()).count("1 x " + CUBED) == 1
        torch._dynamo.reset()
        with pytest.raises(
            Exception, match=f"a graph that dlc supports completely; found: .*{CUBED}"
        ):
            torch.compile(module, backend=backend.backend, options={"strict": True})(x)


def test_programs_of_whole_modules_name_the_rule_that_fails():
    module, x = Cubed(), torch.randn(3, 4)
    with pytest.raises(ValueError, match=CUBED):
        dlc.compile(module, (x,))
    with pytest.raises(ValueError, match=CUBED):
        dlc.train_step(
            module,
            torch.nn.MSELoss(),
            torch.optim.SGD(module.parameters(), lr=0.1),
            (x, torch.zeros(3, 2, 2)),
        )


def test_fourier_rules_that_fail_name_the_requirement():
    def transformed(x):
        return torch.fft.fft(x).abs()

    class Transformed(torch.nn.Module):
        forward = staticmethod(transformed)

    with pytest.raises(
        ValueError,
        match="_fft_r2c.default: not supported by the rule for Fourier transforms: a Fourier matrix of 4096 x 8192 elements; required: at most 4194304",
    ):
        dlc.compile(Transformed(), (torch.zeros(4096),))
    torch._dynamo.reset()
    with pytest.raises(
        Exception,
        match="_fft_r2c.default: not supported by the rule for Fourier transforms: a graph of torch.compile; required: dlc.compile or dlc.train_step",
    ):
        torch.compile(transformed, backend=backend.backend, options={"strict": True})(
            torch.zeros(8)
        )


def test_mistakes_in_a_rule_are_not_hidden(monkeypatch):
    def wrong(b, node, x):
        return x.no_such_attribute

    monkeypatch.setitem(complex_rules.RULES, aten.neg.default, wrong)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        complex_numbers.decompose_complex(traced(aten.neg.default, (pairs(2),), {})[0].graph)


def test_arguments_that_a_rule_does_not_take_are_reported(monkeypatch):
    monkeypatch.setitem(complex_rules.RULES, aten.flip.default, lambda b, node, x: x)
    failed = complex_numbers.decompose_complex(
        traced(aten.flip.default, (pairs(2), [0]), {})[0].graph
    ).failed
    assert failed == {
        "flip_default": "not supported by the rule for complex numbers: its arguments: too many positional arguments"
    }
