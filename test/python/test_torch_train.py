"""Training through torch.compile with dlc as its backend: gradients, state, random numbers. Skipped if PyTorch is missing."""

import copy
import pickle
import threading

import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc._torch import backend, graph_split

nn, F = torch.nn, torch.nn.functional


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    dlc.report(clear=True)


def compiled(function, **options):
    return torch.compile(function, backend=backend.backend, options=options or None)


def leaves(*tensors):
    return [
        tensor.detach().clone().requires_grad_(tensor.is_floating_point()) for tensor in tensors
    ]


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


def gradients(function, given, parameters=()):
    """Results, and their gradients in what is given and in parameters; each result counts with a weight of its own in every place."""
    results = flat(function(*given))
    torch.manual_seed(1)
    found = [result for result in results if result.requires_grad]
    inputs = [tensor for tensor in [*given, *parameters] if tensor.requires_grad]
    return results + list(
        torch.autograd.grad(found, inputs, [torch.randn_like(result) for result in found])
    )


def check(function, *tensors, parameters=(), whole=True, rtol=1e-4, atol=1e-4, **options):
    given = leaves(*tensors)
    torch.manual_seed(0)
    wanted = gradients(function, given, parameters)
    torch.manual_seed(0)
    found = gradients(compiled(function, **options), given, parameters)
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=rtol, atol=atol)
    assert {graph.kind for graph in dlc.report()} == {"forward", "backward"}
    assert not whole or not any(graph.eager for graph in dlc.report()), dlc.report()


def modules(*each):
    """Several at once, in one graph: each on its own input."""
    torch.manual_seed(0)
    made = nn.ModuleList(make() for make, *_ in each)
    tensors = [torch.randn(shape) for _, *shapes in each for shape in shapes]
    check(
        lambda *given: tuple(module(x) for module, x in zip(made, given, strict=True)),
        *tensors,
        parameters=list(made.parameters()),
    )


def test_convolutions():
    modules(
        (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), (2, 4, 12, 11)),
        (lambda: nn.Conv2d(4, 6, 3, stride=3, padding=2, dilation=2), (2, 4, 12, 11)),
        (lambda: nn.Conv2d(4, 6, 3, groups=2, padding=(0, 2), bias=False), (2, 4, 12, 11)),
        (lambda: nn.Conv1d(4, 4, 5, groups=4), (2, 4, 12)),
        (lambda: nn.Conv3d(2, 3, 2, stride=2), (1, 2, 5, 4, 6)),
        (lambda: nn.Conv2d(3, 2, 3), (3, 8, 8)),
    )


def test_transposed_convolutions():
    modules(
        (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), (2, 4, 5, 6)),
        (lambda: nn.ConvTranspose2d(4, 6, 3, groups=2, dilation=3, output_padding=2), (2, 4, 5, 6)),
        (lambda: nn.ConvTranspose1d(4, 2, 4, stride=4, output_padding=3), (2, 4, 5)),
        (lambda: nn.ConvTranspose3d(2, 3, 2, stride=2, bias=False), (1, 2, 3, 4, 2)),
    )


def test_pools():
    modules(
        (lambda: nn.MaxPool2d(3, 2, 1), (2, 3, 9, 10)),
        (lambda: nn.MaxPool2d(2, ceil_mode=True), (2, 3, 9, 9)),
        (lambda: nn.MaxPool2d((2, 3), dilation=(2, 1), stride=1), (3, 9, 10)),
        (lambda: nn.MaxPool2d(17, 3), (1, 2, 24, 21)),
        (lambda: nn.MaxPool1d(3), (2, 3, 10)),
        (lambda: nn.MaxPool3d(2, padding=1), (1, 2, 5, 6, 4)),
        (lambda: nn.AvgPool2d(3, 2, 1), (2, 3, 9, 10)),
        (lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), (2, 3, 10, 9)),
        (lambda: nn.AvgPool2d(2, divisor_override=3), (2, 3, 8, 8)),
        (lambda: nn.AvgPool1d(3, 2), (2, 3, 9)),
        (lambda: nn.AvgPool3d(2), (1, 2, 4, 6, 4)),
        (lambda: nn.AdaptiveAvgPool2d((3, 5)), (2, 3, 7, 11)),
        (lambda: nn.AdaptiveAvgPool2d((1, 4)), (2, 3, 5, 8)),
        (lambda: nn.AdaptiveAvgPool3d(2), (1, 2, 3, 4, 5)),
        (lambda: nn.AdaptiveMaxPool2d((2, 1)), (3, 8, 5)),
        (lambda: nn.AdaptiveMaxPool3d(2), (1, 2, 3, 4, 5)),
    )


