"""The cards of the page: the faces and the back of `crib_env.render.svg`, each an image."""

from __future__ import annotations

import re
from functools import cache

from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import style_sheet

THEME = "light"  # a card is a card by night as well
SYMBOL = re.compile("</?symbol[^>]*>")


@cache
def card_images() -> dict[str, str]:
    """Return an SVG for each face, by the text of its card, and one for the ``back``."""
    style = style_sheet(THEME)
    return {
        name.removeprefix("crib-"): (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" '
            f'class="crib-{THEME}"><style>{style}</style>{SYMBOL.sub("", symbol)}</svg>'
        )
        for name, symbol in symbols().items()
    }
