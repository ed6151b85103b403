"""Checks whether a tuning database has GPU times of the given candidates: tuned.py FILE NAME=IMPLEMENTATION,... ..."""

import json
import sys

with open(sys.argv[1]) as file:
    entries = {entry["name"]: entry for entry in map(json.loads, list(file)[1:])}
for asked in sys.argv[2:]:
    name, _, implementations = asked.partition("=")
    entry = entries[name]
    assert entry["machine"]["gpu"] == "Emulated GPU 0", entry["machine"]
    assert entry["versions"]["cudnn"] == "91900" and entry["versions"]["driver"] == "13000", entry[
        "versions"
    ]
    times = {
        each["implementation"]: each.get("min_us", 0)
        for each in entry["candidates"]
        if "rejected" not in each
    }
    for implementation in implementations.split(","):
        assert times.get(implementation, 0) > 0, (
            f"{name}: no time of {implementation} in {entry['candidates']}"
        )
