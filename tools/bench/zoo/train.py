#!/usr/bin/env python3
"""Measures training steps of networks of the zoo: dlc against eager PyTorch in both memory formats, interleaved: rejected networks, correctness, speed.

    tools/bench/zoo/train.py [--networks timm-csatv2,...] [--sample 40] [--compile] [--optimizer adam] [--results build/zoo/NAME]
    tools/bench/zoo/train.py --report [--results build/zoo/NAME]

Measures the rows of networks.json in a seeded order, until --sample of them are measured. Networks that PyTorch's exporters reject, or whose first output is
not a batch of floats, are excluded and listed. Each network is exported as ONNX without folding its batch norms, and `dlc compile --train` compiles a step
from that file; PyTorch trains the module itself with the same weights and batch, with batch statistics in batch norms and without dropout. The loss is the
cross-entropy of the first output if that is [batch, classes], else its mean squared error. The learning rate is the largest of 0.01, 0.001, ... with which
PyTorch's loss never rises in five steps, and with which PyTorch, from parameters changed by one unit in the last place, stays within 1e-4 of itself;
otherwise the comparison would be dominated by noise.
Correct: these five losses are within 1e-3 of PyTorch's; if no such rate exists, within twice PyTorch's difference from itself.
Ratio, interval, ready, memory and the slowest commands are those of zoo.py. Writes one file per network to the folder of results; --again measures them
again.
"""

import argparse
import importlib
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn
import zoo

STEPS, LIMIT, OWN_LIMIT = 5, 1e-3, 1e-4
PEERS = [
    "torch",
    "torch-cl",
]  # torch-cl (channels last) is measured only for networks with image inputs


def list_rows():
    """Returns all rows of networks.json in the seeded order. The relative order of rows does not change if rows are added or removed."""
    return sorted(
        drawn.read_networks_json()["networks"],
        key=lambda row: random.Random(f"17 train {row['name']}").random(),
    )


def choose_batch_size(row):
    """Returns the batch size of a network: 8, or less if a step would take many seconds; 128 for recommenders, whose examples are rows of a table."""
    batch = 128 if row["source"] == "own" else 8
    while batch > 2 and batch * row["multiplications"] > 12:
        batch //= 2
    return batch


# The functions below run in PyTorch's process, up to run_worker().


def build_module(row, batch, trained=True):
    import torch
    import listing

    torch.backends.mha.set_fastpath_enabled(False)
    module, inputs = listing.build_network(row, batch)
    for part in module.modules():
        # Some attention modules of timm cache values that are computed from a parameter in eval mode, so they are set to training mode.
        if (
            trained
            and isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
            or hasattr(part, "attention_bias_cache")
        ):
            part.training = True
    return module, inputs


