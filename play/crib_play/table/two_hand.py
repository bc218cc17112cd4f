"""Six-card and five-card cribbage at the table: display, calls, counts and input."""

from __future__ import annotations

from typing import Any

from crib_env.engine.hands.records import DISCARD
from crib_env.render.words import pegged
from crib_env.rules import Rules, TwoHandRules, find_rules
from crib_env.scoring import score_play
from crib_play.table import held
from crib_play.table.calls import Call, heels_call
from crib_play.table.family import Done, Sight, TableFamily

View = Any

DISCARDED = 2


def to_choose(view: View) -> int:
    """Return how many actions the seat decides on at once: both cards that it discards."""
    return DISCARDED - int(view["discarded_n"]) if view["phase"] == DISCARD else 1


def sight(view: View, rules: Rules) -> Sight:
    """Return what a seat sees; a go is pegged at once, so nobody is shown to have passed."""
    return {**held.sight(view, rules), "passed": []}


def opening(view: View, rules: Rules) -> list[Call]:
    """Return the three for last, where they are pegged (F1)."""
    points = find_rules(rules, TwoHandRules).for_last
    pone = int(view["seat"]) ^ 1 ^ int(view["dealer"])
    return [Call(pone, pegged("for_last", points, 0), points)] if points else []


def calls_of(done: Done) -> list[Call]:
    """Return what is said as cards are discarded or one is played."""
    before = done.before[done.seat]
    calls = _discarding(done) if before["phase"] == DISCARD else _playing(done, before)
    return calls + [
        Call(event.seat, pegged(event.reason, event.points, 0), event.points)
        for event in done.events
        if event.reason == "for_last"
    ]


def _discarding(done: Done) -> list[Call]:
    calls = [
        Call(done.seat, f"{'two cards' if len(done.actions) == DISCARDED else 'a card'} discarded")
    ]
    for event in done.events:
        if event.reason == "heels":
            calls.append(Call(event.seat, heels_call(done.rules), event.points, event.cards))
    return calls


def _playing(done: Done, before: View) -> list[Call]:
    (card,) = done.actions
    seat, other = done.seat, 1 - done.seat
    start, end = int(before["pile_from"]), int(before["pile_n"])
    score = score_play([*map(int, before["pile"][start:end]), card], go=bool(before["go"]))
    calls = [Call(seat, score.call, held.made_by_cards(done), (card,))]
    reasons = {event.reason for event in done.events}
    again = end > start and before["pile_seats"] >> 2 * (end - 1) & 1 == 0
    alone = bool(done.after["to_move"]) and done.after["pile_from"] == start and not done.ended
    if ("go" in reasons or (alone and not again)) and before["held_n"][1]:
        calls.append(Call(other, "go"))
    return [*calls, *held.ends_of_count(done)]


FAMILY = TableFamily(
    name="two_hand",
    sides=None,
    to_choose=to_choose,
    phase=held.phase,
    sight=sight,
    opening=opening,
    calls_of=calls_of,
    counted=held.counted,
    spoken=held.spoken,
    read=lambda text, view: held.read(text, view, to_choose(view)),
    ask=held.ask,
    how=held.HOW.format(discards="two to discard, such as KH 6S"),
)
