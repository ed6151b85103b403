#!/usr/bin/env python3
"""Trains the benchmark networks with dlc and with PyTorch, from the same parameters on the same batches, and compares.

    tools/bench/train_compare.py [--networks resnet-56,lstm] [--steps 20] [--f64]

Each step's loss must agree within 1e-3 relative, and every parameter and running statistic afterwards within 1e-3 of the
largest parameter of its layer: what a batch norm's bias is added to has the size of its weight, and the bias itself, which starts
at 0, moves with every ReLU that rounding switches. The difference relative to each tensor's own largest element is printed too.
BERT and ViT take 5 steps. --f64: PyTorch computes in f64, which says whose rounding it is.
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


def compare(name, o):
    import numpy as np
    import networks
    steps = min(o.steps, FEWER.get(name, o.steps))
    task = networks.training(name, o.batch)
    with tempfile.TemporaryDirectory(prefix="dlc-train-") as folder:
        got_losses, got = with_dlc(name, task, steps, o.batch, o.threads, folder)
    losses, wanted = with_torch(task, steps, o.f64)
    if o.verbose:
        for i, (a, b) in enumerate(zip(got_losses, losses)):
            print(f"    step {i:2}  dlc {a:.7f}  torch {b:.7f}")
    problems = []
    if set(got) != set(wanted):
        problems.append(f"other parameters: {sorted(set(got) ^ set(wanted))[:3]}")
    worst_loss = max(abs(a - b) / abs(b) for a, b in zip(got_losses, losses))
    largest, layers = {}, {}
    for key, value in wanted.items():
        largest[key] = max(float(np.abs(value).max()), 1e-30)
        layer = key.rpartition(".")[0]
        if value.dtype.kind == "f":
            layers[layer] = max(layers.get(layer, 0), largest[key])
    distance = {key: float(np.abs(got[key].astype(float) - wanted[key].astype(float)).max()) for key in set(got) & set(wanted)}
    differences = {key: d / layers.get(key.rpartition(".")[0], largest[key]) for key, d in distance.items()}
    strict = max(d / largest[key] for key, d in distance.items())
    worst = max(differences, key=lambda k: np.nan_to_num(differences[k], nan=np.inf))
    moved = max(abs(a - losses[0]) for a in losses)
    if len(got_losses) != steps or not worst_loss <= 1e-3:
        problems.append("losses differ")
    if not differences[worst] <= 1e-3:
        problems.append(f"{sum(not d <= 1e-3 for d in differences.values())} parameters differ, {worst} most")
    if not moved > 0:
        problems.append("the loss never moved: that compares nothing")
    print(f"{'FAIL' if problems else 'ok  '} {name:12} {steps:3} steps  loss {losses[0]:.5f} to {losses[-1]:.5f}, largest relative difference "
          f"{worst_loss:.1e}; parameters {differences[worst]:.1e} of the layer's ({worst}), {strict:.1e} of the tensor's  {'; '.join(problems)}", flush=True)
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
