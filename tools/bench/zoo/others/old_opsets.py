"""Files in the opsets 7 to 9 as old exporters wrote them, and f64 networks: of torchvision, and small ones."""

import inspect

import torch
from torch import nn

from . import Call, Table, floats

NETWORKS = Table()


def add_torchvision_model(model, size, part=None):
    import torchvision

    builder = torchvision.models.get_model_builder(model)
    more = (
        {"weights_backbone": None}
        if "weights_backbone" in inspect.signature(builder).parameters
        else {}
    )
    if model in ("googlenet", "inception_v3"):
        more["init_weights"] = False
    module = builder(weights=None, **more)
    return getattr(module, part) if part else module, floats(image=[3, size, size])


for model, size, *part in (
    ("alexnet", 224),
    ("squeezenet1_1", 224),
    ("googlenet", 224),
    ("inception_v3", 299),
    ("shufflenet_v2_x1_0", 224),
    ("densenet121", 224),
    ("mnasnet1_0", 224),
    ("ssd300_vgg16", 300, "backbone"),
    ("deeplabv3_mobilenet_v3_large", 224),
    ("fcn_resnet50", 160),
    ("mobilenet_v3_small", 224),
    ("resnet18", 224),
):
    NETWORKS.add(
        "oldop-" + model,
        lambda about=(model, size, *part): add_torchvision_model(*about),
        opset=9,
        exporters=["trace"],
    )
for model in ("alexnet", "resnet18"):
    NETWORKS.add(
        "oldop7-" + model,
        lambda model=model: add_torchvision_model(model, 224),
        opset=7,
        exporters=["trace"],
    )


def tagger():
    def call(parts, tokens):
        return torch.log_softmax(parts[2](parts[1](parts[0](tokens))[0]), -1)

    parts = nn.ModuleList(
        [
            nn.Embedding(10000, 128),
            nn.LSTM(128, 128, 2, batch_first=True, bidirectional=True),
            nn.Linear(256, 20),
        ]
    )
    return Call(parts, call), {"tokens": (10000, [100])}


NETWORKS.add("oldop-lstm_tagger", tagger, opset=9, exporters=["trace"])


def add_double_network(name, make, *shape):
    NETWORKS.add("f64-" + name, lambda: (make().double(), {"x": ("double", list(shape))}))


def mlp():
    return nn.Sequential(
        nn.Linear(64, 256),
        nn.Tanh(),
        nn.LayerNorm(256),
        nn.Linear(256, 256),
        nn.SiLU(),
        nn.Linear(256, 10),
        nn.Softmax(-1),
    )


def lstm():
    return Call(
        nn.ModuleList([nn.LSTM(32, 64, 2, batch_first=True), nn.Linear(64, 5)]),
        lambda parts, x: parts[1](parts[0](x)[0]),
    )


def resnet():
    import torchvision

    return torchvision.models.ResNet(
        torchvision.models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=100
    )


def attention():
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, activation="gelu"),
        2,
        enable_nested_tensor=False,
    )


add_double_network("mlp", mlp, 64)
add_double_network("lstm", lstm, 60, 32)
add_double_network("resnet18", resnet, 3, 96, 96)
add_double_network("attention", attention, 40, 128)
