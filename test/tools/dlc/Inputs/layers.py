"""Writes a module whose gradients fill more than one bucket and that is cheap to compute: layers.py FILE.mlir."""

import sys

WIDTH, LAYERS = 150000, 4
TYPE = f"tensor<1x{WIDTH}xf32>"

arguments = [f'%x: {TYPE} {{dlc.name = "x"}}']
body, last = [], "%x"
for i in range(LAYERS):
    arguments.append(
        f'%w{i}: {TYPE} {{dlc.init = dense<0.{i + 5}> : {TYPE}, dlc.name = "w{i}", dlc.parameter, dlc.state}}'
    )
    body.append(f"%m{i} = dlc.mul {last}, %w{i} : ({TYPE}, {TYPE}) -> {TYPE}")
    body.append(f"%y{i} = dlc.tanh %m{i} : ({TYPE}) -> {TYPE}")
    last = f"%y{i}"
with open(sys.argv[1], "w") as file:
    file.write(
        "func.func @main("
        + ",\n                ".join(arguments)
        + f')\n    -> ({TYPE} {{dlc.name = "y"}}) {{\n  '
        + "\n  ".join(body)
        + f"\n  return {last} : {TYPE}\n}}\n"
    )
