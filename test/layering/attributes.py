#!/usr/bin/env python3
"""Checks that attributes which passes exchange are rows of ir/dlc/Attributes.def, with the folders that set and read them.

usage: attributes.py SOURCE-ROOT

A problem is:
- a name such as "dlc.kernel" in C++, which must be a constant of the table, or which is neither in the table nor the name of an operation;
- an attribute that is set, or a constant k...Attr that is defined, without a row of the table;
- a row whose writers or readers are not the folders that use the constant, or that is not unique.

A folder writes an attribute if it passes the constant to a function such as setAttr, or has the name in the text of a module. Every other use
is a read. The check also adds each kind of error to a copy of the sources in memory, and fails if it does not detect one.
"""

import os
import re
import sys

TABLE = "ir/dlc/Attributes.def"
# Top-level folders with MLIR. The runtime has none.
FOLDERS = ("frontend", "ir", "passes", "codegen", "tools")
# A name of this form that is neither an attribute nor an operation: a Python capsule.
OTHER_NAMES = {"dlc.session"}
CONSTANT = re.compile(r"\bk[A-Z]\w*Attr\b")
# Functions that set an attribute whose name is an argument.
WRITES = re.compile(
    r"set(?:Arg|Result|Discardable|Inherent)?Attr|set|append|attr|attrUnit|getNamedAttr|emplace_back"
)
CALLED = re.compile(r"(\w+)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*$")
SET = re.compile(
    r"\bset(?:Arg|Result|Discardable|Inherent)?Attr\((?:[^()\"]|\([^()]*\))*?(?P<name>\"[^\"]*\"|\bk[A-Z]\w*)"
)
DEFINED = re.compile(r"\b(k[A-Z]\w*Attr)(?:\[\])?\s*=\s*\"")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ROW = re.compile(r"^ATTRIBUTE\((\w+),(.*?)\)$", re.M | re.S)


def sources(root):
    """Text of the C++ and TableGen files and of the table, by path."""
    texts = {}
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".cpp", ".h", ".hpp", ".td")) or name == os.path.basename(TABLE):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        texts[os.path.relpath(path, root)] = f.read()
    return texts


def rows(text):
    """(constant, name, writers, readers) of each row of the table."""
    for constant, row in ROW.findall(text):
        strings = STRING.findall(re.sub(r'"\s*\n\s*"', "", row))
        name, _, writers, readers, _ = strings
        yield (
            constant,
            name,
            set(filter(None, writers.split(", "))),
            set(filter(None, readers.split(", "))),
        )


def without_comments(text):
    return re.sub(r"^(\s*)//.*|(?<=[;{},)\s])//[^\"\n]*$", r"\1", text, flags=re.M)


def folder_of(path):
    """The folder of a phase, such as passes/fuse: at most two levels."""
    return "/".join(os.path.dirname(path).split("/")[:2])


def uses(code):
    """(constant, whether it is written) of each use of a constant of the table."""
    for use in CONSTANT.finditer(code):
        statement = re.split(r"[;{}]", code[max(0, use.start() - 400) : use.start()])[-1]
        called = CALLED.search(statement)
        yield use.group(), bool(called and WRITES.fullmatch(called.group(1)))


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_code(path, code, names, constants, operations, problems):
    """Checks the string literals and definitions of one C++ file."""
    for found in STRING.finditer(code):
        text = found.group(1)
        if not re.fullmatch(r"dlc\.[a-z_0-9]+", text) or text in OTHER_NAMES:
            continue
        where = f"{path}:{line_of(code, found.start())}: "
        if text in names:
            problems.append(
                f'{where}"{text}" is a literal; use {names[text]} of ir/dlc/Attributes.h'
            )
        elif text not in operations:
            problems.append(
                f'{where}"{text}" is neither an operation nor an attribute of {TABLE}; add a row there'
            )
    for found in SET.finditer(code):
        name = found.group("name")
        if name.startswith('"') or name not in constants:
            problems.append(
                f"{path}:{line_of(code, found.start())}: sets the attribute {name}, which has no row in {TABLE}; add one and use its constant"
            )
    for found in DEFINED.finditer(code):
        problems.append(
            f"{path}:{line_of(code, found.start())}: defines {found.group(1)}; add a row to {TABLE} instead"
        )


