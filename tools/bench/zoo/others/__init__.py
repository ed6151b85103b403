"""Networks of libraries that draw.py does not draw from, at sizes that run in a second: each file has one field, in a table `NETWORKS`; export.py exports them."""
import importlib
import os

from torch import nn

FIELDS = ("images", "detectors", "restoration", "diffusion", "attention", "sound", "decoders", "graph_networks", "series", "keras_networks", "old_opsets")
os.environ.update(HF_HUB_OFFLINE="1", YOLO_OFFLINE="1", YOLO_VERBOSE="false")  # no weights are fetched


class Table(dict):
    """Networks by name: what makes one, as (module, inputs) like the functions of listing.py, and options of its row.

    The options: `exporters`, if not both; `opset`; `batches`; `whole`, where the inputs' shapes have the batch already; `kept`, of tensors with at most so many
    elements the values stay, as they are no weights.
    """

    def __init__(self, prefix="", **options):
        super().__init__()
        self.prefix, self.options = prefix, options

    def add(self, name, make, **options):
        self[self.prefix + name] = make, {**self.options, **options}

    def network(self, **options):
        """Adds the function below by its own name."""
        return lambda make: self.add(make.__name__, make, **options)

    def of(self, name, path, inputs, *arguments, **config):
        """Adds what the class or function of that path makes of the arguments."""
        self.add(name, lambda: (found(path)(*arguments, **config), inputs))


class Call(nn.Module):
    """A module called in another way than by its forward: by a function of the module and the inputs."""

    def __init__(self, module, call):
        super().__init__()
        self.module, self.call = module, call

    def forward(self, *inputs):
        return self.call(self.module, *inputs)


def found(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def floats(**shapes):
    return {name: ("float", shape) for name, shape in shapes.items()}


def image(*shape):
    return floats(x=shape)


def rows():
    """All of them, as networks.json would have them."""
    return [{"source": "others", "field": field, "model": name, "name": name, "batches": [1], "exporter": "export", **options}
            for field in FIELDS for name, (_, options) in importlib.import_module("others." + field).NETWORKS.items()]
