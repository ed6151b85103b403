"""Runs networks of torchvision, timm and transformers, and some of its own, with random weights through torch.compile with dlc and in eager mode, and
prints the differences of the results and the operators that remain in PyTorch. With --train, runs ten steps of SGD with momentum on one batch, both from the
same seed, and prints the differences of the losses. In some networks a rounding error grows quickly, for example by the sign of a relu's operand; for these the
differences are compared with those of PyTorch's own losses after changes of the weights in the last places. In f64 few networks need this.

usage: models_torch.py [--train] [--filter TEXT[,TEXT..]] [--steps N] [--type f32|f64|bf16] [--accuracy strict|default|fast]
"""

import argparse
import contextlib
import copy
import sys
import time
import warnings

import torch

import dlc
from dlc._torch import backend

TRAINED_BATCH, LABELS = 4, 10
# How far losses may be apart, of the loss.
LIMITS = {"f32": 1e-3, "f64": 1e-7, "bf16": 3e-2}


class Recurrent(torch.nn.Module):
    """Embedding, LSTM both ways, GRU, a label for each place."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(100, 16, padding_idx=0)
        self.lstm = torch.nn.LSTM(16, 32, 2, batch_first=True, bidirectional=True)
        self.gru = torch.nn.GRU(64, 32, batch_first=True)
        self.out = torch.nn.Linear(32, LABELS)

    def forward(self, x):
        return self.out(self.gru(self.lstm(self.words(x))[0])[0])


class UNet(torch.nn.Module):
    """Down by strides and pooling, up by a transposed convolution and by resizing, with the activations and normalisations that others have not."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.first = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, padding_mode="replicate"), nn.GroupNorm(2, 8), nn.SiLU()
        )
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.bottom = nn.Sequential(
            nn.InstanceNorm2d(16, affine=True),
            nn.ELU(),
            nn.MaxPool2d(3, 2, 1),
            nn.Conv2d(16, 16, 3, padding=1, groups=4),
            nn.LeakyReLU(0.1),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Softplus(),
        )
        self.up = nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1)
        self.rest = nn.Sequential(
            nn.PReLU(8),
            nn.AvgPool2d(3, 2, 1),
            nn.Hardswish(),
            nn.Upsample(scale_factor=2),
            nn.Mish(),
            nn.Conv2d(8, LABELS, 1),
        )
        self.pool = nn.AdaptiveAvgPool2d((3, 5))

    def forward(self, x):
        y = self.first(x)
        return self.pool(self.rest(self.up(self.bottom(self.down(y))) + y))


def vision(name, size, **options):
    import torchvision

    return torchvision.models.get_model(name, weights=None, **options), lambda batch: torch.randn(
        batch, 3, size, size
    )


def timm(name, size, **options):
    import timm

    return timm.create_model(name, pretrained=False, **options), lambda batch: torch.randn(
        batch, 3, size, size
    )


def text(kind, _, **sizes):
    import transformers

    config = transformers.AutoConfig.for_model(kind, **{**SMALL, **sizes})
    auto = (
        transformers.AutoModelForMaskedLM
        if kind in ("bert", "roberta", "electra", "distilbert")
        else transformers.AutoModelForCausalLM
    )
    return auto.from_config(config), lambda batch: torch.randint(0, 100, (batch, 32))


def own(kind, size):
    if kind is Recurrent:
        return kind(), lambda batch: torch.randint(0, 100, (batch, 9))
    return kind(), lambda batch: torch.randn(batch, 3, size, size)


SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 200,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
# Of each: who makes it, its name there, the size of images for inference and for training.
MODELS = {
    "resnet18": (vision, "resnet18", 224, 96),
    "mobilenet_v3_small": (vision, "mobilenet_v3_small", 224, 96),
    "shufflenet_v2_x0_5": (vision, "shufflenet_v2_x0_5", 224, 96),
    "squeezenet1_1": (vision, "squeezenet1_1", 224, 96),
    "densenet121": (vision, "densenet121", 224, 64),
    "efficientnet_b0": (timm, "efficientnet_b0", 224, 64),
    "vit_tiny": (timm, "vit_tiny_patch16_224", 224, 224),
    "convnext_atto": (timm, "convnext_atto", 224, 64),
    "mixer_s32": (timm, "mixer_s32_224", 224, 224),
    "swin_tiny": (timm, "swin_tiny_patch4_window7_224", 224, 224),
    "regnety_002": (timm, "regnety_002", 224, 64),
    "bert": (text, "bert", 0, 0),
    "gpt2": (text, "gpt2", 0, 0),
    "llama": (text, "llama", 0, 0),
    "recurrent": (own, Recurrent, 0, 0),
    "unet": (own, UNet, 32, 32),
}


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    return (
        [each for part in value for each in flat(part)] if isinstance(value, (list, tuple)) else []
    )


def spread(module, batch):
    """Weights that are 0 and statistics of nothing would hide what is wrong: results of 0 are always right."""
    with torch.no_grad():
        for parameter in module.parameters():
            if not parameter.any():
                torch.nn.init.normal_(parameter, std=0.05)
        module.train()
        for _ in range(20):
            if not any(isinstance(each, torch.nn.BatchNorm2d) for each in module.modules()):
                break
            module(batch(2))


