"""What stands beside a player's cards: name, part and score; and what was called last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from crib_env.cards import format_cards
from crib_env.render.svg.scene import Scene
from crib_env.render.svg.words import shortened, text
from crib_env.render.words import pegged

LONGEST_NAME = 15
LONGEST_CALL = 90
LETTER, LINE = 6.5, 17.0  # how wide a letter of a call is, about, and how high a line
MOST_CALLS = 5


def seat(name: str, part: str, points: int, side: int, x: float, y: float, *, turn: bool) -> str:
    """Return a player's name, part and score.

    Args:
        name: the player's.
        part: what it is in this deal, such as ``"dealer"``.
        points: its score.
        side: whose colour it has.
        x, y: the upper left corner of 132 by 95.
        turn: whether it is to move.
    """
    mark = arrow(x + 121, y + 22) if turn else ""
    return (
        score(shortened(name, LONGEST_NAME), points, side, x, y)
        + text(part, x + 19, y + 33, 12, "muted")
        + mark
    )


def score(name: str, points: int, side: int, x: float, y: float) -> str:
    """Return a name in its side's colour and its score beneath."""
    return (
        f'<circle class="side{side}" cx="{x + 7:g}" cy="{y + 10:g}" r="6"/>'
        + text(name, x + 19, y + 15, 14, bold=True)
        + text(str(points), x + 18, y + 72, 36, bold=True)
    )


def arrow(x: float, y: float) -> str:
    """Return what points at who is to move."""
    corners = f"{x:g},{y:g} {x + 11:g},{y + 6.5:g} {x:g},{y + 13:g}"
    return f'<polygon class="good" points="{corners}"/>'


def calls(lines: Sequence[tuple[int, str]], x: float, y: float, width: float) -> str:
    """Return what was called last, each call in the colour of its side.

    Args:
        lines: side and words of each call; the last five are shown.
        x, y: the lower left corner of the last; those before stand above it.
        width: how wide they are; long calls take several lines.
    """
    shown = []
    for side, words in reversed(lines[-MOST_CALLS:]):
        rows = wrap(shortened(words, LONGEST_CALL), int((width - 38) / LETTER))
        height = 7 + LINE * len(rows)
        y -= height
        shown.append(
            f'<rect class="call" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="12"/><circle class="side{side}" cx="{x + 14:g}" cy="{y + 12:g}" r="5"/>'
        )
        shown += [text(row, x + 27, y + 16.5 + LINE * i) for i, row in enumerate(rows)]
        y -= 3
    return "".join(shown)


def called(scene: Scene, names: Sequence[str]) -> list[tuple[int, str]]:
    """Return what is called: side and words, what one side makes at once in one line.

    Args:
        scene: what was pegged, or is called instead.
        names: of who calls, by side.
    """
    if scene.calls is not None:
        return list(scene.calls)
    lines = []
    for side, same in groupby(scene.events, key=lambda event: event.seat):
        events = list(same)
        words = ", ".join(pegged(e.reason, e.points, len(e.cards)) for e in events)
        if len(events) == 1 and events[0].cards:
            words += f" ({format_cards(events[0].cards)})"
        lines.append((side, f"{names[side]}: {words}"))
    return lines
