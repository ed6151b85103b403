#!/usr/bin/env python3
"""Trains one network with one peer in its own process, for requested durations.

train_worker.py TOOL NETWORK BATCH THREADS f32|tf32|bf16 [DEVICE], where TOOL is torch, torch-cl (channels last), torch.compile, torch.compile-cl, jax,
tensorflow or tensorflow-xla. Then each line of stdin, such as {"seconds": 0.5}, is answered by one line of JSON with the times. A step is forward, loss,
backward and plain SGD.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def read_memory_mib(which):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(which + ":")) / 1024


def preload_torch(device):
    """Trains the small network that dlc also trains before memory is measured, so that the code of PyTorch's training is loaded."""
    import torch
    from torch import nn

    body = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, ceil_mode=True),
        nn.Conv2d(16, 16, 5, padding=2),
        nn.ReLU(),
        nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Flatten(),
        nn.Linear(256, 4),
    ).to(device)
    sgd = torch.optim.SGD(body.parameters(), lr=0.01)
    nn.functional.cross_entropy(
        body(torch.full((2, 3, 16, 16), 0.5, device=device)),
        torch.ones(2, dtype=torch.long, device=device),
    ).backward()
    sgd.step()


def make_torch_step(tool, network, batch, threads, precision, device):
    import torch
    import networks

    torch.set_num_threads(threads)
    task = networks.make_training_setup(network, batch)
    module, (x, t) = task.module.to(device), (value.to(device) for value in task.batch_of(0))
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    if tool.endswith("-cl"):
        module = module.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
    sgd = torch.optim.SGD(module.parameters(), lr=task.rate)

    def forward(x, t):
        with torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=precision == "bf16"):
            return task.loss(module(x), t)

    if tool.startswith("torch.compile"):
        forward = torch.compile(forward)

    def step():
        sgd.zero_grad()
        loss = forward(x, t)
        loss.backward()
        if task.clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), task.clip)
        sgd.step()
        return loss.item()

    return step


def make_peer_step(tool, network, batch, threads, precision):
    if threads == 1:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if tool == "jax":
        import networks_jax

        return networks_jax.make_training_step(network, batch, precision)
    import networks_tf

    return networks_tf.make_training_step(network, batch, precision, threads, tool.endswith("-xla"))


def main():
    tool, network, batch, threads, precision = (
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        int(sys.argv[4]),
        sys.argv[5],
    )
    device = sys.argv[6] if len(sys.argv) > 6 else "cpu"
    step = (
        make_torch_step(tool, network, batch, threads, precision, device)
        if tool.startswith("torch")
        else make_peer_step(tool, network, batch, threads, precision)
    )
    if tool.startswith("torch"):
        preload_torch(device)
    before, start = read_memory_mib("VmRSS"), time.perf_counter()
    loss = step()
    print(
        json.dumps(
            {
                "loss": loss,
                "ready_s": time.perf_counter() - start,
                "before_mib": before,
                "peak_mib": read_memory_mib("VmHWM"),
            }
        ),
        flush=True,
    )
    for line in sys.stdin:
        seconds, times = json.loads(line)["seconds"], []
        step()  # warm-up: the other tools have evicted this process's data from the caches
        while sum(times) < seconds or len(times) < 2:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        print(json.dumps({"times": times, "peak_mib": read_memory_mib("VmHWM")}), flush=True)


main()
