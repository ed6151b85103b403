#!/usr/bin/env python3
"""Writes the tables of docs/benchmarks.md, and the chart and the summary of the top README (chart.py), from the results of bench.py, train.py and the zoo's scripts.

    tools/bench/bench.py --threads 2 --json build/bench/inference.json
    tools/bench/tables.py inference-avx512=build/bench/inference.json     # imports these results as docs/benchmarks/inference-avx512.json
    tools/bench/tables.py                                                 # writes all tables and the chart again
    tools/bench/tables.py --check                                         # checks that they are up to date

A table between <!-- table: NAME --> and <!-- /table --> is generated from docs/benchmarks/NAME.json.
"""

import json
import math
import os
import re
import statistics
import sys
import time

import chart

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE, RESULTS = (os.path.join(ROOT, "docs", name) for name in ("benchmarks.md", "benchmarks"))
TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- /table -->)", re.S)
OWN = ("dlc", "dlc-strict")
# Fields of a tool's results that the tables use; times of single rounds are not imported.
KEPT = (
    "min_ms",
    "median_ms",
    "ratio",
    "interval",
    "cold_s",
    "warm_s",
    "ready_s",
    "peak_mib",
    "memory_mib",
    "error",
)


def convert_gpu_results(results, path):
    """Converts the file torch.json of tools/gpu/run to measurements: one for each network, with one entry for each way to run PyTorch."""
    measurements = {}
    for key, case in results["cases"].items():
        network, mode, precision, tool = key.split("/")
        if "ratio" not in case:
            continue
        m = measurements.setdefault(
            (network, mode, precision),
            {
                "network": network,
                "mode": mode,
                "precision": precision,
                "batch": case["batch"],
                "gpu": {},
            },
        )
        m["gpu"][tool] = {
            "dlc_ms": case["dlc_ms"],
            "torch_ms": case["torch_ms"],
            "ratio": case["ratio"],
            "interval": [case["low"], case["high"]],
        }
    torch = results["torch"]
    return {
        "command": "gpu-kit/run --step torch",
        "machine": f"{torch['device']}, PyTorch {torch['version']}",
        "when": results.get("when", time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime(path))))[
            :10
        ],
        "measurements": list(measurements.values()),
    }


def import_results(path):
    with open(path, encoding="utf-8") as f:
        results = json.load(f)
    if "cases" in results:
        results = convert_gpu_results(results, path)
    for each in results.get("networks", []) or results["measurements"]:
        for r in [*each.get("gpu", {}).values(), *each.get("compiled", {}).values()]:
            r.update((key, round(value, 4)) for key, value in r.items() if isinstance(value, float))
            if "interval" in r:
                r["interval"] = [round(value, 4) for value in r["interval"]]
        if "results" not in each:
            each.update(
                (key, round(value, 4))
                for key, value in each.items()
                if isinstance(value, float) and key != "error"
            )
            continue
        each["results"] = {
            tool: {
                key: round(value, 4) if isinstance(value, float) else value
                for key, value in r.items()
                if key in KEPT
            }
            for tool, r in each["results"].items()
        }
    return results


def find_best_peer(results):
    """Returns the name and the minimum time of the best peer. It is chosen by medians if the ratios have intervals, otherwise by minima, as in the ratios."""
    by = "median_ms" if "interval" in results.get("dlc", {}) else "min_ms"
    peers = {tool: r for tool, r in results.items() if tool not in OWN and by in r}
    name = min(peers, key=lambda tool: peers[tool][by], default=None)
    return name, peers[name]["min_ms"] if name else None


