"""dlc.train_step on the emulated GPU. The step on the CPU is the reference."""

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


def networks(name):
    """Returns a network on the CPU and its copy on the GPU, an input and a target."""
    module, x = torch_models.make(name)
    with torch.no_grad():
        target = torch.zeros_like(copy.deepcopy(module)(x)) + 0.5
    return module, copy.deepcopy(module).to(DEVICE), x, target


def made(module, optimizer=torch.optim.AdamW, **options):
    # A large eps, so that updates do not depend on the sign of gradients that are nearly 0.
    options = {"lr": 0.01, **({} if optimizer is torch.optim.SGD else {"eps": 1e-3}), **options}
    optimizer = optimizer(module.parameters(), **options)
    return dlc.train_step(module, nn.MSELoss(), optimizer), optimizer


def close(found, wanted, tolerance=1e-4):
    assert found.device.type == DEVICE
    found, wanted = found.detach().cpu().double(), wanted.detach().double()
    assert (found - wanted).abs().max() <= tolerance * wanted.abs().max().clamp(min=1e-3)


@pytest.mark.parametrize("name", ["mlp", "residual", "block", "gated"])
def test_step(name):
    module, there, x, target = networks(name)
    (here, one), (step, other) = made(module), made(there)
    schedules = [torch.optim.lr_scheduler.StepLR(each, 2, 0.5) for each in (one, other)]
    for _ in range(4):
        close(step(x.to(DEVICE), target.to(DEVICE)), here(x, target))
        for schedule in schedules:
            schedule.step()
    for key, wanted in module.state_dict().items():
        close(there.state_dict()[key], wanted)
    for found, wanted in zip(there.parameters(), module.parameters()):
        for key in ("exp_avg", "exp_avg_sq"):
            close(other.state[found][key], one.state[wanted][key], 1e-3)


def test_step_does_not_wait():
    """The host waits for neither the step nor its loss, and pinned inputs are copied in the stream."""
    _, there, x, target = networks("mlp")
    step, _ = made(there)
    x, target = x.pin_memory(), target.pin_memory()
    losses = []
    for stream in (gpu.current_stream(), gpu.Stream()):
        gpu.synchronize()
        with gpu.stream(stream):
            step(x.to(DEVICE), target.to(DEVICE))
            gpu.synchronize()
            losses.append(
                step(x.to(DEVICE, non_blocking=True), target.to(DEVICE, non_blocking=True))
            )
            end = stream.record_event()
            assert not end.query()
            end.synchronize()
    assert losses[1].item() < losses[0].item()


def test_learning_rates_change_in_another_stream():
    """A step that is still waiting in its stream reads its own learning rate, not that of the next step in another stream."""
    module, there, x, target = networks("mlp")
    (here, one), (step, other) = (made(each, torch.optim.SGD) for each in (module, there))
    inputs = x.to(DEVICE), target.to(DEVICE)
    step.compile(*inputs)
    gpu.synchronize()
    streams = [gpu.Stream() for _ in range(3)]
    for stream, rate in zip(streams, (0.01, 0.5, 0.25)):
        one.param_groups[0]["lr"] = other.param_groups[0]["lr"] = rate
        here(x, target)
        with gpu.stream(stream):
            step(*inputs)
    for stream in streams:
        stream.synchronize()
    for key, wanted in module.state_dict().items():
        close(there.state_dict()[key], wanted)


def test_state_is_the_modules():
    """Parameters keep their addresses; values that are loaded into them are used by the next step."""
    module, there, x, target = networks("residual")
    here, _ = made(module, torch.optim.SGD)
    step, other = made(there, torch.optim.SGD)
    given = x.to(DEVICE), target.to(DEVICE)
    addresses = [each.data_ptr() for each in there.parameters()]
    close(step(*given), here(x, target))
    assert [each.data_ptr() for each in there.parameters()] == addresses
    state, optimizer = copy.deepcopy(there.state_dict()), copy.deepcopy(other.state_dict())
    first = step(*given).item()
    there.load_state_dict(state)
    other.load_state_dict(optimizer)
    assert step(*given).item() == first
    assert [each.data_ptr() for each in there.parameters()] == addresses


def test_strided_and_unaligned_parameters():
    """Parameters that a kernel cannot access in place are copied before and after each step."""
    module, there, x, target = networks("residual")
    there = there.to(memory_format=torch.channels_last)
    here, step = made(module)[0], made(there)[0]
    for _ in range(2):
        close(step(x.to(DEVICE), target.to(DEVICE)), here(x, target))
    for key, wanted in module.state_dict().items():
        close(there.state_dict()[key], wanted)


def test_tensors_elsewhere():
    _, there, x, target = networks("mlp")
    step, _ = made(there)
    with pytest.raises(
        ValueError, match=f"an input is on cpu; required: {DEVICE}:0; move it, as in x.to"
    ):
        step(x, target.to(DEVICE))


def test_saved_step(tmp_path):
    _, there, x, target = networks("mlp")
    step, _ = made(there)
    given = x.to(DEVICE), target.to(DEVICE)
    step(*given)
    step.save(tmp_path / "step.dlcx")
    loaded = dlc.load(tmp_path / "step.dlcx")
    names = [value.name for value in loaded.inputs]
    arrays = {"lr": torch.full((), 0.01), "target": target}
    arrays = {name: arrays.get(name, x).to(DEVICE) for name in names}
    close(loaded.run(arrays)["loss"], step(*given).cpu())
