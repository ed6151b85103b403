#!/usr/bin/env python3
"""Measures torch.compile(module, backend="dlc") on networks of the zoo against eager PyTorch and Inductor, interleaved: operators left to PyTorch, correctness, speed.

    tools/bench/zoo/torch_compile.py [--networks timm-csatv2,...] [--sample 60] [--train] [--backends eager,inductor,dlc] [--results build/zoo/NAME]
    tools/bench/zoo/torch_compile.py --report [--train] [--json FILE] [--results build/zoo/NAME]

Measures the rows of networks.json in a seeded order, until --sample of them are measured. Each backend runs in its own process with empty caches; a backend
that needs more than three minutes for the first result is not timed. Inference: outputs within 1e-3 of eager's largest element, or within twice
Inductor's difference from eager (detectors sort boxes with nearly equal scores, which may swap places). With --train: steps of
plain SGD, with batch statistics in batch norms, without dropout, with losses and learning rates as in train.py, and ten losses within 1e-3 of eager's.
Ratio and interval: those of the best other backend's times to dlc's, as in zoo.py; ready: seconds until the first result. Writes one file per network to the
folder of results; --again measures them again.
"""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn
import train
import zoo

STEPS, LIMIT, PATIENCE = 10, 1e-3, 180


def list_rows():
    """Returns all rows of networks.json in the seeded order. The relative order of rows does not change if rows are added or removed."""
    return sorted(
        drawn.read_networks_json()["networks"],
        key=lambda row: random.Random(f"18 {row['name']}").random(),
    )


# The functions below run in the process of one backend, up to run_worker().


def summarize_eager_operators():
    """Returns the operators that dlc left to PyTorch, as dlc.report() lists them."""
    import dlc

    graphs = dlc.report()
    eager = {}
    for graph in graphs:
        for each in graph.eager:
            eager[each.overload] = [
                eager.get(each.overload, [0])[0] + each.count,
                each.reason[:200],
            ]
    return {
        "graphs": len(graphs),
        "operators": sum(graph.operators for graph in graphs),
        "programs": sum(len(graph.pieces) for graph in graphs),
        "copied": sum(graph.copied for graph in graphs),
        "eager": eager,
        "eager_share": sum(graph.eager_flops for graph in graphs)
        / max(sum(graph.flops for graph in graphs), 1),
    }


def compiled(function, backend):
    import torch

    return function if backend == "eager" else torch.compile(function, backend=backend)


def make_inference(row, task, backend):
    import torch
    import listing

    module, inputs = listing.build_network(row, task["batch"])
    examples = listing.random_examples(inputs)
    forward = compiled(module, backend)

    def run():
        with torch.no_grad():
            return forward(*examples)

    return run


def make_training(row, task, backend, folder):
    import numpy as np
    import torch

    module, inputs = train.build_module(row, task["batch"])
    with np.load(os.path.join(folder, "batch.npz")) as file:
        examples, target = (
            [torch.from_numpy(file[name]) for name in inputs],
            torch.from_numpy(file["target"]),
        )
    return train.make_training_step(
        task, module, examples, target, lambda forward: compiled(forward, backend)
    )


def exit_on_timeout(*_):
    sys.exit(f"longer than {PATIENCE} s")


def run_worker(backend, folder):
    """Measures one backend in this process: serves requests with the protocol of worker.py."""
    import importlib
    import torch
    import worker

    with open(os.path.join(folder, "task.json")) as file:
        task = json.load(file)
    row = task["row"]
    if backend == "prepare":
        return zoo.write_result(
            os.path.join(folder, "task.json"), train.prepare_task(row, task, folder)
        )
    importlib.import_module("listing" if row["source"] == "own" else row["source"])
    torch.set_num_threads(task["threads"])
    # dlc is imported before the time measurement starts, as the other libraries are.
    if backend == "dlc":
        import dlc  # noqa: F401
    run = (
        make_training(row, task, backend, folder)
        if task["train"]
        else make_inference(row, task, backend)
    )
    signal.signal(signal.SIGALRM, exit_on_timeout)
    signal.alarm(PATIENCE if backend != "eager" else 0)
    before, start = worker.peak_mib(), time.perf_counter()
    first = run()
    about = {"ready_s": time.perf_counter() - start, "before_mib": before}
    signal.alarm(0)
    if task["train"]:
        about["losses"] = [first] + [run() for _ in range(STEPS - 1)]
    if backend == "dlc":
        about.update(summarize_eager_operators())
    print(json.dumps({**about, "peak_mib": worker.peak_mib()}), flush=True)
    worker.serve_requests(run, lambda: [each.numpy() for each in run()])


