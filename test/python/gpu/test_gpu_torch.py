"""torch.compile on the emulated GPU: results, training, streams, memory. PyTorch on the CPU is the reference."""

import copy
import os

import pytest

torch = pytest.importorskip("torch")
if not os.environ.get("DLC_TORCH_DEVICE"):
    pytest.skip("the library of the PyTorch device is not built", allow_module_level=True)

import emulated_device
import torch_models
from torch import nn

import dlc

DEVICE = emulated_device.NAME
gpu = emulated_device.register()

#: Networks for training: networks with parameters, without near duplicates.
TRAINED = "mlp convolution batch_norm residual attention block gated autoencoder upsample dropout encoder_layer lstm".split()
#: Operators that remain in PyTorch, by network.
EAGER = {"mixed": {"aten.special_bessel_j0.default"}, "dropout": {"aten.bernoulli.p"}}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    dlc.report(clear=True)
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


def pair(name):
    """Returns a network on the CPU and its copy on the GPU, and the input of each."""
    module, x = torch_models.make(name)
    return module, copy.deepcopy(module).to(DEVICE), x, x.to(DEVICE)


def compiled(module, **options):
    return torch.compile(module, backend="dlc", options=options)


def close(found, wanted, tolerance=2e-5, least=1e-3):
    assert found.device.type == DEVICE
    found, wanted = found.detach().cpu(), wanted.detach()
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert (found.double() - wanted.double()).abs().max() <= tolerance * wanted.abs().max().clamp(
        min=least
    )


def check_report(name, kind):
    """Checks which operators remained in PyTorch, and that all programs are on the GPU."""
    graphs = dlc.report()
    assert {graph.kind for graph in graphs} <= set(kind)
    assert {each.overload for graph in graphs for each in graph.eager} == EAGER.get(name, set())
    for graph in graphs:
        assert f"programs on {DEVICE}:0" in graph.notes and graph.pieces and not graph.frozen


@pytest.mark.parametrize("name", torch_models.MODELS)
def test_inference(name):
    module, there, x, y = pair(name)
    module.eval()
    fast = compiled(there.eval())
    with torch.no_grad():
        for _ in range(3):
            close(fast(y), module(x))
    check_report("" if name == "dropout" else name, ["inference"])


@pytest.mark.parametrize("name", TRAINED)
def test_training(name):
    module, there, x, y = pair(name)
    fast = compiled(there)
    optimizers = [
        torch.optim.AdamW(each.parameters(), lr=0.01, eps=1e-3) for each in (module, there)
    ]
    for step in range(3):
        losses = []
        for run, given, optimizer in zip((module, fast), (x, y), optimizers):
            torch.manual_seed(step)
            losses.append(run(given).square().mean())
            optimizer.zero_grad()
            losses[-1].backward()
            optimizer.step()
        close(losses[1], losses[0])
    for found, wanted in zip(there.state_dict().values(), module.state_dict().values()):
        close(found, wanted, 1e-4)
    check_report(name, ["forward", "backward"])


def test_parameters_that_change():
    module, there, x, y = pair("mlp")
    fast = compiled(there.eval())
    with torch.no_grad():
        close(fast(y), module(x))
        for each in (module, there):
            each[0].weight.mul_(2)
            each[2].bias.data[0] = 7.0
        close(fast(y), module(x))


def test_call_does_not_wait():
    """Work is enqueued in the current stream; the host waits only for the values."""
    _, there, _, y = pair("mlp")
    fast = compiled(there.eval())
    with torch.no_grad():
        fast(y)
        for stream in (gpu.current_stream(), gpu.Stream()):
            gpu.synchronize()
            with gpu.stream(stream):
                fast(y)
                end = stream.record_event()
                assert not end.query()
                end.synchronize()
                assert end.query()


def test_streams_in_order():
    """A program in another stream reads what that stream has computed, and its results may be used there at once."""
    module, there, x, _ = pair("mlp")
    fast, stream = compiled(there.eval()), gpu.Stream()
    with torch.no_grad():
        for i in range(4):
            with gpu.stream(stream):
                given = x.pin_memory().to(DEVICE, non_blocking=True)
                made = fast(given * (i + 1)) + 1
            gpu.current_stream().wait_stream(stream)
            close(made, module(x * (i + 1)) + 1)


