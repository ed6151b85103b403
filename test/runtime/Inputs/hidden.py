"""Makes a chain of matmuls on cpu:1 whose operands are copied from cpu, and checks its trace."""

import json
import sys

STEPS, SIZE = 8, 256


def write(path):
    t = f"tensor<{SIZE}x{SIZE}xf32>"
    inputs = ", ".join(f'%x{i}: {t} {{dlc.name = "x{i}"}}' for i in range(STEPS + 1))
    with open(path, "w") as out:
        print(f'func.func @main({inputs}) -> ({t} {{dlc.name = "y"}}) {{', file=out)
        value = "%x0"
        for i in range(STEPS):
            print(
                f'  %p{i} = dlc.matmul {value}, %x{i + 1} {{dlc.device = "cpu:1"}} : ({t}, {t}) -> {t}',
                file=out,
            )
            value = f"%p{i}"
        print(f"  return {value} : {t}\n}}", file=out)


def check(path):
    events = json.load(open(path))["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    work = sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"])
    # Copies over have a row of their own, in which nothing waits; those back wait for the last product in another.
    waiting = {e["tid"] for e in work if e["cat"] == "wait"}
    over = [e for e in work if e["cat"] == "copy" and e["tid"] not in waiting]
    products = [e for e in work if e["cat"] in ("library", "launch")]
    assert {rows[e["tid"]] for e in over} == {"cpu:1, copies"} and {
        rows[e["tid"]] for e in products
    } == {"cpu:1"}, rows
    runs = len(products) // STEPS
    assert runs >= 1 and len(products) == runs * STEPS and len(over) == runs * (STEPS + 1), (
        len(products),
        len(over),
    )
    behind = 0
    for run in range(runs):
        copies, mine = (
            over[run * (STEPS + 1) : (run + 1) * (STEPS + 1)],
            products[run * STEPS : (run + 1) * STEPS],
        )
        for i, product in enumerate(mine):
            last = copies[i + 1]
            assert last["ts"] + last["dur"] <= product["ts"], (
                "a product ran before its operands were there"
            )
        # However busy the machine is: the last operands come while earlier products run.
        behind += copies[-1]["ts"] < mine[-2]["ts"] + mine[-2]["dur"]
    assert behind >= 1, "all copies were done after the products"


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