def test_adaptive_maxima():
    x = torch.randint(3, (2, 2, 7, 9)).float()
    check(
        lambda x: [
            *F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
            F.adaptive_max_pool1d(x[0], 4),
        ],
        x,
        strict=True,
    )


def test_what_pytorch_does_faster_stays_there():
    check(lambda x: F.adaptive_max_pool2d(x, (3, 4)), torch.randn(2, 2, 7, 9), whole=False)
    assert {each.reason for graph in dlc.report() for each in graph.eager} == {graph_split.FASTER}


RESIZED = [
    {"size": (9, 15), "mode": "bilinear"},
    {"size": (3, 4), "mode": "bilinear", "align_corners": True},
    {"scale_factor": 2.0, "mode": "bicubic"},
    {"size": (5, 11), "mode": "bicubic", "align_corners": True},
    {"scale_factor": (1.7, 2.3), "mode": "bilinear"},
    {"scale_factor": 1.7, "mode": "bilinear", "recompute_scale_factor": True},
    {"scale_factor": 3},
    {"size": 5, "mode": "nearest-exact"},
    {"size": (170, 9), "mode": "bilinear"},
    {"size": (3, 4), "mode": "bicubic", "antialias": True},
    {"size": (3, 14), "mode": "bilinear", "antialias": True},
    {"size": (2, 3), "mode": "area"},
]


def test_resized_images():
    check(lambda x: [F.interpolate(x, **how) for how in RESIZED], torch.randn(2, 3, 5, 7))
    # Whole in both directions.
    assert sum(graph.operators for graph in dlc.report()) < 5 * len(RESIZED), dlc.report()


def test_resized_lines_and_volumes():
    check(
        lambda x, y: [
            F.interpolate(x, size=9, mode="linear"),
            F.interpolate(x, scale_factor=2),
            F.interpolate(y, size=(3, 5, 2), mode="trilinear"),
            F.interpolate(y, scale_factor=2),
        ],
        torch.randn(2, 3, 5),
        torch.randn(1, 2, 3, 4, 3),
    )


def test_gradients_of_images_at_grids():
    modes = [
        (mode, padding, corners)
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ]
    check(
        lambda x, grid: [
            F.grid_sample(x, grid, mode=m, padding_mode=p, align_corners=c)
            for m, p, c in [*modes, ("bicubic", "zeros", False)]
        ],
        torch.randn(2, 3, 5, 6),
        torch.rand(2, 4, 3, 2) * 2.4 - 1.2,
        strict=True,
    )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(mode):
    torch.manual_seed(0)
    bags = [
        nn.EmbeddingBag(10, 4, mode=mode),
        nn.EmbeddingBag(10, 4, mode=mode, padding_idx=3),
        nn.EmbeddingBag(10, 4, mode=mode, include_last_offset=True),
        nn.EmbeddingBag(10, 4, mode=mode, scale_grad_by_freq=mode != "max"),
    ]
    parameters = [parameter for bag in bags for parameter in bag.parameters()]
    indices, offsets = torch.tensor([1, 3, 3, 9, 0, 1, 3]), torch.tensor([0, 2, 2, 5, 7])
    check(
        lambda indices, offsets, table: [*(bag(indices, offsets) for bag in bags), bags[0](table)],
        indices,
        offsets,
        torch.randint(10, (3, 2)),
        parameters=parameters,
        strict=True,
    )


def test_weighted_bags():
    weight = torch.randn(10, 4)
    check(
        lambda weight, shares: F.embedding_bag(
            torch.tensor([1, 3, 3, 9]),
            weight,
            torch.tensor([0, 3]),
            mode="sum",
            per_sample_weights=shares,
        ),
        weight,
        torch.randn(4),
        strict=True,
    )


def test_distances():
    def distances(x, y):
        return [
            torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")
            for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))
        ]

    x = torch.randn(2, 5, 3)
    check(distances, x, torch.cat([torch.randn(2, 3, 3), x[:, :1]], 1))
    check(lambda x, y: torch.cdist(x, y), torch.randn(30, 4), torch.randn(2, 7, 4), rtol=1e-3)


