"""Three- and four-handed cribbage at the table: display, calls, counts and input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crib_env.engine.hands.records import DISCARD
from crib_env.rules import ManyHandRules, find_rules
from crib_env.scoring import score_play
from crib_play.table import held
from crib_play.table.calls import Call, heels_call
from crib_play.table.family import Done, TableFamily

View = Any

GOES = 2  # seats in a row that end a count where the rules have it so (M7)


def calls_of(done: Done) -> list[Call]:
    """Return what is said as a card is discarded or played."""
    before = done.before[done.seat]
    if before["phase"] == DISCARD:
        heels = (event for event in done.events if event.reason == "heels" and event.points)
        return [
            Call(done.seat, "a card discarded"),
            *(Call(done.dealer, heels_call(done.rules), one.points, one.cards) for one in heels),
        ]
    (card,) = done.actions
    start, end = int(before["pile_from"]), int(before["pile_n"])
    score = score_play([*map(int, before["pile"][start:end]), card])
    return [
        Call(done.seat, score.call, held.made_by_cards(done), (card,)),
        *(Call(seat, "go") for seat in _gos(done, before)),
        *held.ends_of_count(done),
    ]


def _gos(done: Done, before: View) -> Iterator[int]:
    """Yield the seats that say go after a card, and have not yet in this count (M7)."""
    players = int(before["players"])
    after, ends = done.after, any(event.reason == "go" for event in done.events)
    if done.ended or not (ends or after["pile_from"] == before["pile_from"]):
        return
    goes = 0
    for place in range(1, players):
        if not before["held_n"][place]:
            continue
        if not (ends or after["passed"] >> place & 1):  # it plays next
            return
        if not before["passed"] >> place & 1:
            yield (done.seat + place) % players
        goes += 1
        if goes == GOES and find_rules(done.rules, ManyHandRules).second_go_ends:
            return


FAMILY = TableFamily(
    name="many_hand",
    sides=None,
    to_choose=lambda view: 1,
    phase=held.phase,
    sight=held.sight,
    opening=lambda view, rules: [],
    calls_of=calls_of,
    counted=held.counted,
    spoken=held.spoken,
    read=lambda text, view: held.read(text, view, 1),
    ask=held.ask,
    how=held.HOW.format(discards="one to discard"),
)