def check_rows(table, written, read, problems):
    for constant, name, writers, readers in table:
        for role, stated, found in (
            ("writers", writers - {"model"}, written.get(constant, set())),
            ("readers", readers, read.get(constant, set())),
        ):
            if stated != found:
                problems.append(
                    f"{TABLE}: {constant} ({name}): {role}: required: {', '.join(sorted(found)) or 'none'}; "
                    f"found: {', '.join(sorted(stated)) or 'none'}; correct the row"
                )
        if not writers:
            problems.append(f"{TABLE}: {constant} ({name}) is never set; remove the row")


def check(texts):
    """The problems of these sources."""
    problems, table = [], list(rows(texts[TABLE]))
    if len(table) != texts[TABLE].count("\nATTRIBUTE("):
        problems.append(
            f"{TABLE}: required: rows `ATTRIBUTE(...)` that end with a line's last `)`; found another form"
        )
    names, constants = (
        {name: constant for constant, name, _, _ in table},
        {constant for constant, _, _, _ in table},
    )
    for what, different in (("names", names), ("constants", constants)):
        if len(different) != len(table):
            problems.append(f"{TABLE}: two rows have the same {what}; rename one")
    operations = {
        "dlc." + name
        for path, text in texts.items()
        if path.endswith(".td")
        for name in re.findall(r'^(?:def|defm)\s+\w+\s*:\s*\w+<"(\w+)"', text, re.M)
    }
    written, read = {}, {}
    for path, text in sorted(texts.items()):
        if not path.endswith((".cpp", ".h", ".hpp")):
            continue
        code = without_comments(text)
        check_code(path, code, names, constants, operations, problems)
        for constant, writes in uses(code):
            (written if writes else read).setdefault(constant, set()).add(folder_of(path))
        for string in STRING.finditer(code):
            for name in re.findall(r"\{(dlc\.\w+)\}", string.group(1)):
                written.setdefault(names.get(name), set()).add(folder_of(path))
    check_rows(table, written, read, problems)
    return problems


# Errors that the check must detect: file, text, replacement, part of the problem.
PLANTED = [
    (
        "passes/fuse/analysis/MonotonicGather.cpp",
        "kMonotonicAttr",
        '"dlc.monotonic"',
        '"dlc.monotonic" is a literal; use kMonotonicAttr',
    ),
    (
        "passes/fuse/analysis/MonotonicGather.cpp",
        "kMonotonicAttr",
        '"dlc.monotnic"',
        '"dlc.monotnic" is neither an operation nor an attribute',
    ),
    (
        "codegen/lower/GpuKernel.cpp",
        "setAttr(kGpuArchAttr",
        'setAttr("arch"',
        'sets the attribute "arch", which has no row',
    ),
    (
        "codegen/lower/GpuKernel.cpp",
        "setAttr(kGpuArchAttr",
        "setAttr(kArchitecture",
        "sets the attribute kArchitecture, which has no row",
    ),
    (
        "codegen/lower/GpuKernel.cpp",
        "namespace dlc {",
        'namespace dlc {\nconstexpr llvm::StringLiteral kGridAttr = "grid";',
        "defines kGridAttr; add a row",
    ),
    (
        TABLE,
        "// Modules.\n",
        '// Modules.\nATTRIBUTE(kUnusedAttr, "dlc.unused", "module", UnitAttr, "passes", "", "The row is unused.")\n',
        "kUnusedAttr (dlc.unused): writers: required: none; found: passes",
    ),
    (
        TABLE,
        '"passes/place", "codegen/native"',
        '"passes/place", "codegen/lower"',
        "kPlacementAttr (dlc.placement): readers: required: codegen/native; found: codegen/lower",
    ),
    (
        TABLE,
        '"passes/place", "codegen/native"',
        '"passes/grad", "codegen/native"',
        "kPlacementAttr (dlc.placement): writers: required: passes/place; found: passes/grad",
    ),
    (TABLE, "kPlacementAttr, ", "kLayoutsAttr, ", "two rows have the same constants"),
]


def undetected(texts):
    """Errors of PLANTED that the check does not detect."""
    for path, before, after, wanted in PLANTED:
        if before not in texts[path]:
            yield f"planted: {path} does not contain '{before}'; correct PLANTED"
            continue
        found = check({**texts, path: texts[path].replace(before, after, 1)})
        if not any(wanted in problem for problem in found):
            yield f"planted: '{after}' in {path} is not detected"


def main():
    texts = sources(sys.argv[1])
    problems = check(texts) or list(undetected(texts))
    print(
        "\n".join(
            problems
            + [f"attributes: {len(list(rows(texts[TABLE])))} rows, {len(problems)} problems"]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
