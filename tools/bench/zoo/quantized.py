#!/usr/bin/env python3
"""Measures quantized networks of the zoo: dlc against ONNX Runtime, OpenVINO and dlc's own program of the same network in f32, interleaved.

    tools/bench/zoo/quantized.py --prepare [--sample 24] [--kinds dynamic,qdq,dlc,operators] [--models build/zoo/quantized-models]
    tools/bench/zoo/quantized.py [--sample 24] [--networks torchvision-resnet34,...] [--threads 2] [--results build/zoo/quantized]
    tools/bench/zoo/quantized.py --report [--json FILE] [--results build/zoo/quantized]
    tools/bench/zoo/quantized.py --file model.onnx         # a model that is already quantized

Networks are selected with a seed, and each is quantized in one way, in turn: ONNX Runtime's quantize_dynamic, its quantize_static with per-channel scales
(qdq, and operators: QOperator), `dlc quantize`; --networks measures the named networks in all ways. --prepare writes the files and compiles the programs; a
measurement does the same for files that are missing or older than dlc. Writes one file per network and way to the folder of results; those with a file are
not measured again, unless --again is given.
Correct: within 1e-3 of the largest element of ONNX Runtime's result, over --inputs inputs. If rounding errors are amplified, one of the following suffices:
within twice the difference of ONNX Runtime from itself when its inputs change by 1e-6 or it runs without optimizations (integer inputs cannot change
slightly); the argmax is equal in as many rows; or the error relative to the f32 network is at most 1.25 times ONNX Runtime's, and the difference from ONNX
Runtime is not larger than that error. The ratio is the median over the rounds of the better peer's time to dlc's (above 1: dlc is faster), with its 95 %
interval; and the same for dlc's f32 program. If dlc is slower, the commands that are farthest from the machine's limits are listed.
"""

import argparse
import itertools
import json
import math
import os
import random
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

KINDS = ["dynamic", "qdq", "dlc", "operators"]
SAMPLES, CHANGE = 3, 1e-6


def make_calibration_inputs(path):
    """Returns a few calibration inputs, generated like those of other networks of the zoo."""
    import onnx
    import weightless

    model = onnx.load(path, load_external_data=False)
    return [weightless.random_inputs(model, seed) for seed in range(SAMPLES)]


def quantize_with_onnxruntime(f32, path, kind):
    """Quantizes the f32 model with ONNX Runtime, after its basic optimizations, which its own preprocessing also applies."""
    import onnx
    import onnxruntime
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_dynamic,
        quantize_static,
    )

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(make_calibration_inputs(f32))

        def get_next(self):
            return next(self.rest, None)

    simple = path + ".simple"
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = (
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
        3,
    )
    options.optimized_model_filepath = simple
    try:
        onnxruntime.InferenceSession(f32, options, providers=["CPUExecutionProvider"])
        model = onnx.load(simple)
        del model.graph.value_info[:]
        onnx.save(onnx.shape_inference.infer_shapes(model), simple)
        if kind == "dynamic":
            quantize_dynamic(simple, path, weight_type=QuantType.QInt8)
        else:
            quantize_static(
                simple,
                path,
                Reader(),
                quant_format=QuantFormat.QDQ if kind == "qdq" else QuantFormat.QOperator,
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                calibrate_method=CalibrationMethod.MinMax,
            )
    finally:
        if os.path.exists(simple):
            os.remove(simple)


def quantize_with_dlc(f32, path):
    import numpy as np

    samples = make_calibration_inputs(f32)
    with tempfile.TemporaryDirectory(prefix="dlc-quantized-") as folder:
        data = os.path.join(folder, "data.npz")
        np.savez(
            data,
            **{name: np.concatenate([sample[name] for sample in samples]) for name in samples[0]},
        )
        common.run_tool("dlc", "quantize", f32, "--data", data, "-o", path)