# The functions below run in the controlling process.


def measure(row, o):
    task = {
        "row": row,
        "batch": (train.choose_batch_size(row) if o.train else 1) if o.batch is None else o.batch,
        "threads": o.threads,
        "optimizer": "sgd",
        "train": o.train,
    }
    folder, workers = tempfile.mkdtemp(prefix="dlc-zoo-torch-"), []
    at = lambda name: os.path.join(folder, name)
    command = lambda backend: [sys.executable, __file__, "--work", backend, folder]
    result = {
        "name": row["name"],
        "batch": task["batch"],
        "threads": o.threads,
        "train": o.train,
        "machine": common.cpu_name(),
        "when": time.strftime("%Y-%m-%d"),
        "tools": {},
    }
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=at("inductor"), DLC_CACHE_DIR=at("dlc"))
    try:
        zoo.write_result(at("task.json"), task)
        if o.train:
            prepared = subprocess.run(
                command("prepare"),
                capture_output=True,
                text=True,
                timeout=1200,
                env=dict(os.environ, OMP_NUM_THREADS=str(o.threads)),
            )
            if prepared.returncode:
                raise RuntimeError(
                    (prepared.stderr.strip().splitlines() or [f"status {prepared.returncode}"])[-1]
                )
            with open(at("task.json")) as file:
                task = json.load(file)
            result.update(
                (key, value) for key, value in task.items() if key not in ("row", "freeze")
            )
            if "left_out" in task:
                return result
        for backend in o.backends.split(","):
            workers.append(common.Worker(backend, command(backend), o.threads))
        by_name = {each.tool: each for each in workers}
        dlc, eager = by_name["dlc"], by_name["eager"]
        if eager.error:
            raise RuntimeError(eager.error)
        if dlc.error:
            result["refused"] = dlc.error[-500:]
            return result
        result["graphs"] = {
            key: dlc.about[key]
            for key in ("graphs", "operators", "programs", "copied", "eager", "eager_share")
        }
        if o.train:
            wanted = eager.about["losses"]
            result["error"], result["moved"] = (
                train.max_relative_difference(dlc.about["losses"], wanted),
                train.max_relative_difference(wanted[-1:], wanted[:1]),
            )
        else:
            wanted = zoo.get_worker_outputs(eager, folder)
            result["error"] = zoo.max_relative_difference(
                zoo.get_worker_outputs(dlc, folder), wanted
            )
            if result["error"] > LIMIT and "inductor" in by_name and not by_name["inductor"].error:
                result["spread"] = zoo.max_relative_difference(
                    zoo.get_worker_outputs(by_name["inductor"], folder), wanted
                )
        for _ in range(o.rounds):
            for each in workers:
                if not each.error:
                    each.round(o.seconds)
        for each in workers:
            if each.error or not each.rounds:
                result["tools"][each.tool] = {"error": (each.error or "no times")[:300]}
                continue
            result["tools"][each.tool] = {
                "rounds_ms": [t * 1e3 for t in each.rounds],
                "median_ms": statistics.median(each.times) * 1e3,
                "ready_s": each.about["ready_s"],
                "memory_mib": max(each.peak, each.about["peak_mib"]) - each.about["before_mib"],
            }
        zoo.compute_ratio(result)
    finally:
        for each in workers:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
    return result


def is_right(r):
    return r["error"] <= max(LIMIT, 2 * r.get("spread", 0))


