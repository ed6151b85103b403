"""Generates random ONNX graphs. Every graph is valid, its shapes are known, and the same seed gives the same graph."""

import importlib
import pathlib

import numpy as np
from graph import QUANTISED, Graph, everything, random, reads

for file in sorted((pathlib.Path(__file__).parent / "operators").glob("*.py")):
    importlib.import_module("operators." + file.stem)

# At a border of these a small error becomes a large one, though exact operands keep away from it in f32.
STEPS = {
    "Floor",
    "Ceil",
    "Round",
    "Sign",
    "ThresholdedRelu",
    "Shrink",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "ArgMax",
    "ArgMin",
    "TopK",
    "Mod",
    "Cast",
    "CastLike",
    "BitCast",
    "Hardmax",
    "QuantizeLinear",
    "DynamicQuantizeLinear",
    "QLinearMatMul",
    "QLinearConv",
    "MaxUnpool",
    "Binarizer",
    "TreeEnsemble",
}


def generate(seed, style="graphs", most=20):
    """The Graph of a seed. In the style quantized, most operators quantize or read quantized values."""
    g = Graph([seed, 8], QUANTISED) if style == "quantized" else Graph(seed)
    g.grow(g.integer(1, most))
    return g


def has_steps(model):
    return any(node.op_type in STEPS for node in everything(model.graph.node))


def outputs_of(g):
    """What nothing reads, and now and then something that is read too."""
    read = {name for node in g.nodes for name in reads(node)}
    made = [v for v in g.values if v.name.startswith("v")]
    ends = [v for v in made if v.name not in read]
    return g.ends + ends + [v for v in made if v.name in read and g.chance(0.08)]


def example(g, seed):
    """Inputs by name."""
    rng = np.random.default_rng([seed, 1])
    return {v.name: random(rng, v.shape, v.kind) for v in g.inputs}
