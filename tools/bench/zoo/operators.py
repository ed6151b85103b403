#!/usr/bin/env python3
"""Measures single operators with the shapes of networks: dlc against ONNX Runtime and OpenVINO, interleaved in one process.

    tools/bench/zoo/operators.py [--only conv] [--threads 2] [--rounds 9] [--results build/zoo/operators]
    tools/bench/zoo/operators.py --report [--below 1.0]

A slow operator slows down every network that contains it, and no sample of networks contains all operators. The rows are in operator_rows.py and operator_rows_movement.py. Each row runs
in its own process and writes a file to the folder of results. Rows with a file are not measured again, unless --again is given. Correct: within 1e-3 of the
largest element of ONNX Runtime's result. The ratio is the median over the rounds of the better peer's time to dlc's (above 1: dlc is faster), with its 95 %
interval.
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
import zoo
from operator_rows import iterate_rows


def write_operator_model(row, path):
    """Writes an ONNX model with the one operator of `row` (see operator_row.Row) to `path`. Returns random inputs by name, or those of the row."""
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
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in feeds.items()
    ]
    opsets = [helper.make_opsetid("", row.opset)] + (
        [helper.make_opsetid(row.domain, 1)] if row.domain else []
    )
    infos = [onnx.ValueInfoProto(name=name) for name in outputs]
    model = helper.make_model(
        helper.make_graph([node], "row", inputs, infos, weights), opset_imports=opsets, ir_version=9
    )
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), path)
    return feeds


def make_tool_runners(program, model, threads, feeds):
    """Returns two functions for each tool, one that runs the model once and one that returns its results, and the errors of peers that cannot run the row."""
    import worker

    found, without = {"dlc": worker.dlc(program, threads, feeds)}, {}
    for name in zoo.PEERS:
        try:
            run = getattr(worker, name)(model, threads, feeds)
            run[0]()
            found[name] = run
        except common.failures() as error:
            without[name] = str(error).strip()[-200:]
    return found, without


def measure(row, o):
    import numpy as np

    result = {
        "name": row.name,
        "batch": 0,
        "threads": o.threads,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    with tempfile.TemporaryDirectory(prefix="dlc-operators-") as folder:
        at = lambda name: os.path.join(folder, name)
        feeds = write_operator_model(row, at("model.onnx"))
        try:
            common.run_tool(
                "dlc",
                "compile",
                at("model.onnx"),
                "-o",
                at("model.dlcx"),
                "--threads",
                str(o.threads),
                "--cache",
                at("cache"),
            )
        except RuntimeError as error:
            return result | {"refused": str(error)[-500:]}
        found, result["without"] = make_tool_runners(
            at("model.dlcx"), at("model.onnx"), o.threads, feeds
        )
        found["dlc"][0]()
        reference = next((found[p] for p in zoo.PEERS if p in found), None)
        if reference:
            result["error"] = zoo.max_relative_difference(
                [np.asarray(y) for y in found["dlc"][1]()], [np.asarray(y) for y in reference[1]()]
            )
        result["tools"] = sweep.run_interleaved({name: run for name, (run, _) in found.items()}, o)
        zoo.compute_ratio(result)
        if result.get("ratio", 1) < 1:
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
            result["commands"] = [
                f"{c['implementation']} {c.get('us', 0):.0f} us"
                for c in about["commands"]
                if c.get("us", 0) >= 1
            ]
    return result


def line(r):
    text = zoo.line(r).replace("  b0  ", "  ")
    return text + ("  " + ", ".join(r["commands"])[:150] if "commands" in r else "")


def prepare(o):
    import onnx, onnxruntime, openvino, worker  # noqa: F401  imported once for all child processes

    os.environ["OMP_NUM_THREADS"] = str(o.threads)
    return {row.name: row for row in iterate_rows()}


if __name__ == "__main__":
    sweep.main(__doc__, "operators", prepare, measure, line, zoo.is_right)
