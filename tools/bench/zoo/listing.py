"""The networks of the zoo: creates PyTorch modules and their inputs from rows of networks.json."""

import importlib
import inspect
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class FlattenOutputs(nn.Module):
    """A module that returns only the tensors of another module's results, in order, without dictionaries, nested tuples and duplicates."""

    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *inputs):
        found = []

        def walk(value):
            if isinstance(value, torch.Tensor):
                if all(value is not other for other in found):
                    found.append(value)
            elif isinstance(value, dict):
                for each in value.values():
                    walk(each)
            elif isinstance(value, (list, tuple)):
                for each in value:
                    walk(each)

        walk(self.module(**dict(zip(self.names, inputs))) if self.names else self.module(*inputs))
        return tuple(found)


def initialize_as_trained(module):
    """Initializes normalization layers and scales as if after training, because their initial values (1, 0 or 1e-6) would hide errors."""
    torch.manual_seed(0)
    for part in module.modules():
        for name, value in list(part.named_parameters(recurse=False)) + list(
            part.named_buffers(recurse=False)
        ):
            with torch.no_grad():
                if not value.is_floating_point() or value.ndim == 0:
                    continue
                if isinstance(part, nn.modules.batchnorm._BatchNorm):
                    value.copy_(
                        0.8 + 0.4 * torch.rand_like(value)
                        if name in ("weight", "running_var")
                        else 0.1 * torch.randn_like(value)
                    )
                elif value.numel() and (value.abs().max() < 1e-3 or value.min() == value.max()):
                    value.copy_(
                        (0.2 + 0.1 * torch.rand_like(value))
                        if value.ndim <= 1 or value.shape.numel() == max(value.shape)
                        else 0.05 * torch.randn_like(value)
                    )


def timm_network(row):
    import timm

    return timm.create_model(row["model"], pretrained=False, exportable=True), {
        "x": ("float", row["size"])
    }


def torchvision_network(row):
    import torchvision

    builder = torchvision.models.get_model_builder(row["model"])
    more = (
        {"weights_backbone": None}
        if "weights_backbone" in inspect.signature(builder).parameters
        else {}
    )
    module = builder(weights=None, **more)
    family = builder.__module__.split(".")[2]
    names = ["image1", "image2"] if family == "optical_flow" else ["x"]
    return module, {name: ("float", row["size"]) for name in names}


def transformers_network(row):
    import transformers

    config = transformers.CONFIG_MAPPING[row["model"]](**row["config"])
    config.use_cache = False
    module = transformers.AutoModel.from_config(config)
    return module, {name: tuple(about) for name, about in row["inputs"].items()}


def recommender_network(row):
    return getattr(importlib.import_module("recommenders"), row["model"])()


def collected_network(row):
    module, inputs = importlib.import_module("others." + row["field"]).NETWORKS[row["model"]][0]()
    return module.requires_grad_(False), inputs


SOURCES = {
    "timm": timm_network,
    "torchvision": torchvision_network,
    "transformers": transformers_network,
    "own": recommender_network,
    "others": collected_network,
}


def build_network(row, batch):
    """Returns the module, initialized and wrapped, and its inputs by name, each as ("float", shape), ("double", shape) or (bound of integers, shape);
    shapes include the batch."""
    torch.manual_seed(0)
    module, inputs = SOURCES[row["source"]](row)
    module = module.eval()
    initialize_as_trained(module)
    named = row["source"] == "transformers"
    first = [] if row.get("whole") else [batch]
    return FlattenOutputs(module, list(inputs) if named else None).eval(), {
        name: (kind, [*first, *shape]) for name, (kind, shape) in inputs.items()
    }


def random_examples(inputs):
    generator = torch.Generator().manual_seed(0)
    types = {"float": torch.float32, "double": torch.float64}
    return tuple(
        torch.randn(shape, generator=generator, dtype=types[kind])
        if kind in types
        else torch.randint(kind, shape, generator=generator)
        for kind, shape in inputs.values()
    )
