"""Runs PyTorch's own samples of the overloads that dlc supports (torch.testing's OpInfo database) and prints, for each element type, how many pairs of
overload and type pass all their samples. With --gradients, prints how many operators have the same gradients as in PyTorch, through aot_autograd, and which
parts of their graphs remain in PyTorch. Needs PyTorch.

usage: opinfo.py [--gradients] [--filter TEXT] [--types f32,i64] [--samples N] [--failures]
"""

import argparse
import collections
import itertools
import json
import logging
import operator
import sys
import types
import unittest
import warnings

# PyTorch's test helpers derive from a package of which the samples need nothing.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))

import torch
from functorch.compile import aot_function, make_boxed_func
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten

from dlc import _compiler
from dlc._torch import backend, backend_options, fx_graph, graph_report, graph_split

TYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "bool": torch.bool,
    "bf16": torch.bfloat16,
}
TOLERANCE = {torch.float32: (1e-4, 1e-4), torch.float64: (1e-7, 1e-7), torch.bfloat16: (3e-2, 3e-2)}
# Their results are what happened to be in memory, or come from a generator.
WITHOUT_VALUE = ("empty", "rand", "bernoulli", "dropout", "normal", "uniform", "multinomial")

STATES = {"whole": "whole in dlc", "rest": "with a rest in PyTorch", "wrong": "wrong"}

# Which PyTorch's samples of random operators set for themselves, where they are not compiled.
SEED = 42


def samples_of(op, dtype, count):
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        yield sample
        count -= 1
        if not count:
            return


def trace(op, sample):
    """The sample's call as a graph of core ATen on its tensors."""
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def call(*given):
        replaced = iter(given)
        input, args, kwargs = torch.utils._pytree.tree_unflatten(
            [next(replaced) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec
        )
        return [
            leaf
            for leaf in tree_flatten(op(input, *args, **kwargs))[0]
            if isinstance(leaf, torch.Tensor)
        ]

    functional = torch.func.functionalize(call, remove="mutations_and_views")
    return (
        make_fx(
            functional, tracing_mode="fake", decomposition_table=dict(fx_graph.decompositions())
        )(*tensors),
        tensors,
        call,
    )


def overloads_of(module):
    names = set()
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            try:
                names.add(fx_graph.name_of(node))
            except fx_graph.UnsupportedError:
                names.add(str(node.target))
    return names


def compare(found, wanted):
    for got, want in zip(found, wanted, strict=True):
        rtol, atol = TOLERANCE.get(want.dtype, (0, 0))
        torch.testing.assert_close(got, want, rtol=rtol, atol=atol, equal_nan=True)


def differentiable(values):
    return [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]


def examine_gradients(op, sample):
    """A sample there and back through aot_autograd, against PyTorch: what stayed in PyTorch, by overload, and None or what went wrong; nothing for a
    sample that is not differentiable."""
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    leaves = [
        leaf.detach().clone().requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.Tensor)
        else leaf
        for leaf in leaves
    ]
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def call(*given):
        replaced = iter(given)
        input, args, kwargs = torch.utils._pytree.tree_unflatten(
            [next(replaced) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec
        )
        result = op(input, *args, **kwargs)
        if sample.output_process_fn_grad is not None:
            result = sample.output_process_fn_grad(result)
        return [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, torch.Tensor)]

    def gradients(results):
        torch.manual_seed(0)
        results = differentiable(results)
        return torch.autograd.grad(
            results,
            differentiable(tensors),
            [torch.randn_like(result) for result in results],
            allow_unused=True,
        )

    torch.manual_seed(SEED)
    wanted = call(*tensors)
    if (
        not differentiable(wanted)
        or not differentiable(tensors)
        or any(result.is_complex() for result in wanted)
    ):
        return None
    expected = gradients(wanted)
    reports = []

    def compiler(module, inputs):
        reports.append(graph_report.begin_graph_report("test"))
        return make_boxed_func(
            graph_split.split_graph(module, backend_options.Options(threads=1), reports[-1]).forward
        )

    run = aot_function(
        call,
        fw_compiler=compiler,
        bw_compiler=compiler,
        partition_fn=backend._partition_joint_graph,
        decompositions=fx_graph.decompositions(),
    )
    try:
        torch.manual_seed(SEED)
        found = run(*tensors)
        compare([each.detach() for each in found], [each.detach() for each in wanted])
        for got, want in zip(gradients(found), expected, strict=True):
            assert (got is None) == (want is None), "a gradient is missing"
            if got is not None:
                compare([got], [want])
        failure = None
    except Exception as error:  # noqa: BLE001
        if not reports:  # what cannot be traced is no graph that dlc would get
            return None
        failure = str(error).strip().replace("\n", " ")[:300]
    return {
        f"{each.overload}: {each.reason[:120]}" for report in reports for each in report.eager
    }, failure


