"""The colours of a drawing, light and dark, and the style sheets with them.

A document's rules are plain classes under the class of its theme, without variables, since resvg
does not read them. A symbol carries the class too, because in a browser no rule reaches from
outside into what `use` shows. A page's rules are variables, so that its theme can change.
"""

from __future__ import annotations

from functools import cache

THEMES = ("auto", "light", "dark")
FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"

# Class, property, light, dark.
COLOURS = (
    ("felt", "fill", "#e9efe8", "#14201c"),
    ("well", "fill", "#dbe5da", "#1c2c26"),
    ("ink", "fill", "#17231e", "#edf2ee"),
    ("muted", "fill", "#55645c", "#9fb0a7"),
    ("line", "stroke", "#b9c7bb", "#33463e"),
    ("call", "fill", "#ffffff", "#24362f"),
    ("good", "fill", "#0d6b46", "#6fdcab"),
    ("face", "fill", "#fffdf8", "#f3eee2"),
    ("edge", "stroke", "#a9b3a9", "#0b120f"),
    ("red", "fill", "#c3202f", "#bd1f2d"),
    ("black", "fill", "#1b2230", "#1b2230"),
    ("redrobe", "fill", "#c8323f", "#c8323f"),
    ("blackrobe", "fill", "#2d4373", "#2d4373"),
    ("panel", "fill", "#f6ecd4", "#ece0c2"),
    ("frame", "stroke", "#8a7c5c", "#8a7c5c"),
    ("gold", "fill", "#dca63a", "#dca63a"),
    ("skin", "fill", "#f2d2b4", "#eccaa9"),
    ("hair", "fill", "#7a4a26", "#7a4a26"),
    ("grey", "fill", "#d9d4c7", "#d2ccbd"),
    ("back", "fill", "#33658a", "#2f5d80"),
    ("weave", "stroke", "#7fa6c4", "#6d96b5"),
    ("shadow", "fill", "#8fa095", "#0b1411"),
    ("open", "stroke", "#1f8a5c", "#6fdcab"),
    ("ring", "stroke", "#dca63a", "#dca63a"),
    ("wood", "fill", "#d9b382", "#5d4330"),
    ("woodline", "stroke", "#a87c4b", "#86664b"),
    ("woodink", "fill", "#5f411f", "#d9bd98"),
    ("hole", "fill", "#8b6336", "#2b1d12"),
    ("side0", "fill", "#1f6fb2", "#54a8ec"),
    ("side1", "fill", "#c2410c", "#ff8a4c"),
    ("side2", "fill", "#7e22ce", "#c99bf7"),
    ("side3", "fill", "#0f766e", "#4fd1c0"),
    ("side0line", "stroke", "#1f6fb2", "#54a8ec"),
    ("side1line", "stroke", "#c2410c", "#ff8a4c"),
    ("side2line", "stroke", "#7e22ce", "#c99bf7"),
    ("side3line", "stroke", "#0f766e", "#4fd1c0"),
    ("peg", "stroke", "#fff8ec", "#14201c"),
    ("peghole", "fill", "#fff8ec", "#14201c"),
)  # fmt: skip


@cache
def style_sheet(theme: str) -> str:
    """Return the rules of a theme, for elements under the class ``crib-THEME``.

    Args:
        theme: ``"light"``, ``"dark"``, or ``"auto"``, which follows the reader's system.
    """
    if theme != "auto":
        return _rules(theme, dark=theme == "dark")
    at_night = _rules(theme, dark=True)
    return _rules(theme, dark=False) + f"@media(prefers-color-scheme:dark){{{at_night}}}"


def _rules(theme: str, *, dark: bool) -> str:
    return "".join(
        f".crib-{theme} .{name}{{{what}:{by_night if dark else by_day}}}"
        for name, what, by_day, by_night in COLOURS
    )


def page_sheet() -> str:
    """Return the rules for drawings in a page: the reader's theme, or `data-theme` of its root."""
    light, dark = (
        "".join(f"--crib-{name}:{colours[night]};" for name, _, *colours in COLOURS)
        for night in (0, 1)
    )
    rules = "".join(
        f".crib .{name},symbol .{name}{{{what}:var(--crib-{name})}}" for name, what, _, _ in COLOURS
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{color-scheme:light;{light}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}{rules}"
    )
