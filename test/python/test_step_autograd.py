"""dlc.train_step implements the effects of eager autograd other than its operators, or rejects them by name: backward functions of torch.autograd.Function,
hooks, values without gradient, arguments that change a gradient only. Skipped if PyTorch is missing."""

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc._training import compiled_step, step_check

from steps import Pair, cross_entropy, numbers, train_step
from torch import nn
from torch.autograd import Function
from torch.nn import functional
from torch.optim import SGD, AdamW
from torch.utils.checkpoint import checkpoint


class Between(nn.Module):
    """Two linear layers and a function of the module and of the values between them."""

    def __init__(self, function, prepare=None):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.function = nn.Linear(6, 8), nn.Linear(8, 3), function
        if prepare:
            prepare(self)

    def forward(self, x):
        return self.last(self.function(self, torch.tanh(self.first(x))))


def check(
    function,
    prepare=None,
    steps=3,
    optimizer=lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9),
    **options,
):
    pair = Pair(lambda: Between(function, prepare), optimizer, **options)
    pair.run(numbers(4), steps)
    pair.check()
    return pair


def refused(message, function=lambda module, h: h, prepare=None, kind=ValueError):
    module = Between(function, prepare)
    with pytest.raises(kind, match=message):
        dlc.train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), numbers())


class Reversal(Function):
    """A gradient that is reversed."""

    @staticmethod
    def forward(ctx, x, strength=1.0):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        return -ctx.strength * dy, None


class Rounded(Function):
    """A straight-through estimator with a limit."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * (x.abs() <= 1)


class Clipped(Function):
    """A backward function that is not linear."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, dy):
        return dy.clamp(-0.01, 0.01)


class Layer(Function):
    """Separate forward and setup_context; several inputs."""

    @staticmethod
    def forward(x, weight, bias):
        return x @ weight.t() + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        # The gradient of the bias is left to be summed up.
        return (dy @ weight if ctx.needs_input_grad[0] else None), 2 * dy.t() @ x, dy


