"""The benchmark networks in PyTorch, for export to ONNX or for training.

build_network(name, batch) returns (module in eval mode, example inputs); export(name, batch, folder) returns the path of an .onnx file;
make_training_setup(name, batch) returns a Training. Weights are random with a fixed seed. Parameters have the same names as in tools/bench/networks (C++).
make_training_setup(name, batch, plain=True) uses the modules' own initialization, and white noise as images (see `start`, `images`).
"""

import collections
import os

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, STEPS, TOKENS = 10000, 32, 128


def perceptron(*widths):
    """Returns linear layers of these widths with sigmoids between them."""
    layers = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        layers += ([nn.Sigmoid()] if i else []) + [nn.Linear(a, b)]
    return nn.Sequential(*layers)


def fcn_s():
    return perceptron(26752, 2048, 2048, 2048, 26752)


def fcn_r():
    return perceptron(784, 2048, 4096, 1024, 10)


def same_padding(x, window, stride, value=0.0):
    """Pads as TensorFlow's SAME: the result has ceil(size / stride) elements, and an odd padding element is added at the end."""
    pads = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


class AlexNetS(nn.Module):
    """AlexNet without groups and normalization: five convolutions and three linear layers, SAME padding."""

    plan = [
        (3, 96, 11, 4, True),
        (96, 256, 5, 1, True),
        (256, 384, 3, 1, False),
        (384, 384, 3, 1, False),
        (384, 256, 3, 1, True),
    ]

    def __init__(self):
        super().__init__()
        for number, (i, o, k, s, _) in enumerate(self.plan, 1):
            self.add_module(f"c{number}", nn.Conv2d(i, o, k, s))
        self.f6, self.f7, self.f8 = (
            nn.Linear(256 * 7 * 7, 4096),
            nn.Linear(4096, 4096),
            nn.Linear(4096, 1000),
        )

    def forward(self, x):
        for number, (_, _, window, stride, pooled) in enumerate(self.plan, 1):
            x = F.relu(getattr(self, f"c{number}")(same_padding(x, window, stride)))
            if pooled:
                x = F.max_pool2d(same_padding(x, 3, 2, float("-inf")), 3, 2)
        return self.f8(F.relu(self.f7(F.relu(self.f6(x.flatten(1))))))


class AlexNetR(nn.Module):
    """A small AlexNet for 32x32 pixels: three 5x5 convolutions, pooling with ceil_mode, one linear layer."""

    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = (
            nn.Conv2d(i, o, 5, padding=2) for i, o in ((3, 32), (32, 32), (32, 64))
        )
        self.f = nn.Linear(64 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.c1(x), 3, 2, ceil_mode=True))
        for convolution in (self.c2, self.c3):
            x = F.avg_pool2d(F.relu(convolution(x)), 3, 2, ceil_mode=True)
        return self.f(x.flatten(1))


def conv3x3(i, o, stride=1):
    return nn.Conv2d(i, o, 3, stride, 1, bias=False)


