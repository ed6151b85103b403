"""Random cases of the operators of the domain ai.onnx.ml. contrib_cases.py has those of com.microsoft."""

import numpy as np

from random_case import Case, F, I64, floats, maybe

DOMAIN = "ai.onnx.ml"
BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def case(inputs, outputs=1, valid=None, **attributes):
    return Case(
        inputs,
        outputs,
        attributes={k: v for k, v in attributes.items() if v is not None},
        domain=DOMAIN,
        valid=valid,
    )


def forest(rng, features, targets, leaf, positive=False, all_targets=False):
    """Attributes of random trees: nodes are numbered from 0 in each, the root first; a leaf gives something to one target or to all of them."""
    nodes = {
        name: []
        for name in (
            "treeids",
            "nodeids",
            "featureids",
            "values",
            "modes",
            "truenodeids",
            "falsenodeids",
            "missing_value_tracks_true",
        )
    }
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    branches = BRANCHES if rng.random() < 0.3 else [BRANCHES[rng.integers(2)]]
    for tree in range(rng.integers(1, 6)):
        waiting, number = [(0, 0)], 1
        while waiting:
            node, depth = waiting.pop(0)
            is_leaf = depth == 4 or rng.random() < 0.2 * depth
            row = dict(
                treeids=tree,
                nodeids=node,
                featureids=0,
                values=0.0,
                modes="LEAF",
                truenodeids=0,
                falsenodeids=0,
                missing_value_tracks_true=0,
            )
            if is_leaf:
                for target in (
                    targets
                    if all_targets or rng.random() < 0.5
                    else [targets[rng.integers(len(targets))]]
                ):
                    weight = float(F(rng.standard_normal()))
                    for name, value in zip(
                        leaves, (tree, node, target, abs(weight) if positive else weight)
                    ):
                        leaves[name].append(value)
            else:
                # Values of a grid, so that features are equal to some.
                row.update(
                    featureids=int(rng.integers(features)),
                    values=float(rng.integers(-4, 5)) / 4,
                    modes=branches[rng.integers(len(branches))],
                    truenodeids=number,
                    falsenodeids=number + 1,
                    missing_value_tracks_true=int(rng.integers(2)),
                )
                waiting += [(number, depth + 1), (number + 1, depth + 1)]
                number += 2
            for name, value in row.items():
                nodes[name].append(value)
    return {
        **{f"nodes_{k}": v for k, v in nodes.items()},
        **{f"{leaf}_{k}": v for k, v in leaves.items()},
    }


def samples(rng, features, missing=True):
    x = rng.integers(-6, 7, (int(rng.integers(1, 20)), features)).astype(F) / 4
    return (
        np.where(rng.random(x.shape) < 0.1, F(np.nan), x).astype(F)
        if missing and rng.random() < 0.5
        else x
    )


def one(rng, *values):
    return values[rng.integers(len(values))]


def tree_regressor(rng):
    features, targets = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    # Of targets that no leaf names, the least and the largest are nothing.
    named = list(range(targets))
    how = one(rng, "SUM", "AVERAGE", *(["MIN", "MAX"] if targets == 1 else []))
    return case(
        [samples(rng, features)],
        n_targets=targets,
        aggregate_function=how,
        post_transform=one(rng, "NONE", "NONE", "LOGISTIC" if targets > 1 else "NONE"),
        base_values=maybe(rng, [float(v) for v in floats(rng, targets)]),
        **forest(rng, features, named, "target", all_targets=how == "AVERAGE"),
    )


def tree_classifier(
    rng, classes, targets, positive=False, posts=("NONE", "LOGISTIC", "SOFTMAX"), base=True
):
    features = int(rng.integers(1, 6))
    labels = [int(v) for v in rng.permutation(10)[:classes]]
    # Of scores for both of two classes ONNX Runtime gives no label of the list, but 0 or 1.
    without_label = (lambda i, x: x[:0] if i == 0 else x) if len(targets) == 2 else None
    return case(
        [samples(rng, features)],
        2,
        without_label,
        classlabels_int64s=labels,
        post_transform=one(rng, *posts),
        base_values=maybe(rng, [float(v) for v in floats(rng, len(targets))]) if base else None,
        **forest(rng, features, targets, "class", positive, all_targets=True),
    )


def linear_regressor(rng):
    features, targets = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    return case(
        [samples(rng, features, False)],
        coefficients=floats(rng, features * targets).tolist(),
        targets=targets,
        intercepts=maybe(rng, floats(rng, targets).tolist()),
    )