class Pieces(Function):
    """Several outputs, one of which has no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        larger = torch.maximum(x, y)
        ctx.mark_non_differentiable(larger)
        return x * y, x + y, larger

    @staticmethod
    def backward(ctx, dp, ds, _):
        x, y = ctx.saved_tensors
        return 3 * dp * y + ds, dp * x + 5 * ds


class Surrogate(Reversal):
    """Inherits its forward."""

    @staticmethod
    def backward(ctx, dy):
        return 0.3 * dy, None


def pieces(module, h):
    product, total, larger = Pieces.apply(h, h.sin())
    return product + total * larger


# A name that is older than the trace.
reverse = Reversal.apply
FUNCTIONS = {
    "reversal": lambda module, h: reverse(h, 0.5),
    "default argument": lambda module, h: Reversal.apply(h),
    "straight-through": lambda module, h: Rounded.apply(2 * h),
    "clipped": lambda module, h: Clipped.apply(h),
    "layer": lambda module, h: Layer.apply(
        h, module.first.weight @ module.first.weight.t(), module.first.bias
    ),
    "pieces": pieces,
    "inherited": lambda module, h: Surrogate.apply(h),
    "nested": lambda module, h: reverse(Rounded.apply(reverse(h, 2.0)), 0.5),
    "unused result": lambda module, h: Pieces.apply(h, h.cos())[1],
    "of a constant": lambda module, h: h * reverse(torch.ones(8)),
    "in a checkpoint": lambda module, h: checkpoint(
        lambda x: reverse(x.sin()), h, use_reentrant=True
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_backward_functions(name):
    check(FUNCTIONS[name])


def test_backward_functions_with_other_steps():
    check(
        FUNCTIONS["straight-through"], optimizer=lambda module: AdamW(module.parameters(), lr=0.01)
    )
    module = Between(FUNCTIONS["pieces"])
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), accumulate=2)
    step(*numbers(4))
    module = Between(FUNCTIONS["clipped"])
    train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), precision="bf16")(
        *numbers(4)
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_backward_functions_in_other_types(dtype):
    module = Between(lambda module, h: pieces(module, reverse(h, 0.5))).to(dtype)
    x, y = numbers()
    train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))(x.to(dtype), y)


def test_the_graph_has_the_backward_function_once_forward_is_as_it_was():
    forward = Reversal.__dict__["forward"]
    check(FUNCTIONS["reversal"], steps=1)
    assert Reversal.__dict__["forward"] is forward and "forward" not in Surrogate.__dict__
    x = torch.ones(3, requires_grad=True)
    reverse(x, 2.0).sum().backward()
    assert x.grad.tolist() == [-2.0] * 3


def test_backward_functions_that_cannot_be_traced():
    class Dirty(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, dy):
            return 7 * dy

    class Branches(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, dy):
            return dy if dy.sum() > 0 else -dy

    def inner(module, h):
        class Inner(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, dy):
                return -dy

        return Inner.apply(h)

    refused(
        r"torch.autograd.Function '.*Dirty' changes its inputs \(mark_dirty\)",
        lambda module, h: Dirty.apply(h * 1),
    )
    refused(
        r"torch.autograd.Function '.*Branches': its backward cannot be traced: ",
        lambda module, h: Branches.apply(h),
    )
    refused(r"torch.autograd.Function '.*Inner' is defined while the module runs", inner)


def test_operators_with_gradients_of_their_own():
    @torch.library.custom_op("dlctest::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    doubled.register_fake(torch.empty_like)
    torch.library.register_autograd("dlctest::doubled", lambda ctx, dy: -dy)
    refused(r"dlctest.doubled.default: dlc has no such operator", lambda module, h: doubled(h))


def in_inference_mode(module, h):
    with torch.inference_mode():
        fixed = 2 * h
    return h + fixed


def without_gradient(module, h):
    with torch.no_grad():
        fixed = 2 * h
    return h * fixed


def detached_in_place(module, h):
    other = 3 * h
    other.detach_()
    return h * other


def averaged(module, h):
    with torch.no_grad():
        module.mean.mul_(0.9).add_(h.mean(0))
    return h * module.mean


def averaged_through_data(module, h):
    with torch.no_grad():
        module.mean.data.mul_(0.9).add_(h.mean(0))
    return h * module.mean


def averaged_by_detach(module, h):
    module.mean.detach().copy_(h.mean(0))
    return h * module.mean


def averaged_anew(module, h):
    module.mean = 0.9 * module.mean + h.detach().mean(0)
    return h * module.mean


def on_the_cpu(module, h):
    with torch.autograd.graph.save_on_cpu():
        return h * h


def mean(module):
    module.register_buffer("mean", torch.ones(8))


WITHOUT = {
    "inference_mode": (in_inference_mode, None),
    "no_grad": (without_gradient, None),
    "detach_": (detached_in_place, None),
    "data": (lambda module, h: h + (h.round() - h).data, None),
    "buffer": (averaged, mean),
    "buffer's data": (averaged_through_data, mean),
    "buffer's detach": (averaged_by_detach, mean),
    "buffer assigned": (averaged_anew, mean),
    "checkpoint": (
        lambda module, h: checkpoint(lambda x: (2 * x).sin(), h, use_reentrant=False),
        None,
    ),
    "reentrant checkpoint": (
        lambda module, h: checkpoint(lambda x: (2 * x).sin(), h, use_reentrant=True),
        None,
    ),
    "save_on_cpu": (on_the_cpu, None),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_values_without_gradient(name):
    check(*WITHOUT[name])


def hooks_on_saved(module, h):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: 0 * x, lambda x: x):
        return h * h


def changed_parameter(module, h):
    with torch.no_grad():
        module.last.bias.mul_(0.5)
    return h


def frozen_parameter(module, h):
    module.last.bias.requires_grad_(False)
    return h


def assigned_data(module, h):
    module.last.bias.data = 2 * module.last.bias
    return h


def counted(module, h):
    module.count += 1
    return h * module.count


def remembered(module, h):
    if module.state is not None:
        h = h + module.state
    module.state = h.detach()
    return h


def listed(module, h):
    module.state.append(1)
    return h * len(module.state)


def assigned_parameter(module, h):
    module.last.bias = nn.Parameter(torch.zeros(3))
    return h


def hooked(h):
    h.register_hook(lambda dy: 2 * dy)
    return h


def with_hook(of, name):
    """Registers a hook before the step is made."""
    return lambda module: getattr(of(module), name)(lambda *_: None)


def set_state(value):
    return lambda module: setattr(module, "state", value)


REFUSED = {
    r"registers a hook on a gradient \(Tensor.register_hook\); .*; remove the hook, or use torch.compile": (
        lambda module, h: hooked(h),
        None,
    ),
    "reads a tensor's grad_fn.*; remove the use of grad_fn, or use": (
        lambda module, h: h if h.grad_fn else 2 * h,
        None,
    ),
    "computes gradients itself .torch.autograd.grad": (
        lambda module, h: h + torch.autograd.grad(h.sin().sum(), h, create_graph=True)[0],
        None,
    ),
    "saved for gradients .torch.autograd.graph.saved_tensors_hooks": (hooks_on_saved, None),
    "the module changes 'module.last.bias' when it runs": (changed_parameter, None),
    "the module changes 'last.bias' in place through detach": (
        lambda module, h: (module.last.bias.data.mul_(0.5), h)[1],
        None,
    ),
    "changes requires_grad while it runs": (frozen_parameter, None),
    "assigns the memory of a tensor": (assigned_data, None),
    "forward assigns 'last.bias'": (assigned_parameter, None),
    "reads and changes its attribute 'count'": (
        counted,
        lambda module: setattr(module, "count", 0),
    ),
    "reads and changes its attribute 'state'": (remembered, set_state(None)),
    "reads and changes its attribute 'state', ": (
        listed,
        lambda module: setattr(module, "state", []),
    ),
    "draws random numbers of Python": (lambda module, h: h * random.random(), None),
    "random numbers of Python or NumPy": (lambda module, h: h * np.random.rand(), None),
    "module 'first' has a backward hook": (
        None,
        with_hook(lambda module: module.first, "register_full_backward_hook"),
    ),
    "module 'last' has a backward hook": (
        None,
        with_hook(lambda module: module.last, "register_full_backward_pre_hook"),
    ),
    r"parameter 'first.weight' has a hook on its gradient \(register_hook\)": (
        None,
        with_hook(lambda module: module.first.weight, "register_hook"),
    ),
    r"parameter 'first.bias' has a hook on its gradient \(register_post_accumulate_grad_hook\)": (
        None,
        with_hook(lambda module: module.first.bias, "register_post_accumulate_grad_hook"),
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused_by_name(message):
    function, prepare = REFUSED[message]
    refused(message, function or (lambda module, h: h), prepare)


def test_hooks_of_all_modules_are_refused():
    handle = nn.modules.module.register_module_full_backward_hook(lambda *_: None)
    try:
        refused("all modules have a backward hook")
    finally:
        handle.remove()


def test_attributes_that_forward_assigns_before_it_reads_them():
    def cached(module, h):
        module.seen = h
        return h * module.seen

    pair = check(cached)
    assert not hasattr(pair.modules[0], "seen")


class Picked(nn.Module):
    """Rows of an embedding, then a linear layer."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding, self.last = embedding, nn.Linear(4, 3)

    def forward(self, ids):
        rows = self.embedding(ids)
        return self.last(rows if rows.dim() == 2 else rows.mean(1))


