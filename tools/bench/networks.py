"""The networks that the benchmarks run: seven definitions of our own, exported to ONNX by torch.

build(name, batch) gives (module in eval mode, example inputs); export(name, batch, folder) the path of an .onnx file.
Weights are random from a fixed seed: time does not depend on them, and outputs are compared on the same file.
"""
import os

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, STEPS, TOKENS = 10000, 32, 128


def fcn_s():
    """A perceptron: 26752 features, three hidden layers of 2048, sigmoids between."""
    widths = [26752, 2048, 2048, 2048, 26752]
    layers = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        layers += [nn.Linear(a, b)] + ([nn.Sigmoid()] if i < 3 else [])
    return nn.Sequential(*layers)


def same_padding(x, window, stride, value=0.0):
    """TensorFlow's SAME: the result has ceil(size / stride) places, and the odd element of padding comes last."""
    pads = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


class AlexNetS(nn.Module):
    """AlexNet with neither groups nor normalisation: five convolutions and three linear layers, SAME padding."""
    plan = [(3, 96, 11, 4, True), (96, 256, 5, 1, True), (256, 384, 3, 1, False), (384, 384, 3, 1, False), (384, 256, 3, 1, True)]

    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv2d(i, o, k, s) for i, o, k, s, _ in self.plan)
        self.head = nn.Sequential(nn.Linear(256 * 7 * 7, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000))

    def forward(self, x):
        for convolution, (_, _, window, stride, pooled) in zip(self.convolutions, self.plan):
            x = F.relu(convolution(same_padding(x, window, stride)))
            if pooled:
                x = F.max_pool2d(same_padding(x, 3, 2, float("-inf")), 3, 2)
        return self.head(x.flatten(1))


class Language(nn.Module):
    """Embedding, two LSTM layers, a linear layer over the vocabulary at each step."""

    def __init__(self, width=256):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.layers = nn.LSTM(width, width, 2, batch_first=True)
        self.out = nn.Linear(width, VOCABULARY)

    def forward(self, ids):
        y, _ = self.layers(self.embedding(ids))
        return self.out(y)


class EncoderLayer(nn.Module):
    """Self-attention and a perceptron, each followed by the sum with its input and a layer norm."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, width)
        x = self.norm1(x + self.merge(y))
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Bert(nn.Module):
    """An encoder of BERT-base's shape with a classifier on the first token."""

    def __init__(self, layers=12, width=768, heads=12, vocabulary=30522, positions=512):
        super().__init__()
        self.word, self.position, self.norm = nn.Embedding(vocabulary, width), nn.Embedding(positions, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.classifier = nn.Linear(width, 2)

    def forward(self, ids):
        x = self.norm(self.word(ids) + self.position(torch.arange(ids.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return self.classifier(x[:, 0])


def torchvision_model(name):
    def make():
        import torchvision
        return getattr(torchvision.models, name)(weights=None)
    return make


def vit():
    """ViT-B/16. torchvision starts its head at zero: every output would be 0, and a comparison would compare nothing."""
    module = torchvision_model("vit_b_16")()
    nn.init.normal_(module.heads.head.weight, std=0.02)
    return module


def image(batch):
    return torch.randn(batch, 3, 224, 224)


def token_ids(vocabulary, length):
    return lambda batch: torch.randint(vocabulary, (batch, length))


NETWORKS = {
    "resnet-50": (torchvision_model("resnet50"), image),
    "mobilenet-v2": (torchvision_model("mobilenet_v2"), image),
    "vit": (vit, image),
    "bert": (Bert, token_ids(30522, TOKENS)),
    "lstm": (Language, token_ids(VOCABULARY, STEPS)),
    "alexnet-s": (AlexNetS, image),
    "fcn-s": (fcn_s, lambda batch: torch.randn(batch, 26752)),
}


def build(name, batch):
    if name not in NETWORKS:
        raise SystemExit(f"unknown network '{name}'; known: {', '.join(NETWORKS)}")
    make, inputs = NETWORKS[name]
    torch.manual_seed(0)
    module = make().eval()
    return module, (inputs(batch),)


def export(name, batch, folder):
    """Writes folder/name-batch.onnx unless it is there; a half-written file never stands under that name."""
    path = os.path.join(folder, f"{name}-{batch}.onnx")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        module, inputs = build(name, batch)
        torch.onnx.export(module, inputs, path + ".part", dynamo=True, external_data=False, verbose=False)
        os.rename(path + ".part", path)
    return path
