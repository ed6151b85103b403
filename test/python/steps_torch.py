"""Trains the benchmark networks (tools/bench/networks.py) with dlc.train_step and with PyTorch from the same weights, and prints the differences of the
losses and the times of a step, measured alternately on the same threads.

usage: steps_torch.py [--filter TEXT] [--steps N] [--batch N] [--timed N]
"""

import argparse
import copy
import os
import statistics
import sys
import time

import torch

import dlc

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench")
)
import networks

#: Losses are this close, relative to their size.
CLOSE = 1e-3
SEVEN = ("fcn-s", "alexnet-s", "resnet-50", "fcn-r", "alexnet-r", "resnet-56", "lstm")


def eager(module, loss, optimizer, clip):
    def step(x, y):
        optimizer.zero_grad()
        value = loss(module(x), y)
        value.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        optimizer.step()
        return value.detach()

    return step


def timed(step, batch):
    begin = time.perf_counter()
    step(*batch)
    return time.perf_counter() - begin


def run(name, arguments):
    training = networks.make_training_setup(name, arguments.batch)
    modules = [training.module, copy.deepcopy(training.module)]
    optimizers = [torch.optim.SGD(each.parameters(), lr=training.rate) for each in modules]
    batches = [training.batch_of(i) for i in range(min(arguments.steps, 4))]
    begin = time.perf_counter()
    ours = dlc.train_step(
        modules[0],
        training.loss,
        optimizers[0],
        batches[0],
        clip_norm=training.clip,
        threads=torch.get_num_threads(),
    )
    compiled = time.perf_counter() - begin
    theirs = eager(modules[1], training.loss, optimizers[1], training.clip)
    far = 0.0
    for i in range(arguments.steps):
        batch = batches[i % len(batches)]
        found, wanted = ours(*batch).item(), theirs(*batch).item()
        far = max(far, abs(found - wanted) / max(abs(wanted), 1e-3))
    times = [[], []]
    for i in range(arguments.timed):
        for which, step in enumerate((ours, theirs)):
            times[which].append(timed(step, batches[i % len(batches)]))
    text = ""
    if arguments.timed:
        mine, pytorch = map(statistics.median, times)
        text = f"step {mine * 1e3:8.1f} ms, PyTorch {pytorch * 1e3:8.1f} ms, {pytorch / mine:4.2f} times as fast"
    print(f"{name:10} {far:8.1e}  compiled in {compiled:5.1f} s  {text}", flush=True)
    return far < CLOSE


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="")
    arguments.add_argument("--steps", type=int, default=10, help="whose losses are compared")
    arguments.add_argument("--batch", type=int, default=0, help="instead of the network's own")
    arguments.add_argument("--timed", type=int, default=5, help="steps that are timed; 0: none")
    given = arguments.parse_args()
    results = [run(name, given) for name in SEVEN if given.filter in name]
    print(f"training steps: {sum(results)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
