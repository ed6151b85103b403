"""Specifications of branches and loops. Their bodies are random graphs, which may use values of the outer graph."""

import numpy as np
from graph import NoOperand, Value, reads, spec
from onnx import helper

DEEPEST = 2


def graph_of(nodes, name, inputs, outputs):
    return helper.make_graph(nodes, name, [v.info for v in inputs], [v.info for v in outputs])


def argument(g, shape, kind, exact):
    g.numbers += 1
    return Value(f"a{g.numbers}", shape, kind, exact)


def changed(g, x, by=None):
    """A value of x's type that is not much larger than x; of `by` too, where there is such a one."""
    if by is None or by.name == x.name:
        by = g.random(x.shape, x.kind)
    if x.kind in ("u8", "i8", "f16"):
        return g.emit("Max", [x, by], x.exact and by.exact)
    if x.kind[0] == "f":
        return g.emit("Tanh", [g.emit(g.one(["Add", "Sub", "Mul"]), [x, by])])
    if x.kind == "bool":
        return g.emit(g.one(["And", "Or", "Xor"]), [x, by], True)
    return g.bounded(
        g.emit(
            g.one(["Add", "Sub"]), [g.bounded(x, -1000, 1000), g.bounded(by, -1000, 1000)], True
        ),
        -1000,
        1000,
    )


def made_in(g, fits=lambda v: True):
    """A value that the body's nodes made; one that nothing reads is more likely."""
    here = {name for node in g.nodes for name in node.output}
    read = {name for node in g.nodes for name in reads(node)}
    fitting = [v for v in g.values if v.name in here and fits(v)]
    if not fitting:
        raise NoOperand
    ends = [v for v in fitting if v.name not in read]
    return g.one(ends if ends and g.chance(0.8) else fitting)


def like(g, x):
    """A value of the body of x's type."""
    same = lambda v: v.kind == x.kind and v.shape == x.shape
    if g.chance(0.7) and any(same(v) for v in g.values):
        return g.own(g.one([v for v in g.values if same(v)]))
    return changed(g, g.shaped(x.shape, x.kind))


def condition(g):
    """A bool of one element."""
    shape = g.one([(), (1,)])
    if g.chance(0.3):
        return g.random(shape, "bool")
    if g.chance(0.5):
        return g.shaped(shape, "bool")
    x = g.any(exact=True)
    if not x.size:
        raise NoOperand
    one = g.emit("ReduceMax", [x], True, keepdims=0)
    return g.emit("Greater", [one, g.constant(np.array(0.5, np.float32))], True)


@spec("If")
def branch(g, operator):
    if g.depth >= DEEPEST:
        raise NoOperand
    decides = condition(g)
    with g.body() as then:
        g.grow(g.integer(1, 4))
        left = [made_in(g) for _ in range(g.integer(1, 2))]
        left = [left[0]] if left[0] is left[-1] else left
    with g.body() as otherwise:
        if g.chance(0.5):
            g.grow(g.integer(1, 3))
        right = [like(g, v) for v in left]
        right = [
            g.emit("Identity", [v], v.exact) if v.name in [w.name for w in right[:i]] else v
            for i, v in enumerate(right)
        ]
    made = g.emit(
        operator,
        [decides],
        False,
        len(left),
        types=[(v.kind, v.shape) for v in left],
        then_branch=graph_of(then, "then", [], left),
        else_branch=graph_of(otherwise, "else", [], right),
    )
    for value, a, b in zip([made] if len(left) == 1 else made, left, right):
        value.exact = a.exact and b.exact


def states_of(g, most):
    """What a loop carries: where it starts, and as what its body sees it. Rounding adds up in floats."""
    starts = [
        g.pick(
            lambda v: 0 < v.size <= 500,
            g.one(["f32", "f32", "f32", "i64"]),
            make=lambda: g.shape(largest=200),
        )
        for _ in range(g.integer(0, most))
    ]
    return starts, [argument(g, v.shape, v.kind, v.kind[0] != "f") for v in starts]


