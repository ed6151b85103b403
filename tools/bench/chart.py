"""Draws the chart of the top README, docs/benchmarks/speed.svg and speed-dark.svg, from the results in docs/benchmarks. Writes the README's summary of them.

tables.py calls `update`. Each row of the chart has all ratios of its files, the geometric mean and the minimum.
"""

import json
import os
import re
import statistics
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs", "benchmarks")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import svg

#: What is measured, the peers, the files of results, and the mode for files that have several.
ROWS = [
    (
        "ONNX: timm, torchvision, transformers",
        "ONNX Runtime, OpenVINO",
        ["zoo-zen5", "zoo-drawn-zen5"],
        None,
    ),
    ("ONNX: other libraries", "ONNX Runtime, OpenVINO", ["zoo-others-zen5"], None),
    ("ONNX: quantized to 8 bits", "ONNX Runtime, OpenVINO", ["quantized-zen5"], None),
    ("torch.compile: inference", "PyTorch eager, Inductor", ["torch-inference-zen5"], None),
    ("torch.compile: training", "PyTorch eager, Inductor", ["torch-training-zen5"], None),
    (
        "Training step as one program",
        "PyTorch, Inductor, JAX, TensorFlow",
        ["training-avx512"],
        None,
    ),
    ("GPU, bf16: inference", "PyTorch eager only", ["gpu-h100"], "inference"),
    ("GPU, bf16: training", "PyTorch eager only", ["gpu-h100"], "training"),
]
#: Largest ratio on the chart's horizontal axis. Larger ratios are drawn at this end, labeled "≥ 4×".
MAX_RATIO = 4
MACHINES = {
    "AMD EPYC": "AMD EPYC (Zen 5), 2 threads",
    "two cores of an Intel Xeon with AVX-512, without AMX": "Intel Xeon (AVX-512), 2 threads",
}
SUMMARY = re.compile(r"(<!-- speed -->\n).*?(<!-- /speed -->)", re.S)


