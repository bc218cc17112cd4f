"""Cards: a symbol for each face and the back, and the elements that show one.

A card is 100 by 140 in its own measure. Only rank and suit decide how it looks; no font is used.
`drawings.json` holds the outlines: of suits in a square of 100, of ranks with their widths and 100
high (from Inter Display Bold, fonts/LICENSE), and half a figure of each court card, the parts
behind the face and before it. The half fills x from 24 to 76 and y from 17 to 70 and is drawn
twice, once upside down.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from crib_env.cards import DECK_SIZE, JACK, RANKS, SUITS, card_name, format_card, rank, suit

BACK = "back"
TALL = 1.4  # a card's height over its width
LEFT, MIDDLE, RIGHT = 35.0, 50.0, 65.0
TOP, BOTTOM = 26.0, 114.0
PIP = 18.0  # the width of a pip

_SIDES = [(x, y) for x in (LEFT, RIGHT) for y in (TOP, BOTTOM)]
_HALVES = [*_SIDES, (LEFT, 70.0), (RIGHT, 70.0)]
_THIRDS = [*_SIDES, *((x, y) for x in (LEFT, RIGHT) for y in (55.3, 84.7))]
# Where the pips of two to ten lie.
PIPS: tuple[list[tuple[float, float]], ...] = (
    [(MIDDLE, TOP), (MIDDLE, BOTTOM)],
    [(MIDDLE, TOP), (MIDDLE, 70.0), (MIDDLE, BOTTOM)],
    _SIDES,
    [*_SIDES, (MIDDLE, 70.0)],
    _HALVES,
    [*_HALVES, (MIDDLE, 48.0)],
    [*_HALVES, (MIDDLE, 48.0), (MIDDLE, 92.0)],
    [*_THIRDS, (MIDDLE, 70.0)],
    [*_THIRDS, (MIDDLE, 40.5), (MIDDLE, 99.5)],
)


@cache
def drawings() -> dict[str, Any]:
    """Return the outlines of the cards, and the colours of the style sheets."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("drawings.json").read_text("utf-8"))
    return found


def card(card: int | None, x: float, y: float, width: float, *, dim: bool = False, open: bool = False) -> str:
    """Return a card, face down if it is None; ``dim`` shadows it, ``open`` outlines it."""
    name = BACK if card is None else format_card(card)
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{width * TALL:g}"'
    over = f'{place} rx="{0.08 * width:g}"'
    label = "face down" if card is None else card_name(card)
    shown = f'<use href="#crib-{name}" {place} role="img" aria-label="{label}"/>'
    if dim:
        shown += f'<rect class="shadow" {over} fill-opacity="0.62"/>'
    if open:
        shown += f'<rect class="open" {over} fill="none" stroke-width="2.5"/>'
    return shown


def symbols() -> dict[str, str]:
    """Return the faces and the back as symbols, by id."""
    return {f"crib-{format_card(c)}": face(c) for c in range(DECK_SIZE)} | {"crib-back": back()}


@cache
def face(card: int) -> str:
    """Return the face of a card as a symbol ``crib-5H``."""
    colour = "red" if SUITS[suit(card)] in "DH" else "black"
    shown = rank(card)
    if RANKS[shown] == "A":
        middle = _pip(card, MIDDLE, 70.0, 46.0)
    elif shown >= JACK:
        middle = _court(card, colour)
    else:
        middle = "".join(_pip(card, x, y, PIP, turned=y > 70.0) for x, y in PIPS[shown - 1])
    corner = _index(card)
    return _symbol(
        format_card(card),
        f'<g class="{colour}">{corner}'
        f'<g transform="rotate(180 50 70)">{corner}</g>{"" if shown >= JACK else middle}</g>'
        f"{middle if shown >= JACK else ''}",
    )


@cache
def back() -> str:
    """Return the back of a card as a symbol ``crib-back``."""
    lines = "".join(
        f"M{12 + max(0, k - 116)} {12 + min(k, 116)}L{12 + min(k, 76)} {12 + max(0, k - 76)}"
        f"M{88 - max(0, k - 116)} {12 + min(k, 116)}L{88 - min(k, 76)} {12 + max(0, k - 76)}"
        for k in range(12, 192, 12)
    )
    return _symbol(
        "back",
        '<rect class="back" x="7" y="7" width="86" height="126" rx="4"/>'
        f'<path class="weave" d="{lines}" fill="none" stroke-width="1.6"/>'
        '<rect class="weave" x="12" y="12" width="76" height="116" rx="2" fill="none" '
        'stroke-width="2.4"/>',
    )


def _symbol(name: str, body: str) -> str:
    # Visible overflow spares resvg a mask for each card.
    return (
        f'<symbol id="crib-{name}" viewBox="0 0 100 140" overflow="visible">'
        '<rect class="face edge" x="0.75" y="0.75" width="98.5" height="138.5" rx="8" '
        f'stroke-width="1.5"/>{body}</symbol>'
    )


def _pip(card: int, x: float, y: float, size: float, *, turned: bool = False) -> str:
    """Return the suit of a card, its middle at (x, y)."""
    turn = "rotate(180)" if turned else ""
    scale = size / 100.0
    return (
        f'<path transform="translate({x:g} {y:g}){turn}scale({scale:g})translate(-50 -50)" '
        f'd="{drawings()["suits"][suit(card)]}"/>'
    )


def _index(card: int) -> str:
    """Return rank and suit for the upper left corner."""
    width, outline = drawings()["ranks"][rank(card)]
    high = 0.21
    wide = min(high, 19.0 / width)
    return (
        f'<path transform="translate({14.5 - width * wide / 2:.2f} 8)scale({wide:.3f} {high})" '
        f'd="{outline}"/>{_pip(card, 14.5, 41.0, 15.0)}'
    )


def _court(card: int, colour: str) -> str:
    shapes = drawings()
    behind, before = shapes["figures"][rank(card) - JACK]
    half = "".join((behind, shapes["robe"], shapes["face"], before)).replace("{robe}", f"{colour}robe")
    figure = f'{half}<g class="{colour}">{_pip(card, 32.0, 27.0, 12.0)}</g>'
    return (
        '<rect class="panel" x="24" y="16" width="52" height="108" rx="2"/>'
        f'{figure}<g transform="rotate(180 50 70)">{figure}</g>'
        '<rect class="frame" x="24" y="16" width="52" height="108" rx="2" fill="none" '
        'stroke-width="1.2"/>'
    )
