#!/usr/bin/env python3
"""Trains the benchmark networks with dlc and with PyTorch in f32, from the same parameters on the same batches, and compares.

    tools/bench/train_compare.py [--networks resnet-56,lstm] [--steps 20] [--own] [--plain]
    tools/bench/train_compare.py --gradients [--networks resnet-50]

Networks, batches, losses and learning rates are those of `networks.py`; plain SGD, clipped for the LSTM. BERT and ViT take 5 steps.
Both start from one .safetensors file and read the same batches. What must hold:

- each step's loss agrees within 1e-3 of PyTorch's;
- afterwards every parameter agrees within 1e-3 of the largest element of that very tensor. No tensor starts at 0, so that this
  scale is one;
- running statistics agree within 1e-2 of theirs: variances of what the deepest layers made of the last ten batches, where
  PyTorch with parameters one unit in the last place off is 5e-3 from itself (--own); whole numbers (batches counted) agree exactly;
- all parameters together differ by at most 5 % of how far training moved them (the norms of both): gradients count, not only
  that parameters hardly move.

Images are smooth patterns of ten kinds, deviating smoothly, with some noise; residual branches start at a quarter of their strength.
--plain takes white noise and the modules' own initial parameters instead. Nothing can be learnt from those, and deep networks with batch
norm amplify every rounding: PyTorch then differs from itself as much as from dlc. --own shows it: PyTorch once more from
parameters that differ by at most one unit in the last place, and once with channels last.
--gradients takes one step and holds every gradient and batch-norm statistic of dlc, and PyTorch's own in f32, against PyTorch's in f64.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

FEWER = {"bert": 5, "vit": 5}
LIMIT, STATISTICS_LIMIT, MOVED_LIMIT = 1e-3, 1e-2, 5e-2
# So large that a parameter afterwards is its gradient, times this.
STEEP = 2.0 ** 20


def values_of(module):
    return {name: value.detach().numpy().copy() for name, value in module.state_dict().items()}


def with_torch(task, steps, kind="f32"):
    """Losses, and parameters by name afterwards; kinds: f32, f64, channels-last, one-ulp (from other parameters)."""
    import torch
    module, last = task.module, {"memory_format": torch.channels_last} if kind == "channels-last" else {}
    module = (module.double() if kind == "f64" else module).to(**last)
    if kind == "one-ulp":
        torch.manual_seed(7)
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(torch.where(torch.rand(p.shape) < 0.5, torch.nextafter(p, p + 1), p))
    sgd, losses = torch.optim.SGD(module.parameters(), lr=task.rate), []
    for i in range(steps):
        x, t = task.batch_of(i)
        x = x.double() if kind == "f64" and x.is_floating_point() else x
        loss = task.loss(module(x.to(**last) if x.dim() == 4 else x), t)
        sgd.zero_grad()
        loss.backward()
        if task.clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), task.clip)
        sgd.step()
        losses.append(loss.item())
    return losses, values_of(module)


def with_dlc(name, task, steps, o):
    with tempfile.TemporaryDirectory(prefix="dlc-train-") as folder:
        init, data, save = (os.path.join(folder, f) for f in ("init.safetensors", "data.safetensors", "final.safetensors"))
        common.write_safetensors(init, values_of(task.module))
        batches = {}
        for i in range(steps):
            x, t = task.batch_of(i)
            batches[f"x{i}"], batches[f"t{i}"] = x.numpy(), t.numpy()
        common.write_safetensors(data, batches)
        command = [os.path.join(common.BUILD, "bin", "dlc-train-network"), name, "--init", init, "--data", data, "--save", save,
                   "--steps", str(steps), "--batch", str(o.batch), "--threads", str(o.threads), "--lr", str(task.rate)] + o.options.split()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line["loss"] for line in lines], common.read_safetensors(save), lines[0]


def apart(some, others):
    return max(abs(a - b) / abs(b) for a, b in zip(some, others))


def is_counted(value):
    return value.dtype.kind in "iu"


def strictly(got, wanted, keys):
    """The largest difference relative to its own tensor's largest element, and whose it is."""
    import numpy as np
    relative = {}
    for key in keys:
        value = wanted[key]
        distance = float(np.nan_to_num(np.abs(got[key].astype(float) - value.astype(float)).max(), nan=np.inf))
        relative[key] = distance / max(float(np.abs(value).max()), 1e-30) if not is_counted(value) else np.inf if distance else 0.0
    worst = max(relative, key=relative.get, default="")
    return relative.get(worst, 0.0), worst


def of_the_move(got, wanted, before, parameters):
    """The norm of all differences relative to the norm of all that training changed."""
    import numpy as np
    square = lambda some, others: sum(float(np.square(some[key].astype(float) - others[key]).sum()) for key in parameters)
    return (square(got, wanted) / max(square(wanted, before), 1e-300)) ** 0.5


