#!/usr/bin/env python3
"""Measures inference of the networks of the zoo: dlc against ONNX Runtime and OpenVINO, interleaved: correctness, speed, time to the first result, memory.

    tools/bench/zoo/zoo.py [--networks timm-csatv2,...] [--batch 1] [--threads 2] [--sample 20] [--results build/zoo/NAME]
    tools/bench/zoo/zoo.py --report [--results build/zoo/NAME]

Writes one file per network to the folder of results. Networks with a file are not measured again, unless --again is given, so an interrupted run can be
continued.
Correct: within 1e-3 of the largest element of an output of ONNX Runtime, or within the difference between ONNX Runtime with and without optimizations.
The ratio is the median over the rounds of the better peer's time to dlc's (above 1: dlc is faster), with its 95 % interval. Ready: seconds until the
first result, from the ONNX file and without caches; for dlc that of the whole process `dlc run`, and also that of `dlc compile` followed by a load.
Memory: the peak of the process minus its memory before the model was loaded. If dlc is slower, the commands that are farthest from the machine's limits,
measured in the same run, are listed.
"""

import argparse
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn

PEERS = ["onnxruntime", "openvino"]


def max_relative_difference(found, wanted):
    """Returns the largest difference relative to the largest element of the output, or infinity if shapes or integers differ."""
    import numpy as np

    if len(found) != len(wanted):
        return math.inf
    worst = 0.0
    for got, want in zip(found, wanted):
        if got.shape != want.shape:
            return math.inf
        if want.dtype.kind != "f":
            worst = worst if np.array_equal(got, want) else math.inf
        elif want.size:
            ends = np.isfinite(want)
            if not np.array_equal(ends, np.isfinite(got)):
                return math.inf
            if ends.any():
                worst = max(
                    worst,
                    float(
                        np.abs(got[ends].astype(np.float64) - want[ends]).max()
                        / max(np.abs(want[ends]).max(), 1e-30)
                    ),
                )
    return worst


def get_worker_outputs(worker, folder):
    import numpy as np

    path = os.path.join(folder, worker.tool + ".npz")
    worker.ask(outputs=path)
    if worker.error:
        raise RuntimeError(worker.error)
    with np.load(path) as file:
        return [file[f"arr_{i}"] for i in range(len(file.files))]


def inspect_program(program, threads, repeat):
    """Returns the machine's limits, the output of `dlc inspect`, and the commands with their times and the times that they would take at the limits."""
    limit = common.measure_limits(threads)
    about = json.loads(
        common.run_tool(
            "dlc", "inspect", program, "--repeat", str(repeat), "--threads", str(threads), "--json"
        )
    )
    found = []
    for c in about["commands"]:
        if c["op"] in ("loop", "if") or not c.get("us"):
            continue
        flops, moved = c["flops"] * c["times"], c["bytes"] * c["times"]
        floor = max(flops / limit["fma_gflops"] / 1e3, moved / limit["triad_gb_per_s"] / 1e3)
        found.append(
            {
                "us": c["us"],
                "floor_us": floor,
                "implementation": c["implementation"],
                "name": c["name"],
                "times": c["times"],
                "part": c["us"] / about["watched_us"],
                "op": c["op"],
            }
        )
    return limit, about, found


def find_slowest_commands(program, threads):
    """Returns the eight commands that lose the most time relative to the limits of the machine."""
    limit, about, found = inspect_program(program, threads, repeat=7)
    found.sort(key=lambda c: c["floor_us"] - c["us"])
    return {
        "limits": limit,
        "between_us": about["watched_us"] - sum(c["us"] for c in found),
        "run_us": about["run_us"],
        "commands": found[:8],
    }


def compute_ratio(result):
    """Stores the best peer in the result, and the ratio of its times to dlc's."""
    tools = result["tools"]
    times = {t: r["median_ms"] for t, r in tools.items() if t != "dlc" and "median_ms" in r}
    if times:
        best = min(times, key=times.get)
        result["best"] = best
        result["ratio"], *result["interval"] = common.median_interval(
            [p / d for p, d in zip(tools[best]["rounds_ms"], tools["dlc"]["rounds_ms"])]
        )


def write_result(path, result):
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
    os.rename(path + ".part", path)


