"""The two-hand games as text, from one seat's view and what has been pegged."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from crib_env.cards import format_card, format_cards
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, MATCH, OVER
from crib_env.events import Event
from crib_env.render.board import track
from crib_env.render.words import pegged
from crib_env.rules import Rules
from crib_env.scoring import score_hand

View = Any

HIDDEN = "??"
LABEL = 12
WIDTH = 100
COUNTED = ("hand", "crib")  # why points are pegged in the show


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
    shown = 1 + max((i for i, one in enumerate(events) if one.reason in COUNTED), default=-1)
    counted, events = events[:shown], events[shown:]
    lines = [
        *(_show(counted, rules, deals - (view["phase"] != OVER)) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, deal {deals} by player_{dealer}",
        "",
        _line(f"player_{other}", _cards([NONE] * int(view["other_n"]))),
        _line("  played", _played(view, mine=False)),
        _line("crib", f"{_crib(view)}  of player_{dealer}"),
        _line("starter", HIDDEN if view["starter"] == NONE else format_card(int(view["starter"]))),
        _line("count", str(int(view["count"])) + (", go pegged" if view["go"] else "")),
        _line("  played", _played(view, mine=True)),
        _line(f"player_{me}", _cards(view["hand"][: view["hand_n"]])),
        _line("discarded", _cards(view["discarded"][: view["discarded_n"]])),
        "",
        _turn(view, me),
        *(_line("calls" if i == 0 else "", call) for i, call in enumerate(_calls(events))),
        "",
        *_board(view, me, 0),
        *_board(view, me, 1),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _line(label: str, text: str) -> str:
    return f"{label:<{LABEL}}{text}"


def _cards(cards: Sequence[int]) -> str:
    return " ".join(HIDDEN if card == NONE else format_card(int(card)) for card in cards)


def _crib(view: View) -> str:
    # While cards are discarded, how far the other has got is not for this seat to know (H1).
    return (
        _cards([NONE] * int(view["discarded_n"] if view["phase"] == DISCARD else 4)) or "none yet"
    )


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


def _calls(events: Sequence[Event]) -> list[str]:
    return [
        f"player_{event.seat}: {pegged(event.reason, event.points, len(event.cards))}"
        + (f" ({format_cards(event.cards)})" if event.cards else "")
        for event in events
    ]


def _show(events: Sequence[Event], rules: Rules, deal: int) -> list[str]:
    """Return the end of a deal: what was pegged in play, then hands and crib counted aloud.

    Args:
        events: up to the last that was counted; the starter is heels of no points.
        rules: the rules.
        deal: its number.
    """
    (turned,) = (one for one in events if one.reason == "heels" and not one.points)
    starter = turned.cards[0]
    play = [one for one in events if one.reason not in COUNTED and one is not turned]
    lines = [f"the show of deal {deal} by player_{turned.seat}, starter {format_card(starter)}"]
    lines += [_line("calls" if i == 0 else "", call) for i, call in enumerate(_calls(play))]
    for one in events:
        if one.reason in COUNTED:
            crib = one.reason == "crib"
            score = score_hand(one.cards, starter, rules, crib=crib)
            pegs = f" (pegs {one.points} to win)" if one.points < score.points else ""
            label = "crib" if crib else f"player_{one.seat}"
            cards = f"{format_cards(one.cards)}  "
            words = wrap(score.call + pegs, WIDTH - LABEL - len(cards))
            lines.append(_line(label, cards + words[0]))
            lines += [_line("", " " * len(cards) + more) for more in words[1:]]
    return [*lines, ""]


def _board(view: View, me: int, whose: int) -> list[str]:
    """Return a player's part of the board: ``whose`` is 0 for the view's seat, 1 for the other."""
    score, rear = int(view["scores"][whose]), int(view["rear"][whose])
    target = int(view["target"])
    head = f"player_{1 - me if whose else me}  {score} (rear peg {rear}), needs {target - score}"
    if view["episode"] == MATCH:
        head += f", game points {int(view['match_score'][whose])} of {int(view['match_target'])}"
    return [head, *track(score, rear, target)]
