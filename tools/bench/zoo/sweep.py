"""Shared part of operators.py and layers.py: runs each row in its own process and writes the result to a file."""

import argparse
import json
import math
import os
import statistics
import time

import common
import zoo

PAUSE = 0.02  # pause in seconds between tools: threads of a pool spin for a while after their work


def median_run_time(run, seconds):
    """Runs `run` repeatedly during `seconds`. Returns the median time of a run."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run_interleaved(tools, o):
    """Runs the tools interleaved in several rounds. Returns the times of each tool."""
    times = {name: [] for name in tools}
    for _ in range(o.rounds):
        for name, run in tools.items():
            time.sleep(PAUSE)
            run()
            times[name].append(median_run_time(run, o.seconds) * 1e3)
    return {
        name: {"rounds_ms": list_, "median_ms": statistics.median(list_)}
        for name, list_ in times.items()
    }


def measure_in_child(path, name, row, o, measure):
    """Measures a row in a forked process, so that a crash is recorded as the row's result, and libraries have no threads of other rows."""
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            zoo.write_result(
                path,
                {
                    "name": name,
                    "batch": 0,
                    "threads": o.threads,
                    "when": time.strftime("%Y-%m-%d"),
                    "tools": {},
                    "refused": f"signal {os.WTERMSIG(status)}",
                },
            )
        return
    status = 1
    try:
        zoo.write_result(path, measure(row, o))
        status = 0
    except common.failures() as error:  # an error of the measurement itself, which is not recorded
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
    os._exit(status)


def report(o, line, is_right):
    results = [r for r in zoo.read_results(o.results) if r["threads"] == o.threads]
    refused, timed = (
        [r for r in results if "refused" in r],
        sorted((r for r in results if "ratio" in r), key=lambda r: r["ratio"]),
    )
    print(
        f"{len(results)} rows, {len(refused)} refused, {sum(not is_right(r) for r in timed)} differ, {len(results) - len(refused) - len(timed)} that no peer runs"
    )
    for r in refused:
        print("  " + line(r))
    if timed:
        ratios = [r["ratio"] for r in timed]
        print(
            f"  ratio to the better peer: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, median {statistics.median(ratios):.2f}, "
            f"least {ratios[0]:.2f}; at least 1.0: {sum(x >= 1 for x in ratios)}, at least 0.5: {sum(x >= 0.5 for x in ratios)} of {len(ratios)}"
        )
    for r in timed:
        if r["ratio"] < o.below or not is_right(r):
            print("  " + line(r))


def main(description, folder, prepare, measure, line, is_right):
    """Runs a sweep over all rows. prepare(o) loads the modules that all rows need, and returns the rows by name."""
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument(
        "--only", default="", help="prefixes of the names of rows to measure, separated by commas"
    )
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=0.03,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", folder))
    a.add_argument(
        "--again", action="store_true", help="measure again what has been measured before"
    )
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument(
        "--below", type=float, default=1.0, help="with --report: print the rows below this ratio"
    )
    o = a.parse_args()
    os.makedirs(o.results, exist_ok=True)
    if o.report:
        return report(o, line, is_right)
    for name, row in prepare(o).items():
        path = os.path.join(o.results, f"{name.replace('/', '_')}-t{o.threads}.json")
        if not name.startswith(tuple(o.only.split(","))) or (os.path.exists(path) and not o.again):
            continue
        measure_in_child(path, name, row, o, measure)
        if os.path.exists(path):
            with open(path) as file:
                print(line(json.load(file)), flush=True)
