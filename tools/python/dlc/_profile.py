"""Profiles of a program's runs, as tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dlc import _notebook_html, _runtime
from dlc._text_tables import format_quantity, format_table

if TYPE_CHECKING:
    from dlc._model import Model


class Row(NamedTuple):
    """One command of a program: its operation, kernel, data movement, arithmetic operations, and time.
    The time covers all iterations if the command is in a loop."""

    op: str
    name: str
    kernel: str
    device: str
    where: str
    flops: float
    bytes: float
    microseconds: float
    percent: float


class Profile:
    """The commands of a program with their times: a sequence of rows that prints as a table. `microseconds` is the time of the whole run."""

    def __init__(self, rows: list[Row], microseconds: float):
        self.rows, self.microseconds = rows, microseconds

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def sorted(self) -> Profile:
        """Returns the profile sorted by decreasing time."""
        return Profile(sorted(self.rows, key=lambda row: -row.microseconds), self.microseconds)

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns by name, as pandas.DataFrame accepts them."""
        return {field: [getattr(row, field) for row in self.rows] for field in Row._fields}

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Returns the header and the rows of the profile as texts."""
        lines = [
            [
                str(i),
                row.device,
                row.op,
                format_quantity(row.bytes, "B", 1024),
                format_quantity(row.flops, "FLOP", 1000),
                f"{row.microseconds:.1f}",
                f"{row.percent:.1f}",
                row.kernel
                if row.kernel == row.name or not row.name
                else f"{row.kernel} ({row.name})",
            ]
            for i, row in enumerate(self.rows)
        ]
        return ["#", "device", "op", "bytes", "work", "us", "%", "kernel"], lines

    def __repr__(self) -> str:
        header, lines = self.table()
        return "\n".join(
            [
                *format_table(header, lines, {"device", "op", "kernel"}),
                f"{len(self.rows)} commands, {self.microseconds:.1f} us a run",
            ]
        )

    def _repr_html_(self) -> str:
        return _notebook_html.profile_html(self)


def make_random_inputs(session: _runtime.Session) -> dict[str, Any]:
    """Returns a random array for each input: floats uniform in [-1, 1), integers 0 or 1."""
    import numpy

    names = {
        "bool": "bool",
        "f16": "float16",
        "f32": "float32",
        "f64": "float64",
        "bf16": "bfloat16",
        "i4": "int8",
        "u4": "uint8",
    }
    generator = numpy.random.default_rng(0)
    arrays = {}
    for value in session.inputs:
        name = names.get(value.dtype) or value.dtype.replace("i", "int").replace("u", "uint")
        if name == "bfloat16":
            import ml_dtypes

            name = ml_dtypes.bfloat16
        shape = [size for size in value.shape or () if isinstance(size, int)]
        drawn: Any = (
            generator.uniform(-1, 1, shape)
            if "f" in value.dtype
            else generator.integers(0, 2, shape)
        )
        arrays[value.name] = numpy.asarray(drawn).astype(name)
    return arrays


def measure_profile(model: Model, named: Mapping[str, Any], repeat: int) -> Profile:
    model.run(dict(named))
    session = model._sessions[0]
    commands = session.commands
    best, times = float("inf"), [0.0] * len(commands)
    session.take_trace()
    session.set_trace(True)
    try:
        for _ in range(repeat):
            begin = time.perf_counter()
            model.run(dict(named))
            taken = (time.perf_counter() - begin) * 1e6
            events = session.take_trace()
            if taken < best:
                best, times = taken, [0.0] * len(commands)
                for command, start, end in events:
                    times[command] += (end - start) * 1e-3
    finally:
        session.set_trace(False)
    total = sum(times) or 1.0
    return Profile(
        [
            Row(
                op,
                name,
                kernel,
                device,
                where,
                flops,
                moved,
                microseconds,
                100 * microseconds / total,
            )
            for (op, name, kernel, device, where, flops, moved), microseconds in zip(
                commands, times
            )
        ],
        best,
    )
