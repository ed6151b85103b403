#!/usr/bin/env python3
"""Checks that nodes that violate their operator's schema are rejected, for every operator and schema version of the onnx package.

  schema_tests.py --runner dlc-onnx-ref

For each version of each operator, nodes get an attribute of another version, an attribute of a wrong type, one input or output
too many or too few, or an input of a wrong element type; or a required attribute is removed. The valid node of each
version is the control: its import must not report an error in its signature.
"""

import argparse
import os
import sys
import tempfile

import onnx
from onnx import AttributeProto as A, TensorProto as T, defs, helper

import bad_models

NEWEST = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1}
OLDEST = 6
# Operators of the standard domain that ONNX Runtime defines in more opsets than the onnx package.
RUNTIME = {"LayerNormalization": 17}
KINDS = {
    "tensor(float)": T.FLOAT,
    "tensor(double)": T.DOUBLE,
    "tensor(float16)": T.FLOAT16,
    "tensor(bfloat16)": T.BFLOAT16,
    "tensor(bool)": T.BOOL,
    "tensor(int8)": T.INT8,
    "tensor(int16)": T.INT16,
    "tensor(int32)": T.INT32,
    "tensor(int64)": T.INT64,
    "tensor(uint8)": T.UINT8,
    "tensor(uint16)": T.UINT16,
    "tensor(uint32)": T.UINT32,
    "tensor(uint64)": T.UINT64,
}
VALUES = {
    A.FLOAT: 1.0,
    A.INT: 1,
    A.STRING: "a",
    A.FLOATS: [1.0],
    A.INTS: [1],
    A.STRINGS: ["a"],
    A.TENSOR: helper.make_tensor("t", T.FLOAT, [1], [1.0]),
    A.GRAPH: helper.make_graph(
        [],
        "g",
        [],
        [helper.make_tensor_value_info("c", T.FLOAT, [1])],
        [helper.make_tensor("c", T.FLOAT, [1], [1.0])],
    ),
    A.TYPE_PROTO: helper.make_tensor_type_proto(T.FLOAT, [1]),
    A.SPARSE_TENSOR: helper.make_sparse_tensor(
        helper.make_tensor("v", T.FLOAT, [1], [1.0]),
        helper.make_tensor("i", T.INT64, [1], [0]),
        [2],
    ),
}
OPTION = defs.OpSchema.FormalParameterOption
# Words of the messages about signatures.
SIGNATURE = (
    "is unknown to",
    "has the wrong type",
    "is required and missing",
    "another number of",
    "have different types",
    "is newer than",
    "was removed",
    "does not exist",
)


def versions():
    """{(domain, operator): schemas by version}"""
    result = {}
    for schema in defs.get_all_schemas_with_history():
        result.setdefault((schema.domain, schema.name), []).append(schema)
    for history in result.values():
        history.sort(key=lambda schema: schema.since_version)
    return result


def allowed(schema, formal):
    """The type strings that dlc permits for a parameter: f32 also represents small floats."""
    types = [formal.type_str]
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal.type_str:
            types = list(constraint.allowed_type_strs)
    for small, wide in (
        ("tensor(float8e", "tensor(float)"),
        ("tensor(float4e2m1", "tensor(float)"),
    ):
        if any(t.startswith(small) for t in types):
            types.append(wide)
    return types


def attribute(name, kind):
    kind = A.AttributeType.Value(kind.name) if not isinstance(kind, int) else kind
    made = helper.make_attribute(name, VALUES[kind])
    return made if made.type == kind else None


def least(formals):
    """The minimum number of values for parameters."""
    count = 0
    for i, formal in enumerate(formals):
        if formal.option == OPTION.Single:
            count = i + 1
        elif formal.option == OPTION.Variadic and formal.min_arity > 0:
            count = i + formal.min_arity
    return count


class Case:
    """The right node of a schema, in a model of its own."""

    def __init__(self, schema, opset):
        self.schema, self.opset = schema, opset
        self.attributes = {
            name: attribute(name, rule.type)
            for name, rule in schema.attributes.items()
            if rule.required
        }
        self.inputs = least(schema.inputs)
        self.outputs = max(1, least(schema.outputs))
        # The element type of each input: the same for the same type parameter.
        self.kinds = []
        for i in range(self.inputs):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            self.kinds.append(
                next((KINDS[t] for t in sorted(allowed(schema, formal)) if t in KINDS), None)
            )

    def bytes(self, attributes=None, inputs=None, outputs=None, kinds=None, opset=None):
        kinds = list(self.kinds if kinds is None else kinds)
        inputs = self.inputs if inputs is None else inputs
        kinds = (kinds + [T.FLOAT] * inputs)[:inputs]
        node = helper.make_node(
            self.schema.name,
            [f"x{i}" for i in range(inputs)],
            [f"y{i}" for i in range(self.outputs if outputs is None else outputs)],
            name="n",
            domain=self.schema.domain,
        )
        node.attribute.extend((self.attributes if attributes is None else attributes).values())
        graph = helper.make_graph(
            [node],
            "g",
            [
                helper.make_tensor_value_info(f"x{i}", kind or T.FLOAT, [2, 2])
                for i, kind in enumerate(kinds)
            ],
            [onnx.ValueInfoProto(name=node.output[0])] if node.output else [],
        )
        imports = {"": 20, self.schema.domain: self.opset if opset is None else opset}
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid(d, v) for d, v in imports.items()]
        )
        model.ir_version = 10
        return model.SerializeToString()