def embeddings(kind, **options):
    def make():
        torch.manual_seed(0)
        return Picked(kind(7, 4, **options))

    return make


IDS = torch.tensor([[0, 1, 5], [5, 6, 3], [0, 0, 2]]), torch.tensor([0, 2, 1])
PADDED = [
    (nn.Embedding, {"padding_idx": 0}),
    (nn.Embedding, {"padding_idx": 5}),
    (nn.Embedding, {"padding_idx": -2}),
    (nn.EmbeddingBag, {"padding_idx": 5}),
    (nn.EmbeddingBag, {"padding_idx": -2, "mode": "sum"}),
    (nn.EmbeddingBag, {"mode": "max"}),
]


@pytest.mark.parametrize("kind, options", PADDED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_padding_rows_get_no_gradient(kind, options, dtype):
    module = embeddings(kind, **options)().to(dtype)
    before = module.embedding.weight.detach().clone()
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
    for _ in range(2):
        step(*IDS)
    if "padding_idx" in options:
        padding = options["padding_idx"] % 7
        changed = (module.embedding.weight != before).any(1)
        assert not changed[padding] and changed.sum() == len(
            set(IDS[0].flatten().tolist()) - {padding}
        )


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
@pytest.mark.parametrize("option", ["scale_grad_by_freq", "sparse", "max_norm"])
def test_options_of_embeddings_that_are_refused(kind, option):
    module = embeddings(kind, **{option: 1.0 if option == "max_norm" else True})()
    with pytest.raises(ValueError, match=option):
        dlc.train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), IDS)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_arguments_of_losses(reduction):
    x, _ = numbers(5)
    for options in (
        {"ignore_index": 1},
        {"label_smoothing": 0.2},
        {"weight": torch.tensor([1.0, 0.5, 3.0])},
        {"weight": torch.tensor([1.0, 0.5, 3.0]), "label_smoothing": 0.1, "ignore_index": 2},
    ):
        pair = Pair(
            lambda: Between(lambda module, h: h),
            lambda module: SGD(module.parameters(), lr=0.1),
            nn.CrossEntropyLoss(reduction=reduction, **options),
        )
        pair.run((x, torch.tensor([0, 1, 2, 1, 0])), 2)
        pair.check()


