"""The two-hand games as text, from one seat's view and what has been pegged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import format_cards
from crib_env.engine.hand_text import (
    board_lines,
    call_lines,
    line_of,
    played,
    show_lines,
    shown,
    split_events,
)
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, MATCH, OVER
from crib_env.events import Event
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
    games = "game points" if view["episode"] == MATCH else ""
    counted, events = split_events(events)
    counted_deal = deals - (view["phase"] != OVER)
    lines = [
        *(show_lines(counted, rules, counted_deal, NAMES) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, deal {deals} by player_{dealer}",
        "",
        line_of(f"player_{other}", shown([NONE] * int(view["other_n"]))),
        line_of("  played", played(view, view["pile_mine"], 1, 0)),
        line_of("crib", f"{_crib(view)}  of player_{dealer}"),
        line_of("starter", shown([view["starter"]])),
        line_of("count", str(int(view["count"])) + (", go pegged" if view["go"] else "")),
        line_of("  played", played(view, view["pile_mine"], 1, 1)),
        line_of(f"player_{me}", shown(view["hand"][: view["hand_n"]])),
        line_of("discarded", shown(view["discarded"][: view["discarded_n"]])),
        "",
        _turn(view, me),
        *call_lines(events, NAMES),
        "",
        *board_lines(view, 0, f"player_{me}", games),
        *board_lines(view, 1, f"player_{other}", games),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _crib(view: View) -> str:
    # While cards are discarded, how far the other has got is not for this seat to know (H1).
    return shown([NONE] * int(view["discarded_n"] if view["phase"] == DISCARD else 4)) or "none yet"


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
