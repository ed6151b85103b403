"""Compares gradients of dlc.train_step with eager PyTorch, operator by operator: at random points and at corners (zeros, equal inputs, ties, edges,
infinities), with respect to every floating-point input. The cases are PyTorch's own samples (torch.testing's OpInfo database). `operators.txt` names, for each
overload that dlc imports, the samples that use it, or the reason why there is none.

usage: gradients.py [--filter TEXT] [--kinds random,zeros,..] [--sample N]
"""

import argparse
import itertools
import logging
import os
import sys
import warnings
import zlib

import operators_direct
import opinfo  # noqa: F401  replaces a package that torch.testing imports
import torch

import dlc
from dlc import _compiler

from torch import nn
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_flatten, tree_unflatten

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.txt")
#: Number of cases in one program.
GROUP = 12
#: Of the largest element of a gradient.
CLOSE = 2e-3
#: Corners: values that fill the inputs in turn.
KINDS = {
    "random": None,
    "zeros": [0.0],
    "equal": [1.0],
    "ties": [1.0, 2.0, 2.0, 1.0, -1.0],
    "edges": [0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, 2.0, -2.0],
    "infinite": [float("inf"), 1.0, float("-inf"), -2.0, 0.0],
}
#: Operators whose gradients are known to differ at corners, and why. A case of these may pass.
TIES = (
    "the gradient passes to the returned index; PyTorch returns another index among equal elements"
)
POLES = "infinite or NaN at a pole or outside of the domain, with another sign or not at all"
CORNERS = {
    **dict.fromkeys(("kthvalue", "sort", "topk"), TIES),
    **dict.fromkeys(("acosh", "logit", "xlogy"), POLES),
    "clamp": "the gradient of an element that equals both bounds, which are tensors, is shared otherwise",
    "nn.functional.binary_cross_entropy": "the gradient in the target is that of the bounded logarithms; PyTorch's is infinite at 0 and 1",
}
#: Operators whose gradients in eager PyTorch are wrong, and why.
WRONG_IN_PYTORCH = {"as_strided_scatter": "elements that the operator overwrites get a gradient"}


#: Normalisations that return their statistics: PyTorch ignores the gradient that reaches the loss through these.
STATISTICS = ("_native_batch_norm_legit", "native_batch_norm", "native_layer_norm")


def is_known(case):
    """Whether a deviation of a case is known. At infinities dlc promises nothing about NaN."""
    name = case.name.rpartition(":")[0]
    return (
        case.kind == "infinite"
        or name in STATISTICS
        or name in WRONG_IN_PYTORCH
        or case.kind != "random"
        and name in CORNERS
    )


def table():
    """For each overload: its samples as (operator, number), or a text that says why it has none."""
    found = {}
    with open(TABLE) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                overload, _, rest = line.strip().partition(" ")
                pairs = (
                    [(overload, -1)]
                    if rest == "direct"
                    else [
                        (name, int(number))
                        for name, _, number in (each.rpartition(":") for each in rest.split())
                    ]
                    if rest[:2] != "- "
                    else []
                )
                found[overload] = pairs or rest[2:]
    return found


def full_name(op):
    return f"{op.name}/{op.variant_test_name}" if op.variant_test_name else op.name


OPS = {full_name(op): op for op in op_db}
CALLS = operators_direct.calls()


def sample_of(name, number):
    """A sample, with the operator; those without a number are direct calls."""
    if number < 0:
        first, *others = CALLS[name]
        return SampleInput(first, args=tuple(others), kwargs=operators_direct.NAMED.get(name, {}))
    torch.manual_seed(zlib.crc32(name.encode()))
    return next(
        itertools.islice(
            OPS[name].sample_inputs("cpu", torch.float32, requires_grad=True), number, None
        )
    )


def filled(tensor, kind):
    values = KINDS[kind]
    if values is None or not tensor.numel():
        return tensor.clone()
    return torch.tensor(list(itertools.islice(itertools.cycle(values), tensor.numel()))).reshape(
        tensor.shape
    )


class Case:
    """A sample's call with inputs of one kind."""

    def __init__(self, name, number, kind):
        self.name, self.kind, self.op = (
            f"{name}:{number}",
            kind,
            OPS[name] if number >= 0 else operators_direct.operator_of(name),
        )
        self.sample = sample_of(name, number)
        self.leaves, self.spec = tree_flatten(
            (self.sample.input, self.sample.args, self.sample.kwargs)
        )
        self.places = [
            i
            for i, leaf in enumerate(self.leaves)
            if isinstance(leaf, torch.Tensor)
            and leaf.is_floating_point()
            and (leaf.requires_grad or number < 0)
        ]
        self.values = [filled(self.leaves[i].detach(), kind) for i in self.places]
        self.weights = []

    def __call__(self, tensors):
        """A number that depends on every result of floats."""
        # Some operators change their arguments, as running statistics.
        leaves = [
            leaf.clone() if isinstance(leaf, torch.Tensor) and not leaf.is_sparse else leaf
            for leaf in self.leaves
        ]
        for i, tensor in zip(self.places, tensors):
            leaves[i] = tensor
        input, args, kwargs = tree_unflatten(leaves, self.spec)
        result = self.op(input, *args, **kwargs)
        if self.sample.output_process_fn_grad is not None:
            result = self.sample.output_process_fn_grad(result)
        results = [
            each
            for each in tree_flatten(result)[0]
            if isinstance(each, torch.Tensor) and each.is_floating_point()
        ]
        generator = torch.Generator().manual_seed(1)
        if not self.weights:
            self.weights = [torch.randn(each.shape, generator=generator) for each in results]
        return sum(
            ((each * weight).sum() for each, weight in zip(results, self.weights)), torch.zeros(())
        )

    def gradients(self):
        """Eager's; none where the sample has none."""
        tensors = [each.clone().requires_grad_() for each in self.values]
        loss = self(tensors)
        if not tensors or not loss.requires_grad:
            return None
        found = torch.autograd.grad(loss, tensors, allow_unused=True)
        return [
            torch.zeros_like(each) if gradient is None else gradient
            for each, gradient in zip(tensors, found)
        ]