def test_the_check_finds_what_differs(monkeypatch):
    module = Between(lambda module, h: h)
    run = compiled_step._StepSession.run

    def wrong(program, step, tensors):
        loss = run(program, step, tensors)
        with torch.no_grad():
            module.last.bias[1] += 0.01
        return loss

    monkeypatch.setattr(compiled_step._StepSession, "run", wrong)
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
    with pytest.raises(
        RuntimeError,
        match=r"check=True: the step differs from eager PyTorch in 'last.bias' \(its update\): required: within 0.002 of .*; found: a difference of 0.01",
    ):
        step(*numbers())
    monkeypatch.undo()
    step(*numbers())


class NearZero(nn.Module):
    """A ReLU whose inputs are sums with a result of nearly 0, so that their signs depend on the order of summation."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first, self.last = nn.Linear(512, 256), nn.Linear(256, 3)
        self.x = torch.randn(8, 512)
        with torch.no_grad():
            self.first.bias.zero_()
            # The row space of x is removed from the weights.
            weight = self.first.weight.double()
            self.first.weight.copy_(
                weight - weight @ torch.linalg.pinv(self.x.double()) @ self.x.double()
            )

    def forward(self, x):
        return self.last(self.first(x).relu())


def test_the_check_measures_the_effect_of_rounding_errors(monkeypatch):
    module = NearZero()
    step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
    with pytest.warns(
        UserWarning,
        match="rounding errors have a large effect on 'first.*required: within 0.002 of .*, but eager PyTorch with .* changed by 2e-05 of their values differs by",
    ) as found:
        step(module.x, torch.arange(8) % 3)
    assert found[0].filename == __file__
    monkeypatch.setattr(step_check, "SPREADS", 0.0)
    module = NearZero()
    with pytest.raises(RuntimeError, match="report this as a fault of dlc"):
        train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))(
            module.x, torch.arange(8) % 3
        )


def test_the_check_says_what_it_does_not_compare():
    module = nn.Sequential(nn.Linear(6, 3), nn.Dropout(0.5))
    with pytest.warns(
        UserWarning, match="check=True has no effect: the module draws random numbers"
    ) as found:
        step = train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1))
        step(*numbers(3))
        step(*numbers(4))
    assert [each.filename for each in found] == [__file__]
    with pytest.raises(ValueError, match="check=True supports only a step of one process"):
        train_step(module, cross_entropy, SGD(module.parameters(), lr=0.1), data_parallel=True)


def test_functional_forms_of_layers():
    check(
        lambda module, h: (
            functional.dropout(h, 0.0) + functional.layer_norm(h, (8,)) + functional.normalize(h)
        )
    )
