"""Makes layers.safetensors: inputs, parameters and results of PyTorch's layers, with which the tests compare.

usage: make_layers.py OUT.safetensors    (needs torch; the file is checked in)
"""

import json
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
cases = {}


def put(case, **tensors):
    for name, value in tensors.items():
        if isinstance(value, torch.Tensor):
            cases[f"{case}/{name}"] = value.detach().contiguous().numpy()


def layer(case, module, *xs, call=None):
    """A module's parameters as m.NAME, its inputs as x0, x1, … and its result as y."""
    module.eval()
    for p in module.parameters():
        p.data.uniform_(-0.5, 0.5)
    for name, b in module.named_buffers():
        if name.endswith("running_mean"):
            b.uniform_(-0.5, 0.5)
        elif name.endswith("running_var"):
            b.uniform_(0.5, 1.5)
    with torch.no_grad():
        y = call(module, *xs) if call else module(*xs)
    put(
        case,
        **{f"m.{k}": v for k, v in module.state_dict().items()},
        **{f"x{i}": x for i, x in enumerate(xs)},
        y=y,
    )


def function(case, f, *xs):
    put(case, **{f"x{i}": x for i, x in enumerate(xs)}, y=f(*xs))


r = torch.randn
layer("linear", nn.Linear(5, 3), r(2, 4, 5))
layer("linear_vector", nn.Linear(5, 3, bias=False), r(5))
layer("conv1d", nn.Conv1d(4, 6, 3, stride=2, padding=1), r(2, 4, 9))
layer(
    "conv2d",
    nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2),
    r(2, 4, 7, 6),
)
layer("conv3d", nn.Conv3d(2, 3, 2, bias=False), r(1, 2, 3, 4, 3))
layer(
    "conv_transpose2d",
    nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1),
    r(1, 3, 4, 5),
)
layer("batch_norm2d", nn.BatchNorm2d(3), r(2, 3, 4, 2))
layer("layer_norm", nn.LayerNorm((3, 4), eps=1e-4), r(2, 3, 4))
layer("group_norm", nn.GroupNorm(2, 4), r(2, 4, 3, 3))
layer("embedding", nn.Embedding(7, 4), torch.tensor([[1, 6, 0], [2, 2, 5]]))
layer("lstm", nn.LSTM(3, 4, 2, batch_first=True), r(2, 5, 3), call=lambda m, x: m(x)[0])
layer(
    "lstm_both",
    nn.LSTM(3, 4, 2, bidirectional=True),
    r(5, 2, 3),
    call=lambda m, x: torch.cat([m(x)[0].flatten(), m(x)[1][0].flatten(), m(x)[1][1].flatten()]),
)
layer(
    "lstm_states",
    nn.LSTM(3, 4, bias=False),
    r(5, 2, 3),
    r(1, 2, 4),
    r(1, 2, 4),
    call=lambda m, x, h, c: m(x, (h, c))[1][1],
)
layer("gru", nn.GRU(3, 4, 1, bidirectional=True), r(5, 2, 3), call=lambda m, x: m(x)[0])
layer(
    "attention_self",
    nn.MultiheadAttention(8, 2, batch_first=True),
    r(2, 5, 8),
    call=lambda m, x: m(x, x, x, need_weights=False)[0],
)
layer(
    "attention_cross",
    nn.MultiheadAttention(8, 4, batch_first=True),
    r(2, 5, 8),
    r(2, 3, 8),
    call=lambda m, x, k: m(x, k, k, need_weights=False)[0],
)
function("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, padding=1, ceil_mode=True), r(1, 2, 6, 7))
function("max_pool2d_dilated", lambda x: F.max_pool2d(x, 2, 1, dilation=2), r(1, 2, 6, 7))
function("avg_pool2d_up", lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True), r(1, 2, 6, 8))
function(
    "avg_pool2d_padded", lambda x: F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True), r(1, 2, 6, 8)
)
function(
    "avg_pool2d_uncounted",
    lambda x: F.avg_pool2d(x, 3, 2, padding=1, count_include_pad=False),
    r(1, 2, 6, 8),
)
function("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), r(1, 2, 4, 9))
function("adaptive_avg_pool2d_1", lambda x: F.adaptive_avg_pool2d(x, 1), r(1, 2, 4, 9))
for name in (
    "relu",
    "relu6",
    "sigmoid",
    "silu",
    "hardswish",
    "hardsigmoid",
    "softplus",
    "gelu",
    "elu",
    "leaky_relu",
    "tanh",
):
    function(name, getattr(torch if name in ("sigmoid", "tanh") else F, name), r(3, 5) * 3)
function("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), r(3, 5) * 3)
function("softmax", lambda x: F.softmax(x, 1), r(2, 4, 3))
function("log_softmax", lambda x: F.log_softmax(x, -1), r(2, 4, 3))
function("variance", lambda x: x.var((0, 2), correction=0, keepdim=True), r(2, 4, 3))
function(
    "causal",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    r(2, 2, 4, 3),
    r(2, 2, 4, 3),
    r(2, 2, 4, 5),
)
function("where", lambda a, b: torch.where(a > b, a * 2, 1.5), r(3, 4), r(4))
function("lrn", lambda x: F.local_response_norm(x, 3), r(1, 5, 3, 2))

header, data = {}, b""
for name, value in sorted(cases.items(), key=lambda c: (-c[1].dtype.itemsize, c[0])):
    kind = {"float32": "F32", "int64": "I64", "bool": "BOOL"}[str(value.dtype)]
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
