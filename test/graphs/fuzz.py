#!/usr/bin/env python3
"""Runs random ONNX graphs through the whole compiler and compares them with the reference evaluator and ONNX Runtime.

    fuzz.py --runner build/bin/dlc-graphs --out FOLDER [--style graphs|quantized|sixteen|extreme] [--from SEED] [--count N] [--jobs 2] [--resume]
    fuzz.py --runner build/bin/dlc-graphs --out FOLDER [--style ...] --reduce SEED

A seed determines a graph (generate.py; for the styles sixteen and extreme, chains.py). Outputs in which ONNX Runtime computes infinities or NaN are not compared; graphs that it cannot run are
compared with the reference evaluator only. A failing graph remains in the folder; --reduce removes nodes as long as the graph still fails in the same way (FOLDER/reduced/SEED). With
--resume, FOLDER/state.json stores the next seed, the number of seeds tried, and the failing seeds, which are tried again first. The last line is
`graphs: N passed, N failed`.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import chains
import exact_onnxruntime
import generate
import numpy as np
import onnx
from onnx import helper

AT_ONCE = 100  # graphs of a piece of work


def by_onnxruntime(model, inputs):
    """Every value of the graph by name, or nothing where it is not run, or not exactly."""
    if (
        any(exact_onnxruntime.sums_integers(node.op_type) for node in model.graph.node)
        and not exact_onnxruntime.sums_exactly()
    ):
        return {}
    import onnxruntime as ort

    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    except Exception:  # noqa: BLE001  ONNX Runtime does not support the model
        return {}


def write(folder, model, inputs, outputs, has_steps):
    os.makedirs(folder, exist_ok=True)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for i, value in enumerate(model.graph.input):
        np.save(os.path.join(folder, f"input_{i}.npy"), inputs[value.name])
    for i, value in enumerate(model.graph.output):
        if value.name in outputs:
            np.save(os.path.join(folder, f"output_{i}.npy"), outputs[value.name])
    if has_steps:
        open(os.path.join(folder, "steps"), "w").close()


def make_chain(seed, folder, style):
    """Writes the graph of a seed in that style, with what is compared of its outputs."""
    chain = chains.generate(seed, style)
    if not chain.nodes or not chain.outputs:
        return False
    write(folder, chain.model(), chain.arrays, {}, False)
    for name, array in chain.files.items():
        np.save(os.path.join(folder, name), array)
    with open(os.path.join(folder, "checks.json"), "w") as file:
        json.dump(chain.checks, file)
    return True


def make(seed, folder, style="graphs"):
    """Writes the graph of a seed; false where nothing of it can be told."""
    if style not in ("graphs", "quantized"):
        return make_chain(seed, folder, style)
    g = generate.generate(seed, style)
    made = [v for v in g.values if v.name.startswith("v")] + g.ends
    if not made:
        return False
    inputs = generate.example(g, seed)
    known = by_onnxruntime(g.model(made), inputs)
    if any(
        len(known[v.name].shape) != v.rank
        or any(d not in (None, found) for d, found in zip(v.shape, known[v.name].shape))
        for v in made
        if v.name in known
    ):
        known = {}  # ONNX Runtime does not follow the standard here (dilated pools with auto_pad)
    bad = {
        name
        for name, array in known.items()
        if array.dtype.kind == "f" and not (np.abs(array) < 1e6).all()
    }
    for node in g.nodes:
        if bad & generate.reads(node):
            bad.update(node.output)
    outputs = [v for v in generate.outputs_of(g) if v.name not in bad]
    if bad:
        # What was read by bad ones alone is an end now.
        keep = {
            name
            for node in g.nodes
            if not bad.intersection(node.output)
            for name in generate.reads(node)
        }
        outputs = [v for v in made if v.name not in bad and (v.name not in keep or v in outputs)]
    if not outputs:
        return False
    model = part(g.model(outputs), [v.name for v in outputs], {})
    write(folder, model, inputs, known, generate.has_steps(model))
    return True


def part(model, outputs, cut):
    """The model with these outputs; what is in `cut` (name: array) becomes an input."""
    types = {v.name: v for v in [*model.graph.input, *model.graph.output, *model.graph.value_info]}
    needed, nodes = set(outputs), []
    for node in reversed(model.graph.node):
        if any(name in needed and name not in cut for name in node.output):
            nodes.insert(0, node)
            needed.update(generate.reads(node))
    made = {name for node in nodes for name in node.output}
    inputs = [v for v in model.graph.input if v.name in needed]
    inputs += [types[name] for name in cut if name in needed - made - {v.name for v in inputs}]
    graph = helper.make_graph(
        nodes,
        "random",
        inputs,
        [types[name] for name in outputs],
        [i for i in model.graph.initializer if i.name in needed],
        value_info=[types[name] for name in sorted(made - set(outputs)) if name in types],
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def run(runner, folders):
    """{name: why it fails, or nothing}"""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(folders) + "\n")
        listing.flush()
        done = subprocess.run(
            [runner, "--list", listing.name], capture_output=True, text=True, errors="replace"
        )
    found = {}
    for line in done.stdout.splitlines():
        verdict = re.match(r"(PASS|FAIL) (\S+?)(: (.*))?$", line)
        if verdict:
            found[verdict.group(2)] = verdict.group(4) or ""
    return {
        os.path.basename(folder): found.get(
            os.path.basename(folder), "the runner ended before: " + done.stderr[-300:]
        )
        for folder in folders
    }


def kind_of(why):
    """What two failures have in common when they are the same."""
    return (
        "differ"
        if "differ" in why
        else re.sub(r"[0-9]+|'[^']*'|x[0-9x]+", "", why.split(": ", 1)[-1])[:60]
    )


def reduce(runner, seed, out):
    """The smallest part that was found to fail as the graph of the seed does, as (model, why)."""
    folder = os.path.join(out, str(seed))
    model = onnx.load(os.path.join(folder, "model.onnx"))
    inputs = {
        v.name: np.load(os.path.join(folder, f"input_{i}.npy"))
        for i, v in enumerate(model.graph.input)
    }
    why = run(runner, [folder])[str(seed)]
    if not why:
        return None, ""
    typed = {v.name for v in [*model.graph.value_info, *model.graph.output]}
    values = [name for node in model.graph.node for name in node.output if name in typed]
    known = {**inputs, **by_onnxruntime(part(model, values, {}), inputs)}

    def fails(outputs, cut):
        with tempfile.TemporaryDirectory() as scratch:
            at = os.path.join(scratch, str(seed))
            try:
                candidate = part(model, outputs, cut)
                write(
                    at,
                    candidate,
                    {**known, **cut},
                    known if "other framework" in why else {},
                    os.path.exists(os.path.join(folder, "steps")),
                )
            except Exception:  # noqa: BLE001  this part is not a valid model
                return None
            now = run(runner, [at])[str(seed)]
            return candidate if now and kind_of(now) == kind_of(why) else None

    best, outputs, cut = model, [o.name for o in model.graph.output], {}
    # One output, the earliest that fails; else as many as it takes.
    for name in values:
        if (smaller := fails([name], {})) is not None:
            best, outputs = smaller, [name]
            break
    for name in list(outputs):
        if (
            len(outputs) > 1
            and (smaller := fails([o for o in outputs if o != name], {})) is not None
        ):
            best, outputs = smaller, [o for o in outputs if o != name]
    # The latest values as inputs, where that leaves the failure.
    for name in reversed(values):
        if (
            name in known
            and name not in outputs
            and any(name in generate.reads(node) for node in best.graph.node)
        ):
            if (smaller := fails(outputs, {**cut, name: known[name]})) is not None:
                best, cut = smaller, {**cut, name: known[name]}
    at = os.path.join(out, "reduced", str(seed))
    shutil.rmtree(at, ignore_errors=True)
    write(
        at,
        best,
        {**known, **cut},
        known if "other framework" in why else {},
        os.path.exists(os.path.join(folder, "steps")),
    )
    return best, run(runner, [at])[str(seed)]


def piece(runner, out, seeds, style):
    """{seed: why its graph fails, or nothing}; graphs that pass leave nothing behind."""
    folders = []
    for seed in seeds:
        folder = os.path.join(out, str(seed))
        shutil.rmtree(folder, ignore_errors=True)
        if make(seed, folder, style):
            folders.append(folder)
    found = run(runner, folders)
    for folder in folders:
        if not found[os.path.basename(folder)]:
            shutil.rmtree(folder)
    return {int(name): why for name, why in found.items()}


class State:
    """What runs that go on know of those before them."""

    def __init__(self, path, start):
        self.path, self.next, self.tried, self.failed = path, start, 0, []
        if os.path.exists(path):
            self.__dict__.update(json.load(open(path)), path=path)

    def add(self, seeds, found):
        fresh = [seed for seed in seeds if seed >= self.next]
        self.tried += len(fresh)
        self.next = max([self.next, *(seed + 1 for seed in fresh)])
        self.failed = sorted(
            set(self.failed) - set(seeds) | {seed for seed, why in found.items() if why}
        )
        with open(self.path + ".new", "w") as file:
            json.dump({"next": self.next, "tried": self.tried, "failed": self.failed}, file)
        os.replace(self.path + ".new", self.path)


def main():
    warnings.filterwarnings("ignore")
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--runner", required=True)
    a.add_argument("--out", required=True)
    a.add_argument(
        "--style",
        choices=["graphs", "quantized", "sixteen", "extreme"],
        default="graphs",
        help="quantized: graphs of quantized operators; sixteen: chains in 16 bits with searches and comparisons; extreme: chains with constants of extreme size",
    )
    a.add_argument("--from", dest="start", type=int, default=0)
    a.add_argument("--count", type=int, default=2000)
    a.add_argument("--jobs", type=int, default=os.cpu_count())
    a.add_argument(
        "--resume", action="store_true", help="go on where the last such run in this folder ended"
    )
    a.add_argument("--reduce", type=int, help="a seed that fails")
    o = a.parse_args()
    os.makedirs(o.out, exist_ok=True)
    if o.reduce is not None:
        folder = os.path.join(o.out, str(o.reduce))
        # Chains are short.
        model, why = (
            reduce(o.runner, o.reduce, o.out)
            if o.style in ("graphs", "quantized")
            else (
                onnx.load(os.path.join(folder, "model.onnx")),
                run(o.runner, [folder])[str(o.reduce)],
            )
        )
        print(why or "does not fail")
        if model:
            print(onnx.printer.to_text(model))
        return
    state = State(os.path.join(o.out, "state.json"), o.start) if o.resume else None
    first = state.next if state else o.start
    pieces = [
        range(at, min(at + AT_ONCE, first + o.count))
        for at in range(first, first + o.count, AT_ONCE)
    ]
    if state and state.failed:
        pieces.insert(0, state.failed)
    passed, failed = 0, 0
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        for seeds, found in zip(
            pieces,
            pool.map(
                piece,
                [o.runner] * len(pieces),
                [o.out] * len(pieces),
                pieces,
                [o.style] * len(pieces),
            ),
        ):
            for seed, why in found.items():
                if why:
                    print(
                        f"FAIL {seed}: {why}\n  reduce it: {sys.executable} {os.path.abspath(__file__)} --runner {o.runner} --out {o.out} --style {o.style} --reduce {seed}",
                        flush=True,
                    )
            failed += sum(bool(why) for why in found.values())
            passed += sum(not why for why in found.values())
            if state:
                state.add(seeds, found)
    print(
        f"graphs: {passed} passed, {failed} failed"
        + (f"; {state.tried} tried so far" if state else "")
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
