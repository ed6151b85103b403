"""Constants of programs that outlive their compiler, graph, module or file. Freed memory is overwritten during the tests."""

import copy
import ctypes
import gc
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import dlc

from torch import nn
from torch.nn import functional as F
from torch.optim import SGD

#: mallopt's parameter for the byte that freed memory is filled with.
M_PERTURB = -6
#: Rows and columns of f32 matrices of 64 B, 1 KiB, 20 KiB and 2 MiB.
SIZES = [(4, 4), (16, 16), (64, 80), (512, 1024)]


@pytest.fixture(autouse=True)
def overwritten():
    """Fills freed memory, so that a read of it is seen each time. Large blocks are unmapped."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        yield
        return
    libc.mallopt(M_PERTURB, 0xA5)
    yield
    libc.mallopt(M_PERTURB, 0)


def random(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


SHARED = random(4, 4)


class Net(nn.Module):
    """A trained layer, and a function of its result that has constants."""

    def __init__(self, layer, function):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.function = layer(), function
        self.register_buffer("buffer", SHARED.clone())
        self.frozen = nn.Parameter(SHARED.clone(), requires_grad=False)

    def forward(self, x):
        return self.function(self, self.layer(x))


def eager_losses(module, x, target, steps):
    optimizer, losses = SGD(module.parameters(), lr=0.02), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(module(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def check_step(layer, function, x, folder):
    """Checks steps, and steps of the saved program, against PyTorch."""
    module = Net(layer, function)
    other = copy.deepcopy(module)
    with torch.no_grad():
        result = other(x)
    target = torch.linspace(-1, 1, result.numel()).reshape(result.shape)
    wanted = eager_losses(other, x, target, 5)
    step = dlc.train_step(
        module,
        nn.MSELoss(),
        SGD([p for p in module.parameters() if p.requires_grad], lr=0.02),
        (x, target),
    )
    gc.collect()
    found = [step(x, target).item() for _ in range(3)]
    step.save(folder / "step.dlcx")
    found.append(step(x, target).item())
    assert found == pytest.approx(wanted[:4], rel=1e-4, abs=1e-6)
    del step, module
    gc.collect()
    loaded = dlc.load(folder / "step.dlcx")
    # Replaces the file that the program is mapped from.
    loaded.save(folder / "step.dlcx")
    found = [loaded(x, target, np.array(0.02, "float32")).item() for _ in range(2)]
    assert found == pytest.approx(wanted[3:], rel=1e-4, abs=1e-6)


MATRICES = {
    "eye": lambda net, x: x @ torch.eye(4),
    "ones": lambda net, x: x @ torch.ones(4, 4),
    "literal": lambda net, x: x @ torch.tensor([[1.0, 2, 3, 4]] * 4),
    "arange": lambda net, x: x @ torch.arange(16.0).reshape(4, 4),
    "transposed": lambda net, x: x @ torch.arange(16.0).reshape(4, 4).T,
    "left": lambda net, x: torch.tensor([[1.0, 2, 3, 4]] * 4) @ x,
    "buffer": lambda net, x: x @ net.buffer,
    "frozen": lambda net, x: x @ net.frozen,
    "global": lambda net, x: x @ SHARED,
    "tril": lambda net, x: x @ torch.ones(4, 4).tril(),
    "linear": lambda net, x: F.linear(x, torch.arange(12.0).reshape(3, 4)),
    "einsum": lambda net, x: torch.einsum("ij,kj->ik", x, torch.arange(16.0).reshape(4, 4)),
    "product": lambda net, x: x * torch.arange(16.0).reshape(4, 4),
    "convolution": lambda net, x: F.conv1d(x[None], torch.ones(2, 4, 3)),
    "filter": lambda net, x: F.conv2d(
        x[None, None], torch.tensor([[[[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]]]) / 16, padding=1
    ),
    "batched": lambda net, x: torch.bmm(
        x[None].expand(2, 4, 4), torch.arange(32.0).reshape(2, 4, 4)
    ),
    "vector": lambda net, x: x @ torch.arange(4.0),
    "table": lambda net, x: x + torch.arange(16.0).reshape(4, 4)[[0, 2, 1, 3]],
}


@pytest.mark.parametrize("name", MATRICES)
def test_constants_of_steps(name, tmp_path):
    check_step(lambda: nn.Linear(4, 4), MATRICES[name], random(4, 4, seed=2), tmp_path)


IMAGES = {
    "bilinear": lambda net, x: F.interpolate(x, (7, 6), mode="bilinear"),
    "corners": lambda net, x: F.interpolate(x, (7, 6), mode="bilinear", align_corners=True),
    "bicubic": lambda net, x: F.interpolate(x, (7, 6), mode="bicubic"),
    "area": lambda net, x: F.interpolate(x, (3, 2), mode="area"),
    "uneven": lambda net, x: F.adaptive_avg_pool2d(x, (3, 2)),
    "antialias": lambda net, x: F.interpolate(x, (3, 2), mode="bilinear", antialias=True),
    "linear": lambda net, x: F.interpolate(x[:, :, 0], 7, mode="linear"),
    "trilinear": lambda net, x: F.interpolate(x[None], (2, 3, 5), mode="trilinear"),
    "upsample": lambda net, x: torch.cat(
        [F.interpolate(F.avg_pool2d(x, 2), scale_factor=2, mode="bilinear"), x], 1
    ),
}


@pytest.mark.parametrize("name", IMAGES)
def test_constants_of_steps_on_images(name, tmp_path):
    check_step(
        lambda: nn.Conv2d(2, 3, 3, padding=1), IMAGES[name], random(2, 2, 4, 4, seed=3), tmp_path
    )


@pytest.mark.parametrize("rows, columns", SIZES)
@pytest.mark.parametrize("strided", [False, True])
def test_constants_of_steps_by_size(rows, columns, strided, tmp_path):
    # The scale keeps results of all sizes near 1.
    held = random(columns, rows).T if strided else random(rows, columns)
    check_step(
        lambda: nn.Linear(rows, rows),
        lambda net, x: x @ (held / rows),
        random(8, rows, seed=2),
        tmp_path,
    )


class Constants(nn.Module):
    """A weight that is packed, one that is read as it is, and one that is read with strides."""

    def __init__(self, rows, columns):
        super().__init__()
        self.packed, self.plain, self.strided = (
            nn.Parameter(random(*shape, seed=seed) / rows)
            for seed, shape in enumerate([(rows, columns), (8, rows), (rows, 8)])
        )

    def forward(self, x):
        return ((x + self.plain) * self.strided.T) @ self.packed


def without_compiler(rows, columns):
    """Returns a model that has only a session, its input, and the result of PyTorch."""
    module, x = Constants(rows, columns), random(8, rows, seed=5)
    wanted = module(x).detach()
    compiled = dlc.compile(module, (x,))
    session = compiled._sessions[0]
    model = dlc.Model(session.inputs, session.outputs, sessions=[session])
    # Gives the parameters other memory, as load_state_dict(assign=True) does.
    for parameter in module.parameters():
        parameter.data = torch.zeros_like(parameter)
    del compiled, module
    gc.collect()
    return model, x, wanted


@pytest.mark.parametrize("rows, columns", SIZES)
def test_a_model_outlives_its_compiler_and_module(rows, columns, tmp_path):
    model, x, wanted = without_compiler(rows, columns)
    torch.testing.assert_close(model(x), wanted, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "model.dlcx")
    others = [
        dlc.load(tmp_path / "model.dlcx"),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]
    (tmp_path / "model.dlcx").unlink()
    del model
    gc.collect()
    for other in others:
        torch.testing.assert_close(other(x), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows, columns", SIZES)
def test_a_function_of_torch_compile_outlives_its_constants(rows, columns):
    x, held = random(8, rows, seed=5), [random(rows, columns)]
    wanted = x @ held[0] / rows
    # The traced module has the only reference to the tensor.
    module = torch.fx.symbolic_trace(_Product(held.pop() / rows))
    compiled = torch.compile(module, backend="dlc")
    compiled(x)
    gc.collect()
    torch.testing.assert_close(compiled(x), wanted, rtol=1e-4, atol=1e-5)


class _Product(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.register_buffer("held", held)

    def forward(self, x):
        return x @ self.held
