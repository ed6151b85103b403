#!/usr/bin/env python3
"""Checks that shapes of tensor types are read, compared and built through ir/dlc/Shape.h.

usage: shapes.py SOURCE-ROOT [--list]

MLIR's functions for shapes return the same number for each `?`, so that two symbols would be equal, and a type that is built from a shape alone has
lost its symbols. TensorShape, staticShape, staticDim, staticElements, makeTensorType, withElement and withPlace are safe. NOT_CONVERTED has the
folders that still call MLIR's functions. A folder without such calls must be removed from it. --list prints the number of calls of each folder.
"""

import os
import re
import sys

FOLDERS = ("ir", "passes", "frontend", "codegen", "tools")
#: The interface itself.
INTERFACE = ("ir/dlc/Shape.h", "ir/dlc/Shape.cpp")
FORBIDDEN = re.compile(
    r"(?:\.|->)(getShape|getDimSize|getNumElements)\(|\b(RankedTensorType::get)\("
)
#: A host tensor (ref::Tensor) has a static shape. Its getShape counts, too, since the text does not tell its type.
NOT_CONVERTED = (
    "codegen/constants",
    "codegen/cpu",
    "codegen/cpu/contract",
    "codegen/cpu/emit",
    "codegen/cpu/kernel",
    "codegen/cpu/math",
    "codegen/cuda",
    "codegen/cuda/emit",
    "codegen/cuda/schedule",
    "codegen/cuda/windows",
    "codegen/lower",
    "codegen/lower/streams",
    "codegen/machine",
    "codegen/native",
    "codegen/providers",
    "codegen/providers/generated",
    "codegen/providers/gpu",
    "codegen/providers/kernels",
    "codegen/providers/onednn",
    "codegen/refine",
    "codegen/select",
    "codegen/select/measure",
    "frontend/aten",
    "frontend/aten/math",
    "frontend/aten/nn",
    "frontend/aten/shape",
    "frontend/builder",
    "frontend/mlir",
    "frontend/mlir/stablehlo",
    "frontend/mlir/stablehlo/dialect",
    "frontend/mlir/stablehlo/math",
    "frontend/onnx/bounded",
    "frontend/onnx/contrib",
    "frontend/onnx/control",
    "frontend/onnx/file",
    "frontend/onnx/importer",
    "frontend/onnx/math",
    "frontend/onnx/ml",
    "frontend/onnx/nn",
    "frontend/onnx/shape",
    "frontend/trace",
    "frontend/trace/nn",
    "frontend/trace/ops",
    "frontend/trace/train",
    "ir/dlc",
    "ir/dlc/ops",
    "ir/reference",
    "ir/reference/ops",
    "ir/tensor",
    "passes",
    "passes/quantize",
    "tools/compiler",
)


def calls(text):
    """(line, function) of each call that should go through the interface."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in FORBIDDEN.finditer(re.sub(r"//.*", "", line)):
            yield number, found.group(1) or found.group(2)


def check(texts, rows):
    """The problems of these sources, and the number of calls of each folder that has any."""
    problems, counts, places = [], {}, {}
    for path, text in sorted(texts.items()):
        folder = os.path.dirname(path)
        for line, function in calls(text) if path not in INTERFACE else ():
            counts[folder] = counts.get(folder, 0) + 1
            places.setdefault(folder, f"{path}:{line}: {function}")
    for folder in sorted(set(counts) - set(rows)):
        problems.append(
            f"{places[folder]}: required: the functions of ir/dlc/Shape.h; found: {counts[folder]} calls of MLIR's in"
            f" {folder}; call staticShape, staticDim, makeTensorType or TensorShape"
        )
    for folder in sorted(set(rows) - set(counts)):
        problems.append(f"test/layering/shapes.py: {folder} is converted; remove its row")
    return problems, counts


def sources(root):
    texts = {}
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".cpp", ".h", ".td")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        texts[os.path.relpath(path, root)] = f.read()
    return texts


def planted():
    """The check finds a call that was added to a converted folder, and a row of a converted folder."""
    texts = {
        "passes/a/A.cpp": "bool f(T x, T y) { return x.getShape() == y.getShape(); }",
        "passes/b/B.cpp": "auto t = staticShape(x); // x.getShape()",
        "ir/dlc/Shape.cpp": "return type.getShape();",
    }
    found, _ = check(texts, ("passes/b",))
    return len(found) == 2 and found[0].startswith("passes/a/A.cpp:1") and "passes/b is" in found[1]


def main():
    root = next((a for a in sys.argv[1:] if not a.startswith("--")), ".")
    problems, counts = check(sources(root), NOT_CONVERTED)
    if "--list" in sys.argv:
        for folder, count in sorted(counts.items()):
            print(count, folder)
        return 0
    if not planted():
        problems.append("test/layering/shapes.py: the check does not find planted calls")
    for problem in problems:
        print(problem)
    print(
        f"shapes: {sum(counts.values())} calls in {len(counts)} folders, {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
