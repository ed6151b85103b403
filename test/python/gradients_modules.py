"""Compares gradients of dlc.train_step with eager PyTorch for each module of torch.nn, with respect to its parameters and floating-point inputs, at random
points and at corners. Modules and their inputs are PyTorch's own (torch.testing's ModuleInfo database). Dropout has the probability 0, because the random
numbers of dlc and PyTorch differ.

usage: gradients_modules.py [--filter TEXT] [--kinds random,zeros,..] [--sample N]
"""

import argparse
import copy
import logging
import sys
import warnings
import zlib

import gradients
import torch

import dlc

from torch import nn
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

#: Number of modules in one program.
GROUP = 6
#: Modules whose gradients are known to differ at corners, and why. A module of these may pass.
CORNERS = {"nn.KLDivLoss": "target * log(target) has the gradient 0 at 0; PyTorch's is NaN"}
#: Modules of which some samples are refused with an error, and why.
REFUSED = {
    **dict.fromkeys(
        ("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"),
        "torch.export: momentum=None reads the number of batches",
    ),
    "nn.GaussianNLLLoss": "torch.export: a branch on the values of the variance",
    **dict.fromkeys(
        ("nn.Transformer", "nn.TransformerEncoder"),
        "torch.export: a branch on the values of a mask",
    ),
    "nn.CTCLoss": "torch.export: no decomposition of aten._ctc_loss",
    "nn.LinearCrossEntropyLoss": "no import of the operators in chunks",
    "nn.LSTM": "projections",
}
#: Largest number of samples of one module.
SAMPLES = 12


class Case:
    """A module with inputs of one kind."""

    def __init__(self, info, at, sample, kind):
        self.name, self.kind = f"{info.name}:{at}", kind
        torch.manual_seed(zlib.crc32(self.name.encode()))
        arguments = sample.constructor_input
        self.module = info.module_cls(*arguments.args, **arguments.kwargs).train()
        for each in self.module.modules():
            if isinstance(each, nn.modules.dropout._DropoutNd):
                each.p = 0.0
            if isinstance(each, nn.MultiheadAttention):
                each.dropout = 0.0
        self.leaves, self.spec = tree_flatten(
            (sample.forward_input.args, sample.forward_input.kwargs)
        )
        self.places = [
            i
            for i, leaf in enumerate(self.leaves)
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and leaf.requires_grad
        ]
        self.values = [gradients.filled(self.leaves[i].detach(), kind) for i in self.places]
        self.leaves = tree_map(
            lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, self.leaves
        )
        # The weights of the results. Modules without a size yet get it here, on a copy.
        self.weights = []
        trial = copy.deepcopy(self.module)
        self.loss(trial, self.values)
        if any(
            isinstance(each, nn.parameter.UninitializedParameter)
            for each in self.module.parameters()
        ):
            self.module = trial

    def loss(self, module, tensors):
        """A number that depends on every result of floats."""
        leaves = list(self.leaves)
        for i, tensor in zip(self.places, tensors):
            leaves[i] = tensor
        args, kwargs = tree_unflatten(leaves, self.spec)
        results = [
            each
            for each in tree_flatten(module(*args, **kwargs))[0]
            if isinstance(each, torch.Tensor) and each.is_floating_point()
        ]
        generator = torch.Generator().manual_seed(1)
        if not self.weights:
            self.weights = [torch.randn(each.shape, generator=generator) for each in results]
        return sum(
            ((each * weight).sum() for each, weight in zip(results, self.weights)), torch.zeros(())
        )

    def gradients(self):
        """Eager's, of the inputs and then of the parameters; none where the case has none."""
        module, tensors = (
            copy.deepcopy(self.module),
            [each.clone().requires_grad_() for each in self.values],
        )
        loss, leaves = self.loss(module, tensors), tensors + list(module.parameters())
        if not leaves or not loss.requires_grad:
            return None
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        return [
            torch.zeros_like(each) if gradient is None else gradient
            for each, gradient in zip(leaves, found)
        ]


class Group(nn.Module):
    def __init__(self, cases):
        super().__init__()
        self.cases = cases
        self.inputs = nn.ParameterList(
            [nn.Parameter(value.clone()) for case in cases for value in case.values]
        )
        self.members = nn.ModuleList([case.module for case in cases])

    def leaves(self):
        """For each case its inputs and its parameters."""
        rest = list(self.inputs)
        for case, member in zip(self.cases, self.members):
            tensors, rest = rest[: len(case.values)], rest[len(case.values) :]
            yield tensors, list(member.parameters())

    def forward(self, x):
        total = x.sum()
        for case, member, (tensors, parameters) in zip(self.cases, self.members, self.leaves()):
            # So that every leaf has a gradient.
            total = (
                total
                + case.loss(member, tensors)
                + sum(each.sum() for each in tensors + parameters)
            )
        return total


def program_of(cases):
    group = Group(cases)
    # What is left of the first gradient in an optimizer with momentum is the gradient.
    optimizer = torch.optim.SGD(group.parameters(), lr=0.0, momentum=0.5)
    step = dlc.train_step(group, lambda y, t: y + 0 * t, optimizer)
    step(torch.zeros(1), torch.zeros(()))
    found = [
        [optimizer.state[each]["momentum_buffer"] - 1 for each in tensors + parameters]
        for tensors, parameters in group.leaves()
    ]
    return found, next(iter(step._programs.values())).graph.text


def cases_of(kinds, wanted="", step=1):
    """Every step-th case of the modules whose names contain a text, where eager PyTorch has a gradient."""
    found, without, number = [], [], 0
    for info in module_db:
        if wanted not in info.name:
            continue
        torch.manual_seed(zlib.crc32(info.name.encode()))
        samples = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=True
        )
        # Some modules have hundreds of samples, for each combination of arguments.
        for at, sample in list(enumerate(samples))[:: -(-len(samples) // SAMPLES)]:
            for kind in kinds:
                number += 1
                if number % step:
                    continue
                try:
                    case = Case(info, at, sample, kind)
                    gradient = case.gradients()
                except Exception:  # noqa: BLE001
                    gradient = None  # Eager refuses these values.
                if gradient is None:
                    without.append((info.name, at, kind))
                else:
                    found.append((case, gradient))
    return found, without


def is_known(case):
    """Whether a deviation of a case is known. At infinities dlc promises nothing about NaN."""
    return (
        case.kind == "infinite" or case.kind != "random" and case.name.rpartition(":")[0] in CORNERS
    )


def is_refused(case, text):
    """Whether it is known that samples of the case's module are refused."""
    return text.startswith("refused: ") and case.name.rpartition(":")[0] in REFUSED


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="")
    arguments.add_argument("--kinds", default=",".join(gradients.KINDS))
    arguments.add_argument("--sample", type=int, default=1, help="every nth case")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    cases, without = cases_of(given.kinds.split(","), given.filter, given.sample)
    failures, known, refused = [], 0, 0
    for at in range(0, len(cases), GROUP):
        for case, text in gradients.run(cases[at : at + GROUP], program_of=program_of):
            if is_refused(case, text):
                refused += 1
                continue
            if is_known(case):
                known += 1
                continue
            failures.append(case)
            print(f"{case.name} {case.kind}: {text}", flush=True)
    print(
        f"gradients of modules: {len(cases) - len(failures) - known - refused} passed, {len(failures)} failed ({known} known deviations, {refused} refused, {len(without)} without a gradient)"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