def make_optimizer(task, module):
    import torch

    wanted = [p for p in module.parameters() if p.requires_grad]
    return {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[task["optimizer"]](
        wanted, lr=task["lr"]
    )


def max_relative_difference(some, others):
    """Returns the largest relative difference between two lists of losses."""
    return max(
        (abs(a - b) / abs(b) if math.isfinite(a) and b else math.inf) for a, b in zip(some, others)
    )


def make_training_step(task, module, inputs, target, compiled=None):
    """Returns a function that runs one training step. `compiled` is a function such as torch.compile that optimizes the forward pass and the loss."""
    import torch

    loss_of = {
        "cross_entropy": torch.nn.functional.cross_entropy,
        "mse": torch.nn.functional.mse_loss,
    }[task["loss"]]
    optimizer = make_optimizer(task, module)

    def forward(*inputs):
        return loss_of(module(*inputs)[0], target)

    if compiled:
        forward = compiled(forward)

    def step():
        optimizer.zero_grad()
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def export(row, module, inputs, examples, path):
    """Exports the module as ONNX with the exporter of the row or, if that fails, the other one.
    Returns the model, the exporter that was used, and the reasons of failures."""
    import onnx
    import torch

    why = ""
    for exporter in (row["exporter"], "trace" if row["exporter"] == "export" else "export"):
        more = (
            {"dynamo": True, "optimize": False}
            if exporter == "export"
            else {
                "dynamo": False,
                "do_constant_folding": False,
                "training": torch.onnx.TrainingMode.PRESERVE,
            }
        )
        try:
            with torch.no_grad():
                torch.onnx.export(
                    module,
                    examples,
                    path,
                    input_names=list(inputs),
                    external_data=False,
                    verbose=False,
                    **more,
                )
            return onnx.load(path), exporter, why
        except common.failures() as error:
            why += f"{exporter}: {type(error).__name__}: {str(error)[:200]} ".replace("\n", " ")
    return None, None, why


def find_untrained_tensors(model, module):
    """Returns the names of float tensors in the file that dlc would train but PyTorch does not: buffers, and tensors created during export."""
    trained = {
        name for name, p in module.named_parameters(remove_duplicate=False) if p.requires_grad
    }
    import onnx

    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
    return [
        t.name
        for t in model.graph.initializer
        if t.data_type in floats and t.dims and t.name not in trained
    ]


def prepare_task(row, task, folder):
    """Writes model.onnx, and batch.npz with inputs and target. Returns the task: how to train the network, or the reason to exclude it."""
    import numpy as np
    import torch
    import listing

    at = lambda name: os.path.join(folder, name)
    module, inputs = build_module(row, task["batch"], trained=False)
    examples = listing.random_examples(inputs)
    with torch.no_grad():
        output = module(*examples)[0]
    if not output.is_floating_point() or output.ndim < 1 or output.shape[0] != task["batch"]:
        return {**task, "left_out": f"its first output is {output.dtype} {list(output.shape)}"}
    model, task["exporter"], task["refusals"] = export(
        row, module, inputs, examples, at("model.onnx")
    )
    if model is None:
        return {**task, "left_out": task["refusals"]}
    task["nodes"], task["freeze"] = len(model.graph.node), find_untrained_tensors(model, module)
    task["parameters"] = sum(p.numel() for p in module.parameters() if p.requires_grad)
    classes = output.ndim == 2 and output.shape[1] > 1 and row["source"] != "own"
    task["loss"] = "cross_entropy" if classes else "mse"
    generator = torch.Generator().manual_seed(1)
    target = (
        torch.randint(output.shape[1], output.shape[:1], generator=generator)
        if classes
        else torch.randn(output.shape, generator=generator)
    )
    np.savez(
        at("batch.npz"),
        target=target.numpy(),
        **{name: x.numpy() for name, x in zip(inputs, examples)},
    )
    for task["lr"] in (0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
        losses = train_with_torch(row, task, examples, target)
        if not all(later <= earlier for earlier, later in zip(losses, losses[1:])):
            continue
        task["spread"] = max_relative_difference(
            train_with_torch(row, task, examples, target, moved=True), losses
        )
        if task["spread"] <= OWN_LIMIT:
            break
    return task


def train_with_torch(row, task, examples, target, moved=False):
    """Trains with PyTorch and returns the first losses; with `moved`, starts from parameters changed by one unit in the last place."""
    import torch

    module = build_module(row, task["batch"])[0]
    if moved:
        torch.manual_seed(7)
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(torch.where(torch.rand(p.shape) < 0.5, torch.nextafter(p, p + 1), p))
    step = make_training_step(task, module, examples, target)
    return [step() for _ in range(STEPS)]


def make_torch_step(tool, row, task, folder):
    import numpy as np
    import torch

    torch.set_num_threads(task["threads"])
    module, inputs = build_module(row, task["batch"])
    with np.load(os.path.join(folder, "batch.npz")) as file:
        examples, target = (
            [torch.from_numpy(file[name]) for name in inputs],
            torch.from_numpy(file["target"]),
        )
    if tool == "torch-cl":
        module = module.to(memory_format=torch.channels_last)
        examples = [x.to(memory_format=torch.channels_last) if x.ndim == 4 else x for x in examples]
    return make_training_step(
        task, module, examples, target, torch.compile if tool == "torch.compile" else None
    )


def make_dlc_step(task, folder):
    import numpy as np
    import worker

    run, results = worker.dlc(
        os.path.join(folder, "model.dlcx"),
        task["threads"],
        dict(np.load(os.path.join(folder, "batch.npz"))),
    )

    def step():
        run()
        return float(results()[0])

    return step


def exit_on_timeout(*_):
    sys.exit("longer than two minutes")


def run_worker(tool, folder):
    """Measures one tool in this process: serves requests with the protocol of worker.py. The first line has the first losses."""
    import worker

    with open(os.path.join(folder, "task.json")) as file:
        task = json.load(file)
    row = task["row"]
    if tool == "prepare":
        return zoo.write_result(os.path.join(folder, "task.json"), prepare_task(row, task, folder))
    if tool != "dlc":
        importlib.import_module("listing" if row["source"] == "own" else row["source"])
    if tool == "torch.compile":
        signal.signal(signal.SIGALRM, exit_on_timeout)
        signal.alarm(120)
    before, start = worker.peak_mib(), time.perf_counter()
    if tool == "dlc":
        step = make_dlc_step(task, folder)
    else:
        step = make_torch_step(tool, row, task, folder)
        start = (
            time.perf_counter()
        )  # the time to create the module is not counted, because it already exists
    losses = [step()]
    ready = time.perf_counter() - start
    losses += [step() for _ in range(STEPS - 1)]
    signal.alarm(0)
    print(
        json.dumps(
            {
                "losses": losses,
                "ready_s": ready,
                "before_mib": before,
                "peak_mib": worker.peak_mib(),
            }
        ),
        flush=True,
    )
    worker.serve_requests(step)


# The functions below run in the controlling process.


def measure(row, o):
    task = {
        "row": row,
        "batch": o.batch or choose_batch_size(row),
        "threads": o.threads,
        "optimizer": o.optimizer,
    }
    folder, workers = tempfile.mkdtemp(prefix="dlc-zoo-train-"), []
    at = lambda name: os.path.join(folder, name)
    command = lambda tool: [sys.executable, __file__, "--work", tool, folder]
    result = {
        "name": row["name"],
        "batch": task["batch"],
        "threads": o.threads,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    try:
        zoo.write_result(at("task.json"), task)
        prepared = subprocess.run(
            command("prepare"),
            capture_output=True,
            text=True,
            timeout=1200,
            env=dict(os.environ, OMP_NUM_THREADS=str(o.threads)),
        )
        if prepared.returncode:
            raise RuntimeError(
                (prepared.stderr.strip().splitlines() or [f"status {prepared.returncode}"])[-1]
            )
        with open(at("task.json")) as file:
            task = json.load(file)
        result.update((key, value) for key, value in task.items() if key not in ("row", "freeze"))
        if "left_out" in task:
            return result
        start = time.perf_counter()
        options = [
            "--loss",
            task["loss"],
            "--optimizer",
            task["optimizer"],
            "--lr",
            str(task["lr"]),
            "--threads",
            str(o.threads),
            "--cache",
            at("cache"),
        ]
        options += [word for name in task["freeze"] for word in ("--freeze", name)]
        done = subprocess.run(
            [common.DLC, "compile", at("model.onnx"), "--train", "-o", at("model.dlcx"), *options],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=1200,
        )
        result["compile_s"] = time.perf_counter() - start
        if done.returncode:
            result["refused"] = (
                f"status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
            )
            return result
        images = any(
            kind == "float" and len(shape) == 3
            for kind, shape in row.get("inputs", {"x": ["float", row.get("size", [])]}).values()
        )
        for tool in ["dlc", *PEERS[: 1 + images], *["torch.compile"] * o.compile]:
            workers.append(common.Worker(tool, command(tool), o.threads))
        dlc, torch = workers[:2]
        if torch.error:
            raise RuntimeError(torch.error)
        if dlc.error:
            result["refused"] = "run: " + dlc.error
            return result
        wanted = torch.about["losses"]
        result["error"], result["moved"] = (
            max_relative_difference(dlc.about["losses"], wanted),
            max_relative_difference(wanted[-1:], wanted[:1]),
        )
        for _ in range(o.rounds):
            for each in workers:
                if not each.error:
                    each.round(o.seconds)
        for each in workers:
            if each.error or not each.rounds:
                result["tools"][each.tool] = {"error": (each.error or "no times")[:300]}
                continue
            result["tools"][each.tool] = {
                "rounds_ms": [t * 1e3 for t in each.rounds],
                "median_ms": statistics.median(each.times) * 1e3,
                "losses": each.about["losses"],
                "ready_s": each.about["ready_s"] + (result["compile_s"] if each is dlc else 0),
                "memory_mib": max(each.peak, each.about["peak_mib"]) - each.about["before_mib"],
            }
        zoo.compute_ratio(result)
        for each in workers:
            each.close()
        if result["ratio"] < 1:
            result["blame"] = zoo.find_slowest_commands(at("model.dlcx"), o.threads)
    finally:
        for each in workers:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
    return result


def is_right(r):
    # The spread of PyTorch's own losses is unknown if the loss rises with every learning rate.
    return r["error"] <= max(LIMIT, 2 * r.get("spread", 0))


def line(r):
    start = f"{r['name']:44} b{r['batch']:<3}"
    for key in ("left_out", "refused"):
        if key in r:
            return f"{start} {key.replace('_', ' ')}: {r[key][-150:]}"
    return (
        f"{start} {r['tools']['dlc']['median_ms']:9.2f} ms  {r['ratio']:5.2f} [{r['interval'][0]:.2f}, {r['interval'][1]:.2f}] of {r['best']:13}"
        f" losses differ by {r['error']:.1e} ({r.get('spread', 0):.1e} in PyTorch itself), move by {r['moved']:.1e}"
        + ("" if is_right(r) else ": wrong")
    )


def report(o):
    results = zoo.read_results(o.results)
    for threads in sorted({r["threads"] for r in results}):
        some = [r for r in results if r["threads"] == threads]
        left_out, refused = ([r for r in some if key in r] for key in ("left_out", "refused"))
        timed = sorted((r for r in some if "ratio" in r), key=lambda r: r["ratio"])
        print(
            f"\n{threads} threads: {len(refused) + len(timed)} networks, {len(refused)} refused, {sum(not is_right(r) for r in timed)} differ; "
            f"{len(left_out)} left out"
        )
        for r in left_out + refused:
            print("  " + line(r))
        if timed:
            zoo.print_distribution(timed)
        for r in timed:
            print("  " + line(r))
            zoo.print_slowest_commands(r, o.blame)


def measure_each(rows, o, name_of, measure, line):
    """Measures the rows that `o` selects, until `o.sample` of them are measured. Rows with a result file count as measured, unless `o.again` is set."""
    measured = 0
    for row in [row for row in rows if not o.networks or row["name"] in o.networks.split(",")]:
        if measured >= o.sample:
            break
        path = os.path.join(o.results, name_of(row) + ".json")
        if os.path.exists(path) and not o.again:
            with open(path) as file:
                measured += "left_out" not in json.load(file)
            continue
        try:
            result = measure(row, o)
        except (
            common.failures()
        ) as error:  # an error of the measurement itself, which is not recorded
            print(f"{row['name']}: {type(error).__name__}: {error}", flush=True)
            continue
        measured += "left_out" not in result
        zoo.write_result(path, result)
        print(line(result), flush=True)


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default="")
    a.add_argument("--batch", type=int, help="batch size; default: the network's own")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.15,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument(
        "--sample",
        type=int,
        default=40,
        help="number of networks to sample; the sample is the same in each run",
    )
    a.add_argument("--optimizer", default="sgd", choices=["sgd", "adam"])
    a.add_argument(
        "--compile",
        action="store_true",
        help="also measure torch.compile, if it compiles within two minutes",
    )
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", "training"))
    a.add_argument(
        "--again", action="store_true", help="measure again what has been measured before"
    )
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument(
        "--blame",
        type=int,
        default=3,
        help="number of commands to print for each network that is slower than with another tool",
    )
    a.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.work:
        return run_worker(*o.work)
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o)
    measure_each(list_rows(), o, lambda row: f"{row['name']}-t{o.threads}", measure, line)


if __name__ == "__main__":
    main()