def linear_classifier(rng, classes):
    features, rows = int(rng.integers(1, 6)), 1 if classes == 2 and rng.random() < 0.5 else classes
    return case(
        [samples(rng, features, False)],
        2,
        coefficients=floats(rng, features * rows).tolist(),
        intercepts=floats(rng, rows).tolist(),
        classlabels_ints=[int(v) for v in rng.permutation(10)[:classes]],
        post_transform=one(rng, "NONE", "LOGISTIC", "SOFTMAX"),
    )


def svm_regressor(rng):
    features, vectors = int(rng.integers(1, 6)), int(rng.integers(0, 6))
    kernel = one(rng, "LINEAR", "POLY", "RBF", "SIGMOID") if vectors else "LINEAR"
    return case(
        [samples(rng, features, False)],
        n_supports=vectors,
        kernel_type=kernel,
        kernel_params=[0.3, 0.5, 2.0],
        support_vectors=floats(rng, vectors * features).tolist() if vectors else None,
        coefficients=floats(rng, vectors or features).tolist(),
        rho=floats(rng, 1).tolist(),
        one_class=int(rng.integers(2)),
    )


def scaler(rng):
    features = int(rng.integers(1, 6))
    sizes = [one(rng, 1, features) for _ in range(1)] * 2
    x = samples(rng, features, False)
    return case(
        [x.astype(one(rng, F, I64))],
        offset=floats(rng, sizes[0]).tolist(),
        scale=floats(rng, sizes[1]).tolist(),
    )


def normalizer(rng):
    x = samples(rng, int(rng.integers(1, 6)), False)
    norm = one(rng, "MAX", "L1", "L2")
    return case([np.abs(x) + F(0.25) if norm == "MAX" else x], norm=norm)


def imputer(rng):
    features = int(rng.integers(1, 6))
    if rng.random() < 0.5:
        return case(
            [samples(rng, features)],
            imputed_value_floats=floats(rng, one(rng, 1, features)).tolist(),
            replaced_value_float=one(rng, float("nan"), 0.25),
        )
    x = rng.integers(0, 4, (5, features)).astype(I64)
    return case(
        [x],
        imputed_value_int64s=[int(v) for v in rng.integers(9, 20, one(rng, 1, features))],
        replaced_value_int64=2,
    )


def label_encoder(rng):
    keys = rng.permutation(12)[:6]
    x = rng.integers(0, 12, (3, 4))
    attributes = {}
    if rng.random() < 0.5:
        x, attributes["keys_int64s"] = x.astype(I64), [int(k) for k in keys]
    else:
        x, attributes["keys_floats"] = x.astype(F), [float(k) for k in keys[:-1]] + [float("nan")]
        x[0, 0] = np.nan
    if rng.random() < 0.5:
        attributes.update(values_floats=floats(rng, 6).tolist(), default_float=0.5)
    else:
        attributes.update(values_int64s=[int(v) for v in rng.integers(0, 99, 6)], default_int64=-7)
    return case([x], **attributes)


def one_hot_encoder(rng):
    return case(
        [rng.integers(0, 8, (int(rng.integers(1, 9)),)).astype(one(rng, F, I64))],
        cats_int64s=[int(v) for v in rng.permutation(8)[:5]],
        zeros=1,
    )


def feature_vectorizer(rng):
    rows, widths = (
        int(rng.integers(1, 5)),
        [int(w) for w in rng.integers(1, 4, int(rng.integers(1, 4)))],
    )
    return case([floats(rng, rows, w) for w in widths], inputdimensions=widths)


def zip_map(rng):
    x = floats(rng, int(rng.integers(1, 6)), 3)
    # ONNX Runtime gives a sequence of maps.
    return Case(
        [x], attributes={"classlabels_int64s": [4, 0, 7]}, expected=[x], domain="ai.onnx.ml"
    )


CLASSIC_CASES = {
    "TreeEnsembleRegressor": tree_regressor,
    "TreeEnsembleClassifier": lambda rng: tree_classifier(rng, 3, [0, 1, 2]),
    "TreeEnsembleClassifier+positive": lambda rng: tree_classifier(
        rng, 2, [0], True, base=False, posts=["NONE"]
    ),
    "TreeEnsembleClassifier+sign": lambda rng: tree_classifier(rng, 2, [0]),
    "TreeEnsembleClassifier+two": lambda rng: tree_classifier(
        rng, 2, [0, 1], posts=["NONE"], base=False
    ),
    "LinearRegressor": linear_regressor,
    "LinearClassifier": lambda rng: linear_classifier(rng, int(rng.integers(2, 5))),
    "SVMRegressor": svm_regressor,
    "Scaler": scaler,
    "Normalizer": normalizer,
    "Imputer": imputer,
    "LabelEncoder": label_encoder,
    "OneHotEncoder": one_hot_encoder,
    "FeatureVectorizer": feature_vectorizer,
    "ZipMap": zip_map,
}
