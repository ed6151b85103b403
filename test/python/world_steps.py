"""Script of each process of test_world.py: world_steps.py FOLDER SCENARIO. Each process writes FOLDER/RANK.pt."""

import sys

import torch

import dlc

from torch import nn
from torch.optim import SGD, AdamW

BATCH, STEPS = 8, 6
cross_entropy = nn.functional.cross_entropy


class Net(nn.Module):
    """With batch norm, a buffer that counts, and a weight that does not lie contiguous."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = (
            nn.Conv2d(3, 4, 3, bias=False),
            nn.BatchNorm2d(4),
            nn.Linear(144, 5),
        )
        self.conv.weight.data = self.conv.weight.data.contiguous(memory_format=torch.channels_last)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.conv(x))).flatten(1))


def net(seed):
    torch.manual_seed(seed)
    return Net()


def batches():
    random = torch.Generator().manual_seed(7)
    return [
        (
            torch.randn(BATCH, 3, 8, 8, generator=random),
            torch.randint(5, (BATCH,), generator=random),
        )
        for _ in range(STEPS)
    ]


#: An optimizer, options of the step, and how far losses may be from those of one process with whole batches.
CASES = {
    "adamw": (lambda module: AdamW(module.parameters(), lr=0.01), {"sync_batch_norm": True}, 1e-5),
    "bf16": (
        lambda module: SGD(module.parameters(), lr=0.1, momentum=0.9),
        {"sync_batch_norm": True, "clip_norm": 1.0, "gradients": "bf16"},
        1e-2,
    ),
}


def begun(module, optimizer):
    """As of a checkpoint: the optimizer has done a step."""
    x, y = batches()[0]
    cross_entropy(module(x), y).backward()
    optimizer.step()


def trained(case, rank, size, **options):
    """Losses and the module's state, with this rank's part of each batch. Only rank 0 begins as the others should."""
    make, more, _ = CASES[case]
    if not options:
        more = {
            name: value
            for name, value in more.items()
            if name not in ("sync_batch_norm", "gradients")
        }
    module = net(seed=rank)
    optimizer = make(module)
    if rank == 0:
        begun(module, optimizer)
    step = dlc.train_step(module, cross_entropy, optimizer, **options, **more)
    part = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    losses = [step(x[part], y[part]).item() for x, y in batches()]
    state = {name: value.clone() for name, value in module.state_dict().items()}
    moments = [
        {key: value.clone() for key, value in each.items() if value is not None}
        for each in optimizer.state_dict()["state"].values()
    ]
    return {"losses": losses, "state": state, "moments": moments}, step


def mistakes(here):
    """What is wrong in all processes is an exception in each, and they go on."""
    module = net(0)
    optimizer = SGD(module.parameters(), lr=0.1)
    step = dlc.train_step(module, cross_entropy, optimizer, data_parallel=True)
    x, y = batches()[0]
    found = {}

    def refused(name, x, y):
        try:
            step(x, y)
        except ValueError as error:
            found[name] = str(error)

    step(x, y)
    refused("batch", x[: BATCH - here.rank], y[: BATCH - here.rank])
    optimizer.param_groups[0]["lr"] = 0.1 + here.rank
    refused("rate", x, y)
    optimizer.param_groups[0]["lr"] = 0.1
    step(x, y)
    return found


def main():
    folder, scenario = sys.argv[1:]
    if scenario == "own-group":
        # The script's own, and collectives of it beside dlc's.
        torch.distributed.init_process_group("gloo")
    here = dlc.world()
    found = {"world": tuple(here)}
    if scenario == "raises":
        module = net(0)
        step = dlc.train_step(
            module, cross_entropy, SGD(module.parameters(), lr=0.1), data_parallel=True
        )
        for x, y in batches():
            if here.rank == 1:
                raise KeyError("no more data")
            step(x, y)
    for case in CASES if scenario == "all" else ["adamw"]:
        found[case], step = trained(case, here.rank, here.size, data_parallel=True)
    if scenario == "all":
        found["mistakes"] = mistakes(here)
    else:
        sum = torch.ones(3) * (1 + here.rank)
        torch.distributed.all_reduce(sum)
        found["sum"] = sum.tolist()
        torch.distributed.destroy_process_group()
    if here.rank == 0:
        step.save(f"{folder}/step.dlcx")
    torch.save(found, f"{folder}/{here.rank}.pt")


if __name__ == "__main__":
    main()