def write_model(kind, model, path, f32):
    """Writes the network as a file: the f32 model from the zoo, or a quantized model from the f32 file."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = path.removesuffix(".onnx") + ".part.onnx"
    if kind == "f32":
        import onnx
        import weightless

        read = weightless.read(drawn.graph_path(model, 1))
        del read.graph.value_info[:]
        onnx.save(read, part)
    elif kind == "dlc":
        quantize_with_dlc(f32, part)
    else:
        quantize_with_onnxruntime(f32, part, kind)
    os.rename(part, path)


def compile_program(path, o):
    """Returns the path of the compiled program next to the model. Compiles it again if it is older than the model or dlc."""
    program = f"{path.removesuffix('.onnx')}-t{o.threads}.dlcx"
    if not os.path.exists(program) or os.path.getmtime(program) < max(
        os.path.getmtime(path), os.path.getmtime(common.DLC)
    ):
        common.compile_program(path, program, o.threads, os.path.join(o.models, "cache"))
    return program


def prepare_models(name, kind, o):
    """Returns the quantized model, its program, the program of the f32 model, and the model that describes the inputs.
    The program of the f32 model is None if the file was already quantized."""
    if kind == "file":
        return name, compile_program(name, o), None, name
    at = lambda which: os.path.join(o.models, f"{name}-{which}.onnx")
    write_model("f32", name, at("f32"), None)
    write_model(kind, name, at(kind), at("f32"))
    return at(kind), compile_program(at(kind), o), compile_program(at("f32"), o), at("f32")


def count_equal_argmax(found, wanted):
    """Returns, over all float outputs, the number of rows along the last dimension with equal argmax, and the number of all rows."""
    import numpy as np

    pairs = [
        (f.reshape(-1, f.shape[-1]).argmax(1), w.reshape(-1, w.shape[-1]).argmax(1))
        for f, w in zip(found, wanted)
        if w.dtype.kind == "f" and w.ndim and w.shape[-1] > 1 and f.shape == w.shape
    ]
    return sum(int(np.sum(f == w)) for f, w in pairs), sum(w.size for _, w in pairs)


def check(o):
    """Measures the difference of dlc's results from ONNX Runtime's over several inputs, in another process.
    Also measures the difference of ONNX Runtime from itself if the inputs change slightly or without optimizations."""
    import numpy as np
    import onnx
    import weightless
    import worker

    model, program, like = o.check
    read = onnx.load(like, load_external_data=False)
    inputs = weightless.random_inputs(read, 100)
    given = {name: value.copy() for name, value in inputs.items()}
    run, results = worker.dlc(program, o.threads, given)
    peer, plain = (
        worker.onnxruntime(model, o.threads, given)[0],
        worker.onnxruntime(model, o.threads, given, optimised=False)[0],
    )
    exact = worker.onnxruntime(like, o.threads, given)[0]
    made = {
        "error": 0.0,
        "spread": 0.0,
        "loss": 0.0,
        "peer_loss": 0.0,
        "rows": 0,
        "same": 0,
        "same_spread": 0,
    }
    rng = np.random.default_rng(7)
    for seed in range(100, 100 + o.inputs):
        for name, value in weightless.random_inputs(read, seed).items():
            given[name][...] = value
        run()
        found, wanted, others, unquantized = (
            [each.copy() for each in results()],
            peer(),
            [plain()],
            exact(),
        )
        made["loss"], made["peer_loss"] = (
            max(made["loss"], zoo.max_relative_difference(found, unquantized)),
            max(made["peer_loss"], zoo.max_relative_difference(wanted, unquantized)),
        )
        for value in given.values():
            if value.dtype.kind == "f":
                value *= (1 + CHANGE * rng.choice([-1, 1], value.shape)).astype(value.dtype)
        others.append(peer())
        made["error"], made["spread"] = (
            max(made["error"], zoo.max_relative_difference(found, wanted)),
            max(made["spread"], *(zoo.max_relative_difference(each, wanted) for each in others)),
        )
        same, rows = count_equal_argmax(found, wanted)
        made["same"], made["rows"] = made["same"] + same, made["rows"] + rows
        made["same_spread"] += min(count_equal_argmax(each, wanted)[0] for each in others)
    print(json.dumps(made))


def measure(name, kind, o):
    import numpy as np
    import onnx
    import weightless

    result = {
        "name": os.path.basename(name),
        "kind": kind,
        "batch": 1,
        "threads": o.threads,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    try:
        model, program, f32, like = prepare_models(name, kind, o)
    except common.failures() as error:
        result["refused"] = f"{type(error).__name__}: {str(error).strip()[-500:]}"
        return result
    if o.prepare:
        return None
    done = subprocess.run(
        [
            sys.executable,
            os.path.abspath(__file__),
            "--check",
            model,
            program,
            like,
            "--threads",
            str(o.threads),
            "--inputs",
            str(o.inputs),
        ],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        result.update(json.loads(done.stdout.splitlines()[-1]))
    else:
        result["unchecked"] = done.stderr.strip()[-300:]
    workers = []
    with tempfile.TemporaryDirectory(prefix="dlc-quantized-") as folder:
        inputs = os.path.join(folder, "inputs.npz")
        np.savez(inputs, **weightless.random_inputs(onnx.load(like, load_external_data=False)))
        try:
            for tool, file in [
                ("dlc", program),
                *([("dlc-f32", f32)] if f32 else []),
                *((peer, model) for peer in zoo.PEERS),
            ]:
                command = [
                    sys.executable,
                    os.path.join(os.path.dirname(HERE), "worker.py"),
                    tool,
                    file,
                    str(o.threads),
                    inputs,
                ]
                workers.append(common.Worker(tool, command, o.threads))
            for _ in range(o.rounds):
                for each in workers:
                    if not each.error:
                        each.round(o.seconds)
        finally:
            for each in workers:
                each.close()
    for each in workers:
        found = (
            {
                "rounds_ms": [t * 1e3 for t in each.rounds],
                "median_ms": statistics.median(each.times) * 1e3,
            }
            if each.rounds
            else {"error": (each.error or "")[-300:]}
        )
        if each.tool == "dlc-f32":
            result["f32"] = found
        else:
            result["tools"][each.tool] = found
    if "error" in result["tools"]["dlc"]:
        result["refused"] = "run: " + result["tools"]["dlc"]["error"]
        return result
    zoo.compute_ratio(result)
    if "median_ms" in result.get("f32", {}):
        result["f32_ratio"] = common.median_interval(
            [p / d for p, d in zip(result["f32"]["rounds_ms"], result["tools"]["dlc"]["rounds_ms"])]
        )
    if result.get("ratio", 1) < 1 or result.get("f32_ratio", [1])[0] < 1:
        result["blame"] = zoo.find_slowest_commands(program, o.threads)
    return result


def is_right(r):
    # A missing error counts as infinite, so that the result is not correct.
    error = r.get("error", math.inf)
    near = (
        error <= max(1e-3, 2 * r.get("spread", 0))
        or 0 < r.get("rows", 0)
        and r["same"] >= r["same_spread"]
    )
    return (
        near
        or r.get("loss", math.inf) <= 1.25 * r.get("peer_loss", 0)
        and error <= r["peer_loss"] < math.inf
    )


def line(r):
    head = f"{r['name']:36} {r['kind']:9}"
    if "refused" in r:
        return f"{head}  refused: {r['refused'][-150:]}"
    text = f"{head} {r['tools']['dlc']['median_ms']:9.2f} ms"
    text += (
        f"  {r['ratio']:5.2f} [{r['interval'][0]:.2f}, {r['interval'][1]:.2f}] of {r['best']:11}"
        if "ratio" in r
        else "  no peer runs it" + " " * 16
    )
    text += f"  {r['f32_ratio'][0]:5.2f} of f32" if "f32_ratio" in r else ""
    if "error" in r:
        text += f"  off {r['error']:.1e}, ONNX Runtime {r['spread']:.1e}; same {r['same']}, {r['same_spread']} of {r['rows']}"
    return text + (
        ""
        if is_right(r)
        else "  WRONG"
        if "error" in r
        else f"  unchecked: {r.get('unchecked', '')[-100:]}"
    )


def report(o):
    results = zoo.read_results(o.results)
    refused, timed = (
        [r for r in results if "refused" in r],
        sorted((r for r in results if "ratio" in r), key=lambda r: r["ratio"]),
    )
    print(
        f"{len(results)} quantized networks, {len(refused)} refused, {sum(not is_right(r) for r in results if 'refused' not in r)} wrong or unchecked"
    )
    for kind in [None, *KINDS, "file"]:
        some = [r for r in timed if kind in (None, r["kind"])]
        if some:
            print(f"{kind or 'all'}, {len(some)}:")
            zoo.print_distribution(some, parts_of=())
            ratios = [r["f32_ratio"][0] for r in some if "f32_ratio" in r]
            if ratios:
                print(
                    f"  ratio to dlc in f32: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}"
                )
    for r in refused:
        print("  " + line(r))
    for r in timed:
        print("  " + line(r))
        zoo.print_slowest_commands(r, o.blame)
    if o.json:
        with open(o.json, "w") as file:
            json.dump(
                {
                    "machine": common.cpu_name(),
                    "when": max(r["when"] for r in timed),
                    "command": "tools/bench/zoo/quantized.py",
                    "measurements": [to_table_format(r) for r in timed],
                },
                file,
                indent=1,
            )


def to_table_format(r):
    """Returns a network's result in the format of tools/bench/tables.py."""
    return {
        **{key: r[key] for key in ("name", "threads", "best", "ratio", "interval")},
        "quantized": r["kind"],
        "right": is_right(r),
        "f32_ratio": r["f32_ratio"][0],
        "ms": {
            tool: about["median_ms"]
            for tool, about in {**r["tools"], "f32": r["f32"]}.items()
            if "median_ms" in about
        },
    }


