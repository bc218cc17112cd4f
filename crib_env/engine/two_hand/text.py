"""The two-hand games as text, from one seat's view and what has been pegged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import format_card, format_cards
from crib_env.engine.hand_text import (
    HIDDEN,
    call_lines,
    line_of,
    show_lines,
    shown,
    split_events,
)
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, MATCH, OVER
from crib_env.events import Event
from crib_env.render.board import track
from crib_env.rules import Rules

View = Any

NAMES = ("player_0", "player_1")


def render(view: View, rules: Rules, name: str, deals: int, events: Sequence[Event]) -> str:
    """Return the game as the seat of ``view`` may see it.

    Args:
        view: a `VIEW` record.
        rules: the rules.
        name: the environment's name.
        deals: deals dealt in this episode.
        events: what was pegged and counted since the last decision.
    """
    me = int(view["seat"])
    other = 1 - me
    dealer = me if view["is_dealer"] else other
    counted, events = split_events(events)
    counted_deal = deals - (view["phase"] != OVER)
    lines = [
        *(show_lines(counted, rules, counted_deal, NAMES) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, deal {deals} by player_{dealer}",
        "",
        line_of(f"player_{other}", shown([NONE] * int(view["other_n"]))),
        line_of("  played", _played(view, mine=False)),
        line_of("crib", f"{_crib(view)}  of player_{dealer}"),
        line_of(
            "starter", HIDDEN if view["starter"] == NONE else format_card(int(view["starter"]))
        ),
        line_of("count", str(int(view["count"])) + (", go pegged" if view["go"] else "")),
        line_of("  played", _played(view, mine=True)),
        line_of(f"player_{me}", shown(view["hand"][: view["hand_n"]])),
        line_of("discarded", shown(view["discarded"][: view["discarded_n"]])),
        "",
        _turn(view, me),
        *call_lines(events, NAMES),
        "",
        *_board(view, me, 0),
        *_board(view, me, 1),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _crib(view: View) -> str:
    # While cards are discarded, how far the other has got is not for this seat to know (H1).
    return shown([NONE] * int(view["discarded_n"] if view["phase"] == DISCARD else 4)) or "none yet"


def _played(view: View, *, mine: bool) -> str:
    """Return the cards a seat has played, each in the column of its turn; shadowed in brackets."""
    shown = ""
    for i in range(int(view["pile_n"])):
        card = format_card(int(view["pile"][i]))
        card = f"({card})" if i < view["pile_from"] else f" {card} "
        shown += card if bool(view["pile_mine"] >> i & 1) == mine else "    "
    return shown


def _turn(view: View, me: int) -> str:
    if view["phase"] == OVER:
        reached = [p for p in range(2) if view["scores"][p] >= view["target"]]
        return (
            f"player_{me if reached == [0] else 1 - me} has won" if reached else "the deal is over"
        )
    if not view["to_move"]:
        return f"player_{1 - me} to move"
    hand = [int(card) for i, card in enumerate(view["hand"]) if view["legal"] >> i & 1]
    verb = "discard one of" if view["phase"] == DISCARD else "play one of"
    return f"player_{me} to move: {verb} {format_cards(hand)}"


def _board(view: View, me: int, whose: int) -> list[str]:
    """Return a player's part of the board: ``whose`` is 0 for the view's seat, 1 for the other."""
    score, rear = int(view["scores"][whose]), int(view["rear"][whose])
    target = int(view["target"])
    head = f"player_{1 - me if whose else me}  {score} (rear peg {rear}), needs {target - score}"
    if view["episode"] == MATCH:
        head += f", game points {int(view['match_score'][whose])} of {int(view['match_target'])}"
    return [head, *track(score, rear, target)]
