#!/usr/bin/env python3
"""Times a training step of the benchmark networks: dlc against PyTorch (both memory formats), torch.compile, JAX and TensorFlow.

    tools/bench/train.py [--networks resnet-50,lstm] [--precision f32,bf16] [--threads 1,2] [--rounds 4] [--json FILE]
    tools/bench/train.py --device cuda:0 [--precision f32,tf32,bf16]

A step is forward, loss, backward and the plain SGD update on one batch in memory. In bf16, dlc compiles with that precision, PyTorch runs under
autocast, and JAX and TensorFlow cast inputs and parameters; parameters remain f32 in all of them. Without --networks, bf16 runs the four networks that are
commonly trained in it. In f32, dlc is measured twice: with default options, and with --accuracy strict, which excludes split bf16 matmuls and Winograd
convolutions. All peers start from the same parameters with the same batch; a peer whose first loss differs from PyTorch's is excluded.

Each tool runs in its own process; in each round the tools run for a short time one after the other. Prints minimum and median of a step; the ratio of the
best peer's minimum to dlc's (above 1: dlc is faster); the peak memory in MiB above that before the first step (dlc: before tracing; dlc and PyTorch have
trained a small network before, so that their own code is loaded); and the seconds from that point (dlc: from before tracing and compiling) to the end of the
first step.
On a GPU, batches and parameters are in its memory, every peer selects cuDNN algorithms by measurement, f32 is exact, and tf32 means that matmuls and
convolutions may round their operands. The GPU's clocks are read after each round and printed as minimum and maximum.
"""

import argparse
import importlib.util
import json
import math
import os
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

ACCURACY = {"dlc": "default", "dlc-strict": "strict"}
# Peers that are measured by default. XLA is represented by JAX: tensorflow-xla (jit_compile=True) takes minutes to compile deep networks.
PEERS = ["torch", "torch-cl", "torch.compile", "jax", "tensorflow"]
ELSEWHERE = {
    "jax": "jax",
    "tensorflow": "tensorflow",
    "tensorflow-xla": "tensorflow",
}  # peers other than PyTorch, and the Python modules that they need
# Maximum relative difference of a peer's first loss from PyTorch's, by precision.
SAME = {"f32": 1e-4, "tf32": 1e-2, "bf16": 5e-2}
IMAGES = {"alexnet-s", "resnet-50", "alexnet-r", "resnet-56"}
NETWORKS = {
    "f32": ["fcn-s", "alexnet-s", "resnet-50", "fcn-r", "alexnet-r", "resnet-56", "lstm"],
    "bf16": ["resnet-50", "alexnet-s", "fcn-s", "bert"],
}
NETWORKS["tf32"] = NETWORKS["f32"]


def device_is_gpu(device):
    return device.startswith("cuda")


def read_gpu_clock(device):
    """Returns the current clock of the GPU's multiprocessors in MHz as a list, which is empty without nvidia-smi."""
    if not device_is_gpu(device) or not shutil.which("nvidia-smi"):
        return []
    query = [
        "nvidia-smi",
        "-i",
        device.partition(":")[2] or "0",
        "--query-gpu=clocks.sm",
        "--format=csv,noheader,nounits",
    ]
    said = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    return [int(said)] if said.isdigit() else []


def start_worker(tool, network, precision, batch, threads, device):
    if tool in ACCURACY:
        command = [
            os.path.join(common.BUILD, "bin", "dlc-train-network"),
            network,
            "--batch",
            str(batch),
            "--threads",
            str(threads),
            "--precision",
            "bf16" if precision == "bf16" else "none",
            "--matmul-precision",
            "high" if precision == "tf32" else "highest",
            "--accuracy",
            ACCURACY[tool],
            "--device",
            device,
            "--serve",
        ]
    else:
        here = os.path.dirname(os.path.abspath(__file__))
        command = [
            sys.executable,
            os.path.join(here, "train_worker.py"),
            tool,
            network,
            str(batch),
            str(threads),
            precision,
            device,
        ]
    return common.Worker(tool, command, threads)


def check_losses(workers, most):
    """Excludes peers whose first loss differs from PyTorch's. dlc starts with other parameters and is not checked here (see train_compare.py)."""
    peers = [w for w in workers if w.tool not in ACCURACY and not w.error]
    want = next((w.about["loss"] for w in peers if w.tool.startswith("torch")), None)
    for worker in peers:
        loss = worker.about["loss"]
        if want is not None and not abs(loss - want) <= most * abs(want):
            worker.error = f"its first loss is {loss:.6g}, PyTorch's {want:.6g}"


