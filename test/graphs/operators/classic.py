"""Specifications of trees, n-grams, and optimizer steps."""

import numpy as np
from graph import spec
from onnx import numpy_helper

OPTIMISERS = {
    "Adagrad": (1, {"decay_factor": 0.1, "epsilon": 1e-2, "norm_coefficient": 0.01}),
    "Adam": (2, {"alpha": 0.9, "beta": 0.99, "epsilon": 1e-2, "norm_coefficient": 0.01}),
    "Momentum": (1, {"alpha": 0.9, "beta": 0.8, "mode": "nesterov", "norm_coefficient": 0.01}),
}


@spec(*OPTIMISERS)
def optimiser(g, operator):
    states, more = OPTIMISERS[operator]
    x = g.any()
    kept = [g.shaped(x.shape) for _ in range(1 + states)]
    if operator != "Momentum":  # the last is a sum of squares
        kept[-1] = g.positive(kept[-1])
    inputs = [g.constant(np.array(0.1, np.float32)), g.int(g.integer(1, 9)), x, *kept]
    g.emit(
        operator,
        inputs,
        False,
        1 + states,
        domain="ai.onnx.preview.training",
        types=[("f32", x.shape)] * (1 + states),
        **more,
    )


@spec("Binarizer")
def binarizer(g, operator):
    x = g.any(exact=True)
    g.emit(operator, [x], True, domain="ai.onnx.ml", types=[("f32", x.shape)], threshold=0.3)


@spec("TreeEnsemble")
def trees(g, operator):
    """Full trees of two levels: a root, two nodes, four leaves."""
    x = g.ranked(2, exact=True)
    count, targets = g.integer(1, 4), g.integer(1, 3)
    leaf = [n for t in range(count) for n in (0, 4 * t, 4 * t + 2)]
    tensor = lambda values, kind=np.float32: numpy_helper.from_array(np.array(values).astype(kind))
    g.emit(
        operator,
        [x],
        False,
        domain="ai.onnx.ml",
        types=[("f32", (x.shape[0], targets))],
        n_targets=targets,
        aggregate_function=1,
        post_transform=0,
        tree_roots=[3 * t for t in range(count)],
        nodes_featureids=[g.integer(0, x.shape[1] - 1) for _ in range(3 * count)],
        nodes_splits=tensor(g.rng.standard_normal(3 * count)),
        nodes_modes=tensor([g.one([0, 1, 2, 3])] * 3 * count, np.uint8),
        nodes_truenodeids=[
            3 * t + 1 if n == 0 else leaf[3 * t + n] for t in range(count) for n in range(3)
        ],
        nodes_falsenodeids=[
            3 * t + 2 if n == 0 else leaf[3 * t + n] + 1 for t in range(count) for n in range(3)
        ],
        nodes_trueleafs=[0, 1, 1] * count,
        nodes_falseleafs=[0, 1, 1] * count,
        leaf_targetids=[g.integer(0, targets - 1) for _ in range(4 * count)],
        leaf_weights=tensor(g.rng.standard_normal(4 * count)),
    )


@spec("TfIdfVectorizer")
def ngrams(g, operator):
    x = g.random(
        g.shape(g.integer(1, 2), 100), g.one(["i64", "i32"])
    )  # the importer must know them
    ones, pairs = (
        g.permutation(5)[:3],
        sorted({(g.integer(-4, 4), g.integer(-4, 4)) for _ in range(4)}),
    )
    pool, most = ones + [n for pair in pairs for n in pair], g.integer(1, 2)
    g.emit(
        operator,
        [x],
        True,
        types=[("f32", (*x.shape[:-1], 3 + len(pairs)))],
        mode="TF",
        min_gram_length=g.integer(1, most),
        max_gram_length=most,
        max_skip_count=g.integer(0, 2),
        ngram_counts=[0, 3],
        ngram_indexes=g.permutation(3 + len(pairs)),
        pool_int64s=pool,
    )
