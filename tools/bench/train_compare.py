#!/usr/bin/env python3
"""Trains the benchmark networks with dlc and with PyTorch in f32, from the same parameters on the same batches, and compares the results.

    tools/bench/train_compare.py [--networks resnet-56,lstm] [--steps 20] [--own] [--plain]
    tools/bench/train_compare.py --gradients [--networks resnet-50]
    tools/bench/train_compare.py --ranks 1,2,4 --threads 1 [--networks resnet-56 --batch 32]

Networks, batches, losses and learning rates are those of `networks.py`, with plain SGD, clipped for the LSTM. BERT and ViT run 5 steps.
Both tools start from one .safetensors file and read the same batches. Requirements:
- each step's loss agrees with PyTorch's within 1e-3;
- after training, every parameter agrees within 1e-3 of the largest element of its tensor. No tensor starts as 0, so this scale
  is meaningful;
- running statistics agree within 1e-2 of theirs: they are variances of the deepest layers over the last ten batches, where
  PyTorch with parameters changed by one unit in the last place differs from itself by 5e-3 (--own). Integers (the count of batches) are equal;
- the norm of the differences of all parameters is at most 5 % of the norm of their total change in training. This checks gradients, even if
  parameters hardly change.

Images are smooth patterns of ten kinds with smooth deviations and noise; residual branches start at a quarter of their strength.
--plain uses white noise and the modules' own initialization instead. Nothing can be learned from noise, and deep networks with batch
norm amplify every rounding error, so PyTorch differs from itself as much as from dlc. --own measures this: it runs PyTorch again from
parameters that differ by at most one unit in the last place, and once with channels last.
--ranks 1,2,4 compares dlc with itself: losses of several processes, started by mpirun, that share each batch, with those of one process. They must agree
within twice the difference that one process shows if the samples in its batches are permuted.
--gradients runs one step and compares every gradient and batch norm statistic of dlc, and of PyTorch in f32, with PyTorch's in f64.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "test")]
import common
import worlds

FEWER = {"bert": 5, "vit": 5}
# Batch sizes for the option --ranks, small enough for a two-core machine to finish in minutes.
SHARED = {
    "fcn-s": 16,
    "alexnet-s": 8,
    "resnet-50": 8,
    "fcn-r": 128,
    "alexnet-r": 32,
    "resnet-56": 32,
    "lstm": 16,
}
LIMIT, STATISTICS_LIMIT, MOVED_LIMIT = 1e-3, 1e-2, 5e-2
# Learning rate that is so large that a parameter after the step is, except for rounding, its gradient times the negative rate.
STEEP = 2.0**20


def copy_state_values(module):
    return {name: value.detach().numpy().copy() for name, value in module.state_dict().items()}


def train_with_torch(task, steps, kind="f32"):
    """Trains with PyTorch. Returns the losses, and the parameters by name. Kinds: f32, f64, channels-last, one-ulp (from perturbed parameters)."""
    import torch

    module, last = (
        task.module,
        {"memory_format": torch.channels_last} if kind == "channels-last" else {},
    )
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
    return losses, copy_state_values(module)


class TrainingFiles:
    """Files with the initial parameters and the batches of a training task, for the program dlc-train-network. Attribute `order`: a permutation of the samples of a batch."""

    def __init__(self, name, task, steps, batch, o):
        self.name, self.task, self.steps, self.batch, self.o = name, task, steps, batch, o
        self.folder = tempfile.TemporaryDirectory(prefix="dlc-train-")
        self.init, self.save = self.path("init.safetensors"), self.path("final.safetensors")
        common.write_safetensors(self.init, copy_state_values(task.module))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def data(self, order=lambda values: values):
        path, batches = self.path("data.safetensors"), {}
        for i in range(self.steps):
            x, t = self.task.batch_of(i)
            batches[f"x{i}"], batches[f"t{i}"] = order(x.numpy()), order(t.numpy())
        common.write_safetensors(path, batches)
        return path

    def run(self, data, *more, ranks=0):
        """Runs the training steps in dlc-train-network. Returns its output for each step."""
        command = (
            [
                os.path.join(common.BUILD, "bin", "dlc-train-network"),
                self.name,
                "--init",
                self.init,
                "--data",
                data,
                "--steps",
                str(self.steps),
                "--batch",
                str(self.batch),
                "--threads",
                str(self.o.threads),
                "--lr",
                str(self.task.rate),
            ]
            + self.o.options.split()
            + list(more)
        )
        if ranks:
            command = worlds.command(ranks, command + ["--data-parallel"])
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **worlds.ENVIRONMENT}
        )
        if done.returncode:
            raise RuntimeError(
                (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
            )
        return [json.loads(line) for line in done.stdout.splitlines()]


def train_with_dlc(name, task, steps, o):
    files = TrainingFiles(name, task, steps, o.batch, o)
    lines = files.run(files.data(), "--save", files.save)
    return [line["loss"] for line in lines], common.read_safetensors(files.save), lines[0]


def max_relative_difference(some, others):
    return max(abs(a - b) / abs(b) for a, b in zip(some, others))


def is_integer_array(value):
    return value.dtype.kind in "iu"


def max_tensor_difference(got, wanted, keys):
    """Returns the largest difference of two sets of tensors relative to the largest element of the tensor, and the name of that tensor."""
    import numpy as np

    relative = {}
    for key in keys:
        value = wanted[key]
        distance = float(
            np.nan_to_num(np.abs(got[key].astype(float) - value.astype(float)).max(), nan=np.inf)
        )
        relative[key] = (
            distance / max(float(np.abs(value).max()), 1e-30)
            if not is_integer_array(value)
            else np.inf
            if distance
            else 0.0
        )
    worst = max(relative, key=relative.get, default="")
    return relative.get(worst, 0.0), worst


def difference_relative_to_update(got, wanted, before, parameters):
    """Returns the norm of all differences between two trained sets of parameters relative to the norm of all changes made by training."""
    import numpy as np

    square = lambda some, others: sum(
        float(np.square(some[key].astype(float) - others[key]).sum()) for key in parameters
    )
    return (square(got, wanted) / max(square(wanted, before), 1e-300)) ** 0.5


def compare_training(name, o):
    import networks

    make = lambda: networks.make_training_setup(name, o.batch, o.plain)
    steps, task = min(o.steps, FEWER.get(name, o.steps)), make()
    before, parameters = (
        copy_state_values(task.module),
        [key for key, _ in task.module.named_parameters()],
    )
    got_losses, got, about = train_with_dlc(name, task, steps, o)
    losses, wanted = train_with_torch(task, steps)
    if o.verbose:
        for i, (a, b) in enumerate(zip(got_losses, losses)):
            print(f"    step {i:2}  dlc {a:.7f}  torch {b:.7f}")
        print(
            f"    dlc's peak {about['peak_mib'] - about['before_mib']:.0f} MiB above the state before"
        )
    if set(got) != set(wanted):
        raise RuntimeError(f"the names of parameters differ: {sorted(set(got) ^ set(wanted))[:3]}")

    statistics = [key for key in wanted if key not in parameters]

    def differences(some_losses, some):
        loss, moved = (
            max_relative_difference(some_losses, losses),
            difference_relative_to_update(some, wanted, before, parameters),
        )
        (parameter, where), (statistic, there) = (
            max_tensor_difference(some, wanted, keys) for keys in (parameters, statistics)
        )
        text = f"differs by {loss:.1e}; parameters by {parameter:.1e} of the tensor's largest ({where}), {moved:.1e} of the way"
        return (
            loss,
            parameter,
            statistic,
            moved,
            text + (f"; statistics by {statistic:.1e} ({there})" if statistics else ""),
        )

    loss, parameter, statistic, moved, text = differences(got_losses, got)
    problems = []
    if len(got_losses) != steps or not loss <= LIMIT:
        problems.append("losses differ")
    if not parameter <= LIMIT:
        problems.append("parameters differ")
    if not statistic <= STATISTICS_LIMIT:
        problems.append("statistics differ")
    if not moved <= MOVED_LIMIT:
        problems.append("parameters changed differently")
    if steps > 1 and not max(abs(a - losses[0]) for a in losses) > 0:
        problems.append("the loss did not change, so that the comparison proves nothing")
    print(
        f"{'FAIL' if problems else 'ok  '} {name:10} {steps:3} steps  loss {losses[0]:8.5f} to {losses[-1]:8.5f}, {text}  {'; '.join(problems)}",
        flush=True,
    )
    for kind in ("one-ulp", "channels-last") if o.own else ():
        print(
            f"         PyTorch itself, {kind:13}   {'':24} {differences(*train_with_torch(make(), steps, kind))[-1]}",
            flush=True,
        )
    return not problems


def gradients(name, o):
    """Compares the gradients of one step: prints each tensor's error in dlc and in PyTorch, as the norm of the difference from f64 relative to the norm."""
    import numpy as np
    import networks

    make = lambda: networks.make_training_setup(name, o.batch, o.plain)._replace(rate=STEEP)
    task = make()
    before, parameters = (
        copy_state_values(task.module),
        {key for key, _ in task.module.named_parameters()},
    )

    def taken(values):
        return {
            key: (value.astype(float) - before[key]) / -STEEP
            if key in parameters
            else value.astype(float)
            for key, value in values.items()
            if not is_integer_array(value)
        }

    got = taken(train_with_dlc(name, task, 1, o)[1])
    ours, exact = (taken(train_with_torch(make(), 1, kind)[1]) for kind in ("f32", "f64"))
    error = lambda some, key: float(
        np.linalg.norm(some[key] - exact[key]) / max(np.linalg.norm(exact[key]), 1e-300)
    )
    errors = {key: (error(got, key), error(ours, key)) for key in exact}
    ratios = {key: max(a, 1e-8) / max(b, 1e-8) for key, (a, b) in errors.items()}
    for key in errors if o.verbose else ():
        print(
            f"    {key:44} dlc {errors[key][0]:.1e}  torch {errors[key][1]:.1e}  {ratios[key]:6.2f}"
        )
    for title, keys in (
        ("gradients", [k for k in exact if k in parameters]),
        ("statistics", [k for k in exact if k not in parameters]),
    ):
        if not keys:
            continue
        some = np.array([errors[key] for key in keys])
        worst = max(keys, key=ratios.get)
        print(
            f"     {name:10} {len(keys):4} {title:10} from f64: dlc {np.median(some[:, 0]):.1e} (median), {some[:, 0].max():.1e} (worst); torch "
            f"{np.median(some[:, 1]):.1e}, {some[:, 1].max():.1e}; dlc / torch {np.exp(np.mean([np.log(ratios[k]) for k in keys])):.2f} "
            f"(geometric mean), {ratios[worst]:.1f} at worst ({worst})",
            flush=True,
        )
    return True