class BasicBlock(nn.Module):
    """Two convolutions with batch norm and a shortcut. If the size changes, the shortcut is a 2x2 average pooling, padded with zero channels."""

    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.b1, self.c2, self.b2 = (
            conv3x3(i, o, stride),
            nn.BatchNorm2d(o),
            conv3x3(o, o),
            nn.BatchNorm2d(o),
        )
        self.shrinks, self.missing = stride > 1, o - i

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        if self.shrinks:
            x = F.pad(
                F.avg_pool2d(x, 2), (0,) * 4 + (self.missing // 2, self.missing - self.missing // 2)
            )
        return x + self.b2(self.c2(y))


class ResNet56(nn.Module):
    """ResNet-56 for 32x32 pixels: three stages of nine basic blocks with 16, 32 and 64 channels."""

    def __init__(self):
        super().__init__()
        widths = [16] * 9 + [32] * 9 + [64] * 9
        self.c, self.b, self.f = conv3x3(3, 16), nn.BatchNorm2d(16), nn.Linear(64, 10)
        self.blocks = nn.Sequential(
            *(BasicBlock(i, o, 1 if i == o else 2) for i, o in zip([16] + widths, widths))
        )

    def forward(self, x):
        return self.f(self.blocks(F.relu(self.b(self.c(x)))).mean(dim=(2, 3)))


class LanguageModel(nn.Module):
    """Language model: embedding, two LSTM layers, and a linear layer over the vocabulary at each time step."""

    def __init__(self, width=256):
        super().__init__()
        self.e, self.f = nn.Embedding(VOCABULARY, width), nn.Linear(width, VOCABULARY)
        self.r = nn.LSTM(width, width, 2, batch_first=True)

    def forward(self, ids):
        y, _ = self.r(self.e(ids))
        return self.f(y)


class Bert(nn.Module):
    """An encoder with the shape of BERT-base and a classifier on the first token.
    Each layer has self-attention (q: query, key and value; o) and a feed-forward network (u, v), each followed by a residual sum and a layer norm (a, b)."""

    def __init__(self, layers=12, width=768, heads=12, vocabulary=30522, positions=512):
        super().__init__()
        self.heads = heads
        self.e, self.p, self.n, self.f = (
            nn.Embedding(vocabulary, width),
            nn.Embedding(positions, width),
            nn.LayerNorm(width),
            nn.Linear(width, 2),
        )
        for name, i, o in (("q", 1, 3), ("o", 1, 1), ("u", 1, 4), ("v", 4, 1)):
            self.add_module(
                name, nn.ModuleList(nn.Linear(i * width, o * width) for _ in range(layers))
            )
        for name in ("a", "b"):
            self.add_module(name, nn.ModuleList(nn.LayerNorm(width) for _ in range(layers)))

    def forward(self, ids):
        batch, tokens = ids.shape
        x = self.n(self.e(ids) + self.p(torch.arange(tokens, device=ids.device)))
        for i in range(len(self.q)):
            q, k, v = self.q[i](x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, -1)
            x = self.a[i](x + self.o[i](y))
            x = self.b[i](x + self.v[i](F.gelu(self.u[i](x))))
        return self.f(x[:, 0])


class DilatedConvNet(nn.Module):
    """Causal dilated convolutions over time with windows of two and doubling dilations, as in WaveNet.
    The first layers are gated, with residual and skip connections; `plain` layers without gates follow, with skip connections from earlier layers."""

    def __init__(self, width=64, blocks=2, depth=10, plain=4):
        super().__init__()
        self.gaps = [2**i for _ in range(blocks) for i in range(depth)]
        self.e, self.f = nn.Conv1d(1, width, 1), nn.Conv1d(width, 256, 1)
        for name in ("c", "g"):
            self.add_module(
                name, nn.ModuleList(nn.Conv1d(width, width, 2, dilation=d) for d in self.gaps)
            )
        self.m = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in self.gaps)
        self.p = nn.ModuleList(nn.Conv1d(width, width, 2, dilation=2**i) for i in range(plain))

    def forward(self, x):
        x, total = self.e(x), 0
        for i, gap in enumerate(self.gaps):
            before = F.pad(x, (gap, 0))
            y = self.m[i](torch.tanh(self.c[i](before)) * torch.sigmoid(self.g[i](before)))
            total, x = total + y, x + y
        known = [total]
        for i, layer in enumerate(self.p):
            y = layer(F.pad(known[-1], (2**i, 0)))
            for earlier in known:
                y = y + earlier
            known.append(F.relu(y))
        return self.f(known[-1])


def timm_model(name):
    def make():
        import timm

        return timm.create_model(name, pretrained=False)

    return make


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    return SegformerForSemanticSegmentation(SegformerConfig())


def randomize_small_parameters(make):
    """Wraps a module factory: parameters near zero, such as layer scales of 1e-6, get random values.
    Tiny scales would hide the errors of the layers that they scale."""

    def made():
        module = make()
        for value in module.parameters():
            with torch.no_grad():
                if value.abs().max() < 1e-4:
                    nn.init.normal_(value, std=0.1)
        return module

    return made


def torchvision_model(name):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None)

    return make


def vit():
    """Returns a ViT-B/16 with a random head.
    torchvision initializes the head with zeros, so that all outputs would be 0 and a comparison would be meaningless."""
    module = torchvision_model("vit_b_16")()
    nn.init.normal_(module.heads.head.weight, std=0.02)
    return module


def image(batch):
    return torch.randn(batch, 3, 224, 224)


def random_small_image(batch):
    return torch.randn(batch, 3, 32, 32)


def random_token_ids(vocabulary, length):
    return lambda batch: torch.randint(vocabulary, (batch, length))


NETWORKS = {
    "resnet-50": (torchvision_model("resnet50"), image),
    "mobilenet-v2": (torchvision_model("mobilenet_v2"), image),
    "vit": (vit, image),
    "bert": (Bert, random_token_ids(30522, TOKENS)),
    "lstm": (LanguageModel, random_token_ids(VOCABULARY, STEPS)),
    "alexnet-s": (AlexNetS, image),
    "fcn-s": (fcn_s, lambda batch: torch.randn(batch, 26752)),
    "fcn-r": (fcn_r, lambda batch: torch.randn(batch, 784)),
    "alexnet-r": (AlexNetR, random_small_image),
    "resnet-56": (ResNet56, random_small_image),
    # Kinds of graphs that once used reference kernels or crashed the compiler.
    "convnext": (randomize_small_parameters(torchvision_model("convnext_tiny")), image),
    "swin": (torchvision_model("swin_t"), image),
    "mixer": (timm_model("mixer_s16_224"), image),
    "dilated": (DilatedConvNet, lambda batch: torch.randn(batch, 1, 2048)),
    "segformer": (segformer, lambda batch: torch.randn(batch, 3, 256, 256)),
}

