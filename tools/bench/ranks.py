#!/usr/bin/env python3
"""Measures data-parallel steps on 1, 2 and 4 processes of this machine and on the same number of virtual devices of one process, and compares them with predictions.

    tools/bench/ranks.py [--networks fcn-r,alexnet-r,resnet-56] [--batch 16] [--ranks 1,2,4] [--repeat 10] [--rounds 3] [--beyond 8,64,1024]

*Measured*: a step, compiled for one thread, is run by `mpirun -n N dlc inspect --repeat`, which also measures the link (latency and bandwidth of
all-reduces). *Predicted*: the same step runs in N independent processes in parallel, which share cores and memory as ranks do; `dlc inspect --ranks N`
predicts the step from the times of their commands and the measured link. Rounds are interleaved, and the fastest round counts. *Devices*: the same
batch per device on cpu, cpu:1, .. of one process with all cores. *Beyond*: predictions for worlds with one rank per machine, larger than this
machine can measure, over the link that --link-between specifies.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test"))
import worlds

DLC = os.path.join(HERE, "..", "..", "build", "bin", "dlc")


def step(name, batch, folder):
    import networks  # imported here because it requires PyTorch, which compiled steps do not

    path = os.path.join(folder, name + ".dlcx")
    model = networks.export(name, batch, folder)
    subprocess.run(
        [
            DLC,
            "compile",
            model,
            "--train",
            "--data-parallel",
            "--optimizer",
            "sgd",
            "--threads",
            "1",
            "--cache",
            "none",
            "-o",
            path,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return path


def inspect_command(path, repeat, *more):
    return [DLC, "inspect", path, "--repeat", str(repeat), "--threads", "1", "--json", *more]


def measured(path, ranks, repeat):
    """Runs a training step in a world of `ranks` processes. Returns the report of rank 0."""
    status, out, err, _ = worlds.run(ranks, inspect_command(path, repeat), seconds=600)
    if status != 0:
        raise SystemExit(err)
    return json.loads(out)


def predict_step_times(path, ranks, repeat, link):
    """Returns the step times that `ranks` independent processes predict, which run in parallel."""
    line = inspect_command(path, repeat, "--link", link, "--ranks", str(ranks))
    runs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(ranks)]
    return [json.loads(run.communicate()[0])["shared"]["predictions"][0]["step_us"] for run in runs]


def measure_virtual_devices(name, batch, count, rounds):
    """Returns the time in milliseconds of a training step of one process that splits its batch over `count` virtual devices."""
    line = [
        os.path.join(os.path.dirname(DLC), "dlc-train-network"),
        name,
        "--batch",
        str(batch * count),
        "--devices",
        str(count),
        "--serve",
    ]
    asked = "".join(json.dumps({"seconds": 1}) + "\n" for _ in range(rounds))
    out = subprocess.run(line, input=asked, check=True, capture_output=True, text=True).stdout
    return min(min(json.loads(answer)["times"]) for answer in out.splitlines()[1:]) * 1e3


def format_link(link):
    return f"{link['latency_us']:.3f}us,{link['gigabytes_per_s']:.6f}GB/s"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", default="fcn-r,alexnet-r,resnet-56")
    parser.add_argument("--batch", type=int, default=16, help="batch size of each rank")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--beyond",
        default="8,64,256,1024",
        help="numbers of ranks to predict, with one rank on each machine",
    )
    parser.add_argument(
        "--link-between",
        default="20us,1.25GB/s",
        help="latency and bandwidth of the link between those machines",
    )
    parser.add_argument(
        "--steps", nargs="*", help="compiled training steps (.dlcx) to measure instead of networks"
    )
    options = parser.parse_args()
    counts = [int(n) for n in options.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        names = [] if options.steps else options.networks.split(",")
        paths = options.steps or [step(name, options.batch, folder) for name in names]
        for which, path in enumerate(paths):
            print(os.path.basename(path))
            print(
                f"  {'ranks':>6} {'measured ms':>12} {'predicted ms':>13} {'of it':>6} {'devices ms':>12}   link"
            )
            for ranks in counts:
                took, said, link = [], [], None
                for _ in range(options.rounds):
                    about = measured(path, ranks, options.repeat)
                    took.append(about["run_us"])
                    # A world of one rank has no link, and its prediction does not depend on one, so the values are arbitrary.
                    link = about["shared"].get("link", {"latency_us": 0, "gigabytes_per_s": 1000})
                    said.append(
                        max(predict_step_times(path, ranks, options.repeat, format_link(link)))
                    )
                devices = (
                    f"{measure_virtual_devices(names[which], options.batch, ranks, options.rounds):.3f}"
                    if names
                    else ""
                )
                print(
                    f"  {ranks:>6} {min(took) / 1e3:>12.3f} {min(said) / 1e3:>13.3f} {min(said) / min(took):>6.2f} {devices:>12}   "
                    f"{format_link(link) if ranks > 1 else ''}",
                    flush=True,
                )
            line = inspect_command(
                path,
                options.repeat,
                "--link",
                options.link_between,
                "--ranks",
                options.beyond,
                "--ranks-per-machine",
                "1",
            )
            about = json.loads(
                subprocess.run(line, check=True, capture_output=True, text=True).stdout
            )
            print(f"  over {options.link_between}, one rank a machine:")
            for each in about["shared"]["predictions"]:
                print(
                    f"  {each['ranks']:>6} {'':>12} {each['step_us'] / 1e3:>13.3f} {'':>6}   {each['how']}, exposed {each['exposed_us'] / 1e3:.3f} ms"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
