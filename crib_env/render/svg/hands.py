"""What lies before the players: a hand, the crib, the starter, the count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.render.svg.cards import card
from crib_env.render.svg.scene import Scene
from crib_env.render.svg.words import text

View = Any


def hand(
    view: View | None, cards: int, x: float, y: float, width: float, step: float,
    marked: frozenset[int],
) -> str:  # fmt: skip
    """Return a hand, face up where its seat's view is known; cards it may use now are marked.

    Args:
        view: its seat's; None where the hand lies face down.
        cards: how many it holds, where no view says so.
        x, y: the upper left corner of the first.
        width: of a card.
        step: from card to card.
        marked: cards to be outlined besides.
    """
    if view is None:
        return "".join(card(None, x + step * i, y, width) for i in range(cards))
    return "".join(
        card(
            int(view["hand"][i]), x + step * i, y, width,
            open=bool(view["legal"] >> i & 1) or int(view["hand"][i]) in marked,
        )
        for i in range(int(view["hand_n"]))
    )  # fmt: skip


def crib(
    label: str, cards: Sequence[int | None], x: float, y: float, width: float, step: float,
    marked: frozenset[int],
) -> str:  # fmt: skip
    """Return the crib under its label; a card that is None lies face down."""
    shown = "".join(card(c, x + step * i, y, width, open=c in marked) for i, c in enumerate(cards))
    return text(label, x, y - 6, 12, "muted") + (shown or text("none yet", x, y + 16, 12, "muted"))


def starter(turned: int | None, scene: Scene, x: float, y: float, width: float) -> str:
    """Return the starter: turned, or else shadowed where it may be shown, or face down."""
    label = text("starter", x, y - 7, 12, "muted")
    if turned is not None:
        return label + card(turned, x, y, width, open=turned in scene.marked)
    return label + card(scene.hidden, x, y, width, dim=scene.hidden is not None)


def count(value: int, x: float, y: float, below: str = "") -> str:
    """Return the present count in a circle about (x, y), and what stands below it."""
    return (
        f'<circle class="well" cx="{x:g}" cy="{y:g}" r="50"/>'
        + text("count", x, y - 24, 12, "muted", anchor="middle")
        + text(str(value), x, y + 20, 44, bold=True, anchor="middle")
        + (text(below, x, y + 44, 12, "muted", anchor="middle") if below else "")
    )
