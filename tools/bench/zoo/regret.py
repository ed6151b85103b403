#!/usr/bin/env python3
"""Measures the cost model's regret over the kernels of the zoo's networks, and the distance of kernels from the machine's limits.

    tools/bench/zoo/regret.py [--networks timm-csatv2,...] [--sample 20] [--budget 20s] [--results build/zoo/regret]
    tools/bench/zoo/regret.py --report [--results build/zoo/regret]

`dlc tune` measures all candidates of each distinct operation within a time budget per network, the most expensive operations first, in one database for all
networks. Regret is the ratio of the time of the candidate that the cost model would choose to that of the best one. If an operation was measured in several
sessions, each session in turn determines the best candidate and the others measure it, because the winner of a session is selected by its noise. Operations
below 20 microseconds count only in their sum. Then the network, compiled with the cost model only, is run, and its commands are compared with the limits
measured in the same session: FMA rate, memory bandwidth, and the wake-up time of a thread. Resumable: networks with results are not measured again.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import common
import drawn
import zoo

SMALL, WAKING = (
    20,
    5,
)  # in microseconds: time below which operations count only in their sum, and wake-up time of a thread


def compute_regret(entry):
    """Returns the regret of the cost model for one operation in the tuning database, or None if there is only one candidate.
    The result is (regret, microseconds of the model's choice, its name, the best candidate's name, number of sessions)."""
    timed = [c for c in entry["candidates"] if not c.get("rejected") and c.get("median_us", 0) > 0]
    if len(timed) < 2:
        return None
    chosen = min(timed, key=lambda c: (c["estimate_us"], c["implementation"]))
    sessions = [
        i
        for i in range(max(len(c["sittings"]) for c in timed))
        if i < len(chosen["sittings"]) and chosen["sittings"][i] > 0
    ]
    mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
    behind = lambda c, some: mean(
        [c["sittings"][i] for i in some if i < len(c["sittings"]) and c["sittings"][i] > 0]
        or [c["behind"]]
    )
    found = []
    for names, times in ((sessions[::2], sessions[1::2]), (sessions[1::2], sessions[::2])):
        if names and times:
            best = min(timed, key=lambda c: behind(c, names))
            found.append(behind(chosen, times) / behind(best, times))
    best = min(timed, key=lambda c: c["behind"])
    # Clearly slower candidates are measured in only one session, so their regret is computed from the same session.
    value = mean(found) if found else chosen["behind"] / best["behind"]
    return (
        max(value, 1.0),
        chosen["median_us"],
        chosen["implementation"],
        best["implementation"],
        len(sessions),
    )


def commands_with_limits(program, threads):
    """Returns the commands of a program with their times, and with the times that they would take at the machine's limits."""
    found = zoo.inspect_program(program, threads, repeat=15)[2]
    for c in found:
        c["floor_us"] += WAKING * c["times"]
    return found


def measure(name, o, database):
    import onnx
    import weightless

    with tempfile.TemporaryDirectory(prefix="dlc-regret-") as folder:
        at = lambda *parts: os.path.join(folder, *parts)
        onnx.save(weightless.read(drawn.graph_path(name, 1)), at("model.onnx"))
        subprocess.run(
            [
                common.DLC,
                "tune",
                at("model.onnx"),
                "--db",
                database,
                "--threads",
                str(o.threads),
                "--budget",
                o.budget,
                "--spread",
                "100ms",
                "--cache",
                at("cache"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        common.compile_program(at("model.onnx"), at("model.dlcx"), o.threads, at("other"))
        return {"name": name, "commands": commands_with_limits(at("model.dlcx"), o.threads)}


def report(o, database):
    found = []
    with open(database) as file:
        for text in file:
            entry = json.loads(text)
            if (
                "candidates" in entry
                and not entry.get("unfinished")
                and (one := compute_regret(entry))
            ):
                found.append((*one, entry.get("name", "")))
    large = sorted((one for one in found if one[1] >= SMALL), key=lambda one: -one[0])
    share = lambda some, most: sum(one[0] <= most for one in some) / max(1, len(some))
    print(
        f"{len(found)} operations with a choice, {len(large)} of at least {SMALL} us: regret within 1.25: {share(large, 1.25):.3f}, within 2: {share(large, 2):.3f}"
    )
    small = [one for one in found if one[1] < SMALL]
    print(
        f"below {SMALL} us: {len(small)}, {sum(one[1] for one in small):.0f} us in all, {sum(one[1] / one[0] for one in small):.0f} by the best candidates"
    )
    for one in large[: o.worst]:
        print(
            f"  {one[0]:6.2f}  {one[1]:9.1f} us  {one[2]:34} best {one[3]:34} {one[4]} sessions  {one[5][-60:]}"
        )
    networks = zoo.read_results(o.results)
    defects = [
        (c["us"] / c["floor_us"], network["name"], c)
        for network in networks
        for c in network["commands"]
        if c["part"] > 0.01 and c["us"] > 10 * c["floor_us"]
    ]
    commands = sum(len(network["commands"]) for network in networks)
    print(
        f"{len(networks)} networks, {commands} commands: {len(defects)} take more than 1 % of their network at less than a tenth of the machine's limits"
    )
    for times, name, c in sorted(defects, key=lambda each: -each[2]["part"])[: o.worst]:
        print(
            f"  {times:6.1f} times the limit, {100 * c['part']:4.1f} % of {name}, {c['us']:9.1f} us  {c['implementation']}  {c['name'][-70:]}"
        )
    references = [
        (network["name"], c["name"])
        for network in networks
        for c in network["commands"]
        if c["implementation"].startswith(("ref", "simple"))
    ]
    print(f"reference implementations: {len(references)}", *references[: o.worst], sep="\n  ")


def main():
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default="")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument(
        "--sample",
        type=int,
        help="number of networks to sample; the sample is the same in each run",
    )
    a.add_argument("--budget", default="20s", help="time limit for measuring each network")
    a.add_argument("--results", default=os.path.join(common.BUILD, "zoo", "regret"))
    a.add_argument(
        "--report", action="store_true", help="print the stored results and measure nothing"
    )
    a.add_argument("--worst", type=int, default=30, help="number of lines of each list")
    o = a.parse_args()
    os.makedirs(o.results, exist_ok=True)
    database = os.path.join(o.results, "tuned.jsonl")
    if o.report:
        return report(o, database)
    wanted = [
        name
        for name, batch in drawn.list_graphs()
        if batch == 1 and (not o.networks or name in o.networks.split(","))
    ]
    random.Random(5).shuffle(wanted)
    for name in wanted[: o.sample]:
        path = os.path.join(o.results, name + ".json")
        if os.path.exists(path):
            continue
        try:
            zoo.write_result(path, measure(name, o, database))
            print(name, flush=True)
        except (
            common.failures()
        ) as error:  # an error of the measurement itself, or a network that dlc rejects
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    report(o, database)


if __name__ == "__main__":
    main()