def read(name):
    with open(os.path.join(RESULTS, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def ratios_of(results, mode=None):
    """Yields the ratio of each network to the fastest peer: in f32 on two threads, inference at batch 1; or of a mode on a GPU."""
    for m in results.get("networks") or results["measurements"]:
        if "gpu" in m:
            if m["mode"] == mode and "eager" in m["gpu"]:
                yield m["gpu"]["eager"]["ratio"]
        elif (
            m.get("precision", "f32") == "f32"
            and m.get("threads", 2) == 2
            and (m.get("train") or m.get("batch", 1) <= 1)
        ):
            ratio = m["results"].get("dlc", {}).get("ratio") if "results" in m else m.get("ratio")
            if ratio is not None:
                yield ratio


def rows():
    for what, peers, files, mode in ROWS:
        results = [read(name) for name in files]
        [machine] = {r["machine"] for r in results}
        ratios = sorted(ratio for r in results for ratio in ratios_of(r, mode))
        yield {
            "what": what,
            "peers": peers,
            "machine": MACHINES.get(machine, machine.split(",")[0]),
            "when": max(r["when"] for r in results),
            "ratios": ratios,
            "mean": statistics.geometric_mean(ratios),
            "least": ratios[0],
        }


def draw(colors):
    label, shape, each = svg.label, svg.shape, list(rows())
    left, right, top, step, bar = 310, 630, 92, 56, 40
    width, height = 840, top + step * len(each) + 42
    x = lambda ratio: left + (right - left) * min(ratio, MAX_RATIO) / MAX_RATIO
    shapes = [
        label(16, 28, "Speed relative to the fastest peer", colors["text"], 17, "bold"),
        label(
            16,
            48,
            "The peer's time divided by dlc's: above 1, dlc is faster. One dot per network.",
            colors["muted"],
        ),
    ]
    for tick in range(MAX_RATIO + 1):
        line, color, width_of_line, weight = (
            ("text", "text", 1.5, "bold") if tick == 1 else ("line", "muted", 1, "normal")
        )
        shapes.append(
            shape(
                "line",
                x1=x(tick),
                x2=x(tick),
                y1=top - 8,
                y2=top + step * len(each) - 6,
                stroke=colors[line],
                stroke_width=width_of_line,
            )
        )
        shapes.append(
            label(
                x(tick),
                top - 14,
                ("≥ " if tick == MAX_RATIO else "") + f"{tick}×",
                colors[color],
                12,
                weight,
                "middle",
            )
        )
    for column, text in ((700, "mean"), (755, "least"), (826, "networks")):
        shapes.append(label(column, top - 14, text, colors["muted"], 12, anchor="end"))
    for i, row in enumerate(each):
        y = top + step * i
        shapes += [
            shape(
                "rect",
                x=left,
                y=y,
                width=x(row["mean"]) - left,
                height=bar,
                rx=2,
                fill=colors["bar"],
            ),
            label(16, y + 11, row["what"], colors["text"], 13, "bold"),
            label(16, y + 26, "to " + row["peers"], colors["muted"], 12),
            label(16, y + 40, f"{row['machine']}, {row['when']}", colors["muted"], 11),
        ]
        # Dots in increasing order from the lower to the upper edge of the bar.
        count = len(row["ratios"])
        for k, ratio in enumerate(row["ratios"]):
            at = y + bar - 3 - (bar - 6) * (k + 0.5) / count
            if ratio < 1:
                cross = f"M{svg.number(x(ratio) - 3)},{svg.number(at - 3)}l6,6m-6,0l6,-6"
                shapes.append(
                    shape("path", d=cross, stroke=colors["low"], stroke_width=1.6, fill="none")
                )
            else:
                shapes.append(
                    shape(
                        "circle",
                        cx=x(ratio),
                        cy=at,
                        r=1.8 if count > 40 else 2.4,
                        fill=colors["mark"],
                    )
                )
        shapes += [
            label(700, y + 25, f"{row['mean']:.2f}×", colors["text"], 15, "bold", "end"),
            label(
                755,
                y + 25,
                f"{row['least']:.2f}×",
                colors["low" if row["least"] < 1 else "text"],
                13,
                anchor="end",
            ),
            label(826, y + 25, str(count), colors["muted"], 13, anchor="end"),
        ]
    legend = "Bar: geometric mean. Crosses: slower with dlc. CPU: f32 unless stated, inference at batch 1. All tables: docs/benchmarks.md"
    shapes.append(label(16, height - 16, legend, colors["muted"], 12))
    said = "; ".join(
        f"{row['what']}, to {row['peers']}: mean {row['mean']:.2f}, least {row['least']:.2f}"
        for row in each
    )
    return svg.picture(
        width, height, "Speed of dlc relative to the fastest peer", said, colors, shapes
    )


def summary():
    """Returns the README's sentences about speed."""
    onnx, others, _, infer, train, _, gpu_infer, gpu_train = rows()
    count = lambda row: len(row["ratios"])
    text = (
        f"On two CPU cores in f32, {count(onnx)} ONNX models of timm, torchvision and transformers run **{onnx['mean']:.2f} times** as fast as with the "
        f"faster of ONNX Runtime and OpenVINO (geometric mean; least {onnx['least']:.2f}), and {count(others)} of other libraries {others['mean']:.2f} times "
        f"(least {others['least']:.2f}). Through `torch.compile`, {count(infer)} networks run **{infer['mean']:.2f} times** and {count(train)} train "
        f"**{train['mean']:.2f} times** as fast as with the faster of eager PyTorch and Inductor (least {infer['least']:.2f} and {train['least']:.2f}). "
        f"On an H100 in bf16, networks run {gpu_infer['mean']:.2f} and train {gpu_train['mean']:.2f} times as fast as with eager PyTorch "
        f"(least {gpu_infer['least']:.2f} and {gpu_train['least']:.2f}); Inductor was not measured there. All tables: [benchmarks](docs/benchmarks.md)."
    )
    return "\n".join(textwrap.wrap(text, 158, break_on_hyphens=False)) + "\n"


def update(check):
    """Updates the chart and the summary, or with `check` only compares. Returns the paths that differ."""
    page = os.path.join(ROOT, "README.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    made = SUMMARY.sub(lambda found: found[1] + summary() + found[2], text)
    stale = svg.update_both(os.path.join(RESULTS, "speed"), draw, check) + (
        [page] if svg.update(page, made, check) else []
    )
    return [os.path.relpath(path, ROOT) for path in stale]
