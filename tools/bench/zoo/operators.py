#!/usr/bin/env python3
"""Measures operators by themselves, with shapes as networks have them: dlc against ONNX Runtime and OpenVINO, interleaved in one process.

    tools/bench/zoo/operators.py [--only conv] [--threads 2] [--rounds 9] [--results build/zoo/operators]
    tools/bench/zoo/operators.py --report [--below 1.0]

A cliff in one operator is a cliff in every network that has it, and no sample of networks has all of them. The rows stand in operator_rows.py. Each row runs in a
process of its own and leaves a file in the folder of results; what has one is not measured again (--again does). Right: within 1e-3 of the largest element of ONNX
Runtime's result. The ratio is the median over the rounds of the better peer's time to dlc's (above 1: dlc is faster), with the interval that holds it at 95 %.
"""
import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import common
import zoo
from operator_rows import rows

PAUSE = 0.02  # seconds; a pool's threads spin for a while after its work


def model_of(row, path):
    """Writes the row as an ONNX file; gives the inputs by name."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    rng = np.random.default_rng(0)
    feeds, weights, names = {}, [], []
    for i, operand in enumerate(row.operands):
        name = f"x{i}" if operand is not None else ""
        names.append(name)
        if operand is None:
            continue
        value = operand.value(rng)
        if operand.constant:
            weights.append(numpy_helper.from_array(value, name))
        else:
            feeds[name] = value
    outputs = [f"y{i}" for i in range(row.outputs)]
    node = helper.make_node(row.op, names, outputs, domain=row.domain, **row.attributes)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in feeds.items()]
    opsets = [helper.make_opsetid("", row.opset)] + ([helper.make_opsetid(row.domain, 1)] if row.domain else [])
    infos = [onnx.ValueInfoProto(name=name) for name in outputs]
    model = helper.make_model(helper.make_graph([node], "row", inputs, infos, weights), opset_imports=opsets, ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), path)
    return feeds


def tools(program, model, threads, feeds):
    """By name: what runs the tool once, and what gives its results; why a peer does not."""
    import worker
    found, without = {"dlc": worker.dlc(program, threads, feeds)}, {}
    for name in zoo.PEERS:
        try:
            run = getattr(worker, name)(model, threads, feeds)
            run[0]()
            found[name] = run
        except Exception as error:
            without[name] = str(error).strip()[-200:]
    return found, without


def seconds_of(run, seconds):
    """The median of so many seconds of runs."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(row, o):
    import numpy as np
    result = {"name": row.name, "batch": 0, "threads": o.threads, "machine": common.cpu_name(), "when": time.strftime("%Y-%m-%d"), "tools": {}}
    with tempfile.TemporaryDirectory(prefix="dlc-operators-") as folder:
        at = lambda name: os.path.join(folder, name)
        feeds = model_of(row, at("model.onnx"))
        try:
            common.tool("dlc", "compile", at("model.onnx"), "-o", at("model.dlcx"), "--threads", str(o.threads), "--cache", at("cache"))
        except RuntimeError as error:
            return result | {"refused": str(error)[-500:]}
        found, result["without"] = tools(at("model.dlcx"), at("model.onnx"), o.threads, feeds)
        found["dlc"][0]()
        reference = next((found[p] for p in zoo.PEERS if p in found), None)
        if reference:
            result["error"] = zoo.differences([np.asarray(y) for y in found["dlc"][1]()], [np.asarray(y) for y in reference[1]()])
        rounds = {name: [] for name in found}
        for _ in range(o.rounds):
            for name, (run, _) in found.items():
                time.sleep(PAUSE)
                run()
                rounds[name].append(seconds_of(run, o.seconds))
        for name, times in rounds.items():
            result["tools"][name] = {"rounds_ms": [t * 1e3 for t in times], "median_ms": statistics.median(times) * 1e3}
        zoo.rate(result)
        if result.get("ratio", 1) < 1:
            about = json.loads(common.tool("dlc", "inspect", at("model.dlcx"), "--repeat", "7", "--threads", str(o.threads), "--json"))
            result["commands"] = [f"{c['implementation']} {c.get('us', 0):.0f} us" for c in about["commands"] if c.get("us", 0) >= 1]
    return result


def in_a_child(path, row, o):
    """A crash is the row's result, and no library sees another row's threads."""
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            zoo.write(path, {"name": row.name, "batch": 0, "threads": o.threads, "when": time.strftime("%Y-%m-%d"), "tools": {}, "refused": f"signal {os.WTERMSIG(status)}"})
        return
    status = 1
    try:
        zoo.write(path, measure(row, o))
        status = 0
    except Exception as error:  # of the measurement: not the row's result
        print(f"{row.name}: {type(error).__name__}: {error}", flush=True)
    os._exit(status)


def line(r):
    text = zoo.line(r).replace("  b0  ", "  ")
    return text + ("  " + ", ".join(r["commands"])[:150] if "commands" in r else "")


def report(o):
    results = [r for r in zoo.results_in(o.results) if r["threads"] == o.threads]
    refused, timed = [r for r in results if "refused" in r], sorted((r for r in results if "ratio" in r), key=lambda r: r["ratio"])
    print(f"{len(results)} rows, {len(refused)} refused, {sum(not zoo.is_right(r) for r in timed)} differ, {len(results) - len(refused) - len(timed)} that no peer runs")
    for r in refused:
        print("  " + line(r))
    if timed:
        ratios = [r["ratio"] for r in timed]
        print(f"  ratio to the better peer: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, median {statistics.median(ratios):.2f}, "
              f"least {ratios[0]:.2f}; at least 1.0: {sum(x >= 1 for x in ratios)}, at least 0.5: {sum(x >= 0.5 for x in ratios)} of {len(ratios)}")
    for r in timed:
        if r["ratio"] < o.below or not zoo.is_right(r):
            print("  " + line(r))


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--only", default="", help="rows whose names begin so, separated by commas")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument("--seconds", type=float, default=0.03, help="of each tool in each round")
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", "operators"))
    a.add_argument("--again", action="store_true", help="measure what has been measured")
    a.add_argument("--report", action="store_true", help="print what is known, and measure nothing")
    a.add_argument("--below", type=float, default=1.0, help="with --report: the rows below this ratio")
    o = a.parse_args()
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o)
    import onnx, onnxruntime, openvino, worker  # noqa: E401, F401: once for all children
    os.environ["OMP_NUM_THREADS"] = str(o.threads)
    for row in rows():
        path = os.path.join(o.results, f"{row.name.replace('/', '_')}-t{o.threads}.json")
        if not row.name.startswith(tuple(o.only.split(","))) or (os.path.exists(path) and not o.again):
            continue
        in_a_child(path, row, o)
        if os.path.exists(path):
            with open(path) as file:
                print(line(json.load(file)), flush=True)


if __name__ == "__main__":
    main()
