#!/usr/bin/env python3
"""Checks that only the table of device kinds and a device's own folder compare the names of device kinds.

usage: kinds.py SOURCE-ROOT
"""

import os
import re
import sys

PRODUCT = ("frontend", "ir", "passes", "codegen", "runtime", "tools")
# The table, with the host's name, and the folders of the kinds that come with dlc.
MAY = ("runtime/kind/", "runtime/device/cpu/", "runtime/device/cuda/", "codegen/cuda/")
KIND = r'"(?:cpu|cuda)[:"]'
COMPARED = re.compile(
    rf'[=!]=\s*{KIND}|{KIND}[^"]*"?\s*[=!]=|\b(?:starts_with|startswith|consume_front|compare|equals|find|rfind|count|contains|is_contained|StringSwitch|Case|Cases|strcmp|strncmp)\s*\([^()]*{KIND}'
)


def compared(line):
    return COMPARED.search(line.split("//")[0])


# What must be found, and what must not.
assert (
    compared('if (device.getKind() == "cuda")')
    and compared('name.starts_with("cuda")')
    and compared('"cpu" == kind')
)
assert (
    not compared('std::string device = "cpu";')
    and not compared('// kind == "cpu"')
    and not compared('{{"cpu", target.cpu}}')
)


def main():
    root = sys.argv[1]
    problems, count = [], 0
    for room in PRODUCT:
        for folder, _, files in os.walk(os.path.join(root, room)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, root)
                if not file.endswith((".cpp", ".h", ".hpp", ".td")) or name.startswith(MAY):
                    continue
                count += 1
                with open(path, encoding="utf-8", errors="replace") as text:
                    for number, line in enumerate(text, 1):
                        if compared(line):
                            problems.append(
                                f"{name}:{number}: compares the name of a device kind; test for a capability "
                                f"(passes/Devices.h, runtime/kind/Kind.h): {line.strip()}"
                            )
    print("\n".join(problems + [f"kinds: {count} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
