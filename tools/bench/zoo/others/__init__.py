"""Networks of libraries that draw.py does not select from, at sizes that run in about a second. Each file covers one field, in a table `NETWORKS`;
export.py exports them."""

import importlib
import os

from torch import nn

FIELDS = (
    "images",
    "detectors",
    "restoration",
    "diffusion",
    "attention",
    "sound",
    "decoders",
    "graph_networks",
    "series",
    "keras_networks",
    "old_opsets",
)
os.environ.update(
    HF_HUB_OFFLINE="1", YOLO_OFFLINE="1", YOLO_VERBOSE="false"
)  # disables downloads of pretrained weights


class NetworkTable(dict):
    """Networks by name: a function that creates (module, inputs), like the functions of listing.py, and options of its row.

    The options: `exporters`, if not both; `opset`; `batches`; `whole`, if the inputs' shapes already include the batch; `kept`: tensors with at most this number of
    elements keep their values, because they are not weights.
    """

    def __init__(self, prefix="", **options):
        super().__init__()
        self.prefix, self.options = prefix, options

    def add(self, name, make, **options):
        self[self.prefix + name] = make, {**self.options, **options}

    def network(self, **options):
        """Returns a decorator that adds a function to the table under its own name."""
        return lambda make: self.add(make.__name__, make, **options)

    def of(self, name, path, inputs, *arguments, **config):
        """Adds a network that is created by calling the class or function at this path with the arguments."""
        self.add(name, lambda: (import_by_path(path)(*arguments, **config), inputs))


class CallModule(nn.Module):
    """Module whose forward is a function of another module and the inputs."""

    def __init__(self, module, call):
        super().__init__()
        self.module, self.call = module, call

    def forward(self, *inputs):
        return self.call(self.module, *inputs)


def import_by_path(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def float_inputs(**shapes):
    return {name: ("float", shape) for name, shape in shapes.items()}


def image(*shape):
    return float_inputs(x=shape)


def list_rows():
    """Returns the rows of all networks, in the format of networks.json."""
    return [
        {
            "source": "others",
            "field": field,
            "model": name,
            "name": name,
            "batches": [1],
            "exporter": "export",
            **options,
        }
        for field in FIELDS
        for name, (_, options) in importlib.import_module("others." + field).NETWORKS.items()
    ]
