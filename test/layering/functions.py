#!/usr/bin/env python3
"""Checks that functions in C++ have at most 80 lines. Lines of raw string literals, such as the text of kernels, do not count.

usage: functions.py SOURCE-ROOT

A function reaches from the line of its opening brace to the line of its closing brace. Lambdas and local classes belong to the function that
contains them. LONG lists the functions that may be longer; a row that is no longer needed is a failure, too.
"""

import os
import re
import sys

FOLDERS = ("frontend", "ir", "passes", "codegen", "runtime", "tools")
MAX_LINES = 80
# (file, name) of longer functions, with their number of lines. They may only become shorter.
LONG = {
    ("codegen/providers/gpu/CublasLt.cpp", "makeMatmulCall"): 93,
    ("codegen/providers/kernels/MatmulCall.cpp", "matmulCall"): 85,
    ("codegen/providers/kernels/TilesConvolution.cpp", "throughWeights"): 93,
    ("codegen/providers/onednn/Contraction.cpp", "queryConvolution"): 110,
}
TOKEN = re.compile(
    r'R"(?P<end>[^\s()\\]*)\((?:.|\n)*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*(?:.|\n)*?\*/'
    r"|(?m:^[ \t]*#(?:[^\n\\]|\\(?:.|\n))*)"
)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def blank(text):
    """Replaces the characters of literals, comments and preprocessor directives by spaces, and marks all but the first line of each raw string
    with the character \\1."""

    def erase(found):
        kept = re.sub(r"[^\n]", " ", found.group())
        return kept.replace("\n", "\n\1") if found.group().startswith("R") else kept

    return TOKEN.sub(erase, text)


def is_scope(head):
    """Returns whether the text before an opening brace begins a namespace, class or enumeration."""
    head = re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", "", head)
    return bool(SCOPE.search(head)) and not re.search(
        r"\)\s*(?:const|noexcept|override|final|\s)*$", head
    )


def functions(text):
    """(line, name, number of lines) of each function definition."""
    code, scopes, begin, depth, opened, called = blank(text), 0, 0, 0, 0, []
    for brace in re.finditer(r"[{};]", code):
        at = brace.start()
        if depth:
            depth += {"{": 1, "}": -1, ";": 0}[brace.group()]
            if depth == 0:
                if called:
                    lines = [
                        line
                        for line in code[opened:at].split("\n")[:-1]
                        if not line.startswith("\1")
                    ]
                    yield code.count("\n", 0, opened) + 1, called[0], len(lines) + 1
                begin = at + 1
        elif brace.group() == ";":
            begin = at + 1
        elif brace.group() == "}":
            scopes, begin = scopes - 1, at + 1
        else:
            head = code[begin:at]
            if is_scope(head):
                scopes, begin = scopes + 1, at + 1
            else:
                # The braces of a member initializer precede the body.
                called = (
                    re.findall(r"([~\w:]+|operator\s*\S+?)\s*\(", head)
                    if head.strip(" \n,:")
                    else called
                )
                depth, opened = 1, at


def check(texts, long=LONG):
    """The problems of these sources."""
    problems, found = [], {}
    for path, text in sorted(texts.items()):
        for line, name, lines in functions(text):
            if lines > MAX_LINES:
                found[path, name] = max(lines, found.get((path, name), 0))
                if lines > long.get((path, name), MAX_LINES):
                    problems.append(
                        f"{path}:{line}: function {name}: required: at most {long.get((path, name), MAX_LINES)} lines; found: {lines}; split it"
                    )
    for path, name in long:
        if (path, name) not in found:
            problems.append(
                f"test/layering/functions.py: {name} of {path} has at most {MAX_LINES} lines; remove its row from LONG"
            )
    return problems


LINES = "  f();\n" * MAX_LINES
# Sources with a function that is too long, and sources without one.
assert len(check({"a.cpp": f"namespace a {{\nint f(int x) const {{\n{LINES}}}\n}}"}, {})) == 1
assert len(check({"a.cpp": "struct A {\n  A(int x) : x(x) {\n" + LINES + "  }\n};"}, {})) == 1
assert len(check({"a.cpp": "void f() {\n  g([] { // }\n" + LINES + "  });\n}"}, {})) == 1
assert not check({"a.cpp": "struct A {\n" + LINES + "};\nvoid f() {\n" + LINES[14:] + "}"}, {})
assert not check({"a.cpp": 'void f() {\n  text(R"(\n' + LINES + ')");\n}'}, {})
assert check({"a.cpp": "void f() {}"}, {("a.cpp", "f"): 90})


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
    print("\n".join(problems + [f"functions: {len(texts)} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