def measure(network, precision, threads, o):
    results, workers = {}, []
    tools = (["dlc"] if precision != "f32" or device_is_gpu(o.device) else list(ACCURACY)) + [
        p for p in o.peers if network in IMAGES or not p.endswith("-cl")
    ]
    try:
        workers = [
            start_worker(tool, network, precision, o.batch, threads, o.device) for tool in tools
        ]
        seen = []
        for _ in range(o.rounds):
            for worker in workers:
                if not worker.error:
                    worker.round(o.seconds)
                    seen += read_gpu_clock(o.device)
        if seen:
            print(f"{network}: the GPU's clock was {min(seen)} to {max(seen)} MHz", flush=True)
        check_losses(workers, SAME[precision])
        for worker in workers:
            if worker.error or not worker.times:
                results[worker.tool] = {"error": worker.error or "no times"}
                continue
            about = worker.about
            results[worker.tool] = {
                "min_ms": min(worker.times) * 1e3,
                "median_ms": statistics.median(worker.times) * 1e3,
                "steps": len(worker.times),
                "first_loss": about["loss"],
                "ready_s": about["ready_s"],
                "memory_mib": max(worker.peak, about["peak_mib"]) - about["before_mib"],
            }
    finally:
        for worker in workers:
            worker.close()
    return results


def print_results(network, precision, threads, results, ratios):
    where = f"{network:10} {precision:5} {threads:7}"
    peers = {t: r["min_ms"] for t, r in results.items() if t not in ACCURACY and "min_ms" in r}
    best = min(peers, key=peers.get) if peers else None
    for tool, r in results.items():
        if "error" in r:
            print(f"{where}  {tool:14} {r['error'][:90]}", flush=True)
            continue
        ratio = ""
        if tool in ACCURACY and best:
            r["ratio"] = peers[best] / r["min_ms"]
            ratios.setdefault((tool, precision, threads), []).append(r["ratio"])
            ratio = f"{r['ratio']:.2f}"
        elif tool == best:
            ratio = "best"
        print(
            f"{where}  {tool:14} {r['min_ms']:10.2f} {r['median_ms']:10.2f} {ratio:>6} {r['memory_mib']:9.0f} {r['ready_s']:8.2f}",
            flush=True,
        )


def write_results(path, everything):
    with open(path + ".part", "w") as f:
        json.dump(common.describe_run(everything), f, indent=1)
    os.rename(path + ".part", path)


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--networks",
        default="",
        help="names of networks, separated by commas; default: all networks of the precision",
    )
    a.add_argument(
        "--precision",
        default="f32",
        help="f32, bf16, or tf32 on a GPU; several are separated by commas",
    )
    a.add_argument("--device", default="cpu", help="cpu, or a GPU such as cuda:0")
    a.add_argument(
        "--threads",
        default="",
        help="numbers of threads, separated by commas; default: 1,2, on a GPU 1",
    )
    a.add_argument("--peers", default=",".join(PEERS))
    a.add_argument("--batch", type=int, default=0, help="batch size; 0: the network's own")
    a.add_argument("--rounds", type=int, default=4)
    a.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        help="seconds for which each tool is timed in each round, at least two steps",
    )
    a.add_argument("--json", help="file to which all results are written")
    o = a.parse_args()
    o.peers = [p for p in o.peers.split(",") if p and not (p in ELSEWHERE and o.device != "cpu")]
    o.threads = o.threads or ("1,2" if o.device == "cpu" else "1")
    for peer in [
        p for p in o.peers if p in ELSEWHERE and not importlib.util.find_spec(ELSEWHERE[p])
    ]:
        o.peers.remove(peer)
        print(f"{peer} is not installed and is skipped", flush=True)
    everything, ratios = [], {}
    print(
        f"{'network':10} {'type':5} {'threads':>7}  {'tool':14} {'min ms':>10} {'median':>10} {'ratio':>6} {'above MiB':>9} {'ready s':>8}",
        flush=True,
    )
    for precision in o.precision.split(","):
        for network in o.networks.split(",") if o.networks else NETWORKS[precision]:
            for threads in map(int, o.threads.split(",")):
                results = measure(network, precision, threads, o)
                print_results(network, precision, threads, results, ratios)
                everything.append(
                    {
                        "network": network,
                        "precision": precision,
                        "threads": threads,
                        "device": o.device,
                        "batch": o.batch,
                        "results": results,
                    }
                )
                if o.json:
                    write_results(o.json, everything)
    for (tool, precision, threads), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(
            f"{tool}, {precision}, {threads} threads: geometric mean of the ratios {mean:.2f}, least {min(values):.2f}, over {len(values)} networks"
        )


main()
