#!/usr/bin/env python3
"""Checks that invalid models end in an error message, never in a crash, a hang or success.

  bad_models.py --runner dlc-onnx-ref [--mutations N] [--seed S]

Each case is a model file and words that the message must contain. Mutated copies of good models may import or fail, but
must not crash or hang.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto as T, helper, numpy_helper

import bad_contrib
import bad_files
import bad_graphs


def value(name, shape=(2, 3), kind=T.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, initializers=(), opset=20, functions=(), imports=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset), *imports], functions=list(functions)
    )


def unary(op="Relu", **attributes):
    return model(
        [helper.make_node(op, ["x"], ["y"], name="n", **attributes)], [value("x")], [value("y")]
    )


def cases(folder):
    """Yields name, bytes of the model, words of the message."""
    good = unary().SerializeToString()
    yield "empty", b"", ["empty"]
    yield "text", b"this is no model\n" * 20, ["ONNX model"]
    for cut in (1, len(good) // 2, len(good) - 1):
        yield f"cut-{cut}", good[:cut], []
    yield (
        "no-graph",
        helper.make_model(helper.make_graph([], "", [], [])).SerializeToString()[:2],
        [],
    )
    yield (
        "unknown-operator",
        unary("Frobnicate").SerializeToString(),
        ["'n'", "ai.onnx.Frobnicate", "opset 20"],
    )
    yield (
        "unknown-domain",
        model(
            [helper.make_node("F", ["x"], ["y"], domain="acme")], [value("x")], [value("y")]
        ).SerializeToString(),
        ["no opset", "acme"],
    )
    yield (
        "bad-attribute",
        unary("Gelu", approximate="magic").SerializeToString(),
        ["'n'", "approximate", "magic", "tanh"],
    )
    yield (
        "wrong-attribute-type",
        unary("LeakyRelu", alpha="much").SerializeToString(),
        ["alpha", "FLOAT", "STRING"],
    )
    yield "axis", unary("Softmax", axis=7).SerializeToString(), ["axis", "7"]
    yield (
        "cycle",
        model(
            [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])],
            [value("x")],
            [value("b")],
        ).SerializeToString(),
        ["cycle"],
    )
    yield (
        "undefined",
        model(
            [helper.make_node("Add", ["x", "nobody"], ["y"])], [value("x")], [value("y")]
        ).SerializeToString(),
        ["nobody", "not defined"],
    )
    yield (
        "undefined-output",
        model([], [value("x")], [value("y")]).SerializeToString(),
        ["'y'", "not defined"],
    )
    yield (
        "defined-twice",
        model(
            [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])],
            [value("x")],
            [value("y")],
        ).SerializeToString(),
        ["twice"],
    )
    yield (
        "shapes",
        model(
            [helper.make_node("Add", ["x", "z"], ["y"], name="n")],
            [value("x"), value("z", (2, 4))],
            [value("y")],
        ).SerializeToString(),
        ["'n'"],
    )
    yield (
        "types",
        model(
            [helper.make_node("Add", ["x", "z"], ["y"], name="n")],
            [value("x"), value("z", kind=T.INT64)],
            [value("y")],
        ).SerializeToString(),
        ["'n'"],
    )
    yield (
        "dynamic",
        model(
            [helper.make_node("Relu", ["x"], ["y"])], [value("x", ("batch", 3))], [value("y", None)]
        ).SerializeToString(),
        ["batch", "--shape"],
    )
    yield (
        "string",
        model(
            [helper.make_node("Identity", ["x"], ["y"])],
            [value("x", kind=T.STRING)],
            [value("y", kind=T.STRING)],
        ).SerializeToString(),
        ["STRING"],
    )
    yield (
        "float8",
        model(
            [helper.make_node("Identity", ["x"], ["y"])],
            [value("x", kind=T.FLOAT8E4M3FN)],
            [value("y", kind=T.FLOAT8E4M3FN)],
        ).SerializeToString(),
        ["FLOAT8E4M3FN"],
    )
    yield (
        "float8-output",
        model(
            [helper.make_node("Cast", ["x"], ["y"], to=T.FLOAT8E5M2)],
            [value("x")],
            [value("y", kind=T.FLOAT8E5M2)],
        ).SerializeToString(),
        ["'y'", "FLOAT8E5M2", "cast it"],
    )
    yield (
        "missing-input",
        model(
            [helper.make_node("Add", ["x"], ["y"], name="n")], [value("x")], [value("y")]
        ).SerializeToString(),
        ["'n'", "required"],
    )
    yield (
        "old-opset",
        model(
            [helper.make_node("Add", ["x", "x"], ["y"])], [value("x")], [value("y")], opset=5
        ).SerializeToString(),
        ["opset 5", "version_converter"],
    )
    yield (
        "new-opset",
        model(
            [helper.make_node("Relu", ["x"], ["y"])], [value("x")], [value("y")], opset=99
        ).SerializeToString(),
        ["opset 99", "newest known"],
    )
    yield (
        "unknown-attribute",
        unary("LeakyRelu", alfa=0.5).SerializeToString(),
        ["'n'", "alfa", "required: alpha"],
    )
    yield (
        "attribute-of-none",
        unary("Relu", alpha=0.5).SerializeToString(),
        ["'n'", "alpha", "required: none"],
    )
    twice = unary("LeakyRelu", alpha=0.5)
    twice.graph.node[0].attribute.append(helper.make_attribute("alpha", 0.25))
    yield "attribute-twice", twice.SerializeToString(), ["'n'", "alpha", "twice"]
    # An operator whose required inputs follow from the opset.
    for op in ("Slice", "Pad", "Reshape", "Unsqueeze", "TopK"):
        yield f"missing-input-{op}", unary(op).SerializeToString(), ["'n'"]
    for op, index, shape in (
        ("Gather", [2, 3], None),
        ("Gather", [0, -4], None),
        ("GatherElements", [[0, 3]], None),
        ("GatherND", [[1, 3]], None),
        ("ScatterND", [[2]], (1, 3)),
        ("ScatterElements", [[0, 0], [0, 3]], (2, 2)),
    ):
        inputs = ["x", "i"] + ([] if shape is None else ["u"])
        axis = {"axis": 1} if op in ("Gather", "GatherElements", "ScatterElements") else {}
        bad = model(
            [helper.make_node(op, inputs, ["y"], name="n", **axis)],
            [value("x")] + ([] if shape is None else [value("u", shape)]),
            [value("y", None)],
            [numpy_helper.from_array(np.array(index), "i")],
        )
        yield f"index-{op}-{np.ravel(index)[-1]}", bad.SerializeToString(), ["'n'", "out of range"]

    short = numpy_helper.from_array(np.zeros(4, np.float32), "w")
    short.raw_data = short.raw_data[:-2]
    add = [helper.make_node("Add", ["x", "w"], ["y"])]
    yield (
        "short-weights",
        model(add, [value("x")], [value("y")], [short]).SerializeToString(),
        ["'w'", "16", "14"],
    )
    large = numpy_helper.from_array(np.zeros(4000, np.float32), "w")
    large.raw_data = large.raw_data[:-4]
    yield (
        "short-large-weights",
        model(add, [value("x")], [value("y")], [large]).SerializeToString(),
        ["'w'", "16000"],
    )
    for count in (4, 4000):
        both = numpy_helper.from_array(np.zeros(count, np.float32), "w")
        both.float_data.extend([1.0] * count)
        yield (
            f"raw-and-typed-{count}",
            model(add, [value("x")], [value("y")], [both]).SerializeToString(),
            ["'w'", "raw_data, float_data"],
        )
    for dims in ([1 << 62, 1 << 62], [-5], [1 << 40, 3]):
        huge = T(name="w", data_type=T.FLOAT, dims=dims, raw_data=b"1234")
        yield (
            f"huge-{dims[0]}",
            model(add, [value("x")], [value("y")], [huge]).SerializeToString(),
            ["'w'"],
        )
    yield (
        "huge-fill",
        model(
            [helper.make_node("ConstantOfShape", ["w"], ["y"])],
            [],
            [value("y")],
            [numpy_helper.from_array(np.array([1 << 40, 1 << 40]), "w")],
        ).SerializeToString(),
        [],
    )
    yield (
        "huge-tile",
        model(
            [helper.make_node("Tile", ["x", "w"], ["y"])],
            [value("x")],
            [value("y")],
            [numpy_helper.from_array(np.array([1 << 40, 1 << 40]), "w")],
        ).SerializeToString(),
        [],
    )
    yield (
        "reshape",
        model(
            [helper.make_node("Reshape", ["x", "w"], ["y"], name="n")],
            [value("x")],
            [value("y")],
            [numpy_helper.from_array(np.array([4, -1]), "w")],
        ).SerializeToString(),
        ["'n'", "6"],
    )

    def external(location, offset=None, length=None):
        t = T(name="w", data_type=T.FLOAT, dims=[2, 3], data_location=T.EXTERNAL)
        for key, entry in (("location", location), ("offset", offset), ("length", length)):
            if entry is not None:
                t.external_data.add(key=key, value=str(entry))
        return model(add, [value("x")], [value("y")], [t]).SerializeToString()

    with open(os.path.join(folder, "data.bin"), "wb") as f:
        f.write(b"\0" * 40)
    yield "external-outside", external("../../../../etc/passwd"), ["outside"]
    yield "external-absolute", external("/etc/passwd"), ["relative"]
    yield "external-missing", external("nothing.bin"), ["nothing.bin"]
    yield "external-past-end", external("data.bin", 24, 24), ["exceed the file"]
    yield "external-length", external("data.bin", 0, 8), ["24", "8"]
    yield "external-not-a-number", external("data.bin", "many"), ["many"]
    os.symlink("/etc/passwd", os.path.join(folder, "link.bin"))
    yield "external-link", external("link.bin"), ["outside"]
    yield "external-directory", external("."), []

    recursive = helper.make_function(
        "own",
        "f",
        ["a"],
        ["b"],
        [helper.make_node("f", ["a"], ["b"], domain="own")],
        [helper.make_opsetid("own", 1), helper.make_opsetid("", 20)],
    )
    yield (
        "recursive-function",
        model(
            [helper.make_node("f", ["x"], ["y"], domain="own")],
            [value("x")],
            [value("y")],
            functions=[recursive],
            imports=[helper.make_opsetid("own", 1)],
        ).SerializeToString(),
        ["nested"],
    )
    doubling = [
        helper.make_function(
            "own",
            f"f{i}",
            ["a"],
            ["b"],
            [
                helper.make_node(
                    f"f{i + 1}" if i < 40 else "Relu", ["a"], ["c"], domain="own" if i < 40 else ""
                ),
                helper.make_node(
                    f"f{i + 1}" if i < 40 else "Relu", ["c"], ["b"], domain="own" if i < 40 else ""
                ),
            ],
            [helper.make_opsetid("own", 1), helper.make_opsetid("", 20)],
        )
        for i in range(41)
    ]
    yield (
        "exploding-functions",
        model(
            [helper.make_node("f0", ["x"], ["y"], domain="own")],
            [value("x")],
            [value("y")],
            functions=doubling,
            imports=[helper.make_opsetid("own", 1)],
        ).SerializeToString(),
        ["operations"],
    )
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["c"], ["d"]),
            helper.make_node("Concat", ["s", "s"], ["t"], axis=0),
        ],
        "b",
        [value("i", (), T.INT64), value("c", (), T.BOOL), value("s", (None, 3))],
        [value("d", (), T.BOOL), value("t", (None, 3))],
    )
    yield (
        "exploding-loop",
        model(
            [helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)],
            [value("x")],
            [value("y")],
            [numpy_helper.from_array(np.array(10**9), "m")],
        ).SerializeToString(),
        [],
    )
    # Graphs inside graphs inside graphs.
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], "b", [], [value("z")])
    for _ in range(60):
        inner = (
            helper.make_graph(
                [helper.make_node("If", ["k"], ["z"], then_branch=inner, else_branch=inner)],
                "b",
                [],
                [value("z")],
            )
            if inner.ByteSize() < 1 << 20
            else inner
        )
    deep = model(
        [helper.make_node("If", ["k"], ["y"], then_branch=inner, else_branch=inner)],
        [value("x"), value("k", (), T.BOOL)],
        [value("y")],
    )
    yield "deep-graphs", deep.SerializeToString(), None
    classic = lambda op, **attributes: model(
        [
            helper.make_node(
                op,
                ["x"],
                ["l", "y"][2 - attributes.pop("outputs") :],
                name="n",
                domain="ai.onnx.ml",
                **attributes,
            )
        ],
        [value("x")],
        [value("y")],
        imports=[helper.make_opsetid("ai.onnx.ml", 3)],
    ).SerializeToString()
    stump = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
    }
    trees = lambda **wrong: classic("TreeEnsembleRegressor", outputs=1, **(stump | wrong))
    yield "tree-length", trees(nodes_values=[0.5]), ["'n'", "nodes_*", "one length"]
    yield (
        "tree-nowhere",
        trees(nodes_truenodeids=[7, 0, 0]),
        ["node 0 of tree 0", "an invalid successor"],
    )
    yield (
        "tree-mode",
        trees(nodes_modes=["BRANCH", "LEAF", "LEAF"]),
        ["node 0 of tree 0", "unknown mode", "BRANCH"],
    )
    yield "tree-twice", trees(nodes_nodeids=[0, 1, 1]), ["node 1 of tree 0", "twice"]
    yield "tree-roots", trees(nodes_falsenodeids=[1, 0, 0]), ["more than one root"]
    yield (
        "tree-cycle",
        trees(
            nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
            nodes_truenodeids=[1, 1, 0],
            nodes_falsenodeids=[2, 2, 0],
            target_nodeids=[2, 2],
        ),
        ["cycle"],
    )
    yield (
        "tree-root",
        trees(nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], target_nodeids=[2, 2]),
        ["no root"],
    )
    yield "tree-target", trees(target_ids=[0, 1]), ["node 2 of tree 0", "target"]
    yield "tree-feature", trees(nodes_featureids=[3, 0, 0]), ["feature 3", "3"]
    yield (
        "linear-rows",
        classic("LinearRegressor", outputs=1, coefficients=[1.0, 2.0]),
        ["coefficients", "3"],
    )
    yield (
        "linear-strings",
        classic(
            "LinearClassifier", outputs=2, coefficients=[1.0] * 6, classlabels_strings=["a", "b"]
        ),
        ["strings", "first output"],
    )


def run(runner, paths):
    """Reason per path: "" for success."""
    result = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(paths) + "\n")
        listing.flush()
        done = subprocess.run(
            [runner, "--import-only", "--seconds", "60", "--list", listing.name],
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    for line in done.stdout.splitlines():
        if line.startswith(("PASS ", "FAIL ")):
            name, _, reason = line[5:].partition(": ")
            result[name] = reason
    return result


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        kind, at = rng.randrange(4), rng.randrange(len(data))
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at : at + rng.randrange(1, 16)]
        else:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 8)))
        if not data:
            return b""
    return bytes(data)


INTS = (
    -(1 << 63),
    -(1 << 31),
    -100,
    -7,
    -2,
    -1,
    0,
    1,
    2,
    3,
    5,
    17,
    1000,
    1 << 20,
    1 << 31,
    1 << 40,
    (1 << 63) - 1,
)
FLOATS = (float("nan"), float("inf"), -1e30, -1.0, 0.0, 0.5, 1e30)


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)


def rearrange(data, rng):
    """Changes what a model says and leaves it readable: attributes, inputs, shapes, types, operators."""
    try:
        m = onnx.ModelProto.FromString(data)
    except DecodeError:
        return data
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        graph = rng.choice(list(graphs_of(m.graph)))
        node = rng.choice(graph.node) if graph.node else None
        kind = rng.randrange(12)
        if kind < 4 and node is not None and node.attribute:
            attribute = rng.choice(node.attribute)
            if attribute.ints:
                which = rng.randrange(3)
                if which == 0:
                    attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(INTS)
                elif which == 1:
                    attribute.ints.pop()
                else:
                    attribute.ints.append(rng.choice(INTS))
            elif attribute.HasField("i"):
                attribute.i = rng.choice(INTS)
            elif attribute.HasField("f"):
                attribute.f = rng.choice(FLOATS)
            else:
                node.attribute.remove(attribute)
        elif kind == 4 and node is not None and node.input:
            names = [i.name for i in graph.input] + [o for n in graph.node for o in n.output] + [""]
            node.input[rng.randrange(len(node.input))] = rng.choice(names)
        elif kind == 5 and node is not None and node.input:
            node.input.pop()
        elif kind == 6 and node is not None and node.input:
            node.input.append(node.input[0])
        elif kind in (7, 8) and graph.input:
            tensor = rng.choice(graph.input).type.tensor_type
            if tensor.shape.dim and rng.randrange(2):
                rng.choice(tensor.shape.dim).dim_value = rng.choice(
                    (0, 1, 2, 3, 4, 7, 64, 1 << 33, -1)
                )
            elif tensor.shape.dim and rng.randrange(2):
                tensor.shape.dim.pop()
            else:
                tensor.shape.dim.add().dim_value = rng.choice((0, 1, 2, 5))
        elif kind == 9 and graph.input:
            rng.choice(graph.input).type.tensor_type.elem_type = rng.randrange(1, 24)
        elif kind == 10 and node is not None:
            for opset in m.opset_import:
                opset.version = rng.randrange(1, 30)
        elif kind == 11 and graph.initializer:
            tensor = rng.choice(graph.initializer)
            if tensor.data_type == T.INT64 and tensor.raw_data:
                tensor.raw_data = (
                    np.array(rng.choice(INTS), np.int64).tobytes() + tensor.raw_data[8:]
                )
    # Inputs that are shapes or axes become constants, so that their values reach the handlers.
    for value_info in list(m.graph.input):
        tensor = value_info.type.tensor_type
        shape = [d.dim_value for d in tensor.shape.dim]
        count = int(np.prod(shape)) if all(0 <= d < 1000 for d in shape) else 1 << 20
        if tensor.elem_type in (T.INT64, T.INT32, T.BOOL) and count <= 64 and rng.randrange(2):
            values = np.array(
                [
                    rng.choice(INTS if rng.randrange(3) == 0 else (0, 1, 2, 3, -1))
                    for _ in range(count)
                ],
                dtype=object,
            )
            kind = {T.INT64: np.int64, T.INT32: np.int32, T.BOOL: np.bool_}[tensor.elem_type]
            if kind is np.int32:
                values = np.array(
                    [((int(v) + (1 << 31)) % (1 << 32)) - (1 << 31) for v in values], dtype=object
                )
            m.graph.initializer.append(
                numpy_helper.from_array(values.astype(kind).reshape(shape), value_info.name)
            )
    return m.SerializeToString()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runner", required=True)
    parser.add_argument("--mutations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--sources", help="a folder with model.onnx files in its folders, to mutate"
    )
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for name, data, words in [
            *cases(folder),
            *bad_contrib.cases(),
            *bad_files.cases(),
            *bad_graphs.cases(),
        ]:
            with open(os.path.join(folder, name + ".onnx"), "wb") as f:
                f.write(data)
            wanted[name + ".onnx"] = words
        found = run(arguments.runner, [os.path.join(folder, name) for name in wanted])
        for name, words in wanted.items():
            reason = found.get(name)
            wrong = reason is None or reason.startswith(("CRASH", "TIMEOUT"))
            # None: anything but a crash will do. An empty string: the file is right.
            wrong |= (
                bool(reason)
                if words == ""
                else words is not None and (not reason or any(word not in reason for word in words))
            )
            if wrong:
                bad += 1
                print(f"wrong: {name}: {reason!r}, wanted {words}")
        rng = random.Random(arguments.seed)
        seeds = [unary().SerializeToString()]
        if arguments.sources:
            for entry in sorted(os.listdir(arguments.sources)):
                path = os.path.join(arguments.sources, entry, "model.onnx")
                if os.path.exists(path) and os.path.getsize(path) < 1 << 16:
                    seeds.append(open(path, "rb").read())
        paths = []
        for i in range(arguments.mutations):
            paths.append(os.path.join(folder, f"mutated-{i}.onnx"))
            with open(paths[-1], "wb") as f:
                f.write((mutate if i % 2 else rearrange)(rng.choice(seeds), rng))
        found = run(arguments.runner, paths)
        for path in paths:
            reason = found.get(os.path.basename(path))
            if reason is None or reason.startswith(("CRASH", "TIMEOUT")):
                bad += 1
                keep = os.path.join(tempfile.gettempdir(), os.path.basename(path))
                os.replace(path, keep)
                print(f"wrong: {keep}: {reason}")
        print(f"{len(wanted)} broken and {len(paths)} mutated models, {bad} of them went wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