def made(name, size_at):
    """A network and what makes a batch of its inputs."""
    make, kind, *sizes = MODELS[name]
    torch.manual_seed(0)
    module, batch = make(kind, sizes[size_at])
    spread(module, batch)
    torch._dynamo.reset()
    dlc.report(clear=True)
    return module, batch


def told(name, far, first):
    """Prints a line of what the report has."""
    graphs, eager = dlc.report(), {}
    for graph in graphs:
        for each in graph.eager:
            eager[each.overload] = eager.get(each.overload, 0) + each.count
    share = sum(graph.eager_flops for graph in graphs) / max(
        1, sum(graph.flops for graph in graphs)
    )
    print(
        f"{name:20} {far:8.1e}  {sum(graph.operators for graph in graphs):5} operators, {sum(eager.values()):3} in PyTorch with {100 * share:.2g} % of the FLOPs, "
        f"{len(graphs)} graphs, {sum(len(graph.pieces) for graph in graphs)} programs, first result {first:5.1f} s  {eager or ''}",
        flush=True,
    )
    return share


def run(name):
    module, batch = made(name, 0)
    module.eval()
    x = batch(1)
    with torch.no_grad():
        wanted = flat(module(x))
        begin = time.perf_counter()
        found = flat(torch.compile(module, backend=backend.backend)(x))
        first = time.perf_counter() - begin
    far = max(
        ((got - want).abs().max() / want.abs().max()).item()
        for got, want in zip(found, wanted, strict=True)
    )
    told(name, far, first)
    return far < 1e-3


class WithLoss(torch.nn.Module):
    """A network of labels, or a language model that is its own target."""

    def __init__(self, module, is_text):
        super().__init__()
        self.module, self.is_text = module, is_text

    def forward(self, x, target):
        if self.is_text:
            return self.module(x, labels=target).loss
        logits = self.module(x)
        if isinstance(logits, tuple):
            logits = logits[0]
        return torch.nn.functional.cross_entropy(
            logits.reshape(target.numel(), -1) if x.dtype == torch.int64 else logits,
            target.reshape(-1) if x.dtype == torch.int64 else target,
        )


def target_of(module, x, is_text):
    if is_text:
        return x
    with torch.no_grad():
        shape = copy.deepcopy(module)(x).shape
    return torch.randint(
        0, LABELS, shape[:-1] if x.dtype == torch.int64 else (shape[0], *shape[2:])
    )


def losses(module, call, x, target, steps, context):
    step = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    found = []
    for i in range(steps):
        torch.manual_seed(i)
        step.zero_grad()
        with context():
            loss = call(x, target)
        loss.backward()
        step.step()
        found.append(loss.item())
        if i == 0:
            first = time.perf_counter()
    return found, first


def apart(found, wanted):
    return max(abs(got - want) / abs(want) for got, want in zip(found, wanted, strict=True))


def nudged(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1 + 8 * torch.finfo(parameter.dtype).eps * torch.randn_like(parameter))
    return module


def train(name, steps, kind, accuracy):
    module, batch = made(name, 1)
    module.train()
    is_text = MODELS[name][0] is text
    x = batch(TRAINED_BATCH)
    if kind == "f64":
        module, x = module.double(), x.double() if x.is_floating_point() else x
    target = target_of(module, x, is_text)
    whole = WithLoss(module, is_text)
    eager, other = copy.deepcopy(whole), nudged(copy.deepcopy(whole))
    context = (
        (lambda: torch.autocast("cpu", torch.bfloat16))
        if kind == "bf16"
        else contextlib.nullcontext
    )
    wanted, _ = losses(eager, eager, x, target, steps, context)
    begin = time.perf_counter()
    found, first = losses(
        whole,
        torch.compile(whole, backend=backend.backend, options={"accuracy": accuracy}),
        x,
        target,
        steps,
        context,
    )
    far, limit = apart(found, wanted), LIMITS[kind]
    share = told(name, far, first - begin)
    if far >= limit:
        limit = 3 * apart(losses(other, other, x, target, steps, context)[0], wanted)
        print(
            f"  PyTorch's own, nudged: {limit / 3:.1e}\n  found {found}\n  eager {wanted}",
            flush=True,
        )
    return far < limit and share < 0.02


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="", help="names, or parts of them")
    arguments.add_argument("--train", action="store_true", help="steps of training")
    arguments.add_argument("--steps", type=int, default=10)
    arguments.add_argument(
        "--type", choices=LIMITS, default="f32", help="of what is trained; bf16: under autocast"
    )
    arguments.add_argument("--accuracy", default="strict", help="of programs that train")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    # Otherwise PyTorch runs recurrent layers itself and shows them to nobody.
    torch._dynamo.config.allow_rnn = True
    names = [name for name in MODELS if any(part in name for part in given.filter.split(","))]
    results = [
        train(name, given.steps, given.type, given.accuracy) if given.train else run(name)
        for name in names
    ]
    print(f"torch models: {sum(results)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
