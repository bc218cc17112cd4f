"""Court cards: half a figure in the middle of a card, drawn twice, once upside down.

The half fills x from 24 to 76 and y from 17 to 70 of a card of 100 by 140. `{robe}` is the class
that colours what the figure wears, red or black.
"""

from __future__ import annotations

JACK = 10

ROBE = (
    '<path class="{robe}" d="M24 70V60C27 51 37 47 50 47C63 47 73 51 76 60V70Z"/>'
    '<path class="gold" d="M40 48L50 70L60 48L55 47L50 59L45 47Z"/>'
    '<path class="panel" d="M31 70L34 53L37 52L35 70ZM69 70L66 53L63 52L65 70Z"/>'
)
FACE = (
    '<path class="skin" d="M45 42V49L50 53L55 49V42ZM41.4 36.5A8.6 10 0 1 0 58.6 36.5'
    'A8.6 10 0 1 0 41.4 36.5Z"/>'
    '<path class="black" d="M45.4 35.5A1.1 1.1 0 1 0 47.6 35.5A1.1 1.1 0 1 0 45.4 35.5Z'
    'M52.4 35.5A1.1 1.1 0 1 0 54.6 35.5A1.1 1.1 0 1 0 52.4 35.5Z"/>'
    '<path class="redrobe" d="M47.4 41.6Q50 44 52.6 41.6Q50 42.4 47.4 41.6Z"/>'
)
# What lies behind the face and what before it, for a jack, a queen and a king.
FIGURES = (
    (
        '<path class="hair" d="M40 45C37 36 40 25 50 25C60 25 63 36 60 45Z"/>',
        '<path class="{robe}" d="M37.5 29C38 21 45 18 52 18.5C59 19 63 23 62.5 29Z"/>'
        '<path class="gold" d="M37 28.5H63V31H37Z"/>'
        '<path class="grey" d="M60 29C69 27 73 21 71.5 17C66 18 61 22 60 29Z"/>',
    ),
    (
        '<path class="hair" d="M37.5 53C32.5 40 38 24 50 24C62 24 67.5 40 62.5 53Z"/>',
        '<path class="hair" d="M41 36C42 31 46 29 50 29C54 29 58 31 59 36'
        'C57 32.5 53 31.5 50 31.5C47 31.5 43 32.5 41 36Z"/>'
        '<path class="gold" d="M39.5 29.5C39 25 37.5 22.5 36 20L43 23.5L46 18.5L50 23L54 18.5'
        'L57 23.5L64 20C62.5 22.5 61 25 60.5 29.5Z"/>'
        '<path class="{robe}" d="M48 26.7A2 2 0 1 0 52 26.7A2 2 0 1 0 48 26.7Z"/>',
    ),
    (
        '<path class="grey" d="M40 45C38 36 40 27 50 27C60 27 62 36 60 45Z"/>',
        '<path class="grey" d="M41.4 38C42 50 46 56 50 56C54 56 58 50 58.6 38'
        'C56.5 42 53 40.5 50 40.5C47 40.5 43.5 42 41.4 38Z'
        'M47.2 43Q50 46 52.8 43Q50 42 47.2 43Z" fill-rule="evenodd"/>'
        '<path class="gold" d="M38.5 30L36 18.5L43.5 23L50 16.5L56.5 23L64 18.5L61.5 30Z"/>'
        '<path class="{robe}" d="M38 29H62V31.5H38Z"/>',
    ),
)  # fmt: skip


def half(rank: int, robe: str) -> str:
    """Return the upper half of a court card's figure.

    Args:
        rank: 10 for a jack, 11 for a queen, 12 for a king.
        robe: the class that colours what it wears.
    """
    behind, before = FIGURES[rank - JACK]
    return "".join(part.replace("{robe}", robe) for part in (behind, ROBE, FACE, before))
