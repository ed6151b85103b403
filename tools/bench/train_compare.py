#!/usr/bin/env python3
"""Trains the benchmark networks with dlc and with PyTorch, from the same parameters on the same batches, and compares.

    tools/bench/train_compare.py [--networks resnet-56,lstm] [--steps 20] [--f64]

Each step's loss must agree within 1e-3 relative, and every parameter and running statistic afterwards within 1e-3 of the
largest parameter of its layer: what a batch norm's bias is added to has the size of its weight, and the bias itself, which starts
at 0, moves with every ReLU that rounding switches. The difference relative to each tensor's own largest element is printed too.
BERT and ViT take 5 steps. --f64 compares with PyTorch in f64 instead, and allows twice what PyTorch's own f32 is away from it:
batch norm over many layers multiplies every rounding, so that two correct f32 programs drift apart.
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


def with_torch(task, steps, double):
    """Losses, and parameters by name afterwards."""
    import torch
    module = task.module.double() if double else task.module
    sgd, losses = torch.optim.SGD(module.parameters(), lr=task.rate), []
    for i in range(steps):
        x, t = task.batch_of(i)
        loss = task.loss(module(x.double() if double and x.is_floating_point() else x), t)
        sgd.zero_grad()
        loss.backward()
        if task.clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), task.clip)
        sgd.step()
        losses.append(loss.item())
    return losses, {name: value.detach().numpy() for name, value in module.state_dict().items()}


def with_dlc(name, task, steps, batch, threads, folder):
    init, data, save = (os.path.join(folder, f) for f in ("init.safetensors", "data.safetensors", "final.safetensors"))
    common.write_safetensors(init, {n: v.detach().numpy() for n, v in task.module.state_dict().items()})
    batches = {}
    for i in range(steps):
        x, t = task.batch_of(i)
        batches[f"x{i}"], batches[f"t{i}"] = x.numpy(), t.numpy()
    common.write_safetensors(data, batches)
    command = [os.path.join(common.BUILD, "bin", "dlc-train-network"), name, "--init", init, "--data", data, "--save", save, "--steps", str(steps),
               "--batch", str(batch), "--threads", str(threads), "--lr", str(task.rate)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    return [json.loads(line)["loss"] for line in done.stdout.splitlines()], common.read_safetensors(save)


def worst_of(got, wanted):
    """The largest difference relative to its layer's largest parameter, whose it is, and the largest relative to its own tensor's."""
    import numpy as np
    layer_of, largest, layers = lambda key: key.rpartition(".")[0], {}, {}
    for key, value in wanted.items():
        largest[key] = max(float(np.abs(value).max()), 1e-30)
        if value.dtype.kind == "f":
            layers[layer_of(key)] = max(layers.get(layer_of(key), 0), largest[key])
    distance = {key: float(np.nan_to_num(np.abs(got[key].astype(float) - wanted[key].astype(float)).max(), nan=np.inf)) for key in wanted}
    relative = {key: d / layers.get(layer_of(key), largest[key]) for key, d in distance.items()}
    worst = max(relative, key=relative.get)
    return relative[worst], worst, max(d / largest[key] for key, d in distance.items())


def compare(name, o):
    import networks
    steps = min(o.steps, FEWER.get(name, o.steps))
    task = networks.training(name, o.batch)
    with tempfile.TemporaryDirectory(prefix="dlc-train-") as folder:
        got_losses, got = with_dlc(name, task, steps, o.batch, o.threads, folder)
    losses, wanted = with_torch(task, steps, False)
    loss_limit = limit = 1e-3
    own = ""
    apart = lambda some, others: max(abs(a - b) / abs(b) for a, b in zip(some, others))
    if o.f64:
        exact_losses, exact = with_torch(networks.training(name, o.batch), steps, True)
        loss_limit, limit = max(loss_limit, 2 * apart(losses, exact_losses)), max(limit, 2 * worst_of(wanted, exact)[0])
        own = f"; PyTorch's own f32 from its f64: {apart(losses, exact_losses):.1e} and {worst_of(wanted, exact)[0]:.1e}"
        losses, wanted = exact_losses, exact
    if o.verbose:
        for i, (a, b) in enumerate(zip(got_losses, losses)):
            print(f"    step {i:2}  dlc {a:.7f}  torch {b:.7f}")
    problems = []
    if set(got) != set(wanted):
        raise RuntimeError(f"other parameters: {sorted(set(got) ^ set(wanted))[:3]}")
    worst_loss, (worst, where, strict) = apart(got_losses, losses), worst_of(got, wanted)
    if len(got_losses) != steps or not worst_loss <= loss_limit:
        problems.append("losses differ")
    if not worst <= limit:
        problems.append("parameters differ")
    if steps > 1 and not max(abs(a - losses[0]) for a in losses) > 0:
        problems.append("the loss never moved: that compares nothing")
    print(f"{'FAIL' if problems else 'ok  '} {name:10} {steps:3} steps  loss {losses[0]:.5f} to {losses[-1]:.5f}, differs by {worst_loss:.1e}; parameters by "
          f"{worst:.1e} of the layer's scale ({where}), {strict:.1e} of the tensor's{own}  {'; '.join(problems)}", flush=True)
    return not problems


def main():
    common.use_bench_python()
    import networks
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--networks", default=",".join(networks.TRAINED))
    a.add_argument("--steps", type=int, default=20)
    a.add_argument("--batch", type=int, default=0, help="instead of each network's usual one")
    a.add_argument("--threads", type=int, default=0)
    a.add_argument("--f64", action="store_true")
    a.add_argument("--verbose", action="store_true", help="print every loss")
    o = a.parse_args()
    names, passed = o.networks.split(","), 0
    for name in names:
        try:
            passed += compare(name, o)
        except RuntimeError as error:
            print(f"FAIL {name:12} {error}", flush=True)
    print(f"train_compare: {passed} passed, {len(names) - passed} failed")
    return passed != len(names)


sys.exit(main())
