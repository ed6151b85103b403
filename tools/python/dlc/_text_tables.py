"""Formats tables and sizes as text."""

from __future__ import annotations

from collections.abc import Sequence


def format_quantity(value: float, unit: str, step: int) -> str:
    """Formats a quantity with three digits and a unit, as the command line does, such as 12.3 KiB or 4.50 MFLOP; empty for 0."""
    if not value:
        return ""
    prefixes = ["", "K" if step == 1024 else "k", "M", "G", "T"]
    at = 0
    while value >= step and at + 1 < len(prefixes):
        value, at = value / step, at + 1
    prefix = prefixes[at] + ("i" if step == 1024 and at else "")
    return f"{value:.{(value < 10) + (value < 100) if at else 0}f} {prefix}{unit}"


def format_table(
    header: Sequence[str], lines: Sequence[Sequence[str]], left: set[str]
) -> list[str]:
    """Formats a table as lines of aligned columns, with the header first. Columns named in `left` are left-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *lines)]
    pad = lambda cells: "  ".join(
        c.ljust(w) if h in left else c.rjust(w) for c, w, h in zip(cells, widths, header)
    ).rstrip()
    return [pad(cells) for cells in (header, *lines)]
