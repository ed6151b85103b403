#!/usr/bin/env python3
"""Checks what the compiler cannot: include directions, include cycles between folders, file sizes, and that each file states its
purpose.

usage: check.py SOURCE-ROOT
"""

import os
import re
import subprocess
import sys

from folders import FOLDERS

# Whose headers each room may include. A longer path wins over a shorter one.
MAY = {
    "runtime": ["runtime"],
    "ir": ["ir"],
    "passes": ["passes", "ir"],
    "frontend": ["frontend", "ir"],
    "codegen": ["codegen", "passes", "ir", "runtime"],
    "tools": ["tools", "codegen", "passes", "ir", "frontend", "runtime"],
    "test": ["test", "tools", "codegen", "passes", "ir", "frontend", "runtime"],
}
# Of the runtime, the compiler may see descriptions and the artefact, not how anything runs. Frontends read and write files with the artefact's helpers and use public types.
RUNTIME_FOR = {
    "codegen": [
        "runtime/epilogue/",
        "runtime/program/",
        "runtime/kind/",
        "runtime/library/Library.h",
        "runtime/library/describe/",
        "runtime/library/schema/Schema.h",
        "runtime/library/attention/Describe.h",
        "runtime/library/blocks/Describe.h",
        "runtime/library/direct/Describe.h",
        "runtime/library/onednn/Describe.h",
        "runtime/library/winograd/Describe.h",
        "runtime/library/products/Grouped.h",
        "runtime/library/products/Product.h",
        "runtime/library/tiles/Convolution.h",
        "runtime/library/tiles/Describe.h",
        "runtime/library/vectors/Describe.h",
        "runtime/device/cpu/Features.h",
        "runtime/device/cpu/KernelContext.h",
        "runtime/device/cpu/HugePageAllocator.h",
        "runtime/device/cuda/Nvrtc.h",
        "runtime/device/cuda/Loader.h",  # which libraries are here
        "runtime/device/Device.h",  # what a GPU says of itself
        "runtime/session/Session.h",
        "runtime/session/Binder.h",
        "runtime/simd/arch/FlushCache.h",  # measuring candidates is running them
        "dlc/",
    ],
    "passes": ["runtime/epilogue/EpilogueOps.", "runtime/kind/", "runtime/size/", "dlc/DType.h"],
    "frontend": ["runtime/program/", "dlc/"],
    "ir": ["runtime/kind/DeviceName.h", "runtime/size/", "dlc/DType.h"],
}
ROOMS = tuple(MAY)
# Rooms whose folders have rows in folders.py.
DIVIDED = ("runtime", "ir", "passes", "frontend", "codegen", "tools")
CODE = (".cpp", ".h", ".hpp", ".cuh", ".c", ".td", ".py", ".inc")
MAX_LINES, USUAL_LINES = 800, 400
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s+["<]([^">]+)[">]')
MLIR_FREE = ("runtime",)


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


class Headers:
    """Whose an included header is. Four rooms have public headers, all included as dlc/...: the folder that holds the
    file says whose it is."""

    PUBLIC = {
        "runtime/include": "runtime",
        "frontend/trace/include": "frontend",
        "tools/compiler/include": "tools",
        "passes/include": "passes",
    }

    def __init__(self, names):
        self.public = {}
        for name in names:
            for folder in self.PUBLIC:
                if name.startswith(folder + "/"):
                    self.public[name[len(folder) + 1 :]] = folder + "/dlc"

    def folder(self, header):
        """The folder of the source tree, or None where it is none of ours."""
        if header in self.public:
            return self.public[header]
        return os.path.dirname(header) if header.split("/")[0] in ROOMS else None


def check_includes(name, lines, headers, edges, problems):
    """Directions between rooms, and within one; `edges` gets folder -> folder -> where it is included."""
    room, folder = name.split("/")[0], os.path.dirname(name)
    if room not in MAY:
        return
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        header = found.group(1)
        where = f"{name}:{number}: includes '{header}'"
        if room in MLIR_FREE and header.split("/")[0] in ("mlir", "llvm"):
            problems.append(
                f"{where}: the runtime knows no MLIR and no LLVM; describe what is needed in runtime/program"
            )
        to = headers.folder(header)
        if to is None or to == folder:
            continue
        target = to.split("/")[0]
        if room != "test":
            edges.setdefault(folder, {}).setdefault(to, where)
        if target == room:
            if room in DIVIDED and to not in FOLDERS.get(folder, ()):
                problems.append(
                    f"{where}: {folder}/ may include of {room}/ only {', '.join(FOLDERS.get(folder, ())) or 'its own headers'}"
                    " (test/layering/folders.py)"
                )
        elif target == "runtime" and room in RUNTIME_FOR:
            if not any(header.startswith(p) for p in RUNTIME_FOR[room]):
                problems.append(
                    f"{where}: {room}/ may use of the runtime only {', '.join(RUNTIME_FOR[room])}"
                )
        elif target not in MAY[room]:
            problems.append(f"{where}: {room}/ may include {', '.join(MAY[room])} only")


def circles(edges):
    """The circles of folders, each as its folders and the includes that close it (Tarjan's components)."""
    number, low, stack, found = {}, {}, [], []

    def visit(folder):
        number[folder] = low[folder] = len(number)
        stack.append(folder)
        for to in edges.get(folder, ()):
            if to not in number:
                visit(to)
                low[folder] = min(low[folder], low[to])
            elif to in stack:
                low[folder] = min(low[folder], number[to])
        if low[folder] == number[folder]:
            component = set(stack[stack.index(folder) :])
            del stack[stack.index(folder) :]
            if len(component) > 1:
                found.append(
                    (
                        sorted(component),
                        [
                            edges[a][b]
                            for a in sorted(component)
                            for b in sorted(edges.get(a, ()))
                            if b in component
                        ],
                    )
                )

    for folder in sorted(edges):
        if folder not in number:
            visit(folder)
    return found


def check_folders(edges, problems):
    for component, includes in circles(edges):
        problems.append(f"a circle of folders: {', '.join(component)}\n  " + "\n  ".join(includes))
    for folder, allowed in FOLDERS.items():
        for to in allowed:
            if to not in edges.get(folder, {}):
                problems.append(
                    f"test/layering/folders.py: {folder} includes nothing of {to} any more: take it out of its row"
                )


def check_first_line(name, lines, problems):
    """A file says in its first line (or in its first comment) what it is for."""
    first = next((l for l in lines if l.strip() and not l.startswith("#!")), "")
    if (
        name.endswith((".py", "CMakeLists.txt", ".cmake"))
        or "tools/" in name
        and "." not in os.path.basename(name)
    ):
        good = first.startswith(("#", '"""', 'r"""'))
    else:
        good = first.startswith(("//===-", "//", "/*"))
        if first.startswith("//===-"):
            good = " - " in first
    if not good:
        problems.append(
            f"{name}:1: the first line must say what the file is for, as '//===- Name.cpp - purpose ---===//'; found '{first[:60]}'"
        )


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # a source archive without git
        names = [
            os.path.relpath(os.path.join(d, f), root)
            for d, _, fs in os.walk(root)
            for f in fs
            if not os.path.relpath(d, root).startswith(("build", ".git"))
        ]
    problems, count, long, edges = [], 0, 0, {}
    headers = Headers(names)
    for name in sorted(set(names)):
        path = os.path.join(root, name)
        if not name.endswith(CODE) or not os.path.isfile(path):
            continue
        lines = lines_of(path)
        count += 1
        long += len(lines) > USUAL_LINES
        if len(lines) > MAX_LINES:
            problems.append(
                f"{name}: {len(lines)} lines; at most {MAX_LINES}: one idea per file, split it"
            )
        check_includes(name, lines, headers, edges, problems)
        check_first_line(name, lines, problems)
    check_folders(edges, problems)
    for room in ROOMS:
        if os.path.isdir(os.path.join(root, room)) and not os.path.exists(
            os.path.join(root, room, "README.md")
        ):
            problems.append(f"{room}/: has no README.md that describes the folder")
    if count and long * 10 > count:
        problems.append(
            f"{long} of {count} files have more than {USUAL_LINES} lines; at most one in ten may"
        )
    for problem in problems:
        print(problem)
    print(f"layering: {count} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
