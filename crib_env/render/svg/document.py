"""A whole SVG: its words, its colours, and the parts put together.

A document's rules are plain classes under the class of its theme, without variables, since resvg
does not read them. A symbol carries the class too, because in a browser no rule reaches from
outside into what `use` shows. A page's rules are variables, so that its theme can change. The
colours (class, property, light, dark) are in `drawings.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from xml.sax.saxutils import escape

from crib_env.errors import check_choice
from crib_env.render.svg.cards import drawings, symbols

SIZE = WIDTH, HEIGHT = 800, 600
USED = re.compile(r'href="#(crib-\w+)"')
UNPRINTABLE = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
THEMES = ("auto", "light", "dark")
FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
LINE = 20.0  # of a drawing of plain text


def document(
    parts: Iterable[str], title: str, theme: str = "auto", size: tuple[float, float] = SIZE
) -> str:
    """Return a whole SVG that needs nothing else."""
    check_choice("theme", theme, THEMES)
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


def text(
    words: str, x: float, y: float, size: float = 13, kind: str = "ink", *,
    bold: bool = False, anchor: str = "start",
) -> str:  # fmt: skip
    """Return a line of text."""
    more = (' font-weight="600"' if bold else "") + (
        f' text-anchor="{anchor}"' if anchor != "start" else ""
    )
    return (
        f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:g}"{more}>'
        f"{escape(plain(words))}</text>"
    )


def plain(words: str) -> str:
    """Return words without characters that no XML may hold."""
    return UNPRINTABLE.sub("�", words)


def shortened(words: str, most: int) -> str:
    """Return text cut to a number of characters, with dots for the missing rest."""
    return words if len(words) <= most else words[: most - 1] + "…"


def lines(words: str) -> list[str]:
    """Return the parts of a drawing of some lines of text, made to fit."""
    rows = words.splitlines()
    size = min(LINE, (HEIGHT - 32) / max(1, len(rows)))
    shown = (text(row, 16, 28 + i * size, 0.7 * size) for i, row in enumerate(rows))
    return [
        f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<g font-family="monospace" xml:space="preserve">{"".join(shown)}</g>',
    ]


@cache
def style_sheet(theme: str) -> str:
    """Return the rules of a theme, for elements under the class ``crib-THEME``."""
    if theme != "auto":
        return _rules(theme, dark=theme == "dark")
    at_night = _rules(theme, dark=True)
    return _rules(theme, dark=False) + f"@media(prefers-color-scheme:dark){{{at_night}}}"


def _rules(theme: str, *, dark: bool) -> str:
    return "".join(
        f".crib-{theme} .{name}{{{what}:{by_night if dark else by_day}}}"
        for name, what, by_day, by_night in drawings()["colours"]
    )


def page_sheet() -> str:
    """Return the rules for drawings in a page: the reader's theme, or `data-theme` of its root."""
    light, dark = (
        "".join(f"--crib-{name}:{colours[night]};" for name, _, *colours in drawings()["colours"])
        for night in (0, 1)
    )
    rules = "".join(
        f".crib .{name},symbol .{name}{{{what}:var(--crib-{name})}}"
        for name, what, _, _ in drawings()["colours"]
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{color-scheme:light;{light}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}{rules}"
    )