def format_number(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


def format_ratio(r):
    if "ratio" not in r:
        return ""
    return f"{r['ratio']:.2f}" + (
        " [{:.2f}, {:.2f}]".format(*r["interval"]) if "interval" in r else ""
    )


def join_numbers(values, form):
    return (
        " / ".join(format_number(value, form) or "-" for value in values)
        if any(value is not None for value in values)
        else ""
    )


def inference_table(measurements):
    others = list(
        dict.fromkeys(tool for m in measurements for tool in m["results"] if tool not in OWN)
    )
    lines = [
        f"| network | threads | dlc ms | strict ms | best peer ms | | ratio | strict | compile s, cold / warm | MiB dlc / {' / '.join(others)} |",
        "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    for m in measurements:
        dlc, strict = (m["results"].get(tool, {}) for tool in OWN)
        peer, time = find_best_peer(m["results"])
        peaks = [m["results"].get(tool, {}).get("peak_mib") for tool in ("dlc", *others)]
        cells = [
            m["network"],
            str(m["threads"]),
            format_number(dlc.get("min_ms"), "{:.3f}"),
            format_number(strict.get("min_ms"), "{:.3f}"),
            format_number(time, "{:.3f}"),
            peer or "",
            format_ratio(dlc),
            format_ratio(strict),
            join_numbers([dlc.get("cold_s"), dlc.get("warm_s")], "{:.2f}"),
            join_numbers(peaks, "{:.0f}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def training_table(measurements):
    lines = [
        "| network | type | threads | dlc ms | strict ms | best peer ms | | ratio | strict | MiB dlc / PyTorch | ready s dlc / torch.compile |",
        "|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    for m in measurements:
        results = m["results"]
        dlc, strict = (results.get(tool, {}) for tool in OWN)
        peer, time = find_best_peer(results)
        eager = [
            r["memory_mib"]
            for tool, r in results.items()
            if tool in ("torch", "torch-cl") and "memory_mib" in r
        ]
        cells = [
            m["network"],
            m["precision"],
            str(m["threads"]),
            format_number(dlc.get("min_ms")),
            format_number(strict.get("min_ms")),
            format_number(time),
            peer or "",
            format_ratio(dlc),
            format_ratio(strict),
            join_numbers([dlc.get("memory_mib"), min(eager, default=None)], "{:.0f}"),
            join_numbers(
                [dlc.get("ready_s"), results.get("torch.compile", {}).get("ready_s")], "{:.1f}"
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def geometric_means(measurements):
    """Yields the geometric mean and the minimum of the ratios for each precision and number of threads."""
    groups = {}
    for m in measurements:
        for tool in OWN:
            if "ratio" in m["results"].get(tool, {}):
                groups.setdefault((m.get("precision", "f32"), m["threads"], tool), []).append(
                    m["results"][tool]["ratio"]
                )
    for (precision, threads, tool), values in groups.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        yield f"- {precision}, {threads} threads, {tool}: geometric mean of the ratios {mean:.2f}, least {min(values):.2f}, over {len(values)} networks"


def zoo(networks):
    """Returns the distribution of the ratios of the zoo's networks, and the slowest networks."""
    lines = [
        "| batch | threads | networks | refused | differ | geometric mean | at least 1.0 | at least 0.9 | least | first result, of the better peer's: median, nine in ten | memory |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    slowest = []
    for batch, threads in sorted({(n["batch"], n["threads"]) for n in networks}):
        some = [
            n
            for n in networks
            if (n["batch"], n["threads"]) == (batch, threads) and not n.get("invalid")
        ]
        timed = sorted((n for n in some if "ratio" in n), key=lambda n: n["ratio"])
        ratios = [n["ratio"] for n in timed]
        spread = lambda key: "{:.2f}, {:.2f}".format(
            statistics.median(n[key] for n in timed),
            sorted(n[key] for n in timed)[math.ceil(0.9 * len(timed)) - 1],
        )
        cells = [
            batch,
            threads,
            len(some),
            sum("refused" in n for n in some),
            sum(not n["right"] for n in timed),
            f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}",
            sum(r >= 1 for r in ratios),
            sum(r >= 0.9 for r in ratios),
            f"{ratios[0]:.2f}",
            spread("ready"),
            spread("memory"),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
        slowest += [n for n in timed[:8] if n["ratio"] < 1]
    if slowest:
        lines += ["", "The slowest of each row:", ""]
    lines += [
        f"- {n['name']}, batch {n['batch']}, {n['threads']} threads: {n['dlc_ms']:.2f} ms, {format_ratio(n)} of {n['best']}"
        for n in slowest
    ]
    return lines


def concurrent_load_table(measurements):
    lines = [
        "| network | concurrent load | slower than alone: dlc / onnxruntime / openvino | of the faster peer there |",
        "|---|---|--:|--:|",
    ]
    cell = lambda values: "{:.2f} [{:.2f}, {:.2f}]".format(*values)
    for m in measurements:
        for count in ("1", "2"):
            slower = " / ".join(
                f"{m['slow_down'][tool][count]:.2f}" for tool in ("dlc", "onnxruntime", "openvino")
            )
            lines.append(
                f"| {m['name']} | {count} busy | {slower} | {cell(m['ratio_' + count][1:])} |"
            )
    lines += [
        "",
        "| network | two processes together, of one's speed | two sessions of one process | a run between PyTorch's products |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {m['name']} | {cell(m['two_processes'])} | {cell(m['two_sessions'])} | {cell(m['between_torch'])} |"
        for m in measurements
    ]
    return lines


def ranks_table(measurements):
    counts = list(measurements[0]["ranks"])
    lines = [
        f"| network | batch | steps | loss | one process in other orders | {' | '.join(f'{n} ranks' if n != '1' else '1 rank' for n in counts)} | at most twice that |",
        f"|---|--:|--:|--:|--:|{'--:|' * len(counts)}---|",
    ]
    for m in measurements:
        orders, worst = max(m["orders"]), max(m["ranks"].values())
        cells = [
            m["network"],
            m["batch"],
            m["steps"],
            f"{m['first']:.4f} to {m['last']:.4f}",
            f"{orders:.1e}",
            *(f"{m['ranks'][n]:.1e}" for n in counts),
            "yes" if worst <= 2 * orders else "no",
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def ddp_table(measurements):
    lines = [
        "| network | batch of each | ranks | dlc ms | DDP ms, contiguous / channels last | ratio |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for m in measurements:
        peers = " / ".join(
            format_number(m["torch_ms"].get(layout)) for layout in ("contiguous", "channels-last")
        )
        lines.append(
            f"| {m['network']} | {m['batch']} | {m['ranks']} | {m['dlc_ms']:.1f} | {peers} | {format_ratio(m)} |"
        )
    return lines


def gpu_torch_table(measurements):
    tools = list(dict.fromkeys(tool for m in measurements for tool in m["gpu"]))
    lines = [
        f"| network | | type | batch | {' | '.join(f'dlc ms | {tool} ms | ratio' for tool in tools)} |",
        f"|---|---|---|--:|{'--:|--:|--:|' * len(tools)}",
    ]
    for m in measurements:
        cells = [m["network"], m["mode"], m["precision"], str(m["batch"])]
        for tool in tools:
            r = m["gpu"].get(tool, {})
            cells += [
                format_number(r.get("dlc_ms"), "{:.2f}"),
                format_number(r.get("torch_ms"), "{:.2f}"),
                format_ratio(r),
            ]
        lines.append(f"| {' | '.join(cells)} |")
    for tool in tools:
        ratios = [m["gpu"][tool]["ratio"] for m in measurements if tool in m["gpu"]]
        lines += [
            "",
            f"Geometric mean of the {len(ratios)} ratios to {tool}: {math.exp(statistics.fmean(map(math.log, ratios))):.2f}.",
        ]
    return lines


def torch_compile_table(measurements):
    lines = [
        "| network | batch | dlc ms | eager ms | Inductor ms | ratio | error | ready s, dlc / Inductor |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    timed = sorted((m for m in measurements if "ratio" in m), key=lambda m: m["ratio"])
    time_of = lambda m, tool, key="median_ms", form="{:.2f}": format_number(
        m["compiled"].get(tool, {}).get(key), form
    )
    for m in timed:
        ready = " / ".join(time_of(m, tool, "ready_s", "{:.1f}") for tool in ("dlc", "inductor"))
        cells = [
            m["name"],
            str(m["batch"]),
            *(time_of(m, tool) for tool in ("dlc", "eager", "inductor")),
            format_ratio(m),
            f"{m['error']:.1e}",
            ready,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"{len(measurements)} networks, {len(measurements) - len(timed)} refused; geometric mean of the ratios to the better of the two: "
        f"{statistics.geometric_mean(m['ratio'] for m in timed):.2f}, least {timed[0]['ratio']:.2f}.",
    ]
    for tool in ("eager", "inductor"):
        ratios = [
            m["compiled"][tool]["median_ms"] / m["compiled"]["dlc"]["median_ms"]
            for m in timed
            if "median_ms" in m["compiled"].get(tool, {})
        ]
        if ratios:
            lines.append(
                f"To {tool} alone, {len(ratios)} networks: {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}."
            )
    return lines


def first_result_table(measurements):
    lines = ["| | median | nine in ten | within the bar |", "|---|--:|--:|--:|"]
    for key, text, bar in (("time", "time", 2), ("memory", "memory", 1)):
        values = sorted(m[key] for m in measurements)
        lines.append(
            f"| {text}, of the better peer's | {statistics.median(values):.2f} | {values[math.ceil(0.9 * len(values)) - 1]:.2f} | {sum(v <= bar for v in values)} of {len(values)} at most {bar} |"
        )
    tools = list(dict.fromkeys(tool for m in measurements for tool in m["first"]))
    lines += [
        "",
        f"The longest, compared with the peers ({', '.join(tools)}; milliseconds and MiB):",
        "",
    ]
    for m in sorted(measurements, key=lambda m: m["time"], reverse=True)[:12]:
        each = ", ".join(
            "{:.0f} and {:.0f}".format(
                m["first"][tool]["ready_s"] * 1e3, m["first"][tool]["memory_mib"]
            )
            if tool in m["first"]
            else "-"
            for tool in tools
        )
        lines.append(f"- {m['name']}: {m['time']:.2f} times; {each}")
    return lines


def quantized_table(measurements):
    peers = ("onnxruntime", "openvino")
    lines = [
        f"| network | made by | dlc ms | {' ms | '.join(peers)} ms | dlc in f32 ms | ratio to the better peer | to f32 |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    timed = sorted(measurements, key=lambda m: m["ratio"])
    for m in timed:
        cells = [
            m["name"],
            m["quantized"],
            *(format_number(m["ms"].get(tool), "{:.2f}") for tool in ("dlc", *peers, "f32")),
            format_ratio(m) + ("" if m["right"] else ", differs"),
            f"{m['f32_ratio']:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for text, key in (("the better peer", "ratio"), ("dlc's program in f32", "f32_ratio")):
        values = [m[key] for m in timed]
        lines += [
            "",
            f"Geometric mean of the {len(values)} ratios to {text}: {statistics.geometric_mean(values):.2f}, least {min(values):.2f}.",
        ]
    return lines


def make_table(name):
    path = os.path.join(RESULTS, name + ".json")
    if not os.path.exists(path):
        sys.exit(
            f"tables: docs/benchmarks/{name}.json is missing; run tools/bench/tables.py {name}=RESULTS.json to import results"
        )
    with open(path, encoding="utf-8") as f:
        results = json.load(f)
    head = f"`{results['command']}`, {results['machine']}, {results['when']}:"
    if "networks" in results:
        return "\n".join([head, "", *zoo(results["networks"]), ""])
    measurements = results["measurements"]
    if "gpu" in measurements[0]:
        return "\n".join([head, "", *gpu_torch_table(measurements), ""])
    if "compiled" in measurements[0]:
        return "\n".join([head, "", *torch_compile_table(measurements), ""])
    if "first" in measurements[0] and "time" in measurements[0]:
        return "\n".join([head, "", *first_result_table(measurements), ""])
    if "quantized" in measurements[0]:
        return "\n".join([head, "", *quantized_table(measurements), ""])
    if "slow_down" in measurements[0]:
        return "\n".join([head, "", *concurrent_load_table(measurements), ""])
    if "torch_ms" in measurements[0]:
        return "\n".join([head, "", *ddp_table(measurements), ""])
    if "ranks" in measurements[0]:
        return "\n".join([head, "", *ranks_table(measurements), ""])
    made = (
        training_table(measurements)
        if "precision" in measurements[0]
        else inference_table(measurements)
    )
    return "\n".join([head, "", *made, "", *geometric_means(measurements), ""])


def main():
    check = "--check" in sys.argv
    for argument in [a for a in sys.argv[1:] if a != "--check"]:
        name, _, path = argument.partition("=")
        if not path:
            sys.exit(__doc__)
        os.makedirs(RESULTS, exist_ok=True)
        # Each measurement is written on one line, so that diffs are readable.
        results = import_results(path)
        kind = "networks" if "networks" in results else "measurements"
        rows = ",\n".join(json.dumps(m) for m in results.pop(kind))
        with open(os.path.join(RESULTS, name + ".json"), "w", encoding="utf-8") as f:
            f.write(json.dumps(results)[:-1] + f', "{kind}": [\n' + rows + "\n]}\n")
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    made = TABLE.sub(lambda found: found[1] + make_table(found[2]) + found[3], page)
    stale = [] if made == page else ["docs/benchmarks.md"]
    if stale and not check:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(made)
    stale += chart.update(check)
    for path in stale:
        print(
            f"{path}: out of date; run tools/bench/tables.py"
            if check
            else f"tables: {path} written"
        )
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
