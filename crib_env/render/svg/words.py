"""Text in a drawing: escaped, in one font, in a few sizes."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

UNPRINTABLE = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(
    words: str, x: float, y: float, size: float = 13, kind: str = "ink", *,
    bold: bool = False, anchor: str = "start",
) -> str:  # fmt: skip
    """Return a line of text.

    Args:
        words: what it says; escaped here.
        x, y: where its baseline starts, or ends or has its middle, by ``anchor``.
        size: of the font.
        kind: the class that colours it.
        bold: in a heavier weight.
        anchor: ``"start"``, ``"middle"`` or ``"end"``.
    """
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
    """Return words cut to so many characters, with dots where something is missing."""
    return words if len(words) <= most else words[: most - 1] + "…"
