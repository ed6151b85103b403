"""Draws the pictures of the documentation as SVG files, each in a light and a dark form, from lists of shapes."""

import os
from xml.sax.saxutils import escape

#: Colors by name. Blue and orange are distinguishable with every common form of color blindness, and marks also differ in shape.
LIGHT = {
    "page": "#ffffff",
    "text": "#1f2328",
    "muted": "#59636e",
    "line": "#c4ccd5",
    "bar": "#bcd9f2",
    "mark": "#0a5a9c",
    "low": "#c2500a",
    "front": "#fdeacb",
    "middle": "#d7e9fa",
    "back": "#d6f0e3",
}
DARK = {
    "page": "#0d1117",
    "text": "#e6edf3",
    "muted": "#9ba4ae",
    "line": "#424a53",
    "bar": "#1f4568",
    "mark": "#8cc4ff",
    "low": "#ff9a52",
    "front": "#4a3716",
    "middle": "#16385a",
    "back": "#14432f",
}
FONT = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def shape(name, content=None, **attributes):
    """One element. Underscores in names of attributes become hyphens, numbers are rounded to a tenth."""
    texts = {
        key.replace("_", "-"): escape(value) if isinstance(value, str) else number(value)
        for key, value in attributes.items()
    }
    text = "".join(f' {key}="{value}"' for key, value in texts.items())
    return f"<{name}{text}/>" if content is None else f"<{name}{text}>{escape(content)}</{name}>"


def label(x, y, content, color, size=13, weight="normal", anchor="start"):
    return shape(
        "text",
        content,
        x=x,
        y=y,
        fill=color,
        font_size=size,
        font_weight=weight,
        text_anchor=anchor,
    )


def picture(width, height, title, description, colors, shapes):
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">',
        shape("title", title),
        shape("desc", description),
    ]
    return (
        "\n".join(
            [
                *head,
                shape("rect", width=width, height=height, rx=6, fill=colors["page"]),
                *shapes,
                "</svg>",
            ]
        )
        + "\n"
    )


def update(path, text, check):
    """Writes a file if its text differs, or with `check` only reports that. Returns whether it differs."""
    before = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            before = f.read()
    if before == text:
        return False
    if not check:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return True


def update_both(stem, draw, check):
    """Updates STEM.svg and STEM-dark.svg with what `draw(colors)` returns. Returns the paths of those that differ."""
    pictures = {stem + ".svg": draw(LIGHT), stem + "-dark.svg": draw(DARK)}
    return [path for path, text in pictures.items() if update(path, text, check)]
