#!/usr/bin/env python3
"""Breaks down the time of a training step (or of inference) by kind of command, relative to the limits of the machine.

    tools/bench/breakdown.py [--networks resnet-50,lstm] [--inference] [--threads 2] [--repeat 5] [--accuracy default] [--tune] [--slowest 5]

Prints for each network: matmuls and convolutions, memory-bound kernels, arithmetic-bound elementwise kernels, layout reorders, and the time between
commands: that of the whole run minus the sum of its commands (those in loops with all iterations). All times are from the fastest of
--repeat runs. Each kind is compared with its limit, measured in the same session: f32 FMAs on registers, and the STREAM triad.
Matmuls and convolutions with fewer or cheaper multiplications (Winograd, AMX tiles) may exceed their limit. Bytes count each element that a command
reads or writes once.

Matmuls and convolutions are commands that libraries can run or that multiply matrices, with more than four operations per byte. Any other generated
kernel is bound by the larger of two times: its bytes at the rate of the triad, or its operations at half the FMA rate, because an FMA is two
operations. The compiler counts the operations (codegen/cpu/kernel/Nest.cpp): eight for exponentials and similar functions, three for divisions and
square roots, one for others. So a kernel counts as arithmetic-bound only if its operations, even without dependences between them, would take
longer than its memory accesses.
"""

import argparse
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

TRAINED = ["fcn-s", "alexnet-s", "resnet-50", "fcn-r", "alexnet-r", "resnet-56", "lstm"]
PRODUCT = 4  # FLOPs per byte of memory traffic; commands with fewer are not taken for a matmul or convolution
KINDS = ("products", "memory-bound", "arithmetic", "reorders")


def may_be_contraction(command):
    """Returns True if the command is, or may be, a matmul or convolution: it runs in a library, or could, or its name says so."""
    generated = re.match(r"k\d+_", command["implementation"])
    only_generated = all(c.split()[0] == "generated" for c in command.get("candidates") or [])
    return not generated or not only_generated or re.search("matmul|conv", command["name"])


def classify_command(command, limit):
    if "reorder" in command["implementation"] or "reorder" in command["name"]:
        return "reorders"
    if may_be_contraction(command):
        return "products" if command["flops"] > PRODUCT * command["bytes"] else "memory-bound"
    computing = command["flops"] / (limit["fma_gflops"] / 2)
    return (
        "arithmetic" if computing > command["bytes"] / limit["triad_gb_per_s"] else "memory-bound"
    )


def export_program(name, o, folder):
    if o.inference:
        return common.export(name, 1)
    path = os.path.join(folder, name + ".mlir")
    with open(path, "w") as f:
        f.write(common.run_tool("dlc-train-network", name, "--text"))
    return path


def show_breakdown(name, o, folder):
    before = common.measure_limits(o.threads)
    command = [
        "inspect",
        export_program(name, o, folder),
        "--repeat",
        str(o.repeat),
        "--threads",
        str(o.threads),
        "--accuracy",
        o.accuracy,
        "--json",
    ]
    about = json.loads(common.run_tool("dlc", *command, *(["--tune"] if o.tune else [])))
    after = common.measure_limits(o.threads)
    best = {key: max(before[key], after[key]) for key in before}
    commands = [c for c in about["commands"] if c["op"] not in ("loop", "if")]
    for c in commands:
        c["flops"] *= c["times"]
        c["bytes"] *= c["times"]
    whole = about["watched_us"] / 1e3
    print(
        f"{name}: {whole:.2f} ms ({about['run_us'] / 1e3:.2f} without measuring commands); limits: {best['fma_gflops']:.0f} GFLOP/s, {best['triad_gb_per_s']:.1f} GB/s",
        flush=True,
    )
    for kind in KINDS:
        some = [c for c in commands if classify_command(c, best) == kind and c["us"] > 0]
        if kind == "arithmetic" and not some:
            continue
        ms, flops, moved = (
            sum(c[key] for c in some) * scale
            for key, scale in (("us", 1e-3), ("flops", 1e-9), ("bytes", 1e-9))
        )
        text = f"    {kind:13} {len(some):4} commands {ms:9.2f} ms {100 * ms / whole:5.1f} %"
        if kind == "arithmetic":
            text += f"   {flops / ms * 1e3:7.1f} GFLOP/s, {flops / ms * 2e3 / best['fma_gflops']:.2f} of the limit"
        elif kind == "products" and ms:
            text += f"   {flops / ms * 1e3:7.1f} GFLOP/s, {flops / ms * 1e3 / best['fma_gflops']:.2f} of the limit"
        elif ms:
            text += f"   {moved / ms * 1e3:7.1f} GB/s, {moved / ms * 1e3 / best['triad_gb_per_s']:.2f} of the limit"
        print(text)
    between = whole - sum(c["us"] for c in commands) / 1e3
    print(
        f"    between                     {between:9.2f} ms {100 * between / whole:5.1f} %",
        flush=True,
    )
    for c in sorted(commands, key=lambda c: -c["us"])[: o.slowest]:
        times = f" {c['times']:.0f} times" if c["times"] > 1 else ""
        rate = (
            f"{c['flops'] / c['us'] / 1e3:.0f} GFLOP/s"
            if classify_command(c, best) in ("products", "arithmetic")
            else f"{c['bytes'] / c['us'] / 1e3:.1f} GB/s"
        )
        print(
            f"      {c['us'] / 1e3:9.2f} ms  {rate:>13}  {c['implementation']}  {c['name'] if c['name'] != c['implementation'] else ''}{times}",
            flush=True,
        )


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--networks",
        help="names of networks, separated by commas; default: the seven networks of the benchmark",
    )
    a.add_argument(
        "--inference",
        action="store_true",
        help="measure inference of the exported networks at batch 1 (requires tools/setup --bench)",
    )
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--repeat", type=int, default=5)
    a.add_argument("--accuracy", default="default", choices=["strict", "default", "fast"])
    a.add_argument(
        "--tune", action="store_true", help="measure kernels that are not in the tuning database"
    )
    a.add_argument(
        "--slowest",
        type=int,
        default=0,
        help="also print this many of the slowest commands of each network",
    )
    o = a.parse_args()
    if o.inference:
        common.use_bench_python()
    names = (
        o.networks.split(",") if o.networks else common.network_names() if o.inference else TRAINED
    )
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dlc-breakdown-") as folder:
        for name in names:
            try:
                show_breakdown(name, o, folder)
            except RuntimeError as error:
                failed += 1
                print(f"{name}: {error}", flush=True)
    return failed != 0


sys.exit(main())
