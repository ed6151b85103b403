#!/usr/bin/env python3
"""Measures the time to the first result and the memory for it on networks of the zoo: dlc against ONNX Runtime and OpenVINO, interleaved, without caches.

    tools/bench/zoo/first.py [--networks timm-csatv2,...] [--sample 60] [--results build/zoo/NAME]
    DLC_BUILD=$PWD/build/release/unpacked/dlc-0.1.0-linux-x86_64 tools/bench/zoo/first.py --results build/zoo/NAME     # the program as released
    tools/bench/zoo/first.py --report [--json FILE] [--results build/zoo/NAME]

dlc's time is that of the whole process `dlc run model.onnx`. The peers' time starts when their libraries are loaded, and consists of reading
the file, creating a session and running it once. Each run is in a new process, interleaved; the medians of --rounds count. Memory is the peak of dlc's
process above that of a process with an empty program; for the peers, above that before the file is read. The development build takes longer to start than
the program of tools/release --unpacked, which is linked statically. Writes one file per network to the folder of results.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
]
import common
import drawn
import zoo


def run_once(o, model, cache):
    """Runs `dlc run` on the model. Returns the wall time in seconds, and the peak memory of the process in MiB."""
    start = time.perf_counter()
    done = subprocess.run(
        [common.DLC, "run", model, "--threads", str(o.threads), "--cache", cache, "--json"],
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return seconds, json.loads(done.stdout)["peak_mib"]


def measure_peer(tool, o, model, inputs):
    each = common.Worker(
        tool,
        [
            sys.executable,
            os.path.join(os.path.dirname(zoo.HERE), "worker.py"),
            tool,
            model,
            str(o.threads),
            inputs,
        ],
        o.threads,
    )
    try:
        if not each.error:
            each.round(0)
        return None if each.error else (each.about["ready_s"], each.peak - each.about["before_mib"])
    finally:
        each.close()


def measure(name, batch, o):
    import numpy as np
    import onnx
    import weightless

    result = {
        "name": name,
        "batch": batch,
        "threads": o.threads,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    folder = tempfile.mkdtemp(prefix="dlc-first-")
    at = lambda *parts: os.path.join(folder, *parts)
    try:
        model = weightless.read(drawn.graph_path(name, batch))
        onnx.save(model, at("model.onnx"))
        np.savez(at("inputs.npz"), **weightless.random_inputs(model))
        del model
        found = {tool: [] for tool in ["dlc", *zoo.PEERS]}
        for i in range(o.rounds):
            seconds, peak = run_once(o, at("model.onnx"), at(f"cache{i}"))
            found["dlc"].append((seconds, peak - o.empty))
            for tool in zoo.PEERS:
                one = measure_peer(tool, o, at("model.onnx"), at("inputs.npz"))
                found[tool] += [one] if one else []
        for tool, each in found.items():
            if each:
                result["tools"][tool] = {
                    "rounds_s": [s for s, _ in each],
                    "ready_s": statistics.median(s for s, _ in each),
                    "memory_mib": statistics.median(m for _, m in each),
                }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def ratios_to_peer(r):
    """Returns dlc's time and memory relative to those of the better peer."""
    return tuple(zoo.ratio_to_best_peer(r, key) for key in ("ready_s", "memory_mib"))


def line(r):
    if len(r["tools"]) == 1:
        return f"{r['name']}: no peer runs it"
    time_part, memory_part = ratios_to_peer(r)
    each = ", ".join(
        f"{tool} {about['ready_s'] * 1e3:.0f} ms {about['memory_mib']:.0f} MiB"
        for tool, about in r["tools"].items()
    )
    return (
        f"{r['name']:44} b{r['batch']}  time {time_part:5.2f}  memory {memory_part:5.2f}   {each}"
    )


def report(o):
    timed = sorted(
        (r for r in zoo.read_results(o.results) if len(r["tools"]) > 1),
        key=ratios_to_peer,
        reverse=True,
    )
    for r in timed:
        print(line(r))
    nine = lambda values: sorted(values)[math.ceil(0.9 * len(values)) - 1]
    for text, values, bar in (
        ("time to a first result", [ratios_to_peer(r)[0] for r in timed], 2),
        ("memory", [ratios_to_peer(r)[1] for r in timed], 1),
    ):
        print(
            f"{text}, of the better peer's: median {statistics.median(values):.2f}, nine in ten within {nine(values):.2f}; at most {bar}: {sum(v <= bar for v in values)} of {len(values)}"
        )
    if o.json:
        with open(o.json, "w") as file:
            json.dump(
                {
                    "machine": common.cpu_name(),
                    "when": max(r["when"] for r in timed),
                    "command": "tools/bench/zoo/first.py",
                    "measurements": [
                        {
                            "name": r["name"],
                            "batch": r["batch"],
                            "threads": r["threads"],
                            "time": ratios_to_peer(r)[0],
                            "memory": ratios_to_peer(r)[1],
                            "first": {
                                tool: {key: about[key] for key in ("ready_s", "memory_mib")}
                                for tool, about in r["tools"].items()
                            },
                        }
                        for r in timed
                    ],
                },
                file,
                indent=1,
            )


def main():
    common.use_bench_python()
    o = zoo.make_option_parser(__doc__, rounds=3, results="first").parse_args()
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o)
    with tempfile.TemporaryDirectory(prefix="dlc-first-") as folder:
        empty = os.path.join(folder, "empty.mlir")
        with open(empty, "w") as file:
            file.write(
                "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n  return %x : tensor<1xf32>\n}\n"
            )
        o.empty = run_once(o, empty, os.path.join(folder, "cache"))[1]
    zoo.measure_each(o, measure, line)


if __name__ == "__main__":
    main()
