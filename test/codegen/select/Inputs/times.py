# Multiplies the measured times of what a tuning database holds of one kind of operation.
import json
import sys

path, operation, factor = sys.argv[1:]
lines = open(path).read().splitlines()
for number, line in enumerate(lines[1:], 1):
    entry = json.loads(line)
    if operation in entry["operation"]:
        for candidate in entry["candidates"]:
            for name in ("min_us", "median_us"):
                candidate[name] = candidate.get(name, 0) * float(factor)
        lines[number] = json.dumps(entry, separators=(",", ":"))
open(path, "w").write("\n".join(lines) + "\n")
