"""Compares the constants that two modules return: compare.py BEFORE AFTER [tolerance]."""

import re
import sys

import numpy


def functions(path):
    """{function: [arrays]} of a module whose functions only return constants."""
    found, name, constants = {}, None, {}
    for line in open(path):
        if match := re.search(r"func\.func @(\w+)", line):
            name, constants = match[1], {}
        elif match := re.search(r"(%\w+) = dlc\.constant dense<(.*)> : tensor<([^,>]*)", line):
            shape = [int(size) for size in match[3].split("x")[:-1]]
            text = match[2].replace("true", "1").replace("false", "0")
            numbers = [
                float.fromhex(n) if n.startswith("0x") and "p" in n else number(n, match[3])
                for n in re.findall(r"0x[0-9A-Fa-f]+|-?[0-9][0-9.eE+-]*", text)
            ]
            array = numpy.array(numbers)
            constants[match[1]] = (
                numpy.full(shape, array.item()) if array.size == 1 else array.reshape(shape)
            )
        elif match := re.search(r"return (%[^:]*) :", line):
            found[name] = [constants[value.strip()] for value in match[1].split(",")]
    return found


def number(text, kind):
    if not text.startswith("0x"):
        return float(text)
    bits = int(text, 16)
    if kind.endswith("f32"):
        return numpy.uint32(bits).view(numpy.float32).astype(float)
    raise SystemExit(f"cannot read {text} of {kind}")


before, after = functions(sys.argv[1]), functions(sys.argv[2])
tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-5
assert before and before.keys() == after.keys(), (before.keys(), after.keys())
for name in before:
    assert len(before[name]) == len(after[name])
    for i, (a, b) in enumerate(zip(before[name], after[name])):
        assert a.shape == b.shape, (name, a.shape, b.shape)
        scale = numpy.abs(a[numpy.isfinite(a)]).max(initial=1)
        if not numpy.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            raise SystemExit(
                f"{name}, result {i}: differs by {numpy.nanmax(numpy.abs(a - b))}\n{a}\n{b}"
            )
print(f"{len(before)} functions agree")
