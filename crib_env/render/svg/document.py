"""Parts of a drawing put together to a whole SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from crib_env.render.svg.cards import symbols
from crib_env.render.svg.style import FONT, THEMES, style_sheet

WIDTH, HEIGHT = 800, 600
USED = re.compile(r'href="#(crib-\w+)"')


def document(parts: Iterable[str], title: str, theme: str = "auto") -> str:
    """Return a whole SVG, 800 by 600, that needs nothing else.

    Args:
        parts: what it shows, from behind to the front.
        title: what it is, for who cannot see it.
        theme: ``"light"``, ``"dark"``, or ``"auto"``, which follows the reader's system.

    Raises:
        ValueError: no such theme.
    """
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    body = "".join(parts)
    known = symbols()
    used = "".join(known[name] for name in sorted(set(USED.findall(body))))
    return (
        f"{opening(f'crib-{theme}')}<title>{escape(title)}</title>"
        f"<style>{style_sheet(theme)}</style><defs>{used}</defs>{body}</svg>"
    )


def opening(kind: str) -> str:
    """Return the start tag of an SVG of class ``kind``."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="{kind}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="{FONT}">'
    )
