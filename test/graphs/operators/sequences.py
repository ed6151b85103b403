"""Specifications of sequences and optionals, whose elements are extracted again."""

from graph import PROTO, NoOperand, spec
from onnx import helper

SEQUENCE = [("sequence", ())]


def several(g):
    """Values of one kind and rank that differ in one dimension at most, and which."""
    x = g.ranked(1, 2, 3, 4)
    axis = g.integer(0, x.rank - 1)
    rest = lambda v: v.shape[:axis] + v.shape[axis + 1 :]
    alike = [
        v
        for v in g.values
        if v.kind == x.kind and v.rank == x.rank and v.size and rest(v) == rest(x)
    ]
    return [g.one(alike) for _ in range(g.integer(1, 4))], axis


def taken(g, sequence, parts, axis):
    """A tensor made of a sequence of these values."""
    ways = (
        ["at", "concat", "concat"] + ["stack"] * (len({v.shape for v in parts}) == 1) + ["length"]
    )
    way = g.one(ways)
    x = parts[0]
    if way == "at":
        at = g.integer(-len(parts), len(parts) - 1)
        return g.emit(
            "SequenceAt", [sequence, g.int(at)], parts[at].exact, types=[(x.kind, parts[at].shape)]
        )
    if way == "length":
        return g.emit("SequenceLength", [sequence], True, types=[("i64", ())])
    exact = all(v.exact for v in parts)
    if way == "concat":
        shape = tuple(
            sum(v.shape[axis] for v in parts) if i == axis else d for i, d in enumerate(x.shape)
        )
        return g.emit("ConcatFromSequence", [sequence], exact, types=[(x.kind, shape)], axis=axis)
    axis = g.integer(0, x.rank)
    return g.emit(
        "ConcatFromSequence",
        [sequence],
        exact,
        types=[(x.kind, (*x.shape[:axis], len(parts), *x.shape[axis:]))],
        axis=axis,
        new_axis=1,
    )


@spec("SequenceConstruct")
def construct(g, operator):
    parts, axis = several(g)
    taken(g, g.emit(operator, parts, types=SEQUENCE), parts, axis)


@spec("SequenceInsert")
def insert(g, operator):
    parts, axis = several(g)
    sequence = (
        g.emit("SequenceEmpty", [], types=SEQUENCE, dtype=PROTO[parts[0].kind])
        if g.chance(0.5)
        else None
    )
    ordered = [] if sequence else [parts[0]]
    sequence = sequence or g.emit("SequenceConstruct", parts[:1], types=SEQUENCE)
    for part in parts:
        at = g.integer(0, len(ordered)) if g.chance(0.6) else None
        sequence = g.emit(
            operator, [sequence, part] + ([] if at is None else [g.int(at)]), types=SEQUENCE
        )
        ordered.insert(len(ordered) if at is None else at, part)
    taken(g, sequence, ordered, axis)


@spec("SequenceErase")
def erase(g, operator):
    parts, axis = several(g)
    if len(parts) < 2:
        raise NoOperand
    at = g.integer(0, len(parts) - 1)
    sequence = g.emit("SequenceConstruct", parts, types=SEQUENCE)
    taken(
        g,
        g.emit(
            operator, [sequence, g.int(at - len(parts) if g.chance(0.3) else at)], types=SEQUENCE
        ),
        parts[:at] + parts[at + 1 :],
        axis,
    )


class Part:
    def __init__(self, shape, x):
        self.shape, self.kind, self.exact, self.rank = shape, x.kind, x.exact, len(shape)


@spec("SplitToSequence")
def split_to_sequence(g, operator):
    x = g.ranked(1, 2, 3, 4)
    axis, size = g.integer(0, x.rank - 1), g.integer(1, 4)
    sizes = [min(size, x.shape[axis] - at) for at in range(0, x.shape[axis], size)]
    by = g.int(size) if g.chance(0.5) else g.ints(sizes)
    parts = [Part(tuple(n if i == axis else d for i, d in enumerate(x.shape)), x) for n in sizes]
    taken(g, g.emit(operator, [x, by], types=SEQUENCE, axis=axis), parts, axis)


@spec("SequenceMap")
def map_(g, operator):
    parts, axis = several(g)
    x = parts[0]
    each = helper.make_tensor_value_info("part", PROTO[x.kind], None)
    body = helper.make_graph(
        [helper.make_node("Tanh", ["part"], ["part_result"])],
        "map",
        [each],
        [helper.make_tensor_value_info("part_result", PROTO[x.kind], None)],
    )
    sequence = g.emit(
        operator, [g.emit("SequenceConstruct", parts, types=SEQUENCE)], types=SEQUENCE, body=body
    )
    made = [Part(v.shape, x) for v in parts]
    for part in made:
        part.exact = False
    taken(g, sequence, made, axis)


@spec("Optional")
def optional(g, operator):
    x = g.any()
    there = g.emit(operator, [x], types=[("optional", ())])
    if g.chance(0.5):
        g.emit("OptionalGetElement", [there], x.exact, types=[(x.kind, x.shape)])
    else:
        g.emit("OptionalHasElement", [there], True, types=[("bool", ())])