class Group(nn.Module):
    def __init__(self, cases):
        super().__init__()
        self.cases = cases
        self.inputs = nn.ParameterList(
            [nn.Parameter(value.clone()) for case in cases for value in case.values]
        )

    def forward(self, x):
        rest, total = list(self.inputs), x.sum()
        for case in self.cases:
            tensors, rest = rest[: len(case.values)], rest[len(case.values) :]
            # So that every input has a gradient.
            total = total + case(tensors) + sum(each.sum() for each in tensors)
        return total


def program_of(cases):
    """The gradients that dlc computes, for each case, and the operators of the program."""
    group = Group(cases)
    # What is left of the first gradient in an optimizer with momentum is the gradient.
    optimizer = torch.optim.SGD(group.parameters(), lr=0.0, momentum=0.5)
    step = dlc.train_step(group, lambda y, t: y + 0 * t, optimizer)
    step(torch.zeros(1), torch.zeros(()))
    found = [optimizer.state[each]["momentum_buffer"] - 1 for each in group.inputs]
    text = next(iter(step._programs.values())).graph.text
    gradients = []
    for case in cases:
        gradients.append(found[: len(case.values)])
        found = found[len(case.values) :]
    return gradients, text


def differs(found, wanted):
    """What is wrong with a gradient, or an empty text."""
    if not torch.equal(found.isnan(), wanted.isnan()):
        return f"required: NaN at {wanted.isnan().sum()} indices; found: at {found.isnan().sum()}"
    if not torch.equal(
        torch.where(found.isinf(), found, 0.0).nan_to_num(),
        torch.where(wanted.isinf(), wanted, 0.0).nan_to_num(),
    ):
        return "infinite elsewhere"
    found, wanted = found.nan_to_num(0, 0, 0), wanted.nan_to_num(0, 0, 0)
    apart = float((found - wanted).abs().max()) if found.numel() else 0.0
    size = max(1e-2, float(wanted.abs().max())) if wanted.numel() else 1.0
    return (
        f"required: within {CLOSE} of {size:.3g}; found: a difference of {apart:.3g}"
        if apart > CLOSE * size
        else ""
    )


def run(cases, reached=None, program_of=program_of):
    """The failures: (case, text). A group that is refused is run case by case."""
    try:
        gradients, text = program_of([case for case, _ in cases])
    except Exception as error:  # noqa: BLE001  the failure of these cases
        if len(cases) > 1:
            half = len(cases) // 2
            return run(cases[:half], reached, program_of) + run(cases[half:], reached, program_of)
        return [(cases[0][0], "refused: " + str(error).replace("\n", " ")[:300])]
    if reached is not None:
        reached.add(text)
    failures = []
    for (case, wanted), found in zip(cases, gradients):
        wrong = [text for text in map(differs, found, wanted) if text]
        if wrong:
            failures.append((case, wrong[0]))
    return failures


def cases_of(pairs, kinds):
    """Each sample at each kind of point, where eager PyTorch has a gradient."""
    found, without = [], []
    for name, number in pairs:
        for kind in kinds:
            try:
                case = Case(name, number, kind)
                wanted = case.gradients()
            except Exception:  # noqa: BLE001
                wanted = None  # Eager refuses these values.
            if wanted is None:
                without.append((name, number, kind))
            else:
                found.append((case, wanted))
    return found, without


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="")
    arguments.add_argument("--kinds", default=",".join(KINDS))
    arguments.add_argument("--sample", type=int, default=1, help="every nth sample")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    rows = table()
    missing, unknown = (
        set(_compiler.graph_operators()) - set(rows),
        set(rows) - set(_compiler.graph_operators()),
    )
    if missing or unknown:
        print(
            f"operators.txt: without a row: {sorted(missing)}; rows without an operator: {sorted(unknown)}"
        )
    pairs = sorted(
        {
            pair
            for overload, samples in rows.items()
            if isinstance(samples, list) and given.filter in overload
            for pair in samples
        }
    )[:: given.sample]
    cases, without = cases_of(pairs, given.kinds.split(","))
    failures, known = [], 0
    for at in range(0, len(cases), GROUP):
        for case, text in run(cases[at : at + GROUP]):
            if is_known(case):
                known += 1
                continue
            failures.append(case)
            print(f"{case.name} {case.kind}: {text}", flush=True)
    print(
        f"gradients: {len(cases) - len(failures)} passed, {len(failures)} failed ({known} known deviations, {len(without)} without a gradient)"
    )
    return 1 if failures or missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