def check_gradients(ops, kinds, count):
    """Prints of each type how many operators go both ways whole in dlc, how many with a rest in PyTorch, and which are wrong."""
    left, bad = collections.defaultdict(set), 0
    for kind in kinds:
        states = collections.Counter()
        for op in ops:
            if not op.supports_autograd or TYPES[kind] not in op.supported_backward_dtypes("cpu"):
                continue
            try:
                drawn = itertools.islice(
                    op.sample_inputs("cpu", TYPES[kind], requires_grad=True), count or None
                )
                found = [
                    each for each in (examine_gradients(op, sample) for sample in drawn) if each
                ]
            except Exception:  # noqa: BLE001  samples that this build of PyTorch cannot make or differentiate
                continue
            if not found:
                continue
            failures = [failure for _, failure in found if failure]
            rest = set().union(*(eager for eager, _ in found))
            for each in rest:
                left[each].add(op.name)
            states["wrong" if failures else "rest" if rest else "whole"] += 1
            if failures:
                bad += 1
                print(f"FAILED {kind} {op.name}: {failures[0]}", flush=True)
        total = max(1, sum(states.values()))
        shares = ", ".join(
            f"{states[state]} {text} ({100 * states[state] / total:.1f} %)"
            for state, text in STATES.items()
        )
        print(f"{kind:5} of {sum(states.values())} operators there and back: {shares}", flush=True)
    for reason, names in sorted(left.items(), key=lambda pair: -len(pair[1])):
        print(f"in PyTorch, of {len(names):3} operators ({', '.join(sorted(names)[:3])}): {reason}")
    return bad


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="")
    arguments.add_argument("--types", help="all where it is left out; f32 and f64 for gradients")
    arguments.add_argument("--gradients", action="store_true", help="forward and backward")
    arguments.add_argument("--samples", type=int, default=3, help="of each operator; 0: all")
    arguments.add_argument("--failures", action="store_true", help="print each")
    arguments.add_argument("--part", default="0/1", help="I/N: every Nth operator from the Ith on")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("dlc").setLevel(logging.ERROR)
    covered = set(_compiler.graph_operators())
    part, parts = map(int, given.part.split("/"))
    ops = [
        op
        for op in op_db
        if given.filter in op.name and not any(word in op.name for word in WITHOUT_VALUE)
    ][part::parts]
    kinds = (given.types or ("f32,f64" if given.gradients else ",".join(TYPES))).split(",")
    if given.gradients:
        return 1 if check_gradients(ops, kinds, given.samples) else 0
    # (overload, type) -> what failed; None where all passed.
    pairs, reasons = {}, collections.Counter()
    for op in ops:
        for name in kinds:
            dtype = TYPES[name]
            if dtype not in op.dtypes:
                continue
            try:
                drawn = list(samples_of(op, dtype, given.samples))
            except Exception:  # noqa: BLE001  samples that this build of PyTorch cannot make
                continue
            for sample in drawn:
                try:
                    module, tensors, call = trace(op, sample)
                    wanted = call(*tensors)
                except Exception:  # noqa: BLE001  what cannot be traced is no graph that dlc would get
                    continue
                names = overloads_of(module)
                if not names or not names <= covered:
                    continue
                try:
                    with torch.no_grad():
                        made = graph_split.split_graph(
                            module,
                            backend_options.Options(strict=True, threads=1),
                            graph_report.begin_graph_report("test"),
                        )
                        compare(made(*tensors), wanted)
                    failure = None
                except Exception as error:  # noqa: BLE001
                    failure = str(error).strip().replace("\n", " ")[:300]
                for overload in names:
                    # A graph of one overload tells of that one; of more, all of them are under suspicion only if nothing else says so.
                    if failure is None:
                        pairs.setdefault((overload, name), None)
                    elif len(names) == 1:
                        pairs[overload, name] = f"{op.name}: {failure}"
                if failure is not None and len(names) > 1:
                    reasons[f"{name} {op.name} ({', '.join(sorted(names))}): {failure}"] += 1
    failed = {pair: reason for pair, reason in pairs.items() if reason}
    if given.failures:
        for (overload, name), reason in sorted(failed.items()):
            print(f"FAILED {overload} {name}: {reason}")
        for reason in sorted(reasons):
            print(f"FAILED {reason}")
    for name in kinds:
        of = [reason for (_, kind), reason in pairs.items() if kind == name]
        good = sum(reason is None for reason in of)
        print(
            f"{name:5} {good:4} of {len(of):4} overloads pass all their samples ({100 * good / max(1, len(of)):.1f} %)"
        )
    print(
        json.dumps(
            {
                "pairs": len(pairs),
                "failed": len(failed),
                "graphs of several overloads that failed": len(reasons),
            }
        )
    )
    return 1 if failed or reasons else 0


if __name__ == "__main__":
    sys.exit(main())
