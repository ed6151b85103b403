"""Models and profiles as notebooks show them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlc._model import Model
    from dlc._profile import Profile


def _table(header: list[str], lines: list[list[Any]]) -> str:
    def row(cells: list[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align:left'>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table><thead>" + row(header, "th") + "</thead><tbody>" + "".join(row(line, "td") for line in lines) + "</tbody></table>"


def model(model: Model) -> str:
    values = [
        [kind, value.name, value.dtype, "" if value.shape is None else " x ".join(str(size or "?") for size in value.shape), value.device]
        for kind, these in (("input", model.inputs), ("output", model.outputs))
        for value in these
    ]
    parts = ["<b>dlc.Model</b>", _table(["", "name", "type", "shape", "device"], values)]
    sessions = model._sessions
    if sessions:
        commands = [[i, op, kernel, name] for i, (op, name, kernel, *_) in enumerate(sessions[0].commands)]
        parts.append(f"<details><summary>{len(commands)} commands</summary>{_table(['#', 'op', 'kernel', 'name'], commands)}</details>")
    return "".join(parts)


def profile(profile: Profile) -> str:
    header, lines = profile.table()
    return _table(header, lines) + f"{len(lines)} commands, {profile.microseconds:.1f} us a run"
