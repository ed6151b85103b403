#!/usr/bin/env python3
"""Checks that C++ code tests for properties of operations instead of listing operations.

usage: lists.py SOURCE-ROOT

A problem is a list of four or more operations as template arguments, such as `isa<AddOp, SubOp, MulOp, DivOp>` or a `Case` of a TypeSwitch, or in a
chain such as `isa<AddOp>(op) || isa<SubOp>(op) || ..`. State the common property in the operation's definition (ir/dlc/td/*.td) by a trait or an
interface, so that a new operation needs no change of a pass. ALLOWED has the lists that remain, with the reason; a row that is no longer needed is
a failure, too.
"""

import os
import re
import sys

FOLDERS = ("frontend", "ir", "passes", "codegen", "tools")
MAX_OPERATIONS = 3
# (file, operations in alphabetical order): reason.
ALLOWED = {
    (
        "passes/fuse/epilogue/Epilogue.cpp",
        "AddOp DivOp MulOp SubOp",
    ): "The pattern maps each of these operations to a binary post-op of oneDNN.",
    (
        "passes/fuse/grouping/Maps.cpp",
        "ConstantOp PadOp ReshapeOp TransposeOp",
    ): "The operations that the transposing GPU kernel computes on its way from the shared memory to the result.",
    (
        "passes/share/HoistCollectives.cpp",
        "CastOp ConcatOp ConstantOp ReshapeOp SliceOp",
    ): "The operations that passes/share/Buckets.cpp creates between the gradients and a collective.",
    (
        "codegen/cuda/schedule/Plan.cpp",
        "CumulativeOp GroupedMatmulOp GroupedWeightGradOp NmsOp ScatterElementsOp ScatterNdOp TopKOp",
    ): "The operations for which emitStandaloneKernel has a kernel: an ability of this backend, not a property of the operations.",
    (
        "codegen/select/measure/ReferenceResults.cpp",
        "ConvOp ConvTransposeOp ConvWeightGradOp MatmulOp",
    ): "Dispatches to the overload of sumAt for each operation.",
}
CALL = re.compile(r"\b(?:isa|isa_and_nonnull|isa_and_present|Case|matchPattern)\s*<([^<>;(){}]*)>")
CHAIN = re.compile(
    r"(?:!?(?:llvm::|mlir::)?isa(?:_and_nonnull|_and_present)?<[^<>;(){}]*>\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:\|\||&&)\s*)+"
    r"!?(?:llvm::|mlir::)?isa(?:_and_nonnull|_and_present)?<[^<>;(){}]*>\([^()]*\)"
)
OPERATION = re.compile(r"\b\w+Op\b")


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def lists(text):
    """(line, operations) of each list of more than MAX_OPERATIONS operations."""
    code = without_comments(text)
    for found in (*CALL.finditer(code), *CHAIN.finditer(code)):
        operations = OPERATION.findall(found.group(1) if found.re is CALL else found.group())
        if len(set(operations)) > MAX_OPERATIONS:
            yield code.count("\n", 0, found.start()) + 1, " ".join(sorted(set(operations)))


def check(texts, allowed=ALLOWED):
    """The problems of these sources."""
    problems, used = [], set()
    for path, text in sorted(texts.items()):
        for line, operations in lists(text):
            if (path, operations) in allowed:
                used.add((path, operations))
            else:
                problems.append(
                    f"{path}:{line}: lists operations: {operations.replace(' ', ', ')}; state their common property as a trait or interface in "
                    "ir/dlc/td/*.td, and test for it"
                )
    for path, operations in allowed:
        if (path, operations) not in used:
            problems.append(
                f"test/layering/lists.py: {path} has no list of {operations} any more; remove its row from ALLOWED"
            )
    return problems


# Sources with a list, and sources without one.
assert check({"a.cpp": "if (isa<AddOp, SubOp, MulOp,\n    DivOp>(op))"}, {})
assert check({"a.cpp": ".Case<AddOp, SubOp, MulOp, DivOp>([](auto) {})"}, {})
assert check({"a.cpp": "return isa<AddOp, SubOp>(op) ||\n  isa<MulOp>(op) || isa<DivOp>(op);"}, {})
assert not check(
    {"a.cpp": "isa<AddOp, SubOp, MulOp>(op); isa<DivOp>(op); // isa<A1Op, A2Op, A3Op, A4Op>(op)"},
    {},
)
assert check({"a.cpp": "isa<AddOp>(op)"}, {("a.cpp", "AddOp DivOp MulOp SubOp"): "none"})


def main():
    root, texts = sys.argv[1], {}
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".cpp", ".h", ".hpp", ".inc")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as f:
                        texts[os.path.relpath(path, root)] = f.read()
    problems = check(texts)
    print("\n".join(problems + [f"lists: {len(texts)} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