def compare_ranks(name, o):
    """Compares the losses of several ranks that share a batch with those of one process, relative to the differences of one process with permuted samples."""
    import numpy as np
    import networks

    batch = o.batch or SHARED.get(name) or networks.TRAINED[name][0]
    task, steps = (
        networks.make_training_setup(name, batch, o.plain),
        min(o.steps, FEWER.get(name, o.steps)),
    )
    normed = (
        ["--sync-batch-norm"]
        if any("running_mean" in key for key in task.module.state_dict())
        else []
    )
    files = TrainingFiles(name, task, steps, batch, o)
    losses = lambda data, *more, ranks=0: [
        line["loss"] for line in files.run(data, *more, ranks=ranks)
    ]
    turned = lambda seed: (
        lambda values: values[np.random.default_rng(seed).permutation(len(values))]
    )
    data = files.data()
    whole = losses(data)
    found = {
        str(ranks): max_relative_difference(losses(data, *normed, ranks=ranks), whole)
        for ranks in map(int, o.ranks.split(","))
    }
    orders = [
        max_relative_difference(losses(files.data(turned(seed))), whole) for seed in range(o.orders)
    ]
    within = all(value <= 2 * max(orders) for value in found.values())
    print(
        f"{'ok  ' if within else 'FAIL'} {name:10} {steps:3} steps of {batch:4}  loss {whole[0]:8.5f} to {whole[-1]:8.5f}; one process in other orders differs by "
        f"{max(orders):.1e}, ranks by {', '.join(f'{value:.1e} ({ranks})' for ranks, value in found.items())}",
        flush=True,
    )
    o.measurements.append(
        {
            "network": name,
            "batch": batch,
            "steps": steps,
            "first": whole[0],
            "last": whole[-1],
            "orders": orders,
            "ranks": found,
        }
    )
    return within