def read_results(folder):
    results = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as file:
                results.append(json.load(file))
    return results


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
    folder, workers = tempfile.mkdtemp(prefix="dlc-zoo-"), []
    at = lambda *parts: os.path.join(folder, *parts)
    worker = lambda tool, file: common.Worker(
        tool,
        [
            sys.executable,
            os.path.join(os.path.dirname(HERE), "worker.py"),
            tool,
            file,
            str(o.threads),
            at("inputs.npz"),
        ],
        o.threads,
    )
    try:
        model = weightless.read(drawn.graph_path(name, batch))
        onnx.save(model, at("model.onnx"))
        np.savez(at("inputs.npz"), **weightless.random_inputs(model))
        result["nodes"] = len(model.graph.node)
        del model
        start = time.perf_counter()
        done = subprocess.run(
            [
                common.DLC,
                "compile",
                at("model.onnx"),
                "-o",
                at("model.dlcx"),
                "--threads",
                str(o.threads),
                "--cache",
                at("cache"),
            ],
            capture_output=True,
            text=True,
            errors="replace",
        )
        compiled = time.perf_counter() - start
        if done.returncode:
            result["refused"] = (
                f"status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
            )
            workers.extend(worker(tool, at("model.onnx")) for tool in PEERS)
            result["peers"] = {each.tool: each.error[-300:] for each in workers if each.error}
            return result
        start = time.perf_counter()
        ran = subprocess.run(
            [
                common.DLC,
                "run",
                at("model.onnx"),
                "--threads",
                str(o.threads),
                "--cache",
                at("other"),
                "--json",
            ],
            capture_output=True,
            text=True,
        )
        at_once = time.perf_counter() - start
        for tool in ["dlc", *PEERS]:
            workers.append(worker(tool, at("model.dlcx" if tool == "dlc" else "model.onnx")))
        dlc = workers[0]
        if dlc.error:
            result["refused"] = "run: " + dlc.error
            return result
        peers = [each for each in workers[1:] if not each.error]
        if peers:
            found, wanted = get_worker_outputs(dlc, folder), get_worker_outputs(peers[0], folder)
            result["error"] = max_relative_difference(found, wanted)
            if result["error"] > 1e-3:
                plain = worker("onnxruntime-plain", at("model.onnx"))
                try:
                    other = get_worker_outputs(plain, folder)
                    result["spread"], result["error_plain"] = (
                        max_relative_difference(other, wanted),
                        max_relative_difference(found, other),
                    )
                except RuntimeError as error:
                    result["plain"] = str(error)
                plain.close()
        for _ in range(o.rounds):
            for each in [dlc, *peers]:
                if not each.error:
                    each.round(o.seconds)
        for each in workers:
            if each.error or not each.rounds:
                result["tools"][each.tool] = {"error": (each.error or "no times")[:300]}
                continue
            result["tools"][each.tool] = {
                "rounds_ms": [t * 1e3 for t in each.rounds],
                "median_ms": statistics.median(each.times) * 1e3,
                "ready_s": at_once if each is dlc else each.about["ready_s"],
                "memory_mib": each.peak - each.about["before_mib"],
            }
        result["compile_s"], result["load_s"] = compiled, dlc.about["ready_s"]
        if ran.returncode == 0:
            result["at_once_mib"] = json.loads(ran.stdout)["peak_mib"]
        compute_ratio(result)
        if result.get("ratio", 1) < 1:
            for each in workers:
                each.close()
            result["blame"] = find_slowest_commands(at("model.dlcx"), o.threads)
    finally:
        for each in workers:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
    return result


def is_right(r):
    # A missing error counts as infinite, so that the result is not correct.
    return r.get("error", math.inf) <= 1e-3 or min(
        r["error"], r.get("error_plain", math.inf)
    ) <= 2 * r.get("spread", 0)


def is_invalid(r):
    """Returns True if the peers also reject the model, which is then an error of the exporter and not of dlc."""
    return "refused" in r and len(r.get("peers", {})) == len(PEERS)


def line(r):
    if is_invalid(r):
        return f"{r['name']:44} b{r['batch']}  refused by all: {r['refused'][-150:]}"
    if "refused" in r:
        return f"{r['name']:44} b{r['batch']}  refused: {r['refused'][-150:]}"
    text = f"{r['name']:44} b{r['batch']}  {r['tools']['dlc'].get('median_ms', 0):9.2f} ms"
    if "ratio" in r:
        text += f"  {r['ratio']:5.2f} [{r['interval'][0]:.2f}, {r['interval'][1]:.2f}] of {r['best']:11}"
    else:
        text += "  no peer runs it" + " " * 16
    return text + (
        f"  differs by {r.get('error', 0):.1e}" if "ratio" in r and not is_right(r) else ""
    )


def ratio_to_best_peer(r, key):
    return r["tools"]["dlc"][key] / min(
        about[key] for tool, about in r["tools"].items() if tool != "dlc" and key in about
    )


