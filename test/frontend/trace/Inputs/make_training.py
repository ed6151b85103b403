"""Makes training.safetensors: PyTorch's losses, batch norm in training and optimizer steps, with which the tests compare.

usage: make_training.py OUT.safetensors    (needs torch; the file is checked in)
"""

import json
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
cases = {}


def put(case, **tensors):
    for name, value in tensors.items():
        cases[f"{case}/{name}"] = value.detach().clone().contiguous().numpy()


def loss(case, f, *xs):
    """The loss, and its gradient in the first input."""
    x = xs[0].clone().requires_grad_()
    y = f(x, *xs[1:])
    y.sum().backward()
    put(case, **{f"x{i}": x for i, x in enumerate(xs)}, y=y, dx=x.grad)


def optimizer(case, make, steps=4):
    """A parameter p, gradients g0, g1, …, and the parameter after each step: p0, p1, …"""
    p = nn.Parameter(torch.randn(2, 3))
    put(case, p=p)
    tool = make([p])
    schedule = None
    if isinstance(tool, tuple):
        tool, schedule = tool
    for i in range(steps):
        p.grad = torch.randn(2, 3)
        put(case, **{f"g{i}": p.grad})
        tool.step()
        put(case, **{f"p{i}": p})
        if schedule:
            schedule.step()


r, classes = torch.randn, lambda n, *shape: torch.randint(n, shape)
weight = torch.rand(5) + 0.5
for reduction in ("mean", "sum", "none"):
    loss(
        f"cross_entropy_{reduction}",
        lambda x, t: F.cross_entropy(x, t, reduction=reduction),
        r(4, 5),
        classes(5, 4),
    )
    loss(
        f"cross_entropy_all_{reduction}",
        lambda x, t, w: F.cross_entropy(
            x, t, w, ignore_index=1, label_smoothing=0.2, reduction=reduction
        ),
        r(4, 5),
        torch.tensor([0, 1, 4, 3]),
        weight,
    )
    for name in ("mse_loss", "l1_loss"):
        loss(
            f"{name}_{reduction}",
            lambda x, t: getattr(F, name)(x, t, reduction=reduction),
            r(3, 4),
            r(3, 4),
        )
loss("cross_entropy_vector", F.cross_entropy, r(5), torch.tensor(2))
loss("cross_entropy_large", F.cross_entropy, r(4, 5) * 200, classes(5, 4))
loss(
    "cross_entropy_spatial",
    lambda x, t: F.cross_entropy(x, t, ignore_index=2),
    r(2, 3, 4, 2),
    classes(3, 2, 4, 2),
)
loss(
    "cross_entropy_smooth",
    lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
    r(4, 5),
    classes(5, 4),
)
loss(
    "cross_entropy_weight", lambda x, t, w: F.cross_entropy(x, t, w), r(4, 5), classes(5, 4), weight
)
loss(
    "cross_entropy_soft",
    lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1),
    r(4, 5),
    r(4, 5).softmax(1),
    weight,
)
loss("nll_loss", F.nll_loss, r(4, 5).log_softmax(1), classes(5, 4))
loss(
    "nll_loss_weight",
    lambda x, t, w: F.nll_loss(x, t, w, ignore_index=3),
    r(4, 5).log_softmax(1),
    torch.tensor([3, 0, 2, 2]),
    weight,
)
x = r(3, 4) * 20
x[0, :2] = 0
loss("bce_with_logits", F.binary_cross_entropy_with_logits, x, torch.rand(3, 4))
loss(
    "bce_with_logits_weight",
    lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w),
    x,
    torch.rand(3, 4),
    torch.rand(4) + 0.5,
)
t = r(3, 4).softmax(1)
t[0, 0] = 0
loss("kl_div", F.kl_div, r(3, 4).log_softmax(1), t)
x = r(3, 4)
x[0, :2] = 0
loss("softplus", F.softplus, x)

o = torch.optim
optimizer("sgd", lambda p: o.SGD(p, lr=0.1))
optimizer("sgd_momentum", lambda p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01))
optimizer("sgd_dampening", lambda p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.5))
optimizer("sgd_nesterov", lambda p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True))
optimizer("adam", lambda p: o.Adam(p, lr=0.01))
optimizer("adam_all", lambda p: o.Adam(p, lr=0.01, betas=(0.8, 0.99), eps=1e-3, weight_decay=0.1))
optimizer("adamw", lambda p: o.AdamW(p, lr=0.01, weight_decay=0.1))
optimizer("rmsprop", lambda p: o.RMSprop(p, lr=0.01))
optimizer(
    "rmsprop_all",
    lambda p: o.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.9, centered=True, weight_decay=0.1),
)


def scheduled(p, make):
    tool = o.SGD(p, lr=0.1)
    return tool, make(tool)


optimizer("sgd_steps", lambda p: scheduled(p, lambda s: o.lr_scheduler.StepLR(s, 2, 0.5)), 5)
optimizer(
    "sgd_cosine", lambda p: scheduled(p, lambda s: o.lr_scheduler.CosineAnnealingLR(s, 4, 0.01)), 5
)

# Clipping by the norm of two gradients together.
ps = [nn.Parameter(r(2, 3)), nn.Parameter(r(4))]
for i, p in enumerate(ps):
    p.grad = r(p.shape)
    put("clip", **{f"g{i}": p.grad})
put("clip", norm=nn.utils.clip_grad_norm_(ps, 0.5))
for i, p in enumerate(ps):
    put("clip", **{f"c{i}": p.grad})

norm = nn.BatchNorm2d(3)
norm.weight.data.uniform_(0.5, 1.5)
norm.bias.data.uniform_(-0.5, 0.5)
put("batch_norm", **{f"before.{k}": v for k, v in norm.state_dict().items()})
x = r(2, 3, 4, 2) * 2 + 1
put("batch_norm", x0=x, y=norm(x))
put("batch_norm", **{f"after.{k}": v for k, v in norm.state_dict().items()})

header, data = {}, b""
for name, value in sorted(cases.items(), key=lambda c: (-c[1].dtype.itemsize, c[0])):
    kind = {"float32": "F32", "int64": "I64"}[str(value.dtype)]
    header[name] = {
        "dtype": kind,
        "shape": list(value.shape),
        "data_offsets": [len(data), len(data) + value.nbytes],
    }
    data += value.tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
print(len(cases), "tensors,", len(data), "bytes")
