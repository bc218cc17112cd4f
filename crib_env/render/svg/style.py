"""The colours of a drawing, light and dark, and the style sheet that gives them.

Rules are plain classes under the class of a theme: no variables, which resvg does not read, and no
bare selectors, which would reach beyond a drawing that is part of a page.
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
    ("side0line", "stroke", "#1f6fb2", "#54a8ec"),
    ("side1line", "stroke", "#c2410c", "#ff8a4c"),
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
