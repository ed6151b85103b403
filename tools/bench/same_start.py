"""PyTorch's parameters and first batch of a benchmark network, for peers with a channels-last layout (JAX, TensorFlow).

load_start(name, batch) -> (arrays in the order in which the network uses them, x, t): convolutions [H, W, I, O], linear layers [I, O], images [N, H, W, C].
So all tools run the same step, and their first losses can be compared. PyTorch runs in its own process, so that its memory is released.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

# Linear layers that follow a flattened image, and the image's channels, height and width: their weights are permuted to channels-last order.
AFTER_PICTURES = {("alexnet-s", "f6.weight"): (256, 7, 7), ("alexnet-r", "f.weight"): (64, 4, 4)}


def parameter_sort_key(name):
    """Returns the sort key of a parameter in the order in which the network uses it: layers that are stored by kind are interleaved, and the head is last."""
    parts = name.split(".")
    if parts[0] == "f":
        return (2,)
    if len(parts[0]) == 1 and parts[0] in "qoauvb" and parts[1].isdigit():
        return 1, int(parts[1]), "qoauvb".index(parts[0])
    return (0,)


def transpose_parameter(network, name, value, owner):
    """Returns a parameter's values transposed to the peers' layout, with input dimensions before output dimensions."""
    kind = type(owner).__name__
    if kind == "Conv2d" and value.ndim == 4:
        return value.transpose(2, 3, 1, 0)
    if kind in ("Linear", "LSTM") and value.ndim == 2:
        pictures = AFTER_PICTURES.get((network, name))
        if pictures:
            value = value.reshape(-1, *pictures).transpose(0, 2, 3, 1).reshape(value.shape)
        return value.T
    return value


def write_start(network, batch, folder):
    import networks

    task = networks.make_training_setup(network, batch)
    x, t = (v.numpy() for v in task.batch_of(0))
    np.save(
        os.path.join(folder, "x.npy"),
        np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x,
    )
    np.save(os.path.join(folder, "t.npy"), t)
    for i, (name, value) in enumerate(
        sorted(task.module.named_parameters(), key=lambda named: parameter_sort_key(named[0]))
    ):
        owner = task.module.get_submodule(name.rpartition(".")[0])
        np.save(
            os.path.join(folder, f"{i}.npy"),
            np.ascontiguousarray(transpose_parameter(network, name, value.detach().numpy(), owner)),
        )


def load_start(network, batch):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, os.path.abspath(__file__), network, str(batch), folder], check=True
        )
        count = len(os.listdir(folder)) - 2
        return (
            [np.load(os.path.join(folder, f"{i}.npy")) for i in range(count)],
            np.load(os.path.join(folder, "x.npy")),
            np.load(os.path.join(folder, "t.npy")),
        )


if __name__ == "__main__":
    write_start(sys.argv[1], int(sys.argv[2]), sys.argv[3])
