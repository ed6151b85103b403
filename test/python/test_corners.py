"""Gradients at ties, kinks, bounds and zeros, where PyTorch's operators choose one of several subgradients: of whole steps and through torch.compile. Skipped
if PyTorch is missing."""

import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc._torch import backend

nn, F = torch.nn, torch.nn.functional

INF = float("inf")
SIGNS = [[-0.0, 0.0, 1.0, -1.0]]
#: The edges of hard sigmoids and swishes, and values next to them.
EDGES = [[-3.0, 3.0, 0.0, -2.5, 2.5, 4.0, -4.0]]
TIES = [[2.0, 1.0, 2.0, 2.0, 0.0]]
ROWS = [[[2.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 3.0, 3.0]]]
PROBABILITIES = [0.0, 1.0, 0.0, 1.0, 0.25]
ZERO_ROWS = [[[0.0, 0.0], [3.0, 4.0]]]


def of(tensor):
    """Targets of zeros and ones."""
    return torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0][: tensor.shape[0]])


def ignored(x):
    """Classes that a loss ignores, which the compiler does not see."""
    return torch.where(x.detach()[:, 0] > -1, -100, 0)


def index(*numbers):
    return torch.tensor(numbers)


#: Of each operator: a function of tensors, and the values of those whose gradients are compared.
CASES = {
    "relu": (F.relu, SIGNS),
    "relu6": (F.relu6, [[0.0, 6.0, 3.0, -1.0, 7.0]]),
    "hardtanh": (F.hardtanh, [[-1.0, 1.0, 0.5, 2.0]]),
    "clamp": (lambda x: x.clamp(-1, 1), [[-1.0, 1.0, 0.5, 2.0]]),
    "clamp_min": (lambda x: x.clamp_min(0), SIGNS),
    "clamp_max": (lambda x: x.clamp_max(1), SIGNS),
    "clamp_equal": (lambda x: x.clamp(1, 1), [[1.0, 0.0, 2.0]]),
    "clamp_tensors": (
        torch.clamp,
        [[1.0, 2.0, 0.0, 1.5, 3.0], [1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0]],
    ),
    "clamp_min_tensor": (torch.clamp_min, [[0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]),
    "hardsigmoid": (F.hardsigmoid, EDGES),
    "hardswish": (F.hardswish, EDGES),
    "leaky_relu": (F.leaky_relu, SIGNS),
    "prelu": (F.prelu, [SIGNS[0], [0.25]]),
    "elu": (lambda x: F.elu(x, 2.0), [[0.0, -1.0, 1.0, 100.0]]),
    "selu": (F.selu, [[0.0, -1.0, 1.0, 100.0]]),
    "celu": (lambda x: F.celu(x, 2.0), [[0.0, -1.0, 1.0, 200.0]]),
    "softplus": (F.softplus, [[0.0, 20.0, 20.5, -1.0]]),
    "softplus_beta": (lambda x: F.softplus(x, 2.0, 10.0), [[0.0, 5.0, 5.5]]),
    "logsigmoid": (F.logsigmoid, [[0.0, 50.0, -50.0]]),
    "softsign": (F.softsign, SIGNS),
    "mish": (F.mish, [[0.0, 20.0, 50.0]]),
    "silu": (F.silu, SIGNS),
    "gelu": (F.gelu, SIGNS),
    "hardshrink": (F.hardshrink, [[0.5, -0.5, 0.0, 1.0]]),
    "softshrink": (F.softshrink, [[0.5, -0.5, 0.0, 1.0]]),
    "threshold": (lambda x: F.threshold(x, 1.0, 5.0), [[1.0, 2.0, 0.0]]),
    "abs": (torch.abs, SIGNS),
    "sign": (lambda x: x * torch.sign(x), SIGNS),
    "maximum": (torch.maximum, [[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]),
    "minimum": (torch.minimum, [[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]),
    "maximum_zero": (lambda x: torch.maximum(x, torch.zeros(())), SIGNS),
    "maximum_chain": (
        lambda x: torch.minimum(torch.maximum(x, torch.zeros(())), torch.ones(())),
        SIGNS,
    ),
    "maximum_number": (lambda x: torch.maximum(x, torch.ones(())), SIGNS),
    "fmax": (torch.fmax, [[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]),
    "fmin": (torch.fmin, [[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]),
    "where": (lambda x: torch.where(x > 0, x, 2 * x), SIGNS),
    "max": (torch.max, TIES),
    "min": (torch.min, ROWS),
    "amax": (lambda x: x.amax(1), ROWS),
    "amin": (lambda x: x.amin(0), ROWS),
    "max_dim": (lambda x: x.max(1).values, ROWS),
    "max_keepdim": (lambda x: x.max(0, keepdim=True).values, ROWS),
    "min_dim": (lambda x: x.min(-1)[0], ROWS),
    "max_with_index": (lambda x: x.max(1)[0] * x.max(1)[1], ROWS),
    "aminmax": (lambda x: sum(torch.aminmax(x, dim=1)), ROWS),
    "max_of_parts": (lambda x: torch.cat([x, x[:2] * 1]).max(), TIES),
    "median": (torch.median, TIES),
    "nanmedian": (torch.nanmedian, [[1.0, 1.0, float("nan"), 0.0]]),
    "median_dim": (lambda x: x.median(1).values, ROWS),
    "sort": (lambda x: x.sort(1).values * torch.arange(3.0), ROWS),
    "quantile": (lambda x: x.quantile(0.5, 1), ROWS),
    "cummax": (lambda x: x.cummax(1).values, ROWS),
    "cummin": (lambda x: x.cummin(1).values, ROWS),
    "cumprod": (lambda x: x.cumprod(0), [[2.0, 0.0, 3.0, 0.0, 1.0]]),
    "cumprod_rows": (lambda x: x.cumprod(1), [[[0.0, 1.0, 0.0], [2.0, 3.0, 0.0], [1.0, 2.0, 3.0]]]),
    "prod": (torch.prod, [[2.0, 0.0, 3.0]]),
    "prod_zeros": (lambda x: x.prod(1), ROWS),
    "safe_softmax": (
        lambda x: torch.ops.aten._safe_softmax(x, -1),
        [[[1.0, 1.0, -INF], [-INF, -INF, -INF]]],
    ),
    "logsumexp": (lambda x: x.logsumexp(0), [[1.0, 1.0, -INF]]),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), [[1.0, 1.0, 1.0, 0.0]]),
    "logaddexp": (torch.logaddexp, [[1.0, 2.0], [1.0, 0.0]]),
    "pow_zero": (lambda x: x.pow(0), SIGNS),
    "pow_two": (lambda x: x.pow(2), SIGNS),
    "pow_root": (lambda x: x.pow(0.5), [[0.0, 4.0]]),
    "pow_tensor": (torch.pow, [[0.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 2.0, -1.0, 0.0]]),
    "pow_scalar": (lambda x: torch.pow(0.0, x), [[0.0, 1.0, 2.0]]),
    "sqrt": (torch.sqrt, [[0.0, 4.0]]),
    "rsqrt": (torch.rsqrt, [[0.0, 4.0]]),
    "log": (torch.log, [[0.0, 4.0]]),
    "asin": (torch.asin, [[1.0, -1.0, 0.0]]),
    "acos": (torch.acos, [[1.0, -1.0, 0.0]]),
    "atan2": (torch.atan2, [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "hypot": (torch.hypot, [[0.0, 1.0, -1.0], [1.0, 1.0, 1.0]]),
    "copysign": (torch.copysign, [[0.0, 1.0], [1.0, -1.0]]),
    "remainder": (torch.remainder, [[4.0, 5.0], [2.0, 2.0]]),
    "fmod": (torch.fmod, [[4.0, -4.0], [2.0, 2.0]]),
    "sinc": (torch.sinc, [[0.0, 0.5, 1.0]]),
    "xlogy": (lambda x: torch.xlogy(x, torch.tensor([0.0, 2.0, 1.0])), [[0.0, 0.0, 2.0]]),
    "xlog1py": (
        lambda x: torch.special.xlog1py(x, torch.tensor([-1.0, 2.0, 1.0])),
        [[0.0, 0.0, 2.0]],
    ),
    "logit": (lambda x: torch.logit(x, 0.25), [[0.25, 0.75, 0.5, 0.125]]),
    "norm": (lambda x: x.norm(dim=1), ZERO_ROWS),
    "norm_one": (lambda x: x.norm(1, dim=1), ZERO_ROWS),
    "norm_three": (lambda x: x.norm(3, dim=1), ZERO_ROWS),
    "norm_half": (lambda x: torch.linalg.vector_norm(x, 0.5, dim=1), [[[0.0, 1.0], [4.0, 4.0]]]),
    "norm_inf": (lambda x: torch.linalg.vector_norm(x, INF, dim=1), [[[0.0, 0.0], [1.0, -1.0]]]),
    "norm_matrix": (torch.linalg.matrix_norm, [[[0.0, 0.0], [0.0, 0.0]]]),
    "normalize": (lambda x: F.normalize(x, eps=0.5), ZERO_ROWS),
    "cosine_similarity": (
        lambda x: F.cosine_similarity(x, torch.ones(2, 2)),
        [[[1.0, 1.0], [3.0, 4.0]]],
    ),
    "pairwise_distance": (lambda x: F.pairwise_distance(x, torch.zeros(2, 2)), ZERO_ROWS),
    "cdist": (lambda x: torch.cdist(x, torch.zeros(1, 2)), ZERO_ROWS),
    "cdist_large": (lambda x: torch.cdist(x, torch.zeros(30, 2)), [[[0.0, 0.0]] * 30]),
    "cdist_inf": (lambda x: torch.cdist(x, torch.zeros(1, 2), p=INF), [[[1.0, -1.0], [0.0, 0.0]]]),
    "cdist_three": (lambda x: torch.cdist(x, torch.zeros(1, 2), p=3.0), ZERO_ROWS),
    "std": (torch.std, [[1.0, 1.0, 1.0]]),
    "var": (torch.var, [[1.0, 1.0, 1.0]]),
    "layer_norm": (lambda x: F.layer_norm(x, (2,)), ZERO_ROWS),
    "max_pool1d": (lambda x: F.max_pool1d(x[None], 2), [[1.0, 1.0, 0.0, 2.0]]),
    "max_pool2d": (lambda x: F.max_pool2d(x[None], 2, 1), ROWS),
    "max_pool_padded": (lambda x: F.max_pool2d(x[None], 3, 2, 1), ROWS),
    "adaptive_max_pool": (lambda x: F.adaptive_max_pool2d(x[None], 1), ROWS),
    "lp_pool": (lambda x: F.lp_pool1d(x[None], 2, 2), [[0.0, 0.0, 3.0, 4.0]]),
    "scatter_amax": (
        lambda x, s: x.scatter_reduce(0, index(0, 0, 1), s, "amax"),
        [[1.0, 2.0], [1.0, 1.0, 3.0]],
    ),
    "scatter_amin": (
        lambda x, s: x.scatter_reduce(0, index(0, 0, 1), s, "amin"),
        [[1.0, 2.0], [1.0, 1.0, 3.0]],
    ),
    "scatter_prod": (
        lambda x, s: x.scatter_reduce(0, index(0, 0, 1), s, "prod"),
        [[1.0, 2.0], [0.0, 4.0, 0.0]],
    ),
    "index_reduce": (
        lambda x, s: x.index_reduce(0, index(0, 0), s, "amax"),
        [[1.0, 2.0], [1.0, 1.0]],
    ),
    "grid_sample": (
        lambda g: F.grid_sample(
            torch.arange(9.0).reshape(1, 1, 3, 3) ** 2, g[None, None], align_corners=True
        ),
        [[[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0], [0.5, -0.5]]],
    ),
    "dropout_of_all": (lambda x: F.dropout(x, 1.0), SIGNS),
    "bce_with_logits": (lambda x: F.binary_cross_entropy_with_logits(x, of(x)), [[0.0, 0.0, 1.0]]),
    "bce_with_logits_weight": (
        lambda x: F.binary_cross_entropy_with_logits(x, of(x), pos_weight=torch.tensor(3.0)),
        [[0.0, 0.0, 1.0]],
    ),
    "bce": (lambda x: F.binary_cross_entropy(x, of(x)), [PROBABILITIES]),
    "bce_sum": (
        lambda x: F.binary_cross_entropy(x, of(x), torch.arange(5.0), reduction="sum"),
        [PROBABILITIES],
    ),
    "multilabel_soft_margin": (lambda x: F.multilabel_soft_margin_loss(x, torch.eye(2)), ZERO_ROWS),
    "soft_margin": (lambda x: F.soft_margin_loss(x, 2 * of(x) - 1), [[0.0, 0.0]]),
    "l1": (lambda x: F.l1_loss(x, torch.zeros(4)), SIGNS),
    "smooth_l1": (lambda x: F.smooth_l1_loss(x, torch.zeros(4)), SIGNS),
    "huber": (lambda x: F.huber_loss(x, torch.zeros(4), delta=0.5), [[0.0, 0.5, -0.5, 2.0]]),
    "hinge_embedding": (lambda x: F.hinge_embedding_loss(x, 2 * of(x) - 1), [[1.0, 0.0, 2.0]]),
    "margin_ranking": (
        lambda x: F.margin_ranking_loss(x, torch.zeros(3), torch.ones(3)),
        [[0.0, 1.0, -1.0]],
    ),
    "multi_margin": (lambda x: F.multi_margin_loss(x, index(0)), [[[1.0, 0.0, 0.5]]]),
    "multilabel_margin": (
        lambda x: F.multilabel_margin_loss(x, torch.tensor([[0, -1, 1]])),
        [[[1.0, 0.0, 0.5]]],
    ),
    "cosine_embedding": (
        lambda x: F.cosine_embedding_loss(x, torch.tensor([[0.0, 1.0]]), -torch.ones(1)),
        [[[1.0, 0.0]]],
    ),
    "kl_div": (lambda x: F.kl_div(x, torch.tensor([0.0, 1.0])), [[1.0, 1.0]]),
    "nll_of_ignored": (lambda x: F.nll_loss(x, ignored(x)), [[[1.0, 2.0], [1.0, 2.0]]]),
    "nll_of_ignored_infinity": (
        lambda x: F.nll_loss(x, index(0, 1), ignore_index=0, reduction="sum"),
        [[[-torch.inf, 2.0], [1.0, 2.0]]],
    ),
    "cross_entropy_of_ignored": (
        lambda x: F.cross_entropy(x, ignored(x)),
        [[[1.0, 2.0], [1.0, 2.0]]],
    ),
    "embedding_bag": (
        lambda x: F.embedding_bag(index(0, 1)[None], x, mode="max"),
        [[[1.0, 2.0], [1.0, 0.0]]],
    ),
}
for padding in ("border", "reflection"):
    for corners in (False, True):
        edge = 1.0 if corners else 2 / 3
        CASES[f"grid_sample_{padding}_{corners}"] = (
            lambda g, padding=padding, corners=corners: F.grid_sample(
                torch.arange(9.0).reshape(1, 1, 3, 3) ** 2,
                g[None, None],
                padding_mode=padding,
                align_corners=corners,
            ),
            [[[0.0, 0.0], [edge, edge], [-edge, -edge], [0.25, -0.25]]],
        )


class Applied(nn.Module):
    """The function of parameters."""

    def __init__(self, function, values):
        super().__init__()
        self.function = function
        self.values = nn.ParameterList(nn.Parameter(torch.tensor(each)) for each in values)

    def forward(self, weight):
        return self.function(*self.values) * weight


def wanted(function, values, weight):
    given = [torch.tensor(each, requires_grad=True) for each in values]
    (function(*given) * weight).sum().backward()
    return [each.grad for each in given]


def same(found, expected):
    for got, want in zip(found, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_whole_steps_are_pytorchs(name):
    function, values = CASES[name]
    weight = torch.tensor(0.5)
    module = Applied(function, values)
    before = [each.detach().clone() for each in module.values]
    step = dlc.train_step(
        module, lambda y, target: (y * target).sum(), torch.optim.SGD(module.parameters(), lr=1.0)
    )
    step(weight, torch.tensor(2.0))
    found = [old - new.detach() for old, new in zip(before, module.values, strict=True)]
    # Nothing is seen of the gradients of values that are not finite: they are 0 in all cases.
    found = [
        torch.where(torch.isfinite(old), each, 0.0) for old, each in zip(before, found, strict=True)
    ]
    same(found, wanted(function, values, torch.tensor(1.0)))


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_compiled_functions_are_pytorchs(name):
    function, values = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend.backend)
    same(wanted(compiled, values, 1.0), wanted(function, values, 1.0))
