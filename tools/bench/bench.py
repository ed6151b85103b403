#!/usr/bin/env python3
"""Times inference of the benchmark networks: dlc against ONNX Runtime, OpenVINO and torch.compile, interleaved in the same run.

    tools/bench/bench.py [--networks resnet-50,bert] [--threads 1,2] [--batch 1] [--rounds 8] [--json FILE]

Each tool runs in its own process. In each round the tools run for a short time one after the other, so that a slowdown of the machine affects all of them.
Prints the minimum and median time of a run; the ratio of the best peer's time to dlc's (above 1: dlc is faster), as the median over the rounds with its 95 %
confidence interval, with the median of each round; the compile time in seconds (dlc: cold / with a warm cache); and the peak memory of the process.
dlc is measured twice: with default options, and with --accuracy strict, which excludes split bf16 matmuls and Winograd convolutions.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

ACCURACY = {"dlc": "default", "dlc-strict": "strict"}
PEERS = ["onnxruntime", "openvino", "torch.compile"]


def worker(tool, model, threads, batch, network):
    here = os.path.dirname(os.path.abspath(__file__))
    return common.Worker(
        tool,
        [
            sys.executable,
            os.path.join(here, "worker.py"),
            tool,
            model,
            str(threads),
            common.random_inputs(common.export(network, batch)),
            str(batch),
            network,
        ],
        threads,
    )


def measure(network, threads, o):
    model = common.export(network, o.batch)
    folder = tempfile.mkdtemp(prefix="dlc-bench-")
    results = {}
    workers = []
    try:
        compiled = {}
        for tool, accuracy in ACCURACY.items():
            program, cache = (os.path.join(folder, tool + end) for end in (".dlcx", ".cache"))
            try:
                cold, peak = common.compile_program(
                    model, program, threads, cache, o.tune, accuracy
                )
                warm, _ = common.compile_program(model, program, threads, cache, o.tune, accuracy)
                compiled[tool] = {"cold_s": cold, "warm_s": warm, "compile_peak_mib": peak}
                workers.append(worker(tool, program, threads, o.batch, network))
            except RuntimeError as error:
                results[tool] = {"error": str(error)}
        for peer in o.peers:
            workers.append(worker(peer, model, threads, o.batch, network))
        for _ in range(o.rounds):
            for each in workers:
                if not each.error:
                    each.round(o.seconds)
        for each in workers:
            if each.error or not each.times:
                results[each.tool] = {"error": each.error or "no times"}
                continue
            results[each.tool] = {
                "rounds_ms": [t * 1e3 for t in each.rounds],
                "min_ms": min(each.times) * 1e3,
                "median_ms": statistics.median(each.times) * 1e3,
                "runs": len(each.times),
                "ready_s": each.about["ready_s"],
                "peak_mib": each.peak,
                "before_mib": each.about["before_mib"],
            }
            results[each.tool].update(compiled.get(each.tool, {}))
    finally:
        for each in workers:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
    return results


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default=",".join(common.network_names()))
    a.add_argument("--threads", default="1,2")
    a.add_argument("--peers", default=",".join(PEERS))
    a.add_argument("--batch", type=int, default=1)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.4,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument(
        "--tune",
        action="store_true",
        help="compile with dlc's --tune, which measures candidate kernels",
    )
    a.add_argument("--json", help="file to which all results are written")
    o = a.parse_args()
    o.peers = [p for p in o.peers.split(",") if p]
    everything, ratios = [], {}
    print(
        f"{'network':13} {'threads':>7}  {'tool':14} {'min ms':>9} {'median':>9} {'ratio':>17}  {'compile s':>14} {'peak MiB':>9}",
        flush=True,
    )
    for network in o.networks.split(","):
        for threads in map(int, o.threads.split(",")):
            results = measure(network, threads, o)
            peers = {
                t: r["median_ms"]
                for t, r in results.items()
                if t not in ACCURACY and "median_ms" in r
            }
            best = min(peers, key=peers.get) if peers else None
            for tool, r in results.items():
                if "error" in r:
                    print(f"{network:13} {threads:7}  {tool:14} {r['error'][:80]}", flush=True)
                    continue
                ratio = ""
                if tool in ACCURACY and best:
                    pairs = [p / d for p, d in zip(results[best]["rounds_ms"], r["rounds_ms"])]
                    r["ratio"], low, high = common.median_interval(pairs)
                    r["interval"] = [low, high]
                    ratios.setdefault((tool, threads), []).append(r["ratio"])
                    ratio = f"{r['ratio']:.2f} [{low:.2f}, {high:.2f}]"
                elif tool == best:
                    ratio = "best"
                seconds = (
                    f"{r['cold_s']:.2f} / {r['warm_s']:.2f}"
                    if tool in ACCURACY
                    else f"{r['ready_s']:.2f}"
                )
                print(
                    f"{network:13} {threads:7}  {tool:14} {r['min_ms']:9.3f} {r['median_ms']:9.3f} {ratio:>17}  {seconds:>14} {r['peak_mib']:9.0f}",
                    flush=True,
                )
            everything.append(
                {"network": network, "threads": threads, "batch": o.batch, "results": results}
            )
            if o.json:
                with open(o.json + ".part", "w") as f:
                    json.dump(common.describe_run(everything), f, indent=1)
                os.rename(o.json + ".part", o.json)
    for (tool, threads), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(
            f"{tool}, {threads} threads: geometric mean of the ratios {mean:.2f}, least {min(values):.2f}, over {len(values)} networks"
        )


main()
