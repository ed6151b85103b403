"""Small networks of different kinds, with inputs, for the tests of torch.compile on a GPU."""

import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, channels, 3, stride, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.short = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return functional.relu(self.inner(x) + self.short(x))


class Attention(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.qkv, self.out, self.causal = nn.Linear(16, 48), nn.Linear(16, 16), causal

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4).unbind()
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """A transformer block with learned positions and a token embedding."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Parameter(torch.randn(6, 16))
        self.attention = Attention(causal=True)
        self.feed = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        h = self.tokens(x) + self.places
        h = h + self.attention(h)
        return (h + self.feed(h)) @ self.tokens.weight.T


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.out = kind(5, 7, batch_first=True), nn.Linear(7, 3)

    def forward(self, x):
        return self.out(self.cell(x)[0][:, -1])


class Gated(nn.Module):
    """RMS norm, a gated feed-forward part, and a rotation as in rotary position embeddings."""

    def __init__(self):
        super().__init__()
        self.norm, self.gate, self.up = nn.RMSNorm(8), nn.Linear(8, 12), nn.Linear(8, 12)
        self.down = nn.Linear(12, 8, bias=False)
        self.register_buffer("angle", torch.linspace(0, 1, 8))

    def forward(self, x):
        h = self.norm(x)
        h = self.down(functional.silu(self.gate(h)) * self.up(h))
        a, b = h.chunk(2, -1)
        return x + h * self.angle.cos() + torch.cat((-b, a), -1) * self.angle.sin()


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, 2, 1)
        self.up = nn.ConvTranspose2d(4, 2, 4, 2, 1)

    def forward(self, x):
        return torch.sigmoid(self.up(functional.elu(self.down(x))))


class Mixed(nn.Module):
    """Reductions, indexing, comparisons, and an operator that remains in PyTorch."""

    def forward(self, x):
        top = x.topk(3, -1).values
        y = torch.where(x > 0, x, x.cumsum(-1)).flip(-1)
        return torch.cat(
            (top, y.softmax(-1), torch.special.bessel_j0(x), x.std(-1, keepdim=True)), -1
        )


class Upsample(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)

    def forward(self, x):
        y = functional.interpolate(self.conv(x), scale_factor=2, mode="bilinear")
        return functional.avg_pool2d(y, 2) + functional.adaptive_avg_pool2d(y, 1)


def seeded(size):
    return torch.randn(*size, generator=torch.Generator().manual_seed(1))


def mlp():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


#: Networks by name: a function that makes the module, and the size of its input. The input size None means that the input is token ids.
MODELS = {
    "mlp": (mlp, (4, 8)),
    "tanh": (lambda: nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2)), (3, 8)),
    "convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
        ),
        (2, 3, 8, 8),
    ),
    "batch_norm": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()),
        (2, 3, 6, 6),
    ),
    "residual": (lambda: nn.Sequential(Residual(4), Residual(4, 2)), (2, 4, 6, 6)),
    "attention": (Attention, (2, 5, 16)),
    "causal": (lambda: Attention(True), (2, 5, 16)),
    "block": (Block, None),
    "gated": (Gated, (2, 3, 8)),
    "autoencoder": (Autoencoder, (2, 2, 6, 6)),
    "encoder_layer": (
        lambda: nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True),
        (2, 5, 16),
    ),
    "mixed": (Mixed, (3, 7)),
    "upsample": (Upsample, (2, 2, 4, 4)),
    "depthwise": (
        lambda: nn.Sequential(nn.Conv2d(4, 4, 3, groups=4), nn.Hardswish(), nn.Conv2d(4, 6, 1)),
        (2, 4, 6, 6),
    ),
    "group_norm": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 1), nn.GroupNorm(2, 4), nn.SiLU()),
        (2, 3, 4, 4),
    ),
    "convolution_1d": (
        lambda: nn.Sequential(nn.Conv1d(2, 4, 3, dilation=2), nn.LeakyReLU(), nn.AvgPool1d(2)),
        (2, 2, 12),
    ),
    "lstm": (lambda: Recurrent(nn.LSTM), (2, 4, 5)),
    "gru": (lambda: Recurrent(nn.GRU), (2, 4, 5)),
    "bilinear": (lambda: nn.Sequential(nn.Linear(6, 6), nn.Softplus(), nn.LayerNorm(6)), (2, 6)),
    "dropout": (lambda: nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 2)), (4, 6)),
}


def make(name):
    """Returns a network in training mode and its input. Both are the same in each call."""
    torch.manual_seed(0)
    module, size = MODELS[name]
    made = module()
    return made, torch.arange(12).reshape(2, 6) % 11 if size is None else seeded(size)
