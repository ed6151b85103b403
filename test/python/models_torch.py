"""Runs networks of torchvision, timm and transformers with random weights through torch.compile with dlc and without, and prints how far the results
are apart and what stays in PyTorch.

usage: models_torch.py [--filter TEXT]
"""
import argparse
import sys
import time
import warnings

import torch

import dlc
from dlc import _backend


def vision(name):
    import torchvision

    return getattr(torchvision.models, name)(weights=None), (torch.randn(1, 3, 224, 224),)


def timm(name):
    import timm

    return timm.create_model(name, pretrained=False), (torch.randn(1, 3, 224, 224),)


def text(kind, **sizes):
    import transformers

    config = transformers.AutoConfig.for_model(kind, **sizes)
    return transformers.AutoModel.from_config(config), (torch.randint(0, 100, (1, 32)),)


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 200}
MODELS = {
    "resnet18": (vision, "resnet18"),
    "mobilenet_v3_small": (vision, "mobilenet_v3_small"),
    "shufflenet_v2_x0_5": (vision, "shufflenet_v2_x0_5"),
    "squeezenet1_1": (vision, "squeezenet1_1"),
    "densenet121": (vision, "densenet121"),
    "efficientnet_b0": (timm, "efficientnet_b0"),
    "vit_tiny": (timm, "vit_tiny_patch16_224"),
    "convnext_atto": (timm, "convnext_atto"),
    "mixer_s32": (timm, "mixer_s32_224"),
    "swin_tiny": (timm, "swin_tiny_patch4_window7_224"),
    "bert": (text, "bert"),
    "llama": (text, "llama"),
}


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    return [each for part in value for each in flat(part)] if isinstance(value, (list, tuple)) else []


def spread(module, inputs):
    """Weights that are 0 and statistics of nothing would hide what is wrong: results of 0 are always right."""
    with torch.no_grad():
        for parameter in module.parameters():
            if not parameter.any():
                torch.nn.init.normal_(parameter, std=0.05)
        module.train()
        for _ in range(20):
            if not any(isinstance(each, torch.nn.BatchNorm2d) for each in module.modules()):
                break
            module(torch.randn(2, *inputs[0].shape[1:]))
    module.eval()


def run(name):
    make, kind = MODELS[name]
    torch.manual_seed(0)
    module, inputs = make(kind, **SMALL) if make is text else make(kind)
    spread(module, inputs)
    torch._dynamo.reset()
    dlc.report(clear=True)
    with torch.no_grad():
        wanted = flat(module(*inputs))
        begin = time.perf_counter()
        compiled = torch.compile(module, backend=_backend.backend)
        found = flat(compiled(*inputs))
        first = time.perf_counter() - begin
    far = max(((got - want).abs().max() / want.abs().max()).item() for got, want in zip(found, wanted, strict=True))
    graphs = dlc.report()
    eager = {}
    for graph in graphs:
        for each in graph.eager:
            eager[each.overload] = eager.get(each.overload, 0) + each.count
    print(f"{name:20} {far:8.1e}  {sum(graph.operators for graph in graphs):5} operators, {sum(eager.values()):3} in PyTorch, {len(graphs)} graphs, "
          f"{sum(len(graph.pieces) for graph in graphs)} programs, first result {first:5.1f} s  {eager or ''}", flush=True)
    return far < 1e-3


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--filter", default="")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    results = [run(name) for name in MODELS if given.filter in name]
    print(f"torch models: {sum(results)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
