"""Measures the host's time for calls of a program of ten kernels, on the emulated driver that drops the work of streams.

usage: call_time.py [--profile]
Prints the minimum over blocks of calls, in microseconds. With --profile, runs one case for a minute, for `perf record`.
"""

import os
import sys
import time

sys.path += [os.path.dirname(os.path.dirname(__file__)), os.path.dirname(__file__)]
import emulated
import models
import numpy as np

import dlc


def ten_kernels():
    """Returns a model of five matmuls and five softmaxes, each of which is one kernel."""
    nodes, weights = [], {}
    names = ["x", "v0", "v1", "v2", "v3", "y"]
    draw = np.random.default_rng(0)
    for i in range(5):
        weights[f"w{i}"] = draw.standard_normal((16, 16)).astype("float32")
        nodes += [
            ("MatMul", [names[i], f"w{i}"], [f"m{i}"], {}),
            ("Softmax", [f"m{i}"], [names[i + 1]], {}),
        ]
    shape = (models.F32, [4, 16])
    return models.made(nodes, {"x": shape}, {"y": shape}, weights)


def best(call, blocks=200, calls=100):
    """Returns the minimum time of a call over blocks, in microseconds."""
    times = []
    for _ in range(blocks):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return 1e6 * min(times)


def main():
    net = dlc.compile(ten_kernels(), device="cuda:0")
    x = dlc.to(np.ones((4, 16), "float32"), "cuda:0")
    kernels = len(net.profile(x))
    assert kernels == 10, net.profile(x)
    emulated.configure("null", "1")
    if "--profile" in sys.argv:
        return best(lambda: net(x), 10000, 400)
    owner = emulated.Stream()
    stream = owner.ptr
    print(f"captured graph: {best(lambda: net(x)):.2f} us")
    print(
        f"captured graph, in a stream of the caller: {best(lambda: net(x, stream=stream)):.2f} us"
    )
    kept = []

    def changing():
        kept.append(net(x))
        if len(kept) > 100:
            kept.clear()

    before = net.report().graph_launches
    net(x)
    print(f"changing addresses: {best(changing):.2f} us")
    assert net.report().graph_launches - before < 4000


if __name__ == "__main__":
    main()
