"""The games for three and four as text, from one seat's view and what has been pegged."""

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
from crib_env.engine.many_hand.records import KEPT, MATCH
from crib_env.engine.record import NONE
from crib_env.engine.slots import DISCARD, OVER
from crib_env.events import Event
from crib_env.rules import Rules

View = Any


def render(view: View, rules: Rules, name: str, deals: int, events: Sequence[Event]) -> str:
    """Return the game as the seat of ``view`` may see it.

    Args:
        view: a `VIEW` record.
        rules: the rules.
        name: the environment's name.
        deals: deals dealt in this episode.
        events: what was pegged and counted since the last decision.
    """
    players = int(view["players"])
    names = side_names(view)
    dealer = _player(view, int(view["dealer"]))
    counted, events = split_events(events)
    counted_deal = deals - (view["phase"] != OVER)
    lines = [
        *(show_lines(counted, rules, counted_deal, names) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, deal {deals} by {dealer}",
        "",
    ]
    for place in (*range(1, players), 0):
        cards = (
            view["hand"][: view["hand_n"]] if place == 0 else [NONE] * int(view["held_n"][place])
        )
        lines += [
            line_of(_player(view, place), shown(cards) + _said(view, place)),
            line_of("  played", played(view, view["pile_seats"], 2, place)),
        ]
    lines += [
        line_of("discarded", shown(view["discarded"][: view["discarded_n"]])),
        "",
        line_of("crib", f"{_crib(view)}  of {dealer}"),
        line_of("starter", shown([view["starter"]])),
        line_of("count", str(int(view["count"]))),
        "",
        _turn(view, names),
        *call_lines(events, names),
        "",
        *(row for side in range(int(view["sides"])) for row in _board(view, side, names)),
    ]
    return "\n".join(line.rstrip() for line in lines)


def side_names(view: View) -> list[str]:
    """Return what the sides are called, by side: a player, or the partners together."""
    players, sides = int(view["players"]), int(view["sides"])
    if sides == players:
        return [f"player_{seat}" for seat in range(players)]
    return [
        "seats " + ", ".join(str(seat) for seat in range(side, players, sides))
        for side in range(sides)
    ]


def _player(view: View, place: int) -> str:
    return f"player_{(int(view['seat']) + place) % int(view['players'])}"


def _crib(view: View) -> str:
    # While cards are discarded, how far the others have got is not for this seat to know (M3).
    before = KEPT - int(view["players"]) + int(view["discarded_n"])
    return shown([NONE] * (before if view["phase"] == DISCARD else KEPT)) or "none yet"


def _said(view: View, place: int) -> str:
    go = view["passed"] >> place & 1 and view["held_n"][place] and view["phase"] != OVER
    return "  go" if go else ""


def _turn(view: View, names: Sequence[str]) -> str:
    if view["phase"] == OVER:
        first = int(view["seat"]) % int(view["sides"])  # sides are counted from mine
        won = [i for i in range(int(view["sides"])) if view["scores"][i] >= view["target"]]
        if not won:
            return "the deal is over"
        name = names[(first + won[0]) % len(names)]
        return f"{name} {'has' if len(names) == view['players'] else 'have'} won"
    mover = _player(view, int(view["mover"]))
    if not view["to_move"]:
        return f"{mover} to move"
    hand = [int(card) for i, card in enumerate(view["hand"]) if view["legal"] >> i & 1]
    verb = "discard one of" if view["phase"] == DISCARD else "play one of"
    return f"{mover} to move: {verb} {format_cards(hand)}"


def _board(view: View, place: int, names: Sequence[str]) -> list[str]:
    """Return a side's part of the board; ``place`` counts from the view's own side."""
    side = (int(view["seat"]) + place) % int(view["sides"])
    return board_lines(view, place, names[side], "games" if view["episode"] == MATCH else "")
