"""A drawing as pixels, by resvg (extra ``render``).

A drawing changes little from one moment to the next, and most of its time goes into cards and the
board. So the ground, its first part, and each card are drawn once and kept; only what lies above
is drawn every time. The fonts are the package's own, so that pixels are the same on every machine.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crib_env.cards import parse_card
from crib_env.render.svg.cards import BACK, TALL, card
from crib_env.render.svg.document import WIDTH as UNITS
from crib_env.render.svg.document import document

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH = 640
CARD = re.compile(
    r'<use href="#crib-(?P<card>\w+)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" width="(?P<width>[\d.]+)"'
    r'[^>]*/>(?P<dim><rect class="shadow"[^>]*/>)?'
)
FONTS = [str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.otf"))]


def pixels(parts: Sequence[str], theme: str = "light", width: int = WIDTH) -> npt.NDArray[np.uint8]:
    """Return a drawing as uint8[height, width, 3].

    Args:
        parts: of the drawing, as `document` takes them; the first is the ground.
        theme: ``"light"`` or ``"dark"``: there is no reader to follow.
        width: in pixels; the height follows from it.

    Raises:
        ModuleNotFoundError: the extra ``render`` is not installed.
    """
    image = _ground(parts[0], theme, width).copy()
    above = "".join(parts[1:])
    scale = width / UNITS
    for found in CARD.finditer(above):
        x, y, wide = (round(float(found[k]) * scale) for k in ("x", "y", "width"))
        image.alpha_composite(_sprite(found["card"], bool(found["dim"]), wide, theme), (x, y))
    image.alpha_composite(_layer(CARD.sub("", above), theme, width))
    return np.asarray(image.convert("RGB"))


@lru_cache(maxsize=16)
def _ground(part: str, theme: str, width: int) -> Image:
    return _layer(part, theme, width)


@lru_cache(maxsize=256)
def _sprite(name: str, dim: bool, width: int, theme: str) -> Image:
    """Return a card by itself, shadowed or not."""
    shown = card(None if name == BACK else parse_card(name), 0, 0, UNITS, dim=dim)
    return _image(document([shown], name, theme, (UNITS, UNITS * TALL)), width)


def _layer(part: str, theme: str, width: int) -> Image:
    return _image(document([part], "", theme), width)


def _image(svg: str, width: int) -> Image:
    """Return an SVG as an image with transparency."""
    import resvg_py
    from PIL import Image

    png = resvg_py.svg_to_bytes(
        svg_string=svg, width=width, skip_system_fonts=True, font_files=FONTS
    )
    return Image.open(io.BytesIO(png)).convert("RGBA")
