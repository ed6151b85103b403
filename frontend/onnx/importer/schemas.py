#!/usr/bin/env python3
"""Writes frontend/onnx/importer/Schemas.inc: every version of every operator schema in the onnx package.

usage: schemas.py [--check]

--check writes nothing and fails if Schemas.inc differs from the installed onnx package.
"""

import argparse
import os
import sys

import onnx
from onnx import TensorProto, defs

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Schemas.inc")
HEAD = """// Written by frontend/onnx/importer/schemas.py from the schemas of onnx {version}; do not edit.
// clang-format off
//
// ONNX_IR_VERSION(version): the newest version of the file format.
// ONNX_SCHEMA(domain, operator, first opset, attributes, inputs, outputs, types)
// ONNX_REMOVED(domain, operator, opset): the operator does not exist from this opset on.
//
// attributes: NAME:TYPE; "!" marks a required attribute.
// inputs and outputs: NAME:TYPE; "?" marks an optional one, "*N" a variadic one with at least N
//   values of one type, "~N" a variadic one with at least N values of separate types.
// types: NAME=MASK in hexadecimal. Bit i permits tensors of TensorProto.DataType i, and the
//   elements of an optional. Bit 32 permits sequences, bit 33 optionals, bit 34 maps.
"""
# Operators of the standard domain that only ONNX Runtime defines. Exporters and its optimizer write them.
NORM_TYPES = '"T=10c02 U=10c02 V=10c02"'
RUNTIME = [
    f'ONNX_SCHEMA("", "LayerNormalization", 1, "axis:INT epsilon:FLOAT stash_type:INT", "X:T Scale:V B:V?", "Y:V Mean:U? InvStdDev:U?", {NORM_TYPES})',
    f'ONNX_SCHEMA("", "SimplifiedLayerNormalization", 1, "axis:INT epsilon:FLOAT stash_type:INT", "X:T scale:V", "Y:V inv_std_var:U?", {NORM_TYPES})',
]
SEQUENCE, OPTIONAL, MAP = 32, 33, 34
ELEMENTS = {
    f"tensor({name})": number
    for name, number in {
        "float": TensorProto.FLOAT,
        "double": TensorProto.DOUBLE,
        "float16": TensorProto.FLOAT16,
        "bfloat16": TensorProto.BFLOAT16,
        **{
            name.lower(): number
            for name, number in TensorProto.DataType.items()
            if name not in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")
        },
    }.items()
}


def mask(text):
    """Returns the bit mask of the types that an ONNX type string such as "tensor(float)" permits."""
    if text.startswith("optional("):
        return 1 << OPTIONAL | mask(text[len("optional(") : -1])
    if text.startswith("seq("):
        return 1 << SEQUENCE
    if text.startswith("map("):
        return 1 << MAP
    return 1 << ELEMENTS[text]


def parameters(formals, types):
    """Returns an operator's formal parameters in the notation of Schemas.inc. Adds the masks of fixed types to `types`."""
    options = defs.OpSchema.FormalParameterOption
    result = []
    for formal in formals:
        name = formal.type_str
        if name not in types:
            # The parameter has a fixed type instead of a type variable. The type string becomes the name of the type.
            name = name.replace("tensor(", "").rstrip(")")
            types[name] = mask(formal.type_str)
        suffix = {options.Single: "", options.Optional: "?"}.get(formal.option)
        if suffix is None:
            suffix = ("*" if formal.is_homogeneous else "~") + str(formal.min_arity)
        result.append(f"{formal.name}:{name}{suffix}")
    return " ".join(result)


def row(schema, newest):
    """Returns the line of Schemas.inc for a schema. `newest` is the first opset of the operator's newest schema."""
    head = f'"{schema.domain}", "{schema.name}", {schema.since_version}'
    # A deprecated schema removes the operator only if it is the newest. One with a successor (GroupNormalization 18) remains a normal schema.
    if schema.deprecated and schema.since_version == newest:
        return f"ONNX_REMOVED({head})"
    types = {}
    for constraint in schema.type_constraints:
        bits = 0
        for allowed in constraint.allowed_type_strs:
            bits |= mask(allowed)
        types[constraint.type_param_str] = bits
    attributes = " ".join(
        f"{name}:{attribute.type.name}{'!' if attribute.required else ''}"
        for name, attribute in sorted(schema.attributes.items())
    )
    inputs, outputs = parameters(schema.inputs, types), parameters(schema.outputs, types)
    text = " ".join(f"{name}={bits:x}" for name, bits in types.items())
    return f'ONNX_SCHEMA({head}, "{attributes}", "{inputs}", "{outputs}", "{text}")'


def table():
    schemas = sorted(
        defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version)
    )
    newest = {(s.domain, s.name): s.since_version for s in schemas}
    lines = [
        HEAD.format(version=onnx.__version__).rstrip(),
        f"ONNX_IR_VERSION({onnx.IR_VERSION})",
        *(row(s, newest[s.domain, s.name]) for s in schemas),
        "// Defined by ONNX Runtime.",
        *RUNTIME,
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = table()
    found = open(OUTPUT, encoding="utf-8").read() if os.path.exists(OUTPUT) else ""
    if text == found:
        return 0
    if arguments.check:
        print(
            f"{OUTPUT} differs from the schemas of onnx {onnx.__version__}; required: the table of the installed package; write it with frontend/onnx/importer/schemas.py"
        )
        return 1
    with open(OUTPUT, "w", encoding="utf-8") as f:
        f.write(text)
    print(f"{OUTPUT} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
