"""Where the drawn networks are: their rows, and their graphs without weights.

The zoo's own stand in this folder. Where the environment variable DLC_ZOO names another folder, all scripts mean that one: a second draw, of networks that the zoo
does not have (draw.py, then export.py), shows whether what was learned on the first holds for others.
"""
import json
import os

OWN = os.path.dirname(os.path.abspath(__file__))
PLACE = os.path.abspath(os.environ.get("DLC_ZOO") or OWN)
GRAPHS = os.path.join(PLACE, "graphs")


def rows(place=PLACE):
    """What draw.py wrote; nothing before it did."""
    path = os.path.join(place, "networks.json")
    if not os.path.exists(path):
        return {"networks": [], "left_out": {}}
    with open(path) as file:
        return json.load(file)


def path_of(name, batch):
    return os.path.join(GRAPHS, f"{name}-b{batch}.onnx.xz")


def graphs():
    """(name, batch) of every network that was exported."""
    for file in sorted(os.listdir(GRAPHS)):
        if file.endswith(".onnx.xz"):
            name, batch = file.removesuffix(".onnx.xz").rsplit("-b", 1)
            yield name, int(batch)