# By network: default batch size, number of classes, and settings that differ from plain SGD with a rate of 0.01 without clipping.
TRAINED = {
    "fcn-s": (64, 26752, {}),
    "alexnet-s": (16, 1000, {}),
    "resnet-50": (16, 1000, {}),
    "fcn-r": (1024, 10, {"rate": 0.05}),
    "alexnet-r": (128, 10, {}),
    "resnet-56": (128, 10, {}),
    "lstm": (128, VOCABULARY, {"clip": 5.0}),
    "bert": (4, 2, {}),
    "vit": (1, 1000, {}),
}
Training = collections.namedtuple("Training", "module batch_of loss rate clip")


def sequence_loss(y, t):
    """Returns the cross-entropy summed over the time steps, divided by the batch size."""
    return F.cross_entropy(y.flatten(0, 1), t.flatten(), reduction="sum") / t.shape[0]


# Initial scale and mean bias of a normalization layer, by the end of its name. Norms that end a residual branch have small scales. In ResNet-50, inputs of
# ReLUs are mostly positive, and shortcuts have small scales for the sake of the last layer.
NORMS = {
    ".b2": (0.25, 0),
    ".bn3": (0.05, 0),
    "downsample.1": (0.2, 0.4),
    "bn1": (1, 2),
    ".bn2": (1, 2),
}


def initialize_for_comparison(module):
    """Initializes a module so that training with different frameworks can be compared.
    Parameters that start as 0 or 1, which would hide errors, get random values, and norms get values that do not amplify rounding errors. If rounding moves the
    input of a ReLU across 0, a whole gradient element changes; deep residual networks with batch norm and branches at full strength amplify such differences by
    a factor of ten per step, so that PyTorch differs from itself as much as from other frameworks."""
    for name, part in module.named_modules():
        scale, bias = next((NORMS[end] for end in NORMS if name.endswith(end)), (1, 0))
        for which, value in part.named_parameters(recurse=False):
            with torch.no_grad():
                if isinstance(part, (nn.BatchNorm2d, nn.LayerNorm)):
                    value.copy_(
                        scale * (0.8 + 0.4 * torch.rand(value.shape))
                        if which == "weight"
                        else bias + 0.1 * scale * torch.randn(value.shape)
                    )
                elif value.abs().max() < 1e-4:
                    nn.init.normal_(value, std=0.02)


def smooth_images(count, size, cells):
    """Returns random images: a grid of cells x cells random values that is resized with bicubic interpolation."""
    return F.interpolate(
        torch.randn(count, 3, cells, cells), size=(size, size), mode="bicubic", align_corners=False
    )


def make_image_batches(size, classes):
    """Returns a function that generates random batches of images and labels.
    Each image is one of (at most) ten smooth patterns, with a smooth deviation and noise."""
    torch.manual_seed(1)
    kinds = min(classes, 10)
    patterns = smooth_images(kinds, size, 4)

    def batch_of(batch):
        t = torch.randint(kinds, (batch,))
        return patterns[t] + 0.5 * smooth_images(batch, size, 8) + 0.1 * torch.randn(
            batch, 3, size, size
        ), t

    return batch_of


def make_training_setup(name, batch=0, plain=False):
    """Returns the training setup of a network: the module in training mode, and batch_of(i), which always returns the same batch i."""
    usual, classes, different = TRAINED[name]
    batch = batch or usual
    make, inputs = NETWORKS[name]
    torch.manual_seed(0)
    module = make().train()
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    if not plain:
        initialize_for_comparison(module)
    size = {image: 224, random_small_image: 32}.get(inputs)
    pictures = make_image_batches(size, classes) if size and not plain else None

    def batch_of(i):
        torch.manual_seed(1000 + i)
        if pictures:
            return pictures(batch)
        x = inputs(batch)
        return x, torch.randint(classes, (batch, STEPS) if name == "lstm" else (batch,))

    return Training(
        module,
        batch_of,
        sequence_loss if name == "lstm" else F.cross_entropy,
        different.get("rate", 0.01),
        different.get("clip", 0.0),
    )


def build_network(name, batch):
    if name not in NETWORKS:
        raise SystemExit(f"unknown network '{name}'; known: {', '.join(NETWORKS)}")
    make, inputs = NETWORKS[name]
    torch.manual_seed(0)
    module = make().eval()
    return module, (inputs(batch),)


def export(name, batch, folder):
    """Exports the network to folder/name-batch.onnx, which is written atomically, if the file does not exist."""
    path = os.path.join(folder, f"{name}-{batch}.onnx")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        module, inputs = build_network(name, batch)
        torch.onnx.export(
            module, inputs, path + ".part", dynamo=True, external_data=False, verbose=False
        )
        os.rename(path + ".part", path)
    return path