def test_normalisations():
    modules(
        (lambda: nn.BatchNorm2d(3), (4, 3, 5, 5)),
        (lambda: nn.BatchNorm1d(6, affine=False), (8, 6)),
        (lambda: nn.BatchNorm2d(3, track_running_stats=False), (4, 3, 5, 5)),
        (lambda: nn.BatchNorm2d(3).eval(), (4, 3, 5, 5)),
        (lambda: nn.LayerNorm((4, 5)), (3, 4, 5)),
        (lambda: nn.LayerNorm(5, elementwise_affine=False), (3, 4, 5)),
        (lambda: nn.RMSNorm(5), (3, 4, 5)),
        (lambda: nn.GroupNorm(2, 6), (2, 6, 4, 4)),
        (lambda: nn.InstanceNorm2d(3, affine=True), (2, 3, 5, 5)),
        (lambda: nn.LocalResponseNorm(3), (2, 6, 4, 4)),
        (lambda: nn.Softmax(1), (3, 6)),
        (lambda: nn.LogSoftmax(0), (3, 6)),
    )


def test_activations():
    names = "ReLU GELU SiLU ELU SELU CELU Hardtanh Hardswish Hardsigmoid LeakyReLU Softplus Mish LogSigmoid Hardshrink Softshrink Tanh Sigmoid ReLU6 PReLU GLU Softsign Tanhshrink"
    modules(
        *[(getattr(nn, name), (4, 6)) for name in names.split()],
        (lambda: nn.GELU("tanh"), (4, 6)),
        (lambda: nn.Threshold(0.1, 2.0), (4, 6)),
    )


def test_padding_and_sizes():
    modules(
        (lambda: nn.ReplicationPad2d((1, 2, 0, 3)), (2, 3, 5, 4)),
        (lambda: nn.ReflectionPad2d((1, 2, 0, 3)), (2, 3, 5, 4)),
        (lambda: nn.ZeroPad2d((1, -1, 0, 3)), (2, 3, 5, 4)),
        (lambda: nn.Upsample(scale_factor=2), (2, 3, 5, 4)),
        (lambda: nn.Upsample(size=(7, 9), mode="bilinear"), (2, 3, 5, 4)),
        (lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (2, 3, 5, 4)),
        (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), (1, 2, 5, 4)),
        (lambda: nn.PixelShuffle(2), (2, 8, 3, 4)),
        (lambda: nn.Unfold(2, padding=1), (2, 3, 4, 5)),
    )


def test_losses():
    classes, places = torch.tensor([1, 4, -100, 0]), torch.randint(0, 5, (4, 3, 3))

    def function(x, images, y):
        return (
            F.cross_entropy(x, classes, label_smoothing=0.1),
            F.cross_entropy(images, places, weight=torch.arange(1.0, 6.0)),
            F.nll_loss(F.log_softmax(x, 1), classes, reduction="sum"),
            F.mse_loss(x, y),
            F.l1_loss(x, y),
            F.smooth_l1_loss(x, y, beta=0.5),
            F.huber_loss(x, y),
            F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=torch.full((5,), 2.0)),
            F.kl_div(
                F.log_softmax(x, 1), F.log_softmax(y, 1), log_target=True, reduction="batchmean"
            ),
            F.cosine_similarity(x, y).mean(),
        )

    check(function, torch.randn(4, 5), torch.randn(4, 5, 3, 3), torch.randn(4, 5))


def test_places():
    index = torch.tensor([[0, 2, 2], [1, 1, 0]])

    def function(table, x, values):
        return (
            F.embedding(index, table, padding_idx=0),
            x[:, index],
            x.index_put((index[0],), values, accumulate=True),
            torch.zeros(3, 4).scatter_add(0, index[:, :1].expand(2, 4), x[:2, :4]),
            x.gather(1, index),
            x.index_add(0, index[1], values),
            x.cumsum(1).amax(0),
            x.sort(1).values[:, 1:],
            torch.as_strided(x, (2, 2), (1, 2), 3),
            x.T.flip(0).roll(1, 0).tril(),
        )

    check(function, torch.randn(4, 3), torch.randn(3, 5), torch.randn(3, 5))


