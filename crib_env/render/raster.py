"""A drawing as pixels, by resvg (extra ``render``).

Little changes in a drawing from one moment to the next, and resvg takes as long for an empty page
as for a full one. So the background, each card and each other element that can be cut out (a line
of text, a peg) is drawn once and stored, and a picture is composed of them. The fonts are the
package's own, so pixels are the same on every machine.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crib_env.cards import parse_card
from crib_env.render.svg.cards import BACK, TALL, card
from crib_env.render.svg.document import SIZE, document
from crib_env.render.svg.document import WIDTH as UNITS

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH = 640
SCALE = WIDTH / UNITS
THEME = "light"
# A card, or an element without others inside.
PIECE = re.compile(
    r'<use href="#crib-(?P<card>\w+)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" width="(?P<width>[\d.]+)"'
    r'[^>]*/>(?P<dim><rect class="shadow"[^>]*/>)?'
    r"|<(?P<kind>circle|rect|polygon)\b[^>]*/>|<text\b[^>]*>[^<]*</text>"
)
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
MARGIN = 2.0  # about an element, for its outline
FONTS = [str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.otf"))]

Box = tuple[float, float, float, float]


def pixels(parts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return a drawing as uint8[height, width, 3]."""
    image = _ground(parts[0]).copy()
    above = "".join(parts[1:])
    whole = [] if PIECE.sub("", above) else list(PIECE.finditer(above))
    for found in whole:
        if found["card"]:
            x, y, wide = (round(float(found[k]) * SCALE) for k in ("x", "y", "width"))
            shown = _card(found["card"], bool(found["dim"]), wide)
        else:
            shown, x, y = _element(found[0], found["kind"] or "text")
        image.paste(shown, (x, y), shown)
    if above and not whole:  # something else: all at once
        shown = _image([above])
        image.paste(shown, (0, 0), shown)
    return np.asarray(image)


@lru_cache(maxsize=16)
def _ground(part: str) -> Image:
    return _image([part]).convert("RGB")


@lru_cache(maxsize=256)
def _card(name: str, dim: bool, width: int) -> Image:
    """Return a single card, shadowed or not."""
    shown = card(None if name == BACK else parse_card(name), 0, 0, UNITS, dim=dim)
    return _image([shown], (UNITS, UNITS * TALL), width)


@lru_cache(maxsize=4096)
def _element(svg: str, kind: str) -> tuple[Image, int, int]:
    """Return an element aligned to the pixel grid, and its position."""
    left, top, right, bottom = _box(kind, dict(ATTRIBUTE.findall(svg.partition(">")[0])), svg)
    x, y = max(0, floor(left * SCALE)), max(0, floor(top * SCALE))
    wide, high = ceil(right * SCALE) - x, ceil(bottom * SCALE) - y
    moved = f'<g transform="translate({-x} {-y}) scale({SCALE})">{svg}</g>'
    shown = _image([moved], (wide, high), wide)  # resvg scales to whole sizes
    held = shown.getbbox() or (0, 0, 1, 1)
    return shown.crop(held), x + held[0], y + held[1]


def _box(kind: str, has: dict[str, str], svg: str) -> Box:
    """Return left, top, right and bottom of what surely holds an element."""
    if kind == "circle":
        x, y, r = (float(has[name]) for name in ("cx", "cy", "r"))
        box = x - r, y - r, x + r, y + r
    elif kind == "polygon":
        at = [float(number) for number in re.split("[ ,]", has["points"])]
        box = min(at[::2]), min(at[1::2]), max(at[::2]), max(at[1::2])
    elif kind == "rect":
        x, y = float(has.get("x", 0)), float(has.get("y", 0))
        box = x, y, x + float(has["width"]), y + float(has["height"])
    else:
        x, y, size = (float(has[name]) for name in ("x", "y", "font-size"))
        long = size * len(svg.partition(">")[2])  # no letter is wider than it is high
        before = {"middle": long / 2, "end": long}.get(has.get("text-anchor", ""), 0.0)
        box = x - before, y - 1.1 * size, x - before + long, y + 0.4 * size
    left, top, right, bottom = box
    most_right, most_down = SIZE
    ends = min(most_right, right + MARGIN), min(most_down, bottom + MARGIN)
    return left - MARGIN, top - MARGIN, *ends


def _image(parts: Sequence[str], size: tuple[float, float] = SIZE, width: int = WIDTH) -> Image:
    """Return parts of a drawing, of ``size`` in its units, as an image with transparency."""
    import resvg_py
    from PIL import Image

    svg = document(parts, "", THEME, size)
    png = resvg_py.svg_to_bytes(
        svg_string=svg, width=width, skip_system_fonts=True, font_files=FONTS
    )
    return Image.open(io.BytesIO(png)).convert("RGBA")
