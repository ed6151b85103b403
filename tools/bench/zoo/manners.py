#!/usr/bin/env python3
"""Measures networks of the zoo while other work is running: next to busy processes, next to a second session, and between operations of PyTorch.

    tools/bench/zoo/manners.py [--networks timm-csatv2,...] [--threads 2] [--rounds 9] [--json FILE]

Busy processes are loops that never wait. In each round each tool runs alone, next to one and next to two of them. Its slowdown is the ratio of its time next
to them to its time alone; the result is dlc's slowdown relative to the better peer's. Two sessions, in one process and in two, run in parallel for the same
duration: together they should finish as many runs as one session alone. Between operations of PyTorch: a run of dlc follows each matmul on PyTorch's threads,
and only the run of dlc is timed; and the same without PyTorch. All results are medians over the rounds with their 95 % intervals.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn
import zoo

BUSY = "while True: pass"


def time_repeated_runs(run, seconds, before=lambda: None):
    """Runs `run` repeatedly for a duration and returns the times; `before` is called before each run and is not timed."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        before()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def run_worker(model, given, threads):
    """Serves requests in one process with PyTorch and two sessions of dlc: runs the requested combination and prints the times."""
    import numpy as np
    import torch
    import worker

    torch.set_num_threads(threads)
    inputs = dict(np.load(given))
    sessions = [worker.dlc(model, threads, inputs)[0] for _ in range(2)]
    left, right = torch.randn(512, 512), torch.randn(512, 512)
    for run in sessions:
        run()
    print(json.dumps({}), flush=True)
    for text in sys.stdin:
        asked = json.loads(text)
        seconds = asked["seconds"]
        if asked["mode"] == "sessions":
            found = [None] * asked["count"]

            def one(i):
                found[i] = time_repeated_runs(sessions[i], seconds)

            some = [threading.Thread(target=one, args=(i,)) for i in range(asked["count"])]
            for each in some:
                each.start()
            for each in some:
                each.join()
            times = sum(found, [])
        else:
            before = (
                (lambda: torch.mm(left, right)) if asked["mode"] == "between" else (lambda: None)
            )
            times = time_repeated_runs(sessions[0], seconds, before)
        print(json.dumps({"times": times}), flush=True)


def median(values):
    return common.median_interval(values)[0]


def measure_under_load(workers, o):
    """Measures the workers next to 0, 1 and 2 busy processes. Returns {tool: {number of busy processes: [seconds of each round]}}."""
    found = {each.tool: {0: [], 1: [], 2: []} for each in workers}
    for _ in range(o.rounds):
        for count in (0, 1, 2):
            others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
            try:
                time.sleep(0.05)
                for each in workers:
                    each.round(o.seconds)
                    found[each.tool][count].append(each.rounds[-1])
            finally:
                for other in others:
                    other.kill()
                    other.wait()
    return found


def count_parallel_runs(some, seconds):
    """Runs the workers in parallel for a duration. Returns the total number of finished runs."""
    counts = [0] * len(some)

    def one(i):
        counts[i] = len(some[i].ask(seconds=seconds)["times"])

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(some))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return sum(counts)


