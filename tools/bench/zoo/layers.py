#!/usr/bin/env python3
"""Measures training steps of single layers with the shapes of networks: dlc against eager PyTorch in both memory formats, interleaved in one process.

    tools/bench/zoo/layers.py [--only depthwise] [--threads 2] [--rounds 9] [--results build/zoo/layers]
    tools/bench/zoo/layers.py --report [--below 1.0]

A slow gradient slows down every network that contains it, and no sample of networks contains all gradients. The rows are in layer_rows.py. A row's input is
multiplied by a parameter, so that its gradient is computed, too; the loss is the mean squared error, and the update is plain SGD. Each row runs in its own
process and writes a file to the folder of results. Rows with a file are not measured again, unless --again is given. Correct: three losses within 1e-3 of
PyTorch's.
Ratio and interval are as in operators.py.
"""

import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import sweep
import train
import zoo

TASK = {"loss": "mse", "optimizer": "sgd", "lr": 1e-4}


def with_output_scale(module, shape):
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.layer = torch.nn.Parameter(torch.ones(shape[1:])), module

        def forward(self, x):
            return [self.layer(x * self.scale)]

    return Scaled()


def make_torch_step(module, x, target, channels_last):
    import copy
    import torch

    module = copy.deepcopy(module)
    if channels_last:
        module, x = (
            module.to(memory_format=torch.channels_last),
            x.to(memory_format=torch.channels_last),
        )
    return train.make_training_step(TASK, module, [x], target)


def measure(row, o):
    import torch
    import worker

    name, layer, shape = row
    result = {
        "name": name,
        "batch": shape[0],
        "threads": o.threads,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    torch.manual_seed(0)
    torch.set_num_threads(o.threads)
    module, x = with_output_scale(layer, shape), torch.randn(shape)
    with torch.no_grad():
        target = torch.randn_like(module(x)[0])
    with tempfile.TemporaryDirectory(prefix="dlc-layers-") as folder:
        at = lambda file: os.path.join(folder, file)
        model, _, why = train.export({"exporter": "trace"}, module, ["x"], (x,), at("model.onnx"))
        if model is None:
            return result | {"refused": why[-500:]}
        try:
            common.run_tool(
                "dlc",
                "compile",
                at("model.onnx"),
                "--train",
                "-o",
                at("model.dlcx"),
                "--threads",
                str(o.threads),
                "--cache",
                at("cache"),
                "--loss",
                TASK["loss"],
                "--optimizer",
                TASK["optimizer"],
                "--lr",
                str(TASK["lr"]),
            )
        except RuntimeError as error:
            return result | {"refused": str(error)[-500:]}
        run, results = worker.dlc(
            at("model.dlcx"), o.threads, {"x": x.numpy(), "target": target.numpy()}
        )

        def dlc():
            run()
            return float(results()[0])

        found = {"dlc": dlc, "torch": make_torch_step(module, x, target, False)}
        if len(shape) == 4:
            found["torch-cl"] = make_torch_step(module, x, target, True)
        losses = {tool: [step() for _ in range(3)] for tool, step in found.items()}
        result["error"] = train.max_relative_difference(losses["dlc"], losses["torch"])
        result["tools"] = sweep.run_interleaved(found, o)
        zoo.compute_ratio(result)
        about = json.loads(
            common.run_tool(
                "dlc",
                "inspect",
                at("model.dlcx"),
                "--repeat",
                "7",
                "--threads",
                str(o.threads),
                "--json",
            )
        )
        longest = sorted(about["commands"], key=lambda c: -c.get("us", 0))[:4]
        result["commands"] = [
            f"{c['implementation']} {c['name']} {c['us']:.0f} us"
            for c in longest
            if c.get("us", 0) >= 1
        ]
    return result


def is_right(r):
    return r["error"] <= train.LIMIT


def line(r):
    if "refused" in r:
        return f"{r['name']:40} refused: {r['refused'][-150:]}"
    return (
        f"{r['name']:40} {r['tools']['dlc']['median_ms']:9.2f} ms  {r['ratio']:5.2f} [{r['interval'][0]:.2f}, {r['interval'][1]:.2f}] of {r['best']:9}"
        + ("" if is_right(r) else f" wrong by {r['error']:.1e}")
        + (f"  {', '.join(r['commands'])}"[:170] if r["ratio"] < 1.2 else "")
    )


def prepare(o):
    import onnx, torch, worker  # noqa: F401  imported once for all child processes
    import layer_rows

    return {row[0]: row for row in layer_rows.list_rows()}


if __name__ == "__main__":
    sweep.main(__doc__, "layers", prepare, measure, line, is_right)
