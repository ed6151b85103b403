"""Writes one test file of literal values: functions without arguments, their expected results, and values that the onnx package's evaluator computes."""

import math
import os

import numpy as np
from onnx import helper, TensorProto
from onnx.reference import ReferenceEvaluator

NAMES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
}
rng = np.random.default_rng(7)


def numbers(*shape, low=-2, high=2, dtype=np.float32):
    """Random operands of few digits."""
    return (np.round(rng.uniform(low, high, shape) * 16) / 16).astype(dtype)


def type_of(a):
    return f"tensor<{''.join(f'{d}x' for d in a.shape)}{NAMES[a.dtype.name]}>"


def scalar(v, printed):
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (int, np.integer)):
        return str(v)
    if math.isnan(v):
        return {2: "0x7E00", 4: "0x7FC00000", 8: "0x7FF8000000000000"}[v.itemsize]
    if math.isinf(v):
        return (
            ("0x7F800000" if v > 0 else "0xFF800000") if v.itemsize == 4 else "0x7FF0000000000000"
        )
    return (
        f"{float(f'{float(v):.5e}'):.6e}"
        if printed
        else f"{float(v):.17e}"
        if v.itemsize == 8
        else f"{float(v):.9e}"
    )


def literal(a, printed=False):
    if printed and a.size and (a == a.flat[0]).all():
        return scalar(a.flat[0], printed)
    if a.size == 0:
        return ""

    def nested(b):
        return scalar(b, printed) if b.ndim == 0 else "[" + ", ".join(nested(x) for x in b) + "]"

    return nested(np.asarray(a)) if a.ndim else scalar(a[()], printed)


def short(a):
    """Whether MLIR prints the values with six digits."""
    if a.dtype.kind != "f":
        return True
    return all(
        math.isnan(v) or math.isinf(v) or a.dtype.type(f"{float(v):.5e}") == v for v in a.flat
    )


class File:
    def __init__(self, name, says):
        self.name = name
        self.lines = [
            f"// {says}",
            "// Written by Inputs/literals.py.",
            "// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s",
            "",
        ]

    def case(self, name, op, operands, *expected, note=None):
        """`op` is the text of one operation on %names; `operands` are its constants in the order of its operands."""
        if isinstance(expected[0], list):
            expected = expected[0]
        expected = [np.asarray(e) for e in expected]
        twins = [not short(e) for e in expected]
        types = [type_of(e) for e in expected]
        returned = [t for t, twin in zip(types, twins) for _ in range(1 + twin)]
        out = [f"// {note}"] if note else []
        out.append(f"// CHECK-LABEL: @{name}()")
        for e, twin in zip(expected, twins):
            if twin:
                out += ["// CHECK-NEXT: [[Y:dense<.*>]] :", "// CHECK-NEXT: [[Y]] :"]
            else:
                text = f"dense<{literal(e, True)}> : {type_of(e)}"
                out.append(
                    "// CHECK-NEXT: "
                    + text.replace("[[", "{{\\[\\[}}").replace("{{\\[\\[}}[", "{{\\[\\[\\[}}")
                )
        out.append(f"func.func @{name}() -> ({', '.join(returned)}) {{")
        for key, value in operands.items():
            out.append(f"  %{key} = dlc.constant dense<{literal(value)}> : {type_of(value)}")
        ins = ", ".join(type_of(v) for v in operands.values())
        results = "%y" if len(expected) == 1 else f"%y:{len(expected)}"
        signature = (
            f"({ins}) -> {types[0]}" if len(types) == 1 else f"({ins}) -> ({', '.join(types)})"
        )
        out.append(f"  {results} = {op} : {signature}")
        values = []
        for i, (e, twin) in enumerate(zip(expected, twins)):
            values.append("%y" if len(expected) == 1 else f"%y#{i}")
            if twin:
                out.append(f"  %expected{i} = dlc.constant dense<{literal(e)}> : {types[i]}")
                values.append(f"%expected{i}")
        out += [f"  return {', '.join(values)} : {', '.join(returned)}", "}", ""]
        self.lines += out

    def write(self):
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open(os.path.join(folder, self.name + ".mlir"), "w") as f:
            f.write("\n".join(self.lines))


def onnx_eval(op, inputs, outputs=1, opset=22, **attributes):
    """What the onnx package's evaluator gives in float64; absent inputs are None."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    outs = [f"o{k}" for k in range(outputs)]
    given = {
        n: v.astype(np.float64) if v.dtype.kind == "f" else v for n, v in zip(names, inputs) if n
    }
    info = [
        helper.make_tensor_value_info(
            n,
            TensorProto.DOUBLE if v.dtype.kind == "f" else helper.np_dtype_to_tensor_dtype(v.dtype),
            v.shape,
        )
        for n, v in given.items()
    ]
    graph = helper.make_graph(
        [helper.make_node(op, names, outs, **attributes)],
        "g",
        info,
        [helper.make_tensor_value_info(o, TensorProto.DOUBLE, None) for o in outs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, given)


def f32(values):
    return [np.asarray(v).astype(np.float32) for v in values]


def array(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if len(values) else "") + ">"
