#!/usr/bin/env python3
"""Measures whether work on two devices runs in parallel, and whether copies overlap with computation.

    tools/bench/overlap.py [--size 384] [--steps 16] [--rounds 5]

Runs two independent chains of matmuls: in sequence on one device with one core, and on two virtual devices with one core each. As an upper
bound, runs the first program in two processes in parallel. Rounds in which other programs used CPU time are discarded, because they may take
it from either variant.
Then runs a chain on cpu:1 whose operands are copied one after another, and prints from the trace which fraction of the copies' time overlaps with
matmuls.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DLC = os.path.join(HERE, "..", "..", "build", "bin", "dlc")


def matmul_chain(name, size, steps, device):
    t = f"tensor<{size}x{size}xf32>"
    attr = f' {{dlc.device = "{device}"}}' if device else ""
    lines, value = [], "%x"
    for i in range(steps):
        lines.append(f"  %{name}{i} = dlc.matmul {value}, %w{name}{attr} : ({t}, {t}) -> {t}")
        value = f"%{name}{i}"
    return lines, value


def two_matmul_chains(size, steps, devices):
    t = f"tensor<{size}x{size}xf32>"
    a, last_a = matmul_chain("a", size, steps, devices and devices[0])
    b, last_b = matmul_chain("b", size, steps, devices and devices[1])
    where = [f', dlc.device = "{d}"' for d in devices] if devices else ["", ""]
    return "\n".join(
        [
            f'func.func @main(%x: {t} {{dlc.name = "x"}}) -> ({t} {{dlc.name = "y"{where[0]}}}, {t} {{dlc.name = "z"{where[1]}}}) {{',
            # The chains have different weights, so that common subexpression elimination does not merge them.
            f"  %wa = dlc.constant dense<0.001> : {t}",
            f"  %wb = dlc.constant dense<0.002> : {t}",
        ]
        + a
        + b
        + [f"  return {last_a}, {last_b} : {t}, {t}", "}"]
    )


def chain_with_streamed_inputs(size, steps):
    t = f"tensor<{size}x{size}xf32>"
    inputs = ", ".join(f'%x{i}: {t} {{dlc.name = "x{i}"}}' for i in range(steps + 1))
    lines, value = [f'func.func @main({inputs}) -> ({t} {{dlc.name = "y"}}) {{'], "%x0"
    for i in range(steps):
        lines.append(
            f'  %p{i} = dlc.matmul {value}, %x{i + 1} {{dlc.device = "cpu:1"}} : ({t}, {t}) -> {t}'
        )
        value = f"%p{i}"
    return "\n".join(lines + [f"  return {value} : {t}", "}"])


def compile_text(folder, name, text, threads):
    path = os.path.join(folder, name + ".mlir")
    with open(path, "w") as out:
        out.write(text)
    program = os.path.join(folder, name + ".dlcx")
    subprocess.run(
        [DLC, "compile", path, "--threads", str(threads), "--cache", "none", "-o", program],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return program


def run(program, threads, repeat, *more):
    text = subprocess.run(
        [DLC, "run", program, "--threads", str(threads), "--repeat", str(repeat), "--json", *more],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    figures = json.loads(text)
    return next(figures[key] for key in ("min_ms", "best_ms", "run_ms") if key in figures)


def run_two_processes(program, repeat):
    """Runs the program in two processes of one thread each, in parallel. Returns the time of the slower process."""
    runs = [
        subprocess.Popen(
            [DLC, "run", program, "--threads", "1", "--repeat", str(repeat), "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    figures = [json.loads(run.communicate()[0]) for run in runs]
    return max(
        next(each[key] for key in ("min_ms", "best_ms", "run_ms") if key in each)
        for each in figures
    )


class OtherCpuTime:
    """Measures the CPU time, in cores, that other programs have used since the last call."""

    def __init__(self):
        self.before = self.now()

    @staticmethod
    def now():
        with open("/proc/stat") as stat:
            user, nice, system, _, _, irq, softirq, steal = (
                int(x) for x in stat.readline().split()[1:9]
            )
        ours = sum(
            sum(resource.getrusage(who)[:2])
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return time.monotonic(), (user + nice + system + irq + softirq + steal) / os.sysconf(
            "SC_CLK_TCK"
        ) - ours

    def took(self):
        before, self.before = self.before, self.now()
        return (self.before[1] - before[1]) / (self.before[0] - before[0])


def measure_copy_overlap(trace):
    """Returns the total time of the copies in a trace, and the part of it that overlaps with commands of other rows."""
    events = json.load(open(trace))["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    work = [e for e in events if e["ph"] == "X" and e["cat"] not in ("record", "wait")]
    copies = [e for e in work if "copies" in rows[e["tid"]]]
    busy = sorted((e["ts"], e["ts"] + e["dur"]) for e in work if "copies" not in rows[e["tid"]])
    total = sum(e["dur"] for e in copies)
    behind = sum(
        max(0, min(e["ts"] + e["dur"], end) - max(e["ts"], start))
        for e in copies
        for start, end in busy
    )
    return total, behind


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size",
        type=int,
        default=384,
        help="size of the matrices; three of the default size fit into the private cache of a core",
    )
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument(
        "--rounds", type=int, default=5, help="number of rounds without interference"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60,
        help="time limit in seconds, including rounds with interference",
    )
    parser.add_argument(
        "--noise",
        type=float,
        default=0.1,
        help="share of a core that other processes may use in a round without interference",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one = compile_text(folder, "one", two_matmul_chains(options.size, options.steps, None), 1)
        two = compile_text(
            folder, "two", two_matmul_chains(options.size, options.steps, ("cpu:1", "cpu:2")), 2
        )
        rounds, noise, end = [], [], time.monotonic() + options.seconds
        while len(rounds) < options.rounds and time.monotonic() < end:
            others = OtherCpuTime()
            figures = run(one, 1, 5), run(two, 2, 5), run_two_processes(one, 5)
            noise.append(others.took())
            if noise[-1] <= options.noise:
                rounds.append(figures)
        if not rounds:
            print(
                f"other programs took {min(noise):.1f} to {max(noise):.1f} cores in each of {len(noise)} rounds; "
                "run this where nothing else does"
            )
            return 1
        sequence, devices, processes = (sorted(each)[len(rounds) // 2] for each in zip(*rounds))
        print(f"medians of {len(rounds)} quiet rounds of {len(noise)}")
        print(f"in sequence, one core        {sequence:9.3f} ms")
        print(f"two devices, one core each   {devices:9.3f} ms   {devices / sequence:.2f} of it")
        print(
            f"two processes, half each     {processes / 2:9.3f} ms   {processes / 2 / sequence:.2f} of it: the limit of the machine"
        )
        fed = compile_text(
            folder, "fed", chain_with_streamed_inputs(options.size, options.steps), 2
        )
        trace = os.path.join(folder, "trace.json")
        run(fed, 2, 1, "--trace", trace)
        total, behind = measure_copy_overlap(trace)
        print(
            f"copies to cpu:1              {total / 1000:9.3f} ms   {behind / total:.0%} of it while matmuls ran"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