@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 3)])
def test_values_behind_a_mask(shape):
    torch.manual_seed(2)
    mask = torch.rand(2, 5) > 0.4

    def function(x, values):
        y, z = x * 1, x * 2
        y[mask] = values * 2
        z[(mask,)] = values
        z.index_put_((~mask & mask.roll(1, 1),), values[:1])
        return y, z, x.index_put((mask,), values), x.index_put((mask,), values, accumulate=True)

    check(function, torch.randn(shape), torch.randn(int(mask.sum()), *shape[2:]))


def test_what_autograd_cannot_trace_is_told(caplog):
    mask, x = torch.tensor([True, False, True]), torch.randn(3, 4, requires_grad=True)

    def function(x, values):
        y = x * 1
        y[mask, 1] = values
        return y.sin()

    given = [x, torch.randn(2, requires_grad=True)]
    torch.testing.assert_close(gradients(compiled(function), given), gradients(function, given))
    for graph in dlc.report():
        assert (
            "PyTorch cannot trace the autograd graph" in str(graph)
            and graph.eager_share == 1
            and str(graph) in caplog.text
        )
    assert dlc.report()
    torch._dynamo.reset()
    with pytest.raises(Exception, match="strict.*cannot trace"):
        compiled(function, strict=True)(*given)


def test_heads_of_attention_that_serve_several():
    check(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),
        torch.randn(2, 6, 5, 8),
        torch.randn(2, 3, 5, 8),
        torch.randn(2, 3, 5, 8),
    )


@pytest.mark.parametrize("mask", ["none", "causal", "bool", "float"])
def test_attention_is_whole_both_ways(mask):
    masks = {"bool": torch.ones(6, 7).tril(2).bool(), "float": torch.randn(6, 7)}

    def function(q, k, v):
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=masks.get(mask), is_causal=mask == "causal", scale=0.3
        )

    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 7, 8), torch.randn(2, 4, 7, 8)
    check(function, q, k, v)
    assert dlc.report()[1].operators == 1


@pytest.fixture
def recurrent():
    """PyTorch hands recurrent layers over when it is told to."""
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


def test_recurrent_layers(recurrent):
    torch.manual_seed(0)
    module = nn.ModuleList(
        [
            nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True),
            nn.GRU(10, 3, batch_first=True),
            nn.RNN(3, 2, batch_first=True),
        ]
    )

    def function(x):
        for layer in module:
            x, state = layer(x)
        return x, state

    check(function, torch.randn(2, 3, 4), parameters=list(module.parameters()))
    # Each layer is one operator, there and back.
    assert all(graph.operators < 20 for graph in dlc.report()), dlc.report()


def test_recurrent_layers_that_stay_apart(recurrent):
    torch.manual_seed(0)
    module = nn.ModuleList(
        [
            nn.LSTM(4, 5, proj_size=3),
            nn.GRU(3, 4, 2, dropout=0.5),
            nn.RNN(3, 2, nonlinearity="relu", bias=False),
        ]
    )

    def function(x, h):
        x, states = module[0](x)
        dropped, state = module[1](x)
        lengths = torch.tensor([3, 2])
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths)
        return [dropped, *module[2](x, h), *states, state, module[2](packed)[0].data]

    check(
        function,
        torch.randn(3, 2, 4),
        torch.randn(1, 2, 2),
        parameters=list(module.parameters()),
        whole=False,
    )


def test_dropout_draws_pytorchs_numbers():
    layers = nn.Sequential(
        nn.Linear(6, 8),
        nn.Dropout(0.3),
        nn.ReLU(),
        nn.Dropout1d(0.5),
        nn.AlphaDropout(0.2),
        nn.Linear(8, 3),
        nn.Dropout(1.0),
    )
    check(
        lambda x: (layers(x), F.dropout(x.T * 2, 0.4)),
        torch.randn(5, 6),
        parameters=list(layers.parameters()),
        whole=False,
    )
    # What the generators draw waits for nothing: each direction is one program.
    assert [len(graph.pieces) for graph in dlc.report()] == [1, 1]
    assert {each.reason for graph in dlc.report() for each in graph.eager} == {
        "PyTorch generates random numbers"
    }