def line(r):
    start = f"{r['name']:44} b{r['batch']:<3}"
    for key in ("left_out", "refused"):
        if key in r:
            return f"{start} {key.replace('_', ' ')}: {r[key][-200:]}"
    g, tools = r["graphs"], r["tools"]
    eager = sum(count for count, _ in g["eager"].values())
    times = ", ".join(
        f"{tool} {t['median_ms']:.2f} ms ({t['ready_s']:.1f} s)"
        if "median_ms" in t
        else f"{tool} {t['error'][-40:]}"
        for tool, t in tools.items()
    )
    text = (
        f"{start} {r['ratio']:5.2f} [{r['interval'][0]:.2f}, {r['interval'][1]:.2f}] of {r['best']:9} error {r['error']:.1e}"
        + ("" if is_right(r) else ": wrong")
    )
    text += f"; {g['operators']} operators, {eager} in PyTorch ({100 * g['eager_share']:.2g} % of the work), {g['graphs']} graphs, {g['programs']} programs; {times}"
    return text + (f"; {g['eager']}" if eager else "")


def report(o):
    results = [r for r in zoo.read_results(o.results) if r["train"] == o.train]
    if o.json:
        kept = (
            "name",
            "batch",
            "threads",
            "train",
            "best",
            "ratio",
            "interval",
            "error",
            "refused",
        )
        compiled = lambda r: {
            tool: {key: t[key] for key in ("median_ms", "ready_s") if key in t}
            for tool, t in r["tools"].items()
        }
        zoo.write_result(
            o.json,
            {
                "machine": common.cpu_name(),
                "when": max(r["when"] for r in results),
                "command": "tools/bench/zoo/torch_compile.py" + " --train" * o.train,
                "measurements": [
                    {**{key: r[key] for key in kept if key in r}, "compiled": compiled(r)}
                    for r in results
                    if "left_out" not in r
                ],
            },
        )
    for threads in sorted({r["threads"] for r in results}):
        some = [r for r in results if r["threads"] == threads]
        left_out, refused = ([r for r in some if key in r] for key in ("left_out", "refused"))
        timed = sorted((r for r in some if "ratio" in r), key=lambda r: r["ratio"])
        print(
            f"\n{threads} threads: {len(refused) + len(timed)} networks, {len(refused)} refused, {sum(not is_right(r) for r in timed)} differ, "
            f"{sum(not r['graphs']['eager'] for r in timed)} whole in dlc; {len(left_out)} left out"
        )
        if timed:
            zoo.print_distribution(timed, ())
        for peer in ("eager", "inductor"):
            both = [r for r in timed if "median_ms" in r["tools"].get(peer, {})]
            if both:
                mean = statistics.geometric_mean(
                    r["tools"][peer]["median_ms"] / r["tools"]["dlc"]["median_ms"] for r in both
                )
                ready = statistics.median(
                    r["tools"]["dlc"]["ready_s"] / r["tools"][peer]["ready_s"] for r in both
                )
                print(
                    f"  {peer}: {len(both)} networks, geometric mean of the ratios {mean:.2f}, ready in {ready:.2f} of its time (median)"
                )
        for r in left_out + refused + timed:
            print("  " + line(r))


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default="")
    a.add_argument(
        "--batch", type=int, help="batch size; default: 1, in training the network's own"
    )
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.15,
        help="seconds for which each backend is timed in each round",
    )
    a.add_argument(
        "--sample",
        type=int,
        default=60,
        help="number of networks to sample; the sample is the same in each run",
    )
    a.add_argument("--backends", default="eager,inductor,dlc")
    a.add_argument(
        "--train", action="store_true", help="measure training steps instead of inference"
    )
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", "torch"))
    a.add_argument(
        "--again", action="store_true", help="measure again what has been measured before"
    )
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument("--json", help="with --report: file to write for tools/bench/tables.py")
    a.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    o = a.parse_args()
    sys.path.insert(0, os.path.join(common.BUILD, "python"))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.path.join(common.BUILD, "python"), os.environ.get("PYTHONPATH")])
    )
    if o.work:
        return run_worker(*o.work)
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o)
    train.measure_each(
        list_rows(), o, lambda row: f"{row['name']}{'-train' * o.train}-t{o.threads}", measure, line
    )


if __name__ == "__main__":
    main()
