"""HTML representations of models and profiles for notebooks."""

from __future__ import annotations

import json
import shutil
import subprocess
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlc import _runtime
    from dlc._model import Model
    from dlc._profile import Profile


def _table_html(header: list[str], lines: list[list[Any]]) -> str:
    def row(cells: list[Any], tag: str) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag} style='text-align:left'>{escape(str(cell))}</{tag}>" for cell in cells
            )
            + "</tr>"
        )

    return (
        "<table><thead>"
        + row(header, "th")
        + "</thead><tbody>"
        + "".join(row(line, "td") for line in lines)
        + "</tbody></table>"
    )


#: Maximum number of commands in a drawing of a program. Larger graphs are unreadable and slow to lay out.
MOST_DRAWN = 200
#: Timeout in seconds of the Graphviz process.
PATIENCE = 10


def _draw_commands(session: _runtime.Session) -> str:
    """Returns an SVG drawing of the commands and their dependencies, laid out by Graphviz, or an empty text if Graphviz is not installed."""
    dot, commands = shutil.which("dot"), session.commands
    if dot is None or not 0 < len(commands) <= MOST_DRAWN:
        return ""
    lines = [
        'digraph {node [shape=box style="rounded,filled" fillcolor="#eef3f8" fontname="sans-serif" fontsize=11] edge [color="#999999"]'
    ]
    lines += [
        f"{i} [label={json.dumps(f'#{i} {name or op}{chr(10)}{kernel or op}')}]"
        for i, (op, name, kernel, *_) in enumerate(commands)
    ]
    lines += [f"{before} -> {after}" for before, after in session.edges]
    try:
        done = subprocess.run(
            [dot, "-Tsvg"],
            input="\n".join([*lines, "}"]),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[max(0, done.stdout.find("<svg")) :] if done.returncode == 0 else ""


def model_html(model: Model) -> str:
    values = [
        [
            kind,
            value.name,
            value.dtype,
            "" if value.shape is None else " x ".join(str(size or "?") for size in value.shape),
            value.device,
        ]
        for kind, these in (("input", model.inputs), ("output", model.outputs))
        for value in these
    ]
    parts = ["<b>dlc.Model</b>", _table_html(["", "name", "type", "shape", "device"], values)]
    sessions = model._sessions
    if sessions:
        commands = [
            [i, op, kernel, name] for i, (op, name, kernel, *_) in enumerate(sessions[0].commands)
        ]
        parts.append(
            f"<details><summary>{len(commands)} commands</summary>{_table_html(['#', 'op', 'kernel', 'name'], commands)}</details>"
        )
        parts.append(_draw_commands(sessions[0]))
    return "".join(parts)


def profile_html(profile: Profile) -> str:
    header, lines = profile.table()
    return (
        _table_html(header, lines) + f"{len(lines)} commands, {profile.microseconds:.1f} us a run"
    )