def measure(name, o):
    import numpy as np
    import onnx
    import weightless

    result = {"name": name, "threads": o.threads}
    with tempfile.TemporaryDirectory(prefix="dlc-manners-") as folder:
        at = lambda *parts: os.path.join(folder, *parts)
        model = weightless.read(drawn.graph_path(name, 1))
        onnx.save(model, at("model.onnx"))
        np.savez(at("inputs.npz"), **weightless.random_inputs(model))
        common.compile_program(at("model.onnx"), at("model.dlcx"), o.threads, at("cache"))
        worker = lambda tool: common.Worker(
            tool,
            [
                sys.executable,
                os.path.join(os.path.dirname(HERE), "worker.py"),
                tool,
                at("model.dlcx" if tool == "dlc" else "model.onnx"),
                str(o.threads),
                at("inputs.npz"),
            ],
            o.threads,
        )
        workers = [worker(tool) for tool in ["dlc", *zoo.PEERS]]
        second = worker("dlc")
        inside = common.Worker(
            "inside",
            [
                sys.executable,
                __file__,
                "--work",
                at("model.dlcx"),
                at("inputs.npz"),
                str(o.threads),
            ],
            o.threads,
        )
        try:
            for each in workers + [second, inside]:
                if each.error:
                    raise RuntimeError(f"{each.tool}: {each.error}")
            found = measure_under_load(workers, o)
            result["alone_ms"] = {tool: 1e3 * median(times[0]) for tool, times in found.items()}
            slower = lambda tool, count: [
                busy / alone for busy, alone in zip(found[tool][count], found[tool][0])
            ]
            result["slow_down"] = {
                tool: {count: median(slower(tool, count)) for count in (1, 2)} for tool in found
            }
            for count in (1, 2):
                peer = min(zoo.PEERS, key=lambda tool: result["slow_down"][tool][count])
                result[f"beside_{count}"] = [
                    peer,
                    *common.median_interval(
                        [d / p for d, p in zip(slower("dlc", count), slower(peer, count))]
                    ),
                ]
                speed = min(zoo.PEERS, key=lambda tool: median(found[tool][count]))
                result[f"ratio_{count}"] = [
                    speed,
                    *common.median_interval(
                        [p / d for d, p in zip(found["dlc"][count], found[speed][count])]
                    ),
                ]
            processes, threads, between = [], [], []
            for _ in range(o.rounds):
                one = count_parallel_runs(workers[:1], o.seconds)
                processes.append(count_parallel_runs([workers[0], second], o.seconds) / one)
                run = lambda mode, count=1: inside.ask(mode=mode, count=count, seconds=o.seconds)[
                    "times"
                ]
                threads.append(len(run("sessions", 2)) / len(run("sessions", 1)))
                between.append(median(run("plain")) / median(run("between")))
            for key, values in (
                ("two_processes", processes),
                ("two_sessions", threads),
                ("between_torch", between),
            ):
                result[key] = common.median_interval(values)
        finally:
            for each in workers + [second, inside]:
                each.close()
    return result


def line(r):
    text = (
        f"{r['name']}: alone "
        + ", ".join(f"{tool} {ms:.2f} ms" for tool, ms in r["alone_ms"].items())
        + "\n"
    )
    for count in (1, 2):
        peer, middle, low, high = r[f"beside_{count}"]
        text += f"  beside {count} busy: slower by " + ", ".join(
            f"{tool} {about[count]:.2f}" for tool, about in r["slow_down"].items()
        )
        text += f"; dlc's over {peer}'s {middle:.2f} [{low:.2f}, {high:.2f}]"
        peer, middle, low, high = r[f"ratio_{count}"]
        text += f"; {middle:.2f} [{low:.2f}, {high:.2f}] of {peer}'s speed\n"
    for key, what in (
        ("two_processes", "two processes reach together"),
        ("two_sessions", "two sessions of one process reach together"),
        ("between_torch", "between PyTorch's products a run keeps"),
    ):
        middle, low, high = r[key]
        text += f"  {what} {middle:.2f} [{low:.2f}, {high:.2f}] of one's speed\n"
    return text


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--networks",
        default="",
        help="names of networks, separated by commas; default: three networks",
    )
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.4,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument("--json", help="file to which the results are written")
    a.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.work:
        return run_worker(o.work[0], o.work[1], int(o.work[2]))
    names = (
        o.networks.split(",")
        if o.networks
        else random.Random(17).sample(
            [name for name, batch in drawn.list_graphs() if batch == 1], 3
        )
    )
    results = []
    for name in names:
        results.append(measure(name, o))
        print(line(results[-1]), flush=True)
    if o.json:
        with open(o.json, "w") as file:
            json.dump(common.describe_run(results), file, indent=1)


if __name__ == "__main__":
    main()
