"""Parts of a drawing put together to a whole SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from crib_env.render.svg.cards import symbols
from crib_env.render.svg.style import FONT, THEMES, style_sheet

SIZE = WIDTH, HEIGHT = 800, 600
USED = re.compile(r'href="#(crib-\w+)"')


def document(
    parts: Iterable[str], title: str, theme: str = "auto", size: tuple[float, float] = SIZE
) -> str:
    """Return a whole SVG that needs nothing else.

    Args:
        parts: what it shows, from behind to the front.
        title: what it is, for who cannot see it.
        theme: ``"light"``, ``"dark"``, or ``"auto"``, which follows the reader's system.
        size: width and height.

    Raises:
        ValueError: no such theme.
    """
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    body = "".join(parts)
    known = symbols()
    used = "".join(known[name] for name in sorted(set(USED.findall(body))))
    used = used.replace("<symbol ", f'<symbol class="crib-{theme}" ')
    return (
        f"{opening(f'crib-{theme}', size)}<title>{escape(title)}</title>"
        f"<style>{style_sheet(theme)}</style><defs>{used}</defs>{body}</svg>"
    )


def opening(kind: str, size: tuple[float, float] = SIZE) -> str:
    """Return the start tag of an SVG of class ``kind``."""
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'class="{kind}" width="{width:g}" height="{height:g}" '
        f'style="max-width:100%;height:auto" font-family="{FONT}">'
    )


def framed(svg: str) -> str:
    """Return an SVG as HTML for a page of text: as wide as there is room, up to its own width."""
    return f'<div style="max-width:{WIDTH}px">{svg}</div>'