def test_running_statistics_move():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.BatchNorm2d(4, momentum=None))
    other = copy.deepcopy(module)
    run = compiled(module)
    for _ in range(3):
        x = torch.randn(2, 3, 6, 6)
        run(x).sum().backward()
        other(x).sum().backward()
    for (name, found), wanted in zip(
        module.state_dict().items(), other.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(found, wanted, msg=name)


def test_a_retained_graph_gives_its_gradients_again():
    module = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    (x,) = leaves(torch.randn(3, 4))
    y = compiled(module)(x)
    first = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    second = torch.autograd.grad(y, x, 2 * torch.ones_like(y))
    torch.testing.assert_close(second[0], 2 * first[0])
    with pytest.raises(RuntimeError, match="retain_graph"):
        torch.autograd.grad(y, x, torch.ones_like(y))


def test_gradients_may_lie_anyhow():
    (x,) = leaves(torch.randn(3, 4))
    (z,) = leaves(x)
    function = lambda x: (x.exp(), x.T * 2, x[1:])
    for given, run in ((x, compiled(function)), (z, function)):
        a, b, c = run(given)
        # A stretched gradient, one in columns, and none at all for the third.
        torch.autograd.backward(
            [a, b], [torch.ones(1, 1).expand(3, 4), torch.arange(12.0).reshape(3, 4).T]
        )
    torch.testing.assert_close(x.grad, z.grad)


def test_gradients_add_up_and_parameters_may_be_frozen():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    module[0].weight.requires_grad_(False)
    other, x = copy.deepcopy(module), torch.randn(3, 4)
    run = compiled(module)
    for _ in range(2):
        run(x).square().sum().backward()
        other(x).square().sum().backward()
    for found, wanted in zip(module.parameters(), other.parameters(), strict=True):
        assert (found.grad is None) == (wanted.grad is None)
        if wanted.grad is not None:
            torch.testing.assert_close(found.grad, wanted.grad)


def test_autocast():
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(256, 64),
        nn.LayerNorm(64),
        nn.GELU(),
        nn.Linear(64, 5),
    )
    other, x, target = copy.deepcopy(module), torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 3])
    losses = []
    for each, run in ((module, compiled(module)), (other, other)):
        step = torch.optim.SGD(each.parameters(), lr=0.05)
        losses.append([])
        for _ in range(3):
            step.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                y = run(x)
                loss = F.cross_entropy(y, target)
            assert y.dtype == torch.bfloat16
            loss.backward()
            step.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=3e-2)
    for (name, found), wanted in zip(
        module.state_dict().items(), other.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=3e-2, atol=2e-2, msg=name)
    assert not any(graph.eager for graph in dlc.report()), dlc.report()


def test_nothing_is_copied_into_another_order():
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.GELU()
    ).to(memory_format=torch.channels_last)
    other, x = copy.deepcopy(module), torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    found, wanted = (each(x) for each in (compiled(module), other))
    assert found.stride() == wanted.stride()
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    for result in (found, wanted):
        result.square().mean().backward()
    for got, want in zip(module.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(got.grad, want.grad, rtol=1e-3, atol=1e-5)
    assert [graph.copied for graph in dlc.report()] == [0, 0], dlc.report()


def test_turned_inputs_and_results():
    with torch.no_grad():
        function = lambda x, y: ((x + 1).transpose(1, 2), (x * y).permute(2, 0, 1), x.sum(2).t())
        given = torch.randn(4, 5, 3).transpose(0, 2), torch.randn(3, 4, 5).transpose(1, 2)
        for got, want in zip(compiled(function)(*given), function(*given), strict=True):
            torch.testing.assert_close(got, want, check_stride=True)


def test_places_of_maxima_with_channels_last():
    module = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.MaxPool2d(2), nn.Conv2d(16, 4, 3)).to(
        memory_format=torch.channels_last
    )
    check(
        module,
        torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),
        parameters=list(module.parameters()),
    )
    assert [len(graph.pieces) for graph in dlc.report()] == [1, 1]


def test_results_that_repeat_their_elements():
    def function(x):
        return (x + 1).expand(2, 3, 4), (x * 3).sum(1, keepdim=True).expand(3, 4)[:, ::2]

    check(function, torch.randn(3, 4))
    with torch.no_grad():
        for got, want in zip(
            compiled(function)(torch.ones(3, 4)), function(torch.ones(3, 4)), strict=True
        ):
            assert got.equal(want) and got.stride() == want.stride()


