"""Graph neural networks of torch_geometric: 1,000 nodes, 5,000 edges."""

import torch
from torch import nn

from . import Table, found

NETWORKS = Table("gnn-", whole=True)
INPUTS = {"x": ("float", [1000, 128]), "edge_index": (1000, [2, 5000])}


class GraphLayers(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, edge_index):
        for i, layer in enumerate(self.layers):
            x = layer(x, edge_index)
            if i + 1 < len(self.layers):
                x = torch.relu(x)
        return torch.log_softmax(x, -1)


def add(name, layer, *each, **config):
    """Adds a network of several layers of one kind. `each` has the input size, the output size and optionally the heads of each layer."""

    def make():
        kind = found("torch_geometric.nn." + layer)
        return GraphLayers(
            *(
                kind(size, to, **({"heads": heads[0]} if heads else {}), **config)
                for size, to, *heads in each
            )
        ), INPUTS

    NETWORKS.add(name, make)


add("gcn", "GCNConv", (128, 128), (128, 128), (128, 40))
add("gat", "GATConv", (128, 16, 8), (128, 40, 1))
add("gatv2", "GATv2Conv", (128, 16, 8), (128, 40, 1))
add("sage", "SAGEConv", (128, 256), (256, 256), (256, 40))
add("sage_max", "SAGEConv", (128, 256), (256, 40), aggr="max")
add("transformer", "TransformerConv", (128, 32, 4), (128, 40, 1))
add("cheb", "ChebConv", (128, 64), (64, 40), K=3)
add(
    "pna",
    "PNAConv",
    (128, 64),
    (64, 64),
    (64, 40),
    aggregators=["mean", "min", "max", "std"],
    scalers=["identity", "amplification", "attenuation"],
    deg=torch.tensor([5, 30, 80, 140, 180, 170, 150, 100, 70, 40, 20, 15]),
    towers=4,
    divide_input=False,
)


@NETWORKS.network()
def gin():
    inner = lambda size, to: nn.Sequential(
        nn.Linear(size, to), nn.BatchNorm1d(to), nn.ReLU(), nn.Linear(to, to), nn.ReLU()
    )
    layer = found("torch_geometric.nn.GINConv")
    return GraphLayers(
        *(layer(inner(128, 128), train_eps=True) for _ in range(4)), layer(inner(128, 40))
    ), INPUTS


@NETWORKS.network()
def edgeconv():
    inner = lambda size, to: nn.Sequential(nn.Linear(2 * size, to), nn.ReLU(), nn.Linear(to, to))
    layer = found("torch_geometric.nn.EdgeConv")
    return GraphLayers(layer(inner(128, 64)), layer(inner(64, 40))), INPUTS
