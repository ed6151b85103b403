"""Saves the first training step of the benchmark networks with dlc.train_step, continues the training in Python and in C (train.c) on the same batches, and
prints the losses of both. They must be equal to the last bit. Needs PyTorch and a C compiler.

usage: saved_torch.py [--networks NAME[,NAME..]] [--steps N] [--batch N]
"""

import argparse
import os
import sys
import tempfile

sys.path += os.environ.get("DLC_TORCH", "").split()
import from_c
import numpy as np

try:
    import torch
except ImportError:
    sys.exit(print("saved steps: PyTorch is missing"))

import dlc

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench")
)
import networks

#: Their batches here: what a step computes, not how fast, is looked at.
SEVEN = {
    "fcn-s": 4,
    "alexnet-s": 2,
    "resnet-50": 2,
    "fcn-r": 16,
    "alexnet-r": 16,
    "resnet-56": 8,
    "lstm": 4,
}
#: So many batches come round.
BATCHES = 4


def losses(name, batch, steps, folder):
    """Python's, and C's."""
    training = networks.make_training_setup(name, batch)
    optimizer = torch.optim.SGD(training.module.parameters(), lr=training.rate)
    batches = [training.batch_of(i) for i in range(min(steps, BATCHES))]
    step = dlc.train_step(
        training.module, training.loss, optimizer, batches[0], clip_norm=training.clip
    )
    at = lambda name: os.path.join(folder, name)
    step.save(at("step.dlcx"))
    for i, which in enumerate(("input", "target")):
        np.stack([each[i].numpy() for each in batches]).tofile(at(which))
    np.float32(training.rate).tofile(at("lr"))
    here = [step(*batches[i % len(batches)]).item() for i in range(steps)]
    there = from_c.losses(
        from_c.built(folder), at("step.dlcx"), steps, list(map(at, ("input", "target", "lr")))
    )
    os.unlink(at("step.dlcx"))
    return here, [float(np.float32(each)) for each in there]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--networks", default=",".join(SEVEN))
    arguments.add_argument("--steps", type=int, default=10)
    arguments.add_argument("--batch", type=int, default=0, help="instead of a few examples")
    given = arguments.parse_args()
    results = []
    for name in given.networks.split(","):
        with tempfile.TemporaryDirectory(prefix="dlc-") as folder:
            here, there = losses(name, given.batch or SEVEN[name], given.steps, folder)
        print(f"{name:10} {'step':>4} {'Python':>15} {'C':>15}")
        for i, pair in enumerate(zip(here, there)):
            print(
                f"{'':10} {i:4} {pair[0]:15.9g} {pair[1]:15.9g}{'' if pair[0] == pair[1] else '  differs'}",
                flush=True,
            )
        results.append(here == there and len(here) == given.steps and bool(np.isfinite(here).all()))
    print(f"saved steps: {sum(results)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
