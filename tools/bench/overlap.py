#!/usr/bin/env python3
"""Whether work on two devices runs at the same time, and copies behind it.

    tools/bench/overlap.py [--size 512] [--steps 12] [--rounds 5]

Two chains of products that do not need one another: in sequence on one device with one core, and on two
virtual devices with one core each. Then a chain on cpu:1 whose operands come over one after another: how much
of the copies' time lies behind products, by the trace.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DLC = os.path.join(HERE, "..", "..", "build", "bin", "dlc")


def chain(name, size, steps, device):
    t = f"tensor<{size}x{size}xf32>"
    attr = f' {{dlc.device = "{device}"}}' if device else ""
    lines, value = [], "%x"
    for i in range(steps):
        lines.append(f"  %{name}{i} = dlc.matmul {value}, %w{name}{attr} : ({t}, {t}) -> {t}")
        value = f"%{name}{i}"
    return lines, value


def two_chains(size, steps, devices):
    t = f"tensor<{size}x{size}xf32>"
    a, last_a = chain("a", size, steps, devices and devices[0])
    b, last_b = chain("b", size, steps, devices and devices[1])
    where = [f', dlc.device = "{d}"' for d in devices] if devices else ["", ""]
    return "\n".join(
        [f'func.func @main(%x: {t} {{dlc.name = "x"}}) -> ({t} {{dlc.name = "y"{where[0]}}}, {t} {{dlc.name = "z"{where[1]}}}) {{',
         # Other weights: the same products would be computed once.
         f"  %wa = dlc.constant dense<0.001> : {t}", f"  %wb = dlc.constant dense<0.002> : {t}"] + a + b + [f"  return {last_a}, {last_b} : {t}, {t}", "}"])


def fed_chain(size, steps):
    t = f"tensor<{size}x{size}xf32>"
    inputs = ", ".join(f'%x{i}: {t} {{dlc.name = "x{i}"}}' for i in range(steps + 1))
    lines, value = [f'func.func @main({inputs}) -> ({t} {{dlc.name = "y"}}) {{'], "%x0"
    for i in range(steps):
        lines.append(f'  %p{i} = dlc.matmul {value}, %x{i + 1} {{dlc.device = "cpu:1"}} : ({t}, {t}) -> {t}')
        value = f"%p{i}"
    return "\n".join(lines + [f"  return {value} : {t}", "}"])


def make(folder, name, text, threads):
    path = os.path.join(folder, name + ".mlir")
    with open(path, "w") as out:
        out.write(text)
    program = os.path.join(folder, name + ".dlcx")
    subprocess.run([DLC, "compile", path, "--threads", str(threads), "--cache", "none", "-o", program], check=True,
                   stdout=subprocess.DEVNULL)
    return program


def run(program, threads, repeat, *more):
    text = subprocess.run([DLC, "run", program, "--threads", str(threads), "--repeat", str(repeat), "--json", *more],
                          check=True, capture_output=True, text=True).stdout
    figures = json.loads(text)
    return next(figures[key] for key in ("min_ms", "best_ms", "run_ms") if key in figures)


def hidden(trace):
    """Of the copies' time, how much lies within that of other rows' commands."""
    events = json.load(open(trace))["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    work = [e for e in events if e["ph"] == "X" and e["cat"] not in ("record", "wait")]
    copies = [e for e in work if "copies" in rows[e["tid"]]]
    busy = sorted((e["ts"], e["ts"] + e["dur"]) for e in work if "copies" not in rows[e["tid"]])
    total = sum(e["dur"] for e in copies)
    behind = sum(max(0, min(e["ts"] + e["dur"], end) - max(e["ts"], start)) for e in copies for start, end in busy)
    return total, behind


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one = make(folder, "one", two_chains(options.size, options.steps, None), 1)
        two = make(folder, "two", two_chains(options.size, options.steps, ("cpu:1", "cpu:2")), 2)
        best = {one: float("inf"), two: float("inf")}
        for _ in range(options.rounds):
            for program, threads in ((one, 1), (two, 2)):
                best[program] = min(best[program], run(program, threads, 5))
        print(f"in sequence, one core        {best[one]:9.3f} ms")
        print(f"two devices, one core each   {best[two]:9.3f} ms   {best[two] / best[one]:.2f} of it")
        fed = make(folder, "fed", fed_chain(options.size, options.steps), 2)
        trace = os.path.join(folder, "trace.json")
        run(fed, 2, 1, "--trace", trace)
        total, behind = hidden(trace)
        print(f"copies to cpu:1              {total / 1000:9.3f} ms   {behind / total:.0%} of it while products ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