def select_networks(o):
    """Returns the selected (name, kind) pairs in the order of measurement."""
    kinds = o.kinds.split(",")
    if o.file:
        return [(os.path.abspath(o.file), "file")]
    if o.networks:
        return list(itertools.product(o.networks.split(","), kinds))
    names = sorted(name for name, batch in drawn.list_graphs() if batch == 1)
    random.Random(o.seed).shuffle(names)
    return list(zip(names, itertools.cycle(kinds)))[: o.sample]


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--networks",
        default="",
        help="names of networks to measure in all quantization schemes, instead of a sample",
    )
    a.add_argument("--kinds", default=",".join(KINDS))
    a.add_argument("--file", help="quantized .onnx file to measure")
    a.add_argument(
        "--sample",
        type=int,
        default=24,
        help="number of networks to sample; the sample is the same in each run",
    )
    a.add_argument("--seed", type=int, default=11)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.15,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument(
        "--inputs", type=int, default=8, help="number of inputs whose results are compared"
    )
    a.add_argument("--models", default=os.path.join(common.BUILD, "zoo", "quantized-models"))
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", "quantized"))
    a.add_argument(
        "--prepare", action="store_true", help="write model files and programs and measure nothing"
    )
    a.add_argument(
        "--again", action="store_true", help="measure again what has been measured before"
    )
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument("--json", help="with --report: file to write for tools/bench/tables.py")
    a.add_argument(
        "--blame",
        type=int,
        default=3,
        help="number of commands to print for each network that is slower than with another tool",
    )
    a.add_argument("--check", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.check:
        return check(o)
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o)
    for name, kind in select_networks(o):
        path = os.path.join(o.results, f"{os.path.basename(name)}-{kind}-t{o.threads}.json")
        if os.path.exists(path) and not o.again:
            continue
        result = measure(name, kind, o)
        if result:
            zoo.write_result(path, result)
            print(line(result), flush=True)


if __name__ == "__main__":
    main()
