"""A game without a picture of its own: its text, drawn."""

from __future__ import annotations

from crib_env.render.svg.document import HEIGHT, WIDTH
from crib_env.render.svg.words import text

LINE = 20.0


def lines(words: str) -> list[str]:
    """Return the parts of a drawing of some lines of text, made to fit."""
    rows = words.splitlines()
    size = min(LINE, (HEIGHT - 32) / max(1, len(rows)))
    shown = (text(row, 16, 28 + i * size, 0.7 * size) for i, row in enumerate(rows))
    return [
        f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<g font-family="monospace" xml:space="preserve">{"".join(shown)}</g>',
    ]
