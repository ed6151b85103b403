"""Checks the output of dlc inspect about collectives: overlap.py WHAT FILE..."""

import json
import sys

what, *files = sys.argv[1:]
read = [json.load(open(file)) for file in files]


def memory(whole, half):
    """Beside what the step of one process takes, each gradient has room once."""
    gradients = half["shared"]["bytes"]
    assert half["arena_bytes"] <= whole["arena_bytes"] + gradients + 64 * len(half["commands"]), (
        whole["arena_bytes"],
        half["arena_bytes"],
        gradients,
    )


def run(about, trace):
    shared = about["shared"]
    assert (
        shared["times"] == "measured"
        and abs(shared["link"]["latency_us"] - 2000) < 1
        and abs(shared["link"]["gigabytes_per_s"] - 1) < 1e-6
    )
    end = 0
    for each in shared["collectives"]:
        took = each["reduced_us"] - each["start_us"]
        assert took >= 2000 + each["bytes"] / 1e3, each
        assert each["written_us"] <= each["start_us"] and each["start_us"] >= end, each
        assert 0 <= each["exposed_us"] <= took + 1e-3, each
        end = each["reduced_us"]
    # Nothing hides the last one but updates, which are short here.
    assert shared["exposed_us"] > 1000 and shared["step_us"] >= shared["exposed_us"], shared
    rows = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    meet = [
        e
        for e in trace["traceEvents"]
        if e["ph"] == "X" and "collectives" in rows[e["tid"]] and e["cat"] == "library"
    ]
    assert sorted(rows.values()) == ["cpu", "cpu, collectives"] and len(meet) == len(
        shared["collectives"]
    ), (rows, len(meet))
    assert all(e["dur"] >= 2000 for e in meet)


def buckets(small, large):
    small, large = small["shared"], large["shared"]
    assert small["bytes"] == large["bytes"] and len(small["collectives"]) >= 4 > len(
        large["collectives"]
    ), (small, large)


def model(about):
    one, two, eight, sixteen, many = about["shared"]["predictions"]
    assert (
        about["shared"]["times"] == "estimated"
        and one["exposed_us"] == one["communication_us"] == 0 < one["step_us"]
    )
    # Nobody waits for other ranks while there are gradients to compute.
    shared = about["shared"]["collectives"]
    assert all(
        each["needed_us"] >= max(other["written_us"] for other in shared) - 1e-3 for each in shared
    ), shared
    steps = [each["step_us"] for each in (one, two, eight, sixteen, many)]
    assert steps == sorted(steps) and many["machines"] == 128, steps
    for each in (two, eight, sixteen, many):
        assert abs(each["step_us"] - one["step_us"] - each["exposed_us"]) < 1, each


{"memory": memory, "run": run, "buckets": buckets, "model": model}[what](*read)