def test_threads_compile_at_once():
    """PyTorch compiles the backward direction when it is first run, outside its own lock."""
    torch.manual_seed(0)
    x, found = torch.randn(4, 6), {}
    layers = [nn.Sequential(nn.Linear(6, 6 + i), nn.Tanh(), nn.Linear(6 + i, 3)) for i in range(4)]

    def train(i, function):
        return torch.autograd.grad(function(x).square().sum(), list(layers[i].parameters()))

    threads = [
        threading.Thread(target=lambda i=i: found.update({i: train(i, compiled(layers[i]))}))
        for i in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for i, layer in enumerate(layers):
        torch.testing.assert_close(found[i], train(i, layer))


def test_modules_of_sixteen_bits():
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(288, 5),
    ).bfloat16()
    other, x = copy.deepcopy(module), torch.randn(4, 3, 8, 8).bfloat16()
    run = compiled(module)
    for each in (run, other):
        for _ in range(2):
            each(x).float().square().mean().backward()
    for (name, found), wanted in zip(
        module.state_dict().items(), other.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=2e-2, atol=1e-3, msg=name)
    for found, wanted in zip(module.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(found.grad, wanted.grad, rtol=5e-2, atol=2e-2)
    assert not any(graph.eager for graph in dlc.report()), dlc.report()


def test_checkpointed_layers():
    from torch.utils.checkpoint import checkpoint

    layers = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))
    check(
        lambda x: checkpoint(layers, x, use_reentrant=False) * 2,
        torch.randn(3, 4),
        parameters=list(layers.parameters()),
    )


def test_checkpointed_statistics_move_once():
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(0)
    layers, x = (
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4)),
        torch.randn(6, 4),
    )
    other = copy.deepcopy(layers)
    # Without a compiler a checkpoint moves them twice.
    for each, run in (
        (layers, compiled(lambda x: checkpoint(layers, x, use_reentrant=False) * 2)),
        (other, lambda x: other(x) * 2),
    ):
        step = torch.optim.SGD(each.parameters(), lr=0.05)
        for _ in range(3):
            step.zero_grad()
            run(x).square().sum().backward()
            step.step()
    for (name, found), wanted in zip(
        layers.state_dict().items(), other.state_dict().values(), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4, msg=name)
    assert not any(graph.eager for graph in dlc.report()), dlc.report()


def test_a_reset_compiles_again():
    module, x = nn.Linear(3, 2), torch.randn(4, 3)
    run = compiled(module)
    wanted = run(x)
    torch._dynamo.reset()
    torch.testing.assert_close(run(x), wanted)
    # What the first graph left can still go back.
    wanted.sum().backward()
    assert module.weight.grad is not None
    assert len([graph for graph in dlc.report() if graph.kind == "forward"]) == 2


def test_copies_and_pickles_compile_for_themselves():
    module, x = nn.Linear(3, 2), torch.randn(4, 3)
    run = torch.compile(module, backend="dlc")
    wanted = run(x).detach()
    for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        torch.testing.assert_close(other(x).detach(), wanted)
        with torch.no_grad():
            next(other.parameters()).zero_()
        assert not torch.allclose(other(x).detach(), wanted)
        torch.testing.assert_close(run(x).detach(), wanted)


def test_the_report_counts_what_pytorch_computes():
    check(
        lambda x, w: torch.linalg.eigvalsh(x @ x.T).sum() + (x @ w).sum(),
        torch.randn(8, 8),
        torch.randn(8, 16),
        whole=False,
    )
    forward = dlc.report()[0]
    # Two products, the eigenvalues, two sums and their sum.
    assert forward.flops >= 2 * 8 * 8 * 8 + 2 * 8 * 8 * 16
    assert 0 < forward.eager_share < 0.1
    assert "% of the floating point operations" in forward.line()


def test_what_the_compiler_refuses_stays_alone(monkeypatch):
    class Piece(graph_split.CompiledSubgraph):
        def __init__(self, part, *others):
            if any("tanh" in str(node.target) for node in part.graph.nodes):
                raise ValueError("no tanh today")
            super().__init__(part, *others)

    monkeypatch.setattr(graph_split, "CompiledSubgraph", Piece)
    with torch.no_grad():
        x = torch.randn(3, 4)
        function = lambda x: torch.split((x.exp() + 1).tanh().cos() * 2, 2, 1)
        for found, wanted in zip(compiled(function)(x), function(x), strict=True):
            torch.testing.assert_close(found, wanted)
    (graph,) = dlc.report()
    assert [(each.overload, each.count) for each in graph.eager] == [("aten.tanh.default", 1)]
    assert "no tanh today" in graph.eager[0].reason and graph.pieces