def wrong(history, index, opset):
    """Yields what is wrong, the model, words of the message."""
    schema = history[index]
    case = Case(schema, opset)
    own = schema.attributes
    for other in history:
        for name, rule in other.attributes.items():
            added = attribute(name, rule.type)
            if added is None:
                continue
            if name not in own:
                yield (
                    f"attribute-{name}-of-{other.since_version}",
                    case.bytes(case.attributes | {name: added}),
                    [f"'{name}'", "is unknown to"],
                )
            elif own[name].type != rule.type:
                yield (
                    f"attribute-{name}-as-{other.since_version}",
                    case.bytes(case.attributes | {name: added}),
                    [f"'{name}'", "has the wrong type"],
                )
    for name, rule in own.items():
        added = attribute(name, A.STRINGS if rule.type.name != "STRINGS" else A.INT)
        yield (
            f"type-of-{name}",
            case.bytes(case.attributes | {name: added}),
            [f"'{name}'", "has the wrong type"],
        )
        if rule.required:
            yield (
                f"without-{name}",
                case.bytes({n: a for n, a in case.attributes.items() if n != name}),
                [f"'{name}'", "is required and missing"],
            )
    if not (schema.inputs and schema.inputs[-1].option == OPTION.Variadic):
        yield "input-too-many", case.bytes(inputs=len(schema.inputs) + 1), ["number of inputs"]
        yield "hundred-inputs", case.bytes(inputs=len(schema.inputs) + 100), ["number of inputs"]
    if case.inputs:
        yield "input-too-few", case.bytes(inputs=case.inputs - 1), ["number of inputs"]
    if not (schema.outputs and schema.outputs[-1].option == OPTION.Variadic):
        yield "output-too-many", case.bytes(outputs=len(schema.outputs) + 1), ["number of outputs"]
    for i in range(case.inputs):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        types = allowed(schema, formal)
        if any(not t.startswith("tensor(") for t in types) or any(
            kind is None for kind in case.kinds
        ):
            continue
        banned = next((kind for t, kind in KINDS.items() if t not in types), None)
        if banned:
            yield (
                f"input-{i}-type",
                case.bytes(kinds=[banned if k == i else kind for k, kind in enumerate(case.kinds)]),
                ["has the wrong type", formal.name],
            )
        # Another permitted type than another input of the same type parameter.
        twins = [
            k
            for k in range(i)
            if schema.inputs[min(k, len(schema.inputs) - 1)].type_str == formal.type_str
            and formal.is_homogeneous
        ]
        different = next(
            (KINDS[t] for t in sorted(types) if t in KINDS and KINDS[t] != case.kinds[i]), None
        )
        if twins and different:
            yield (
                f"input-{i}-type-differs",
                case.bytes(
                    kinds=[different if k == i else kind for k, kind in enumerate(case.kinds)]
                ),
                ["have different types"],
            )


def cases():
    """Yields name, model, words of the message; the words are None for the right node."""
    for (domain, name), history in sorted(versions().items()):
        newest = NEWEST[domain]
        oldest = OLDEST if domain == "" else 1
        first, removed = history[0].since_version, history[-1].deprecated
        for index, schema in enumerate(history):
            end = history[index + 1].since_version - 1 if index + 1 < len(history) else newest
            if end < oldest or (removed and index + 1 == len(history)):
                continue
            label = f"{domain or 'ai.onnx'}.{name}-{schema.since_version}"
            if all(kind is not None for kind in Case(schema, end).kinds):
                yield f"{label}-right", Case(schema, end).bytes(), None
            for what, data, words in wrong(history, index, end):
                yield f"{label}-{what}", data, words
        if first > oldest and RUNTIME.get(name) != first:
            yield (
                f"{domain}.{name}-before",
                Case(history[0], 0).bytes(opset=first - 1),
                ["is newer than the opset", str(first)],
            )
        if removed:
            yield (
                f"{domain}.{name}-removed",
                Case(history[-2], 0).bytes(opset=newest),
                ["was removed", str(history[-1].since_version)],
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runner", required=True)
    arguments = parser.parse_args()
    bad, counts = 0, {"right": 0, "wrong": 0, "not imported": 0}
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for name, data, words in cases():
            path = os.path.join(folder, name + ".onnx")
            with open(path, "wb") as f:
                f.write(data)
            wanted[name + ".onnx"] = words
        found = bad_models.run(arguments.runner, [os.path.join(folder, name) for name in wanted])
    for name, words in wanted.items():
        reason = found.get(name)
        if reason is None or reason.startswith(("CRASH", "TIMEOUT")):
            fault = True
        elif words is None:
            counts["right"] += 1
            fault = any(word in reason for word in SIGNATURE) and "is not supported" not in reason
        elif "is not supported, and the model has no function" in reason and "type" in name:
            # dlc has no handler, and element types are checked only for operators that have one.
            counts["not imported"] += 1
            fault = False
        else:
            counts["wrong"] += 1
            fault = any(word not in reason for word in words)
        if fault:
            bad += 1
            print(f"wrong: {name}: {reason!r}, wanted {words}")
    print(
        ", ".join(f"{count} {what}" for what, count in counts.items())
        + f"; {bad} of them went wrong"
    )
    return 1 if bad or counts["wrong"] < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
