"""Constants in PyTorch modules with extreme operands: dlc.compile computes the same results as PyTorch at each accuracy level. Skipped if
PyTorch is missing."""

import pytest

torch = pytest.importorskip("torch")

import dlc

MOST, NORMAL, LEAST = 3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45
EXTREME = torch.tensor(
    [
        sign * x
        for x in [
            0.0,
            float("inf"),
            MOST,
            NORMAL,
            LEAST,
            1.0,
            0.1,
            2.5,
            88.0,
            104.0,
            1e30,
            1e-30,
            1e19,
            1e-19,
            1e10,
            1e-10,
        ]
        for sign in (1, -1)
    ]
    + [float("nan")]
)


class Elementwise(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Epilogue(torch.nn.Module):
    """The function after a product whose results are the operand's elements."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(torch.ones(16, 1))

    def forward(self, x):
        return self.function(torch.nn.functional.linear(x.reshape(-1, 1), self.weight))


FUNCTIONS = {
    "overflow": lambda x: x * 1e38 * 10,
    "underflow": lambda x: x * 1e-30 * 1e-30,
    "back": lambda x: x * 1e20 * 1e-20,
    "rounding": lambda x: (x + 12582912) - 12582912,
    "sums": lambda x: x + 1e30 - 1e30,
    "distributed": lambda x: (x + 1e30) * 1e-20,
    "half": lambda x: x**0.5,
    "minus_half": lambda x: (x + 0.0) ** -0.5,
    "cube": lambda x: x**3,
    "square": lambda x: x**2,
    "root": lambda x: x / torch.sqrt(x),
    "of_zero": lambda x: 0.0 / torch.sqrt(x.abs()),
    "division": lambda x: x / 3e38,
    "power_of_two": lambda x: x / 2.0**126,
    "minimum": lambda x: torch.minimum(x, torch.tensor(2.0)),
    "maximum": lambda x: torch.maximum(x, torch.tensor(-2.0)),
    "clip": lambda x: torch.clamp(x, -1, 2),
    "leaky": lambda x: torch.maximum(x, x * 0.0),
    "softplus": lambda x: torch.log1p(torch.exp(x)),
    "silu": lambda x: x * torch.sigmoid(x),
}


def same(got, want):
    """Infinities, NaN and zeros where PyTorch has them, and else some units in the last place."""
    assert torch.equal(torch.isnan(got), torch.isnan(want))
    assert torch.equal(torch.isinf(got), torch.isinf(want))
    normal = torch.isfinite(want) & (want.abs() > NORMAL)
    assert torch.equal((got == 0) & normal, torch.zeros_like(normal))
    torch.testing.assert_close(got, want, rtol=2e-6, atol=2 * NORMAL, equal_nan=True)


@pytest.mark.parametrize("accuracy", ["default", "strict"])
@pytest.mark.parametrize("kind", [Elementwise, Epilogue])
@pytest.mark.parametrize("name", FUNCTIONS)
@torch.no_grad()
def test_extreme_operands(name, kind, accuracy):
    if name == "silu" and accuracy == "default":
        pytest.skip("subnormal exponentials are 0 by default (docs/accuracy.md)")
    module = kind(FUNCTIONS[name])
    same(dlc.compile(module, (EXTREME,), accuracy=accuracy)(EXTREME), module(EXTREME))


@pytest.mark.parametrize("accuracy", ["default", "strict"])
@torch.no_grad()
def test_stated_values(accuracy):
    chain = Elementwise(lambda x: (x * 1e38 * 10, x * 1e-30 * 1e-30, (x + 12582912) - 12582912))
    x = torch.tensor([0.1, 1e30, 2.5])
    y = dlc.compile(chain, (x,), accuracy=accuracy)(x)
    assert y[0][0].item() == pytest.approx(1e38, rel=1e-6)
    assert y[1][1].item() == pytest.approx(1e-30, rel=1e-6)
    assert y[2].tolist()[0] == 0.0 and y[2].tolist()[2] == 2.0


@pytest.mark.parametrize("accuracy", ["default", "strict"])
@pytest.mark.parametrize("size, scale", [(1e20, 1e-20), (1e18, 0.125), (1e-20, 1e20)])
@torch.no_grad()
def test_scaled_scores(size, scale, accuracy):
    """Scores that would overflow or vanish before their scale, and their softmax."""
    torch.manual_seed(0)
    q, k = size * torch.rand(1, 2, 8, 4), torch.rand(1, 2, 8, 4) * (1 if size < 1 else size / 1e3)
    module = Elementwise(lambda q: torch.softmax((q * scale) @ k.transpose(-1, -2), -1))
    got, want = dlc.compile(module, (q,), accuracy=accuracy)(q), module(q)
    assert torch.equal(torch.isfinite(got), torch.isfinite(want))
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-5)