def print_distribution(
    timed, parts_of=(("ready_s", "time to a first result"), ("memory_mib", "memory"))
):
    """Prints the distribution of the ratios of networks. `timed` is sorted by ratio."""
    ratios = [r["ratio"] for r in timed]
    print(
        f"  ratio to the better peer: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, median {statistics.median(ratios):.2f}, least {ratios[0]:.2f}; "
        f"at least 1.0: {sum(x >= 1 for x in ratios)}, at least 0.9: {sum(x >= 0.9 for x in ratios)} of {len(ratios)}"
    )
    for key, text in parts_of:
        parts = [ratio_to_best_peer(r, key) for r in timed]
        print(
            f"  {text}, of the better peer's: median {statistics.median(parts):.2f}, nine in ten within {sorted(parts)[math.ceil(0.9 * len(parts)) - 1]:.2f}"
        )


def to_table_format(r):
    """Returns a network's result in the format of tools/bench/tables.py."""
    kept = {
        key: r[key]
        for key in ("name", "batch", "threads", "refused", "best", "ratio", "interval")
        if key in r
    }
    if is_invalid(r):
        kept["invalid"] = True
    if "ratio" in r:
        kept.update(
            dlc_ms=r["tools"]["dlc"]["median_ms"],
            right=is_right(r),
            ready=ratio_to_best_peer(r, "ready_s"),
            memory=ratio_to_best_peer(r, "memory_mib"),
        )
    return kept


def print_slowest_commands(r, count):
    for c in r.get("blame", {}).get("commands", [])[:count]:
        print(
            f"      {c['us'] / 1e3:8.2f} ms, {100 * c['part']:3.0f} %, {c['us'] / max(c['floor_us'], 1e-3):6.1f} times the limit: {c['implementation']}  {c['name'][-90:]}"
        )


def report(o):
    results = read_results(o.results)
    groups = sorted({(r["batch"], r["threads"]) for r in results})
    for batch, threads in groups:
        some = [r for r in results if (r["batch"], r["threads"]) == (batch, threads)]
        some, invalid = [r for r in some if not is_invalid(r)], [r for r in some if is_invalid(r)]
        refused, timed = (
            [r for r in some if "refused" in r],
            sorted((r for r in some if "ratio" in r), key=lambda r: r["ratio"]),
        )
        print(
            f"\nbatch {batch}, {threads} threads: {len(some)} networks, {len(refused)} refused, {sum(not is_right(r) for r in timed)} differ, "
            f"{sum('ratio' not in r and 'refused' not in r for r in some)} that no peer runs; {len(invalid)} refused by all"
        )
        for r in refused + invalid:
            print("  " + line(r))
        if timed:
            print_distribution(timed)
        for r in timed:
            print("  " + line(r))
            print_slowest_commands(r, o.blame)
    if o.json:
        with open(o.json, "w") as file:
            json.dump(
                {
                    "machine": common.cpu_name(),
                    "when": max(r["when"] for r in results),
                    "command": "tools/bench/zoo/zoo.py",
                    "networks": [to_table_format(r) for r in results],
                },
                file,
                indent=1,
            )


def make_option_parser(about, rounds, results):
    """Returns the option parser of scripts that measure the exported graphs of the zoo."""
    a = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default="")
    a.add_argument("--batch", type=int, default=1, help="batch size; 0: dynamic")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=rounds)
    a.add_argument(
        "--sample",
        type=int,
        help="number of networks to sample; the sample is the same in each run",
    )
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", results))
    a.add_argument(
        "--again", action="store_true", help="measure again what has been measured before"
    )
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument("--json", help="with --report: file to write for tools/bench/tables.py")
    return a


def measure_each(o, measure, line):
    """Measures the graphs that `o` selects, and writes a result file for each."""
    wanted = [
        (name, batch)
        for name, batch in drawn.list_graphs()
        if o.batch in (0, batch) and (not o.networks or name in o.networks.split(","))
    ]
    random.Random(5).shuffle(wanted)
    for name, batch in wanted[: o.sample]:
        path = os.path.join(o.results, f"{name}-b{batch}-t{o.threads}.json")
        if os.path.exists(path) and not o.again:
            continue
        try:
            result = measure(name, batch, o)
        except (
            common.failures()
        ) as error:  # an error of the measurement itself, which is not recorded
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            continue
        write_result(path, result)
        print(line(result), flush=True)


def main():
    common.use_bench_python()
    a = make_option_parser(__doc__, rounds=9, results="results")
    a.add_argument(
        "--seconds",
        type=float,
        default=0.15,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument(
        "--blame",
        type=int,
        default=3,
        help="number of commands to print for each network that is slower than with another tool",
    )
    o = a.parse_args()
    os.makedirs(o.results, exist_ok=True)
    report(o) if o.report else measure_each(o, measure, line)


if __name__ == "__main__":
    main()