def iterate(g, states):
    """Fills the body: the next states, and what is to be scanned."""
    g.grow(g.integer(1, 4))
    follow = []
    for state in states:
        same = [v for v in g.values if v.kind == state.kind and v.shape == state.shape]
        follow.append(changed(g, state, g.one(same)))
    return follow


def scanned(g, most):
    return [
        g.emit("Identity", [v], v.exact)
        for v in (
            made_in(g, lambda v: 0 < v.size <= 500 and v.rank <= 4)
            for _ in range(g.integer(0, most))
        )
    ]


@spec("Loop")
def loop(g, operator):
    if g.depth >= DEEPEST:
        raise NoOperand
    starts, states = states_of(g, 2)
    step, going = argument(g, (), "i64", True), argument(g, (), "bool", True)
    way = g.one(["for", "for", "for", "while", "runtime"])
    trips = g.integer(1, 4)
    with g.body([step, going, *states]) as nodes:
        if g.chance(0.4):  # what a loop is written for: a row of something each time
            rows = g.shaped((trips, *g.shape(g.integer(0, 2), 100)))
            g.emit(
                "Gather",
                [rows, step if way == "for" else g.bounded(step, 0, trips - 1)],
                rows.exact,
                axis=0,
            )
        follow = iterate(g, states)
        scans = scanned(g, 2) if way == "for" else []
        on = (
            g.emit("Less", [step, g.int(trips - 1)], True)
            if way == "while"
            else g.emit("Identity", [going], True)
        )
    if not starts and not scans:
        raise NoOperand
    count = (
        g.int(trips)
        if way == "for"
        else g.shaped((), "i64")
        if way == "runtime"
        else g.int(trips + 3)
        if g.chance(0.5)
        else None
    )
    begins = (
        None if way == "runtime" or way == "for" and g.chance(0.5) else g.constant(np.array(True))
    )
    types = [(v.kind, v.shape) for v in states] + [(v.kind, (trips, *v.shape)) for v in scans]
    body = graph_of(nodes, "loop", [step, going, *states], [on, *follow, *scans])
    made = g.emit(operator, [count, begins, *starts], True, len(types), types=types, body=body)
    for value, inner in zip([made] if len(types) == 1 else made, states + scans):
        value.exact = inner.exact


@spec("Scan")
def scan(g, operator):
    if g.depth >= DEEPEST:
        raise NoOperand
    starts, states = states_of(g, 2)
    x = g.pick(
        lambda v: 1 <= v.rank <= 4 and 0 < v.size and min(v.shape) <= 4,
        make=lambda: (g.integer(1, 4), *g.shape(g.integer(0, 2), 200)),
    )
    axis = g.one([i for i, d in enumerate(x.shape) if d <= 4])
    length = x.shape[axis]
    over, axes = [x], [axis]
    if g.chance(0.4):
        over, axes = [x, g.shaped((length, *g.shape(g.integer(0, 2), 100)))], [axis, 0]
    rows = [
        argument(g, v.shape[:a] + v.shape[a + 1 :], v.kind, v.exact) for v, a in zip(over, axes)
    ]
    with g.body([*states, *rows]) as nodes:
        follow = iterate(g, states)
        scans = scanned(g, 2)
    if not starts and not scans:
        raise NoOperand
    out = [g.integer(0, v.rank) for v in scans]
    types = [(v.kind, v.shape) for v in states] + [
        (v.kind, (*v.shape[:a], length, *v.shape[a:])) for v, a in zip(scans, out)
    ]
    more = {
        "scan_input_axes": [a - v.rank if g.chance(0.3) else a for v, a in zip(over, axes)],
        "scan_input_directions": [g.integer(0, 1) for _ in over],
    }
    if scans:
        more.update(scan_output_axes=out, scan_output_directions=[g.integer(0, 1) for _ in scans])
    made = g.emit(
        operator,
        [*starts, *over],
        True,
        len(types),
        types=types,
        num_scan_inputs=len(over),
        body=graph_of(nodes, "scan", [*states, *rows], [*follow, *scans]),
        **more,
    )
    for value, inner in zip([made] if len(types) == 1 else made, states + scans):
        value.exact = inner.exact
