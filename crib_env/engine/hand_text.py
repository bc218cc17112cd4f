"""What the texts of games share: lines, calls; of games with hands also cards, show and board."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from textwrap import wrap
from typing import Any

from crib_env.cards import DECK_SIZE, format_card, format_cards, pip
from crib_env.engine.record import NONE
from crib_env.events import Event
from crib_env.render.board import track
from crib_env.render.words import pegged
from crib_env.rules import Rules
from crib_env.scoring import score_hand

HIDDEN = "??"
LABEL = 12
WIDTH = 100
COUNTED = ("hand", "crib")  # why points are pegged in the show


def hand_of(view: Any) -> list[int]:
    """Return the cards that the seat of a view holds."""
    return [int(card) for card in view["hand"][: view["hand_n"]]]


def why_illegal(view: Any, card: int) -> str:
    """Return why ``card`` may not be used by the seat of a view (H3)."""
    if not 0 <= card < DECK_SIZE:
        return f"{card} is not an action: actions are the card ids 0 to 51"
    hand = hand_of(view)
    name = f"{format_card(card)} (action {card})"
    holds = f"player_{int(view['seat'])} holds {format_cards(hand)}"
    if card not in hand:
        return f"{name} is not held: {holds}"
    count = int(view["count"])
    legal = [c for i, c in enumerate(hand) if view["legal"] >> i & 1]
    return (
        f"{name} would take the count from {count} to {count + pip(card)}, past 31: "
        f"legal are {format_cards(legal)}"
    )


def split_events(
    events: Sequence[Event], counted: Collection[str] = COUNTED
) -> tuple[Sequence[Event], Sequence[Event]]:
    """Return the events up to the last that was counted, which are of an ended deal; the others."""
    shown = 1 + max((i for i, one in enumerate(events) if one.reason in counted), default=-1)
    return events[:shown], events[shown:]


def line_of(label: str, text: str) -> str:
    """Return a line that begins with a label."""
    return f"{label:<{LABEL}}{text}"


def shown(cards: Sequence[int]) -> str:
    """Return cards as text, with marks for those not known."""
    return " ".join(HIDDEN if card == NONE else format_card(int(card)) for card in cards)


def played(view: Any, seats: int, bits: int, who: int) -> str:
    """Return the cards a seat has played, each in the column of its turn; shadowed in brackets.

    Args:
        seats: who played each card of the pile, in so many ``bits``. who: the seat.
    """
    columns = ""
    for i, card in enumerate(map(format_card, view["pile"][: view["pile_n"]].tolist())):
        shadowed = f"({card})" if i < view["pile_from"] else f" {card} "
        columns += shadowed if int(seats) >> bits * i & (1 << bits) - 1 == who else "    "
    return columns


def board_lines(view: Any, place: int, name: str, games: str) -> list[str]:
    """Return the part of the board of a side, ``place`` from the view's own on.

    Args:
        games: what a match counts; nothing where none is played.
    """
    score, rear = int(view["scores"][place]), int(view["rear"][place])
    target = int(view["target"])
    head = f"{name}  {score} (rear peg {rear}), needs {target - score}"
    if games:
        head += f", {games} {int(view['match_score'][place])} of {int(view['match_target'])}"
    return [head, *track(score, rear, target)]


def call_lines(events: Sequence[Event], names: Sequence[str]) -> list[str]:
    """Return what players say as they peg; ``names`` are by side."""
    calls = (
        f"{names[event.seat]}: {pegged(event.reason, event.points, len(event.cards))}"
        + (f" ({format_cards(event.cards)})" if event.cards else "")
        for event in events
    )
    return [line_of("" if i else "calls", call) for i, call in enumerate(calls)]


def show_lines(events: Sequence[Event], rules: Rules, deal: int, names: Sequence[str]) -> list[str]:
    """Return the end of a deal: what was pegged in play, then hands and crib counted aloud.

    Args:
        events: up to the last that was counted; the starter is heels of no points.
        rules: the rules.
        deal: its number.
        names: what sides are called.
    """
    turned = next((one for one in events if one.reason == "heels" and not one.points), None)
    if turned is None:  # events without those of no points, as pictures have them
        return [*call_lines(events, names), ""]
    starter = turned.cards[0]
    play = [one for one in events if one.reason not in COUNTED and one is not turned]
    lines = [f"the show of deal {deal} by {names[turned.seat]}, starter {format_card(starter)}"]
    lines += call_lines(play, names)
    for one in events:
        if one.reason in COUNTED:
            crib = one.reason == "crib"
            score = score_hand(one.cards, starter, rules, crib=crib)
            pegs = f" (pegs {one.points} to win)" if one.points < score.points else ""
            label = "crib" if crib else names[one.seat]
            cards = f"{format_cards(one.cards)}  "
            words = wrap(score.call + pegs, WIDTH - LABEL - len(cards))
            lines.append(line_of(label, cards + words[0]))
            lines += [line_of("", " " * len(cards) + more) for more in words[1:]]
    return [*lines, ""]
