#!/usr/bin/env python3
"""Times data-parallel steps on several processes of one thread each: dlc against PyTorch's DistributedDataParallel over gloo, interleaved.

    tools/bench/ranks_compare.py [--networks fcn-r,alexnet-r,resnet-56,resnet-50,lstm] [--ranks 2] [--rounds 9] [--seconds 2] [--json out.json]

A step is forward, backward, the mean of the gradients over the ranks, and plain SGD; the given batch is that of each rank. PyTorch runs in both memory
formats, with each rank on its own core as far as possible. PyTorch's processes persist; dlc's are started again in each round, and run a warm-up step first.
The time of a round is the median step of rank 0. The ratio is that of the better PyTorch format's time to dlc's: the median over the rounds with its 95 %
interval.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "test")]
import common
import ranks as steps

BATCHES = {"fcn-r": 256, "alexnet-r": 32, "resnet-56": 32, "resnet-50": 4, "lstm": 32}


def run_rank(layout, network, batch, rank, ranks, store):
    """Runs one rank of PyTorch's training. Rank 0 reads the requested durations from stdin and sends them to the other ranks."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    import torch
    import torch.distributed as world
    import networks

    torch.set_num_threads(1)
    world.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    task = networks.make_training_setup(network, batch)
    module, (x, t) = task.module, task.batch_of(rank)
    if layout == "channels-last":
        module = module.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
    module = torch.nn.parallel.DistributedDataParallel(module)
    sgd = torch.optim.SGD(module.parameters(), lr=task.rate)

    def step():
        start = time.perf_counter()
        sgd.zero_grad()
        task.loss(module(x), t).backward()
        if task.clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), task.clip)
        sgd.step()
        return time.perf_counter() - start

    took = max(step() for _ in range(2))
    count = torch.zeros(1, dtype=torch.int64)
    if rank == 0:
        print(json.dumps({"step_s": took}), flush=True)
    while True:
        if rank == 0:
            line = sys.stdin.readline()
            count[0] = json.loads(line)["steps"] if line else 0
        world.broadcast(count, 0)
        if count[0] == 0:
            return
        times = [step() for _ in range(int(count[0]) + 1)][1:]
        if rank == 0:
            print(json.dumps({"times": times}), flush=True)


class TorchRanks:
    """PyTorch's processes (ranks) that train the network in one memory format."""

    def __init__(self, layout, network, batch, ranks, folder):
        store = os.path.join(folder, f"{network}-{layout}-store")
        line = [sys.executable, os.path.abspath(__file__), "--work", layout, network, str(batch)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.processes = [
            subprocess.Popen([*line, str(rank), str(ranks), store], **(pipes if rank == 0 else {}))
            for rank in range(ranks)
        ]
        self.step_s, self.rounds = self.answer()["step_s"], []

    def answer(self):
        line = self.processes[0].stdout.readline()
        if not line:
            sys.exit("PyTorch's rank 0 died")
        return json.loads(line)

    def round(self, seconds):
        first = self.processes[0].stdin
        first.write(json.dumps({"steps": max(3, int(seconds / self.step_s))}) + "\n")
        first.flush()
        self.rounds.append(statistics.median(self.answer()["times"]))

    def close(self):
        self.processes[0].stdin.close()
        for process in self.processes:
            process.wait()


def compare_with_ddp(network, o, folder):
    batch = o.batch or BATCHES[network]
    path = steps.step(network, batch, folder)
    peers = {
        layout: TorchRanks(layout, network, batch, o.ranks, folder)
        for layout in ("contiguous", "channels-last")
    }
    repeat = max(3, int(o.seconds / min(peer.step_s for peer in peers.values())))
    ours = []
    for _ in range(o.rounds):
        ours.append(steps.measured(path, o.ranks, repeat)["run_us"] / 1e6)
        for peer in peers.values():
            peer.round(o.seconds)
    for peer in peers.values():
        peer.close()
    ratio = common.median_interval(
        [
            min(theirs) / mine
            for mine, *theirs in zip(ours, *(peer.rounds for peer in peers.values()))
        ]
    )
    result = {
        "network": network,
        "batch": batch,
        "ranks": o.ranks,
        "dlc_ms": statistics.median(ours) * 1e3,
        "torch_ms": {
            layout: statistics.median(peer.rounds) * 1e3 for layout, peer in peers.items()
        },
        "ratio": ratio[0],
        "interval": ratio[1:],
    }
    theirs = "  ".join(f"{layout} {ms:9.2f} ms" for layout, ms in result["torch_ms"].items())
    print(
        f"{network:10} batch {batch:4} on {o.ranks} ranks: dlc {result['dlc_ms']:9.2f} ms  {theirs}  ratio {ratio[0]:.2f} [{ratio[1]:.2f}, {ratio[2]:.2f}]",
        flush=True,
    )
    return result


def main():
    if sys.argv[1:2] == ["--work"]:
        layout, network, batch, rank, ranks, store = sys.argv[2:]
        return run_rank(layout, network, int(batch), int(rank), int(ranks), store)
    common.use_bench_python()
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--networks", default=",".join(BATCHES))
    a.add_argument("--batch", type=int, help="batch size of each rank; default: the network's own")
    a.add_argument("--ranks", type=int, default=2)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument(
        "--seconds",
        type=float,
        default=2,
        help="seconds for which each tool is timed in each round",
    )
    a.add_argument("--json")
    o = a.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [compare_with_ddp(network, o, folder) for network in o.networks.split(",")]
    if o.json:
        with open(o.json, "w") as file:
            json.dump(common.describe_run(results), file, indent=1)


if __name__ == "__main__":
    main()