def compare(name, o):
    import networks
    make = lambda: networks.training(name, o.batch, o.plain)
    steps, task = min(o.steps, FEWER.get(name, o.steps)), make()
    before, parameters = values_of(task.module), [key for key, _ in task.module.named_parameters()]
    got_losses, got, about = with_dlc(name, task, steps, o)
    losses, wanted = with_torch(task, steps)
    if o.verbose:
        for i, (a, b) in enumerate(zip(got_losses, losses)):
            print(f"    step {i:2}  dlc {a:.7f}  torch {b:.7f}")
        print(f"    dlc's peak {about['peak_mib'] - about['before_mib']:.0f} MiB above the state before")
    if set(got) != set(wanted):
        raise RuntimeError(f"other parameters: {sorted(set(got) ^ set(wanted))[:3]}")

    statistics = [key for key in wanted if key not in parameters]

    def differences(some_losses, some):
        loss, moved = apart(some_losses, losses), of_the_move(some, wanted, before, parameters)
        (parameter, where), (statistic, there) = (strictly(some, wanted, keys) for keys in (parameters, statistics))
        text = f"differs by {loss:.1e}; parameters by {parameter:.1e} of the tensor's largest ({where}), {moved:.1e} of the way"
        return loss, parameter, statistic, moved, text + (f"; statistics by {statistic:.1e} ({there})" if statistics else "")

    loss, parameter, statistic, moved, text = differences(got_losses, got)
    problems = []
    if len(got_losses) != steps or not loss <= LIMIT:
        problems.append("losses differ")
    if not parameter <= LIMIT:
        problems.append("parameters differ")
    if not statistic <= STATISTICS_LIMIT:
        problems.append("statistics differ")
    if not moved <= MOVED_LIMIT:
        problems.append("parameters moved elsewhere")
    if steps > 1 and not max(abs(a - losses[0]) for a in losses) > 0:
        problems.append("the loss never moved: that compares nothing")
    print(f"{'FAIL' if problems else 'ok  '} {name:10} {steps:3} steps  loss {losses[0]:8.5f} to {losses[-1]:8.5f}, {text}  {'; '.join(problems)}", flush=True)
    for kind in ("one-ulp", "channels-last") if o.own else ():
        print(f"         PyTorch itself, {kind:13}   {'':24} {differences(*with_torch(make(), steps, kind))[-1]}", flush=True)
    return not problems


def gradients(name, o):
    """Of one step: each tensor's error in dlc and in PyTorch, as the norm of the difference from f64 relative to the norm."""
    import numpy as np
    import networks
    make = lambda: networks.training(name, o.batch, o.plain)._replace(rate=STEEP)
    task = make()
    before, parameters = values_of(task.module), {key for key, _ in task.module.named_parameters()}

    def taken(values):
        return {key: (value.astype(float) - before[key]) / -STEEP if key in parameters else value.astype(float)
                for key, value in values.items() if not is_counted(value)}

    got = taken(with_dlc(name, task, 1, o)[1])
    ours, exact = (taken(with_torch(make(), 1, kind)[1]) for kind in ("f32", "f64"))
    error = lambda some, key: float(np.linalg.norm(some[key] - exact[key]) / max(np.linalg.norm(exact[key]), 1e-300))
    errors = {key: (error(got, key), error(ours, key)) for key in exact}
    ratios = {key: max(a, 1e-8) / max(b, 1e-8) for key, (a, b) in errors.items()}
    for key in errors if o.verbose else ():
        print(f"    {key:44} dlc {errors[key][0]:.1e}  torch {errors[key][1]:.1e}  {ratios[key]:6.2f}")
    for title, keys in (("gradients", [k for k in exact if k in parameters]), ("statistics", [k for k in exact if k not in parameters])):
        if not keys:
            continue
        some = np.array([errors[key] for key in keys])
        worst = max(keys, key=ratios.get)
        print(f"     {name:10} {len(keys):4} {title:10} from f64: dlc {np.median(some[:, 0]):.1e} (median), {some[:, 0].max():.1e} (worst); torch "
              f"{np.median(some[:, 1]):.1e}, {some[:, 1].max():.1e}; dlc / torch {np.exp(np.mean([np.log(ratios[k]) for k in keys])):.2f} "
              f"(geometric mean), {ratios[worst]:.1f} at worst ({worst})", flush=True)
    return True


def main():
    common.use_bench_python()
    import networks
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--networks", default=",".join(networks.TRAINED))
    a.add_argument("--steps", type=int, default=20)
    a.add_argument("--batch", type=int, default=0, help="instead of each network's usual one")
    a.add_argument("--threads", type=int, default=0)
    a.add_argument("--own", action="store_true", help="show how far PyTorch is from itself, too")
    a.add_argument("--plain", action="store_true", help="the modules' own initial parameters, and images of white noise")
    a.add_argument("--gradients", action="store_true", help="one step, every gradient, against f64")
    a.add_argument("--options", default="", help="more for dlc-train-network, such as '--max-memory 1GiB'")
    a.add_argument("--verbose", action="store_true", help="print every loss, or every gradient's error")
    o = a.parse_args()
    names, passed = o.networks.split(","), 0
    for name in names:
        try:
            passed += (gradients if o.gradients else compare)(name, o)
        except RuntimeError as error:
            print(f"FAIL {name:12} {error}", flush=True)
    print(f"train_compare: {passed} passed, {len(names) - passed} failed")
    return passed != len(names)


sys.exit(main())