def main():
    common.use_bench_python()
    import networks

    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--networks",
        help="names of networks, separated by commas; default: all, with --ranks those that take minutes on one machine",
    )
    a.add_argument("--steps", type=int, default=20)
    a.add_argument("--batch", type=int, default=0, help="batch size; 0: the network's own")
    a.add_argument("--threads", type=int, default=0)
    a.add_argument(
        "--own", action="store_true", help="also show the difference between two runs of PyTorch"
    )
    a.add_argument(
        "--plain",
        action="store_true",
        help="use the initial parameters of the modules, and white noise as images",
    )
    a.add_argument(
        "--gradients", action="store_true", help="compare every gradient of one step with f64"
    )
    a.add_argument(
        "--ranks",
        default="",
        help="numbers of processes, such as 1,2,4: compare processes that share a batch with a single process",
    )
    a.add_argument(
        "--orders",
        type=int,
        default=3,
        help="number of sample orders in which a single process is compared with itself",
    )
    a.add_argument("--json", help="file to which the results of --ranks are written")
    a.add_argument(
        "--options",
        default="",
        help="further options for dlc-train-network, such as '--max-memory 1GiB'",
    )
    a.add_argument(
        "--verbose", action="store_true", help="print each loss, or the error of each gradient"
    )
    o = a.parse_args()
    o.measurements = []
    names, passed = (
        o.networks.split(",") if o.networks else list(SHARED if o.ranks else networks.TRAINED),
        0,
    )
    for name in names:
        try:
            passed += (
                gradients if o.gradients else compare_ranks if o.ranks else compare_training
            )(name, o)
        except RuntimeError as error:
            print(f"FAIL {name:12} {error}", flush=True)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(common.describe_run(o.measurements), f)
    print(f"train_compare: {passed} passed, {len(names) - passed} failed")
    return passed != len(names)


sys.exit(main())
