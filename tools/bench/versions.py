#!/usr/bin/env python3
"""Times the programs that two builds of dlc compile from the same models, interleaved.

    tools/bench/versions.py BEFORE [AFTER] [--sample 30] [--training 10] [--networks timm-tnt,lstm] [--rounds 11] [--json FILE]

BEFORE and AFTER (default: build/) are folders with bin/dlc. Models: the first networks of the zoo in its seeded order (DLC_ZOO=FOLDER: another selection,
such as the f16 models of zoo/halves.py), and training steps of dlc-train-network. Programs that are equal byte for byte are reported as the same and not
timed.
The ratio is the median over the rounds of the time before to the time after (above 1: AFTER is faster), with its 95 % interval. Outputs of inference are
compared: the largest difference is relative to the largest element of each output. The status is 1 if the upper end of an interval is below 0.97, or if a
build rejects a model.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

common.use_bench_python()
sys.path.insert(0, os.path.join(common.ROOT, "tools", "bench", "zoo"))
import artefacts
import drawn
import weightless
import zoo

LIMIT = 0.97
STEPS = [
    (name, precision)
    for precision in ("none", "bf16")
    for name in ("alexnet-s", "lstm", "fcn-s", "bert", "resnet-56", "vit", "alexnet-r", "resnet-50")
]


def sample_zoo_networks(count):
    """Returns the first `count` networks of the zoo at batch 1, in the order of `zoo.py --sample`."""
    names = [name for name, batch in drawn.list_graphs() if batch == 1]
    random.Random(5).shuffle(names)
    return names[:count]


class InferenceBenchmark:
    """A network of the zoo whose two programs run on the same inputs, through the C interface of their own runtimes."""

    def __init__(self, network):
        self.name = network

    def prepare(self, folder):
        import numpy as np
        import onnx

        model = weightless.read(drawn.graph_path(self.name, 1))
        self.path, self.inputs = (
            os.path.join(folder, "model.onnx"),
            os.path.join(folder, "inputs.npz"),
        )
        onnx.save(model, self.path)
        np.savez(self.inputs, **weightless.random_inputs(model))
        self.options = []

    def worker(self, build, program, threads):
        script = os.path.join(common.ROOT, "tools", "bench", "worker.py")
        return common.Worker(
            "dlc",
            [
                "env",
                f"DLC_BUILD={build}",
                sys.executable,
                script,
                "dlc",
                program,
                str(threads),
                self.inputs,
            ],
            threads,
        )

    def difference(self, workers, folder):
        found = []
        for i, each in enumerate(workers):
            os.makedirs(os.path.join(folder, str(i)), exist_ok=True)
            found.append(zoo.get_worker_outputs(each, os.path.join(folder, str(i))))
        return zoo.max_relative_difference(found[1], found[0])


class TrainingBenchmark:
    """A training step of dlc-train-network, in f32 or mixed precision. Each build traces, compiles and runs the step itself."""

    def __init__(self, network, precision):
        self.network, self.precision = network, precision
        self.name = f"training-{network}" + ("" if precision == "none" else f"-{precision}")

    def prepare(self, folder):
        self.path = os.path.join(folder, "step.mlir")
        with open(self.path, "w") as out:
            subprocess.run(
                [os.path.join(common.BUILD, "bin", "dlc-train-network"), self.network, "--text"],
                stdout=out,
                check=True,
            )
        self.options = ["--precision", self.precision]

    def worker(self, build, program, threads):
        command = [
            os.path.join(build, "bin", "dlc-train-network"),
            self.network,
            "--serve",
            "--threads",
            str(threads),
            "--precision",
            self.precision,
        ]
        return common.Worker("dlc", command, threads)

    def difference(self, workers, folder):
        return None


def measure(item, builds, o):
    result = {"name": item.name, "threads": o.threads}
    with tempfile.TemporaryDirectory() as folder:
        item.prepare(folder)
        programs = []
        for i, build in enumerate(builds):
            programs.append(os.path.join(folder, f"{i}.dlcx"))
            error = artefacts.compile_model(
                build, item.path, item.options + ["--threads", str(o.threads)], programs[-1]
            )
            if error:
                result["refused"] = f"{('before', 'after')[i]}: {error.strip()[-300:]}"
                return result
        if (
            artefacts.sha256_digest(programs[0]) == artefacts.sha256_digest(programs[1])
            and not o.same
        ):
            result["same"] = True
            return result
        workers = [
            item.worker(build, program, o.threads) for build, program in zip(builds, programs)
        ]
        try:
            for each in workers:
                if each.error:
                    result["refused"] = each.error
                    return result
            result["difference"] = item.difference(workers, folder)
            for round in range(o.rounds):
                for each in workers if round % 2 else reversed(workers):
                    each.round(o.seconds)
            before, after = (each.rounds for each in workers)
            if not before or not after:
                result["refused"] = next((each.error for each in workers if each.error), "no times")
                return result
            result["before_ms"], result["after_ms"] = (
                statistics.median(times) * 1e3 for times in (before, after)
            )
            result["ratio"], *result["interval"] = common.median_interval(
                [b / a for b, a in zip(before, after)]
            )
        finally:
            for each in workers:
                each.close()
    return result


def format_result(r):
    if "refused" in r:
        return f"{r['name']:44} refused: {r['refused']}"
    if "same" in r:
        return f"{r['name']:44} the same program"
    differs = "" if r["difference"] is None else f"  differs by {r['difference']:.1e}"
    return f"{r['name']:44} {r['before_ms']:9.2f} to {r['after_ms']:9.2f} ms  {r['ratio']:5.3f} [{r['interval'][0]:.3f}, {r['interval'][1]:.3f}]{differs}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default=common.BUILD)
    parser.add_argument("--sample", type=int, default=30, help="number of networks of the zoo")
    parser.add_argument("--training", type=int, default=10, help="number of training steps")
    parser.add_argument(
        "--networks",
        default="",
        help="parts of names, separated by commas: use only networks whose name contains one",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument(
        "--seconds",
        type=float,
        default=0.2,
        help="seconds for which each build is timed in each round",
    )
    parser.add_argument(
        "--same", action="store_true", help="also time programs that are identical in both builds"
    )
    parser.add_argument("--json", default="")
    o = parser.parse_args()
    builds = [os.path.abspath(o.before), os.path.abspath(o.after)]
    wanted = [w for w in o.networks.split(",") if w]
    items = [InferenceBenchmark(name) for name in sample_zoo_networks(o.sample)] + [
        TrainingBenchmark(*step) for step in STEPS[: o.training]
    ]
    results = []
    for item in items:
        if wanted and not any(w in item.name for w in wanted):
            continue
        try:
            results.append(measure(item, builds, o))
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            results.append({"name": item.name, "refused": f"{type(error).__name__}: {error}"})
        print(format_result(results[-1]), flush=True)
    timed = [r["ratio"] for r in results if "ratio" in r]
    slower = [r for r in results if "ratio" in r and r["interval"][1] < LIMIT]
    refused = [r for r in results if "refused" in r]
    mean = (
        f", geometric mean {math.exp(statistics.fmean(map(math.log, timed))):.3f}, least {min(timed):.3f}"
        if timed
        else ""
    )
    print(
        f"{len(results)} models: {sum('same' in r for r in results)} the same, {len(timed)} timed{mean}; {len(slower)} slower, {len(refused)} refused"
    )
    if o.json:
        with open(o.json, "w") as file:
            json.dump(common.describe_run(results), file, indent=1)
    return 1 if slower or refused else 0


if __name__ == "__main__":
    sys.exit(main())
