"""Locations of the selected networks: their rows, and their graphs without weights.

The zoo's own networks are in this folder. If the environment variable DLC_ZOO names another folder, all scripts use that one: a second selection, of networks
that the zoo does not contain (draw.py, then export.py), shows whether results on the first one generalize.
"""

import json
import os

OWN = os.path.dirname(os.path.abspath(__file__))
PLACE = os.path.abspath(os.environ.get("DLC_ZOO") or OWN)
GRAPHS = os.path.join(PLACE, "graphs")


def read_networks_json(place=PLACE):
    """Returns the content of networks.json, or an empty result if draw.py has not written the file yet."""
    path = os.path.join(place, "networks.json")
    if not os.path.exists(path):
        return {"networks": [], "left_out": {}}
    with open(path) as file:
        return json.load(file)


def graph_path(name, batch):
    return os.path.join(GRAPHS, f"{name}-b{batch}.onnx.xz")


def list_graphs():
    """Yields (name, batch) of every exported network of the zoo."""
    for file in sorted(os.listdir(GRAPHS)):
        if file.endswith(".onnx.xz"):
            name, batch = file.removesuffix(".onnx.xz").rsplit("-b", 1)
            yield name, int(batch)