def test_memory_is_from_pytorch():
    """Results are allocated by PyTorch, and parameters are read in place."""
    there = nn.Linear(256, 256).to(DEVICE).eval()
    y = torch.randn(4, 256).to(DEVICE)
    fast = compiled(there)
    with torch.no_grad():
        for _ in range(3):
            fast(y)
        before, reserved = gpu.allocations(), gpu.memory_reserved()
        made = fast(y)
        assert gpu.allocations() == before + 1 and gpu.memory_reserved() == reserved
        address = made.data_ptr()
        del made
        assert fast(y).data_ptr() == address


def test_channels_last():
    module, there, x, y = pair("residual")
    there = there.to(memory_format=torch.channels_last)
    y = y.to(memory_format=torch.channels_last)
    fast = compiled(there)
    for run, given in ((module, x), (fast, y)):
        made = run(given)
        made.square().mean().backward()
    close(made, module(x), 0.1)
    for found, wanted in zip(there.parameters(), module.parameters()):
        close(found.grad.contiguous(), wanted.grad, 1e-4)
    scaled = compiled(lambda y: y.sigmoid() * 3)(y)
    close(scaled, x.sigmoid() * 3)
    assert scaled.stride() == y.stride() and not y.is_contiguous()


def changing(x, table):
    """Mutates an input, and returns views: of another result, and of each input."""
    table[1:] += x.sum()
    y = x * 2
    return y, y.t(), table[0], x.view(-1)


def test_mutation_views_and_aliasing():
    x, table = torch_models.seeded((3, 4)), torch.zeros(3, 2)
    y, there = x.to(DEVICE), table.to(DEVICE)
    wanted, found = changing(x, table), compiled(changing)(y, there)
    close(there, table)
    for one, other in zip(found, wanted):
        close(one, other)
        assert one.stride() == other.stride()
    assert found[1].data_ptr() == found[0].data_ptr()
    assert found[2].data_ptr() == there.data_ptr() and found[3].data_ptr() == y.data_ptr()


def between(x):
    """Computes on the GPU, then on the host, then on the GPU."""
    y = (x.sin() + 1).cpu()
    y = y.cumsum(0) * 2
    return y.to(x.device).exp() + x


def test_several_devices():
    x = torch_models.seeded((3, 4)) / 10
    wanted = between(x)
    close(compiled(between)(x.to(DEVICE)), wanted)
    (graph,) = dlc.report()
    assert f"programs on {DEVICE}:0, cpu" in graph.notes and len(graph.pieces) == 3


def test_scalars_of_the_host():
    """PyTorch permits tensors in host memory without dimensions as operands."""
    x, scale = torch_models.seeded((3, 4)), torch.tensor(3.0)
    fast = compiled(lambda x, scale: (x * scale).exp().sum())
    close(fast(x.to(DEVICE), scale), (x * scale).exp().sum())
    # Without other inputs, the result is nevertheless on the GPU.
    fast = compiled(lambda scale: torch.ones(2, 3, device=DEVICE) * scale)
    close(fast(scale), torch.ones(2, 3) * scale)


def test_result_without_inputs():
    fast = compiled(lambda: torch.arange(6, device=DEVICE).reshape(2, 3) * 2)
    close(fast(), torch.arange(6).reshape(2, 3) * 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
def test_autocast(dtype):
    """16-bit training with loss scaling, and one step whose gradients overflow."""
    results = []
    for device, run in (("cpu", lambda each: each), (DEVICE, compiled)):
        module, x = torch_models.make("residual")
        module, x = module.to(device), x.to(device)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler(device, init_scale=1024.0)
        fast = run(module)
        for step in range(3):
            optimizer.zero_grad()
            with torch.autocast(device, dtype):
                loss = fast(x).float().square().mean()
            scaler.scale(loss * (1e38 if step == 1 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()
        results.append((loss, scaler.get_scale(), module.state_dict()))
    (wanted, scale, state), (found, found_scale, found_state) = results
    assert found_scale == scale == 512.0
    close(found, wanted, 2e-2)
    for one, other in zip(found_state.values(), state.values()):
        close(one, other, 5e-2, least=0.05)
    assert not any(graph.eager for graph in dlc.report())
